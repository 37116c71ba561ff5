"""The decisions of a data folder: `reviews/<reviewer>.jsonl`, one file a person, only ever appended to.

Every action is on the disk before anybody is told that it is saved. A line holds one record, or a batch of
them (`{"batch": […]}`), so that a whole sheet is taken in at once or not at all; a line that a crash left
torn is cut off. A file is locked while it is written, so one person may work in two windows.
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
    """What one person said, played back.

    Attributes:
        reviewer: the name; empty where nothing was said yet.
        taken: the decisions that count, by role and sample, the first to the last one made.
        notes: the comments that count, by role and sample.
    """

    reviewer: str = ""
    taken: dict[tuple[Role, RequestId], list[Record]] = field(default_factory=dict)
    notes: dict[tuple[Role, RequestId], str] = field(default_factory=dict)
    _order: list[Record] = field(default_factory=list)

    def play(self, record: Record) -> None:
        """Let one more record count."""
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
        """The decision that counts for each sample."""
        return {sample: stack[-1] for (whose, sample), stack in self.taken.items() if whose == role and stack}

    def last(self, role: Role) -> Record | None:
        """The decision made last among those that count: what undoing takes back."""
        return next((record for record in reversed(self._order) if record.role == role), None)


Make = Callable[[Log], Sequence[Record]]


class ReviewStore:
    """The files of all reviewers of one data folder.

    Args:
        folder: the data folder; `reviews/` is made in it with the first decision.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self._seen: dict[Path, tuple[tuple[int, int], Log]] = {}

    def logs(self) -> dict[str, Log]:
        """What each person said, by name; of files that have changed only.

        Raises:
            UsageError: a line of a file is none of ours (names it).
        """
        found = (self._log(path) for path in sorted(self.folder.glob("*.jsonl")))
        return {log.reviewer: log for log in found if log.reviewer}

    def log(self, reviewer: str) -> Log:
        """What one person said.

        Raises:
            UsageError: the name cannot be used.
        """
        return self._log(self.path(reviewer))

    def path(self, reviewer: str) -> Path:
        """The file of a person.

        Raises:
            UsageError: no name, or one whose file another person has.
        """
        name = checked_name(reviewer)
        path = self.folder / f"{file_name(name)}.jsonl"
        for other in self.folder.glob("*.jsonl"):
            if other.name.casefold() == path.name.casefold():
                _check_owner(other, self._log(other).reviewer, name)
        return path

    def append(self, reviewer: str, make: Make) -> list[Record]:
        """Write what `make` gives for the person's log as it stands; nobody else writes meanwhile.

        Returns:
            The records, which are on the disk.

        Raises:
            UsageError: the name cannot be used, or a line of the file is none of ours.
            ToolassayError: the disk is full or the folder cannot be written; nothing is changed then.
        """
        lines = AppendOnlyLines(self.path(reviewer), what=_WHAT, wait=True)
        try:
            log = _played(lines)
            # Somebody else may have taken the file meanwhile.
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
    """The file name that stands for a reviewer: letters of every script stay; never a folder.

    >>> file_name("Zoë 李"), file_name("../a"), file_name("..")
    ('Zoë_李', '.._a', '_..')
    """
    safe = re.sub(r"[^\w.-]", "_", name)
    return f"_{safe}" if not safe.strip(".") else safe


def checked_name(reviewer: str) -> str:
    """The name of a reviewer without spaces around it, accents put together (NFC).

    Raises:
        UsageError: it is empty, too long, or not printable.

    >>> checked_name(" Ann ")
    'Ann'
    """
    name = unicodedata.normalize("NFC", reviewer.strip())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"'{name[:20]}' is no name for a reviewer",
            fix=f"give --reviewer a name of 1 to {LONGEST_NAME} characters",
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
