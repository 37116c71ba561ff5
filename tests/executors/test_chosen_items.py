"""Selectors in references: what they choose, what they refuse, and calls that are made for each item."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.mcp_servers import command_of
from tests.mcp_servers.tickets import make_desk
from tests.support.plan_runs import executed, planned
from toolassay.executors import McpExecutor
from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import FactSource, results_of
from toolassay.executors.outcome import judge
from toolassay.executors.plan_run import (
    PossibleItem,
    RunRules,
    Unresolvable,
    resolve_arguments,
    resolve_calls,
)
from toolassay.plans.execution_record import ExecutedCall, Execution

pytestmark = pytest.mark.usefixtures("temporary_files")

ITEMS = [
    {"id": 1, "name": "Ann", "age": 30, "open": True, "owner": {"name": "Bo"}, "due": "2026-03-01"},
    {"id": 2, "name": "Ann", "age": 41.5, "open": 1, "owner": {"name": "Cy"}, "due": "2026-01-31"},
    {
        "id": 3,
        "name": "Eve",
        "age": 30,
        "open": False,
        "owner": None,
        "due": "2026-11-02",
        "tags": ["a", "b"],
    },
]
RESULT = {"items": ITEMS, "none": [], "title": "all", "orders": [{"lines": ITEMS[:2]}, {"lines": ITEMS[2:]}]}


def chosen(path: str) -> Any:
    return resolve_arguments({"a": f"<node-0>{path}"}, {0: CallResult.of(RESULT)}, None)["a"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('.items[name="Eve"].id', 3),
        ('.items[name="Ann"][age=30].id', 1),
        ('.items[name="Ann"][age=30.0]', ITEMS[0]),
        ('.items[owner.name="Cy"].id', 2),
        (".items[open=true].id", 1),
        (".items[open=1].id", 2),
        (".items[owner=null].id", 3),
        ('.items[name="Ann"][*].id', [1, 2]),
        ('.items[name="Ann"][1].id', 2),
        ('.items[name="Ann"][max age].id', 2),
        (".items[max due].id", 3),
        (".items[min due].due", "2026-01-31"),
        (".items[min age first].id", 1),
        (".orders[*].lines[max age first].id", [2, 3]),
    ],
)
def test_what_a_selector_chooses(path: str, value: Any) -> None:
    assert chosen(path) == value


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ('.items[name="Bob"].id', "matches 0 of 3 items"),
        ('.items[nickname="Ann"].id', "matches 0 of 3 items"),
        ('.items[id="1"].name', "matches 0 of 3 items"),
        ('.items[name="Ann"].id', "matches 2 of 3 items"),
        ('.items[name="Ann"]', "matches 2 of 3 items"),
        ('.items[name="Bob"][*].id', "matches 0 of 3 items"),
        (".items[min age].id", "has a tie of 2 items"),
        (".items[max owner.name].id", "needs items that all have a number, or all a text, as 'owner.name'"),
        (".items[max open].id", "needs items that all have a number"),
        (".none[max age].id", "needs items that all have a number"),
        ('.title[name="a"].id', "needs a list"),
        (".items[0][max age].id", "needs a list"),
        (".item[max age].id", "has no 'item'"),
        (".items[max age].size", "has no 'items[max age].size'"),
        (".items[each].id", "is only for arguments of calls"),
    ],
)
def test_a_wrong_choice_is_refused_in_one_line(path: str, reason: str) -> None:
    with pytest.raises(Unresolvable) as refused:
        chosen(path)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_only_item_of_a_list_is_chosen_from_too() -> None:
    results = {0: PossibleItem({"id": 41, "name": "Ann"}, "")}
    for path in ('[name="Ann"].id', "[max id].id"):
        assert resolve_arguments({"a": f"<node-0>{path}"}, results, None) == {"a": 41}
    (call,) = resolve_calls(ExecutedCall(1, "t", {"a": "<node-0>[each].id"}), results, None)
    assert (call.arguments, call.repetition) == ({"a": 41}, 0)


def repeated(**arguments: Any) -> list[Mapping[str, Any]]:
    calls = resolve_calls(ExecutedCall(1, "t", arguments), {0: CallResult.of(RESULT)}, None)
    assert [call.repetition for call in calls] == [*range(len(calls))]
    return [call.arguments for call in calls]


def test_a_call_is_made_for_each_item() -> None:
    assert repeated(a="<node-0>.items[each].id", b=[1]) == [
        {"a": 1, "b": [1]},
        {"a": 2, "b": [1]},
        {"a": 3, "b": [1]},
    ]
    assert repeated(a='<node-0>.items[name="Ann"][each].id') == [{"a": 1}, {"a": 2}]
    assert repeated(a="<node-0>.orders[each].lines[*].id") == [{"a": [1, 2]}, {"a": [3]}]
    # Lists go together by position, also within a value.
    assert repeated(a={"b": "<node-0>.items[each].id"}, c="<node-0>.items[each].name")[2] == {
        "a": {"b": 3},
        "c": "Eve",
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"a": "<node-0>.none[each].id"}, r"has no 'none\[\]'"),
        ({"a": "<node-0>.title[each]"}, r"has no 'title\[\]'"),
        ({"a": '<node-0>.items[name="Bob"][each].id'}, "matches 0 of 3"),
        ({"a": "<node-0>.items[each].tags"}, r"has no 'items\[0\].tags'"),
        ({"a": "<node-0>.items[each].id", "b": "<node-0>.orders[each]"}, "have 2 and 3 items"),
        ({"a": "<node-0>.orders[each].lines[each].id"}, r"one \[each\]"),
        ({"a": "<node-0>.orders[*].lines[each].id"}, r"no \[\*\] before"),
        ({"a": "<node-1>[each]"}, "no result of call 1"),
    ],
)
def test_a_wrong_repetition_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unresolvable, match=reason):
        repeated(**arguments)


def test_at_most_twenty_calls_are_made() -> None:
    call = ExecutedCall(1, "t", {"a": "<node-0>[each]"})
    assert len(resolve_calls(call, {0: CallResult.of([*range(20)])}, None)) == 20
    with pytest.raises(Unresolvable, match="21 items, and at most 20"):
        resolve_calls(call, {0: CallResult.of([*range(21)])}, None)


# On a server

OPEN = '<node-0>.tickets[state="open"]'
CLOSE_ALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_tickets", {}),
    ("close_ticket", {"id": f"{OPEN}[each].id"}),
    ("delete_ticket", {"id": "<node-1>[1].id"}),
    ("write_note", {"file": "<node-0>.tickets[min due].assignee", "text": "closed <node-1>"}),
)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with three tickets, two of them open."""
    make_desk(tmp_path / "seed/tickets.db")
    return tmp_path / "seed"


