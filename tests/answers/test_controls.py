"""What a replay, an idle program and one that says all it saw show about a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import call_of, imported_tool, label_of
from tests.support.executions import execution_of, write_executions
from toolassay.answers.controls import ControlGate
from toolassay.gates.gate import Background, state_of
from toolassay.gates.gate_pipeline import ExecutionGate
from toolassay.live_values.results import SeenCall
from toolassay.plans.call_plan import call_plan_of
from toolassay.plans.execution_record import FILE, Change, Execution, StateSummary
from toolassay.plans.gold import Gold
from toolassay.tools.library import ToolLibrary

READS = {"readOnlyHint": True}
DESK = Background(
    ToolLibrary.from_json(
        {
            "nodes": [
                imported_tool("list_tickets", "Lists tickets.", {}, annotations=READS),
                imported_tool("get_status", "Gets the status.", {}),
                imported_tool("close_all", "Closes all tickets.", {}),
            ]
        }
    ),
    "schema",
)
TICKETS = {"tickets": [{"id": 7, "due": "2026-12-03", "urgent": True, "share": 1e-06}]}
CLOSED: dict[str, Change] = {"desk.db/tickets": {"before": "open", "after": "closed"}}


def sample(facts: Any, *tools: str, **more: Any) -> Gold:
    return Gold.of(label_of("x", *(call_of((tool, [])) for tool in tools), facts=facts, **more))


def executed(gold: Gold, results: list[Any], changes: dict[str, Change] | None) -> Execution:
    after = None if changes is None else StateSummary("b", 1, changes)
    plan = call_plan_of(gold, DESK.library, DESK.kind)
    return execution_of(gold.id, plan, results, state_before=StateSummary("a", 1), state_after=after)


def gate(folder: Path, *executions: Execution, **observed: list[SeenCall]) -> ControlGate:
    write_executions(folder, executions)
    return ControlGate(ExecutionGate(executions, DESK, folder / FILE), observed)


def reasons(
    folder: Path,
    gold: Gold,
    results: list[Any],
    changes: dict[str, Change] | None,
    **observed: list[SeenCall],
) -> list[tuple[str, str]]:
    """The state and the reason of each finding."""
    found = gate(folder, executed(gold, results, changes), **observed).check(gold)
    return [(finding.state, finding.reason) for finding in found]


def test_a_sound_sample_passes(tmp_path: Path) -> None:
    asks = sample([{"from": "<node-0>.tickets[0].due"}], "list_tickets")
    assert reasons(tmp_path, asks, [TICKETS], {}) == []
    acts = sample([], "close_all")
    assert reasons(tmp_path, acts, ["Closed"], CLOSED) == []


def test_a_replay_that_the_rule_judges_wrong_holds_a_sample_back(tmp_path: Path) -> None:
    facts = [{"from": "<node-0>.tickets[0].due"}, {"from": "<node-0>.tickets[0].share"}]
    gold = sample(facts, "list_tickets")
    (finding,) = gate(tmp_path, executed(gold, [TICKETS], {})).check(gold)
    assert (finding.state, finding.where) == ("quarantine", "facts[1]")
    assert "replay" in finding.reason and "1e-06" in finding.reason


def test_a_replay_that_does_what_it_must_not_holds_a_sample_back(tmp_path: Path) -> None:
    for more in ({"state": [{"place": "a.txt", "is": "x"}]}, {"must_not_call": ["close_all"]}):
        ((state, reason),) = reasons(tmp_path, sample([], "close_all", **more), ["Closed"], CLOSED)
        assert state == "quarantine" and "replay" in reason


def test_a_fact_that_only_a_judge_decides_is_named_and_holds_nothing_back(tmp_path: Path) -> None:
    gold = sample([{"from": "<node-0>.tickets[0].urgent"}], "list_tickets")
    findings = gate(tmp_path, executed(gold, [TICKETS], {})).check(gold)
    assert [(finding.state, finding.where) for finding in findings] == [("pass", "facts[0]")]
    assert "undecided" in findings[0].reason and state_of(findings) == "pass"


@pytest.mark.parametrize("changes", [{}, None], ids=["no change", "a state that cannot be seen"])
def test_a_sample_that_doing_nothing_solves_is_held_back(
    tmp_path: Path, changes: dict[str, Change] | None
) -> None:
    found = reasons(tmp_path, sample([], "close_all"), ["Closed"], changes)
    assert found == [("quarantine", "a program that does nothing is judged right")]


@pytest.mark.parametrize("changes", [{}, None])
def test_a_sample_that_saying_everything_solves_is_held_back(
    tmp_path: Path, changes: dict[str, Change] | None
) -> None:
    gold = sample([{"from": "<node-0>"}], "get_status")
    ((state, reason),) = reasons(tmp_path, gold, ["waiting"], changes)
    assert state == "quarantine" and "reading tools" in reason


def test_what_other_reading_tools_return_competes_with_the_fact(tmp_path: Path) -> None:
    gold = sample([{"from": "<node-0>"}], "get_status")
    more = {"list_tickets": [SeenCall({}, "nothing to do")]}
    assert reasons(tmp_path, gold, ["waiting"], {}, **more) == []


def test_a_change_is_not_made_by_saying_everything(tmp_path: Path) -> None:
    gold = sample([{"from": "<node-0>"}], "get_status", "close_all")
    assert reasons(tmp_path, gold, ["waiting", "Closed"], CLOSED) == []
    told_by_a_change = sample([{"from": "<node-0>"}], "close_all")
    assert reasons(tmp_path, told_by_a_change, ["2 closed"], None) == []
    assert len(reasons(tmp_path, told_by_a_change, ["2 closed"], {})) == 1, "a call that changed nothing read"


def test_what_cannot_be_judged_is_not_applicable(tmp_path: Path) -> None:
    gold = sample([], "close_all")
    ran = executed(gold, ["Closed"], {})
    for other in (
        Gold.of({key: value for key, value in gold.record.items() if key != "facts"}),
        Gold.of({**gold.record, "origin": "case"}),
        sample([], "get_status"),  # another plan than the one that ran
        sample([{"from": "<node-0>.colour"}], "close_all"),
        sample([{"form": "x"}], "close_all"),
    ):
        assert [finding.state for finding in gate(tmp_path, ran).check(other)] == ["not applicable"]


def test_malformed_expectations_are_rejected(tmp_path: Path) -> None:
    for more in ({"state": "closed"}, {"must_not_call": 5}):
        gold = sample([], "close_all", **more)
        (finding,) = gate(tmp_path, executed(gold, ["Closed"], {})).check(gold)
        assert finding.state == "reject"
