"""Runs an agent of the user's on each request of a folder; its calls are the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from toolassay.benchmarks.taskbench.asking import CallItems
from toolassay.benchmarks.taskbench.entries import PlanEntry, entry_of
from toolassay.benchmarks.taskbench.options import AGENTS, PlanOptions
from toolassay.benchmarks.taskbench.work import CallWork, PlanSource
from toolassay.console.screen import WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.episodes.agent_tools import ToolSession
from toolassay.episodes.own_agent import OwnAgent
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Request
from toolassay.runs.items import Ask, ItemWork
from toolassay.runs.journal import Journal
from toolassay.runs.settings import RunSettings
from toolassay.runs.work import Inference, OpenRun, WorkFacts, Written

_MOST_NAMED = 3  # errors in a report


@dataclass
class AgentItems(CallItems):
    """Requests that an agent works on. Arguments are those of `CallItems`, and the agent."""

    agent: OwnAgent | None = None

    @asynccontextmanager
    async def around(self) -> AsyncIterator[None]:
        """The executor, the server of the agents, and the models that they ask."""
        assert self.agent is not None
        async with super().around(), self.agent.listening():
            yield

    async def answer(self, item: Request, ask: Ask) -> PlanEntry:
        """Let the agent work; its calls are the plan."""
        assert self._executor is not None and self.agent is not None
        calls = ToolSession(self.graph.library, self._executor, ask, may_write=True)
        later = None if self.later is None else self.later.graph.library
        entry = PlanEntry(**asdict(await self.agent.work(item, ask, calls, later)))
        if entry.problem:
            entry.outcome = "malformed"
            entry.plan = None
        return entry


class AgentWork(CallWork):
    """The calls of an agent for each request of a folder with imported tools.

    Args:
        folder: The data.
        source: What was read of it.
        run: Limits and choices; its model names the agent, and has the address of the agent's models.
        own: The options, with the agent.

    Raises:
        UsageError: The folder or the options do not fit, or the command is not found.
    """

    def __init__(self, folder: DataFolder, source: PlanSource, run: RunSettings, own: PlanOptions) -> None:
        super().__init__(folder, source, run, own)
        self._agent = OwnAgent(run, own, folder.path, "max_steps", "tools_in_context")
        self._errors = Counter[str]()

    @property
    def items(self) -> AgentItems:  # type: ignore[override]
        """The work on single requests."""
        own = super().items
        return AgentItems(
            own.graph,
            own.way,
            {},
            own.limits,
            own.executing,
            own.allow_writes,
            today=own.today,
            agent=self._agent,
        )

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one request."""
        own = self._own
        facts = super().facts
        return replace(
            facts,
            settings={
                "llm": self._run.model.llm,
                "agent": self._agent.name,
                **self._agent.program.settings,
                "dependency_type": "schema",
                "ask": AGENTS,
                "max_seconds": own.max_seconds,
                "executor": self._executor.name,
                "prompt_sha256": facts.settings["prompt_sha256"],
            },
            parameters={},
            asks=False,
            program=self._agent.program,
        )

    def write(self, output: Path, journal: Journal) -> Written:
        """As plans; counts the errors with which the agent ended."""
        problems = (entry_of(journal, request).problem for request in self._source.requests)
        self._errors = Counter(filter(None, problems))
        return super().write(output, journal)

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        """Report the errors with which the agent ended; asking again with more tokens is no help there."""
        for error, count in self._errors.most_common(_MOST_NAMED):
            logs = journal_file.parent / "stderr"
            screen.say(f"{WARNING}{count_of(count, 'request')}: {error} ({logs})")
        others = max(0, inference.malformed - self._errors.total())
        super().report(replace(inference, malformed=others), output, journal_file, screen)

    def answer(self, run: OpenRun, items: ItemWork[Any], chosen: Iterable[Any]) -> int:
        """Let the agent work on what has no answer yet; how many requests had one."""
        return self._agent.answer(run, items, chosen)
