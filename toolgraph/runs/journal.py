"""The append-only file a run can be resumed from: one JSON object a line, one writer."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from toolgraph.errors import ToolgraphError, UsageError
from toolgraph.files import HALF_PAIRS


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
            # Unbuffered: what a full disk refuses must not be tried again on closing.
            self._writer: IO[bytes] = path.open("ab", buffering=0)
            self._reader: IO[bytes] = path.open("rb")
        except OSError as error:
            raise ToolgraphError(
                f"cannot be written: {error.strerror}", file=path, fix="check the folder and its permissions"
            ) from error
        try:
            fcntl.flock(self._writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise UsageError(
                "another process is writing this run", file=path, fix="wait for it, or use another --tag"
            ) from None
        try:
            self._index()
        except BaseException:
            self.close()
            raise

    def _index(self) -> None:
        self._end = 0
        for number, line in enumerate(self._reader, start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("torn")
                self._offsets[json.loads(line)["key"]] = self._end
            except (ValueError, KeyError, TypeError, RecursionError):
                if self._reader.read(1):
                    raise UsageError(
                        "broken line in a journal", file=self.path, line=number, fix="remove that line"
                    ) from None
                self._writer.truncate(self._end)
                break
            self._end += len(line)

    def append(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write one entry; it is in the operating system's hands when this returns.

        Raises:
            ToolgraphError: the disk is full or the file is gone; the journal is then as it was.
        """
        text = json.dumps({**entry, "key": key}, ensure_ascii=False)
        line = f"{text}\n".encode(errors=HALF_PAIRS)
        try:
            written = 0
            while written < len(line):
                written += self._writer.write(line[written:])
        except OSError as error:
            with contextlib.suppress(OSError):
                self._writer.truncate(self._end)
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
        self._reader.seek(self._offsets[key])
        entry: dict[str, Any] = json.loads(self._reader.readline())
        return entry

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order they were first written."""
        return iter(self._offsets)

    def get(self, key: str) -> dict[str, Any]:
        """The entry under a key; an empty one where there is none."""
        return {} if key not in self._offsets else self[key]

    def close(self) -> None:
        """Let go of the lock and the file."""
        self._writer.close()
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
