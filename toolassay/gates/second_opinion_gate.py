"""The gate "second opinion": does another model, which sees only the request, arrive at the same plan?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from toolassay.backinstruct.critics import rule_critic
from toolassay.evaluation.line_index import LineIndex
from toolassay.gates.gate import Background, Finding, State
from toolassay.gold import Ends, Gold
from toolassay.normalised_plan import Plan, PlanReader
from toolassay.text_formatting import count_of

Part = TypeVar("Part")

_NAMED = 3  # tools or links in a reason


@dataclass(frozen=True)
class Solver:
    """A model and the file of its predictions, which need not be there."""

    name: str
    predictions: Path


class _Attempt(NamedTuple):
    """How far one solver is from the gold: tools and links that are not shared; None where it has no plan."""

    solver: str
    distance: int | None
    words: str


class SecondOpinionGate:
    """Puts in quarantine what no solver solves: the same tools as often, and the same links.

    Plans are read as the strict scores read them: where one lists no links, the references in its arguments
    are its links. A sample that no solver has an answer to is unknown.

    Args:
        solvers: who was asked.
        background: the tools.
        asked: the lines of the samples that were put to them; None for all.

    Raises:
        UsageError: a file of predictions cannot be read.
    """

    name = "second opinion"

    def __init__(
        self, solvers: Sequence[Solver], background: Background, asked: frozenset[int] | None = None
    ) -> None:
        self._reader = PlanReader(background.library, background.kind)
        self._asked = asked
        self._indices = [
            (solver.name, LineIndex(solver.predictions, fix="check --prediction_dir"))
            for solver in solvers
            if solver.predictions.exists()
        ]
        self._count = len(solvers)

    def close(self) -> None:
        """Let go of the files."""
        for _, index in self._indices:
            index.close()

    def check(self, gold: Gold) -> list[Finding]:
        """No finding where one solver solves it, else one."""
        if self._asked is not None and gold.line not in self._asked:
            return [self._finding("not applicable", "nobody was asked to solve it: rejected already")]
        wanted = self._reader.plan(gold.record)
        if wanted is None:
            return [self._finding("not applicable", "its own plan cannot be read")]
        attempts = []
        for name, index in self._indices:
            attempt = self._attempt(name, index, gold, wanted)
            if attempt is None:
                continue
            if attempt.distance == 0:
                return []
            attempts.append(attempt)
        if not attempts:
            return [self._finding("unknown", f"none of {count_of(self._count, 'solver')} gave an answer")]
        return [self._finding("quarantine", self._reason(attempts))]

    def _attempt(self, name: str, index: LineIndex, gold: Gold, wanted: Plan) -> _Attempt | None:
        """How a solver fared; None where it has no answer to this request."""
        line = index.by_id.get(gold.id, index.by_text.get(str(gold.id)))
        prediction = None if line is None else index.prediction(line)
        if prediction is None or not prediction.answers(gold.request):
            return None
        plan = self._reader.plan(prediction.result)
        if plan is None:
            return _Attempt(name, None, "gave no plan")
        wanted_links, links = _links(wanted), _links(plan)
        if rule_critic(wanted.names, wanted_links, plan.names, links).both:
            return _Attempt(name, 0, "")
        tools = _difference(Counter(wanted.names), Counter(plan.names))
        ends = _difference(Counter(set(wanted_links)), Counter(set(links)))
        told = [*_told(tools, lambda tool: f"'{tool}'")]
        if not told:
            told = [*_told(ends, lambda link: f"the link '{link[0]}' -> '{link[1]}'")]
        distance = sum(part.total() for part in (*tools, *ends))
        return _Attempt(name, distance, " and ".join(told))

    def _reason(self, attempts: Sequence[_Attempt]) -> str:
        silent = self._count - len(attempts)
        who = f"none of {count_of(len(attempts), 'solver')}" if len(attempts) > 1 else attempts[0].solver
        verb = "comes to this plan" if len(attempts) > 1 else "does not come to this plan"
        left = f" ({silent} more gave no answer)" if silent else ""
        planned = [attempt for attempt in attempts if attempt.distance is not None]
        if not planned:
            return f"{who} {verb}{left}: no answer holds a plan"
        nearest = min(planned, key=lambda attempt: attempt.distance or 0)
        which = f"the nearest, {nearest.solver}," if len(attempts) > 1 else "it"
        return f"{who} {verb}{left}: {which} {nearest.words}"

    def _finding(self, state: State, reason: str) -> Finding:
        return Finding(self.name, state, reason)


def _links(plan: Plan) -> list[Ends]:
    if plan.links is not None:
        return plan.links
    return [(plan.names[source], plan.names[target]) for source, target in plan.references]


def _difference(wanted: Counter[Part], given: Counter[Part]) -> tuple[Counter[Part], Counter[Part]]:
    """What is missing, and what is too much."""
    return wanted - given, given - wanted


def _told(difference: tuple[Counter[Part], Counter[Part]], name: Callable[[Part], str]) -> Iterator[str]:
    for verb, part in zip(("lacks", "adds"), difference, strict=True):
        if part:
            named = [name(one) for one in part.elements()]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            yield f"{verb} {', '.join(named[:_NAMED])}{more}"
