"""The labels of a file, gone through as often as needed, never held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from toolassay.dataset import read_labels
from toolassay.errors import UsageError
from toolassay.files import stamp_of
from toolassay.gold import Gold
from toolassay.requests import key_of

Mend = Callable[[dict[str, Any]], tuple[dict[str, Any], Sequence[Any]]]
"""A label, and what was changed in it."""


class LabelledSet:
    """The samples of a `data.json`, in its order, as they are or mended.

    The file is read whole when this is made, so that a broken line is known before anything else happens.

    Args:
        path: the file.
        mend: changes each label; None leaves them as they are.

    Attributes:
        repeated: for each line that repeats an id, the line that had it first.

    Raises:
        UsageError: it is missing, malformed (with the line) or empty, or changed since it was first read.
    """

    def __init__(self, path: Path, mend: Mend | None = None) -> None:
        self.path = path
        self.repeated: dict[int, int] = {}
        self._mend, self._stamp, self._count = mend, stamp_of(path), 0
        first: dict[int, int] = {}  # hashes: two ids that share one are told apart below
        suspects: dict[int, str] = {}
        for number, record in read_labels(path):
            self._count += 1
            key = key_of(record["id"])
            if first.setdefault(hash(key), number) != number:
                suspects[number] = key
        if not self._count:
            raise UsageError("holds no label", file=path, fix="name a data set that has some")
        if suspects:
            self._find_repeated(set(suspects.values()))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Gold]:
        return (gold for gold, _ in self.mended())

    def mended(self) -> Iterator[tuple[Gold, Sequence[Any]]]:
        """Each sample, and what was changed in it."""
        if stamp_of(self.path) != self._stamp:
            raise UsageError("changed while it was being used", file=self.path, fix="run it again")
        for number, record in read_labels(self.path):
            changes: Sequence[Any] = ()
            if self._mend is not None:
                record, changes = self._mend(record)
            yield Gold.of(record, number), changes

    def _find_repeated(self, keys: set[str]) -> None:
        first: dict[str, int] = {}
        for number, record in read_labels(self.path):
            key = key_of(record["id"])
            if key in keys and first.setdefault(key, number) != number:
                self.repeated[number] = first[key]


class Selected:
    """Some of the samples of a set, in its order.

    Args:
        labels: the set.
        lines: those on these lines.
    """

    def __init__(self, labels: LabelledSet, lines: frozenset[int]) -> None:
        self._labels, self.lines = labels, lines

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Gold]:
        return (gold for gold in self._labels if gold.line in self.lines)

    def but(self, lines: frozenset[int]) -> Selected:
        """The same without those on some lines."""
        return Selected(self._labels, self.lines - lines)
