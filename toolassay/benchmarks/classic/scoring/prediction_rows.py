"""Prediction rows: an agent's answer to one user message in one trial, read from a prediction file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import holds_list, line_of_item, read_json, read_json_lines

ANSWERED: Final = "answered"
MALFORMED: Final = "malformed"
NOT_RUN: Final = "not run"
Outcome = Literal[
    "answered", "malformed", "refused", "context overflow", "provider error", "budget stop", "not run"
]


_Name = Annotated[str, msgspec.Meta(min_length=1)]
Whole = Annotated[int, msgspec.Meta(ge=0, lt=10**9)]
Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e15)]  # larger ones overflow in sums of squares
_COLUMNS = {
    "conversation": "conversation_uuid",
    "request": "request_idx",
    "trial": "trial_idx",
    "domain": "domain_uuid",
    "labels": "y_workflow_uuids",
    "prediction": "pred_workflow_uuid",
    "seconds": "time_to_pred",
    "first_token_seconds": "time_to_first_token",
}


class PredictionRow(msgspec.Struct, frozen=True, rename=_COLUMNS):
    """One answer, as in a prediction file, whose names of the fields are those of `_COLUMNS`.

    Attributes:
        conversation: its id.
        request: the position of the user message among those of its chat, from 0.
        trial: the number of the trial.
        domain: its id.
        labels: ids of the correct workflows, the primary one first; empty if no workflow is correct.
        prediction: the chosen workflow. None means no workflow; an empty string (or NaN) is neither a
            workflow nor the choice of none.
        seconds: of the answer; None if unknown, as for the following fields.
        tokens_input: prompt tokens.
        tokens_output: completion tokens.
        cost: in US dollars.
        first_token_seconds: until the first token of the answer.
        outcome: of the request.
        error: the error message; may be empty.
        order: of the candidates in the list that the agent saw; empty if unknown.
    """

    conversation: _Name
    request: Whole
    trial: Whole
    domain: _Name
    labels: tuple[_Name, ...]
    prediction: str | None
    seconds: Amount | None = None
    tokens_input: Amount | None = None
    tokens_output: Amount | None = None
    cost: Amount | None = None
    first_token_seconds: Amount | None = None
    outcome: Outcome = ANSWERED
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


def read_rows(path: Path, data: ClassicData | None = None) -> list[PredictionRow]:
    """Read the rows of a prediction file, sorted by conversation, message and trial.

    Args:
        path: a JSON array, or JSON Lines; a missing number may be null or NaN.
        data: the data that the rows must belong to; None accepts rows of any.

    Raises:
        UsageError: the file does not exist, or a row (given by number and line) is malformed, is a duplicate,
            or belongs to a message that is not in the data.
    """
    examples = None if data is None else {(e.conversation, e.request_idx): e for e in data.examples}
    make = f"give a file written by {as_called('infer')}: predictions/<llm>.json"
    correct = f"correct the row, or write the file with {as_called('infer')}"
    rows: list[PredictionRow] = []
    seen: set[tuple[str, int, int, str]] = set()
    if path.is_dir() or path.suffix.lower() == ".csv":
        what = "is a folder" if path.is_dir() else "is a table"
        raise UsageError(f"{what}, not a JSON array or JSON Lines", file=path, fix=make)
    for location, value in json_rows(path, fix=f"run {as_called('infer')} first, or check the path"):
        try:
            row = row_of(value)
            if row.sorting in seen:
                raise ValueError(
                    f"answers message {row.request} of {row.conversation!r} in trial {row.trial} again"
                )
            if examples is not None:
                name = repr(row.conversation)
                example = examples.get(row.input)
                if example is None:
                    raise ValueError(f"the data has no message {row.request} of a conversation {name}")
                if example.domain != row.domain:
                    raise ValueError(
                        f"the conversation {name} belongs to {example.domain!r}, not to {row.domain!r}"
                    )
        except ValueError as error:
            raise location.error(f"row {location.number}: {error}", correct) from None
        seen.add(row.sorting)
        rows.append(row)
    if not rows:
        raise UsageError("no rows", file=path, fix=make)
    return sorted(rows, key=lambda row: row.sorting)


def rows_fingerprint(rows: Iterable[PredictionRow]) -> str:
    """The SHA-256 of rows, independent of their order and of the file format, as hexadecimal digits."""
    digest = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row.sorting):
        digest.update(json.dumps(msgspec.structs.astuple(row)).encode() + b"\n")
    return digest.hexdigest()


def rows_fingerprint_of(path: Path) -> str:
    """The fingerprint of a prediction file's rows; "unreadable" if it cannot be read."""
    try:
        return rows_fingerprint(read_rows(path))
    except UsageError:
        return "unreadable"


class RowPlace(NamedTuple):
    """Where a row is: its file, its number in it (from 1), and its line if the file is JSON Lines."""

    file: Path
    number: int
    line: int | None

    def error(self, problem: str, fix: str | None = None) -> UsageError:
        """An error message that names this row."""
        line = self.line or line_of_item(self.file, None, self.number)
        return UsageError(problem, file=self.file, line=line, fix=fix)


def json_rows(path: Path, *, fix: str) -> Iterator[tuple[RowPlace, Any]]:
    """The values of a JSON array or of JSON Lines, each with its place.

    Args:
        path: the file.
        fix: the fix in the error message if the file does not exist.

    Raises:
        UsageError: the file does not exist or is not JSON.
    """
    values = (
        ((None, value) for value in read_json(path)) if holds_list(path) else read_json_lines(path, fix=fix)
    )
    for number, (line, value) in enumerate(values, start=1):
        yield RowPlace(path, number, line), value


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
    known = {name: cell for name, cell in value.items() if cell is not None and cell == cell}  # no NaN
    if "pred_workflow_uuid" in value.keys() - known.keys():
        known["pred_workflow_uuid"] = None if value["pred_workflow_uuid"] is None else ""
    try:
        return msgspec.convert(known, PredictionRow, strict=False)
    except (msgspec.ValidationError, OverflowError) as error:
        raise ValueError(str(error)) from None
