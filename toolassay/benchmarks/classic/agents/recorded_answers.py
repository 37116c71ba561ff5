"""The agent `recorded`: replays answers from a table or a JSON file without any request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from toolassay.benchmarks.classic.agents.choice import (
    WorkflowChoice,
    find_name,
    malformed,
    normalised_name,
)
from toolassay.benchmarks.classic.agents.inference import ChoiceAnswer, QuestionEntry, QuestionItems
from toolassay.benchmarks.classic.data import Question
from toolassay.benchmarks.classic.scoring.prediction_rows import Amount, RowPlace, Whole, json_rows
from toolassay.benchmarks.csv_tables import read_table
from toolassay.models import ChatResponse
from toolassay.runs.items import Ask

_ALIASES = {
    "conversation_uuid": "conversation_id",
    "workflow": "workflow_uuid",
    "workflow_uuid": "pred_workflow_uuid",
    "time_to_pred": "latency",
}
"""Other names of columns, each for the case that the first is absent."""
_FIX = "give it conversation_uuid, request_idx and workflow (an id or a name)"
_NO_NAME = "\0"


class RecordedAnswer(msgspec.Struct, frozen=True):
    """A row of recorded answers."""

    conversation_uuid: str | int
    request_idx: Whole
    workflow: str | None
    time_to_pred: Amount | None = None
    tokens_input: Whole | None = None
    tokens_output: Whole | None = None
    cost: Amount | None = None
    trial_idx: Whole | None = None
    outcome: str = ""

    @property
    def question(self) -> str:
        """The id of the question."""
        return f"{self.conversation_uuid}--{2 * self.request_idx}"


@dataclass(frozen=True)
class RecordedAnswers(QuestionItems):
    """Single questions that recorded answers settle. A question without a row counts as not run.

    Attributes:
        path: of the file.
        none: names that mean no workflow; an empty one means an empty cell. Otherwise an empty cell is an
            unreadable answer, unless the column `outcome` says `answered`.
        records: the rows of one trial with their places, by the id of the question.
    """

    path: Path
    none: Collection[str]
    records: Mapping[str, tuple[RowPlace, RecordedAnswer]]

    wording: ClassVar[str] = "recorded"

    @classmethod
    def read(cls, path: Path, none_as: Sequence[str] = ("none",), trial: int = 0) -> RecordedAnswers:
        """Read a CSV table or a JSON file (an array, or JSON Lines).

        Columns: `conversation_uuid`, `request_idx` (from 0) and `workflow` (an id or a name); optionally
        `time_to_pred` (s), `tokens_input`, `tokens_output`, `cost` (USD) and `trial_idx` (default 0).
        Toolassay's prediction files have this form.

        Args:
            path: the file.
            none_as: cells in the column `workflow` that mean no workflow.
            trial: the trial whose rows are used.

        Raises:
            UsageError: the file does not exist or is malformed (with the line).
        """
        records: dict[str, tuple[RowPlace, RecordedAnswer]] = {}
        for location, row in _rows(path):
            try:
                known = _renamed(row) if isinstance(row, Mapping) else row
                record = msgspec.convert(known, RecordedAnswer, strict=False)
            except msgspec.ValidationError as error:
                raise location.error(str(error), _FIX) from None
            if record.trial_idx in (None, trial):
                if record.question in records:
                    raise location.error(f"a second answer to {record.question!r}", "remove one of them")
                records[record.question] = location, record
        return cls(path, {normalised_name(text) for text in none_as}, records)

    def notices(self, known: Collection[str], asked: Collection[str]) -> Iterator[str]:
        """Notices about rows that do not match the data.

        Args:
            known: the ids of all messages.
            asked: the ids of the messages in this run.
        """
        if strange := [key for key in self.records if key not in known]:
            others = f" (and {len(strange) - 1} more such rows)" if len(strange) > 1 else ""
            location, _ = self.records[strange[0]]
            yield str(location.error(f"ignored, because the data has no message {strange[0]!r}{others}"))
        if missing := sum(key not in self.records for key in asked):
            yield f"{self.path} has no answer to {missing} of {len(asked)} messages: they count as not run"

    async def answer(self, item: Question, ask: Ask) -> QuestionEntry:
        """The recorded choice."""
        if item.id not in self.records:
            return QuestionEntry(outcome="not run", error="no recorded answer")
        _, record = self.records[item.id]
        response = ChatResponse(
            record.workflow or "",
            prompt_tokens=record.tokens_input,
            completion_tokens=record.tokens_output,
            seconds=record.time_to_pred,
        )
        answers = [ChoiceAnswer.of(response, record.cost)]
        return QuestionEntry(**asdict(self._choice(record, item)), answers=answers)

    def _choice(self, record: RecordedAnswer, question: Question) -> WorkflowChoice:
        recorded = record.workflow or ""
        if normalised_name(recorded) in self.none or (not recorded and record.outcome == "answered"):
            return WorkflowChoice(None)
        if not recorded.strip():
            return malformed("the recorded answer is empty")
        if recorded in {workflow.id for workflow in question.candidates}:
            return WorkflowChoice(recorded)
        match = find_name(recorded, question.candidates, _NO_NAME)
        if match.workflow is None:
            return malformed(f"names what was not offered: {recorded[:100]!r}")
        return WorkflowChoice(match.workflow.id, note=match.note)


def _rows(path: Path) -> Iterator[tuple[RowPlace, Any]]:
    """The rows of a file, each with its place; an empty cell of a table is null."""
    if path.suffix.lower() != ".csv":
        return json_rows(path, fix="check --recorded")
    table = enumerate(read_table(path, (), fix="check --recorded"), start=1)
    return (
        (RowPlace(path, number, row.line), {name: cell or None for name, cell in row.cells.items()})
        for number, row in table
    )


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row under our names, without missing values; a workflow that is null stays."""
    renamed = dict(row)
    for name, other in reversed(_ALIASES.items()):
        if name not in renamed and other in renamed:
            renamed[name] = renamed[other]
    return {name: value for name, value in renamed.items() if value is not None or name == "workflow"}
