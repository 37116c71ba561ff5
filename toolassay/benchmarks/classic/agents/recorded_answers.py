"""The agent `recorded`: replays answers from a table or a JSON file without any request."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.workflow_choice import (
    QuestionRequests,
    WorkflowChoice,
    find_name,
    malformed,
    normalised_name,
)
from toolassay.benchmarks.classic.data import Question, read_table
from toolassay.errors import UsageError
from toolassay.files import holds_list, line_of_item, read_json, read_json_lines
from toolassay.models import ChatResponse

_NAMES = {
    "conversation": ("conversation_uuid", "conversation_id"),
    "place": ("request_idx",),
    "workflow": ("workflow", "workflow_uuid", "pred_workflow_uuid"),
    "seconds": ("time_to_pred", "latency"),
    "prompt_tokens": ("tokens_input",),
    "completion_tokens": ("tokens_output",),
    "cost": ("cost",),
    "trial": ("trial_idx",),
    "outcome": ("outcome",),
}
_NEEDED = ("conversation", "place", "workflow")
_FIX = "give it conversation_uuid, request_idx and workflow (an id or a name)"
_NO_NAME = "\0"


@dataclass(frozen=True)
class _Record:
    said: str
    response: ChatResponse
    cost: float | None


class RecordedAnswers:
    """Answers of a CSV table or a JSON file (an array, or JSON Lines), by conversation and message.

    Columns: `conversation_uuid`, `request_idx` (from 0) and `workflow` (an id or a name); optionally
    `time_to_pred` (s), `tokens_input`, `tokens_output`, `cost` (USD) and `trial_idx` (default 0). Toolassay's
    prediction files have this form. A question without a row counts as not run.

    Args:
        path: the file.
        none_as: cells in the column `workflow` that mean no workflow, e.g. `none`; an empty string means an
            empty cell. Otherwise an empty cell is an unreadable answer, unless the column `outcome` says
            `answered`.
        trial: the trial whose rows are used.

    Raises:
        UsageError: the file does not exist or is malformed (with the line).
    """

    wording = "recorded"

    def __init__(self, path: Path, none_as: Sequence[str] = ("none",), trial: int = 0) -> None:
        self._none = {normalised_name(text) for text in none_as}
        self._path = path
        self._records: dict[str, _Record] = {}
        self._lines: dict[str, int | None] = {}
        for number, row in _rows(path):
            try:
                if _whole(row.get("trial")) not in (None, trial):
                    continue
                key, record = _read(row)
            except (ValueError, TypeError, OverflowError):
                raise UsageError("is not a recorded answer", file=path, line=number, fix=_FIX) from None
            if key in self._records:
                raise UsageError(
                    f"a second answer to {key!r}", file=path, line=number, fix="remove one of them"
                )
            self._records[key], self._lines[key] = record, number

    def notices(self, known: Collection[str], asked: Collection[str]) -> Iterator[str]:
        """Notices about rows that do not match the data.

        Args:
            known: the ids of all messages.
            asked: the ids of the messages in this run.
        """
        if strange := [key for key in self._records if key not in known]:
            line = self._lines[strange[0]]
            place = f"{self._path}:{line}" if line is not None else f"{self._path}"
            others = f" (and {len(strange) - 1} more such rows)" if len(strange) > 1 else ""
            yield f"{place}: ignored, because the data has no message {strange[0]!r}{others}"
        if missing := sum(key not in self._records for key in asked):
            yield f"{self._path} has no answer to {missing} of {len(asked)} messages: they count as not run"

    async def choose(self, question: Question, ask: QuestionRequests) -> WorkflowChoice:
        """The recorded choice."""
        record = self._records.get(question.id)
        if record is None:
            return WorkflowChoice(None, "not run", error="no recorded answer")
        ask.keep(record.response, record.cost)
        if record.said == _NO_NAME or normalised_name(record.said) in self._none:
            return WorkflowChoice(None)
        if not record.said.strip():
            return malformed("the recorded answer is empty")
        for workflow in question.candidates:
            if workflow.id == record.said:
                return WorkflowChoice(workflow.id)
        match = find_name(record.said, question.candidates, _NO_NAME)
        if match.workflow is None:
            return malformed(f"names what was not offered: {record.said[:100]!r}")
        return WorkflowChoice(match.workflow.id, note=match.note)


def _rows(path: Path) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """The rows of a file under our column names, each with its line."""
    if path.suffix.lower() == ".csv":
        for row in read_table(path, (), fix="check --recorded"):
            yield row.line, _renamed(row.cells, path, row.line)
        return
    if holds_list(path):
        values = (
            (line_of_item(path, None, number), value) for number, value in enumerate(read_json(path), 1)
        )
    else:
        values = ((line, value) for line, value in read_json_lines(path, fix="check --recorded"))
    for line, value in values:
        if not isinstance(value, dict):
            raise UsageError("is not a JSON object", file=path, line=line, fix=_FIX)
        yield line, _renamed(value, path, line)


def _renamed(row: Mapping[str, Any], path: Path, line: int | None) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for ours, theirs in _NAMES.items():
        given = next((name for name in theirs if name in row), None)
        if given is not None:
            found[ours] = row[given]
        elif ours in _NEEDED:
            raise UsageError(f"has no {theirs[0]!r}", file=path, line=line, fix=_FIX)
    return found


def _read(row: Mapping[str, Any]) -> tuple[str, _Record]:
    """The id of the question and the recorded answer.

    Raises:
        ValueError, TypeError: the row is malformed.
    """
    place, said = _whole(row["place"]), row["workflow"]
    if place is None or place < 0 or not str(row["conversation"] or ""):
        raise ValueError
    if said is not None and not isinstance(said, str):
        raise TypeError
    said = said or ""
    if not said and row.get("outcome") == "answered":
        said = _NO_NAME
    response = ChatResponse(
        said.strip(_NO_NAME),
        prompt_tokens=_whole(row.get("prompt_tokens")),
        completion_tokens=_whole(row.get("completion_tokens")),
        seconds=_number(row.get("seconds")),
    )
    return f"{row['conversation']}--{2 * place}", _Record(said, response, _number(row.get("cost")))


def _number(value: Any, missing: Collection[Any] = (None, "")) -> float | None:
    """A number that is not negative; None for an empty cell."""
    if value in missing:
        return None
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise ValueError
    return number


def _whole(value: Any) -> int | None:
    number = _number(value)
    if number is not None and not number.is_integer():
        raise ValueError
    return None if number is None else int(number)
