"""The workflow of docs/report.md, each of its commands run by bash as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.builders import ROOM_TOOLS, agents_folder
from tests.support.running import inside

# The protocol by hand: a client of the SDK takes a second to import.
AGENT = """
import json, os, urllib.request

session = {}

def send(method, number, **params):
    body = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": number} if number else {})}
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **session}
    url = os.environ["TOOLASSAY_MCP_URL"]
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head)) as answer:
        if "Mcp-Session-Id" in answer.headers:
            session["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        return answer.read()

client = {"name": "agent", "version": "1"}
send("initialize", 1, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
send("notifications/initialized", 0)
send("tools/call", 2, name="create_room", arguments={"title": "Blue"})
"""


@pytest.fixture(scope="module")
def workflow(root: Path) -> dict[str, Any]:
    page = (root / "docs/report.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An agent that makes the gold call, its data folder, and the metrics of its last run."""
    place = tmp_path / "repository"
    requests = {f"r{n}": f"Make room number {n}, called Blue" for n in range(8)}
    agents_folder(place / "bench", ROOM_TOOLS, requests, ("create_room", {"title": "Blue"}))
    (place / "agent.py").write_text(AGENT)
    (place / "requirements.txt").write_text("")
    scored = shutil.copytree(place, tmp_path / "main") / "bench"
    given = ("--data_dir", scored, "--llm", "my-agent")
    command = f"{sys.executable} {place / 'agent.py'}"
    assert inside("infer", *given, "--agent_command", command).code == 0
    assert inside("evaluate", *given).code == 0
    shutil.copytree(scored / "metrics_agents", place / "baseline")
    return place


def carried_out(workflow: dict[str, Any], repository: Path, root: Path) -> list[int]:
    """The exit code of each command of the job until one fails, on a runner where pip has installed all."""
    programs = repository.parent / "programs"
    programs.mkdir(exist_ok=True)
    for name, line in (
        ("pip", 'case "$*" in *"toolassay[mcp] @ git+https://host/toolassay"*) ;; *) exit 9 ;; esac'),
        ("python", f'exec {sys.executable} "$@"'),
        ("toolassay", f'exec {sys.executable} -m toolassay "$@"'),
    ):
        (programs / name).write_text(f"#!/bin/bash\n{line}\n")
        (programs / name).chmod(0o755)
    (job,) = workflow["jobs"].values()
    values = {"vars.TOOLASSAY": "git+https://host/toolassay", "vars.OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    values["secrets.OPENAI_API_KEY"] = "sk-a-key-of-a-job"

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)

    environment = {**os.environ, **{name: filled(text) for name, text in job["env"].items()}}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    environment |= {"PYTHONPATH": str(root), "GITHUB_STEP_SUMMARY": str(repository / "summary.md")}
    codes: list[int] = []
    for step in job["steps"]:
        if "run" in step:
            command = ["bash", "-e", "-o", "pipefail", "-c", filled(step["run"])]
            codes.append(subprocess.run(command, cwd=repository, env=environment, check=False).returncode)
            if codes[-1]:
                break
    return codes


def test_an_agent_that_is_as_good_as_before_passes(
    workflow: dict[str, Any], repository: Path, root: Path
) -> None:
    assert carried_out(workflow, repository, root) == [0, 0, 0, 0]
    assert "my-agent" in (repository / "summary.md").read_text(encoding="utf-8")
    assert (repository / "report/index.html").exists() and (repository / "report.xml").exists()


def test_a_worse_agent_fails_the_job(workflow: dict[str, Any], repository: Path, root: Path) -> None:
    (repository / "agent.py").write_text(AGENT.replace("Blue", "Green"))
    assert carried_out(workflow, repository, root) == [0, 0, 0, 4]
    assert "<failure" in (repository / "report.xml").read_text(encoding="utf-8")
