"""Requests that repeat one another: found by hashing, and then made sure of."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolassay.gold import Gold
from toolassay.variety.bands import band_groups, groups, pairs, rows_of_a_band
from toolassay.variety.bars import Bars, Known
from toolassay.variety.normal_form import content, figures, same_words
from toolassay.variety.plans import PlanDigest, digest
from toolassay.variety.repeats import Key, Matches, Repeats, crowds
from toolassay.variety.shingles import jaccard, shingles
from toolassay.variety.signatures import PERMUTATIONS, write_signatures
from toolassay.variety.spill import Spill, temporary_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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

    Raises:
        ToolassayError: there is no space for temporary files.

    Returns:
        With `against`, its requests are the first places.

    >>> found = find_repeats([Item("a", "Crop a.jpg"), Item("b", "crop a.jpg!"), Item("c", "Cut b.jpg")])
    >>> [(key, match.exact) for key, match in found.held_back().items()]
    [('b', True)]
    """
    bars = bars or Bars()
    with temporary_folder() as folder, Spill(folder / "texts") as texts:
        table = _Table(texts)
        for item in against or ():
            table.add(item)
        first = len(table.keys)
        for item in items:
            table.add(item)
        exact, near = _exact(table, first), _near(table, first, bars, folder / "signatures")
    return Repeats(table.keys, Matches.joined([exact, near]))


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


def _exact(table: _Table, boundary: int) -> Matches:
    """Each request with the first one of the same words."""
    import numpy as np

    repeated = [
        (leader, place)
        for leader, others in _others(_numbers(table.words)).items()
        for place in others
        if leader < boundary <= place or not boundary
    ]
    first, second = np.array(repeated, np.int64).reshape(-1, 2).T
    plans = _known(table).plans(first, second)
    return Matches(second, first, np.ones(len(first)), np.ones(len(first), np.bool_), plans)


def _near(table: _Table, boundary: int, bars: Bars, file: Path) -> Matches:
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
    first, second = _unpacked(np.unique(np.concatenate(met)))
    met.clear()
    # Those of a crowd stand together: its shingles are then made once, however many pairs it has.
    order = np.argsort(crowds(first, second, len(spoken))[first], kind="stable")
    first, second = first[order], second[order]
    if boundary:
        # The others of the same words are exact duplicates of one of their set, but not of the other set.
        others = _others(spoken)
        again = [[place, *others.get(place, ())] for place in second.tolist()]
        first = np.repeat(first, np.array([*map(len, again)], np.int64))
        second = np.array([place for places in again for place in places], np.int64)
    likeness = _likeness(table, first, second)
    near = likeness >= known.bars(bars, first, second)
    first, second, likeness = first[near], second[near], likeness[near]
    return Matches(second, first, likeness, np.zeros(len(first), np.bool_), known.plans(first, second))


def _unpacked(pairs: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first and the second places of pairs that were held as one number each."""
    import numpy as np

    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _likeness(
    table: _Table, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The true likeness of each of many pairs."""
    import numpy as np

    shingled = lru_cache(4_096)(lambda place: shingles(table.texts[place]))
    alike = (
        jaccard(shingled(int(one)), shingled(int(other))) for one, other in zip(first, second, strict=True)
    )
    return np.fromiter(alike, np.float64, len(first))


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
