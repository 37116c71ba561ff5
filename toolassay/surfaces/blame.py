"""Which tools a change of the score comes from: mistakes that runs of the new version make and others not."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import msgspec

from toolassay.evaluation.item_detail import ItemAnswer
from toolassay.metrics.sequential import LEVEL, score_interval


@dataclass(frozen=True)
class RunMistakes:
    """What is wrong with the calls of one run, in old names; nothing where its outcome is right.

    Attributes:
        tools: Tools that are missing, called without need, or called with a wrong argument.
        pairs: A missing tool with one that was called without need.
        arguments: Tools with an argument that is missing, or has another value or name than in the gold.
    """

    tools: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    arguments: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, answer: ItemAnswer, names: Mapping[str, str]) -> RunMistakes:
        """The mistakes of a run that is not right.

        Args:
            answer: Its plan, marked against the gold.
            names: Old names of tools that have another one now.
        """
        if answer.gold is None or answer.predicted is None:
            return cls()
        calls = [*answer.gold.calls, *answer.predicted.calls]
        marked = [(names.get(call.tool, call.tool), call) for call in calls]
        missing = {tool for tool, call in marked if call.status == "missing"}
        extra = {tool for tool, call in marked if call.status == "extra"}
        arguments = {
            (tool, argument.name)
            for tool, call in marked
            for argument in call.arguments
            if call.status == "right" and argument.status != "right"
        }
        pairs = {(gone, come) for gone in missing for come in extra if gone != come}
        tools = missing | extra | {tool for tool, _ in arguments}
        return cls(frozenset(tools), frozenset(pairs), frozenset(arguments))


_Found = Callable[[RunMistakes], Iterable[Any]]
Mistakes = Mapping[str, Sequence[RunMistakes]]
"""The runs of each goal, by id."""


class Blamed(msgspec.Struct, frozen=True):
    """How much more often something goes wrong with the new version.

    Attributes:
        what: A tool, a tool and the one called in its place, or a tool and an argument.
        changed: Whether a tool of it differs between the versions.
        before: Share of the goals where it goes wrong with the old version, as means over runs.
        after: With the new one.
        difference: Between these shares; above 0 it goes wrong more often.
        low: Lower bound of the difference, for all tools (pairs, arguments) together.
        high: Upper bound.
    """

    what: tuple[str, ...]
    changed: bool
    before: float
    after: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Blame:
    """What goes wrong otherwise than before: tools, pairs and arguments, those that lost most first."""

    tools: Sequence[Blamed]
    pairs: Sequence[Blamed]
    arguments: Sequence[Blamed]


def blame(before: Mistakes, after: Mistakes, changed: Iterable[str], critical: float = 0.0) -> Blame:
    """Compare the mistakes of two versions over the goals that both have.

    Args:
        before: Of the old version.
        after: Of the new one.
        changed: Tools that differ, by old name. What they are part of and goes wrong more often comes first,
            for a tool that is as it was can hardly be the cause.
        critical: Standard errors of the verdict's interval, the least that is taken here.
    """
    goals = [name for name in before if name in after]
    names = frozenset(changed)

    def compared(found: _Found) -> list[Blamed]:
        old, new = ([_shares(runs[goal], found) for goal in goals] for runs in (before, after))
        everything = sorted({what for shares in (*old, *new) for what in shares}, key=repr)
        # Bonferroni's correction: the intervals hold together.
        wide = max(critical, NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(everything))))
        rows = []
        for what in everything:
            olds = [shares.get(what, 0.0) for shares in old]
            news = [shares.get(what, 0.0) for shares in new]
            moved = [late - early for early, late in zip(olds, news, strict=True)]
            interval = score_interval(moved, wide)
            parts = what if isinstance(what, tuple) else (what,)
            is_changed = not names.isdisjoint(parts)
            count = len(goals)
            rows.append(Blamed(parts, is_changed, sum(olds) / count, sum(news) / count, *interval))
        return sorted(
            rows, key=lambda row: (not (row.changed and row.difference > 0), -row.difference, -row.low)
        )

    if not goals:
        return Blame((), (), ())
    return Blame(
        compared(lambda run: run.tools), compared(lambda run: run.pairs), compared(lambda run: run.arguments)
    )


def _shares(runs: Sequence[RunMistakes], found: _Found) -> dict[Hashable, float]:
    """How often each mistake is made in the runs of a goal."""
    shares: dict[Hashable, float] = {}
    for run in runs:
        for what in found(run):
            shares[what] = shares.get(what, 0.0) + 1 / len(runs)
    return shares
