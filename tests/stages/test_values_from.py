"""`generate --values_from mcp` through the command line, with a real server of the MCP SDK."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of
from tests.mcp_servers.notes_server import SEED
from tests.support.answering import Answering, served
from tests.support.running import Finished, files_below, inside, lines_of
from toolassay import generate
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError, UsageError
from toolassay.executors import McpExecution
from toolassay.live_values.collector import MOST_CALLS, Collector
from toolassay.live_values.results import read_results
from toolassay.models import ChatRequest, ChatResponse
from toolassay.offline.offline_model import OfflineModel
from toolassay.plans.execution_record import ExecutedCall, Execution, StateSummary
from toolassay.records.data_folder import DataFolder
from toolassay.stages.live_values import collect_values, pointless
from toolassay.stages.settings import LiveSettings

Capture = pytest.CaptureFixture[str]


def server(mode: str = "") -> str:
    return f"{command_of('notes_server')} {{workspace}}/notes.json {mode}".strip()


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a workspace, and a data folder with the server's tools and graph."""
    place = tmp_path_factory.mktemp("values")
    (place / "workspace").mkdir()
    (place / "workspace" / "notes.json").write_text(json.dumps(SEED))
    from toolassay.cli.main import load, run

    address = server().replace("{workspace}", str(place / "workspace"))
    assert run(load("import"), ["mcp", address, "--data_dir", str(place / "data"), "-q"], "import.py") == 0
    assert run(load("graph"), ["--data_dir", str(place / "data"), "-q"], "graph.py") == 0
    return place