async def run_on(desk: Path, *plans: Any, **more: Any) -> dict[str | int, Execution]:
    server = command_of("tickets", "{workspace}/tickets.db")
    return await executed(McpExecutor(), desk.parent, *plans, server=server, workspace=str(desk), **more)


async def test_a_call_for_each_item_is_made_once_each(desk: Path) -> None:
    rules = RunRules(allow_writes=True, twice=True, wrong_calls=1)
    plan = planned("all", *CLOSE_ALL)
    done = (await run_on(desk, plan, rules=rules))["all"]
    assert (done.outcome, done.reason) == ("ran", "")
    assert [(call.node, call.repetition, call.arguments) for call in done.calls[1:4]] == [
        (1, 0, {"id": 7}),
        (1, 1, {"id": 8}),
        (2, msgspec.UNSET, {"id": 8}),
    ]
    closed = [{"id": 7, "done": True}, {"id": 8, "done": True}]
    assert done.results[1] == closed
    assert done.calls[-1].arguments["file"] == "Zoë Brandt"
    assert done.answer == ({"id": 8, "done": True}, {"written": "Zoë Brandt"})
    assert done.varies == ()
    assert done.wrong_call is not None and done.wrong_call.error
    assert "repetition" not in msgspec.to_builtins(done.calls[0])
    # The same command reads the recorded calls.
    assert (await run_on(desk, plan, rules=rules))["all"] == done


async def test_the_results_of_each_call_are_the_answer_and_a_fact_is_read_from_their_list(desk: Path) -> None:
    repeated_plan = planned("a", *CLOSE_ALL[:2])
    single = planned("b", ("list_tickets", {}), ("close_ticket", {"id": 7}), ("close_ticket", {"id": 8}))
    forgotten = planned("c", ("list_tickets", {}), ("close_ticket", {"id": 7}))
    done = await run_on(desk, repeated_plan, single, forgotten)
    assert len(done["a"].answer) == 2
    verdict, missing = judge(done["a"], done["b"]), judge(done["a"], done["c"])
    assert verdict is not None and verdict.correct and verdict.state
    assert missing is not None and not missing.correct and missing.missed
    assert FactSource("<node-1>[*].id", "count").value(results_of(done["a"])) == 2


async def test_a_refused_call_refuses_the_plan_and_keeps_what_the_others_changed(desk: Path) -> None:
    gone = planned(
        "gone",
        ("list_tickets", {}),
        ("delete_ticket", {"id": 8}),
        ("close_ticket", {"id": "<node-0>.tickets[each].id"}),
        ("write_note", {"file": "a", "text": "<node-2>"}),
    )
    done = (await run_on(desk, gone))["gone"]
    assert (done.outcome, done.answer) == ("failed", ())
    assert "call 2 (close_ticket)" in done.reason and "no ticket 8" in done.reason
    assert [call.arguments["id"] for call in done.calls if call.node == 2] == [7, 8]
    assert done.changes


async def test_a_wrong_choice_fails_the_plan_before_its_call(desk: Path) -> None:
    tie = planned("tie", ("list_tickets", {}), ("close_ticket", {"id": "<node-0>.tickets[max state].id"}))
    done = (await run_on(desk, tie))["tie"]
    assert done.outcome == "failed" and len(done.calls) == 1
    assert done.reason.startswith("call 1 (close_ticket): 'tickets[max state]'")
    with closing(sqlite3.connect(desk / "tickets.db")) as base:
        assert base.execute("SELECT count(*) FROM tickets WHERE state = 'open'").fetchone() == (2,)
