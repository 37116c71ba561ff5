"""What the README shows must work as it stands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def printed(root: Path, place: Path, *arguments: str) -> str:
    """What Python prints in a folder, with the checkout on its path."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_runs_on_the_example_tools(root: Path, readme: str, tmp_path: Path) -> None:
    section = readme.split("## Your own tools")[1]
    tools = json.loads(section[section.index('    {"nodes"') : section.index("or which parameters")])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tool_desc.json").write_text(json.dumps(tools))
    (example,) = blocks(readme, "python")
    assert len([line for line in example.splitlines() if line and not line.startswith("from")]) == 5
    assert re.search(r"'value': [\d.]+", printed(root, tmp_path, "-c", example))


def test_every_file_it_links_to_exists(root: Path, readme: str) -> None:
    missing = [
        target for target in re.findall(r"\]\((?!http)([^)#]+)", readme) if not (root / target).exists()
    ]
    assert not missing


def test_the_main_job_runs_from_the_checkout(root: Path, readme: str, tmp_path: Path) -> None:
    """The last line of the first block, in a folder that is not the checkout, with its tools."""
    line = blocks(readme, "bash")[0].splitlines()[-1]
    arguments = line.split("python ")[1].split()
    arguments = [str(root / word) if word.endswith("tool_desc.json") else word for word in arguments]
    text = printed(root, tmp_path, *arguments, "--number_of_samples", "20")
    assert "offline" in text
    named = re.findall(r"^.{28} (demo/\S+)$", text, re.MULTILINE)
    assert len(named) == 6
    assert all((tmp_path / path).exists() for path in named)
    assert (tmp_path / "demo" / "graph_desc.html").stat().st_size > 10_000
