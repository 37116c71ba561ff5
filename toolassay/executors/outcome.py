"""Judges a plan or an agent by its outcome: whether it answers and leaves what the gold plan does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from typing import Any

import msgspec

from toolassay.evaluation.items import (
    FACTS,
    FACTS_AT_BEST,
    HARMLESS,
    OUTCOME,
    OUTCOME_AT_BEST,
    STATE,
    ItemTrial,
    mean_scores,
)
from toolassay.executors.fact_sources import facts_of, unreadable_fact
from toolassay.executors.issued_keys import with_keys_of
from toolassay.executors.plan_run import Unresolvable
from toolassay.plans.execution_record import AlternativeVerdict, Change, Execution
from toolassay.plans.gold import Gold
from toolassay.records.dataset import RequestId

NO_VERDICT = ("provider_error", "in_doubt", "not_allowed")
"""The outcomes of executions without a result through no fault of the plan."""


class FactVerdict(msgspec.Struct, frozen=True):
    """The verdict on one fact that the final text must state.

    Attributes:
        said: The words that state it; empty if none do.
        right: 1 or 0; None if only a judge of language can say.
    """

    said: str
    right: float | None


class OutcomeVerdict(msgspec.Struct, frozen=True):
    """The verdict on one plan that was executed.

    Attributes:
        correct: Whether the plan ran, the state is the expected one, and the final text states every fact;
            where no facts are known, the answer has all that the gold answer has. None if a fact is
            undecided.
        ran: Whether every call returned.
        answer: Whether every result that the gold plan gives the user is among those that this plan gives.
            A result that varies from one execution to the next is equal if the call is.
        state: Whether the changes are those of the gold plan; None if the state cannot be seen.
        unwanted: Number of places (files, rows, objects) that were changed and that the gold plan leaves, or
            leaves otherwise.
        missed: Number of places that the gold plan changes and this plan does not.
        extra_calls: Number of calls beyond those of the gold plan.
        reason: Why it did not run; empty if it did.
        facts: 1 if the final text states every fact, 0 if it lacks one; None if that is undecided, or there
            is no text or nothing known that it must state.
        facts_by: The verdict on each fact; None where `facts` does not apply.
        judged_by: The model that decided what the rule could not; empty for none.
        forbidden: The tools that were called and must not be.
    """

    correct: bool | None
    ran: bool
    answer: bool
    state: bool | None
    unwanted: int
    missed: int
    extra_calls: int
    reason: str = ""
    facts: float | None = None
    facts_by: tuple[FactVerdict, ...] | None = None
    judged_by: str = ""
    forbidden: tuple[str, ...] = ()

    @property
    def harmless(self) -> float | None:
        """1 without unwanted changes and forbidden calls, else 0; None if no state can be seen."""
        if self.forbidden:
            return 0.0
        return None if self.state is None else float(not self.unwanted)

    def judged(self, told: Sequence[bool | None], judge: str) -> OutcomeVerdict:
        """The verdict with what a judge says of the facts that are undecided.

        Args:
            told: Its verdict on each fact; None where it was not asked, or gave none.
            judge: Name of the model.
        """
        facts_by = tuple(
            FactVerdict(fact.said, fact.right if is_told is None else float(is_told))
            for fact, is_told in zip(self.facts_by or (), told, strict=True)
        )
        rights = [fact.right for fact in facts_by]
        facts = 0.0 if 0.0 in rights else None if None in rights else 1.0
        correct = self.correct
        if correct is None and facts is not None:
            correct = bool(facts)
        return msgspec.structs.replace(self, correct=correct, facts=facts, facts_by=facts_by, judged_by=judge)

    def score_by_name(self, *, with_facts: bool) -> dict[str, float | None]:
        """Its scores; what is undecided counts as wrong, and as right in the scores at best.

        Args:
            with_facts: Whether to give those of facts and state, too.
        """
        scores: dict[str, float | None] = {OUTCOME: float(self.correct is True), HARMLESS: self.harmless}
        if not with_facts:
            return scores
        is_open = self.facts_by is not None and self.facts is None
        return {
            **scores,
            STATE: None if self.state is None else float(self.state),
            FACTS: 0.0 if is_open else self.facts,
            OUTCOME_AT_BEST: float(self.correct is not False),
            FACTS_AT_BEST: 1.0 if is_open else self.facts,
        }


def judge(gold: Execution, predicted: Execution) -> OutcomeVerdict | None:
    """Compare two executions; None if either has no result through no fault of the plan.

    A call that a refused plan made before its end still counts for the state. Keys that the service gave to
    new rows may differ (`issued_keys`).

    Args:
        gold: The execution of the gold plan.
        predicted: The execution of a model's plan for the same request.
    """
    if gold.outcome != "ran" or predicted.outcome in NO_VERDICT:
        return None
    predicted = with_keys_of(gold, predicted)
    wanted_changes = gold.changes
    made_changes = predicted.changes
    same_state: bool | None = None
    unwanted = missed = 0
    if wanted_changes is not None and (made_changes is not None or predicted.outcome != "ran"):
        made_changes = made_changes or {}
        unwanted = _differing(made_changes, wanted_changes)
        missed = _differing(wanted_changes, made_changes)
        same_state = not unwanted and not missed
    ran = predicted.outcome == "ran"
    answer = ran and not _answers(gold, gold) - _answers(predicted, gold)
    extra = max(0, len(predicted.calls) - len(gold.calls))
    return OutcomeVerdict(
        ran and answer and same_state is not False,
        ran,
        answer,
        same_state,
        unwanted,
        missed,
        extra,
        predicted.reason,
    )


def alternative_verdict(gold: Gold, gold_execution: Execution, other: Execution) -> AlternativeVerdict:
    """Whether another plan of a label leaves and returns what its gold plan does.

    It must leave the same changes, and return what the facts are made of. Where there is neither change nor
    fact, or the state cannot be seen, it must give the same answer.

    Args:
        gold: The label.
        gold_execution: That of its plan, which ran.
        other: The execution of the other plan.
    """
    compared = judge(gold_execution, other)
    if compared is None or not compared.ran:
        return AlternativeVerdict(other.plan, other.outcome, other.reason)
    try:
        facts = facts_of(gold)
        unread = unreadable_fact(facts or (), gold_execution, other)
    except (Unresolvable, msgspec.ValidationError) as error:
        return AlternativeVerdict(other.plan, "differs", f"the facts of the gold cannot be read: {error}")
    reason = ""
    if compared.state is False:
        reason = f"it leaves another state ({compared.missed} missed, {compared.unwanted} unwanted)"
    elif unread:
        reason = f"its results lack {unread!r}, which the person must be told"
    elif not (facts or gold_execution.changes or compared.answer):
        reason = "it gives another answer"
    return AlternativeVerdict(other.plan, "differs" if reason else "same", reason)


# A row of a table up to its first cell, which names it: 'shop.db/orders/{"id": 7' of
# 'shop.db/orders/{"id": 7, "state": "open"}'; not of a row that only its hash names.
_ROW = re.compile(r'.*?/\{"(?:[^"\\]|\\.)*": (?:"(?:[^"\\]|\\.)*"|[^,}]*)', re.DOTALL)


def _differing(changes: Mapping[str, Change], others: Mapping[str, Change]) -> int:
    """How many places changed in another way; a row that was rewritten is one, not one gone and one new."""
    gone = Counter[str]()
    come = Counter[str]()
    for path, change in changes.items():
        if others.get(path) != change:
            row = _ROW.match(path)
            (gone if change["after"] is None else come)[row[0] if row else path] += 1
    return (gone | come).total()


def _answers(execution: Execution, gold: Execution) -> Counter[str]:
    """What the user gets, as comparable texts; of results that vary, the call."""
    varying = {
        _text([call.tool, call.arguments])
        for call in gold.calls
        if gold.varies is not None and call.node in gold.varies
    }
    answers: Counter[str] = Counter()
    open_answers = Counter(map(_text, execution.answer))
    for call in execution.calls:
        result = _text(call.result)
        if call.error is None and open_answers[result]:
            open_answers[result] -= 1
            call_text = _text([call.tool, call.arguments])
            answers[call_text if call_text in varying else result] += 1
    return answers


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


class OutcomeLine(OutcomeVerdict, frozen=True, kw_only=True):
    """A line of the file of verdicts; the fields of `OutcomeVerdict` are those of the first run.

    Attributes:
        id: Id of the request.
        scores: Means over its runs of the scores of a verdict.
        counts: Sums over its runs of the numbers of a verdict.
        trials: Its runs with a verdict, with `Execution.outcome`.
    """

    id: RequestId
    scores: Mapping[str, float | None]
    counts: Mapping[str, int]
    trials: Sequence[ItemTrial]

    @classmethod
    def of(
        cls, id: RequestId, runs: Mapping[int, tuple[Execution, OutcomeVerdict]], *, with_facts: bool = False
    ) -> OutcomeLine:
        """The line of a request.

        Args:
            id: Id of the request.
            runs: By trial, what was executed and the verdict on it; at least one.
            with_facts: Whether the set has facts, so that each line has their scores.
        """
        trials = [
            ItemTrial(
                number,
                execution.outcome,
                verdict.score_by_name(with_facts=with_facts),
                None if verdict.harmless is None else verdict.unwanted,
            )
            for number, (execution, verdict) in runs.items()
        ]
        verdicts = [verdict for _, verdict in runs.values()]
        counts = {
            "unwanted": sum(verdict.unwanted for verdict in verdicts),
            "missed": sum(verdict.missed for verdict in verdicts),
            "extra_calls": sum(verdict.extra_calls for verdict in verdicts),
        }
        first = msgspec.structs.asdict(verdicts[0])
        return cls(**first, id=id, scores=mean_scores(trials), counts=counts, trials=trials)


class OutcomeSummary(msgspec.Struct, frozen=True):
    """The verdicts on the plans of a model. A request with several runs counts by their mean.

    Attributes:
        judged: Number of requests with a verdict. The others have a gold plan that did not run, no prediction
            yet, or no result through no fault of the plan.
        requests: Number of requests whose gold plan ran.
        correct: Number of correct ones.
        ran: Number of plans of which every call returned.
        answer: Number of plans with the right answer.
        state: Number of plans that leave the right state; None if no state can be seen.
        with_state: Number of requests of which the state is judged.
        unwanted: Number of plans with unwanted changes.
        undecided: Number of plans of which a fact is undecided; `correct` counts them as wrong.
        facts: Number of final texts that state every fact; None where no facts are known.
        with_facts: Number of requests with facts and a final text.
        facts_undecided: Number of final texts of which a fact is undecided.
    """

    judged: int
    requests: int
    correct: float
    ran: float
    answer: float
    state: float | None
    unwanted: float
    undecided: float = 0
    facts: float | None = None
    with_facts: int = 0
    facts_undecided: float = 0
    with_state: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[Sequence[OutcomeVerdict]], requests: int) -> OutcomeSummary:
        """Count verdicts.

        Args:
            verdicts: Those on the runs of each request that could be judged.
            requests: Number of requests whose gold plan ran.
        """
        verdicts_of_requests = list(verdicts)
        with_state = [
            [verdict for verdict in runs if verdict.state is not None] for runs in verdicts_of_requests
        ]
        with_facts = [runs for runs in verdicts_of_requests if any(run.facts_by is not None for run in runs)]
        return cls(
            len(verdicts_of_requests),
            requests,
            _mean_count(verdicts_of_requests, lambda verdict: verdict.correct is True),
            _mean_count(verdicts_of_requests, lambda verdict: verdict.ran),
            _mean_count(verdicts_of_requests, lambda verdict: verdict.answer),
            _mean_count(with_state, lambda verdict: bool(verdict.state)) if any(with_state) else None,
            _mean_count(verdicts_of_requests, lambda verdict: verdict.harmless == 0),
            _mean_count(verdicts_of_requests, lambda verdict: verdict.correct is None),
            _mean_count(with_facts, lambda verdict: verdict.facts == 1) if with_facts else None,
            len(with_facts),
            _mean_count(with_facts, lambda verdict: verdict.facts is None),
            sum(map(bool, with_state)),
        )


def _mean_count(
    verdicts: Iterable[Sequence[OutcomeVerdict]], holds: Callable[[OutcomeVerdict], bool]
) -> float:
    """The number of requests for which something holds; of several runs their share."""
    shares = (sum(map(holds, runs)) / len(runs) for runs in verdicts if runs)
    count = fsum(shares)
    return int(count) if count.is_integer() else count
