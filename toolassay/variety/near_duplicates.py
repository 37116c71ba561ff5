"""Exact and near duplicates among requests: similarity thresholds, the search, and the pairs it finds.

The search hashes requests with MinHash and then verifies each candidate pair by its true Jaccard similarity.
Results are arrays, because a data set of similar requests has millions of similar pairs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from toolassay.engines import Engine, OneProcess
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
from toolassay.variety.normal_form import PlanDigest, content, digest, exact_form, sorted_digits
from toolassay.variety.text_store import TextStore, temporary_folder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


DEFAULT_THRESHOLD = 0.6
"""Least Jaccard similarity of near duplicates; chosen on the published data sets (docs/variety.md)."""
SAME_PLAN_DISCOUNT = 0.1
"""Subtracted from the threshold for two requests with the same plan."""
OTHER_PLAN_SURCHARGE = 0.15
"""Added to the threshold for two requests with different plans, up to halfway between it and 1."""

Plans = Literal["same", "other", "unknown"]
PLANS: tuple[Plans, ...] = ("unknown", "other", "same")
"""Arrays hold the index into this tuple instead of the word."""


@dataclass(frozen=True)
class Thresholds:
    """The least Jaccard similarity at which two requests are near duplicates.

    It is lower for two requests with the same plan (tools, links and values), and higher for two with
    different plans, or with different numbers if a plan is unknown: a request for other tools or other values
    tests something else.

    Args:
        threshold: the least similarity for unknown plans, from 0.2 to 1.

    >>> Thresholds(0.6).of("same"), Thresholds(0.6).of("unknown"), Thresholds(0.6).of("other")
    (0.5, 0.6, 0.75)

    Raises:
        UsageError: the threshold is below 0.2 or above 1.
    """

    threshold: float = DEFAULT_THRESHOLD

    def __post_init__(self) -> None:
        if not 0.2 <= self.threshold <= 1:
            raise UsageError(
                f"--threshold {self.threshold:g} is not between 0.2 and 1",
                fix=f"write --threshold {DEFAULT_THRESHOLD}, or more for fewer duplicates",
            )

    def of(self, plans: Plans) -> float:
        """The least similarity of two requests whose plans are the same, different, or not both known."""
        if plans == "same":
            return round(self.threshold - SAME_PLAN_DISCOUNT, 9)
        if plans == "other":
            return round(min(self.threshold + OTHER_PLAN_SURCHARGE, (1 + self.threshold) / 2), 9)
        return self.threshold


@dataclass(frozen=True)
class PlanKnowledge:
    """The digests of all requests, one array element per request; 0 stands for unknown.

    The methods compare many pairs at once: `first` and `second` are the indices of the two requests of each
    pair, and results have their shape (pairs,).

    Attributes:
        tools: digest of the plan's tools, as in `PlanDigest`.
        whole: digest of the plan with its values and links, as in `PlanDigest`.
        figures: digest of the digits in the request.
    """

    tools: npt.NDArray[np.uint64]
    whole: npt.NDArray[np.uint64]
    figures: npt.NDArray[np.uint64]

    def plans(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """For each pair, how the two plans relate, as an index into `PLANS`."""
        import numpy as np

        differ = np.where(self.others(first, second), PLANS.index("other"), PLANS.index("unknown"))
        return np.where(self.same(first, second), PLANS.index("same"), differ).astype(np.int8)

    def same(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """For each pair, whether both plans are known and equal."""
        same: npt.NDArray[np.bool_] = (self.whole[first] != 0) & (self.whole[first] == self.whole[second])
        return same

    def others(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """For each pair, whether the plans differ or, if one is unknown, the digits of the requests do."""
        whole, other_whole = self.whole[first], self.whole[second]
        tools, other_tools = self.tools[first], self.tools[second]
        known = (whole != 0) & (other_whole != 0)
        differ: npt.NDArray[np.bool_] = known & (whole != other_whole)
        differ |= (tools != 0) & (other_tools != 0) & (tools != other_tools)
        differ |= ~known & (self.figures[first] != self.figures[second])
        return differ

    def least_similarity(
        self, thresholds: Thresholds, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """For each pair, the least similarity of near duplicates."""
        import numpy as np

        near = np.where(self.others(first, second), thresholds.of("other"), thresholds.of("unknown"))
        return np.where(self.same(first, second), thresholds.of("same"), near)


Key = str | int

# Pairs that become Python objects at once, and pairs that go into one sparse matrix: limits on memory.
_CHUNK = 1 << 16
_LINKS = 1 << 20


class DuplicatePair(NamedTuple):
    """Two requests that repeat each other.

    Attributes:
        later: index of the later request, from 0 in the order given.
        earlier: index of the earlier request.
        similarity: the Jaccard similarity of their shingles; 1 for exact duplicates.
        exact: whether the words are the same.
        plans: how their plans relate.
    """

    later: int
    earlier: int
    similarity: float
    exact: bool
    plans: Plans


@dataclass(frozen=True, eq=False)
class DuplicatePairs(Sequence[DuplicatePair]):
    """A sequence of `DuplicatePair`, stored as one array per attribute; all arrays have one length.

    Attributes:
        later: as in `DuplicatePair`, like the other attributes.
        plans: index into `PLANS`.
    """

    later: npt.NDArray[np.int64]
    earlier: npt.NDArray[np.int64]
    similarity: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    plans: npt.NDArray[np.int8]

    @classmethod
    def joined(cls, parts: Sequence[DuplicatePairs]) -> DuplicatePairs:
        """Concatenate sequences of pairs; `parts` must not be empty."""
        import numpy as np

        return cls(
            np.concatenate([part.later for part in parts]),
            np.concatenate([part.earlier for part in parts]),
            np.concatenate([part.similarity for part in parts]),
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
            float(self.similarity[index]),
            bool(self.exact[index]),
            PLANS[self.plans[index]],
        )

    def __iter__(self) -> Iterator[DuplicatePair]:
        for start in range(0, len(self), _CHUNK):
            part = self[start : start + _CHUNK]
            plans = (PLANS[place] for place in part.plans.tolist())
            columns = (part.later, part.earlier, part.similarity, part.exact)
            yield from map(DuplicatePair, *(column.tolist() for column in columns), plans)

    def chosen(self, which: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> DuplicatePairs:
        """The pairs that a slice, indices or a mask select; indices give the order."""
        return DuplicatePairs(
            self.later[which],
            self.earlier[which],
            self.similarity[which],
            self.exact[which],
            self.plans[which],
        )


@dataclass(frozen=True)
class Repeats:
    """The repeated requests of a set.

    Attributes:
        keys: the keys of all requests, in the order given.
        matches: near duplicates among requests with different words, and each exact duplicate with the first
            request of the same words. Pairs hold indices into `keys`.
    """

    keys: Sequence[Key]
    matches: DuplicatePairs

    def held_back(self) -> dict[Key, DuplicatePair]:
        """The requests that repeat an earlier one, by key, each with its most similar earlier request.

        An exact duplicate is always held back. A near duplicate is held back only if the earlier request is
        kept: in a chain of requests that are each near the next, every second one may be kept.
        """
        import numpy as np

        found = self.matches
        order = np.lexsort((found.earlier, -found.similarity, ~found.exact, found.later))
        held: dict[int, int] = {}  # index of the request -> index of its match
        for start in range(0, len(order), _CHUNK):
            chosen = order[start : start + _CHUNK]
            columns = (chosen, found.later[chosen], found.earlier[chosen], found.exact[chosen])
            for number, later, earlier, exact in zip(*(part.tolist() for part in columns), strict=True):
                if later not in held and (exact or earlier not in held):
                    held[later] = number
        return {self.keys[place]: found[number] for place, number in held.items()}

    def clusters(self) -> list[list[Key]]:
        """The keys of requests that matches connect, directly or through others; one list per component."""
        import numpy as np

        found = self.matches
        component = component_numbers(found.earlier, found.later, len(self.keys))
        matched = np.zeros(len(self.keys), np.bool_)
        matched[found.earlier] = matched[found.later] = True
        together: dict[int, list[Key]] = {}
        for place in np.flatnonzero(matched).tolist():
            together.setdefault(int(component[place]), []).append(self.keys[place])
        return list(together.values())


def component_numbers(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """The connected component of each of `count` items, numbered from 0, given the pairs that connect them.

    Args:
        first: one item of each pair.
        second: the other item of each pair.
        count: number of items.

    >>> import numpy as np
    >>> component_numbers(np.array([0, 3]), np.array([2, 2]), 5).tolist()
    [0, 1, 0, 0, 2]
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    component = np.arange(count)
    for start in range(0, len(first), _LINKS):  # one matrix of all pairs would take 40 bytes per pair
        one, other = component[first[start : start + _LINKS]], component[second[start : start + _LINKS]]
        links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(count, count))
        _, joined = connected_components(links, directed=False)
        component = joined[component].astype(np.int64)
    return component


