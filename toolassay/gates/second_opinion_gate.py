"""The gate "second opinion": does another model, which sees only the request, produce the same plan?

A sample that no model solves is quarantined. So is one where several models that solve it agree with each
other on an argument against the gold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from toolassay.backinstruct.critics import rule_critic, same_tool
from toolassay.console.text_formatting import count_of, some_of
from toolassay.evaluation.call_alignment import UNMATCHED, matched_calls, positions_by_tool, resolved
from toolassay.evaluation.line_index import LineIndex
from toolassay.gates.gate import Background, Finding, State
from toolassay.plans.gold import Gold
from toolassay.plans.normalised_plan import Plan, PlanReader

Part = TypeVar("Part")

# Tools, links or slots named in a reason.
_NAMED = 3
# Longer texts are phrased differently by every model.
_MOST_WORDS = 6
Slot = tuple[int, str]
"""A call of the gold plan and the name of a parameter, or the type of a resource."""
Values = tuple[str, ...]


@dataclass(frozen=True)
class Solver:
    """A model and the file of its predictions, which may be missing."""

    name: str
    predictions: Path


class _Attempt(NamedTuple):
    """The difference between a solver's plan and the gold plan.

    Attributes:
        solver: name of the solver.
        distance: number of tools and links that only one of the two plans has; None without a plan.
        words: the difference as the end of a sentence.
        plan: the solver's plan; None without one.
    """

    solver: str
    distance: int | None
    words: str
    plan: Plan | None = None


class SecondOpinionGate:
    """Quarantines samples that no solver solves, and those whose solvers agree on other arguments.

    A solution has the same tools, as often, and the same links. Calls are aligned and values compared as in
    the strict scores. Where two or more solutions have the same value in a slot, and none has the gold's, the
    gold is doubtful; texts of more than six words are not compared. One solver alone never decides about an
    argument.

    Plans are parsed as for the strict scores: the references in the arguments of a plan are links, too. A
    sample without an answer of any solver is unknown.

    Args:
        solvers: the models and their predictions.
        background: the tools.
        lines: lines of the samples that were sent to the solvers; None for all.

    Raises:
        UsageError: a file of predictions cannot be read.
    """

    name = "second opinion"

    def __init__(
        self, solvers: Sequence[Solver], background: Background, lines: frozenset[int] | None = None
    ) -> None:
        self._reader = PlanReader(background.library, background.kind)
        self._lines = lines
        self._indices = [
            (solver.name, LineIndex(solver.predictions, fix="check --prediction_dir"))
            for solver in solvers
            if solver.predictions.exists()
        ]
        self._count = len(solvers)

    def among(self, lines: frozenset[int] | None) -> SecondOpinionGate:
        """The same gate if the samples on these lines were sent to the solvers; it shares the open files."""
        gate = copy(self)
        gate._lines = lines
        return gate

    def close(self) -> None:
        """Close the files of predictions."""
        for _, index in self._indices:
            index.close()

    def check(self, gold: Gold) -> list[Finding]:
        """One finding, or none if a solver solves the sample."""
        if self._lines is not None and gold.line not in self._lines:
            return [self._finding("not applicable", "not sent to a solver: another gate rejects the sample")]
        wanted = self._reader.plan(gold.record)
        if wanted is None:
            return [self._finding("not applicable", "the gold plan cannot be parsed")]
        attempts: list[_Attempt] = []
        solved: list[_Attempt] = []
        for name, index in self._indices:
            attempt = self._attempt(name, index, gold, wanted)
            if attempt is None:
                continue
            (solved if attempt.distance == 0 else attempts).append(attempt)
        if solved:
            differing = _disputed(wanted, [attempt.plan for attempt in solved if attempt.plan is not None])
            return [self._finding("quarantine", differing)] if differing else []
        if not attempts:
            return [self._finding("unknown", f"none of {count_of(self._count, 'solver')} gave an answer")]
        return [self._finding("quarantine", self._reason(attempts))]

    def _attempt(self, name: str, index: LineIndex, gold: Gold, wanted: Plan) -> _Attempt | None:
        """The difference between a solver's answer and the gold; None without an answer to this request."""
        line = index.by_id.get(gold.id, index.by_text.get(str(gold.id)))
        prediction = None if line is None else index.prediction(index.place(line))
        if prediction is None or not prediction.answers(gold.request):
            return None
        plan = self._reader.plan(prediction.result)
        if plan is None:
            return _Attempt(name, None, "gave no plan")
        if rule_critic(wanted.names, wanted.links, plan.names, plan.links).both:
            return _Attempt(name, 0, "", plan)
        tools = _difference(Counter(wanted.names), Counter(plan.names))
        ends = _difference(Counter(set(wanted.links)), Counter(set(plan.links)))
        words = [*_phrases(tools, lambda tool: f"'{tool}'")]
        if not words:
            words = [*_phrases(ends, lambda link: f"the link '{link[0]}' -> '{link[1]}'")]
        distance = sum(part.total() for part in (*tools, *ends))
        return _Attempt(name, distance, " and ".join(words))

    def _reason(self, attempts: Sequence[_Attempt]) -> str:
        silent = self._count - len(attempts)
        who = f"none of {count_of(len(attempts), 'solver')}" if len(attempts) > 1 else attempts[0].solver
        verb = "produces this plan" if len(attempts) > 1 else "does not produce this plan"
        left = f" ({silent} more gave no answer)" if silent else ""
        planned = [attempt for attempt in attempts if attempt.distance is not None]
        if not planned:
            return f"{who} {verb}{left}: no answer has a plan"
        nearest = min(planned, key=lambda attempt: attempt.distance or 0)
        subject = f"the nearest, {nearest.solver}," if len(attempts) > 1 else "it"
        return f"{who} {verb}{left}: {subject} {nearest.words}"

    def _finding(self, state: State, reason: str) -> Finding:
        return Finding(self.name, state, reason)


