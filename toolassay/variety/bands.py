"""Which pairs of signatures are worth a look: those that agree in a whole band (locality-sensitive hashing).

Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3. The bands are looked at one after
another, each as an array that is sorted: a hash table of all bands takes several kilobytes a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RECALL = 0.97
CROWD = 64
_CHUNK = 1 << 14


def rows_of_a_band(threshold: float, permutations: int, *, recall: float = RECALL) -> int:
    """How many rows a band has: as many as leave pairs at the threshold a chance of `recall` to be met.

    >>> rows_of_a_band(0.6, 256), rows_of_a_band(0.9, 256)
    (5, 15)
    """
    best = 1
    for rows in range(1, permutations + 1):
        if 1 - (1 - threshold**rows) ** (permutations // rows) < recall:
            break
        best = rows
    return best


def band_groups(
    signatures: npt.NDArray[np.uint32], rows: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """For each band, the texts that agree with another in it (see `groups`)."""
    import numpy as np

    odd = np.random.default_rng(0).integers(1, 1 << 63, rows, np.uint64) * np.uint64(2) + np.uint64(1)
    for start in range(0, signatures.shape[1] - rows + 1, rows):
        # Row by row, so that no more than a number a text is held.
        mixed = np.zeros(len(signatures), np.uint64)
        for row, factor in enumerate(odd):
            mixed = (mixed ^ (mixed >> np.uint64(29))) * factor + signatures[:, start + row]
        yield groups(mixed)


def groups(numbers: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The places of equal numbers.

    Returns:
        The places whose number is there more than once, the members of a group side by side and in
        order; and where each of them stands within its group, from 0.

    >>> import numpy as np
    >>> [part.tolist() for part in groups(np.array([7, 5, 7, 6, 5, 7], np.uint64))]
    [[1, 4, 0, 2, 5], [0, 1, 0, 1, 2]]
    """
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    if not len(ranked):
        return order, order
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    sizes = np.diff(np.append(starts, len(ranked)))
    many = np.repeat(sizes > 1, sizes)
    standing = np.arange(len(ranked)) - np.repeat(starts, sizes)
    return order[many], standing[many]


def pairs(
    members: npt.NDArray[np.int64], standing: npt.NDArray[np.int64]
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """The pairs within groups, the earlier text first, in chunks.

    In a crowd, each member meets the first `CROWD` of its group and the `CROWD` before it: pairs stay
    linear in the texts.

    >>> import numpy as np
    >>> [(a.tolist(), b.tolist()) for a, b in pairs(np.array([1, 4, 0, 2, 5]), np.array([0, 1, 0, 1, 2]))]
    [([1, 0, 2, 0], [4, 2, 5, 5])]
    """
    import numpy as np

    def lots() -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        places = np.arange(len(members))
        largest = int(standing.max()) if len(standing) else 0
        for back in range(1, min(largest, CROWD) + 1):
            later = places[standing >= back]
            yield members[later - back], members[later]
        for leader in range(min(largest - CROWD, CROWD)):
            later = places[standing > leader + CROWD]
            yield members[later - standing[later] + leader], members[later]

    yield from _in_chunks(lots())


def _in_chunks(
    lots: Iterable[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Pairs that come in small and in large lots, in lots of one size."""
    import numpy as np

    waiting: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    count = 0
    for first, second in lots:
        for start in range(0, len(first), _CHUNK):
            waiting.append((first[start : start + _CHUNK], second[start : start + _CHUNK]))
            count += len(waiting[-1][0])
            if count >= _CHUNK:
                yield np.concatenate([one for one, _ in waiting]), np.concatenate([two for _, two in waiting])
                waiting, count = [], 0
    if waiting:
        yield np.concatenate([one for one, _ in waiting]), np.concatenate([two for _, two in waiting])
