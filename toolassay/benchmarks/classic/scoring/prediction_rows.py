"""Prediction rows: an agent's answer to one user message in one trial, read from a prediction file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from toolassay.benchmarks.classic.data import ClassicData, Example
from toolassay.errors import UsageError
from toolassay.files import line_of_item, read_json, read_json_lines
from toolassay.locks import open_regular

ANSWERED: Final = "answered"
MALFORMED: Final = "malformed"
NOT_RUN: Final = "not run"
Outcome = Literal[
    "answered", "malformed", "refused", "context overflow", "provider error", "budget stop", "not run"
]
_FIX = "correct the row, or write the file with inference.py"
_MAKE = "give a file written by inference.py: predictions/<llm>.json"


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One answer.

    Args:
        conversation: of `conversation_uuid`.
        request: of `request_idx`.
        trial: of `trial_idx`.
        domain: of `domain_uuid`.
        labels: of `y_workflow_uuids`, the primary one first; empty if no workflow is correct.
        prediction: of `pred_workflow_uuid`. None means no workflow; an empty string (or NaN) is neither a
            workflow nor the choice of none.
        seconds: of `time_to_pred`; None if unknown, as for the following fields.
        tokens_input: prompt tokens.
        tokens_output: completion tokens.
        cost: in US dollars.
        first_token_seconds: of `time_to_first_token`.
        outcome: of the request.
        error: the error message; may be empty.
        order: of the candidates in the list that the agent saw; empty if unknown.
    """

    conversation: str
    request: int
    trial: int
    domain: str
    labels: tuple[str, ...]
    prediction: str | None
    seconds: float | None = None
    tokens_input: float | None = None
    tokens_output: float | None = None
    cost: float | None = None
    first_token_seconds: float | None = None
    outcome: str = ANSWERED
    error: str = ""
    order: str = ""

    @property
    def input(self) -> tuple[str, int]:
        """The key of the message."""
        return self.conversation, self.request

    @property
    def sorting(self) -> tuple[str, int, int, str]:
        """The sort key of rows. Sorted rows give the same scores in whatever order answers arrived."""
        return self.conversation, self.request, self.trial, self.order


def read_rows(path: Path, data: ClassicData | None = None, *, foreign: bool = False) -> list[PredictionRow]:
    """Read the rows of a prediction file, sorted by conversation, message and trial.

    Args:
        path: a JSON array, or JSON Lines; a missing number may be null or NaN.
        data: the data that the rows must belong to.
        foreign: accept a file none of whose messages are in the data.

    Raises:
        UsageError: the file does not exist, or a row (given by number and line) is malformed, is a duplicate,
            or belongs to a message that is not in the data.
    """
    examples = None if data is None else {(e.conversation, e.request_idx): e for e in data.examples}
    rows: list[PredictionRow] = []
    seen: set[tuple[str, int, int, str]] = set()
    strange: UsageError | None = None
    for number, line, value in _values(path):
        try:
            row = row_of(value)
            if row.sorting in seen:
                raise ValueError(
                    f"answers message {row.request} of {row.conversation!r} in trial {row.trial} again"
                )
            if examples is not None:
                unknown = _unknown(row, examples)
                if unknown and not foreign:
                    raise ValueError(unknown)
                if unknown and strange is None:
                    strange = _wrong(path, number, line, unknown)
        except ValueError as error:
            raise _wrong(path, number, line, str(error)) from None
        seen.add(row.sorting)
        rows.append(row)
    if not rows:
        raise UsageError("no rows", file=path, fix=_MAKE)
    if strange is not None and any(row.input in (examples or {}) for row in rows):
        raise strange
    return sorted(rows, key=lambda row: row.sorting)


def rows_fingerprint(rows: Iterable[PredictionRow]) -> str:
    """The SHA-256 of rows, independent of their order and of the file format, as hexadecimal digits."""
    digest = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row.sorting):
        digest.update(json.dumps(astuple(row)).encode() + b"\n")
    return digest.hexdigest()