# Three standard errors: an estimate falls below the true similarity by more than this once in 1,000 times.
_SLACK = 0.09
# The beginning of a signature rules out most candidates, of which a request has the more, the more requests
# there are. It falls below the estimate of the whole by more than the slack less than once in a million.
_BEGINNING, _BEGINNING_SLACK = 64, 0.27
# Candidate pairs in memory before duplicates (pairs found in several bands) are removed.
_MOST_WAITING = 4_000_000


class Item(NamedTuple):
    """A request to compare.

    Attributes:
        key: identifies the request in results: the line of its label, or its id.
        request: the user's words.
        plan: digests of its plan; by default unknown.
    """

    key: Key
    request: str
    plan: PlanDigest = PlanDigest()

    @classmethod
    def of(cls, gold: Gold) -> Item:
        """The item of a label; its key is its line or, without a line, its id."""
        return cls(gold.line or gold.id, gold.request, PlanDigest.of(gold))


class Fingerprint(NamedTuple):
    """What the search keeps of a request; another process may compute it.

    Attributes:
        key: as in `Item`.
        content: the content words, of which near duplicates share many; empty for a request without words.
        words: digest of all words, which are the same in exact duplicates; 0 without words.
        figures: digest of the digits.
        plan: digests of the plan.
    """

    key: Key
    content: str
    words: int
    figures: int
    plan: PlanDigest

    @classmethod
    def of(cls, item: Item) -> Fingerprint:
        """The fingerprint of a request."""
        form = exact_form(item.request)
        return cls(
            item.key,
            content(item.request) if form else "",
            digest(form) if form else 0,
            digest(sorted_digits(form)),
            item.plan,
        )


