from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.checking import background, gold, label
from tests.support.running import inside, lines_of, write_lines
from toolassay.gates.gate import Background, Finding
from toolassay.gates.gate_pipeline import ExecutionGate
from toolassay.plans.call_plan import call_plan_of
from toolassay.plans.execution_record import ExecutedCall, Execution, Outcome
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
