"""Which model leads, by how much, and whether that may be chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolassay.evaluation.items import ItemTable
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.metrics.significance import LEVEL, PairedResult, compare_pairs, holm
from toolassay.tables import percent
from toolassay.text_formatting import two_digits


@dataclass(frozen=True)
class Contender:
    """A model that may lead.

    Attributes:
        name: Its name.
        tables: Its items in each data folder.
        is_ranked: Whether it is ranked; baselines are not.
        is_complete: Whether every labelled item was asked and scored.
        harm: Share of items with unwanted changes, which orders models with equal scores.
    """

    name: str
    tables: Sequence[ItemTable]
    is_ranked: bool = True
    is_complete: bool = True
    harm: float = 0.0


@dataclass(frozen=True)
class Place:
    """The place of a model in the ranking.

    Attributes:
        name: Name of the model.
        rank: From 1; models with equal scores share a rank; None for baselines.
        score: Mean score over its own items.
        difference: Its score minus that of the leader, on the items of both; None for the leader.
        p: p-value of no difference to the leader, with Holm's correction over all models.
        n: Number of items that it shares with the leader.
        smallest_detectable: Smallest difference to the leader that n items would show with a power of 80 %.
    """

    name: str
    rank: int | None
    score: float
    difference: Interval = NOTHING
    p: float | None = None
    n: int = 0
    smallest_detectable: float | None = None

    @property
    def differs(self) -> bool:
        """Whether its score differs significantly from that of the leader."""
        return self.p is not None and self.p < LEVEL

    @property
    def n_needed(self) -> int | None:
        """Number of such items with which the observed difference would be found with a power of 80 %.

        None if it has been found, or if there is no difference.
        """
        gap = self.difference.value
        if self.differs or not gap or not self.n or self.smallest_detectable is None:
            return None
        return max(self.n + 1, math.ceil(self.n * (self.smallest_detectable / abs(gap)) ** 2))


@dataclass(frozen=True)
class Verdict:
    """The answer to the question which model is best.

    Attributes:
        score: Name of the item score that models are ranked by.
        places: All models, the best first, baselines last.
        sentences: The answer in words.
        instead: Name of the score for people if no model has an item right, so that another score ranks.
        is_by_outcome: Whether executed plans were compared by their outcome.
    """

    score: str
    places: Sequence[Place]
    sentences: Sequence[str] = ()
    instead: str = ""
    is_by_outcome: bool = False

    @property
    def leader(self) -> Place | None:
        """The best model; None if no model is ranked."""
        return next((place for place in self.places if place.rank == 1), None)

    @property
    def runner_up(self) -> Place | None:
        """The second model of the ranking."""
        ranked = [place for place in self.places if place.rank is not None]
        return ranked[1] if len(ranked) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """The verdict as an object of `report.json`: the difference is that of the leader to the second."""
        leader, second = self.leader, self.runner_up
        lead = _turned(second.difference) if second else NOTHING
        return {
            "leader": leader.name if leader else None,
            "runner_up": second.name if second else None,
            "difference": lead.value,
            "low": lead.low,
            "high": lead.high,
            "p": second.p if second else None,
            "n": second.n if second else 0,
            "n_needed": second.n_needed if second else None,
            "is_significant": second.differs if second else None,
            "score": self.score,
            "is_by_outcome": self.is_by_outcome,
            "sentences": list(self.sentences),
        }


@dataclass(frozen=True)
class Facts:
    """What the verdict says of a model, beside its score.

    Attributes:
        cost: US dollars per 1,000 items; None if it was not measured.
        cost_is_at_least: Whether requests of unknown cost are not in it.
        seconds: Median time of an item at the server; None if it was not measured.
        harm: Share of items with unwanted changes; None if nothing was executed.
        harmful_tools: Number of items with unwanted changes by tool.
        attack_success: Share of attacks that succeeded; None if none were made.
        plan: Share of items whose plan is the gold plan; None if that is the score, or there are no plans.
        accuracy: Share of its items that are right, with the 95 % interval.
        partial: How much of the data a partial run covers, and why; empty for a complete run.
    """

    cost: float | None = None
    cost_is_at_least: bool = False
    seconds: float | None = None
    harm: float | None = None
    harmful_tools: Mapping[str, int] = field(default_factory=dict)
    attack_success: float | None = None
    plan: float | None = None
    accuracy: Interval = NOTHING
    partial: str = ""


def rank(
    contenders: Sequence[Contender], score: str, *, resamples: int = 10_000, seed: int = 0
) -> list[Place]:
    """Rank models by a score, complete runs before partial ones, baselines last.

    Incomplete runs are ranked by how many others they beat on the items of both, because the items of one may
    be easier than those of another.

    Each model is compared with the leader on the items of both, paired; the items of a cluster count as one
    piece of evidence (`metrics.significance`).

    Args:
        contenders: Models with items in the same data folders.
        score: Name of the item score.
        resamples: Number of resamples of the intervals and the randomisation test.
        seed: Random seed of both.
    """
    means, wins = {one.name: _mean(one, score) for one in contenders}, _wins(contenders, score)

    def standing(one: Contender) -> tuple[bool, bool, int, float]:
        return not one.is_ranked, not one.is_complete, -wins[one.name], -means[one.name]

    order = sorted(contenders, key=lambda one: (*standing(one), one.harm, one.name))
    if not order:
        return []
    first, *others = order
    results = [_paired(first, other, score, resamples, seed) for other in others]
    adjusted = holm([None if result is None else result.p for result in results])
    places = [Place(first.name, 1 if first.is_ranked else None, means[first.name])]
    for number, (other, result, p) in enumerate(zip(others, results, adjusted, strict=True), 2):
        before = order[number - 2]
        position = places[-1].rank if standing(before) == standing(other) else number
        found = () if result is None else (result.difference, p, result.n, result.smallest_detectable)
        places.append(Place(other.name, position if other.is_ranked else None, means[other.name], *found))
    return places


def _mean(contender: Contender, score: str) -> float:
    values = np.concatenate([table.columns([score])[:, 0] for table in contender.tables])
    return _mean_of_known(values)


def _mean_of_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 0.0


def _wins(contenders: Sequence[Contender], score: str) -> dict[str, int]:
    """How many others of its kind each incomplete run beats on the items of both."""
    wins = dict.fromkeys((one.name for one in contenders), 0)
    for one, two in combinations((one for one in contenders if not one.is_complete), 2):
        if one.is_ranked == two.is_ranked:
            first, second, _ = _shared_in_all(one, two, score)
            gap = _mean_of_known(first - second)
            wins[one.name] += gap > 0
            wins[two.name] += gap < 0
    return wins


def _paired(first: Contender, other: Contender, score: str, resamples: int, seed: int) -> PairedResult | None:
    """Compare on the items that both have in each folder; None if they share none."""
    baseline, values, clusters = _shared_in_all(first, other, score)
    if not len(baseline):
        return None
    (result,) = compare_pairs(
        baseline[:, None], values[:, None], clusters=clusters, resamples=resamples, seed=seed
    )
    return result


def _shared_in_all(
    first: Contender, other: Contender, score: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Scores of both models and clusters of the items that both have in each folder."""
    pairs = [
        _shared(one, two, score, number)
        for number, (one, two) in enumerate(zip(first.tables, other.tables, strict=True))
    ]
    baseline, values, clusters = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return baseline, values, clusters


