"""Executions that leave the same but for the keys that a service gave."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.answers.expected import Expected
from toolassay.answers.stated import AnswerFact
from toolassay.executors.issued_keys import key_names, with_keys_of
from toolassay.executors.outcome import judge
from toolassay.plans.execution_record import ExecutedCall, Execution, StateSummary

Row = Mapping[str, Any]


def left(
    payments: Sequence[Row],
    *,
    calls: Sequence[tuple[Mapping[str, Any], Any]] = (),
    gone: Sequence[Row] = (),
    notes: Sequence[Row] = (),
) -> Execution:
    """An execution that leaves rows, and whose calls had these arguments and results."""
    changes = {
        **{f"d.db/payments/{json.dumps(row)}": {"before": None, "after": 1} for row in payments},
        **{f"d.db/notes/{json.dumps(row)}": {"before": None, "after": 1} for row in notes},
        **{f"d.db/payments/{json.dumps(row)}": {"before": 1, "after": None} for row in gone},
        "report/{draft}.txt": {"before": None, "after": "sha256:1"},
    }
    made = tuple(ExecutedCall(number, "t", *call) for number, call in enumerate(calls))
    after = StateSummary("d", 1, changes)  # type: ignore[arg-type]
    return Execution(1, "ran", "test", "p", made, "", made[-1:] and (made[-1].result,), None, after)


def paid(key: Any, invoice: Any) -> Row:
    return {"id": key, "invoice": invoice}


GOLD = left([paid("PA-1", "IN-7"), paid("PA-2", "IN-8")], calls=[({"of": "IN-7"}, "PA-1"), ({}, "PA-2")])


@pytest.mark.parametrize(
    ("rows", "calls", "is_same"),
    [
        ([paid("PA-1", "IN-8"), paid("PA-2", "IN-7")], [], True),  # the other order
        ([paid("3f-a", "IN-8"), paid("77-c", "IN-7")], [], True),  # keys at random
        ([paid("PA-1", "IN-8"), paid("PA-2", "IN-9")], [], False),  # another invoice
        ([paid("PA-1", "IN-7"), paid("PA-2", "IN-7")], [], False),  # one twice
        ([paid("PA-3", "IN-7")], [], False),  # one only
        # The agent itself chose the keys.
        ([paid("PA-1", "IN-8"), paid("PA-2", "IN-7")], [({"id": "PA-1"}, None)], False),
        # It had the key from the service.
        ([paid("PA-1", "IN-8"), paid("PA-2", "IN-7")], [({}, "made PA-1."), ({"id": "PA-1"}, None)], True),
    ],
)
def test_keys_of_the_service_may_differ(rows: list[Row], calls: list[Any], is_same: bool) -> None:
    verdict = judge(GOLD, left(rows, calls=calls))
    assert verdict is not None
    assert verdict.state is is_same
    assert (verdict.unwanted == 0) is is_same


def test_what_refers_to_a_row_tells_it_from_others() -> None:
    """Two orders that are equal but for their keys: a note belongs to the first one or the second one."""
    gold = left([paid(1, "x"), paid(2, "x")], notes=[{"id": 7, "text": "n", "to": 1}, {"id": 8, "to": 2}])
    other = left([paid(5, "x"), paid(4, "x")], notes=[{"id": 1, "to": 5}, {"id": 2, "text": "n", "to": 4}])
    both = left([paid(5, "x"), paid(4, "x")], notes=[{"id": 8, "to": 5}, {"id": 7, "text": "n", "to": 5}])
    assert key_names(gold, other) == {5: 2, 4: 1, 1: 8, 2: 7}
    assert key_names(gold, both) == {}


def test_a_word_that_is_no_key_has_one_meaning() -> None:
    """States are listed in a table of their own; who changes the other order leaves something else."""
    states = [{"name": "paid"}, {"name": "due"}]
    small, large = {"id": "A", "amount": 1}, {"id": "B", "amount": 2}
    gold = left([{**small, "is": "paid"}, {**large, "is": "due"}], notes=states)
    other = left([{**small, "is": "due"}, {**large, "is": "paid"}], notes=states)
    assert key_names(gold, other) == {}


def test_rows_that_were_there_keep_their_keys() -> None:
    """Two equal rows of which one is changed: another one is another outcome."""
    gold = left([paid("A", "paid")], gone=[paid("A", "due")])
    other = left([paid("B", "paid")], gone=[paid("B", "due")])
    assert key_names(gold, other) == {}


def test_answers_and_facts_have_the_keys_of_their_own_run() -> None:
    gold = left(
        [paid("PA-1", "IN-7"), paid("PA-2", "IN-8")], calls=[({}, {"id": "PA-1"}), ({}, {"id": "PA-2"})]
    )
    other = left(
        [paid("PA-2", "IN-7"), paid("PA-1", "IN-8")], calls=[({}, {"id": "PA-1"}), ({}, {"id": "PA-2"})]
    )
    renamed = with_keys_of(gold, other)
    assert [call.result["id"] for call in renamed.calls] == ["PA-2", "PA-1"]
    expected = Expected(gold, "Pay both, and tell me the number for IN-7.", [AnswerFact("PA-1")])
    right, wrong = (expected.judge(other, f"It is {key}.") for key in ("PA-2", "PA-1"))
    assert right is not None and right.correct is True
    assert wrong is not None and wrong.correct is False


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), max_size=6, unique_by=lambda text: text[0]
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_of_what_is_made_leaves_the_same(texts: list[tuple[str, int]], rng: random.Random) -> None:
    """Rows refer to each other; the service numbers them in the order in which they are made."""

    def made(order: Sequence[int]) -> Execution:
        key = {item: 100 + number for number, item in enumerate(order)}
        rows = [{"id": key[item], "text": texts[item][0], "to": key.get(texts[item][1])} for item in order]
        return left(rows)

    items = list(range(len(texts)))
    shuffled = items[:]
    rng.shuffle(shuffled)
    verdict = judge(made(items), made(shuffled))
    assert verdict is not None
    assert verdict.state is True
