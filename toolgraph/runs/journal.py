"""The append-only file a run can be resumed from: one JSON object a line, one writer."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from toolgraph.errors import ToolgraphError, UsageError


class Journal:
    """Append-only JSON Lines with an exclusive lock; entries are found again by their `key`.

    Opening it repairs a torn last line (a crash in the middle of a write) by cutting it off. Of several
    entries under one key the last counts. Memory holds one file offset per key, not the entries.

    Raises:
        UsageError: another process has it open, or a line in the middle is broken.
        ToolgraphError: it cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
    ...     journal.append("a", {"outcome": "answered"})
    ...     "a" in journal, journal["a"]["outcome"]
    (True, 'answered')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: dict[str, int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise ToolgraphError(f"cannot be written: {error.strerror}", file=path) from error
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._stream.close()
            raise UsageError(
                "another process is writing this run", file=path, fix="wait for it, or use another --tag"
            ) from None
        self._index()

    def _index(self) -> None:
        self._stream.seek(0)
        offset = 0
        for number, line in enumerate(self._stream, start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("torn")
                self._offsets[json.loads(line)["key"]] = offset
            except (ValueError, KeyError, TypeError):
                if self._stream.read(1):
                    self._stream.close()
                    raise UsageError(
                        "broken line in a journal", file=self.path, line=number, fix="remove that line"
                    ) from None
                self._stream.truncate(offset)
                break
            offset += len(line)
        self._end = self._stream.seek(0, 2)

    def append(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write one entry; it is in the operating system's hands when this returns.

        Raises:
            ToolgraphError: the disk is full or the file is gone.
        """
        line = json.dumps({"key": key, **entry}, ensure_ascii=False).encode() + b"\n"
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise ToolgraphError(
                f"cannot be written: {error.strerror}",
                file=self.path,
                fix="free some space, then run it again",
            ) from error
        self._offsets[key] = self._end
        self._end += len(line)

    def __contains__(self, key: str) -> bool:
        return key in self._offsets

    def __getitem__(self, key: str) -> dict[str, Any]:
        self._stream.seek(self._offsets[key])
        entry: dict[str, Any] = json.loads(self._stream.readline())
        self._stream.seek(0, 2)
        return entry

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order they were first written."""
        return iter(self._offsets)

    def close(self) -> None:
        """Let go of the lock and the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
