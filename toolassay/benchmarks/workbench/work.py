"""Runs an agent on a WorkBench folder; each task has its own copy of the workplace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec

from toolassay.benchmarks.workbench.agents.episode import (
    NO_ANSWER,
    AgentEntry,
    TaskPrediction,
    WorkbenchAgentSettings,
    WorkbenchTasks,
    call_texts,
    entry_of,
    is_settled,
    limit_notice,
    prediction_lines,
)
from toolassay.benchmarks.workbench.agents.prompt import system_prompt
from toolassay.benchmarks.workbench.benchmark import WorkplaceOptions, WorkplaceScoring
from toolassay.benchmarks.workbench.judge.error_classes import ITERATION_LIMIT
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import FILE, Task
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_environment import OpenWorkplace
from toolassay.benchmarks.workbench.workplace_stages import load_workplace, tools_hash
from toolassay.console.text_formatting import count_of
from toolassay.episodes.agent_tools import ToolSession
from toolassay.episodes.call_formats import call_format
from toolassay.episodes.model_relay import relayed_conversation
from toolassay.episodes.own_agent import OwnAgent
from toolassay.errors import UsageError
from toolassay.evaluation.verification import LineComparison, RecordedRun
from toolassay.executors.executor import ExecutionContext
from toolassay.files.data_files import write_json_lines
from toolassay.models import ModelError
from toolassay.models.errors import TIME_LIMIT
from toolassay.plans.execution_record import ExecutedCall
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Request
from toolassay.runs.budget import Estimate, ExpectedUsage
from toolassay.runs.items import FINAL, OVERFLOW, Ask, ItemWork, replay_item
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import MAX_TOKENS, recorded_settings
from toolassay.runs.prices import Tariff
from toolassay.runs.record import hashes
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import OpenRun, Work, WorkFacts, Written, chosen_items
from toolassay.tools.library import Tool, ToolLibrary

OFFLINE = "offline"
_AGENTS = "agents"  # how the settings of a run say that the agent was one of the user's
DEFAULT_TOKENS = 2000


def agent_settings(run: RunSettings, own: WorkplaceOptions) -> WorkbenchAgentSettings:
    """How the agent of a run works.

    Raises:
        UsageError: an unknown choice, or settings that do not go together.
    """
    given = {name: value for name, value in asdict(own).items() if value is not None}
    for name in ("allow_tools", "agent_command", "agent_version"):
        given.pop(name, None)
    return WorkbenchAgentSettings(**given, structured=run.model.structured or False)


@dataclass(frozen=True)
class OwnAgentTasks(WorkbenchTasks):
    """An agent of the user's on single tasks. Arguments are those of `WorkbenchTasks`, and the agent."""

    own: OwnAgent | None = None

    def around(self) -> AbstractAsyncContextManager[Any]:
        """The server of the agents."""
        assert self.own is not None
        return self.own.listening()

    async def answer(self, item: Task, ask: Ask) -> AgentEntry:
        """Let the agent work on a task; its request begins with the situation."""
        assert self.own is not None
        sandbox = self.sandbox
        settings = self.settings
        tools = settings.tools(item, toolset_of(sandbox))
        situation = system_prompt(sandbox, "native", tools, act=settings.act_without_confirmation)
        library = ToolLibrary(
            [Tool(tool.function_name, tool.description, input_schema=tool.parameters) for tool in tools]
        )
        sandbox.overwrites = False  # sent mail is appended, as in the strict judge's copies
        executor = OpenWorkplace(sandbox, ExecutionContext(DataFolder(Path()), library))
        calls = ToolSession(library, executor, ask, may_write=True)
        request = Request(item.id, f"{situation}\n\n{item.query}", 0)
        agent_run = await self.own.work(request, ask, calls)
        error = NO_ANSWER if agent_run.problem else ""
        return AgentEntry(
            outcome="malformed" if agent_run.problem else "answered",
            response=agent_run.answer,
            error=ITERATION_LIMIT if agent_run.limit else error,
            limit=agent_run.limit,
            problem=agent_run.problem,
            messages=relayed_conversation(ask.answers, self.form)[0],
            function_calls=call_texts(calls.calls, toolset_of(sandbox)),
            steps=agent_run.steps or 0,
            order=agent_run.order,
        )


