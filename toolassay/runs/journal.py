"""Append-only JSON Lines with one writer: the journal that a run resumes from, and its index of keys.

The ledger is a file of the same kind (`AppendOnlyLines`).
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from copy import copy
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec

from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import HALF_PAIRS, parse_json, unescaped_json
from toolassay.files.locks import Closable, lock_descriptor, open_regular
from toolassay.models import ChatResponse

_READ = 8192  # bytes of the first read of a line; most lines are shorter
_SYNC_EVERY = 1.0  # seconds between two syncs to the disk
_SYNC_SHARE = 0.05  # maximum share of the time that is spent on syncs; on a slow disk they are rarer


Scanned = TypeVar("Scanned")


@cache
def decoder_of(kind: Any) -> Callable[[bytes], Any]:
    """A function that decodes a line as a `msgspec.Struct`, also one with half a surrogate pair."""
    fast = msgspec.json.Decoder(kind).decode

    def decode(line: bytes) -> Any:
        try:
            return fast(line)
        except msgspec.DecodeError:
            return msgspec.convert(parse_json(line), kind)

    return decode


class AppendOnlyLines(Closable):
    """An append-only file with one JSON object per line, exclusively locked while it is open.

    When `append` returns, the operating system has the line, so it survives the end of the process. The file
    is synced to the disk about once a second, so a power failure costs the last second.

    Args:
        path: The file; it and its folder are created if missing.
        what: Name of the file's kind for messages, e.g. "journal".
        read_only: Open without lock, writes or repair; a missing file counts as empty.
        wait: Wait until another process has closed the file, instead of raising.

    Attributes:
        path: The file.
        end: Offset in bytes at which the next line starts.

    Raises:
        UsageError: Another process has the file open, and `wait` is false.
        ToolassayError: The file cannot be written, or its file system has no locks.
    """

    def __init__(self, path: Path, *, what: str, read_only: bool = False, wait: bool = False) -> None:
        self.path = path
        self._what = what
        self._read_only = read_only
        if read_only:
            self._reader: IO[bytes] = open_regular(path) if path.exists() else io.BytesIO()
            self._writer: IO[bytes] = self._reader  # never written to
            self.end = 0
            return
        self._next_sync = time.monotonic() + _SYNC_EVERY
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: a buffer that a full disk has rejected would be written again on closing.
            self._writer = open_regular(path, "ab", buffering=0)
            self._reader = open_regular(path)
        except OSError as error:
            raise ToolassayError(
                f"cannot be written: {error.strerror}", file=path, fix="check the folder and its permissions"
            ) from error
        try:
            is_locked = lock_descriptor(self._writer.fileno(), wait=wait)
        except OSError as error:
            self.close()
            raise ToolassayError(
                f"cannot be locked: {error.strerror}", file=path, fix="use a folder on another disk"
            ) from error
        if not is_locked:
            self.close()
            raise UsageError(
                "another process is writing this run", file=path, fix="wait for it, or use another --tag"
            )
        self.end = os.fstat(self._writer.fileno()).st_size

    def scan(
        self, read: Callable[[Any], Scanned], decode: Callable[[bytes], Any] = parse_json
    ) -> Iterator[tuple[int, Scanned]]:
        """Yield the offset and the parsed entry of every line; truncates a last line that a crash left torn.

        Args:
            read: Converts a decoded line; raises KeyError, TypeError or ValueError if it is invalid.
            decode: Decodes a line; may raise `msgspec.DecodeError`.

        Raises:
            UsageError: A line before the last one is broken; names its number.
        """
        self._reader.seek(0)
        end = 0
        for number, line in enumerate(self._reader, start=1):
            if not line.endswith(b"\n"):  # torn by a crash, or another process is writing it
                if not self._read_only:
                    self._writer.truncate(end)
                break
            try:
                entry = read(decode(line))
            except (msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
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

    def append(self, value: object) -> int:
        """Append one line, of a JSON value.

        Returns:
            Offset in bytes at which the line starts.

        Raises:
            ToolassayError: The disk is full or the file is gone; the file is left unchanged.
        """
        return self.append_lines(f"{unescaped_json(value)}\n".encode(errors=HALF_PAIRS))

    def append_lines(self, lines: bytes) -> int:
        """Append whole lines, each with its line end; otherwise like `append`."""
        try:
            written = 0
            while written < len(lines):
                written += self._writer.write(lines[written:])
            self._sync_now_and_then()
        except OSError as error:
            # Removes the part of a line that was written. If that fails too, the first error is the reason.
            with contextlib.suppress(OSError):
                self._writer.truncate(self.end)
            raise ToolassayError(
                f"cannot be written: {error.strerror}",
                file=self.path,
                fix="free some space, then run it again",
            ) from error
        start = self.end
        self.end = self.end + len(lines)
        return start

    def force(self) -> None:
        """Sync the file and its folder entry to the disk, so that all lines survive a power failure.

        Raises:
            ToolassayError: The disk reports an error.
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
        """Read up to `count` bytes at `offset`."""
        return os.pread(self._reader.fileno(), count, offset)

    def line_at(self, offset: int) -> bytes:
        """The line that starts at `offset`, without its end."""
        block = _READ
        line = b""
        while True:
            part = self.bytes_at(offset + len(line), block)
            stop = part.find(b"\n")
            line += part if stop < 0 else part[:stop]
            if stop >= 0 or not part:
                return line
            block *= 4

    def close(self) -> None:
        """Close the file and release the lock."""
        self._writer.close()
        self._reader.close()

    def _sync_now_and_then(self) -> None:
        began = time.monotonic()
        if began < self._next_sync:
            return
        os.fdatasync(self._writer.fileno())
        ended = time.monotonic()
        self._next_sync = ended + max(_SYNC_EVERY, (ended - began) / _SYNC_SHARE)


