from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.checking import background, gold, label
from tests.support.running import inside, lines_of, write_lines
from toolassay.gates.gate import Background, Finding
from toolassay.gates.gate_pipeline import ExecutionGate, proven_label
from toolassay.plans.call_plan import call_plan_of
from toolassay.plans.execution_record import (
    AlternativeVerdict,
    ExecutedCall,
    Execution,
    Outcome,
    StateSummary,
)
from toolassay.plans.gold import Gold

REFUSED = ExecutedCall(1, "Captioner", {}, None, "no such picture")
DESCRIBED = ExecutedCall(1, "Captioner", {}, "a red fox")


@pytest.fixture
def studio(tmp_path: Path) -> Background:
    return background(tmp_path)


def executed(studio: Background, outcome: Outcome = "ran", reason: str = "") -> Execution:
    plan = call_plan_of(gold(), studio.library, studio.kind)
    calls = (ExecutedCall(0, "Painter", {}, "fox.png"), REFUSED if outcome != "ran" else DESCRIBED)
    return Execution(gold().id, outcome, "mcp", plan.fingerprint, calls, reason)


def findings(studio: Background, *executions: Execution) -> list[Finding]:
    return ExecutionGate(executions, studio).check(gold())


def test_a_plan_that_ran_passes(studio: Background) -> None:
    assert findings(studio, executed(studio)) == []


def test_a_plan_that_ran_with_a_refused_call_is_rejected(studio: Background) -> None:
    (found,) = findings(studio, replace(executed(studio), calls=(REFUSED,)))
    assert (found.state, found.where) == ("reject", "task_nodes[1]")


def test_a_refused_call_rejects_the_sample_with_the_words_of_the_tool(studio: Background) -> None:
    (found,) = findings(studio, executed(studio, "failed", "call 1 (Captioner): no such picture"))
    assert (found.state, found.where) == ("reject", "task_nodes[1]")
    assert "no such picture" in found.reason


@pytest.mark.parametrize("outcome", ["provider_error", "in_doubt"])
def test_what_is_not_the_fault_of_the_plan_rejects_nothing(studio: Background, outcome: Outcome) -> None:
    (found,) = findings(studio, executed(studio, outcome, "the server ended"))
    assert found.state == "unknown"


def test_a_sample_that_was_not_executed_is_not_judged(studio: Background) -> None:
    assert [one.state for one in findings(studio)] == ["not applicable"]
    assert [one.state for one in findings(studio, executed(studio, "not_allowed"))] == ["not applicable"]


def test_the_execution_of_another_plan_is_not_taken_for_this_one(studio: Background) -> None:
    (found,) = findings(studio, replace(executed(studio, "failed", "x"), plan="another"))
    assert found.state == "not applicable"
    assert "changed" in found.reason


def test_check_reads_the_executions_of_the_folder(studio: Background, tmp_path: Path) -> None:
    write_lines(tmp_path / "data.json", [label(0), label(1)])
    failed = executed(studio, "failed", "call 1 (Captioner): no such picture")
    write_lines(tmp_path / "executions.jsonl", [msgspec.to_builtins(failed)])
    done = inside("check", "--data_dir", tmp_path, "--out", tmp_path / "out")
    assert "| execution | 2 | 1 | 0 | 1 |" in done.out
    lines = {line["id"]: line for line in lines_of(tmp_path / "out" / "gates.jsonl")}
    assert lines["item-0"]["gates"]["execution"] == "reject"
    assert lines["item-1"]["gates"]["execution"] == "not applicable"


def test_a_malformed_line_of_executions_is_named(studio: Background, tmp_path: Path) -> None:
    write_lines(tmp_path / "data.json", [label(0)])
    write_lines(
        tmp_path / "executions.jsonl", [msgspec.to_builtins(executed(studio)), {"id": 1, "outcome": "great"}]
    )
    done = inside("check", "--data_dir", tmp_path, "--out", tmp_path / "out")
    assert done.code == 2
    assert "executions.jsonl:2: " in done.error and "outcome" in done.error


