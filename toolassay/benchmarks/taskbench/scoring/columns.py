"""Columns of the tables of statistics: numbers in machine words, and texts of a few kinds as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CodedTexts:
    """A column of texts of a few kinds, two bytes a row.

    >>> column = CodedTexts()
    >>> column.extend(["chain", "dag", "chain"])
    >>> column[2], column.counts(slice(None)), column.select(slice(None), "dag".__eq__).tolist()
    ('chain', {'chain': 2, 'dag': 1}, [False, True, False])
    """

    def __init__(self) -> None:
        self._kinds: list[str] = []
        self._number_of: dict[str, int] = {}
        self._rows = array("H")

    def __getitem__(self, row: int) -> str:
        return self._kinds[self._rows[row]]

    def texts(self, chosen: slice) -> list[str]:
        """The texts of the chosen rows."""
        kinds = self._kinds
        return [kinds[number] for number in self._rows[chosen]]

    def extend(self, texts: Iterable[str]) -> None:
        """Add rows.

        Raises:
            OverflowError: there are more than 65,536 kinds.
        """
        for text in texts:
            number = self._number_of.get(text)
            if number is None:
                number = self._number_of[text] = len(self._kinds)
                self._kinds.append(text)
            self._rows.append(number)

    def append(self, other: CodedTexts) -> None:
        """Append the rows of another column."""
        known = [self._number_of.setdefault(text, len(self._number_of)) for text in other._kinds]
        self._kinds = list(self._number_of)
        if known == list(range(len(known))):
            self._rows.extend(other._rows)
        else:
            self._rows.extend([known[number] for number in other._rows])

    def counts(self, chosen: slice | NDArray[np.int64]) -> dict[str, int]:
        """The number of chosen rows of each kind that occurs among them, in the order of the first rows."""
        import numpy as np

        found = np.bincount(self._numbers()[chosen], minlength=len(self._kinds)).tolist()
        return {text: count for text, count in zip(self._kinds, found, strict=True) if count}

    def select(self, chosen: slice | NDArray[np.int64], holds: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Whether `holds` is true of each chosen row."""
        import numpy as np

        return np.array([*map(holds, self._kinds)], dtype=bool)[self._numbers()[chosen]]

    def _numbers(self) -> NDArray[np.uint16]:
        import numpy as np

        return np.array(self._rows, dtype=np.uint16)


def moved(numbers: array[int], by: int) -> array[int]:
    """Row numbers of a table that is appended after `by` other rows; negative ones stand for no row.

    >>> moved(array("i", [0, -1, 3]), 10).tolist()
    [10, -1, 13]
    """
    if not by:
        return numbers
    import numpy as np

    found = np.array(numbers)
    found[found >= 0] += by
    result: array[Any] = array(numbers.typecode)
    result.frombytes(found.tobytes())
    return result
