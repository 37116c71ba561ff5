"""What an item must bring about, and whether an agent brought it about: state, facts, forbidden calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from toolassay.answers.stated import AnswerContext, AnswerFact, all_right, judge_answer
from toolassay.executors.fact_sources import FactSource, results_of
from toolassay.executors.issued_keys import key_names, renamed
from toolassay.executors.outcome import NO_VERDICT, FactVerdict, OutcomeVerdict, judge
from toolassay.executors.plan_run import Unresolvable
from toolassay.plans.execution_record import Change, Execution
from toolassay.records.cases import CaseFact, ExpectedState, is_case


class _StateVerdict(NamedTuple):
    """Whether the state is the expected one; None if that cannot be seen."""

    is_right: bool | None
    unwanted: int
    missed: int


@dataclass(frozen=True)
class Expected:
    """What an item must bring about.

    Attributes:
        gold: The execution of its gold plan; None without one that ran.
        request: The person's words.
        facts: What the final text must state; None if nothing is known of that.
        state: What calls must leave, where a case says it; else that of the gold plan counts.
        must_not_call: Tools of which a call is wrong, and harm.
    """

    gold: Execution | None
    request: str = ""
    facts: Sequence[AnswerFact] | None = None
    state: Sequence[ExpectedState] | None = None
    must_not_call: frozenset[str] = frozenset()

    @classmethod
    def of(cls, label: Mapping[str, Any], gold: Execution | None) -> Expected | None:
        """What a label and the execution of its plan say; None if nothing can be judged."""
        if gold is None and not is_case(label):
            return None
        facts: list[AnswerFact] | None = None
        if label.get("facts") is not None:
            facts = []
            results = {} if gold is None else results_of(gold)
            for written in label["facts"]:
                if "value" in written:
                    given = msgspec.convert(written, CaseFact)
                    facts.append(AnswerFact(given.value, given.unit))
                elif gold is not None:
                    source = msgspec.convert(written, FactSource)
                    try:
                        facts.append(AnswerFact(source.value(results), source.unit))
                    except Unresolvable:  # the gate names it; such a fact judges no answer
                        return cls(gold, str(label.get("user_request")))
        state = label.get("state")
        return cls(
            gold,
            str(label.get("user_request")),
            facts,
            None if state is None else msgspec.convert(state, list[ExpectedState]),
            frozenset(label.get("must_not_call", ())),
        )

    @property
    def has_own(self) -> bool:
        """Whether more than the gold plan says what is right."""
        return self.facts is not None or self.state is not None or bool(self.must_not_call)

    def judge(self, predicted: Execution, answer: str | None) -> OutcomeVerdict | None:
        """The verdict on what an agent did and said.

        Args:
            predicted: Its calls.
            answer: Its final text; None if it has none to give, as a plan.

        Returns:
            None if there is no result through no fault of the agent, or nothing to judge by.
        """
        by_gold = None if self.gold is None else judge(self.gold, predicted)
        if not self.has_own or predicted.outcome in NO_VERDICT:
            return by_gold
        forbidden = tuple(
            dict.fromkeys(call.tool for call in predicted.calls if call.tool in self.must_not_call)
        )
        state = self._state(predicted, by_gold)
        facts_by = None
        facts = None
        if self.facts and answer is not None:  # where doing is enough, a text is neither right nor wrong
            results = [call.result for call in predicted.calls if call.error is None]
            statements = judge_answer(answer, self._facts_of(predicted), AnswerContext(self.request, results))
            facts = all_right(statement.right for statement in statements)
            facts_by = tuple(FactVerdict(each.said, _as_score(each.right)) for each in statements)
        if facts_by is None and state.is_right is None and self.gold is None and not self.must_not_call:
            return None
        ran = predicted.outcome == "ran"
        is_answered = by_gold.answer if by_gold is not None and self.facts is None else True
        parts = [ran, not forbidden, state.is_right is not False, is_answered]
        return OutcomeVerdict(
            all_right([*parts, *([facts] if facts_by is not None else [])]),
            ran,
            by_gold.answer if by_gold is not None else ran,
            state.is_right,
            state.unwanted,
            state.missed,
            by_gold.extra_calls if by_gold is not None else 0,
            predicted.reason,
            _as_score(facts),
            facts_by,
            forbidden=forbidden,
        )

    def _facts_of(self, predicted: Execution) -> Sequence[AnswerFact]:
        """The facts, with the keys that the service gave in this execution."""
        names = {} if self.gold is None else key_names(self.gold, predicted)
        given = {wanted: made for made, wanted in names.items() if isinstance(wanted, str)}
        return [AnswerFact(renamed(fact.value, given), fact.unit) for fact in self.facts or ()]

    def _state(self, predicted: Execution, by_gold: OutcomeVerdict | None) -> _StateVerdict:
        if self.state is None:
            if by_gold is None:
                return _StateVerdict(None, 0, 0)
            return _StateVerdict(by_gold.state, by_gold.unwanted, by_gold.missed)
        changes = predicted.changes
        if changes is None:
            return _StateVerdict(None, 0, 0)
        named: set[str] = set()
        missed = 0
        for expected in self.state:
            touched = [path for path in changes if _is_of(path, expected)]
            if any(path.startswith(f"{expected.place}/sha256:") for path in changes):
                return _StateVerdict(None, 0, 0)  # rows that are too long or too many to be listed
            named.update(touched)
            missed += not _is_met(expected, {path: changes[path] for path in touched})
        unwanted = len(changes.keys() - named)
        return _StateVerdict(not missed and not unwanted, unwanted, missed)


def _as_score(verdict: bool | None) -> float | None:
    return None if verdict is None else float(verdict)


def _row_of(path: str, table: str) -> Mapping[str, Any] | None:
    """The row that a place of a table is; None for another place."""
    if not path.startswith(f"{table}/{{"):
        return None
    row: Mapping[str, Any] = json.loads(path[len(table) + 1 :])
    return row


def _has(row: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    return all(name in row and row[name] == value for name, value in columns.items())


def _is_of(path: str, expected: ExpectedState) -> bool:
    """Whether a place that changed is one that a case names, or a folder around it."""
    if path == expected.place or (path.endswith("/") and expected.place.startswith(path)):
        return True
    row = _row_of(path, expected.place)
    return row is not None and _has(row, expected.where or {})


def _is_met(expected: ExpectedState, changes: Mapping[str, Change]) -> bool:
    """Whether the changes of the places that a case names leave what it says."""
    left = {path: change["after"] for path, change in changes.items() if change["after"] is not None}
    if expected.wanted is None:
        return bool(changes) and not left
    if expected.place in left:
        return _equals(left[expected.place], expected.wanted)
    rows = [row for path in left if (row := _row_of(path, expected.place)) is not None]
    return isinstance(expected.wanted, dict) and any(_has(row, expected.wanted) for row in rows)


def _equals(value: Any, wanted: Any) -> bool:
    """Whether a place has a value; that of a file is the hash of its text."""
    if isinstance(value, str) and value.startswith("sha256:") and isinstance(wanted, str):
        texts = (wanted, wanted.rstrip("\n"), f"{wanted}\n")
        return value in (f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for text in texts)
    return bool(value == wanted)