def test_a_fact_that_the_results_lack_is_rejected(studio: Background, tmp_path: Path) -> None:
    path = tmp_path / "executions.jsonl"
    write_lines(path, [msgspec.to_builtins(executed(studio))])
    gate = ExecutionGate([executed(studio)], studio, path)
    for source, count in (("<node-1>", 0), ("<node-1>.colour", 1)):
        told = Gold.of({**gold().record, "facts": [{"from": source}]})
        assert len(gate.check(told)) == count
    (found,) = gate.check(Gold.of({**gold().record, "facts": [{"form": "x"}]}))
    assert (found.state, found.where) == ("reject", "facts")


ANOTHER_PAINTER = {"task_nodes": [{"task": "Painter", "arguments": ["a fox"]}], "task_links": []}


def test_an_alternative_that_does_something_else_is_left_out(studio: Background) -> None:
    unknown = {"task_nodes": [{"task": "Ghost"}], "task_links": []}
    sample = Gold.of({**gold().record, "alternatives": [ANOTHER_PAINTER, unknown, 7]})
    other = Gold.of({**gold().record, **ANOTHER_PAINTER})
    plan = call_plan_of(other, studio.library, studio.kind).fingerprint
    verdicts = (
        [AlternativeVerdict(plan, "same")],
        [AlternativeVerdict(plan, "differs", "it gives another answer")],
    )
    kept = []
    found: list[Finding] = []
    for alternatives in verdicts:
        gate = ExecutionGate([replace(executed(studio), alternatives=tuple(alternatives))], studio)
        found = gate.check(sample)
        assert {finding.state for finding in found} == {"pass"}  # the sample stays
        kept.append(proven_label(sample, found)["alternatives"])
    assert kept == [[ANOTHER_PAINTER], []]
    assert [finding.where for finding in found] == [f"alternatives[{number}]" for number in range(3)]
    assert found[0].reason == "left out: it gives another answer"
    assert found[1].reason.startswith("left out: it cannot be executed: ") and "Ghost" in found[1].reason


def test_an_alternative_that_was_not_executed_stays(studio: Background) -> None:
    sample = Gold.of({**gold().record, "alternatives": [ANOTHER_PAINTER]})
    found = ExecutionGate([executed(studio)], studio).check(sample)
    assert found == [] and proven_label(sample, found) is sample.record


def test_check_writes_only_proven_alternatives(studio: Background, tmp_path: Path) -> None:
    write_lines(tmp_path / "data.json", [{**label(0), "alternatives": [ANOTHER_PAINTER]}])
    other = Gold.of({**gold().record, **ANOTHER_PAINTER})
    plan = call_plan_of(other, studio.library, studio.kind).fingerprint
    execution = replace(
        executed(studio), alternatives=(AlternativeVerdict(plan, "not_allowed", "it writes"),)
    )
    write_lines(tmp_path / "executions.jsonl", [msgspec.to_builtins(execution)])
    done = inside("check", "--data_dir", tmp_path, "--out", tmp_path / "out")
    assert "| execution | 1 | 0 | 0 | 1 |" in done.out
    (line,) = lines_of(tmp_path / "out" / "data.json")
    assert line["alternatives"] == []
    assert lines_of(tmp_path / "data.json")[0]["alternatives"] == [ANOTHER_PAINTER]
    (checked,) = lines_of(tmp_path / "out" / "gates.jsonl")
    (reason,) = [found["reason"] for found in checked["findings"] if found["gate"] == "execution"]
    assert reason == "left out: it writes"


def test_a_sample_of_which_nothing_can_be_judged_is_rejected(studio: Background) -> None:
    idle = StateSummary("d", 3, {})
    busy = StateSummary("e", 3, {"fox.png": {"before": None, "after": "sha256:1"}})
    told = Gold.of({**gold().record, "facts": []})
    for state, sample, rejected in (
        (idle, told, True),
        (busy, told, False),
        (None, told, False),  # the state cannot be seen
        (idle, gold(), False),  # of an earlier version
        (idle, Gold.of({**told.record, "facts": [{"from": "<node-1>"}]}), False),
    ):
        execution = replace(executed(studio), state_after=state)
        found = ExecutionGate([execution], studio).check(sample)
        assert [finding.state for finding in found] == ["reject"] * rejected
    simulated = replace(executed(studio), state_after=idle, executor="simulate")
    assert ExecutionGate([simulated], studio).check(told) == []