def find_repeats(
    items: Iterable[Item | Fingerprint],
    *,
    against: Iterable[Item | Fingerprint] | None = None,
    thresholds: Thresholds | None = None,
    engine: Engine | None = None,
) -> Repeats:
    """Find the requests that repeat one another, or that repeat one of another set.

    Exact duplicates have the same words (`exact_form`). Candidates for near duplicates are requests with the
    same plan, and requests whose MinHash signatures agree in a band. A candidate pair is a match if the true
    Jaccard similarity of its shingles reaches its threshold. Memory holds a few numbers per request.

    Args:
        items: the requests, in order. A request without words repeats nothing.
        against: another set. If given, each pair has one request of each set.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        engine: where signatures are computed. Default: in this process.

    Raises:
        ToolassayError: there is no space for temporary files.

    Returns:
        The pairs. With `against`, the keys of the other set come first.

    >>> found = find_repeats([Item("a", "Crop a.jpg"), Item("b", "crop a.jpg!"), Item("c", "Cut b.jpg")])
    >>> [(key, match.exact) for key, match in found.held_back().items()]
    [('b', True)]
    """
    thresholds = thresholds or Thresholds()
    with temporary_folder() as folder, TextStore(folder / "texts") as texts:
        table = _Table(texts)
        for item in against or ():
            table.add(item)
        first = len(table.keys)
        for item in items:
            table.add(item)
        file = folder / "signatures"
        exact, near = _exact(table, first), _near(table, first, thresholds, file, engine or OneProcess())
    return Repeats(table.keys, DuplicatePairs.joined([exact, near]))


class _Table:
    """What memory holds of each request: its key and four digests; its content words are on disk."""

    def __init__(self, texts: TextStore) -> None:
        self.texts = texts
        self.keys: list[Key] = []
        self.words, self.tools, self.whole, self.figures = (array("Q") for _ in range(4))

    def add(self, item: Item | Fingerprint) -> None:
        one = item if isinstance(item, Fingerprint) else Fingerprint.of(item)
        self.keys.append(one.key)
        self.texts.append(one.content)
        self.words.append(one.words)
        self.tools.append(one.plan.tools)
        self.whole.append(one.plan.whole)
        self.figures.append(one.figures)