_SMALLEST = 1024  # initial slots; a power of two, because slots are masked hashes
# A slot without a key.
_EMPTY = -1


class KeyIndex:
    """A hash table from keys to file offsets, in the order in which the keys were first set.

    It stores only a 64-bit hash of each key, which differs from process to process: of ten million keys, two
    have the same one with a probability of 1 in 400,000.

    Args:
        hash_of: Hash function.

    >>> index = KeyIndex()
    >>> index.set("a", 0); index.set("b", 7)
    >>> index.get("b"), index.get("c"), len(index), list(index)
    (7, None, 2, [0, 7])
    """

    def __init__(self, hash_of: Callable[[str], int] = hash) -> None:
        self._hash_of = hash_of
        self._hashes = array("q")
        self._offsets = array("q")
        self._slots = array("l", [_EMPTY]) * _SMALLEST

    def get(self, key: str) -> int | None:
        """The offset of a key, or None."""
        number = self._slots[self._slot(self._hash_of(key))]
        return None if number == _EMPTY else self._offsets[number]

    def set(self, key: str, offset: int) -> None:
        """Set or replace the offset of a key."""
        code = self._hash_of(key)
        slot = self._slot(code)
        if self._slots[slot] != _EMPTY:
            self._offsets[self._slots[slot]] = offset
            return
        self._slots[slot] = len(self._offsets)
        self._hashes.append(code)
        self._offsets.append(offset)
        if 2 * len(self._offsets) > len(self._slots):
            self._grow()

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the offsets, in the order in which the keys were first set."""
        return iter(self._offsets)

    def _slot(self, code: int) -> int:
        """The slot that has the hash, or the empty one where it belongs."""
        mask = len(self._slots) - 1
        position = code & mask
        while True:
            number = self._slots[position]
            if number == _EMPTY or self._hashes[number] == code:
                return position
            position = (position + 1) & mask

    def _grow(self) -> None:
        self._slots = array("l", [_EMPTY]) * (2 * len(self._slots))
        for number, code in enumerate(self._hashes):
            self._slots[self._slot(code)] = number


class LineAddress(NamedTuple):
    """What a line of a journal is about: an item as a whole, or one of its answers.

    Attributes:
        key: Of the item.
        role: `ChatRequest.role` of an answer, and the name of its model if that is not the one under test;
            `TOOL` for the result of a call; empty for the item.
        number: Of the request among those of its role, from 0.
        again: How often the item had ended before this answer.
    """

    key: str
    role: str = ""
    number: int = 0
    again: int = 0

    @classmethod
    def of(cls, line: bytes) -> LineAddress:
        """The address of a line.

        Raises:
            msgspec.ValidationError: It has none.
        """
        address: _Address = decoder_of(_Address)(line)
        if isinstance(address.role, str) and isinstance(address.number, int) and type(address.again) is int:
            return cls(address.key, address.role, address.number, address.again)
        return cls(address.key)

    @property
    def name(self) -> str:
        """The address as one string."""
        return "\x1f".join(map(str, self))


class _Address(msgspec.Struct):
    """What a line holds of its address; the entry of an item may have other values under these keys."""

    key: str
    role: Any = None
    number: Any = None
    again: Any = None


ASKED: ContextVar[LineAddress] = ContextVar("asked")
"""The address of the answer that the current task has requested."""
TOOL = "tool"
"""Role of the results of tool calls, which are journalled beside the answers."""


def always(default: Any, name: str | None = None) -> Any:
    """A field that is written even where it has its default value (`omit_defaults`)."""
    return msgspec.field(default_factory=lambda: copy(default), name=name)


class AnswerLine(ChatResponse, frozen=True, kw_only=True):
    """The answer to a request of an item.

    Attributes:
        asked: Hash of the messages of the request; empty where an earlier version recorded the answer.
    """

    asked: str = ""

    @classmethod
    def of(cls, response: ChatResponse, asked: str = "") -> AnswerLine:
        """The line of an answer."""
        return cls(*(getattr(response, name) for name in ChatResponse.__struct_fields__), asked=asked)


class CallLine(msgspec.Struct, omit_defaults=True):
    """A call of a tool, and its result (JSON); what is not known is unset."""

    call: Any = msgspec.UNSET
    result: Any = msgspec.UNSET

    @property
    def content(self) -> Any:
        """The result, or the call while there is none."""
        return self.call if self.result is msgspec.UNSET else self.result


class ItemEntry(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What an item ended with. The work of the item has a subclass with fields of its own.

    Attributes:
        outcome: How it ended; empty for an item without an entry.
        problem: What went wrong, in words.
        limit: The limit that ended it.
        cut_off: Whether its last answer was truncated.
        asked_again: Number of its retries; answers of earlier ones stay in the journal.
        again: State of an unfinished retry, as an earlier version wrote it; the next retry continues from it.
        order: Numbers of the recorded calls that an agent made at last, in their order; None for all of them
            as they were recorded.
    """

    outcome: str = ""
    problem: str | None = None
    limit: str = ""
    cut_off: bool = False
    asked_again: int = 0
    again: dict[str, Any] = {}
    order: Sequence[int] | None = None


