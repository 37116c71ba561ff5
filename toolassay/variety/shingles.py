"""A text as the set of its shingles: runs of four characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LENGTH = 4
_FACTOR = 0x9E3779B97F4A7C15


def shingles(content: str) -> frozenset[str]:
    """The runs of four characters in a text, with a blank before it and after it.

    >>> sorted(shingles("crop"))
    [' cro', 'crop', 'rop ']
    """
    padded = f" {content} "
    return frozenset(padded[place : place + LENGTH] for place in range(max(1, len(padded) - LENGTH + 1)))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of the shingles of two texts that both have; 1 for two empty ones.

    >>> jaccard(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(first & second)
    whole = len(first) + len(second) - shared
    return shared / whole if whole else 1.0


def shingle_numbers(content: str) -> npt.NDArray[np.uint32]:
    """A number of 32 bits for each shingle of a text, in order, the same in every process.

    >>> len(shingle_numbers("crop"))
    3
    """
    import numpy as np

    padded = f" {content} ".encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(padded, np.uint32).astype(np.uint64)
    if len(letters) < LENGTH:
        letters = np.pad(letters, (0, LENGTH - len(letters)))
    number = np.zeros(len(letters) - LENGTH + 1, np.uint64)
    for place in range(LENGTH):
        number = (number << np.uint64(16)) ^ letters[place : place + len(number)]
    return (number * np.uint64(_FACTOR) >> np.uint64(32)).astype(np.uint32)
