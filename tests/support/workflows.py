"""Workflows of continuous integration in pages of the documentation, run command by command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml


def workflow_of(page: Path) -> dict[str, Any]:
    """The workflow that a page shows."""
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def programs_of_a_runner(place: Path) -> Path:
    """A folder with `pip`, which has installed all, `python` and `toolassay`."""
    place.mkdir(exist_ok=True)
    for name, line in (
        ("pip", 'case "$*" in *"toolassay[mcp] @ git+https://host/toolassay"*) ;; *) exit 9 ;; esac'),
        ("python", f'exec {sys.executable} "$@"'),
        ("toolassay", f'exec {sys.executable} -m toolassay "$@"'),
    ):
        (place / name).write_text(f"#!/bin/bash\n{line}\n")
        (place / name).chmod(0o755)
    return place


def carried_out(
    workflow: dict[str, Any], repository: Path, root: Path, only: slice = slice(None), **variables: str
) -> list[int]:
    """The exit code of each command of the job until one fails, on a runner where pip has installed all.

    Args:
        workflow: The workflow.
        repository: The checkout of the job.
        root: Of this project.
        only: Which commands.
        variables: Of the environment.
    """
    programs = programs_of_a_runner(repository.parent / "programs")
    (job,) = workflow["jobs"].values()
    values = {"vars.TOOLASSAY": "git+https://host/toolassay", "vars.OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    values |= {f"vars.{name}": value for name, value in variables.items()}
    values["secrets.OPENAI_API_KEY"] = "sk-a-key-of-a-job"

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)

    environment = {**os.environ, **{name: filled(text) for name, text in job["env"].items()}}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    environment |= {"PYTHONPATH": str(root), "GITHUB_STEP_SUMMARY": str(repository / "summary.md")}
    environment |= variables
    codes: list[int] = []
    for text in [step["run"] for step in job["steps"] if "run" in step][only]:
        command = ["bash", "-e", "-o", "pipefail", "-c", filled(text)]
        codes.append(subprocess.run(command, cwd=repository, env=environment, check=False).returncode)
        if codes[-1]:
            break
    return codes