EntryKind = TypeVar("EntryKind", bound=msgspec.Struct)


class Journal(Closable):
    """An append-only file of answers, and of entries about items, exclusively locked while it is open.

    A line is the answer to one request of an item (`key`, `role`, `number`, `again`, then its content), or
    the entry with which an item ended (`key`, then its content). Opening the file truncates a last line that
    a crash left torn. Of several lines about the same the last counts. About 30 bytes per line are held in
    memory, not the keys or lines themselves.

    Iteration, length and membership are about the items that have an entry.

    Args:
        path: The file; it and its folder are created if missing.
        read_only: Open without lock, writes or repair; a missing file counts as empty.

    Raises:
        UsageError: Another process has the file open, or a line before the last one is broken.
        ToolassayError: The file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal.jsonl") as journal:
    ...     journal.add_answer(LineAddress("a", "planner"), AnswerLine("Hello"))
    ...     journal.append("a", ItemEntry(outcome="answered"))
    ...     journal.entry("a", ItemEntry).outcome, journal.answer(LineAddress("a", "planner")).text
    ('answered', 'Hello')
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._lines = AppendOnlyLines(path, what="journal", read_only=read_only)
        self._index = KeyIndex()
        self._answers = KeyIndex()
        try:
            for offset, address in self._lines.scan(LineAddress.of, bytes):
                self._set(address, offset)
        except BaseException:
            self.close()
            raise

    def _set(self, address: LineAddress, offset: int) -> None:
        if address.role:
            self._answers.set(address.name, offset)
        else:
            self._index.set(address.key, offset)

    def append(self, key: str, entry: ItemEntry) -> None:
        """Write the entry of an item; when this returns, the operating system has it.

        Raises:
            ToolassayError: The disk is full or the file is gone; the journal is left unchanged.
        """
        self._index.set(key, self._lines.append({"key": key, **msgspec.to_builtins(entry)}))

    def add_answer(self, address: LineAddress, content: AnswerLine | CallLine) -> None:
        """Write an answer, or a call; otherwise like `append`."""
        self._set(address, self._lines.append({**address._asdict(), **msgspec.to_builtins(content)}))

    def answer(self, address: LineAddress) -> AnswerLine | None:
        """The answer with an address; None without one.

        Raises:
            UsageError: Its line is malformed.
        """
        return self._record(self._answers.get(address.name), AnswerLine)

    def call(self, address: LineAddress) -> CallLine | None:
        """The call with an address; None without one."""
        return self._record(self._answers.get(address.name), CallLine)

    def calls(self, key: str, again: int = 0, order: Sequence[int] | None = None) -> Iterator[CallLine]:
        """The calls of an item, in order, or those that `ItemEntry.order` names."""
        return self._all(key, TOOL, again, self.call, count() if order is None else order)

    def answers(self, key: str, role: str, again: int = 0) -> Iterator[AnswerLine]:
        """The answers of an item to requests of a role, in order."""
        return self._all(key, role, again, self.answer, count())

    def _all(
        self,
        key: str,
        role: str,
        again: int,
        line_of: Callable[[LineAddress], EntryKind | None],
        numbers: Iterable[int],
    ) -> Iterator[EntryKind]:
        for number in numbers:
            if (line := line_of(LineAddress(key, role, number, again))) is None:
                return
            yield line

    def _record(self, offset: int | None, kind: type[EntryKind]) -> EntryKind | None:
        if offset is None:
            return None
        line = self._lines.line_at(offset)
        try:
            record: EntryKind = decoder_of(kind)(line)
        except (msgspec.ValidationError, ValueError) as error:
            raise UsageError(
                f"line of {LineAddress.of(line).key!r}: {error}", file=self.path, fix="remove that line"
            ) from None
        return record

    @property
    def has_answers(self) -> bool:
        """Whether any answer has a line of its own."""
        return len(self._answers) > 0

    def force(self) -> None:
        """Sync all lines to the disk, so that they survive a power failure.

        Raises:
            ToolassayError: The disk reports an error.
        """
        self._lines.force()

    def extend(self, lines: bytes) -> None:
        """Append lines of another journal; otherwise like `append`."""
        offset = self._lines.append_lines(lines)
        for line in lines.splitlines(keepends=True):
            self._set(LineAddress.of(line), offset)
            offset += len(line)

    @property
    def end(self) -> int:
        """Offset in bytes at which the next line starts."""
        return self._lines.end

    def lines_from(self, offset: int) -> bytes:
        """The lines from an offset on."""
        return self._lines.bytes_at(offset, self._lines.end - offset)

    def __contains__(self, key: str) -> bool:
        return self._index.get(key) is not None

    def __len__(self) -> int:
        return len(self._index)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys, in the order in which they were first written."""
        for offset in self._index:
            yield LineAddress.of(self._lines.line_at(offset)).key

    def line(self, key: str) -> bytes:
        """The line of an item's entry, with its end; empty without one."""
        offset = self._index.get(key)
        return b"" if offset is None else self._lines.line_at(offset) + b"\n"

    def entry(self, key: str, kind: type[EntryKind], **identity: str) -> EntryKind:
        """The entry under a key as a record.

        Args:
            key: Of the item.
            kind: Type of the record.
            identity: Values of fields (`ItemWork.identity`).

        Returns:
            The entry; one without values if there is none, or it has another identity.

        Raises:
            UsageError: Its line is malformed.
        """
        entry = self._record(self._index.get(key), kind) or kind()
        return entry if all(getattr(entry, name) == value for name, value in identity.items()) else kind()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._lines.close()
