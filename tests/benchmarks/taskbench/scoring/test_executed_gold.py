"""Where the gold was executed, arguments are compared by their values and links by the sources of values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.builders import imported_tool, node, plan_of
from toolassay.benchmarks.taskbench.scoring.executed_gold import ExecutedGold
from toolassay.benchmarks.taskbench.scoring.strict import StrictItem, score_plan
from toolassay.plans.execution_record import SIMULATOR, ExecutedCall, Execution
from toolassay.plans.normalised_plan import PlanReader
from toolassay.tools.library import ToolLibrary

RESULTS: Mapping[str, Any] = {
    "find_trip": {"trip_id": 41, "guest_id": 880123, "day": "Monday", "stops": [{"id": 1}, {"id": 2}]},
    "find_bill": {"bill_id": 52, "guest_id": 880123},
    "find_guest": {"guest_id": 880999},
    "tell": {"sent": True},
    "plan": {"done": True},
}
REQUEST = "Tell the guest of trip 'T-9' that bill 'B-7' is paid, and plan their stops."


TOOLS = {
    "find_trip": {"code": "string"},
    "find_bill": {"number": "string"},
    "find_guest": {"name": "string"},
    "tell": {"guest_id": "integer", "text": "string"},
    "plan": {"stop_ids": "array", "day": "string"},
}


@pytest.fixture(scope="module")
def library() -> ToolLibrary:
    return ToolLibrary.from_json(
        {
            "nodes": [
                imported_tool(name, "", {key: {"type": kind} for key, kind in arguments.items()})
                for name, arguments in TOOLS.items()
            ]
        }
    )


TRIP, BILL = node("find_trip", code="T-9"), node("find_bill", number="B-7")
GOLD = plan_of(
    TRIP, BILL, node("tell", guest_id="<node-0>.guest_id", text="paid"), links=(("find_trip", "tell"),)
)
STOPS = plan_of(
    TRIP,
    node("plan", stop_ids="<node-0>.stops[*].id", day="<node-0>.day"),
    links=(("find_trip", "plan"),),
)
VALUES = {"<node-0>.guest_id": 880123, "<node-0>.stops[*].id": [1, 2], "<node-0>.day": "Monday"}


def compared(
    folder: Path,
    library: ToolLibrary,
    gold: dict[str, Any],
    predicted: dict[str, Any],
    **changed: Any,
) -> StrictItem:
    """The scores of a plan against a gold plan that ran."""
    calls = []
    for number, one in enumerate(gold["task_nodes"]):
        arguments = {each["name"]: each["value"] for each in one["arguments"]}
        filled = {name: VALUES.get(value, value) for name, value in arguments.items()}
        calls.append(ExecutedCall(number, one["task"], filled, RESULTS[one["task"]]))
    execution = msgspec.structs.replace(Execution("1", "ran", "mcp", calls=tuple(calls)), **changed)
    path = folder / "executions.jsonl"
    path.write_text(json.dumps(msgspec.to_builtins(execution)) + "\n")
    reader = PlanReader(library, "schema")
    wanted, given = reader.plan(gold), reader.plan(predicted)
    assert wanted is not None and given is not None
    label = {"id": "1", "user_request": REQUEST, **gold}
    return score_plan(*ExecutedGold(path, reader, library).compared(label, wanted, predicted, given))


def tell(guest: Any) -> dict[str, Any]:
    return node("tell", guest_id=guest, text="paid")


@pytest.mark.parametrize("guest", [880123, "<node-0>.guest_id", "<node-1>.guest_id"])
def test_the_same_calls_are_exact_whatever_source_their_value_is_from(
    tmp_path: Path, library: ToolLibrary, guest: Any
) -> None:
    assert compared(tmp_path, library, GOLD, plan_of(TRIP, BILL, tell(guest))).is_exact
    # A link that was stated because of that source is replaced with it.
    stated = (("find_bill", "tell"),) if guest == "<node-1>.guest_id" else ()
    assert compared(tmp_path, library, GOLD, plan_of(TRIP, BILL, tell(guest), links=stated)).is_exact


def test_calls_in_another_order_are_exact(tmp_path: Path, library: ToolLibrary) -> None:
    assert compared(tmp_path, library, GOLD, plan_of(BILL, TRIP, tell(880123))).is_exact


def test_a_list_of_values_equals_a_reference_to_all_items(tmp_path: Path, library: ToolLibrary) -> None:
    # "Monday" could be anywhere, and 1 and 2 are small: no reference is written for them.
    written = node("plan", stop_ids=[1, 2], day="Monday")
    assert compared(tmp_path, library, STOPS, plan_of(TRIP, written)).is_exact
    other = compared(tmp_path, library, STOPS, plan_of(TRIP, node("plan", stop_ids=[1], day="Monday")))
    assert not other.is_exact and other.argument_values is not None
    assert other.argument_values.false_positives == 1


def test_another_value_stays_wrong(tmp_path: Path, library: ToolLibrary) -> None:
    item = compared(tmp_path, library, GOLD, plan_of(TRIP, BILL, tell(880999)))
    assert item.argument_values is not None
    assert (item.argument_values.false_positives, item.argument_values.false_negatives) == (1, 1)
    assert item.edges.false_negatives == 1


def test_the_right_value_without_its_source_has_no_link(tmp_path: Path, library: ToolLibrary) -> None:
    item = compared(tmp_path, library, GOLD, plan_of(tell(880123)))
    assert item.argument_values is not None and item.argument_values.false_positives == 0
    assert (item.edges.true_positives, item.edges.false_negatives) == (0, 1)


def test_a_wrong_value_of_several_results_comes_from_the_last(tmp_path: Path, library: ToolLibrary) -> None:
    gold = plan_of(TRIP, BILL, node("find_guest", name="Ann"), tell("<node-2>.guest_id"))
    VALUES_OF_GUEST = {**VALUES, "<node-2>.guest_id": 880999}
    calls = [
        ExecutedCall(0, "find_trip", {"code": "T-9"}, RESULTS["find_trip"]),
        ExecutedCall(1, "find_bill", {"number": "B-7"}, RESULTS["find_bill"]),
        ExecutedCall(2, "find_guest", {"name": "Ann"}, RESULTS["find_guest"]),
        ExecutedCall(3, "tell", {"guest_id": VALUES_OF_GUEST["<node-2>.guest_id"], "text": "paid"}, {}),
    ]
    made = plan_of(TRIP, BILL, node("find_guest", name="Ann"), tell(880123))
    item = compared(tmp_path, library, gold, made, calls=tuple(calls))
    # The link is one from the bill, which is not in the gold.
    assert (item.edges.true_positives, item.edges.false_positives, item.edges.false_negatives) == (0, 1, 1)


def test_one_wrong_argument_is_not_wrong_again_behind_a_reference(
    tmp_path: Path, library: ToolLibrary
) -> None:
    wrong = node("find_trip", code="T-8")
    item = compared(tmp_path, library, GOLD, plan_of(wrong, BILL, tell("<node-0>.guest_id")))
    assert item.argument_values is not None
    assert item.argument_values.false_positives == 1
    assert item.edges.false_negatives == 0


@pytest.mark.parametrize(
    "changed", [{"outcome": "failed"}, {"executor": SIMULATOR}, {"id": "2"}, {"calls": ()}]
)
def test_without_an_executed_gold_plan_references_are_compared_as_written(
    tmp_path: Path, library: ToolLibrary, changed: dict[str, Any]
) -> None:
    item = compared(tmp_path, library, GOLD, plan_of(TRIP, BILL, tell(880123)), **changed)
    assert item.argument_values is not None and item.argument_values.false_positives == 1
    assert compared(tmp_path, library, GOLD, GOLD, **changed).is_exact


def test_executions_of_an_edited_plan_do_not_count(tmp_path: Path, library: ToolLibrary) -> None:
    other = ExecutedCall(0, "find_trip", {"code": "T-1"}, {"guest_id": 5})
    item = compared(tmp_path, library, plan_of(TRIP), plan_of(node("find_trip", code="T-9")), calls=(other,))
    assert item.is_exact
