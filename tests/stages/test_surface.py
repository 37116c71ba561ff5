"""Two versions of a server or tool file, compared by the same goals."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

import pytest

from tests.mcp_servers import HERE
from tests.mcp_servers.tickets import make_desk
from tests.support.answering import Answering, served
from tests.support.builders import imported_tool
from tests.support.running import inside
from toolassay import import_cases, import_tools, surface
from toolassay.console.screen import Screen
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client, Registered
from toolassay.models.concurrency import Limiter
from toolassay.models.protocol import Meter, ToolCall
from toolassay.surfaces.verdict import SurfaceVerdict

NUMBER = re.compile(r"\d+")
QUIET = Screen(say=lambda _: None, show=lambda _: None)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def chosen(request: str, tools: list[Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The call of a model that compares words; a number in the request is any integer argument."""
    functions = [tool["function"] for tool in tools]
    best = max(functions, key=lambda one: (len(words(one["description"]) & words(request)), one["name"]))
    given: dict[str, Any] = {}
    for name, schema in best["parameters"].get("properties", {}).items():
        found = NUMBER.search(request)
        given[name] = int(found[0]) if found and schema.get("type") == "integer" else "note.txt"
    return best["name"], given


def reader(request: ChatRequest) -> ChatResponse:
    """`chosen`, as a model with native calls."""
    asked = str(request.messages[-1]["content"])
    name, given = chosen(asked, list(request.parameters["tools"]))
    return ChatResponse(
        "", "tool_calls", prompt_tokens=100, completion_tokens=5,
        tool_calls=(ToolCall("1", name, json.dumps(given)),),
    )  # fmt: skip


def tools_of(texts: Mapping[str, str], argument: str = "room_number") -> list[dict[str, Any]]:
    return [
        imported_tool(name, text, {argument: {"type": "integer"}}, [argument]) for name, text in texts.items()
    ]


OLD = {"open_door": "Open the door of a room.", "shut_door": "Shut the door of a room."}


def version(place: Path, texts: Mapping[str, str], argument: str = "room_number") -> Path:
    place.mkdir()
    write_json(place / "tool_desc.json", {"nodes": tools_of(texts, argument)})
    return place


def goals(place: Path, count: int = 60) -> Path:
    """A folder with the old tools, and as many goals, half of them to open and half to shut."""
    version(place, OLD)
    cases = [
        {
            "id": f"g{number}",
            "request": f"Please {verb} the door of room {number}.",
            "calls": [{"tool": f"{verb}_door", "arguments": {"room_number": number}}],
        }
        for number in range(count)
        for verb in [("open", "shut")[number % 2]]
    ]
    (place / "cases.jsonl.new").write_text("\n".join(map(json.dumps, cases)))
    import_cases(place / "cases.jsonl.new", place, screen=QUIET)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return goals(tmp_path / "goals")


def metered(name: str, options: ModelOptions, meter: Meter) -> Client:
    """The reader, as a client with a ledger."""
    transport = Registered(Answering(reader, name))
    return Client(name, options, meter, transport=transport, limiter=Limiter(1))


def compared(folder: Path, new: Path, **more: Any) -> SurfaceVerdict:
    with patch("toolassay.runs.run.create_model", metered):
        found = surface(folder, new, folder, llm="reader", screen=QUIET, **more)
    assert found.verdict is not None
    return found.verdict


