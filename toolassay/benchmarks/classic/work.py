"""Runs an agent on a CLASSic folder; it chooses a workflow for each message."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from toolassay.benchmarks.classic.agents.choice import (
    WorkflowChoice,
    find_name,
    malformed,
    normalised_name,
)
from toolassay.benchmarks.classic.agents.inference import (
    OFFLINE,
    ChatItems,
    ChoiceAnswer,
    ClassicAgentSettings,
    QuestionEntry,
    QuestionItems,
    entry_of,
    prediction_rows,
)
from toolassay.benchmarks.classic.benchmark import ChatOptions
from toolassay.benchmarks.classic.data import ClassicData, Example, Question, read_data
from toolassay.benchmarks.classic.scoring.prediction_rows import Amount, RowPlace, Whole, json_rows
from toolassay.benchmarks.csv_tables import read_table
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.verification import LineComparison, RecordedRun
from toolassay.files import write_json_lines
from toolassay.models import ChatResponse, ModelError
from toolassay.runs import Journal
from toolassay.runs.items import ENDED, Ask, replay_item
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import number_of
from toolassay.runs.work import Work, WorkFacts, Written, chosen_items
from toolassay.screen import WARNING

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
        for place, row in _rows(path):
            try:
                known = _renamed(row) if isinstance(row, Mapping) else row
                record = msgspec.convert(known, RecordedAnswer, strict=False)
            except msgspec.ValidationError as error:
                raise place.error(str(error), _FIX) from None
            if record.trial_idx in (None, trial):
                if record.question in records:
                    raise place.error(f"a second answer to {record.question!r}", "remove one of them")
                records[record.question] = place, record
        return cls(path, {normalised_name(text) for text in none_as}, records)

    def notices(self, known: Collection[str], asked: Collection[str]) -> Iterator[str]:
        """Notices about rows that do not match the data.

        Args:
            known: the ids of all messages.
            asked: the ids of the messages in this run.
        """
        if strange := [key for key in self.records if key not in known]:
            others = f" (and {len(strange) - 1} more such rows)" if len(strange) > 1 else ""
            place, _ = self.records[strange[0]]
            yield str(place.error(f"ignored, because the data has no message {strange[0]!r}{others}"))
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
        said = record.workflow or ""
        if normalised_name(said) in self.none or (not said and record.outcome == "answered"):
            return WorkflowChoice(None)
        if not said.strip():
            return malformed("the recorded answer is empty")
        if said in {workflow.id for workflow in question.candidates}:
            return WorkflowChoice(said)
        match = find_name(said, question.candidates, _NO_NAME)
        if match.workflow is None:
            return malformed(f"names what was not offered: {said[:100]!r}")
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
    found = dict(row)
    for name, other in reversed(_ALIASES.items()):
        if name not in found and other in found:
            found[name] = found[other]
    return {name: value for name, value in found.items() if value is not None or name == "workflow"}


def agent_settings(run: RunSettings, own: ChatOptions) -> ClassicAgentSettings:
    """How the agent of a run chooses. Default agent: `cot`, for the offline model `retrieval`.

    Raises:
        UsageError: an unknown choice, or settings that do not go together.
    """
    is_offline = run.model.llm == OFFLINE
    agent = own.agent or ("retrieval" if is_offline else "cot")
    if agent == "retrieval" and not is_offline:
        raise UsageError("--agent retrieval needs no model", fix="give --llm offline")
    return ClassicAgentSettings(
        agent,
        order=own.order or "table",
        max_tokens=run.model.max_tokens,
        recorded=own.recorded,
        none_as=tuple(own.none_as) or ("none",),
        structured=run.model.structured,
    )


@dataclass
class ChatWork(Work):
    """Messages for each of which an agent chooses a workflow, or none.

    Attributes:
        folder: the data.
        run_settings: model, limits and choices.
        settings: of the agent.
        data: of the folder.
        examples: the messages of this start.
        agent: the work on single messages.
        trial: number of the trial.
    """

    folder: DataFolder
    run_settings: RunSettings
    settings: ClassicAgentSettings
    data: ClassicData
    examples: Sequence[Example]
    agent: ChatItems | RecordedAnswers
    trial: int = 0

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one message."""
        asks = self.settings.recorded is None
        settings = {
            "benchmark": "classic",
            **(self.run_settings.model.parameters if asks else {}),
            **self.settings.facts,
            "prompt_sha256": hashlib.sha256(self.agent.wording.encode()).hexdigest(),
        }
        return WorkFacts(
            "message",
            settings,
            {"max_tokens": self.settings.limit},
            len(self.data.examples),
            len(self.examples),
            hashes(*sorted(self.folder.path.glob("*.csv"))),
            asks=asks,
            not_counted="; further groups of a long list of functions",
        )

    def check_engine(self) -> None:
        """Refuse an engine where no model is asked.

        Raises:
            UsageError: the agent asks no model.
        """
        if self.settings.recorded is not None:
            raise UsageError("--agent recorded asks no model", fix="omit --engine")

    @property
    def items(self) -> ChatItems | RecordedAnswers:
        """The work on single questions."""
        return self.agent

    @property
    def chosen(self) -> list[Question]:
        """The questions of this start."""
        return [example.question for example in self.examples]

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one row per message with a choice."""
        rows = prediction_rows(
            self.data.examples,
            partial(entry_of, journal),
            trial=self.trial,
            order=self.settings.order,
            free=self.settings.recorded is None and self.run_settings.model.llm in FREE,
        )
        if (first := next(rows, None)) is None:
            return Written(0)  # no file if no question was sent
        return Written(write_json_lines(output, chain([first], rows)))


def chat_work(folder: DataFolder, run: RunSettings, own: ChatOptions, trial: int) -> ChatWork:
    """The work of a run on a folder.

    Raises:
        UsageError: files missing or malformed, or options that do not fit.
    """
    settings, data, choices = agent_settings(run, own), read_data(folder.path), run.choices
    chosen = chosen_items(data.examples, choices.chosen_ids, choices.limit, noun="message")
    agent: ChatItems | RecordedAnswers
    if settings.recorded is None:
        # A built-in model costs nothing, on whatever engine.
        cost_of = _no_cost if run.model.llm in FREE else run.cost_of
        agent = ChatItems(settings, run.model.parameters, cost_of)
    else:
        for flag in ("retry_malformed", "dry_run"):
            if getattr(choices, flag):
                raise UsageError("--agent recorded asks no model", fix=f"leave --{flag} out")
        agent = RecordedAnswers.read(settings.recorded, settings.none_as, trial)
        ids = {example.id for example in data.examples}
        for notice in agent.notices(ids, {example.id for example in chosen}):
            run.screen.say(f"{WARNING}{notice}")
    return ChatWork(folder, run, settings, data, chosen, agent, trial)


def reparsed_rows(recorded: RecordedRun, own: Any, comparison: LineComparison) -> Iterator[dict[str, Any]]:
    """The rows of a prediction file, made of the raw answers in the journal.

    Raises:
        UsageError: there is no manifest, or an entry of the journal cannot be read.
    """
    settings = recorded.settings
    name, order = str(settings.get("agent", "cot")), str(settings.get("order", "table"))
    examples = read_data(recorded.folder.path).examples
    trial = number_of(recorded.run_folder.parent.parent)
    if name == "recorded":
        recorded.screen.say("recorded answers are taken as the journal has them")
    work = ChatItems(ClassicAgentSettings("cot" if name == "recorded" else name, order), {})
    with recorded.screen.progress("read", len(examples)) as advance:

        def remade(question: Question) -> QuestionEntry:
            advance()
            entry = entry_of(recorded.journal, question)
            if name == "recorded" or entry.outcome not in ENDED:
                return entry
            try:
                made, _ = replay_item(work, question, recorded.journal)
            except ModelError as error:
                return msgspec.structs.replace(entry, workflow=None, outcome="not run", error=str(error))
            return QuestionEntry(**{**msgspec.structs.asdict(made), "answers": entry.answers})

        free = name != "recorded" and recorded.llm in FREE
        yield from prediction_rows(examples, remade, trial=trial, order=order, free=free)


def _no_cost(*answer: object) -> float:
    """The cost of an answer of a built-in model, which works where it may run on any engine."""
    return 0.0
