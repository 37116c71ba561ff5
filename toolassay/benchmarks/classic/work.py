"""Runs an agent on a CLASSic folder; it chooses a workflow for each message."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.classic.agents.inference import (
    OFFLINE,
    ChatItems,
    ClassicAgentSettings,
    QuestionEntry,
    entry_of,
    prediction_rows,
)
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.benchmark import ChatOptions
from toolassay.benchmarks.classic.data import ClassicData, Example, Question, read_data
from toolassay.console.screen import WARNING
from toolassay.errors import UsageError
from toolassay.evaluation.verification import LineComparison, RecordedRun
from toolassay.files.data_files import write_json_lines
from toolassay.models import ModelError
from toolassay.records.data_folder import DataFolder
from toolassay.runs.items import ENDED, replay_item
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import number_of
from toolassay.runs.work import Work, WorkFacts, Written, chosen_items


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
    settings = agent_settings(run, own)
    data = read_data(folder.path)
    choices = run.choices
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
    name = str(settings.get("agent", "cot"))
    order = str(settings.get("order", "table"))
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
                replayed, _ = replay_item(work, question, recorded.journal)
            except ModelError as error:
                return msgspec.structs.replace(entry, workflow=None, outcome="not run", error=str(error))
            return QuestionEntry(**{**msgspec.structs.asdict(replayed), "answers": entry.answers})

        free = name != "recorded" and recorded.llm in FREE
        yield from prediction_rows(examples, remade, trial=trial, order=order, free=free)


def _no_cost(*answer: object) -> float:
    """The cost of an answer of a built-in model, which works where it may run on any engine."""
    return 0.0
