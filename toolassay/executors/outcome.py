"""Judges a plan or an agent by its outcome: whether it answers and leaves what the gold plan does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from toolassay.calls.execution_record import Change, Execution


class OutcomeVerdict(msgspec.Struct, frozen=True):
    """The verdict on one plan that was executed.

    Attributes:
        correct: Whether the plan ran, the state is that of the gold plan, and the answer has all that the
            gold answer has.
        ran: Whether every call returned.
        answer: Whether every result that the gold plan gives the user is among those that this plan gives.
            A result that varies from one execution to the next is equal if the call is.
        state: Whether the changes are those of the gold plan; None if the state cannot be seen.
        unwanted: Number of places (files, rows, objects) that were changed and that the gold plan leaves, or
            leaves otherwise.
        missed: Number of places that the gold plan changes and this plan does not.
        extra_calls: Number of calls beyond those of the gold plan.
        reason: Why it did not run; empty if it did.
    """

    correct: bool
    ran: bool
    answer: bool
    state: bool | None
    unwanted: int
    missed: int
    extra_calls: int
    reason: str = ""


def judge(gold: Execution, predicted: Execution) -> OutcomeVerdict | None:
    """Compare two executions; None if either has no result through no fault of the plan.

    A call that a refused plan made before its end still counts for the state.

    Args:
        gold: The execution of the gold plan.
        predicted: The execution of a model's plan for the same request.
    """
    if gold.outcome != "ran" or predicted.outcome in ("provider_error", "in_doubt", "not_allowed"):
        return None
    wanted, made = gold.changes, predicted.changes
    same: bool | None = None
    unwanted = missed = 0
    if wanted is not None and (made is not None or predicted.outcome != "ran"):
        made = made or {}
        unwanted = _differing(made, wanted)
        missed = _differing(wanted, made)
        same = not unwanted and not missed
    ran = predicted.outcome == "ran"
    answer = ran and not _answers(gold, gold) - _answers(predicted, gold)
    extra = max(0, len(predicted.calls) - len(gold.calls))
    return OutcomeVerdict(
        ran and answer and same is not False, ran, answer, same, unwanted, missed, extra, predicted.reason
    )


# A row of a table up to its first cell, which names it: 'shop.db/orders/{"id": 7' of
# 'shop.db/orders/{"id": 7, "state": "open"}'; not of a row that only its hash names.
_ROW = re.compile(r'.*?/\{"(?:[^"\\]|\\.)*": (?:"(?:[^"\\]|\\.)*"|[^,}]*)', re.DOTALL)


def _differing(changes: Mapping[str, Change], others: Mapping[str, Change]) -> int:
    """How many places changed in another way; a row that was rewritten is one, not one gone and one new."""
    gone, come = Counter[str](), Counter[str]()
    for place, change in changes.items():
        if others.get(place) != change:
            row = _ROW.match(place)
            (gone if change["after"] is None else come)[row[0] if row else place] += 1
    return (gone | come).total()


def _answers(execution: Execution, gold: Execution) -> Counter[str]:
    """What the user gets, as comparable texts; of results that vary, the call."""
    varying = {
        _text([call.tool, call.arguments])
        for call in gold.calls
        if gold.varies is not None and call.node in gold.varies
    }
    found: Counter[str] = Counter()
    left = Counter(map(_text, execution.answer))
    for call in execution.calls:
        result = _text(call.result)
        if call.error is None and left[result]:
            left[result] -= 1
            made = _text([call.tool, call.arguments])
            found[made if made in varying else result] += 1
    return found


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


class OutcomeSummary(msgspec.Struct, frozen=True):
    """The verdicts on the plans of a model.

    Attributes:
        judged: Number of requests with a verdict. The others have a gold plan that did not run, no prediction
            yet, or no result through no fault of the plan.
        requests: Number of requests whose gold plan ran.
        correct: Number of correct ones.
        ran: Number of plans of which every call returned.
        answer: Number of plans with the right answer.
        state: Number of plans that leave the right state; None if no state can be seen.
        unwanted: Number of plans with unwanted changes.
    """

    judged: int
    requests: int
    correct: int
    ran: int
    answer: int
    state: int | None
    unwanted: int

    @classmethod
    def of(cls, verdicts: Iterable[OutcomeVerdict], requests: int) -> OutcomeSummary:
        """Count verdicts.

        Args:
            verdicts: One for each request that could be judged.
            requests: Number of requests whose gold plan ran.
        """
        every = list(verdicts)
        seen = [one.state for one in every if one.state is not None]
        return cls(
            len(every),
            requests,
            sum(one.correct for one in every),
            sum(one.ran for one in every),
            sum(one.answer for one in every),
            sum(seen) if seen else None,
            sum(one.unwanted > 0 for one in every),
        )
