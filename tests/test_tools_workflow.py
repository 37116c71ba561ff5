"""The workflow and the first command of docs/surface.md, run as they are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_servers import HERE
from tests.mcp_servers.tickets import make_desk
from tests.support.builders import running_server
from tests.support.running import environment
from tests.support.workflows import carried_out, programs_of_a_runner, workflow_of
from toolassay import import_cases, import_tools
from toolassay.console.screen import Screen
from toolassay.models import ToolCall
from toolassay.serving.completions import Received, Reply
from toolassay.testkit.fake_server import FakeServer

WORSE = ('"Close a ticket."', '"Delete a ticket for good."'), ('"Delete a ticket for good."', '"Close."')
QUIET = Screen(show=lambda _: None)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


async def reading(received: Received) -> Reply:
    """Calls the tool whose description shares most words with the request, once."""
    *_, last = received.body["messages"]
    if last["role"] == "tool":
        return Reply("Done.")
    tools = [tool["function"] for tool in received.body["tools"]]
    best = max(
        tools, key=lambda tool: (len(words(tool["description"]) & words(last["content"])), tool["name"])
    )
    number = re.search(r"\d+", last["content"])
    given = {name: int(number[0]) if number else 0 for name in best["parameters"].get("properties", {})}
    return Reply("", tool_calls=(ToolCall("1", best["name"], json.dumps(given)),))


def git(place: Path, *words_: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *name, *words_], cwd=place, check=True, capture_output=True)


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with running_server(reading) as running:
        yield running


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server with goals, as a clone of its repository on a branch whose texts are worse."""
    place = tmp_path_factory.mktemp("server")
    origin = place / "origin"
    make_desk(origin / "desk" / "desk.db")
    shutil.copy(HERE / "standard_streams.py", origin)
    shutil.copy(HERE / "tickets.py", origin / "server.py")
    (origin / "requirements.txt").write_text("")
    cases = [
        {
            "request": f"{said} {verb} ticket {number}{end}",
            "calls": [{"tool": f"{verb}_ticket", "arguments": {"id": number}}],
        }
        for said, end in (("Please", "."), ("Would you", "?"))
        for number in (7, 8, 9)
        for verb in ("close", "delete")
    ]
    (origin / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    import_tools("mcp", f"{sys.executable} {origin}/server.py desk.db", origin / "bench", screen=QUIET)
    import_cases(origin / "cases.jsonl", origin / "bench", screen=QUIET)
    git(origin, "init", "-b", "main")
    git(origin, "add", ".")
    git(origin, "commit", "-m", "a server")
    git(place, "clone", "origin", "work")
    texts = (place / "work" / "server.py").read_text()
    for old, new in WORSE:
        texts = texts.replace(old, new)
    (place / "work" / "server.py").write_text(texts)
    return place / "work"


def test_a_pull_request_with_worse_texts_fails(repository: Path, server: FakeServer, root: Path) -> None:
    workflow = workflow_of(root / "docs/surface.md")
    variables = {"OPENAI_BASE_URL": server.base, "MODEL": "m", "GITHUB_BASE_REF": "main"}
    assert carried_out(workflow, repository, root, slice(None), **variables) == [0, 0, 4]
    summary = (repository / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## The new version is worse") and r"delete\_ticket" in summary
    assert "<failure" in (repository / "surface.xml").read_text(encoding="utf-8")


def test_the_first_command_of_the_page(
    repository: Path, server: FakeServer, root: Path, tmp_path: Path
) -> None:
    page = (root / "docs/surface.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        shutil.copy(HERE / "standard_streams.py", tmp_path / name)
        shutil.copy(HERE / "tickets.py", tmp_path / name / "server.py")
    shutil.copytree(repository / "desk", tmp_path / "desk")
    shutil.copy(repository / "cases.jsonl", tmp_path)
    programs = programs_of_a_runner(tmp_path / "programs")
    variables = environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    text = command.replace("MODEL", "m").replace("URL", server.base)
    done = subprocess.run(
        ["bash", "-c", text], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "No decision: +0.0 points" in done.stdout and "more goals would decide" in done.stdout
