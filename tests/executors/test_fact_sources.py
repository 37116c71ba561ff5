"""Where the values of facts are in the results of a plan, and what is computed of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import FactSource, facts_in_words, missing_facts, unreadable_fact
from toolassay.executors.plan_run import Unresolvable
from toolassay.plans.call_plan import Unfit
from toolassay.plans.execution_record import ExecutedCall, Execution
from toolassay.plans.gold import Gold

RESULTS = {
    0: CallResult.of({"items": [{"id": 7, "price": 2.1}, {"id": 9, "price": 1.2}], "day": "2026-12-01"}),
    1: CallResult.of({"price": 5}),
}


def source(**written: Any) -> FactSource:
    return msgspec.convert(written, FactSource)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"from": "<node-0>.day"}, "2026-12-01"),
        ({"from": ["<node-0>.items[1].id"]}, 9),
        ({"from": "<node-0>.items[*].id"}, [7, 9]),
        ({"from": ["<node-0>.items[*].id"], "op": "count", "unit": "items"}, 2),
        ({"from": ["<node-0>.items"], "op": "count"}, 2),
        ({"from": ["<node-0>.items[*].price"], "op": "sum"}, 3.3),
        ({"from": ["<node-0>.items[*].price", "<node-1>.price"], "op": "max"}, 5),
        ({"from": ["<node-0>.items[*].price"], "op": "min"}, 1.2),
        ({"from": ["<node-0>.items[0].price", "<node-1>.price"], "op": "difference"}, 2.9),
    ],
)
def test_a_fact_has_its_value(written: dict[str, Any], value: Any) -> None:
    assert source(**written).value(RESULTS) == value
    assert list(missing_facts([source(**written)], RESULTS)) == []


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({"from": "<node-0>.month"}, "has no 'month'"),
        ({"from": "<node-2>.day"}, "no result of call 2"),
        ({"from": "the day"}, "is no reference"),
        ({"from": ["<node-0>.day"], "op": "sum"}, "only numbers"),
        ({"from": ["<node-0>.day", "<node-1>.price"], "op": "max"}, "cannot be compared"),
        ({"from": ["<node-1>.price"], "op": "difference"}, "needs two values"),
    ],
)
def test_what_cannot_be_told_is_named(written: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unresolvable, match=reason):
        source(**written).value(RESULTS)
    (problem,) = missing_facts([source(**written)], RESULTS)
    assert problem.startswith("facts[0]: ")


def test_an_object_is_no_fact() -> None:
    (problem,) = missing_facts([source(**{"from": "<node-0>.items[0]"})], RESULTS)
    assert "name its parts" in problem


def test_facts_in_words_are_an_answer() -> None:
    facts = [{"from": "<node-0>.items[*].id"}, {"from": ["<node-0>.items"], "op": "count", "unit": "items"}]
    assert facts_in_words(Gold.of({"id": 1, "facts": facts}), RESULTS) == "7, 9; 2 items"
    assert facts_in_words(Gold.of({"id": 1}), RESULTS) == ""
    with pytest.raises(Unfit):
        facts_in_words(Gold.of({"id": 1, "facts": [{"from": "<node-0>.month"}]}), RESULTS)


def execution(*results: Any) -> Execution:
    calls = tuple(ExecutedCall(node, "look", {}, result) for node, result in enumerate(results))
    return Execution("i", "ran", "mcp", calls=calls)


@pytest.mark.parametrize(
    ("written", "results", "lacking"),
    [
        ({"from": "<node-0>.day"}, [{"found": {"day": "2026-12-01"}}], ""),
        ({"from": "<node-0>.day"}, [{"due": "2026-12-01"}], "2026-12-01"),  # in a field of another name
        ({"from": "<node-0>.items[price=1.2].id"}, [{"id": 9}], ""),
        ({"from": "<node-0>.items[*].id", "op": "count"}, [{"id": 9}, {"id": 7}], ""),
        ({"from": "<node-0>.items[*].id", "op": "count"}, [{"id": 9, "count": 2}], "7"),
        ({"from": "<node-1>"}, [["Ann", "Ben"]], ""),
        ({"from": "<node-1>"}, [["Ben"]], "Ann"),
    ],
)
def test_another_plan_returns_what_a_fact_is_made_of(
    written: dict[str, Any], results: list[Any], lacking: str
) -> None:
    items = [{"id": 7, "price": 2.1}, {"id": 9, "price": 1.2}]
    gold = execution({"items": items, "day": "2026-12-01"}, ["Ben", "Ann"])
    assert unreadable_fact([source(**written)], gold, execution(*results)) == lacking
