"""Runs an agent on a CLASSic folder; it chooses a workflow for each message."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import ClassicInference, agent_of, entry_of
from toolassay.benchmarks.classic.agents.model_requests import CostOf, unknown_cost
from toolassay.benchmarks.classic.agents.predictions import (
    prediction_rows,
    reparse_entry,
    write_predictions,
)
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.agents.workflow_choice import Agent
from toolassay.benchmarks.classic.data import Example, Question, read_data
from toolassay.benchmarks.classic.options import ChatOptions
from toolassay.benchmarks.classic.security import ChatProber
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.verification import RecordedRun
from toolassay.models import ChatModel
from toolassay.runs import Journal
from toolassay.runs.budget import Estimate
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.retry_malformed import RetryPlan
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import number_of
from toolassay.runs.work import OpenRun, Work, WorkFacts, Written, chosen_items
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


@dataclass(frozen=True)
class ChatItems:
    """The work on single questions (`ItemWork`).

    Attributes:
        settings: of the agent.
        trial: number of the trial.
        parameters: of the requests.
        cost_of: computes the cost of an answer.
    """

    settings: ClassicAgentSettings
    trial: int
    parameters: Mapping[str, Any]
    cost_of: CostOf

    def key_of(self, item: Question) -> str:
        """The key of a question."""
        return item.id

    def inference(self, questions: Sequence[Question], agent: Agent) -> ClassicInference:
        """The agent on some questions."""
        order = self.settings.order
        return ClassicInference(
            questions, agent, order=order, parameters=self.parameters, cost_of=self.cost_of
        )

    def answering(self, model: ChatModel, helpers: Mapping[str, ChatModel]) -> Callable[..., int]:
        """Create the agent."""
        agent = agent_of(self.settings, self.trial)
        return lambda questions, journal, loop: self.inference(questions, agent).run(model, journal, loop)


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

    @property
    def items(self) -> ChatItems:
        """The work on single questions.

        Raises:
            UsageError: the agent asks no model.
        """
        if not self._asks:
            raise UsageError("--agent recorded asks no model", fix="omit --engine")
        return self._items(_no_cost)

    def _items(self, cost: CostOf) -> ChatItems:
        return ChatItems(self._settings, self._trial, self._run.model.parameters, cost)

    @property
    def _inference(self) -> ClassicInference:
        items = self._items(self._run.cost_of if self._asks else unknown_cost)
        return items.inference([example.question for example in self._chosen], self._agent)

    def run(self, run: OpenRun) -> int:
        """Run the agent on the messages without a choice."""
        return self._inference.run(run.model, run.journal, run.loop)

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

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add the first request of each message without a choice; returns the number of the others."""
        return self._inference.preview(journal, estimate, retry)


def chat_prober(folder: DataFolder, run: RunSettings, own: ChatOptions, count: int | None) -> ChatProber:
    """The probes of a folder: chats with a planted text.

    Raises:
        UsageError: files missing or malformed.
    """
    return ChatProber(
        folder.path,
        read_data(folder.path),
        agent_settings(run, own),
        parameters=run.model.parameters,
        count=count,
        cost_of=run.cost_of,
    )


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
    agent = agent_of(ClassicAgentSettings(name, order))

    def remake(example: Example) -> Mapping[str, Any] | None:
        entry = entry_of(recorded.journal, example.question)
        return run_coroutine(reparse_entry(example.question, agent, order, entry)) if entry else None

    with recorded.remade_journal(examples, remake, content="answers") as remade:
        yield from prediction_rows(examples, remade, trial=trial, order=order, free=recorded.llm in FREE)


def _no_cost(*answer: object) -> float:
    """The cost of an answer of a built-in model, which works where it may run on any engine."""
    return 0.0
