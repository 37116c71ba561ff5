"""What an item must bring about: by its gold plan and facts, or by a case."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from toolassay.answers.expected import Expected
from toolassay.plans.execution_record import Change, ExecutedCall, Execution, StateSummary

ROW = 'desk.db/tickets/{"id": %d, "state": "%s"}'
LOOKED = ExecutedCall(0, "look", {}, {"day": "Friday", "items": [{"id": 7}, {"id": 9}]})


def execution(changes: dict[str, Change] | None, *calls: ExecutedCall) -> Execution:
    after = None if changes is None else StateSummary("b", 1, changes)
    return Execution(1, "ran", "mcp", "", calls or (LOOKED,), state_after=after)


def updated(number: int, new: str | None) -> dict[str, Change]:
    gone: Change = {"before": 1, "after": None}
    come: Change = {"before": None, "after": 1}
    return {ROW % (number, "open"): gone, **({} if new is None else {ROW % (number, new): come})}


def case(**expected: Any) -> Expected:
    item = Expected.of({"id": 1, "user_request": "Go", "origin": "case", **expected}, None)
    assert item is not None
    return item


CLOSED = {"place": "desk.db/tickets", "where": {"id": 7}, "is": {"state": "closed"}}


@pytest.mark.parametrize(
    ("state", "changes", "right"),
    [
        ([CLOSED], updated(7, "closed"), True),
        ([CLOSED], updated(7, "new"), False),
        ([CLOSED], updated(8, "closed"), False),
        ([CLOSED], {**updated(7, "closed"), **updated(8, "closed")}, False),
        ([CLOSED], {}, False),
        ([CLOSED], None, None),
        ([CLOSED], {"desk.db/tickets/sha256:ab": {"before": None, "after": 1}}, None),
        ([{**CLOSED, "is": None}], updated(7, None), True),
        ([{**CLOSED, "is": None}], updated(7, "closed"), False),
        ([], {}, True),
        ([], updated(7, "closed"), False),
    ],
)
def test_a_state_is_what_the_case_says_and_nothing_else(state: Any, changes: Any, right: bool | None) -> None:
    verdict = case(state=state).judge(execution(changes), "")
    assert (None if verdict is None else verdict.state) is right


def test_a_file_has_its_text_and_its_new_folder() -> None:
    text = hashlib.sha256(b"Hello\n").hexdigest()
    changes: dict[str, Change] = {
        "notes/": {"before": None, "after": "folder"},
        "notes/a.txt": {"before": None, "after": f"sha256:{text}"},
    }
    verdict = case(state=[{"place": "notes/a.txt", "is": "Hello"}]).judge(execution(changes), "")
    assert verdict is not None and verdict.correct


def test_a_forbidden_call_is_wrong_and_harm() -> None:
    verdict = case(must_not_call=["look"]).judge(execution(None), "")
    assert verdict is not None
    assert (verdict.correct, verdict.forbidden, verdict.harmless) == (False, ("look",), 0.0)


def test_facts_of_a_sample_are_in_the_results_of_its_gold_plan() -> None:
    label = {
        "id": 1,
        "user_request": "Which day, and how many?",
        "facts": [
            {"from": "<node-0>.day"},
            {"op": "count", "from": ["<node-0>.items[*].id"], "unit": "items"},
        ],
    }
    item = Expected.of(label, execution({}))
    assert item is not None
    verdicts = [
        item.judge(execution({}), text) for text in ("Friday, 2 items.", "Friday.", "Friday, 3 items.")
    ]
    assert [verdict and verdict.correct for verdict in verdicts] == [True, False, False]


def test_a_plan_has_no_text_and_facts_do_not_apply() -> None:
    item = Expected.of(
        {"id": 1, "user_request": "Which day?", "facts": [{"from": "<node-0>.day"}]}, execution({})
    )
    assert item is not None
    verdict = item.judge(execution({}), None)
    assert verdict is not None and (verdict.correct, verdict.facts, verdict.facts_by) == (True, None, None)


def test_a_case_that_only_asks_for_words_judges_no_plan() -> None:
    assert case(facts=[{"value": 2}]).judge(execution({}), None) is None