@dataclass
class WorkplaceWork(Work):
    """Tasks that an agent does, each on its own copy of the workplace.

    Attributes:
        folder: the data.
        settings: of the agent.
        sandbox: the workplace, as read.
        tasks: of the folder.
        started: the tasks of this start.
        parameters: of the requests.
        allow_tools: whether user-defined tools may run.
        own: an agent of the user's.
    """

    folder: DataFolder
    settings: WorkbenchAgentSettings
    sandbox: Sandbox
    tasks: Sequence[Task]
    started: Sequence[Task]
    parameters: Mapping[str, Any]
    allow_tools: bool
    own: OwnAgent | None = None

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one task."""
        settings = {
            "benchmark": "workbench",
            **self.parameters,
            **self.settings.facts,
            **self.sandbox.edition.facts,
            "prompt_sha256": prompt_fingerprint(self.sandbox, self.settings),
            "sandbox_sha256": self.sandbox.sha256,
            **{f"{name}_sha256": code for name, code in tools_hash(self.folder.path).items()},
        }
        if self.own is not None:
            settings |= {"ask": _AGENTS, "agent_command": self.own.name, **self.own.program.settings}
        return WorkFacts(
            "task",
            settings,
            self.parameters,
            len(self.tasks),
            len(self.started),
            hashes(self.folder.path / FILE),
            not_counted="; the further answers of each task",
            asks=self.own is None,
            in_steps=True,
            program=None if self.own is None else self.own.program,
        )

    @property
    def chosen(self) -> Sequence[Task]:
        """The tasks of this start."""
        return self.started

    def check_engine(self) -> None:
        """Any engine may spread the tasks."""

    @property
    def items(self) -> WorkbenchTasks:
        """The work on single tasks."""
        folder = self.folder.path.absolute()  # a worker has another working directory
        opened = partial(open_workplace, folder, allow_tools=self.allow_tools)
        if self.own is not None:
            return OwnAgentTasks(self.settings, self.parameters, opened, own=self.own)
        return WorkbenchTasks(self.settings, self.parameters, opened)

    def answer(self, run: OpenRun, items: ItemWork[Any], chosen: Iterable[Any]) -> int:
        """Ask the model, or let the agent work."""
        answer = super().answer if self.own is None else self.own.answer
        return answer(run, items, chosen)

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line per finished task."""
        lines = [msgspec.to_builtins(line) for line in prediction_lines(self.tasks, journal)]
        return Written(write_json_lines(output, lines) if lines else 0)  # no file if no task is done

    def expected(self, estimate: Estimate, price: Tariff | None) -> tuple[ExpectedUsage, ...]:
        """The minimum (one answer per task) and the maximum (`max_steps` answers per task)."""
        answers = self.settings.max_steps + self.settings.resample
        return estimate.expected(price), estimate.expected(price, answers)

    def range_lines(self, expected: Sequence[ExpectedUsage], estimate: Estimate) -> Iterator[str]:
        """The maximum of the run, and the first request."""
        first = estimate.first
        if first is None:
            return
        least, most = expected
        yield (
            "the range: an agent sends one request for each step of a task, and each repeats the conversation"
            " so far; how many steps a task takes is not known before"
        )
        yield f"At least, if every task ends with its first answer: {least.words}"
        yield (
            f"At most (--max_steps {self.settings.max_steps}, --resample {self.settings.resample}):"
            f" {most.words}; what the tools return is not counted"
        )
        yield "for a better estimate: run with --limit 5, then --dry_run again"
        yield f"the first request ({first.item}):"
        for message in first.messages:
            yield f"[{message['role']}] {message['content']}"
        tools = first.parameters.get("tools", ())
        if tools:
            yield f"[tools] {', '.join(tool['function']['name'] for tool in tools)}"

    def notice(self, journal: Journal) -> str:
        """A warning if limits ended many tasks."""
        return limit_notice(self.started, journal, self.settings)


def token_limit(max_tokens: int | None, *run_folders: Path) -> dict[str, int]:
    """The limit of an answer, as a parameter of requests.

    Without `max_tokens` it is 2,000; a run that began when no limit was sent goes on without one, and so do
    further trials of it.

    Args:
        max_tokens: the limit that was given.
        run_folders: where the manifest of the run is; the first that exists counts.

    Raises:
        UsageError: a manifest cannot be read.
    """
    recorded = next(
        (found for folder in run_folders if (found := recorded_settings(folder)) is not None), None
    )
    if max_tokens is None and recorded is not None and MAX_TOKENS not in recorded:
        return {}
    return {MAX_TOKENS: max_tokens or DEFAULT_TOKENS}