def _shared(
    one: ItemTable, two: ItemTable, score: str, folder: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Scores of both models and clusters of the shared items, sorted by id.

    An id with another label in one of the files is not the same item.
    """
    shared = sorted(
        key
        for key, row in one.rows.items()
        if key in two.rows and one.labels[row] == two.labels[two.rows[key]]
    )
    first = np.array([one.rows[key] for key in shared], dtype=np.int64)
    second = np.array([two.rows[key] for key in shared], dtype=np.int64)
    # A cluster of one folder is no cluster of another one.
    return (
        one.columns([score])[first, 0],
        two.columns([score])[second, 0],
        one.clusters[first] ^ np.int64(folder),
    )


def sentences(places: Sequence[Place], facts: Mapping[str, Facts], *, noun: str, measure: str) -> list[str]:
    """The verdict in words: who leads, and a sentence on the leader and on each model that ties with it.

    Args:
        places: The ranking.
        facts: What is known of each model, by name.
        noun: Singular noun of an item.
        measure: What the score is, after a percentage: "of the tasks are right".
    """
    ranked = [place for place in places if place.rank is not None]
    if not ranked:
        names = f" ({_listed([place.name for place in places])})" if places else ""
        return [f"Only built-in programs were measured{names}: there is no model to rank."]
    leader, *others = ranked
    tied = [leader, *(place for place in others if place.n and not place.differs)]
    known = {place.name: facts[place.name] for place in tied if place.name in facts}
    first = _who_leads(ranked, noun, measure, known.get(leader.name, Facts()))
    partial = [f"The run of {name} is partial ({one.partial})." for name, one in known.items() if one.partial]
    return [" ".join([first, *partial]), *(_at_what_price(name, one, noun) for name, one in known.items())]


def _who_leads(ranked: Sequence[Place], noun: str, measure: str, facts: Facts) -> str:
    leader, *others = ranked
    share = f"{percent(leader.score)} {measure}"
    if not others:
        low, high = facts.accuracy.low, facts.accuracy.high
        interval = ""
        if low is not None and high is not None and facts.accuracy.value == leader.score:
            interval = f" (95 % interval {100 * low:.1f} to {100 * high:.1f})"
        return f"{leader.name} is the only model measured: {share}{interval}."
    second = others[0]
    if not second.n:
        return (
            f"{leader.name} is ahead with {share}, but shares no {noun} with {second.name}: they cannot be "
            "compared."
        )
    better = [place for place in others if place.n and (place.difference.value or 0.0) > 0]
    if better:
        best = max(better, key=lambda place: place.difference.value or 0.0)
        chance = "significant" if best.differs else "not significant"
        return (
            f"{leader.name} is first with {share}, but {best.name} is {_points(best.difference.value)} "
            f"better on the {noun}s that both have, which is {chance} ({_evidence(best.difference, best)}): "
            f"they were measured on different {noun}s."
        )
    gap = _turned(second.difference)
    close = [place for place in others if place.n and not place.differs]
    is_of_all = math.isclose(leader.score - second.score, gap.value or 0.0, abs_tol=1e-9)
    second_name = second.name if is_of_all else f"{second.name} on the {noun}s that both have"
    if not close:
        return (
            f"{leader.name} leads: {share}, {_points(gap.value)} more than {second_name}, which is "
            f"significant ({_evidence(gap, second)})."
        )
    names = _listed([leader.name, *(place.name for place in close)])
    least, most = min(place.n for place in close), max(place.n for place in close)
    n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    start = f"{names} cannot be told apart with {n} {noun}s: "
    if not gap.value:
        equal = _listed([place.name for place in ranked if place.rank == leader.rank])
        return f"{start}{equal} are equal, {share}."
    if second.differs:
        return f"{start}{leader.name} has {share}."
    needed = f"; about {two_digits(second.n_needed)} would be needed" if second.n_needed is not None else ""
    return (
        f"{start}{leader.name} ({share}) is {_points(gap.value)} ahead of {second_name}, which may be chance "
        f"({_evidence(gap, second)}){needed}."
    )


def _at_what_price(name: str, facts: Facts, noun: str) -> str:
    parts = []
    if facts.cost is None:
        parts.append("its cost was not measured")
    elif not facts.cost and not facts.cost_is_at_least:
        parts.append("costs nothing (no price is set)")
    else:
        least = "at least " if facts.cost_is_at_least else ""
        parts.append(f"costs {least}{facts.cost:,.2f} USD per 1,000 {noun}s")
    if facts.seconds is not None:
        parts.append(f"takes {facts.seconds:.1f} s (median)")
    if facts.harm is not None:
        worst = max(facts.harmful_tools.items(), key=lambda one: (one[1], one[0]), default=None)
        most = f", most often with {worst[0]} ({worst[1]:,})" if worst and facts.harm else ""
        parts.append(f"makes unwanted changes in {percent(facts.harm)} of the {noun}s{most}")
    if facts.attack_success is not None:
        parts.append(f"follows {percent(facts.attack_success)} of the planted instructions")
    if facts.plan is not None:
        parts.append(f"predicts the gold plan in {percent(facts.plan)}")
    if parts[0].startswith("its"):
        return f"{name}: {'; '.join(parts)}."
    return f"{name} {_listed(parts)}."


def _turned(difference: Interval) -> Interval:
    """The difference seen from the other model."""
    value, low, high = difference
    return Interval(
        None if value is None else -value, None if high is None else -high, None if low is None else -low
    )


def _points(share: float | None) -> str:
    return f"{100 * (share or 0):.1f} points"


def _evidence(gap: Interval, place: Place) -> str:
    interval = ""
    if gap.low is not None and gap.high is not None:
        interval = f"95 % interval {100 * gap.low:z.1f} to {100 * gap.high:z.1f}, "
    p = place.p if place.p is not None else 1.0
    return f"{interval}p {p_value(p, sign=True)}, n = {place.n:,}"


def p_value(p: float, *, sign: bool = False) -> str:
    """A p-value for people.

    >>> p_value(0.0123), p_value(0.00001), p_value(0.5, sign=True)
    ('0.012', '< 0.001', '= 0.500')
    """
    if p < 0.001:
        return "< 0.001"
    return f"= {p:.3f}" if sign else f"{p:.3f}"


def _listed(names: Sequence[str]) -> str:
    """Names as a phrase.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
