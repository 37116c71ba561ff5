"""Finding lines of a JSON Lines file by id, whatever else the file holds, in little memory."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Hashable, Iterator, Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple

from toolassay.errors import UsageError

Keep = Literal["first", "last", "error"]

_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*[,}]')
_PLAN_KEYS = ("task_nodes", "task_steps", "task_links")


class Prediction(NamedTuple):
    """What a prediction line says: the plan (`result`, unchecked), and how the item ended and what was asked.

    `outcome` and `user_request` are None where the line does not say.
    """

    result: Any
    outcome: str | None
    user_request: str | None = None

    def answers(self, request: Any) -> bool:
        """Whether this may be the answer to `request`: it is, unless both are known and differ.

        >>> Prediction({}, None, "Hi ").answers("Hi"), Prediction({}, None, "Hi").answers("Ho")
        (True, False)
        """
        if self.user_request is None or not isinstance(request, str):
            return True
        return self.user_request.strip() == request.strip()


class LineIndex:
    """The lines of a JSON Lines file by id; of doubled ids the last line counts, or as `keep` says.

    Only ids and line positions are held; a line is parsed when it is read. A broken line counts under
    its id where that can still be read.

    Args:
        path: the file.
        fix: what to do if it is missing.
        keep: which of several lines with one id counts, "first" or "last"; "error" allows no such lines.

    Attributes:
        by_id: the number of the line that counts, for each id as a JSON value, in file order.
        doubled: ids met again, with the later line's number.
        broken: numbers of lines that cannot be parsed.
        nameless: numbers of lines without a usable id.

    Raises:
        UsageError: there is no such file, it cannot be read, or (with "error") an id is there twice.
    """

    def __init__(self, path: Path, *, fix: str, keep: Keep = "last") -> None:
        self.path = path
        self.keep = keep
        self.by_id: dict[Hashable, int] = {}
        self.doubled: list[tuple[Hashable, int]] = []
        self.broken: list[int] = []
        self.nameless: list[int] = []
        self._offsets = array("q")
        try:
            self._stream = path.open("rb")
        except OSError as error:
            reason = (
                "no such file"
                if isinstance(error, FileNotFoundError)
                else f"cannot be read: {error.strerror}"
            )
            raise UsageError(reason, file=path, fix=fix) from None
        self._scan()

    def __enter__(self) -> LineIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _scan(self) -> None:
        position = 0
        for number, line in enumerate(self._stream, start=1):
            self._offsets.append(position)
            position += len(line)
            if line.isspace():
                continue
            found, key = self._id_of(number, line)
            if not found:
                continue
            if key in self.by_id:
                if self.keep == "error":
                    raise UsageError(
                        f"id {key!r} is in line {self.by_id[key]} already",
                        file=self.path,
                        line=number,
                        fix="take one out, or say --keep first or --keep last",
                    )
                self.doubled.append((key, number))
                if self.keep == "first":
                    continue
            self.by_id[key] = number

    def _id_of(self, number: int, line: bytes) -> tuple[bool, Hashable]:
        """Whether the line has an id, and the id; notes broken and nameless lines."""
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        leading = _LEADING_ID.match(line)
        if leading is not None and line.count(b'"id"') == 1:
            key = _decoded(leading[1])
            if key is not None:
                return True, key
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            self.broken.append(number)
            key = None if leading is None else _decoded(leading[1])
            return key is not None, key
        key = value.get("id") if isinstance(value, dict) else None
        if not isinstance(key, str | int | float) or isinstance(key, bool):
            self.nameless.append(number)
            return False, None
        return True, int(key) if isinstance(key, float) and key.is_integer() else key

    @cached_property
    def by_text(self) -> Mapping[str, int]:
        """The number of the line that counts, for each id spelled as text."""
        if all(type(key) is str for key in self.by_id):
            return self.by_id  # type: ignore[return-value]
        lines: dict[str, int] = {}
        choose = min if self.keep == "first" else max
        for key, number in self.by_id.items():
            lines[str(key)] = choose(number, lines.get(str(key), number))
        return lines

    def texts_by_line(self) -> list[str]:
        """The id of each line that counts, spelled as text, at the place of the line's number."""
        texts = [""] * (len(self._offsets) + 1)
        for key, number in self.by_text.items():
            texts[number] = key
        return texts

    def reopened(self) -> LineIndex:
        """The same index with a stream of its own, for another process."""
        return copy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_stream"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._stream = self.path.open("rb")

    def read(self, number: int) -> Any:
        """The JSON value of a line.

        Raises:
            ValueError: it cannot be parsed; its number then stands in `broken`.
        """
        self._stream.seek(self._offsets[number - 1])
        line = self._stream.readline()
        try:
            return json.loads(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        except (ValueError, RecursionError):
            if number not in self.broken:
                self.broken.append(number)
            raise ValueError(f"line {number} is not JSON") from None

    def prediction(self, number: int) -> Prediction | None:
        """The prediction a line holds, flat or with the `result` level; None where the line is broken."""
        try:
            line = self.read(number)
        except ValueError:
            return None
        if not isinstance(line, dict):
            return Prediction(None, None)
        outcome = line.get("outcome")
        if "result" in line:
            result = line["result"]
        elif any(key in line for key in _PLAN_KEYS):
            result = line
        else:
            result = None
        request = line.get("user_request")
        return Prediction(
            result,
            outcome if isinstance(outcome, str) else None,
            request if isinstance(request, str) else None,
        )

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.by_id)


def _decoded(spelling: bytes) -> Hashable:
    try:
        return spelling[1:-1].decode() if spelling[:1] == b'"' else int(spelling)
    except ValueError:
        return None
