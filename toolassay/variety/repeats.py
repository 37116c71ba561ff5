"""What repeats what in a set of requests, held as numbers: a dense set has millions of alike pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from toolassay.variety.bars import PLANS, Plans

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Key = str | int

_CHUNK = 1 << 16  # matches that are looked at together
_LINKS = 1 << 20  # links that are looked at together


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


@dataclass(frozen=True, eq=False)
class Matches(Sequence[Match]):
    """Many matches, each a few numbers; what stands at one place of all arrays is one match.

    Attributes:
        later: as in `Match`, and so are the others.
        plans: the place in `PLANS`.
    """

    later: npt.NDArray[np.int64]
    earlier: npt.NDArray[np.int64]
    likeness: npt.NDArray[np.float64]
    exact: npt.NDArray[np.bool_]
    plans: npt.NDArray[np.int8]

    @classmethod
    def joined(cls, parts: Sequence[Matches]) -> Matches:
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
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> Matches: ...
    def __getitem__(self, index: int | slice) -> Match | Matches:
        if isinstance(index, slice):
            return self.chosen(index)
        return Match(
            int(self.later[index]),
            int(self.earlier[index]),
            float(self.likeness[index]),
            bool(self.exact[index]),
            PLANS[self.plans[index]],
        )

    def __iter__(self) -> Iterator[Match]:
        for start in range(0, len(self), _CHUNK):
            part = self[start : start + _CHUNK]
            plans = (PLANS[place] for place in part.plans.tolist())
            columns = (part.later, part.earlier, part.likeness, part.exact)
            yield from map(Match, *(column.tolist() for column in columns), plans)

    def chosen(self, which: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Matches:
        """Some of them, in the order asked for."""
        return Matches(
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
    matches: Matches

    def held_back(self) -> dict[Key, Match]:
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
        crowd = crowds(found.earlier, found.later, len(self.keys))
        matched = np.zeros(len(self.keys), np.bool_)
        matched[found.earlier] = matched[found.later] = True
        together: dict[int, list[Key]] = {}
        for place in np.flatnonzero(matched).tolist():
            together.setdefault(int(crowd[place]), []).append(self.keys[place])
        return list(together.values())


def crowds(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """The number of the crowd of each place: those that pairs link, by whatever chain, have one.

    Args:
        first: of each pair, the one place.
        second: the other.
        count: of all places.

    >>> import numpy as np
    >>> crowds(np.array([0, 3]), np.array([2, 2]), 5).tolist()
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
