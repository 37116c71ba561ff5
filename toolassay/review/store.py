"""The decisions on a data folder: `reviews/<reviewer>.jsonl`, an append-only file per reviewer.

Every action is on the disk before the page shows it as saved. A line is a record, or a batch of records
(`{"batch": […]}`), so a sheet is imported as a whole or not at all. A last line that a crash left incomplete
is cut off. A file is locked while it is written, so a reviewer can work in two windows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.review.decision import COMMENT, UNDO, Record, Role, stamped
from toolassay.runs.journal import AppendOnlyLines

FOLDER = "reviews"
LONGEST_NAME = 60
_WHAT = "file of reviews"


@dataclass
class Log:
    """The state of one reviewer's decisions after replaying the file.

    Attributes:
        reviewer: the name; empty without records.
        taken: the decisions that were not undone, by role and sample, oldest first.
        notes: the current comments, by role and sample.
    """

    reviewer: str = ""
    taken: dict[tuple[Role, RequestId], list[Record]] = field(default_factory=dict)
    notes: dict[tuple[Role, RequestId], str] = field(default_factory=dict)
    _order: list[Record] = field(default_factory=list)

    def play(self, record: Record) -> None:
        """Apply the next record of the file."""
        self.reviewer = record.reviewer
        key = record.role, record.id
        if record.action == UNDO:
            stack = self.taken.get(key)
            if stack:
                gone = stack.pop()
                self._order = [other for other in self._order if other is not gone]
            return
        self.notes[key] = record.note
        if record.action != COMMENT:
            self.taken.setdefault(key, []).append(record)
            self._order.append(record)

    def standing(self, role: Role) -> dict[RequestId, Record]:
        """The current decision on each sample."""
        return {sample: stack[-1] for (whose, sample), stack in self.taken.items() if whose == role and stack}

    def last(self, role: Role) -> Record | None:
        """The latest decision on any sample, which `UNDO` would take back; None without one."""
        return next((record for record in reversed(self._order) if record.role == role), None)


Make = Callable[[Log], Sequence[Record]]
"""Builds the records to append from the current state of the reviewer's file."""


class ReviewStore:
    """The files of all reviewers of one data folder.

    Args:
        folder: the data folder; the first decision creates `reviews/` in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self._seen: dict[Path, tuple[tuple[int, int], Log]] = {}

    def logs(self) -> dict[str, Log]:
        """The decisions of each reviewer, by name. Only files that changed are read again.

        Raises:
            UsageError: a line of a file is not a record; the error names it.
        """
        found = (self._log(path) for path in sorted(self.folder.glob("*.jsonl")))
        return {log.reviewer: log for log in found if log.reviewer}

    def log(self, reviewer: str) -> Log:
        """The decisions of one reviewer.

        Raises:
            UsageError: the name cannot be used.
        """
        return self._log(self.path(reviewer))

    def path(self, reviewer: str) -> Path:
        """The file of a reviewer.

        Raises:
            UsageError: the name is not valid, or its file belongs to another reviewer.
        """
        name = checked_name(reviewer)
        path = self.folder / f"{file_name(name)}.jsonl"
        for other in self.folder.glob("*.jsonl"):
            if other.name.casefold() == path.name.casefold():
                _check_owner(other, self._log(other).reviewer, name)
        return path

    def append(self, reviewer: str, make: Make) -> list[Record]:
        """Append records to a reviewer's file while it is locked.

        Args:
            reviewer: the name.
            make: builds the records from the current state of the file; their times are set afterwards.

        Returns:
            The records, which are on the disk.

        Raises:
            UsageError: the name cannot be used, or a line of the file is not a record.
            ToolassayError: the disk is full or the folder cannot be written; the file is then unchanged.
        """
        lines = AppendOnlyLines(self.path(reviewer), what=_WHAT, wait=True)
        try:
            log = _played(lines)
            # Another reviewer may have created the file since `path` looked.
            _check_owner(lines.path, log.reviewer, checked_name(reviewer))
            records = [stamped(record) for record in make(log)]
            if records:
                whole = [record.to_json() for record in records]
                lines.append(whole[0] if len(whole) == 1 else {"batch": whole})
                lines.force()
        finally:
            lines.close()
        return records

    def _log(self, path: Path) -> Log:
        try:
            state = path.stat()
        except FileNotFoundError:
            return Log()
        stamp = state.st_size, state.st_mtime_ns
        known = self._seen.get(path)
        if known is None or known[0] != stamp:
            lines = AppendOnlyLines(path, what=_WHAT, read_only=True)
            try:
                known = self._seen[path] = stamp, _played(lines)
            finally:
                lines.close()
        return known[1]


def _check_owner(path: Path, owner: str, name: str) -> None:
    if owner and owner != name:
        raise UsageError(
            f"the reviewer '{name}' would share a file with '{owner}'",
            file=path,
            fix="choose a name that differs by more than case and special characters",
        )


def file_name(name: str) -> str:
    """A file name for a reviewer: letters of all scripts are kept, and it never leaves its folder.

    >>> file_name("Zoë 李"), file_name("../a"), file_name("..")
    ('Zoë_李', '.._a', '_..')
    """
    # Everything but letters, digits and _ . - is replaced: "/" and " " are, the "ë" of "Zoë" is not.
    safe = re.sub(r"[^\w.-]", "_", name)
    return f"_{safe}" if not safe.strip(".") else safe


def checked_name(reviewer: str) -> str:
    """Validate and normalise the name of a reviewer: no spaces around it, accents composed (NFC).

    Raises:
        UsageError: it is empty, too long, or not printable.

    >>> checked_name(" Ann ")
    'Ann'
    """
    name = unicodedata.normalize("NFC", reviewer.strip())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"'{name[:20]}' is no name for a reviewer",
            fix=f"give --reviewer a name of 1 to {LONGEST_NAME} printable characters",
        )
    return name


def _played(lines: AppendOnlyLines) -> Log:
    log = Log()
    for _, records in lines.scan(_records):
        for record in records:
            log.play(record)
    return log


def _records(entry: Mapping[str, Any]) -> list[Record]:
    batch: Iterable[Mapping[str, Any]] = entry.get("batch", [entry])
    return [Record.from_json(value) for value in batch]
