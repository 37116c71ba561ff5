"""Runs an agent on a CLASSic folder; it chooses a workflow for each message."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import (
    ChatItems,
    agent_of,
    entry_of,
    prediction_rows,
    write_predictions,
)
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.agents.workflow_choice import unknown_cost
from toolassay.benchmarks.classic.data import Example, Question, read_data
from toolassay.benchmarks.classic.options import ChatOptions
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.verification import RecordedRun
from toolassay.models import ModelError
from toolassay.runs import Journal
from toolassay.runs.items import ENDED, replay_item
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import number_of
from toolassay.runs.work import Work, WorkFacts, Written, chosen_items
from toolassay.screen import WARNING


def agent_settings(run: RunSettings, own: ChatOptions) -> ClassicAgentSettings:
    """How the agent of a run chooses.

    Raises:
        UsageError: an unknown choice, or settings that do not go together.
    """
    return ClassicAgentSettings.of(
        run.model.llm,
        own.agent,
        order=own.order or "table",
        max_tokens=run.model.max_tokens,
        recorded=own.recorded,
        none_as=tuple(own.none_as) or ("none",),
        structured=run.model.structured,
    )


class ChatWork(Work):
    """Messages for each of which an agent chooses a workflow, or none.

    Args:
        folder: the data.
        run: model, limits and choices.
        own: the options.
        trial: number of the trial.

    Raises:
        UsageError: files missing or malformed, or options that do not fit.
    """

    def __init__(self, folder: DataFolder, run: RunSettings, own: ChatOptions, trial: int) -> None:
        self._folder, self._run, self._trial = folder, run, trial
        self._settings = settings = agent_settings(run, own)
        self._data = read_data(folder.path)
        self._chosen = chosen_items(
            self._data.examples, run.choices.chosen_ids, run.choices.limit, noun="message"
        )
        self._asks = settings.agent != "recorded"
        if not self._asks:
            for flag, given in (
                ("retry_malformed", run.choices.retry_malformed),
                ("dry_run", run.choices.dry_run),
            ):
                if given:
                    raise UsageError("--agent recorded asks no model", fix=f"leave --{flag} out")
        self._agent = agent_of(settings, trial)
        if isinstance(self._agent, RecordedAnswers):
            ids = {example.id for example in self._data.examples}
            for notice in self._agent.notices(ids, {example.id for example in self._chosen}):
                run.screen.say(f"{WARNING}{notice}")

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one message."""
        settings = {
            "benchmark": "classic",
            **(self._run.model.parameters if self._asks else {}),
            **self._settings.facts,
            "prompt_sha256": hashlib.sha256(self._agent.wording.encode()).hexdigest(),
        }
        return WorkFacts(
            "message",
            settings,
            {"max_tokens": self._settings.limit},
            len(self._data.examples),
            len(self._chosen),
            hashes(*sorted(self._folder.path.glob("*.csv"))),
            asks=self._asks,
            not_counted="; further groups of a long list of functions",
        )

    def check_engine(self) -> None:
        """Refuse an engine where no model is asked.

        Raises:
            UsageError: the agent asks no model.
        """
        if not self._asks:
            raise UsageError("--agent recorded asks no model", fix="omit --engine")

    @property
    def items(self) -> ChatItems:
        """The work on single questions; a built-in model costs nothing, on whatever engine."""
        free = not self._asks or self._run.model.llm in FREE
        cost = unknown_cost if not self._asks else _no_cost if free else self._run.cost_of
        return ChatItems(self._settings, self._run.model.parameters, cost, self._trial)

    @property
    def chosen(self) -> list[Question]:
        """The questions of this start."""
        return [example.question for example in self._chosen]

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one row per message with a choice."""

        def rows() -> Iterator[Mapping[str, Any]]:
            return prediction_rows(
                self._data.examples,
                journal,
                trial=self._trial,
                order=self._settings.order,
                free=self._asks and self._run.model.llm in FREE,
            )

        return Written(write_predictions(output, rows))


def reparsed_rows(recorded: RecordedRun) -> Iterator[dict[str, Any]]:
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
        yield from prediction_rows(examples, recorded.journal, trial=trial, order=order, free=False)
        return
    work = ChatItems(ClassicAgentSettings(name, order), {}).ready()

    def remake(example: Example) -> Mapping[str, Any] | None:
        entry = entry_of(recorded.journal, example.question)
        if entry.get("outcome") not in ENDED:
            return entry or None
        try:
            made, _ = replay_item(work, example.question, recorded.journal)
        except ModelError as error:
            return {**entry, "workflow": None, "outcome": "not run", "error": str(error)}
        return {**entry, **made, "answers": entry["answers"]}

    with recorded.remade_journal(examples, remake, content="answers") as remade:
        yield from prediction_rows(examples, remade, trial=trial, order=order, free=recorded.llm in FREE)


def _no_cost(*answer: object) -> float:
    """The cost of an answer of a built-in model, which works where it may run on any engine."""
    return 0.0