def _numbers(values: array[int]) -> npt.NDArray[np.uint64]:
    import numpy as np

    return np.frombuffer(values, np.uint64) if values else np.empty(0, np.uint64)


def _known(table: _Table) -> PlanKnowledge:
    return PlanKnowledge(_numbers(table.tools), _numbers(table.whole), _numbers(table.figures))


def _exact(table: _Table, boundary: int) -> DuplicatePairs:
    """Each request that has the words of an earlier one, paired with the first of these."""
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


def _near(table: _Table, boundary: int, thresholds: Thresholds, file: Path, engine: Engine) -> DuplicatePairs:
    """The near duplicates; of requests with the same words only the first is compared."""
    import numpy as np

    spoken = _numbers(table.words)
    _, places = np.unique(spoken, return_index=True)
    places = np.sort(places[spoken[places] != 0])
    signatures = write_signatures((table.texts[place] for place in places.tolist()), file, engine)
    known = _known(table)
    met = [np.empty(0, np.uint64)]
    for one, other in _candidates(signatures, known.whole[places], thresholds):
        first, second = places[one], places[other]
        wanted = (first < boundary) & (second >= boundary) if boundary else np.ones(len(first), bool)
        one, other, first, second = one[wanted], other[wanted], first[wanted], second[wanted]
        least = known.least_similarity(thresholds, first, second) - _SLACK
        for length, slack in ((_BEGINNING, _BEGINNING_SLACK), (PERMUTATIONS, 0.0)):
            rows = signatures[:, :length]
            likely = (rows[one] == rows[other]).mean(axis=1) >= least - slack
            one, other, least = one[likely], other[likely], least[likely]
        packed = places[one].astype(np.uint64) << np.uint64(32) | places[other].astype(np.uint64)
        met.append(packed)
        if sum(map(len, met[1:])) > _MOST_WAITING:
            met = [np.unique(np.concatenate(met))]
    first, second = _unpacked(np.unique(np.concatenate(met)))
    met.clear()
    # Pairs of one component side by side, so that the cache computes the shingles of each request once.
    order = np.argsort(component_numbers(first, second, len(spoken))[first], kind="stable")
    first, second = first[order], second[order]
    if boundary:
        # Repeat each match for the further requests with the same words: each repeats the other set, too.
        others = _others(spoken)
        again = [[place, *others.get(place, ())] for place in second.tolist()]
        first = np.repeat(first, np.array([*map(len, again)], np.int64))
        second = np.array([place for places in again for place in places], np.int64)
    similarity = _similarities(table, first, second)
    near = similarity >= known.least_similarity(thresholds, first, second)
    first, second, similarity = first[near], second[near], similarity[near]
    return DuplicatePairs(
        second, first, similarity, np.zeros(len(first), np.bool_), known.plans(first, second)
    )


def _unpacked(lsh_pairs: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The first and second indices of pairs that are packed into 64 bits each."""
    import numpy as np

    return (lsh_pairs >> np.uint64(32)).astype(np.int64), (lsh_pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _similarities(
    table: _Table, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The true Jaccard similarity of each pair."""
    import numpy as np

    shingled = lru_cache(4_096)(lambda place: shingles(table.texts[place]))
    similarities = (
        jaccard(shingled(int(one)), shingled(int(other))) for one, other in zip(first, second, strict=True)
    )
    return np.fromiter(similarities, np.float64, len(first))


def _others(spoken: npt.NDArray[np.uint64]) -> dict[int, list[int]]:
    """For the first request of each wording, the indices of further requests with the same words."""
    others: dict[int, list[int]] = {}
    leader = -1
    for place, stands in zip(*(part.tolist() for part in equal_groups(spoken)), strict=True):
        if stands == 0:
            leader = place
        elif spoken[place]:
            others.setdefault(leader, []).append(place)
    return others


def _candidates(
    signatures: npt.NDArray[np.uint32], whole: npt.NDArray[np.uint64], thresholds: Thresholds
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Pairs that may be near duplicates, in chunks; a pair found in several bands is repeated."""
    members, standing = equal_groups(whole)
    planned = whole[members] != 0
    yield from lsh_pairs(members[planned], standing[planned])
    for group in band_groups(signatures, rows_per_band(thresholds.threshold, PERMUTATIONS)):
        yield from lsh_pairs(*group)
