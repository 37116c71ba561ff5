"""Random choices that are identical in every version of Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class SeededRandom:
    """A stream of choices, determined by a seed and a name.

    Only `Random.random` is used, because Python guarantees its sequence for a seed. The other methods of
    `random.Random` have changed between versions.

    >>> SeededRandom(7, "calendar").pick("abc") == SeededRandom(7, "calendar").pick("abc")
    True
    """

    def __init__(self, seed: int, name: str) -> None:
        self._random = Random(f"{seed}/{name}").random

    def below(self, count: int) -> int:
        """A uniform integer from 0 to `count` - 1."""
        return int(self._random() * count)

    def between(self, low: int, high: int) -> int:
        """A uniform integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, share: float) -> bool:
        """True with probability `share`."""
        return self._random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """One item, all equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[Item], weights: Sequence[float]) -> Item:
        """One item, with probability proportional to its weight."""
        point = self._random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            point -= weight
            if point < 0:
                return item
        return items[-1]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order."""
        rest = list(items)
        for last in range(len(rest) - 1, 0, -1):
            place = self.below(last + 1)
            rest[last], rest[place] = rest[place], rest[last]
        return rest

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items, in random order."""
        return self.shuffled(items)[:count]

    def exponential(self, mean: float) -> float:
        """An exponentially distributed number with this mean."""
        return -mean * math.log(1.0 - self._random())