def workplace_work(folder: DataFolder, run: RunSettings, own: WorkplaceOptions, trial: int) -> WorkplaceWork:
    """The work of a run on a workplace.

    Raises:
        UsageError: files missing or malformed, or options that do not fit.
    """
    settings = agent_settings(run, own)
    sandbox, tasks = load_workplace(folder.path, allow_tools=own.allow_tools, screen=run.screen)
    if sandbox.toolset is not None and run.model.llm == OFFLINE:
        raise UsageError(
            f"--llm {OFFLINE} knows the published tools only",
            file=folder.path,
            fix="name a served model (--api_base URL)",
        )
    chosen = chosen_items(tasks, run.choices.chosen_ids, run.choices.limit, noun="task")
    predictions = Trial(folder.path / (run.choices.prediction_dir or PREDICTIONS), run.model.llm, trial)
    limit = token_limit(
        run.model.max_tokens, predictions.run_folder, replace(predictions, number=0).run_folder
    )
    parameters = {**run.model.parameters, **limit}
    agent = None
    if own.agent_command is not None:
        agent = OwnAgent(run, own, folder.path, "agent", "resample", "max_steps")
        parameters = {}
    return WorkplaceWork(folder, settings, sandbox, tasks, chosen, parameters, own.allow_tools, agent)


def prompt_fingerprint(sandbox: Sandbox, settings: WorkbenchAgentSettings) -> str:
    """SHA-256 of the system prompt and the tool descriptions."""
    form = call_format(settings.agent, structured=bool(settings.structured))
    tools = toolset_of(sandbox).of_domains(None)
    system = system_prompt(sandbox, settings.agent, tools, act=settings.act_without_confirmation)
    return hashlib.sha256(json.dumps([system, form.parameters(tools)]).encode()).hexdigest()


def rerun_lines(
    recorded: RecordedRun, own: WorkplaceScoring, comparison: LineComparison
) -> Iterator[TaskPrediction]:
    """The lines of a prediction file: each recorded conversation is re-run with its calls.

    Args:
        recorded: the run.
        own: whether the tools that the folder brings may be run.
        comparison: not needed.

    Raises:
        UsageError: there is no manifest, or an entry of the journal cannot be read.
    """
    settings = recorded.settings
    names = ("agent", "toolkit", "resample", "act_without_confirmation")
    known = {name: settings[name] for name in names if name in settings}
    agent = WorkbenchAgentSettings(**known)
    sandbox, tasks = load_workplace(recorded.folder.path, allow_tools=own.allow_tools)
    changed = 0

    def replayed(task: Task, entry: AgentEntry) -> AgentEntry:
        nonlocal changed
        if settings.get("ask") == _AGENTS:
            lines = recorded.journal.calls(task.id, entry.asked_again, entry.order)
            executed_calls = (msgspec.convert(line.result, ExecutedCall) for line in lines)
            return msgspec.structs.replace(
                entry, function_calls=call_texts(executed_calls, toolset_of(sandbox))
            )
        # It must stop where the run did. One that its context or time ended made one more request, which got
        # no answer.
        overflows = entry.outcome == OVERFLOW
        timed_out = entry.limit == "time"
        end = ModelError(
            "the recorded conversation ends here",
            outcome=OVERFLOW if overflows else "not run",
            kind=TIME_LIMIT if timed_out else "failed",
        )
        steps = max(1, entry.steps + (overflows or timed_out))
        work = WorkbenchTasks(replace(agent, max_steps=steps), {}, lambda: sandbox)
        try:
            replayed_entry, ask = replay_item(work, task, recorded.journal, end)
        except ModelError as error:
            return AgentEntry(outcome=error.outcome, error=str(error))
        changed += ask.unlike > 0
        agent_entry: AgentEntry = replayed_entry
        return agent_entry

    with recorded.screen.progress("read", len(tasks)) as advance:
        for task in tasks:
            entry = entry_of(recorded.journal, task)
            if is_settled(entry) and (ended := replayed(task, entry)).outcome in FINAL:
                yield TaskPrediction.of(task, ended)
            advance()
    if changed:
        recorded.screen.say(
            f"in {count_of(changed, 'task')} the tools answer otherwise than they did in the run"
        )