def rows_fingerprint_of(path: Path) -> str:
    """The fingerprint of a prediction file's rows; "unreadable" if it cannot be read."""
    try:
        return rows_fingerprint(read_rows(path))
    except UsageError:
        return "unreadable"


def _values(path: Path) -> Iterator[tuple[int, int | None, Any]]:
    """Each value with its number, from 1, and its line if the file is JSON Lines."""
    if path.is_dir() or path.suffix.lower() == ".csv":
        what = "is a folder" if path.is_dir() else "is a table"
        raise UsageError(f"{what}, not a JSON array or JSON Lines", file=path, fix=_MAKE)
    if _holds_array(path):
        for number, value in enumerate(read_json(path), start=1):
            yield number, None, value
        return
    fix = "run inference.py first, or check the path"
    for number, (line, value) in enumerate(read_json_lines(path, fix=fix), start=1):
        yield number, line, value


def _holds_array(path: Path) -> bool:
    """Whether the file starts with a bracket. For an unreadable file False: reading it then raises the
    error.
    """
    try:
        with open_regular(path, "r", encoding="utf-8-sig", errors="replace") as stream:
            return next((text for line in stream if (text := line.strip())), "").startswith("[")
    except OSError:
        return False


_Name = Annotated[str, msgspec.Meta(min_length=1)]
_Whole = Annotated[float, msgspec.Meta(ge=0, lt=10**9, multiple_of=1)]  # 2.0, as pandas writes it, is 2
_Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e15)]  # larger ones overflow in sums of squares


class _Line(msgspec.Struct):
    """A row as it is written."""

    conversation_uuid: _Name
    request_idx: _Whole
    trial_idx: _Whole
    domain_uuid: _Name
    y_workflow_uuids: tuple[_Name, ...]
    pred_workflow_uuid: str | None
    time_to_pred: _Amount | None = None
    tokens_input: _Amount | None = None
    tokens_output: _Amount | None = None
    cost: _Amount | None = None
    time_to_first_token: _Amount | None = None
    outcome: Outcome = ANSWERED
    error: Any = None
    order: Any = None


def row_of(value: Any) -> PredictionRow:
    """Parse one row of a prediction file.

    Raises:
        ValueError: the value is not an object, or a key is missing or has a wrong value.

    >>> row_of({"conversation_uuid": "c", "request_idx": 0, "trial_idx": 0, "domain_uuid": "it",
    ...     "y_workflow_uuids": ["vpn"], "pred_workflow_uuid": None}).labels
    ('vpn',)
    """
    if not isinstance(value, Mapping):
        raise ValueError("is not a JSON object")
    unknown = [name for name, found in value.items() if isinstance(found, float) and math.isnan(found)]
    nothing = {name: "" if name == "pred_workflow_uuid" else None for name in unknown}
    try:
        line = msgspec.convert({**value, **nothing}, _Line)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ValueError(str(error)) from None
    return PredictionRow(
        line.conversation_uuid,
        int(line.request_idx),
        int(line.trial_idx),
        line.domain_uuid,
        line.y_workflow_uuids,
        line.pred_workflow_uuid,
        line.time_to_pred,
        line.tokens_input,
        line.tokens_output,
        line.cost,
        line.time_to_first_token,
        line.outcome,
        str(line.error or ""),
        "" if line.order is None else str(line.order),
    )


def _unknown(row: PredictionRow, examples: Mapping[tuple[str, int], Example]) -> str:
    """Why a row belongs to no message of the data; empty if it does.

    Raises:
        ValueError: it belongs to a message of another domain.
    """
    example = examples.get(row.input)
    if example is None:
        return f"the data has no message {row.request} of a conversation {row.conversation!r}"
    if example.domain != row.domain:
        raise ValueError(
            f"the conversation {row.conversation!r} belongs to {example.domain!r}, not to {row.domain!r}"
        )
    return ""


def _wrong(path: Path, number: int, line: int | None, problem: str) -> UsageError:
    where = line if line is not None else line_of_item(path, None, number)
    return UsageError(f"row {number}: {problem}", file=path, line=where, fix=_FIX)
