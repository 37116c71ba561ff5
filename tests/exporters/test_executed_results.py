"""Executions are matched to plans by id and fingerprint; what does not fit is refused with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.builders import workshop_tools
from tests.support.executions import execution_of, write_executions
from tests.support.gold_samples import TEMPORAL
from toolassay.errors import UsageError
from toolassay.exporters.executed_results import ExecutedResults, PlanResults
from toolassay.exporters.rows import row_of
from toolassay.plans.call_plan import Argument, Call, CallPlan, Unfit
from toolassay.plans.execution_record import ExecutedCall, Execution, Outcome
from toolassay.tools.library import ToolLibrary

CALLS = (Call("pay", (Argument("amount", 3),)), Call("book", (Argument("seats", "<node-0>.left"),)))
PLAN = CallPlan("1", "Pay, then book.", (), CALLS, ((0, 1),), nodes=(1, 0))
RUN = execution_of(1, PLAN, [{"left": 4}, "Booked."])


def read(folder: Path, executions: Sequence[Execution], request_id: str | int = 1) -> PlanResults:
    write_executions(folder, executions)
    return ExecutedResults.index(folder / "executions.jsonl", TEMPORAL, "temporal").of(request_id, PLAN)


def with_call(number: int, **changes: Any) -> Execution:
    """`RUN` with changes to one of its calls."""
    calls = list(RUN.calls)
    calls[number] = replace(calls[number], **changes)
    return replace(RUN, calls=tuple(calls))


def test_results_are_in_the_order_of_the_calls(tmp_path: Path) -> None:
    found = read(tmp_path, [replace(RUN, calls=RUN.calls[::-1])])

    assert found.calls == (CALLS[0], Call("book", (Argument("seats", 4),)))
    assert found.texts == ('{"left": 4}', "Booked.")
    assert (found.executor, found.marking, found.refused) == ("mcp", "executed", None)


def test_of_several_executions_of_one_id_the_last_counts(tmp_path: Path) -> None:
    other = with_call(1, result="Later.")

    assert read(tmp_path, [RUN, other]).texts[1] == "Later."
    with pytest.raises(Unfit, match="its outcome is failed"):
        read(tmp_path, [RUN, replace(RUN, outcome="failed")])


@pytest.mark.parametrize(
    ("outcome", "fix"),
    [
        ("failed", "fix the plan, then run execute()"),
        ("not_allowed", "run execute(allow_writes=True)"),
        ("in_doubt", "run execute()"),
        ("provider_error", "run execute()"),
    ],
)
def test_a_plan_that_did_not_run_is_refused(outcome: Outcome, fix: str, tmp_path: Path) -> None:
    with pytest.raises(Unfit, match=re.escape(f"{outcome} (sold out); {fix}") + "$"):
        read(tmp_path, [replace(RUN, outcome=outcome, reason="sold out")])


@pytest.mark.parametrize(
    ("executions", "message"),
    [
        ([], "executions.jsonl: has no execution"),
        ([replace(RUN, plan="0" * 16)], "executions.jsonl: has an execution of an earlier version"),
        ([replace(RUN, calls=RUN.calls[:1])], "task_nodes[0]: has no result"),
        ([with_call(1, arguments={"seat": 4})], "task_nodes[0]: was executed with 'seat'"),
        ([with_call(0, arguments={"amount": [float("nan")]})], "task_nodes[1]: was executed with a value"),
    ],
)
def test_what_does_not_fit_the_plan_is_refused(
    executions: list[Execution], message: str, tmp_path: Path
) -> None:
    with pytest.raises(Unfit) as error:
        read(tmp_path, executions)
    assert str(error.value).startswith(message)


def test_arguments_that_the_schema_forbids_are_refused(tmp_path: Path) -> None:
    library = ToolLibrary.from_json(workshop_tools())
    call = Call("find_benches", (Argument("day", "2026-01-05"), Argument("kind", "wood")))
    plan = CallPlan("1", "", (), (call,), ())
    good = execution_of(1, plan, [{"benches": []}])

    def results(**arguments: Any) -> PlanResults:
        changed = replace(good, calls=(replace(good.calls[0], arguments=arguments),))
        write_executions(tmp_path, [changed])
        return ExecutedResults.index(tmp_path / "executions.jsonl", library, "schema").of(1, plan)

    assert results(day="2026-01-05").texts == ('{"benches": []}',)
    with pytest.raises(Unfit, match=r"task_nodes\[0\]: .*schema forbids: kind: 'stone' is not one of"):
        results(day="2026-01-05", kind="stone")
    with pytest.raises(Unfit, match=r"schema forbids: 'day' is a required property"):
        results(kind="wood")


def test_a_call_that_was_made_for_each_item_is_several_calls(tmp_path: Path) -> None:
    book = Call("book", (Argument("seats", "<node-0>.rows[each].left"),))
    plan = CallPlan("1", "", (), (CALLS[0], book, Call("pay", (Argument("amount", "<node-1>"),))), ((0, 1),))
    calls = (
        ExecutedCall(0, "pay", {"amount": 3}, {"rows": [{"left": 4}, {"left": 2}]}),
        ExecutedCall(1, "book", {"seats": 4}, "Booked 4.", repetition=0),
        ExecutedCall(1, "book", {"seats": 2}, "Booked 2.", repetition=1),
        ExecutedCall(2, "pay", {"amount": 6}, "Paid."),
    )
    wrong = ExecutedCall(2, "pay", {}, error="no amount")
    execution = Execution(1, "ran", "mcp", plan.fingerprint, calls, wrong_call=wrong)
    write_executions(tmp_path, [execution])
    results = ExecutedResults.index(tmp_path / "executions.jsonl", TEMPORAL, "temporal").of(1, plan)

    assert results.texts[1:] == ("Booked 4.", "Booked 2.", "Paid.")
    assert results.expanded is not None and results.refused is not None
    assert results.expanded.calls == results.calls
    assert results.expanded.links == ((0, 1), (0, 2), (1, 3), (2, 3))
    assert results.refused.number == 3
    row = row_of(results.expanded, results)
    assert [call.result for call in row.calls] == list(results.texts)
    assert row.answer == "Paid."


WRONG = ExecutedCall(0, "book", {"seats": "many"}, error="seats: not a number")


@pytest.mark.parametrize("changes", [{"error": None}, {"error": " "}, {"node": 7}, {"tool": "pay"}])
def test_a_wrong_call_that_cannot_be_shown_is_left_out(changes: dict[str, Any], tmp_path: Path) -> None:
    assert read(tmp_path, [replace(RUN, wrong_call=replace(WRONG, **changes))]).refused is None


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"executions\.jsonl: no such file\. Fix: make it with execute\(\)"):
        ExecutedResults.index(tmp_path / "executions.jsonl", TEMPORAL, "temporal")


@pytest.mark.parametrize("line", ["{", "[]", "{}", "\xff"])
def test_a_malformed_line_is_reported_with_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "executions.jsonl"
    path.write_bytes(
        b"\n" + json.dumps(msgspec.to_builtins(RUN)).encode() + b"\n" + line.encode("latin-1") + b"\n"
    )

    with pytest.raises(UsageError, match=r"executions\.jsonl:3: "):
        ExecutedResults.index(path, TEMPORAL, "temporal")
