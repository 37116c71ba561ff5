"""`toolassay world`: by rules, by a model that is corrected, and around records of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ROOM_TOOLS, imported_folder, imported_tool, running_server
from tests.support.running import inside
from toolassay import SILENT, execute, world
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json, write_json_lines
from toolassay.serving.completions import Received, Reply

TEXT = {"type": "string"}
TOOLS = [
    *ROOM_TOOLS,
    imported_tool("close_room", "Closes a room.", {"room_id": TEXT}, ["room_id"]),
    imported_tool("draw_lots", "Draws lots.", {"names": {"type": "array", "items": TEXT}}, ["names"]),
]
ROOMS = [{"room_id": "R-1", "title": "Blue", "open": True}, {"room_id": "R-2", "title": "Red", "open": False}]
STOCK = {"things": {"room": {"key": "room_id", "defaults": {"open": True}}}, "records": {"room": ROOMS}}
BY_ID = [{"field": "room_id", "argument": "room_id"}]
OPERATIONS: dict[str, Any] = {
    "create_room": {"op": "create", "thing": "room", "fields": {"title": "${arguments.title}"}},
    "get_room": {"op": "get", "thing": "room", "where": BY_ID},
    "close_room": {
        "op": "update",
        "thing": "room",
        "where": BY_ID,
        "fields": {"open": False},
        "only_if": [{"field": "open", "value": True}],
    },
}
UNCOVERED = [{"tool": "draw_lots", "reason": "it is chance"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return imported_folder(tmp_path / "data", {"nodes": TOOLS})


class Writer:
    """A model that makes some mistakes at first, each once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.wrong = {
            "create_room": {"op": "create", "thing": "room", "fields": {}},  # the title has no effect
            "get_room": {"op": "fetch", "thing": "room"},  # there is no such operation
            "close_room": {**OPERATIONS["close_room"], "where": [{"field": "no", "argument": "room_id"}]},
        }

    async def __call__(self, received: Received) -> Reply:
        prompt = received.body["messages"][0]["content"]
        self.asked.append(prompt)
        if "THE OPERATIONS" not in prompt:
            broken = {**STOCK, "records": {"room": [*ROOMS, {"room_id": "R-1"}]}}
            return Reply(json.dumps(broken if "CORRECT THIS" not in prompt else STOCK))
        about = [name for name in (*OPERATIONS, "draw_lots") if f'"tool": "{name}"' in prompt]
        tools = {name: self.wrong.pop(name, OPERATIONS.get(name)) for name in about if name != "draw_lots"}
        return Reply(json.dumps({"tools": tools, "uncovered": UNCOVERED if "draw_lots" in about else []}))


def test_without_a_model_rules_write_it(folder: Path) -> None:
    done = inside("world", "--data_dir", folder)
    assert done.code == 0, done.err
    assert "3 of 4 tools covered" in done.out and "not covered: draw_lots" in done.out
    assert read_json(folder / "benchmark.json")["today"] == "2026-03-02"
    before = (folder / "world.json").read_bytes()
    assert inside("world", "--data_dir", folder).code == 0
    assert (folder / "world.json").read_bytes() == before


def test_a_model_writes_it_and_corrects_what_running_it_shows(folder: Path) -> None:
    writer = Writer()
    with running_server(writer) as server:
        given = ("world", "--data_dir", folder, "--llm", "acme", "--api_base", server.base)
        done = inside(*given)
        assert done.code == 0, done.err
        assert len(writer.asked) == 4
        assert "need different values as 'room_id'" in writer.asked[1]
        corrections = writer.asked[3].partition("# CORRECT THESE #")[2]
        assert "the required argument 'title' has no effect" in corrections
        assert "Invalid value 'fetch'" in corrections and "no room has a field 'no'" in corrections
        written = read_json(folder / "world.json")
        assert set(written["tools"]) == set(OPERATIONS) and written["uncovered"] == UNCOVERED
        assert written["written_by"] == "acme" and written["records"]["room"] == ROOMS
        assert inside(*given).code == 0 and inside(*given, "--force").code == 0
        assert len(writer.asked) == 4, "what was answered is not asked again"


def test_records_of_ones_own_are_kept(folder: Path) -> None:
    own = {**STOCK, "now": "2026-05-01T10:00:00", "tools": {"get_room": OPERATIONS["get_room"]}}
    write_json(folder / "world.json", own)
    writer = Writer()
    writer.wrong.clear()
    with running_server(writer) as server:
        written = world(folder, llm="acme", api_base=server.base, screen=SILENT)
    assert len(writer.asked) == 1 and '"tool": "get_room"' not in writer.asked[0]
    assert written.world is not None and not written.flaws
    assert written.world.records["room"] == ROOMS and set(written.world.tools) == set(OPERATIONS)


def test_a_dry_run_sends_and_writes_nothing(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    done = inside("world", "--data_dir", folder, "--llm", "acme", "--dry_run")
    assert done.code == 0 and (done.err + done.out).count("requests: 1 to send") == 2
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"tools": {"get_room": {"op": "fly"}}}, "Invalid value 'fly'"),
        (
            {"tools": {"get_room": {**OPERATIONS["get_room"], "thing": "hall"}}},
            "'hall' is none of the things",
        ),
        ({"records": {"room": [{"title": "Blue"}]}}, "different values"),
        ({"room": 1}, "unknown field `room`"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(folder: Path, changed: Any, words: str) -> None:
    write_json(folder / "world.json", {**STOCK, "now": "2026-05-01", "tools": {}, **changed})
    with pytest.raises(UsageError, match=words):
        world(folder, screen=SILENT)


def test_what_is_wrong_with_ones_own_file_is_said(folder: Path) -> None:
    tools = {
        **OPERATIONS,
        "get_room": {**OPERATIONS["get_room"], "where": [{"field": "no", "argument": "room_id"}]},
    }
    write_json(folder / "world.json", {**STOCK, "now": "2026-05-01", "tools": tools, "uncovered": UNCOVERED})
    done = inside("world", "--data_dir", folder)
    assert done.code == 3 and "get_room: no room has a field 'no'" in done.err


def test_plans_run_in_it(folder: Path) -> None:
    write_json(
        folder / "world.json", {**STOCK, "now": "2026-05-01", "tools": OPERATIONS, "uncovered": UNCOVERED}
    )
    plans: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "ran": [("create_room", {"title": "Green"}), ("close_room", {"room_id": "<node-0>.room_id"})],
        "closed": [("close_room", {"room_id": "R-2"})],
        "chance": [("draw_lots", {"names": ["a"]})],
    }
    lines = [
        {
            "id": name,
            "user_request": "Do it.",
            "task_steps": [],
            "task_nodes": [
                {"task": tool, "arguments": [{"name": key, "value": value} for key, value in given.items()]}
                for tool, given in calls
            ],
            "task_links": [],
        }
        for name, calls in plans.items()
    ]
    write_json_lines(folder / "data.json", lines)
    executed = execute(folder, executor="world", screen=SILENT)
    assert executed.counts == {"ran": 1, "failed": 2}
    ran, closed, chance = (
        json.loads(line) for line in (folder / "executions.jsonl").read_text().splitlines()
    )
    assert ran["calls"][1]["result"] == {"room_id": "R-3", "open": False, "title": "Green"}
    assert "the room has False as open" in closed["reason"]
    assert "does not cover 'draw_lots': it is chance" in chance["reason"]
