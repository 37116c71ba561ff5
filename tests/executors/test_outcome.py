"""Verdicts on a model's plan by what it answers and changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.executors.outcome import OutcomeVerdict, judge
from toolassay.executors.workspace import changes_of, state_of
from toolassay.plans.execution_record import ExecutedCall, Execution, Outcome, StateSummary

NEW = {"b": {"before": None, "after": 1}}
OTHER = {"b": {"before": None, "after": 2}}


def execution(
    results: Sequence[Any] = ("seven",),
    changes: Mapping[str, Any] | None = None,
    outcome: Outcome = "ran",
    *,
    answer: Sequence[Any] | None = None,
    varies: tuple[int, ...] | None = None,
    arguments: Sequence[Mapping[str, Any]] = (),
) -> Execution:
    """An execution whose calls return `results`, of which the last is the answer."""
    calls = tuple(
        ExecutedCall(number, f"t{number}", arguments[number] if arguments else {}, result)
        for number, result in enumerate(results)
    )
    given_answer = tuple(results[-1:] if answer is None else answer)
    after = None if changes is None else StateSummary("d", 1, dict(changes))
    return Execution(1, outcome, "test", "p", calls, "why", given_answer, None, after, None, varies)


def verdict(gold: Execution, predicted: Execution) -> OutcomeVerdict:
    found = judge(gold, predicted)
    assert found is not None
    return found


@given(
    results=st.lists(st.integers() | st.text(max_size=2) | st.lists(st.integers()), min_size=1, max_size=4),
    changes=st.none() | st.dictionaries(st.text(max_size=2), st.just({"before": 1, "after": 2})),
)
def test_a_plan_that_does_what_the_gold_plan_does_is_right(results: list[Any], changes: Any) -> None:
    gold = execution(results, changes)
    found = verdict(gold, gold)
    assert found.correct and found.ran and found.answer
    assert found.state is (None if changes is None else True)
    assert (found.unwanted, found.missed, found.extra_calls) == (0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "state", "unwanted", "missed"),
    [
        (NEW, True, 0, 0),
        (OTHER, False, 1, 1),
        (NEW | {"c": {"before": 1, "after": None}}, False, 1, 0),
        (None, None, 0, 0),
    ],
)
def test_the_state_must_be_that_of_the_gold_plan(
    changes: Any, state: bool | None, unwanted: int, missed: int
) -> None:
    found = verdict(execution(changes=NEW), execution(changes=changes))
    assert (found.state, found.unwanted, found.missed) == (state, unwanted, missed)
    assert found.correct is (state is not False)
    assert found.answer


@pytest.mark.parametrize(
    ("statements", "unwanted"),
    [
        (["UPDATE lines SET qty = 9 WHERE sku = 'a, \"1'"], 1),
        (["UPDATE lines SET qty = qty + 1"], 3),
        (["UPDATE lines SET qty = 9 WHERE id = 7", "UPDATE shops SET city = NULL"], 3),
        (["DELETE FROM lines WHERE id = 7", "INSERT INTO lines VALUES (9, 'c', 1)"], 3),
        (["INSERT INTO lines VALUES (8, 'd', 1), (8, 'e', 1)"], 2),
        (["DELETE FROM lines"], 3),
    ],
)
def test_unwanted_places_are_rows(tmp_path: Path, statements: list[str], unwanted: int) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as base:
        base.executescript(
            "CREATE TABLE lines (id INTEGER, sku TEXT, qty INTEGER); "
            "CREATE TABLE shops (name TEXT, city TEXT);"
            "INSERT INTO lines VALUES (7, 'a, \"1', 1), (7, 'b', 1), (8, 'c', 1);"
            "INSERT INTO shops VALUES ('x', 'Oslo');"
        )
        before = state_of(tmp_path)
        for statement in statements:
            base.execute(statement)
        base.commit()
    changed, nothing = execution(changes=changes_of(before, state_of(tmp_path))), execution(changes={})
    found, other = verdict(nothing, changed), verdict(changed, nothing)
    assert (found.unwanted, found.missed) == (other.missed, other.unwanted) == (unwanted, 0)


def test_the_answer_must_have_all_that_the_gold_answer_has() -> None:
    gold = execution([1, 1, {"b": 2, "a": 1}], answer=[1, 1, {"a": 1, "b": 2}])
    assert verdict(gold, execution([{"a": 1, "b": 2}, 5, 1, 1], answer=[1, 5, 1, {"a": 1, "b": 2}])).answer
    once = verdict(gold, execution([1, {"a": 1, "b": 2}], answer=[1, {"a": 1, "b": 2}]))
    assert not once.answer and not once.correct
    # A result that only another call needs is no answer.
    assert not verdict(execution([1], answer=[1]), execution([1, 2], answer=[2])).answer
    assert not verdict(execution([1]), execution(["1"])).answer


@pytest.mark.parametrize("changes", [None, NEW])
def test_a_refused_plan_is_wrong_and_what_it_changed_counts(changes: Any) -> None:
    found = verdict(execution(changes=NEW), execution(["seven"], changes, "failed"))
    assert not found.correct and not found.ran and not found.answer
    assert found.state is (changes is not None)
    assert found.missed == (changes is None)
    assert found.reason == "why"


@pytest.mark.parametrize("outcome", ["provider_error", "in_doubt", "not_allowed"])
def test_no_plan_is_judged_without_a_result_of_its_own(outcome: Outcome) -> None:
    assert judge(execution(), execution(outcome=outcome)) is None
    assert judge(execution(outcome=outcome), execution()) is None
    assert judge(execution(outcome="failed"), execution()) is None


def test_a_refused_call_of_an_agent_is_no_answer() -> None:
    gold = execution([None], varies=(0,))
    refused = ExecutedCall(0, "other", {}, error="not so")
    made = msgspec.structs.replace(gold, calls=(refused, *gold.calls))
    assert verdict(gold, made).correct
    assert not verdict(gold, msgspec.structs.replace(made, calls=(refused,))).answer
