"""Exact and near duplicates among requests: similarity thresholds, the search, and the pairs it finds.

The search hashes requests with MinHash and then verifies each candidate pair by its true Jaccard similarity.
Results are arrays: a dense set has millions of similar pairs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from toolassay.errors import UsageError
from toolassay.gold import Gold
from toolassay.variety.minhash import (
    PERMUTATIONS,
    band_groups,
    equal_groups,
    jaccard,
    lsh_pairs,
    rows_per_band,
    shingles,
    write_signatures,
)
from toolassay.variety.normal_form import PlanDigest, content, digest, figures, same_words
from toolassay.variety.text_store import TextStore, temporary_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


DEFAULT_THRESHOLD = 0.6
SAME_PLAN_DISCOUNT = 0.1
OTHER_PLAN_SURCHARGE = 0.15

Plans = Literal["same", "other", "unknown"]
PLANS: tuple[Plans, ...] = ("unknown", "other", "same")
"""What stands for each where there are many: its place here."""


@dataclass(frozen=True)
class Thresholds:
    """The least likeness at which two requests are near duplicates.

    With the same plan (tools, links and values) the wording may be further apart; with another plan, or
    with other figures where a plan is not known, it must be closer: requests for other tools or other
    values are no duplicates to those who test tools.

    >>> Thresholds(0.6).of("same"), Thresholds(0.6).of("unknown"), Thresholds(0.6).of("other")
    (0.5, 0.6, 0.75)

    Raises:
        UsageError: a threshold that is no share above 0.
    """

    threshold: float = DEFAULT_THRESHOLD

    def __post_init__(self) -> None:
        if not 0.2 <= self.threshold <= 1:
            raise UsageError(
                f"--threshold {self.threshold:g} is not between 0.2 and 1",
                fix=f"take {DEFAULT_THRESHOLD}, or more for fewer duplicates",
            )

    def of(self, plans: Plans) -> float:
        """The bar for two requests whose plans are the same, others, or not both known."""
        if plans == "same":
            return round(self.threshold - SAME_PLAN_DISCOUNT, 9)
        if plans == "other":
            return round(min(self.threshold + OTHER_PLAN_SURCHARGE, (1 + self.threshold) / 2), 9)
        return self.threshold


@dataclass(frozen=True)
class PlanKnowledge:
    """What is known of each request: digests of its plan (see `PlanDigest`) and its figures; 0: nothing."""

    tools: npt.NDArray[np.uint64]
    whole: npt.NDArray[np.uint64]
    figures: npt.NDArray[np.uint64]

    def plans(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """How the plans of each of many pairs stand to each other, as places in `PLANS`."""
        import numpy as np

        differ = np.where(self.others(first, second), PLANS.index("other"), PLANS.index("unknown"))
        return np.where(self.same(first, second), PLANS.index("same"), differ).astype(np.int8)

    def same(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Where both plans are known, and the same."""
        same: npt.NDArray[np.bool_] = (self.whole[first] != 0) & (self.whole[first] == self.whole[second])
        return same

    def others(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Where the plans are known to differ, or, where they are not known, the figures do."""
        whole, other_whole = self.whole[first], self.whole[second]
        tools, other_tools = self.tools[first], self.tools[second]
        known = (whole != 0) & (other_whole != 0)
        differ: npt.NDArray[np.bool_] = known & (whole != other_whole)
        differ |= (tools != 0) & (other_tools != 0) & (tools != other_tools)
        differ |= ~known & (self.figures[first] != self.figures[second])
        return differ

    def bars(
        self, bars: Thresholds, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """The bar for each of many pairs."""
        import numpy as np

        near = np.where(self.others(first, second), bars.of("other"), bars.of("unknown"))
        return np.where(self.same(first, second), bars.of("same"), near)


Key = str | int

_CHUNK = 1 << 16  # matches that are looked at together
_LINKS = 1 << 20  # links that are looked at together


class DuplicatePair(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class DuplicatePairs(Sequence[DuplicatePair]):
    """Many matches, each a few numbers; what stands at one place of all arrays is one match.

    Attributes:
        later: as in `DuplicatePair`, and so are the others.
        plans: the place in `PLANS`.
    """

    later: npt.NDArray[np.int64]
    earlier: npt.NDArray[np.int64]
    likeness: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    plans: npt.NDArray[np.int8]

    @classmethod
    def joined(cls, parts: Sequence[DuplicatePairs]) -> DuplicatePairs:
        """Several as one; at least one must be given."""
        import numpy as np

        return cls(
            np.concatenate([part.later for part in parts]),
            np.concatenate([part.earlier for part in parts]),
            np.concatenate([part.likeness for part in parts]),
            np.concatenate([part.exact for part in parts]),
            np.concatenate([part.plans for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.later)

    @overload
    def __getitem__(self, index: int) -> DuplicatePair: ...
    @overload
    def __getitem__(self, index: slice) -> DuplicatePairs: ...
    def __getitem__(self, index: int | slice) -> DuplicatePair | DuplicatePairs:
        if isinstance(index, slice):
            return self.chosen(index)
        return DuplicatePair(
            int(self.later[index]),
            int(self.earlier[index]),
            float(self.likeness[index]),
            bool(self.exact[index]),
            PLANS[self.plans[index]],
        )

    def __iter__(self) -> Iterator[DuplicatePair]:
        for start in range(0, len(self), _CHUNK):
            part = self[start : start + _CHUNK]
            plans = (PLANS[place] for place in part.plans.tolist())
            columns = (part.later, part.earlier, part.likeness, part.exact)
            yield from map(DuplicatePair, *(column.tolist() for column in columns), plans)

    def chosen(self, which: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> DuplicatePairs:
        """Some of them, in the order asked for."""
        return DuplicatePairs(
            self.later[which],
            self.earlier[which],
            self.likeness[which],
            self.exact[which],
            self.plans[which],
        )


@dataclass(frozen=True)
class Repeats:
    """What was found in a set of requests.

    Attributes:
        keys: of all of them, in the order given.
        matches: near duplicates among requests of different words, and each exact duplicate with the
            first request of its words; by place.
    """

    keys: Sequence[Key]
    matches: DuplicatePairs

    def held_back(self) -> dict[Key, DuplicatePair]:
        """The requests that repeat an earlier one, with the one that each repeats most closely, by key.

        An exact duplicate is always held back. A near duplicate is, if the earlier one stays: of a chain
        in which each is near the next, every second may stay.
        """
        import numpy as np

        found = self.matches
        order = np.lexsort((found.earlier, -found.likeness, ~found.exact, found.later))
        held: dict[int, int] = {}  # the place, and the match
        for start in range(0, len(order), _CHUNK):
            chosen = order[start : start + _CHUNK]
            columns = (chosen, found.later[chosen], found.earlier[chosen], found.exact[chosen])
            for number, later, earlier, exact in zip(*(part.tolist() for part in columns), strict=True):
                if later not in held and (exact or earlier not in held):
                    held[later] = number
        return {self.keys[place]: found[number] for place, number in held.items()}

    def clusters(self) -> list[list[Key]]:
        """The keys of requests that belong together, by whatever chain: a split keeps them together."""
        import numpy as np

        found = self.matches
        crowd = connected_crowds(found.earlier, found.later, len(self.keys))
        matched = np.zeros(len(self.keys), np.bool_)
        matched[found.earlier] = matched[found.later] = True
        together: dict[int, list[Key]] = {}
        for place in np.flatnonzero(matched).tolist():
            together.setdefault(int(crowd[place]), []).append(self.keys[place])
        return list(together.values())


def connected_crowds(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """The number of the crowd of each place: those that pairs link, by whatever chain, have one.

    Args:
        first: of each pair, the one place.
        second: the other.
        count: of all places.

    >>> import numpy as np
    >>> connected_crowds(np.array([0, 3]), np.array([2, 2]), 5).tolist()
    [0, 1, 0, 0, 2]
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    crowd = np.arange(count)
    for start in range(0, len(first), _LINKS):  # all at once they would take forty bytes a pair
        one, other = crowd[first[start : start + _LINKS]], crowd[second[start : start + _LINKS]]
        links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(count, count))
        _, joined = connected_components(links, directed=False)
        crowd = joined[crowd].astype(np.int64)
    return crowd


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
    items: Iterable[Item], *, against: Iterable[Item] | None = None, bars: Thresholds | None = None
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
    bars = bars or Thresholds()
    with temporary_folder() as folder, TextStore(folder / "texts") as texts:
        table = _Table(texts)
        for item in against or ():
            table.add(item)
        first = len(table.keys)
        for item in items:
            table.add(item)
        exact, near = _exact(table, first), _near(table, first, bars, folder / "signatures")
    return Repeats(table.keys, DuplicatePairs.joined([exact, near]))


