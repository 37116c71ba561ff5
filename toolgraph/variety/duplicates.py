"""Requests that repeat one another: found by hashing, and then made sure of."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolgraph.gold import Gold
from toolgraph.variety.bands import band_groups, groups, pairs, rows_of_a_band
from toolgraph.variety.bars import Bars, Known, Plans
from toolgraph.variety.normal_form import content, figures, same_words
from toolgraph.variety.plans import PlanDigest, digest
from toolgraph.variety.shingles import jaccard, shingles
from toolgraph.variety.signatures import PERMUTATIONS, write_signatures
from toolgraph.variety.spill import Spill

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Key = str | int

# An estimate is below the truth by more than this once in a thousand times (three standard errors).
_SLACK = 0.09
_MOST_WAITING = 4_000_000  # pairs that are held before those met in several bands are counted as one


class Item(NamedTuple):
    """A request to compare: what it is known by, its words, and its plan."""

    key: Key
    request: str
    plan: PlanDigest = PlanDigest()

    @classmethod
    def of(cls, gold: Gold) -> Item:
        """A label, known by its line, or by its id where it has none."""
        return cls(gold.line or gold.id, gold.request, PlanDigest.of(gold))


class Match(NamedTuple):
    """Two requests that repeat each other.

    Attributes:
        later: the place of the one, counted from 0 in the order given.
        earlier: the place of the other.
        likeness: the Jaccard likeness of their shingles; 1 if they are exact duplicates.
        exact: whether the words are the same.
        plans: how their plans stand to each other.
    """

    later: int
    earlier: int
    likeness: float
    exact: bool
    plans: Plans


@dataclass(frozen=True)
class Repeats:
    """What was found in a set of requests.

    Attributes:
        keys: of all of them, in the order given.
        matches: near duplicates among requests of different words, and each exact duplicate with the
            first request of its words; by place.
    """

    keys: Sequence[Key]
    matches: Sequence[Match]

    def held_back(self) -> dict[Key, Match]:
        """The requests that repeat an earlier one, with the one that each repeats most closely, by key.

        An exact duplicate is always held back. A near duplicate is, if the earlier one stays: of a chain
        in which each is near the next, every second may stay.
        """
        held: dict[int, Match] = {}
        for match in sorted(self.matches, key=lambda m: (m.later, not m.exact, -m.likeness, m.earlier)):
            if match.later not in held and (match.exact or match.earlier not in held):
                held[match.later] = match
        return {self.keys[place]: match for place, match in held.items()}

    def clusters(self) -> list[list[Key]]:
        """The keys of requests that belong together, by whatever chain: a split keeps them together."""
        leader = list(range(len(self.keys)))

        def find(place: int) -> int:
            while leader[place] != place:
                leader[place] = leader[leader[place]]
                place = leader[place]
            return place

        for match in self.matches:
            one, other = sorted((find(match.earlier), find(match.later)))
            leader[other] = one
        together: dict[int, list[Key]] = {}
        for place in sorted({place for match in self.matches for place in (match.earlier, match.later)}):
            together.setdefault(find(place), []).append(self.keys[place])
        return list(together.values())


def find_repeats(
    items: Iterable[Item], *, against: Iterable[Item] | None = None, bars: Bars | None = None
) -> Repeats:
    """The requests that repeat one another, or that repeat one of another set.

    Exact duplicates have the same words (`same_words`). Near duplicates are looked for among requests
    with one plan, and among those whose MinHash signatures agree in a band; a pair counts if the true
    Jaccard likeness of their shingles reaches its bar. Nothing depends on the order of hashing, and
    nothing but a few numbers for each request is held in memory.

    Args:
        items: the requests, in order; those without any words repeat nothing.
        against: another set; then only pairs of one request of each set are looked for.
        bars: how alike near duplicates are.

    Returns:
        With `against`, its requests are the first places.

    >>> found = find_repeats([Item("a", "Crop a.jpg"), Item("b", "crop a.jpg!"), Item("c", "Cut b.jpg")])
    >>> [(key, match.exact) for key, match in found.held_back().items()]
    [('b', True)]
    """
    bars = bars or Bars()
    with tempfile.TemporaryDirectory(prefix="toolgraph-") as folder, Spill(Path(folder) / "texts") as texts:
        table = _Table(texts)
        for item in against or ():
            table.add(item)
        first = len(table.keys)
        for item in items:
            table.add(item)
        matches = [*_exact(table, first), *_near(table, first, bars, Path(folder) / "signatures")]
    return Repeats(table.keys, matches)


class _Table:
    """What is held of each request."""

    def __init__(self, texts: Spill) -> None:
        self.texts = texts
        self.keys: list[Key] = []
        self.words, self.tools, self.whole, self.figures = (array("Q") for _ in range(4))

    def add(self, item: Item) -> None:
        said = same_words(item.request)
        self.keys.append(item.key)
        self.texts.append(content(item.request) if said else "")
        self.words.append(digest(said) if said else 0)
        self.tools.append(item.plan.tools)
        self.whole.append(item.plan.whole)
        self.figures.append(digest(figures(said)))


def _numbers(values: array[int]) -> npt.NDArray[np.uint64]:
    import numpy as np

    return np.frombuffer(values, np.uint64) if values else np.empty(0, np.uint64)


def _known(table: _Table) -> Known:
    return Known(_numbers(table.tools), _numbers(table.whole), _numbers(table.figures))


def _exact(table: _Table, boundary: int) -> Iterator[Match]:
    """Each request with the first one of the same words."""
    import numpy as np

    repeated = [
        (leader, place)
        for leader, others in _others(_numbers(table.words)).items()
        for place in others
        if leader < boundary <= place or not boundary
    ]
    first, second = np.array(repeated, np.int64).reshape(-1, 2).T
    for (leader, place), plans in zip(repeated, _known(table).plans(first, second), strict=True):
        yield Match(place, leader, 1.0, True, plans)


def _near(table: _Table, boundary: int, bars: Bars, file: Path) -> list[Match]:
    """The near duplicates among the first requests of their words."""
    import numpy as np

    spoken = _numbers(table.words)
    _, places = np.unique(spoken, return_index=True)
    places = np.sort(places[spoken[places] != 0])
    signatures = write_signatures((table.texts[place] for place in places.tolist()), file)
    known = _known(table)
    met = [np.empty(0, np.uint64)]
    for one, other in _candidates(signatures, known.whole[places], bars):
        first, second = places[one], places[other]
        wanted = (first < boundary) & (second >= boundary) if boundary else np.ones(len(first), bool)
        one, other, first, second = one[wanted], other[wanted], first[wanted], second[wanted]
        estimate = (signatures[one] == signatures[other]).mean(axis=1)
        likely = estimate >= known.bars(bars, first, second) - _SLACK
        packed = first[likely].astype(np.uint64) << np.uint64(32) | second[likely].astype(np.uint64)
        met.append(packed)
        if sum(map(len, met[1:])) > _MOST_WAITING:
            met = [np.unique(np.concatenate(met))]
    packed = _crowd_by_crowd(np.unique(np.concatenate(met)), len(spoken))
    first, second = (
        (packed >> np.uint64(32)).astype(np.int64),
        (packed & np.uint64(0xFFFFFFFF)).astype(np.int64),
    )
    if boundary:
        # The others of the same words are exact duplicates of one of their set, but not of the other set.
        others = _others(spoken)
        again = [[place, *others.get(place, ())] for place in second.tolist()]
        first = np.repeat(first, np.array([*map(len, again)], np.int64))
        second = np.array([place for places in again for place in places], np.int64)
    shingled = lru_cache(4_096)(lambda place: shingles(table.texts[place]))
    found = []
    for one_pair, plans in zip(zip(first, second, strict=True), known.plans(first, second), strict=True):
        earlier, later = map(int, one_pair)
        likeness = jaccard(shingled(earlier), shingled(later))
        if likeness >= bars.of(plans):
            found.append(Match(later, earlier, likeness, False, plans))
    return found


def _crowd_by_crowd(packed: npt.NDArray[np.uint64], count: int) -> npt.NDArray[np.uint64]:
    """Pairs in an order in which those of requests that belong together stand together.

    The shingles of a crowd are then made once, however many pairs it has and wherever it stands.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = (
        (packed >> np.uint64(32)).astype(np.int64),
        (packed & np.uint64(0xFFFFFFFF)).astype(np.int64),
    )
    links = coo_array((np.ones(len(packed), np.int8), (first, second)), shape=(count, count))
    _, crowd = connected_components(links, directed=False)
    return packed[np.argsort(crowd[first], kind="stable")]


def _others(spoken: npt.NDArray[np.uint64]) -> dict[int, list[int]]:
    """The further places of the same words, for the first."""
    others: dict[int, list[int]] = {}
    leader = -1
    for place, stands in zip(*(part.tolist() for part in groups(spoken)), strict=True):
        if stands == 0:
            leader = place
        elif spoken[place]:
            others.setdefault(leader, []).append(place)
    return others


def _candidates(
    signatures: npt.NDArray[np.uint32], whole: npt.NDArray[np.uint64], bars: Bars
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Pairs that may be near duplicates, some of them several times."""
    members, standing = groups(whole)
    planned = whole[members] != 0
    yield from pairs(members[planned], standing[planned])
    for group in band_groups(signatures, rows_of_a_band(bars.threshold, PERMUTATIONS)):
        yield from pairs(*group)
