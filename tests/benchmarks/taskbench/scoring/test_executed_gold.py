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
from toolassay.plans.called_plan import plan_of_calls
from toolassay.plans.execution_record import SIMULATOR, ExecutedCall, Execution
from toolassay.plans.normalised_plan import PlanReader
from toolassay.tools.library import Tool, ToolLibrary

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


# Selectors: the gold has the calls that were made

TICKETS: list[dict[str, Any]] = [
    {"id": 70141, "state": "open", "due": "2031-05-01"},
    {"id": 70142, "state": "done", "due": "2031-01-01"},
    {"id": 70143, "state": "open", "due": "2031-03-01"},
    {"id": 70144, "state": "open", "due": "2031-04-01"},
]
OPEN = [ticket["id"] for ticket in TICKETS if ticket["state"] == "open"]
REQUEST_OF_DESK = "Close every open ticket of Ann, and tell the agents who closed them."
LIST = node("list_tickets", customer="Ann")
CLOSED = {id: {"agent": f"agent {id}"} for id in OPEN}
DESK_CALLS = [
    ExecutedCall(0, "list_tickets", {"customer": "Ann"}, {"tickets": TICKETS}),
    *(
        ExecutedCall(1, "close_ticket", {"id": id}, CLOSED[id], repetition=number)
        for number, id in enumerate(OPEN)
    ),
    *(
        ExecutedCall(2, "thank", {"agent": CLOSED[id]["agent"]}, {}, repetition=number)
        for number, id in enumerate(OPEN)
    ),
]
EVERY = '<node-0>.tickets[state="open"][each].id'
DESK_LINKS = (("list_tickets", "close_ticket"), ("close_ticket", "thank"))


def desk_plan(close: Any, thank: Any, links: Any = DESK_LINKS) -> dict[str, Any]:
    return plan_of(LIST, node("close_ticket", id=close), node("thank", agent=thank), links=links)


GOLD_OF_DESK = desk_plan(EVERY, "<node-1>[each].agent")


def desk_scores(
    folder: Path, predicted: dict[str, Any], *, gold: Any = GOLD_OF_DESK, calls: Any = DESK_CALLS
) -> StrictItem:
    tools = {
        "list_tickets": {"customer": "string"},
        "close_ticket": {"id": "integer"},
        "thank": {"agent": "string"},
    }
    library = ToolLibrary.from_json(
        {
            "nodes": [
                imported_tool(name, "", {key: {"type": kind} for key, kind in arguments.items()})
                for name, arguments in tools.items()
            ]
        }
    )
    execution = Execution("1", "ran", "mcp", calls=tuple(calls))
    path = folder / "executions.jsonl"
    path.write_text(json.dumps(msgspec.to_builtins(execution)) + "\n")
    reader = PlanReader(library, "schema")
    wanted, given = reader.plan(gold), reader.plan(predicted)
    assert wanted is not None and given is not None
    label = {"id": "1", "user_request": REQUEST_OF_DESK, **gold}
    return score_plan(*ExecutedGold(path, reader, library).compared(label, wanted, predicted, given))


@pytest.mark.parametrize(
    "predicted",
    [
        GOLD_OF_DESK,
        desk_plan("<node-0>.tickets[state = 'open'][each].id", "<node-1>[each].agent", DESK_LINKS[:1]),
        plan_of(
            LIST,
            *(node("close_ticket", id=f"<node-0>.tickets[{number}].id") for number in (0, 2, 3)),
            *(node("thank", agent=f"<node-{number}>.agent") for number in (1, 2, 3)),
        ),
        plan_of(
            LIST,
            *(node("close_ticket", id=f"<node-0>.tickets[id={id}].id") for id in OPEN),
            *(node("thank", agent=f"<node-{number}>.agent") for number in (1, 2, 3)),
        ),
    ],
)
def test_a_call_for_each_item_is_exact_however_it_is_written(
    tmp_path: Path, predicted: dict[str, Any]
) -> None:
    assert desk_scores(tmp_path, predicted).is_exact


def agent_plan(ids: list[int]) -> dict[str, Any]:
    """The plan of an agent that closes these tickets and thanks who closed them, one by one."""
    library = ToolLibrary([Tool(name) for name in ("list_tickets", "close_ticket", "thank")])
    pairs = [
        (
            ExecutedCall(0, "close_ticket", {"id": id}, {"agent": f"agent {id}"}),
            ExecutedCall(0, "thank", {"agent": f"agent {id}"}, {}),
        )
        for id in ids
    ]
    calls = [DESK_CALLS[0], *(call for pair in pairs for call in pair)]
    return plan_of_calls(calls, REQUEST_OF_DESK, library)


def test_an_agent_that_makes_each_call_is_exact(tmp_path: Path) -> None:
    item = desk_scores(tmp_path, agent_plan(OPEN[::-1]))
    assert item.is_exact
    assert (item.edges.true_positives, item.edges.false_positives, item.edges.false_negatives) == (6, 0, 0)


def test_an_agent_that_forgets_a_call_lacks_it_and_its_links(tmp_path: Path) -> None:
    item = desk_scores(tmp_path, agent_plan(OPEN[:2]))
    assert not item.is_exact
    assert (item.edges.true_positives, item.edges.false_positives, item.edges.false_negatives) == (4, 0, 2)
    assert item.argument_values is not None
    assert (item.argument_values.true_positives, item.argument_values.false_negatives) == (5, 2)


def test_a_call_for_other_items_is_wrong(tmp_path: Path) -> None:
    every = desk_plan("<node-0>.tickets[each].id", "<node-1>[each].agent")
    item = desk_scores(tmp_path, every)
    assert not item.is_exact and item.argument_values is not None
    assert item.argument_values.false_positives >= 1


@pytest.mark.parametrize(
    "path", ['[state="open"][min due]', '[due="2031-03-01"]', "[2]", "[id=70143]", '[state="open"][1]']
)
def test_a_choice_equals_another_of_the_same_item(tmp_path: Path, path: str) -> None:
    gold = plan_of(
        LIST, node("close_ticket", id='<node-0>.tickets[state="open"][min due].id'), links=DESK_LINKS[:1]
    )
    calls = [DESK_CALLS[0], ExecutedCall(1, "close_ticket", {"id": 70143}, {})]
    predicted = plan_of(LIST, node("close_ticket", id=f"<node-0>.tickets{path}.id"))
    assert desk_scores(tmp_path, predicted, gold=gold, calls=calls).is_exact
    other = plan_of(LIST, node("close_ticket", id="<node-0>.tickets[max due].id"))
    assert not desk_scores(tmp_path, other, gold=gold, calls=calls).is_exact


def test_a_wrong_choice_stays_a_wrong_argument(tmp_path: Path) -> None:
    gold = plan_of(LIST, node("close_ticket", id="<node-0>.tickets[min due].id"), links=DESK_LINKS[:1])
    calls = [DESK_CALLS[0], ExecutedCall(1, "close_ticket", {"id": 70142}, {})]
    tie = plan_of(LIST, node("close_ticket", id="<node-0>.tickets[max state].id"))
    item = desk_scores(tmp_path, tie, gold=gold, calls=calls)
    assert not item.is_exact and item.edges.true_positives == 1
