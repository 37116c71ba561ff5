"""The append-only file a run can be resumed from: one JSON object a line, one writer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolassay.files import HALF_PAIRS
from toolassay.runs.key_index import KeyIndex
from toolassay.runs.lines import AppendOnlyLines, text_in


class Journal:
    """Append-only JSON Lines with an exclusive lock; entries are found again by their `key`.

    Opening it repairs a torn last line (a crash in the middle of a write) by cutting it off. Of several
    entries under one key the last counts. Memory holds some 30 bytes per key, neither keys nor entries.
    With `read_only` nothing is written, locked or mended; a journal that is not there is an empty one.

    Raises:
        UsageError: another process has it open, or a line in the middle is broken.
        ToolassayError: it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
    ...     journal.append("a", {"outcome": "answered"})
    ...     "a" in journal, journal["a"]["outcome"]
    (True, 'answered')
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lines = AppendOnlyLines(path, what="journal", read_only=read_only)
        self._index = KeyIndex(self._holds)
        try:
            for offset, key in self._lines.scan(lambda entry: text_in(entry, "key")):
                self._index.set(key, offset)
        except BaseException:
            self.close()
            raise

    def append(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write one entry, whose own `key`, if it has one, does not count; it is in the operating system's
        hands when this returns.

        Raises:
            ToolassayError: the disk is full or the file is gone; the journal is then as it was.
        """
        self._index.set(key, self._lines.append({"key": key} | dict(entry) | {"key": key}))

    def __contains__(self, key: str) -> bool:
        return self._index.get(key) is not None

    def __getitem__(self, key: str) -> dict[str, Any]:
        offset = self._index.get(key)
        if offset is None:
            raise KeyError(key)
        return self._lines.line_at(offset)

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order they were first written."""
        for offset in self._index:
            yield self._lines.line_at(offset)["key"]

    def get(self, key: str) -> dict[str, Any]:
        """The entry under a key; an empty one where there is none."""
        offset = self._index.get(key)
        return {} if offset is None else self._lines.line_at(offset)

    def position(self, key: str) -> int | None:
        """The place of a key in the order in which they were first written, from 0; None without entry."""
        return self._index.number(key)

    def _holds(self, offset: int, key: str) -> bool:
        """Whether the entry at an offset is that of a key."""
        start = f'{{"key": {json.dumps(key, ensure_ascii=False)}'.encode(errors=HALF_PAIRS)
        found = self._lines.bytes_at(offset, len(start) + 1)
        if found[:-1] == start and found[-1:] in (b",", b"}"):
            return True
        return bool(self._lines.line_at(offset)["key"] == key)

    def close(self) -> None:
        """Let go of the lock and the file."""
        self._lines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
