"""The labels of a file, read again for each pass, so that memory does not grow with the data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError, made_by
from toolassay.executors.fact_sources import FACTS
from toolassay.files.data_files import LineRange, line_ranges, stamp_of
from toolassay.plans.gold import Gold
from toolassay.records.cases import is_case
from toolassay.records.dataset import read_labels
from toolassay.records.requests import key_of

SHARD = 200
"""Labels that one process reads at once: their gates take about half a second."""

RepairLabel = Callable[[dict[str, Any]], tuple[dict[str, Any], Sequence[Any]]]
"""Takes a label; returns the repaired label and the list of changes."""


@dataclass(frozen=True)
class LabelReader:
    """Reads parts of a file of labels, in any process.

    Attributes:
        path: the file; absolute, because another process may have another current folder.
        repair: repairs each label; None leaves labels unchanged. A function of a module, so that it can be
            sent to another process.
    """

    path: Path
    repair: RepairLabel | None = None

    def repaired(self, lines: LineRange) -> Iterator[tuple[Gold, Sequence[Any]]]:
        """Each sample of these lines with the list of its changes, which is empty without `repair`.

        Raises:
            UsageError: the lines changed since the file was cut.
        """
        for number, record in read_labels(self.path, lines):
            if is_case(record):
                continue
            changes: Sequence[Any] = ()
            if self.repair is not None:
                record, changes = self.repair(record)
            yield Gold.of(record, number), changes


@dataclass(frozen=True)
class LabelledSet:
    """The samples of a `data.json`, in file order, optionally repaired.

    Attributes:
        path: the file.
        reader: reads a part of the file.
        parts: the lines of the file, in parts of about `SHARD` labels.
        size: the number of labels; a team's own cases are none, because gates judge what is generated.
        repeated: for each line that repeats an id, the line of the id's first sample.
        has_facts: whether a label says what a person must be told.
        stamp: the state of the file when it was read.
    """

    path: Path
    reader: LabelReader
    parts: Sequence[LineRange]
    size: int
    repeated: Mapping[int, int]
    has_facts: bool
    stamp: Any

    @classmethod
    def read(cls, path: Path, repair: RepairLabel | None = None) -> LabelledSet:
        """Read the whole file once, so that a malformed line stops a run before it starts.

        Args:
            path: the file.
            repair: repairs each label while iterating; None leaves labels unchanged.

        Raises:
            UsageError: the file is missing, malformed (with the line) or empty.
        """
        stamp = stamp_of(path)
        parts = list(line_ranges(path, SHARD, fix=made_by("format")))
        # By a hash of 64 bits, to save memory: two of a million ids share one with probability 3e-8.
        first = dict[int, int]()
        repeated = dict[int, int]()
        size = 0
        has_facts = False
        for number, record in read_labels(path):
            if is_case(record):
                continue
            size += 1
            has_facts = has_facts or record.get(FACTS) is not None
            earlier = first.setdefault(hash(key_of(record["id"])), number)
            if earlier != number:
                repeated[number] = earlier
        if not size:
            raise UsageError("holds no label", file=path, fix="pass a data set with labels")
        return cls(path, LabelReader(path.absolute(), repair), parts, size, repeated, has_facts, stamp)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Gold]:
        return (gold for gold, _ in self.repaired())

    def repaired(self) -> Iterator[tuple[Gold, Sequence[Any]]]:
        """Each sample with the list of its changes, which is empty without `repair`.

        Raises:
            UsageError: the file changed since the first read.
        """
        if stamp_of(self.path) != self.stamp:
            raise UsageError("changed while it was being used", file=self.path, fix="run it again")
        for lines in self.parts:
            yield from self.reader.repaired(lines)


class Selected:
    """A subset of the samples of a set, in file order.

    Args:
        labels: the set.
        lines: lines of the samples to keep, counted from 1.
    """

    def __init__(self, labels: LabelledSet, lines: frozenset[int]) -> None:
        self._labels = labels
        self.lines = lines

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Gold]:
        return (gold for gold in self._labels if gold.line in self.lines)

    def without(self, lines: frozenset[int]) -> Selected:
        """The subset without the samples on these lines."""
        return Selected(self._labels, self.lines - lines)
