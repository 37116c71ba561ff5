"""An append-only file of JSON lines with one writer: what journal and ledger are made of."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from toolassay.errors import ToolassayError, UsageError
from toolassay.files import HALF_PAIRS

_READ = 8192  # bytes read at once when one line is looked up; most lines are shorter
_SYNC_EVERY = 1.0  # seconds
_SYNC_SHARE = 0.05  # of the time at most is spent waiting for the disk


Entry = TypeVar("Entry")


class AppendOnlyLines:
    """JSON objects, one a line, appended and never changed; exclusively locked while it is open.

    An appended line is in the operating system's hands when `append` returns: it survives the end of the
    process, however it comes. It is forced to the disk about once a second, so that a power failure costs
    the last second.

    Args:
        path: the file; it and its folder are made if missing.
        what: what to call it in errors.
        read_only: nothing is written, locked or mended; a file that is missing is an empty one.
        wait: for whoever has it open, instead of refusing.

    Raises:
        UsageError: another process has it open, and nobody wants to wait.
        ToolassayError: it cannot be written, or its disk knows no locks.
    """

    def __init__(self, path: Path, *, what: str, read_only: bool = False, wait: bool = False) -> None:
        self.path = path
        self._what = what
        self._read_only = read_only
        if read_only:
            self._reader: IO[bytes] = (path if path.exists() else Path(os.devnull)).open("rb")
            self._writer: IO[bytes] = self._reader  # never written to
            self.end = 0
            return
        self._next_sync = time.monotonic() + _SYNC_EVERY
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what a full disk refuses must not be tried again on closing.
            self._writer = path.open("ab", buffering=0)
            self._reader = path.open("rb")
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}", file=path, fix="check the folder and its permissions"
            ) from error
        try:
            fcntl.flock(self._writer, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            self.close()
            raise UsageError(
                "another process is writing this run", file=path, fix="wait for it, or use another --tag"
            ) from None
        except OSError as error:
            self.close()
            raise ToolassayError(
                f"cannot be locked: {error.strerror}", file=path, fix="use a folder on another disk"
            ) from error
        self.end = os.fstat(self._writer.fileno()).st_size

    def scan(self, read: Callable[[dict[str, Any]], Entry]) -> Iterator[tuple[int, Entry]]:
        """What every line holds, with the byte it starts at; a last line that a crash left torn is cut off.

        Args:
            read: makes of the object of a line what is wanted; KeyError, TypeError and ValueError say that
                it is none of ours.

        Raises:
            UsageError: a line in the middle is broken (names it).
        """
        self._reader.seek(0)
        end = 0
        for number, line in enumerate(self._reader, start=1):
            if not line.endswith(b"\n"):  # torn by a crash, or another process is writing it
                if not self._read_only:
                    self._writer.truncate(end)
                break
            try:
                entry = read(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError):
                if self._reader.read(1):
                    raise UsageError(
                        f"broken line in a {self._what}", file=self.path, line=number, fix="remove that line"
                    ) from None
                if not self._read_only:
                    self._writer.truncate(end)
                break
            yield end, entry
            end += len(line)
        self.end = end

    def append(self, value: Mapping[str, Any]) -> int:
        """Write one line; returns the byte it starts at.

        Raises:
            ToolassayError: the disk is full or the file is gone; the file is then as it was.
        """
        line = f"{json.dumps(value, ensure_ascii=False)}\n".encode(errors=HALF_PAIRS)
        try:
            written = 0
            while written < len(line):
                written += self._writer.write(line[written:])
            self._sync_now_and_then()
        except OSError as error:
            with contextlib.suppress(OSError):
                self._writer.truncate(self.end)
            raise ToolassayError(
                f"cannot be written: {error.strerror}",
                file=self.path,
                fix="free some space, then run it again",
            ) from error
        start, self.end = self.end, self.end + len(line)
        return start

    def force(self) -> None:
        """Have all that was appended on the disk, and the name of the file too: it survives a power failure.

        Raises:
            ToolassayError: the disk reports a fault.
        """
        try:
            os.fsync(self._writer.fileno())
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}", file=self.path, fix="check the disk"
            ) from error

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes from `offset` on."""
        return os.pread(self._reader.fileno(), count, offset)

    def line_at(self, offset: int) -> dict[str, Any]:
        """The object on the line that starts at `offset`."""
        block, line = _READ, b""
        while True:
            part = self.bytes_at(offset + len(line), block)
            stop = part.find(b"\n")
            line += part if stop < 0 else part[:stop]
            if stop >= 0 or not part:
                value: dict[str, Any] = json.loads(line)
                return value
            block *= 4

    def close(self) -> None:
        """Let go of the lock and the file."""
        self._writer.close()
        self._reader.close()

    def _sync_now_and_then(self) -> None:
        began = time.monotonic()
        if began < self._next_sync:
            return
        os.fdatasync(self._writer.fileno())
        ended = time.monotonic()
        self._next_sync = ended + max(_SYNC_EVERY, (ended - began) / _SYNC_SHARE)


def text_in(entry: Mapping[str, Any], key: str) -> str:
    """The text under a key.

    Raises:
        KeyError: there is nothing.
        TypeError: there is no text.
    """
    value = entry[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is no text")
    return value
