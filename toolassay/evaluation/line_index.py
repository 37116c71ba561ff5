"""Finds lines of a JSON Lines file by id, with little memory; malformed lines are tolerated."""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from toolassay.errors import UsageError
from toolassay.files.data_files import parse_json
from toolassay.files.locks import Closable, open_regular
from toolassay.plans.normalised_plan import PLAN_KEYS

Keep = Literal["first", "last", "error"]

_READ_AHEAD = 2**16  # bytes
_MARK = b"\xef\xbb\xbf"  # of UTF-8, at the start of a file

# The id at the start of a line, so that most lines are indexed without parsing them.
# Matches `{"id": "0-1", "result": …}` and `{"id": 7}`; must not match `{"result": {"id": "x"}}`.
_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*(?:"([^"\\]*)"|(-?[0-9]+))\s*[,}]')


class Prediction(NamedTuple):
    """A prediction line.

    Attributes:
        result: The plan, not validated.
        outcome: Outcome of the request; None if the line has none.
        user_request: The request; None if the line has none.
    """

    result: Any
    outcome: str | None
    user_request: str | None = None

    def answers(self, request: Any) -> bool:
        """Whether this may be the answer to `request`: False only if both are known and differ.

        >>> Prediction({}, None, "Hi ").answers("Hi"), Prediction({}, None, "Hi").answers("Ho")
        (True, False)
        """
        if self.user_request is None or not isinstance(request, str):
            return True
        return self.user_request.strip() == request.strip()


class LineMatches(NamedTuple):
    """The lines of two files with the same id, indexed by the line number of the first file; 0 for none.

    Attributes:
        by_id: Ids as JSON values.
        by_text: Ids as text, so that 1 and "1" are one id.
        is_used: Whether the line of the first file is the one that counts for its id as text.
    """

    by_id: array[int]
    by_text: array[int]
    is_used: bytearray


class CompactTexts:
    """A list of short texts, without an object for each.

    >>> texts = CompactTexts(["a", "", "é"])
    >>> [texts[0], texts[1], texts[2]]
    ['a', '', 'é']
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])
        for text in texts:
            self.append(text)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __getitem__(self, position: int) -> str:
        return self._bytes[self._ends[position] : self._ends[position + 1]].decode("utf-8", "surrogatepass")


class LinePlace(NamedTuple):
    """A line of a file, by which any process can read it.

    Attributes:
        number: Its number; 0 stands for no line.
        start: Offset in the file, in bytes.
        size: Size in bytes.
    """

    number: int
    start: int
    size: int


class LineFile(Closable):
    """Reads lines of a JSON Lines file of which the place is known; malformed lines are tolerated.

    Args:
        path: The file.

    Attributes:
        broken: Numbers of lines that cannot be parsed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken: list[int] = []
        self._stream = open_regular(path, "rb", buffering=_READ_AHEAD)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def value(self, location: LinePlace) -> Any:
        """The JSON value of a line.

        Raises:
            ValueError: It cannot be parsed; its number is added to `broken`.
        """
        self._stream.seek(location.start)
        line = self._stream.read(location.size)
        try:
            return parse_json(line.removeprefix(_MARK) if location.number == 1 else line)
        except (ValueError, RecursionError):
            if location.number not in self.broken:
                self.broken.append(location.number)
            raise ValueError(f"line {location.number} is not JSON") from None

    def prediction(self, location: LinePlace) -> Prediction | None:
        """The prediction of a line, with or without a `result` level; None for a broken line, or no line."""
        if not location.number:
            return None
        try:
            line = self.value(location)
        except ValueError:
            return None
        if not isinstance(line, dict):
            return Prediction(None, None)
        is_bare = "result" not in line and any(key in line for key in PLAN_KEYS)
        outcome, request = (
            value if isinstance(value := line.get(key), str) else None for key in ("outcome", "user_request")
        )
        return Prediction(line if is_bare else line.get("result"), outcome, request)


