"""Agents on tasks: their settings, the calls on a copy of the workplace, and the prediction file."""

from __future__ import annotations

import json
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from toolassay.benchmarks.workbench.agents.prompt import system_prompt
from toolassay.benchmarks.workbench.benchmark import MAX_SECONDS, MAX_STEPS
from toolassay.benchmarks.workbench.calls import LONGEST, WorkbenchCall, parse_call
from toolassay.benchmarks.workbench.judge.error_classes import CONTEXT_OVERFLOW, ITERATION_LIMIT
from toolassay.benchmarks.workbench.judge.result_verdicts import TaskResult
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import PUBLISHED, ToolFailure, Toolset, WorkplaceTool, toolset_of
from toolassay.benchmarks.workbench.tools.tool import as_texts
from toolassay.console.text_formatting import count_of
from toolassay.episodes.call_formats import FORMATS, CallFormat, Message, call_format
from toolassay.episodes.episode import EpisodeLimits, Trajectory, episode, shown_result
from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import read_json_lines, readable, record_of, unescaped_json
from toolassay.models import ToolCall
from toolassay.models.structured_output import Structured
from toolassay.offline.model_tasks import AgentTask
from toolassay.plans.execution_record import ExecutedCall
from toolassay.runs.items import FINAL, OVERFLOW, Ask, ItemWork, Recorded
from toolassay.runs.journal import TOOL, AnswerLine, CallLine, ItemEntry, Journal, always

MOST_SECONDS = 10.0
"""Time limit of all calls of one task together, in seconds; later calls fail."""