class _Table:
    """What is held of each request."""

    def __init__(self, texts: TextStore) -> None:
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


def _known(table: _Table) -> PlanKnowledge:
    return PlanKnowledge(_numbers(table.tools), _numbers(table.whole), _numbers(table.figures))


def _exact(table: _Table, boundary: int) -> DuplicatePairs:
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
    return DuplicatePairs(second, first, np.ones(len(first)), np.ones(len(first), np.bool_), plans)


def _near(table: _Table, boundary: int, bars: Thresholds, file: Path) -> DuplicatePairs:
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
    order = np.argsort(connected_crowds(first, second, len(spoken))[first], kind="stable")
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
    return DuplicatePairs(second, first, likeness, np.zeros(len(first), np.bool_), known.plans(first, second))


def _unpacked(lsh_pairs: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first and the second places of pairs that were held as one number each."""
    import numpy as np

    return (lsh_pairs >> np.uint64(32)).astype(np.int64), (lsh_pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


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
    for place, stands in zip(*(part.tolist() for part in equal_groups(spoken)), strict=True):
        if stands == 0:
            leader = place
        elif spoken[place]:
            others.setdefault(leader, []).append(place)
    return others


def _candidates(
    signatures: npt.NDArray[np.uint32], whole: npt.NDArray[np.uint64], bars: Thresholds
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Pairs that may be near duplicates, some of them several times."""
    members, standing = equal_groups(whole)
    planned = whole[members] != 0
    yield from lsh_pairs(members[planned], standing[planned])
    for group in band_groups(signatures, rows_per_band(bars.threshold, PERMUTATIONS)):
        yield from lsh_pairs(*group)