@pytest.fixture
def place(imported: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(imported, tmp_path / "place")
    return tmp_path / "place"


def live(place: Path, *, mode: str = "", consent: bool = True, **options: Any) -> LiveSettings:
    given = {"server": server(mode), "workspace": str(place / "workspace"), "fresh": "worker", **options}
    return LiveSettings("mcp", McpExecution(**given), allow_writes=consent)


def collect(place: Path, said: list[str] | None = None, **settings: Any) -> DataFolder:
    folder, again = DataFolder(place / "data"), settings.pop("again", False)
    lines: list[str] = [] if said is None else said
    screen = Screen(say=lines.append)
    collect_values(folder, live(place, **settings), 1, screen, again=again)
    return DataFolder(place / "data")


def values(place: Path) -> Any:
    return json.loads((place / "data" / "values.json").read_text())


def generated(place: Path, *more: str, mode: str = "") -> Finished:
    given = ("--server", server(mode), "--workspace", place / "workspace", "--fresh", "worker")
    start = ("--data_dir", place / "data", "--llm", "offline", "--number_of_samples", "25", "--seed", "1")
    return inside("generate", *start, "--values_from", "mcp", "--allow_writes", *given, *more)


def test_every_literal_of_every_gold_plan_is_accepted_by_the_server(place: Path) -> None:
    workspace = files_below(place / "workspace")
    done = generated(place)
    assert done.code == 0, done.err
    assert inside("format", "--data_dir", place / "data").code == 0
    given = ("--server", server(), "--workspace", place / "workspace", "--fresh", "worker", "--allow_writes")
    done = inside("execute", "--data_dir", place / "data", "--executor", "mcp", *given)
    assert done.code == 0, done.err
    executions = lines_of(place / "data" / "executions.jsonl")
    assert [one["outcome"] for one in executions] == ["ran"] * 25
    calls = [call for one in executions for call in one["calls"]]
    assert len({call["tool"] for call in calls}) == 6
    # The server refuses an owner who is not the note's.
    notes = {call["arguments"]["note_id"] for call in calls if call["tool"] == "rename_note"}
    assert notes <= {note["note_id"] for note in SEED}
    assert files_below(place / "workspace") == workspace
    before = files_below(place / "data")
    again = generated(place)
    assert again.code == 0 and "values were collected before" in again.err
    for name in ("values.json", "data_raw.json"):
        assert files_below(place / "data")[name] == before[name]


def test_a_second_collection_happens_only_on_request(place: Path, tmp_path: Path) -> None:
    collect(place)
    before = files_below(place / "data")
    collect(place, mode="crash")
    assert files_below(place / "data") == before
    with pytest.raises(ToolassayError):
        collect(place, mode="crash", again=True)
    assert files_below(place / "data") == before
    collect(place, again=True)
    assert values(place) == json.loads(before["values.json"])


def test_values_of_the_user_are_kept_as_a_dated_copy(place: Path) -> None:
    (place / "data" / "values.json").write_text('{"get_note": {"note_id": ["mine"]}}')
    said: list[str] = []
    collect(place, said)
    copies = list((place / "data").glob("values.*.json"))
    assert [json.loads(one.read_text()) for one in copies] == [{"get_note": {"note_id": ["mine"]}}]
    assert f"kept {copies[0].name}" in said


def test_what_gives_no_values_leaves_the_folder_as_it_was(place: Path) -> None:
    before = files_below(place / "data")
    assert "accepted no call" in generated(place, mode="refuse").error
    done = generated(place, "--server", "/no/such/program")
    assert done.code in (1, 2) and done.error
    assert files_below(place / "data") == before


def test_an_interrupted_collection_leaves_the_folder_as_it_was(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files_below(place / "data")

    async def interrupted(self: Collector, *given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Collector, "try_links", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(place)
    assert files_below(place / "data") == before


def calls_of(place: Path) -> list[str]:
    log = place / "calls"
    return log.read_text().split() if log.exists() else []


def test_a_server_as_it_is_gets_only_calls_of_read_only_tools(place: Path) -> None:
    file = place / "workspace" / "notes.json"
    command = f"CALLS={place / 'calls'} {command_of('notes_server')} {file}"
    before = file.read_bytes()
    collect(place, server=command, workspace="")
    assert {*calls_of(place)} == {"list_notes", "get_note", "search_notes"}
    assert file.read_bytes() == before
    assert len(calls_of(place)) < MOST_CALLS


def execution(*calls: ExecutedCall, changes: dict[str, Any] | None = None) -> Execution:
    after = None if changes is None else StateSummary("d", 1, changes)
    return Execution("1", "ran", "mcp", "p", calls, state_after=after)


def test_a_plan_that_finds_or_changes_nothing_is_reported() -> None:
    empty = ExecutedCall(0, "find", {"path": "a"}, result=[])
    failing = ExecutedCall(1, "read", {"path": "a"}, result="a: Error - no such file")
    write = ExecutedCall(2, "write", {}, result="ok")
    found = list(pointless(execution(empty, failing, write, changes={}), {"find", "read"}, {"write"}))
    assert [text.partition("; ")[2].partition(": ")[0] for text in found] == [
        "call 0 (find) found nothing",
        "call 1 (read) reports an error",
        "'write' changed nothing",
    ]
    after = execution(write, ExecutedCall(1, "find", {"path": "a"}, result=[]))
    assert not [*pointless(after, {"find"}, {"write"})], "what was deleted is gone"
    good = ExecutedCall(0, "find", {"path": "a"}, result=["b"])
    assert not [*pointless(execution(good, write, changes={"a": {}}), {"find"}, {"write"})]
    assert not [*pointless(execution(good, write), {"find"}, {"write"})]


def test_a_model_that_plans_sees_what_reading_tools_returned(place: Path) -> None:
    folder = collect(place)
    seen = read_results(folder)
    assert {*seen} == {"list_notes", "get_note", "search_notes"} and len(seen["get_note"]) == 3
    assert all(call.arguments["note_id"] in call.result for call in seen["get_note"])
    model = Answering(lambda _: ChatResponse('{"goal": "", "calls": [], "declined": "no"}'), "declining")
    with served(model):
        generate(place / "data", llm="declining", number_of_samples=3, seed=1, follow="seed")
    for request in model.asked:
        known = str(request.messages[0]["content"]).partition("# WHAT EXISTS #")[2]
        assert seen["get_note"][0].result in known


def test_a_malformed_file_of_results_is_refused(place: Path) -> None:
    (place / "data" / "results.json").write_text('{"get_note": [{"result": "x"}]}')
    with pytest.raises(UsageError, match="results"):
        read_results(DataFolder(place / "data"))


def test_a_model_sees_real_values_and_hears_what_the_server_refuses(place: Path) -> None:
    async def guessing(request: ChatRequest) -> ChatResponse:
        """The first answer to each sample names a note that is not there."""
        answer = (await OfflineModel().complete(request)).text
        return ChatResponse(re.sub(r"N-10\d", "N-999", answer) if len(request.messages) == 1 else answer)

    model = Answering(guessing, "guessing")
    with served(model):
        settings: dict[str, Any] = {"number_of_samples": 12, "seed": 1, "rewrite": 2, "follow": "strict"}
        generate(place / "data", llm="guessing", live=live(place), **settings)
    prompts = [one.messages[0]["content"] for one in model.asked]
    assert any("N-101" in prompt for prompt in prompts)
    again = [one.messages for one in model.asked if len(one.messages) > 1]
    assert again
    words = again[0][-1]["content"]
    assert "the plan was executed and failed" in words
    assert "N-999" in words  # the server's own words name it
    assert "N-999" not in (place / "data" / "data_raw.json").read_text()
