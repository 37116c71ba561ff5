"""`pipeline --server`: from a real MCP server to a released set, with a scripted writer and critic."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.mcp_servers import command_of
from tests.mcp_servers.notes_server import SEED
from tests.support.answering import Answering, served
from tests.support.builders import ROOM_TOOLS
from tests.support.running import inside, lines_of
from toolassay.console.screen import Screen
from toolassay.executors import McpExecution
from toolassay.files.data_files import read_json, write_json
from toolassay.gates.calibration import Calibration, Pair, agreement
from toolassay.gates.rubric import CRITERIA
from toolassay.interface import flat
from toolassay.models import ChatRequest, ChatResponse
from toolassay.stages.pipeline import MadeSet, make_set
from toolassay.stages.settings import LiveSettings

ASKED = [
    "My colleague Nora Hughes keeps recipes with us. Which notes of hers are there?",
    "Please open note N-102 for me, I forgot what the repair was about.",
    "I want to keep my ideas for the garden. Start a note for Ada Brook called 'Garden beds'.",
]
PLANS: list[tuple[str, dict[str, Any]]] = [
    ("search_notes", {"owner": "Nora Hughes"}),
    ("get_note", {"note_id": "N-102"}),
    ("create_note", {"title": "Garden beds", "owner": "Ada Brook"}),
]
PERSONS = [f"a keeper of notes on matter {number}" for number in range(12)]
OCCASIONS = [f"note {number} went missing" for number in range(12)]


def written(request: ChatRequest) -> ChatResponse:
    """Declines every fourth sample; its first plan to read a note names a note that is not there."""
    if request.role == "situations":
        return ChatResponse(json.dumps({"persons": PERSONS, "occasions": OCCASIONS}))
    if request.role != "generator":
        return ChatResponse(json.dumps({"returns": [], "links": []}))
    number, turn = int((request.item or "").rpartition("-")[2]), len(request.messages) // 2
    if number % 4 == 0:
        return ChatResponse(json.dumps({"goal": "", "calls": [], "declined": "Nobody wants that."}))
    if "were carried out" in str(request.messages[-1]["content"]):
        words = {"user_request": ASKED[number % 4 - 1], "task_steps": ["Step 1: do it"], "declined": ""}
        return ChatResponse(json.dumps(words))
    tool, arguments = PLANS[number % 4 - 1]
    if turn == 0 and "note_id" in arguments:
        arguments = {"note_id": "N-999"}
    call = {"tool": tool, "arguments": [{"name": name, "value": one} for name, one in arguments.items()]}
    return ChatResponse(json.dumps({"goal": "have it", "calls": [call], "declined": ""}))


def judged(request: ChatRequest) -> ChatResponse:
    return ChatResponse(json.dumps({name: {"why": "", "yes": True} for name in CRITERIA}))


OTHER_PLANS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    ASKED[0]: [("list_notes", {})],  # it returns more than the notes of one person
    ASKED[1]: [
        ("search_notes", {"owner": "Liam Ortega"}),
        ("get_note", {"note_id": "<node-0>.notes[0].note_id"}),
    ],
    ASKED[2]: [("create_note", {"title": "Garden bed", "owner": "Ada Brook"})],
}


def knowing(request: ChatRequest) -> ChatResponse:
    """A critic that knows another plan for each request, of which one does the same."""
    prompt = str(request.messages[0]["content"])
    (plan,) = (plan for asked, plan in OTHER_PLANS.items() if json.dumps(asked) in prompt)
    calls = [
        {"tool": tool, "arguments": [{"name": name, "value": one} for name, one in arguments.items()]}
        for tool, arguments in plan
    ]
    return ChatResponse(json.dumps({**json.loads(judged(request).text), "alternative": calls}))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "notes.json").write_text(json.dumps(SEED))
    return place


def server() -> str:
    return f"{command_of('notes_server')} {{workspace}}/notes.json"


def made(folder: Path, workspace: Path, *, critic_says: Any = judged, **more: Any) -> MadeSet:
    options = McpExecution(server=server(), workspace=str(workspace), fresh="worker")
    with served(Answering(written, "writer"), Answering(critic_says, "judge")):
        live = LiveSettings("mcp", options, allow_writes=True)
        made = flat(make_set)(folder, live=live, llm="writer", **more)
        assert isinstance(made, MadeSet)
        return made


def test_from_a_server_to_a_released_set(tmp_path: Path, workspace: Path) -> None:
    folder, before = tmp_path / "data", (workspace / "notes.json").read_bytes()
    people = dict.fromkeys((*CRITERIA, "publishable"), True)
    rows = agreement([Pair(people, people)] * 9 + [Pair(people | {"publishable": False}, people)])
    calibration = tmp_path / "calibration.json"
    write_json(calibration, msgspec.to_builtins(Calibration("judge", "seen.jsonl", "", "", 10, 0, rows)))
    found = made(folder, workspace, number_of_samples=3, critic=["judge"], calibration=[calibration])
    assert (found.passed, found.ran, found.simulated, found.complete) == (3, 3, 0, True)
    assert found.asked == found.declined + found.written and found.declined >= 1
    assert {path.name for path in workspace.iterdir()} == {"notes.json"}, "the server works on copies"
    assert found.publishable is not None and found.publishable.value == 0.9
    assert sorted(one["user_request"] for one in lines_of(folder / "data.json")) == sorted(ASKED)
    for one in lines_of(folder / "data.json"):
        origin = (one["written_by"], one["judged_by"], one["executed"], one["executor"])
        assert origin == ("writer", ["judge"], "ran", "mcp")
    outcomes = [line["outcome"] for line in lines_of(folder / "executions.jsonl")]
    assert set(outcomes) == {"ran"}
    assert (folder / "split_ids.json").exists()
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    assert "seen.jsonl" in card and "90%" in card
    assert "| ran on the server | 3 of 3 |" in card and "world" not in card
    assert "10 samples" in read_json(folder / "funnel.json")["critics"]["judge"]
    assert (workspace / "notes.json").read_bytes() == before
    said: list[str] = []
    again = made(folder, workspace, number_of_samples=3, critic=["judge"], screen=Screen(say=said.append))
    assert any("goes on until 3 samples pass" in line for line in said)
    assert (again.passed, again.ran) == (3, 3)
    assert "not been compared" in (folder / "CARD.md").read_text(encoding="utf-8")


def test_the_card_counts_kinds_of_tasks_and_what_controls_hold_back(tmp_path: Path, workspace: Path) -> None:
    found = made(tmp_path / "data", workspace, number_of_samples=3, difficulty="mixed")
    labels = lines_of(tmp_path / "data" / "data.json")
    assert found.kinds == Counter(label["task_kind"] for label in labels)
    assert sum(found.kinds.values()) == found.passed == 3
    card = (tmp_path / "data" / "CARD.md").read_text(encoding="utf-8")
    assert all(f"| of the kind {kind} | {count} |" in card for kind, count in found.kinds.items())
    assert "| held back by controls | 0 |" in card
    assert read_json(tmp_path / "data" / "situations" / "writer.json")["answer"]["persons"] == PERSONS
    again = made(tmp_path / "data", workspace, number_of_samples=3, difficulty="mixed")
    assert again.passed == 3, "the run goes on with what was proposed at its start"


def test_only_proven_plans_of_a_critic_are_released(tmp_path: Path, workspace: Path) -> None:
    folder = tmp_path / "data"
    found = made(folder, workspace, critic_says=knowing, number_of_samples=3, critic=["judge"])
    assert found.passed == 3, "a wrong alternative takes no sample away"
    labels = {one["user_request"]: one for one in lines_of(folder / "data.json")}
    assert [labels[asked]["alternatives"] for asked in (ASKED[0], ASKED[2])] == [[], []]
    (other,) = labels[ASKED[1]]["alternatives"]
    assert [node["task"] for node in other["task_nodes"]] == ["search_notes", "get_note"]
    assert other["task_links"] == [{"source": "search_notes", "target": "get_note"}]
    assert other["by"] == "critic"
    reasons = {
        finding["reason"]
        for line in lines_of(folder / "gates.jsonl")
        for finding in line["findings"]
        if finding["where"] == "alternatives[0]"
    }
    another_state = "left out: it leaves another state (1 missed, 1 unwanted)"
    assert reasons == {"left out: it gives another answer", another_state}


def test_without_a_model_it_says_what_one_would_add(tmp_path: Path, workspace: Path) -> None:
    place = ("--data_dir", tmp_path / "data", "--workspace", workspace, "--server", server())
    given = ("--number_of_samples", "2", "--allow_writes", "--fresh", "worker")
    done = inside("pipeline", *place, *given)
    assert done.code == 0, done.err
    assert "Without a model" in done.out and "No critic judged" in done.out


def test_a_card_says_that_calls_ran_in_a_world(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    write_json(folder / "tool_desc.json", {"nodes": ROOM_TOOLS})
    done = inside("pipeline", "--data_dir", folder, "--values_from", "world", "--number_of_samples", "3")
    assert done.code == 0, done.err
    assert {line["executor"] for line in lines_of(folder / "executions.jsonl")} == {"world"}
    passed = len(lines_of(folder / "data.json"))
    card = (folder / "CARD.md").read_text(encoding="utf-8")
    assert f"| ran in a simulated world | {passed} of {passed} |" in card
    assert "ran on the server" not in card


@pytest.mark.slow  # the executor has a short test of the same
def test_a_folder_that_the_server_fills_itself(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    arguments = ["--server", f"{command_of('booking_desk')} {{workspace}}/desk.db", "--allow_writes"]
    arguments += ["--workspace", str(tmp_path / "empty"), "--number_of_samples", "2", "--fresh", "worker"]
    done = inside("pipeline", "--data_dir", tmp_path / "data", *arguments)
    assert done.code == 0, done.err
    assert "add_customer" in read_json(tmp_path / "data/values.json"), "tools that write work"
    assert not list((tmp_path / "empty").iterdir())


def test_more_than_one_writer_is_refused(tmp_path: Path) -> None:
    two = ["--llm", "a", "--llm", "b"]
    done = inside("pipeline", "--data_dir", tmp_path / "data", "--server", "python none.py", *two)
    assert done.code == 2 and "one model that writes" in done.err
    assert not (tmp_path / "data").exists()