def test_a_worse_text_is_found_and_its_tool_blamed(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Does things."})
    found = compared(folder, new, junit=tmp_path / "j.xml", summary=tmp_path / "s.md")
    assert (found.verdict, found.exit_code, found.n_goals, found.n_needed) == ("worse", 4, 60, None)
    assert found.difference == -0.5 and -0.7 < found.low < -0.5 < found.high < -0.3
    assert (found.scores.before, found.scores.after, found.judged_by) == (1, 0.5, "plan")
    assert (
        found.tools[0].what == ("open_door",) and found.tools[0].changed and found.tools[0].difference == 0.5
    )
    assert found.pairs[0].what == ("open_door", "shut_door")
    assert [one.tool for one in found.changed] == ["open_door"]
    assert found.tokens.before == found.tokens.after == 100
    written = read_json(folder / "surface" / "surface.json")
    keys = "verdict difference low high margin n_goals n_needed method looks lost tools pairs tokens usd"
    assert set(keys.split()) <= written.keys()
    case = ElementTree.parse(tmp_path / "j.xml").getroot()[0][0]
    assert case[0].tag == "failure" and "worse" in case[0].get("message", "")
    summary = (tmp_path / "s.md").read_text()
    assert summary == (folder / "surface" / "surface.md").read_text()
    assert r"Wrong more often, significantly: open\_door, shut\_door." in summary
    assert "Does things." in summary and r"open\_door → shut\_door" in summary


def test_equal_versions_and_a_cut_number_of_looks(tmp_path: Path) -> None:
    folder = goals(tmp_path / "many", 200)
    shutil.copytree(folder, new := tmp_path / "same")
    found = compared(folder, new, until="decided")
    assert (found.verdict, found.exit_code, found.difference) == ("no_difference", 0, 0)
    assert found.n_goals < 200 and [look.n_goals for look in found.looks] == list(
        range(20, found.n_goals + 1, 20)
    )
    few = compared(folder, new, limit=20, out=tmp_path / "few")
    assert (few.verdict, few.exit_code) == ("no_decision", 3)
    assert few.n_needed is not None and 40 < few.n_needed < 80
    assert "more goals would decide" in few.sentence and "skipped" in few.junit


def test_nothing_is_asked_twice_and_the_old_side_can_be_kept(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Does things."})
    model = Answering(reader, "reader")
    with served(model):
        first = surface(folder, new, folder, llm="reader", trials=2, limit=20, screen=QUIET)
        assert len(model.asked) == 80
        again = surface(folder, new, folder, llm="reader", trials=2, limit=20, screen=QUIET)
        assert len(model.asked) == 80 and again.verdict == first.verdict
        other = version(tmp_path / "other", {**OLD, "shut_door": "Does things."})
        more: dict[str, Any] = {"baseline": folder / "surface/surface.json", "out": tmp_path / "next"}
        kept = surface(folder, other, folder, llm="reader", trials=2, limit=20, screen=QUIET, **more)
        assert len(model.asked) == 120, "only the new version is asked"
        assert kept.verdict is not None and kept.verdict.verdict == "worse"
        assert any("earlier comparison" in note for note in kept.verdict.notes)
        with pytest.raises(UsageError, match="not those that this comparison began with"):
            surface(folder, other, folder, llm="reader", trials=2, limit=20, screen=QUIET)


def test_the_sides_take_turns(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Opens a door of a room."})
    model = Answering(reader, "reader")
    with served(model):
        surface(folder, new, folder, llm="reader", multiworker=1, screen=QUIET)
    sides = ["Opens" in str(request.parameters["tools"]) for request in model.asked]
    blocks = [sides[start] for start in range(0, 120, 6)]
    assert blocks == [False, True, True, False] * 5
    assert all(
        sides[start : start + 6] == [side] * 6 for start, side in zip(range(0, 120, 6), blocks, strict=True)
    )


def test_both_sides_share_a_budget_and_the_rest_follows(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Does things."})
    found = compared(folder, new, max_requests=50)
    assert found.verdict == "no_decision" and "Stopped" in found.notes[0]
    whole = compared(folder, new, max_requests=120)
    assert whole.verdict == "worse" and whole.n_goals == 60


def test_an_error_of_the_server_takes_one_goal_out(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Does things."})

    def failing(request: ChatRequest) -> ChatResponse:
        if "room 7." in str(request.messages[-1]["content"]):
            raise ModelError("the server is busy")
        return reader(request)

    with served(Answering(failing, "reader")):
        found = surface(folder, new, folder, llm="reader", screen=QUIET).verdict
    assert found is not None and (found.verdict, found.n_goals) == ("worse", 59)
    assert any(note.startswith("1 goal without an answer") for note in found.notes)


def test_a_dry_run_asks_nothing(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", {**OLD, "open_door": "Does things."})
    shown: list[str] = []
    model = Answering(reader, "reader")
    with served(model):
        found = surface(folder, new, folder, llm="reader", dry_run=True, screen=Screen(show=shown.append))
    assert found.verdict is None and not model.asked
    assert sum("60 to send" in line for line in shown) == 2


def test_renamed_tools_wait_for_a_person(folder: Path, tmp_path: Path) -> None:
    renamed = {"unlock_door": "Open the door of a room.", "shut_door": OLD["shut_door"]}
    new = version(tmp_path / "new", renamed, argument="room")
    with pytest.raises(UsageError, match="no decision about 'open_door', 'shut_door'"):
        compared(folder, new)
    file = folder / "surface" / "mapping.json"
    proposals = read_json(file)["tools"]
    assert {(one["from"], one["to"], str(one["arguments"])) for one in proposals} == {
        ("open_door", "unlock_door", "{'room_number': 'room'}"),
        ("shut_door", "shut_door", "{'room_number': 'room'}"),
    }
    for one in proposals:
        one["confirmed"] = one["from"] == "shut_door"
    write_json(file, {"tools": [*proposals, {"from": "open_dor", "to": "shut_door", "confirmed": True}]})
    with pytest.raises(UsageError, match="no version has the tool 'open_dor'"):
        compared(folder, new)
    write_json(file, {"tools": proposals})
    found = compared(folder, new)
    assert found.n_goals == 30 and len(found.lost) == 30
    assert "'open_door'" in found.lost[0].reason and found.difference == 0
    for one in proposals:
        one["confirmed"] = True
    write_json(file, {"tools": proposals})
    whole = compared(folder, new, out=None)
    assert whole.n_goals == 60 and not whole.lost and whole.difference == 0
    assert {one.tool for one in whole.changed} == {"open_door", "shut_door"}


def test_goals_that_cannot_be_called_any_more_are_lost(folder: Path, tmp_path: Path) -> None:
    new = version(tmp_path / "new", OLD, argument="room")
    (folder / "surface").mkdir()
    write_json(folder / "surface/mapping.json", {"tools": []})
    with pytest.raises(UsageError, match="no goal can be fulfilled on both versions"):
        compared(folder, new)


async def acting(request: str, session: AgentSession) -> str:
    """`chosen`, as an agent that makes the call and says what it returned."""
    name, given = chosen(request, list(session.tools))
    result = await session.call(name, given)
    return f"It closes at {result['result']}." if "result" in result else "Done."


@pytest.fixture
def desks(tmp_path: Path) -> Path:
    """Two servers of a ticket desk, of which the second confuses two tools, and goals."""
    make_desk(tmp_path / "desk" / "desk.db")
    shutil.copy(HERE / "standard_streams.py", tmp_path)
    source = (HERE / "tickets.py").read_text()
    (tmp_path / "old.py").write_text(source)
    swapped = source.replace('"Close a ticket."', '"Delete a ticket."')
    (tmp_path / "new.py").write_text(swapped.replace('"Delete a ticket for good."', '"Close a ticket."'))
    cases = [{"request": "At which time does the desk close?", "calls": [{"tool": "get_closing_time"}],
              "facts": [{"value": "17:30"}]}]  # fmt: skip
    for number in (7, 8, 9):
        for verb, tool in (("close", "close_ticket"), ("delete", "delete_ticket")):
            call = {"tool": tool, "arguments": {"id": number}}
            cases.append({"request": f"Please {verb} ticket {number}.", "calls": [call]})
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    import_tools("mcp", f"{sys.executable} {tmp_path}/old.py desk.db", tmp_path / "mine", screen=QUIET)
    import_cases(tmp_path / "cases.jsonl", tmp_path / "mine", screen=QUIET)
    return tmp_path


def test_servers_are_compared_by_what_agents_bring_about(desks: Path) -> None:
    old, new = (f"{sys.executable} {desks}/{name}.py {{workspace}}/desk.db" for name in ("old", "new"))
    more: dict[str, Any] = {"executor": "mcp", "workspace": str(desks / "desk"), "allow_writes": True}
    found = surface(old, new, desks / "mine", llm="acting", agent=acting, screen=QUIET, margin=0.2, **more)
    verdict = found.verdict
    assert verdict is not None and verdict.judged_by == "outcome" and not verdict.lost
    assert verdict.scores.before == 1 and verdict.scores.after == pytest.approx(1 / 7)
    assert {row.what[0] for row in verdict.tools} == {"close_ticket", "delete_ticket"}
    broken = (
        (desks / "new.py").read_text().replace('"get_closing_time":\n        return', '"":\n        return')
    )
    (desks / "broken.py").write_text(broken)
    third = old.replace("old.py", "broken.py")
    lost = surface(
        old, third, desks / "mine", llm="acting", agent=acting, screen=QUIET, out=desks / "o", **more
    )
    assert lost.verdict is not None and len(lost.verdict.lost) == 1
    assert "its gold fails on the new version" in lost.verdict.lost[0].reason


def test_the_command_says_what_is_wrong_in_one_line(folder: Path, tmp_path: Path) -> None:
    given = ("--data_dir", folder, "--llm", "nothing")
    missing = inside("surface", folder, tmp_path / "nothing.json", *given)
    python = inside("surface", folder, folder, *given, "--executor", "python")
    baseline = inside("surface", folder, folder, *given, "--baseline", tmp_path / "no.json")
    assert baseline.code == 2 and "no.json: no such file" in baseline.err
    assert missing.code == python.code == 2
    assert "nothing.json" in missing.err and len(missing.err.strip().splitlines()) == 1
    assert "--executor mcp" in python.err