class LineIndex(LineFile):
    """The lines of a JSON Lines file by id.

    Only ids and file offsets are kept in memory; a line is parsed when it is read. A broken line is indexed
    if its id can be parsed.

    Args:
        path: The file.
        fix: Advice if the file is missing.
        keep: Line to use if an id has several: "first" or "last"; "error" refuses repeated ids.

    Attributes:
        by_id: Number of the used line for each id (a JSON value), in file order.
        doubled: Repeated ids with the number of the later line.
        broken: Numbers of lines that cannot be parsed.
        nameless: Numbers of lines without a valid id.

    Raises:
        UsageError: The file is missing or cannot be read, or (with "error") an id is repeated.
    """

    def __init__(self, path: Path, *, fix: str, keep: Keep = "last") -> None:
        self.keep = keep
        self.by_id: dict[Hashable, int] = {}
        self.doubled: list[tuple[Hashable, int]] = []
        self.nameless: list[int] = []
        self._offsets = array("q")
        try:
            super().__init__(path)
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            reason = "no such file" if is_missing else f"cannot be read: {error.strerror}"
            raise UsageError(reason, file=path, fix=fix) from None
        self._scan()

    def _scan(self) -> None:
        position = 0
        by_id = self.by_id
        add = self._offsets.append
        leading_id = _LEADING_ID.match
        for number, line in enumerate(self._stream, start=1):
            add(position)
            position += len(line)
            leading = leading_id(line)
            key = None if leading is None or line.count(b'"id"') != 1 else _decoded(leading)
            if key is None:
                if line.isspace():
                    continue
                key = self._parsed_id(number, line)
                if key is None:
                    continue
            if key in by_id:
                if self.keep == "error":
                    raise UsageError(
                        f"id {key!r} is in line {self.by_id[key]} already",
                        file=self.path,
                        line=number,
                        fix="remove one, or add --keep first or --keep last",
                    )
                self.doubled.append((key, number))
                if self.keep == "first":
                    continue
            by_id[key] = number
        add(position)

    def _parsed_id(self, number: int, line: bytes) -> Hashable | None:
        """The id in a line that has to be parsed; None for a broken or nameless line, which is recorded."""
        if number == 1:
            line = line.removeprefix(_MARK)
        try:
            value = parse_json(line)
        except (ValueError, RecursionError):
            self.broken.append(number)
            leading = _LEADING_ID.match(line)
            return None if leading is None else _decoded(leading)
        key = value.get("id") if isinstance(value, dict) else None
        if not isinstance(key, str | int | float) or isinstance(key, bool):
            self.nameless.append(number)
            return None
        return int(key) if isinstance(key, float) and key.is_integer() else key

    @cached_property
    def by_text(self) -> Mapping[str, int]:
        """Number of the used line for each id as text, so that 1 and "1" are one id."""
        if all(type(key) is str for key in self.by_id):
            return self.by_id  # type: ignore[return-value]
        lines: dict[str, int] = {}
        choose = min if self.keep == "first" else max
        for key, number in self.by_id.items():
            lines[str(key)] = choose(number, lines.get(str(key), number))
        return lines

    def matches(self, other: LineIndex) -> LineMatches:
        """For each line of this file, the line of `other` with the same id."""
        by_id = array("i", bytes(4 * len(self._offsets)))
        by_text = array("i", bytes(4 * len(self._offsets)))
        is_used = bytearray(len(self._offsets))
        for key, number in self.by_id.items():
            by_id[number] = other.by_id.get(key, 0)
            text = key if type(key) is str else str(key)
            by_text[number] = other.by_text.get(text, 0)
            is_used[number] = self.by_text.get(text) == number
        return LineMatches(by_id, by_text, is_used)

    def forget_ids(self) -> None:
        """Free the memory of the ids; from now on lines are known by number only."""
        self.by_id.clear()
        self.__dict__.pop("by_text", None)

    def place(self, number: int) -> LinePlace:
        """Where a line is; 0 stands for no line."""
        if not number:
            return LinePlace(0, 0, 0)
        return LinePlace(number, self._offsets[number - 1], self._offsets[number] - self._offsets[number - 1])

    def read(self, number: int) -> Any:
        """The JSON value of a line.

        Raises:
            ValueError: It cannot be parsed; its number is added to `broken`.
        """
        return self.value(self.place(number))

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.by_id)


def _decoded(leading: re.Match[bytes]) -> Hashable | None:
    """The id that a line begins with; None if it is not UTF-8, or a number of thousands of digits."""
    text, digits = leading.groups()
    try:
        return int(digits) if text is None else text.decode()
    except ValueError:
        return None