def _disputed(wanted: Plan, plans: Sequence[Plan]) -> str:
    """The slots in which several plans agree with each other against the gold; empty if there are none."""
    positions = positions_by_tool(wanted.names)
    spellings = {same_tool(name): name for name in wanted.names}
    given = []
    for plan in plans:
        names = [spellings.get(same_tool(name), name) for name in plan.names]
        if plan.arguments is not None and all(name in positions for name in names):
            same = replace(plan, names=names)
            given.append(_slots(same, matched_calls(wanted, same, positions, range(len(names)))))
    if wanted.arguments is None or len(given) < 2:
        return ""
    gold = _slots(wanted, list(range(len(wanted.names))))
    disputes = []
    for slot in dict.fromkeys([*gold, *(slot for plan in given for slot in plan)]):
        gold_values = gold.get(slot, ())
        votes = Counter(plan.get(slot, ()) for plan in given)
        longest = max(len(value.split()) for values in (gold_values, *votes) for value in values)
        majority, count = votes.most_common(1)[0]
        if count > 1 and not votes[gold_values] and longest <= _MOST_WORDS:
            who = f"{count} of {count_of(len(given), 'solver')}"
            name = f"{wanted.names[slot[0]]}.{slot[1]}"
            disputes.append(f"{name}: the gold has {_shown(gold_values)}, {who} have {_shown(majority)}")
    return some_of(disputes, _NAMED, between="; ", last="; and ")


def _slots(plan: Plan, matched: Sequence[int]) -> dict[Slot, Values]:
    """The values of each slot of the gold's calls, references named by these calls."""
    labels = [f"call {call}" for call in matched]
    values_of_slot: dict[Slot, list[str]] = {}
    for position, call in enumerate(matched):
        if call != UNMATCHED:
            for name, value in resolved(plan, position, labels):
                values_of_slot.setdefault((call, str(name)), []).append(str(value))
    return {slot: tuple(sorted(values)) for slot, values in values_of_slot.items()}


def _shown(values: Values) -> str:
    return ", ".join(f"'{value}'" for value in values) or "no value"


def _difference(wanted: Counter[Part], given: Counter[Part]) -> tuple[Counter[Part], Counter[Part]]:
    """The missing items and the extra items."""
    return wanted - given, given - wanted


def _phrases(difference: tuple[Counter[Part], Counter[Part]], name: Callable[[Part], str]) -> Iterator[str]:
    for verb, part in zip(("lacks", "adds"), difference, strict=True):
        if part:
            yield f"{verb} {some_of([*map(name, part.elements())], _NAMED)}"
