"""Tools that a server drops: the warning, and the mark from the manifest to tables and reports."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import running_server
from tests.support.bundled_folders import first_items
from tests.support.running import Finished, inside
from toolassay.evaluation.metrics_file import file_parts
from toolassay.files.data_files import read_json
from toolassay.runs.outcomes import TOOLS_MISSING
from toolassay.serving.completions import Received, Reply
from toolassay.testkit import FakeServer

WARNING = "the tools do not reach the model: 10 {} made no call, and a prompt of "
AGENTS = {"data_workbench": (), "data_classic": ("--agent", "tools")}


async def says_so(received: Received) -> Reply:
    return Reply("I would look into the calendar.")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with running_server(says_so) as server:
        server.characters_per_token = 4
        yield server


def run(root: Path, folder: Path, server: FakeServer, name: str, *more: str, limit: int = 12) -> Finished:
    """Inference on the first items of a bundled folder, asked of a server."""
    if not folder.exists():
        first_items(root, name, folder)
    arguments = ("--data_dir", folder, "--api_base", server.base, "--llm", "acme", "--limit", str(limit))
    done = inside("infer", *arguments, *AGENTS[name], *more)
    assert done.code == 0, done.err
    return done


@pytest.mark.parametrize(("name", "noun"), [("data_workbench", "tasks"), ("data_classic", "messages")])
def test_a_run_whose_tools_were_dropped_is_marked_everywhere(
    root: Path, tmp_path: Path, server: FakeServer, name: str, noun: str
) -> None:
    folder = tmp_path / name
    server.dropped_parameters = frozenset({"tools"})
    done = run(root, folder, server, name)
    assert done.err.count(WARNING.format(noun)) == 1
    manifest = read_json(folder / "predictions/runs/acme/manifest.json")
    assert manifest["tool_use"]["tools_missing"] is True

    scored = inside("evaluate", "--data_dir", folder, "--llm", "acme", "--limit", "12")
    assert scored.code == 0, scored.err
    assert "acme ‡" in scored.out and TOOLS_MISSING.note[:40] in " ".join(scored.out.split())
    board = inside("report", "--only", "leaderboard", "--data_dir", folder, "--format", "markdown")
    assert "acme ‡" in board.out and TOOLS_MISSING.line in board.out
    latex = inside("report", "--only", "leaderboard", "--data_dir", folder, "--format", "latex")
    assert r"acme \ddag{}" in latex.out
    out = tmp_path / "report"
    assert inside("report", "--data_dir", folder, "--out", out).code == 0
    assert read_json(out / "axes.json")["runs"][0]["mark"]["sign"] == "‡"
    assert any(TOOLS_MISSING.note in row for row in csv.reader((out / "axes.csv").open(encoding="utf-8")))
    assert TOOLS_MISSING.line in (out / "index.html").read_text(encoding="utf-8")
    assert inside("verify", "--data_dir", folder, "--llm", "acme").code == 0


@pytest.mark.parametrize("name", AGENTS)
def test_a_weak_model_that_gets_its_tools_is_not_marked(
    root: Path, tmp_path: Path, server: FakeServer, name: str
) -> None:
    folder = tmp_path / name
    done = run(root, folder, server, name)
    assert "reach the model" not in done.err
    scored = inside("evaluate", "--data_dir", folder, "--llm", "acme")
    assert "‡" not in scored.out
    assert "tools_missing" not in file_parts(folder / "metrics/acme.json")


def test_calls_that_the_server_leaves_in_the_text_are_made_and_counted(
    root: Path, tmp_path: Path, server: FakeServer
) -> None:
    async def calls(received: Received) -> Reply:
        if received.body["messages"][-1]["role"] == "tool":
            return Reply("Done.")
        function = received.body["tools"][0]["function"]["name"]
        return Reply(f'<tool_call>{{"name": "{function}", "arguments": {{}}}}</tool_call>')

    folder = tmp_path / "wb"
    server.answer = calls
    done = run(root, folder, server, "data_workbench", limit=2)
    answers = len(server.received)
    assert f"2 of {answers} answers had calls as text" in done.err
    facts = read_json(folder / "predictions/runs/acme/manifest.json")["tool_use"]
    assert (facts["answers"], facts["leaks"]) == (answers, {"calls as text": 2})
    assert inside("verify", "--data_dir", folder, "--llm", "acme").code == 0
    (sent,) = [one for one in server.received[1].body["messages"] if one["role"] == "assistant"]
    assert sent["content"] is None and sent["tool_calls"][0]["function"]["arguments"] == "{}"