class ToolExecutor:
    """Runs calls on its own copy of a sandbox, which occupies memory only while calls run.

    A call runs only if its recorded text parses back to the same call, because the evaluator sees only the
    text. A call that did not run is recorded only if its text has no effect in the evaluator either.

    Args:
        sandbox: the original; it is copied.
        tools: the tools that may be called.
    """

    def __init__(self, sandbox: Sandbox, tools: Iterable[WorkplaceTool]) -> None:
        self._original = sandbox
        self._copy: Sandbox | None = None
        self._aside = b""
        self._changed = False
        self._tools = {tool.name for tool in tools}
        self._seconds = 0.0
        self.calls: list[str] = []

    def execute(self, asked: ToolCall) -> str:
        """Run a call. Returns the result as text, as the agent sees it."""
        began = time.monotonic()
        try:
            value = self._execute(asked)
        except ToolFailure as failure:
            result = f"Error: {failure}"
        else:
            result = value if isinstance(value, str) else unescaped_json(value)
        self._seconds += time.monotonic() - began
        return shown_result(result)

    def set_aside(self) -> None:
        """Free the copy until the next call, and keep its content compressed if a call changed it.

        While an agent waits for its model, the copy is not needed: 1,000 agents take 80 MB at most.
        """
        if self._copy is not None and self._changed:
            self._aside = zlib.compress(self._copy.image(), 1)
            self._changed = False
        self.close()

    def close(self) -> None:
        """Free the memory of the copy."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    @property
    def _sandbox(self) -> Sandbox:
        """The copy, with all previous calls applied."""
        if self._copy is None:
            # Sent mail is appended, as in the strict judge's copies.
            self._copy = self._original.fork(overwrites=False)
            if self._aside:
                self._copy.restore(zlib.decompress(self._aside))
        return self._copy

    def _execute(self, asked: ToolCall) -> Any:
        if self._seconds > MOST_SECONDS:
            raise ToolFailure(f"not carried out: the calls of this task took more than {MOST_SECONDS:g} s")
        tool = toolset_of(self._original).find(asked.name)
        name = asked.name if tool is None else tool.name
        # A tool that exists but was not offered must not be recorded, because the evaluator would run it.
        if tool is not None and name not in self._tools:
            raise self._no_tool(name)
        call = recorded_call(toolset_of(self._original), asked.name, _arguments(asked.arguments))
        text = call_text(call)
        # A tool that does not exist has no effect in the evaluator either, so the call is recorded.
        if tool is None:
            self.calls += [] if text is None else [text]
            raise self._no_tool(name)
        if text is None:
            raise ToolFailure("the arguments are too long, or are no texts with plain names")
        sandbox = self._sandbox
        self.calls.append(text)
        self._changed = self._changed or tool.changes_state
        return tool.execute(sandbox, call.arguments)

    def _no_tool(self, name: str) -> ToolFailure:
        return ToolFailure(f"there is no tool {name[:100]!r}; tools are: {', '.join(sorted(self._tools))}")


def recorded_call(toolset: Toolset, name: str, arguments: Mapping[str, Any]) -> WorkbenchCall:
    """A call of a model or agent in the form in which it is recorded."""
    tool = toolset.find(name)
    if tool is None:
        return WorkbenchCall(name, as_texts(arguments))
    return WorkbenchCall(tool.name, tool.recorded_arguments(arguments))


def call_text(call: WorkbenchCall) -> str | None:
    r"""Write a call as text that `parse_call` reads as the same call; None if no form does.

    The published form comes first; values that it cannot express are written as Python literals.

    >>> call_text(WorkbenchCall("email.delete_email", {"email_id": "7"}))
    'email.delete_email.func(email_id="7")'
    >>> call_text(WorkbenchCall("email.delete_email", {"email_id": '7") or ("'}))
    'email.delete_email.func(email_id=\'7") or ("\')'
    >>> call_text(WorkbenchCall("desk.lend", {"book": "B01", "days": 7}))
    'desk.lend.func(book="B01", days=7)'
    """
    try:
        if sum(len(str(value)) for value in call.arguments.values()) > LONGEST:
            return None
        plain, exact = (
            ", ".join(f"{name}={form(value)}" for name, value in call.arguments.items())
            for form in (lambda value: f'"{value}"' if isinstance(value, str) else repr(value), repr)
        )
    except RecursionError:
        return None
    for text in (str(call), f"{call.name}.func({plain})", f"{call.name}.func({exact})"):
        if parse_call(text) == call:
            return text
    return None


def call_texts(calls: Iterable[ExecutedCall], toolset: Toolset) -> list[str]:
    """The calls of an agent as they are recorded, without those that no text expresses, which did not run."""
    texts = (call_text(recorded_call(toolset, call.tool, call.arguments)) for call in calls)
    return [text for text in texts if text is not None]


def _arguments(text: str) -> dict[str, Any]:
    """Parse a model's arguments, which must be a JSON object; an empty text counts as an empty object."""
    if len(text) > LONGEST:
        raise ToolFailure(f"the arguments are longer than {LONGEST:,} characters")
    try:
        value = json.loads(text or "{}", strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ToolFailure(f"the arguments are not a JSON object: {text[:200]!r}")
    return {readable(name): readable(item) if isinstance(item, str) else item for name, item in value.items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


TOOLKIT_CHOICES = ("all", "domains")


@dataclass(frozen=True)
class WorkbenchAgentSettings:
    """Settings of an agent. All of them shape answers, so they are part of the run's manifest.

    Attributes:
        agent: `native` (tool calls of the model interface), `react` (actions as text), or `react_published`
            (actions as text, parsed exactly as the published agent does).
        toolkit: `all` tools for every task, or only those of the task's `domains`.
        resample: how many times a run that called no tool is restarted.
        max_steps: maximum number of the model's answers.
        max_seconds: maximum sum of the answers' times, in seconds. An answer's time runs from sending the
            request to its last byte, including a queue inside the server, which the client cannot see.
            Waiting for a slot in the client, failed attempts and tool calls do not count.
        resample_temperature: temperature of a restarted run; an identical request would get the same answer.
        structured: whether requests of `react` carry a JSON Schema of the action. "auto": as long as the
            server accepts one. True: a server that refuses it ends the run.
        act_without_confirmation: whether the prompt says not to ask for confirmation.

    Raises:
        UsageError: a setting is unknown or out of range.
    """

    agent: str = "native"
    toolkit: str = "all"
    resample: int = 0
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    resample_temperature: float = 0.5
    structured: Structured = False
    act_without_confirmation: bool = False

    def __post_init__(self) -> None:
        for flag, choices in (("agent", FORMATS), ("toolkit", TOOLKIT_CHOICES)):
            if (value := getattr(self, flag)) not in choices:
                fix = f"for WorkBench choose from {', '.join(choices)}"
                raise UsageError(f"unknown --{flag} {value!r}", fix=fix)
        if self.structured and self.agent != "react":
            problem = f"--structured {str(self.structured).lower()}: the agent {self.agent} sends no schema"
            raise UsageError(problem, fix="omit it, or choose --agent react")
        if self.resample < 0 or self.max_steps < 1 or not 0 < self.max_seconds < float("inf"):
            raise UsageError(
                f"--max_steps {self.max_steps}, --max_seconds {self.max_seconds:g}, "
                f"--resample {self.resample}: out of range",
                fix="give --max_steps 1 or more, --max_seconds above 0 and --resample 0 or more",
            )

    @property
    def facts(self) -> dict[str, Any]:
        """The settings for the manifest, without those that have no effect."""
        left_out = {
            *(() if self.resample else ("resample_temperature",)),
            *(name for name in ("structured", "act_without_confirmation") if not getattr(self, name)),
        }
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    def tools(self, task: Task, toolset: Toolset = PUBLISHED) -> list[WorkplaceTool]:
        """The tools that the agent gets for a task."""
        return toolset.of_domains(None if self.toolkit == "all" else task.domains)


NO_ANSWER = "The model said nothing that can be read."
_ERRORS = {"refused": "The model refused.", "malformed": NO_ANSWER, OVERFLOW: CONTEXT_OVERFLOW}


class AgentEntry(ItemEntry):
    """What a task ended with.

    Attributes:
        response: The last answer; None after a context overflow.
        error: Why the agent was not done, in the words of the published evaluator; None for a task that has
            not ended.
        messages: The conversation.
        function_calls: The calls that were recorded, as text.
        steps: Number of answers.
        query: The request.
        discarded: Conversations before restarts, as an earlier version recorded them.
        observations: Results of the calls, likewise.
    """

    response: str | None = always(None)
    error: str | None = None
    messages: list[Message] = always([])
    function_calls: list[str] = always([])
    steps: int = always(0)
    query: str = ""
    discarded: list[list[Message]] = msgspec.field(default_factory=list)
    observations: list[str] = msgspec.field(default_factory=list)

    @classmethod
    def of(cls, trajectory: Trajectory, calls: Sequence[str]) -> AgentEntry:
        """The entry of a task: its end, the conversation and the calls that were recorded."""
        return cls(
            outcome=trajectory.outcome,
            response=None if trajectory.outcome == OVERFLOW else trajectory.answer,
            error=ITERATION_LIMIT if trajectory.limit else _ERRORS.get(trajectory.outcome, ""),
            limit=trajectory.limit or "",
            problem=trajectory.problem or None,
            messages=trajectory.messages,
            function_calls=[*calls],
            steps=trajectory.steps,
            cut_off=trajectory.is_cut_off,
        )


_FEW = 0.05  # share of tasks; more than this ended by a limit suggest that the limit is too low


def entry_of(journal: Journal, task: Task) -> AgentEntry:
    """The journal entry of a task; without values if there is none, or it is for an earlier wording."""
    return journal.entry(task.id, AgentEntry, query=task.query)


def is_settled(entry: AgentEntry) -> bool:
    """Whether the entry of a task is final, so that a continued run does not repeat it."""
    return entry.outcome in FINAL and entry.error is not None


class TaskPrediction(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a prediction file. Without an `error` there is none, except after a context overflow."""

    id: str | int = ""
    query: str | None = None
    function_calls: list[str]
    outcome: str = "answered"
    error: str | None = None

    @classmethod
    def of(cls, task: Task, entry: AgentEntry) -> TaskPrediction:
        """The line of a task that has ended."""
        line = msgspec.convert(entry, cls, from_attributes=True)
        return msgspec.structs.replace(line, id=task.id, query=task.query)


def prediction_lines(tasks: Iterable[Task], journal: Journal) -> Iterator[TaskPrediction]:
    """One line per task with a final entry, in the order of the tasks."""
    for task in tasks:
        entry = entry_of(journal, task)
        if is_settled(entry):
            yield TaskPrediction.of(task, entry)


def limit_notice(tasks: Iterable[Task], journal: Journal, settings: WorkbenchAgentSettings) -> str:
    """A notice with a fix if limits ended more than 5 % of the completed tasks; else empty."""
    entries = (entry_of(journal, task) for task in tasks)
    limits = Counter(entry.limit for entry in entries if is_settled(entry))
    steps = limits["steps"]
    seconds = limits["time"]
    if steps + seconds <= _FEW * limits.total():
        return ""
    slow = "; a server's own queue counts as time: a lower --multiworker shortens it" if seconds else ""
    return (
        f"limits ended {steps + seconds} of {count_of(limits.total(), 'task')} before the agent was done "
        f"({steps} at --max_steps {settings.max_steps}, {seconds} at --max_seconds {settings.max_seconds:g})"
        f": raise the limit and start again with --force true or another --prediction_dir{slow}"
    )


@dataclass(frozen=True)
class WorkbenchTasks(ItemWork[Task]):
    """An agent on single tasks, each on its own sandbox.

    Attributes:
        settings: of the agent.
        parameters: of the requests.
        opened: opens the workplace, where and when the first task is done.
        environment_of: gives the sandbox and tools of a task, if they differ between tasks (security probes).
    """

    settings: WorkbenchAgentSettings
    parameters: Mapping[str, Any]
    opened: Callable[[], Sandbox]
    environment_of: Callable[[Task], tuple[Sandbox, Sequence[WorkplaceTool]]] | None = None

    final = FINAL
    record = AgentEntry

    @cached_property
    def sandbox(self) -> Sandbox:
        """The state before every run."""
        return self.opened()

    @cached_property
    def form(self) -> CallFormat:
        """The call format, which all tasks share."""

        def function_name(name: str) -> str | None:
            tool = toolset_of(self.sandbox).find(name)
            return None if tool is None else tool.function_name

        structured = bool(self.settings.structured)
        return call_format(self.settings.agent, structured=structured, function_name=function_name)

    def key_of(self, item: Task) -> str:
        """The id of a task."""
        return item.id

    def identity(self, item: Task) -> Mapping[str, str]:
        """The request."""
        return {"query": item.query}

    def is_settled(self, entry: AgentEntry) -> bool:
        """Whether an entry is final; a context overflow is."""
        return is_settled(entry)

    def recorded(self, entry: AgentEntry) -> Recorded:
        """The answers and results of an entry with its whole conversation."""
        answers = [
            AnswerLine(
                message["content"] or "",
                tool_calls=tuple(
                    ToolCall(tool_call["id"], **tool_call["function"], extra=tool_call.get("extra", {}))
                    for tool_call in message.get("tool_calls", ())
                ),
                extra=message.get("extra", {}),
            )
            for talk in (*entry.discarded, entry.messages)
            for message in talk
            if message["role"] == "assistant"
        ]
        if answers:
            reason = "length" if entry.cut_off else "stop"
            refused = entry.outcome == "refused"
            answers[-1] = structs.replace(answers[-1], finish_reason=reason, refused=refused)
        return {"agent": answers, TOOL: [CallLine(result=text) for text in entry.observations]}

    async def answer(self, item: Task, ask: Ask) -> AgentEntry:
        """Run the agent on a task."""
        settings = self.settings
        if self.environment_of is None:
            sandbox = self.sandbox
            tools: Sequence[WorkplaceTool] = settings.tools(item, toolset_of(sandbox))
        else:
            sandbox, tools = self.environment_of(item)
        executor = ToolExecutor(sandbox, tools)

        async def carry(asked: Sequence[ToolCall]) -> list[str]:
            results = [ask.result(partial(executor.execute, call)) for call in asked]
            executor.set_aside()
            return results

        def task(results: Sequence[str]) -> AgentTask:
            return AgentTask(item.query, sandbox.now, tuple(results), settings.agent != "native", tools)

        system = {
            "role": "system",
            "content": system_prompt(sandbox, settings.agent, tools, act=settings.act_without_confirmation),
        }
        with closing(executor):
            trajectory = await episode(
                [system, {"role": "user", "content": item.query}],
                tools,
                ask,
                carry,
                EpisodeLimits(settings.max_steps, settings.max_seconds, settings.resample),
                self.form,
                self.parameters,
                after_restart={"temperature": settings.resample_temperature},
                task=task,
            )
            return AgentEntry.of(trajectory, executor.calls)


def read_predictions(
    path: Path, tasks: Iterable[Task], *, unknown: list[str] | None = None
) -> dict[str, tuple[str, TaskResult]]:
    """Read a prediction file: the outcome and the result of each task, by task id. The last line of a task
    counts.

    Args:
        path: the prediction file.
        tasks: of the data folder.
        unknown: receives the ids that no task has, with their line numbers; these lines are ignored.

    Raises:
        UsageError: the file does not exist, a line is malformed, or its request differs from the task's.
    """
    queries = {task.id: task.query for task in tasks}
    predictions: dict[str, tuple[str, TaskResult]] = {}
    for line, entry in read_json_lines(path, fix=f"run {as_called('infer')} first, or check --llm"):
        row = record_of(
            entry,
            TaskPrediction,
            file=path,
            line=line,
            fix=f"write the file with {as_called('infer')}, or remove the line",
        )
        name = str(row.id)
        if name not in queries:
            if unknown is not None:
                unknown.append(f"{name[:80]!r} (line {line})")
            continue
        if row.query not in (None, queries[name]):
            raise UsageError(
                f"the request of the task {name!r} has changed since",
                file=path,
                line=line,
                fix=f"run {as_called('infer')} again",
            )
        error = row.error or (CONTEXT_OVERFLOW if row.outcome == OVERFLOW else "")
        predictions[name] = row.outcome, TaskResult(queries[name], tuple(row.function_calls), error)
    return predictions
