"""Calls on forks of a sandbox, and the ground truth of tasks as plans (for `executor.py`)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
    Refusal,
    State,
    one_line,
)
from toolassay.executors.plan_run import PlannedItem, PlanSet
from toolassay.executors.workspace import table_places
from toolassay.plans.call_plan import Argument, Call, CallPlan
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool, ToolLibrary

if TYPE_CHECKING:
    from toolassay.benchmarks.workbench.executor import WorkplaceExecution
    from toolassay.benchmarks.workbench.sandbox import Sandbox
    from toolassay.benchmarks.workbench.tools import Toolset


class OpenWorkplace(OpenExecutor):
    """A sandbox that is forked for each plan."""

    def __init__(self, original: Sandbox, context: ExecutionContext) -> None:
        from toolassay.benchmarks.workbench.tools import toolset_of

        self._original = original
        self._context = context
        self._toolset: Toolset = toolset_of(original)
        self.identity = {"sandbox": original.sha256[:16], **original.edition.facts}

    @asynccontextmanager
    async def environment(self, tools: Sequence[Tool] = ()) -> AsyncIterator[Environment]:
        """A fork of the sandbox."""
        with closing(self._original.fork()) as sandbox:
            yield _WorkplaceEnvironment(sandbox, self._toolset, self._context)

    def is_read_only(self, tool: Tool) -> bool:
        """Whether the workplace says that the tool changes nothing."""
        found = self._toolset.find(tool.id)
        return found is not None and not found.changes_state

    def missing(self, tool: Tool) -> str:
        """Whether the workplace lacks the tool."""
        return "" if self._toolset.find(tool.id) else f"the workplace has no tool '{tool.id}'"


class _WorkplaceEnvironment:
    def __init__(self, sandbox: Sandbox, toolset: Toolset, context: ExecutionContext) -> None:
        self._sandbox = sandbox
        self._toolset = toolset
        self._limits = context.limits

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        """See `Environment.call`."""
        from toolassay.benchmarks.workbench.agents.episode import call_text, recorded_call
        from toolassay.benchmarks.workbench.tools import ToolFailure

        workplace_tool = self._toolset.find(tool.id)
        if workplace_tool is None:
            raise Refusal(f"the workplace has no tool '{tool.id}'")
        call = recorded_call(self._toolset, tool.id, arguments)
        if call_text(call) is None:
            raise Refusal("the arguments are too long, or are no values with plain names")
        try:
            value = workplace_tool.execute(self._sandbox, call.arguments)
        except ToolFailure as error:
            raise Refusal(one_line(error)) from None
        result = CallResult.of(value)
        self._limits.check(result.text)
        return result

    async def state(self) -> State:
        """The rows of the judged tables."""
        from toolassay.benchmarks.workbench.sandbox import JUDGED, quoted

        try:
            state: dict[str, Any] = {}
            for table in self._sandbox.judged or JUDGED:
                rows = self._sandbox.connection.execute(f"SELECT * FROM {quoted(table.name)}")
                state |= table_places(table.name, rows, leave_out=_POSITIONS)
            return state
        except sqlite3.Error as error:
            raise EnvironmentFailure(f"the sandbox cannot be read: {error}") from None


_POSITIONS = ("row", "label")
"""Columns that say where a row is, not what it holds."""


def task_plans(folder: DataFolder, *, allow_tools: bool = False) -> PlanSet:
    """The ground-truth calls of the tasks of a folder.

    Raises:
        UsageError: There are no tasks or no workplace, or its tools may not be run.
    """
    from toolassay.benchmarks.workbench.calls import parse_call
    from toolassay.benchmarks.workbench.tasks import Task, read_tasks
    from toolassay.benchmarks.workbench.tools import toolset_of
    from toolassay.benchmarks.workbench.workplace import open_workplace

    toolset = toolset_of(open_workplace(folder.path, allow_tools=allow_tools))
    tasks = read_tasks(folder.path)
    library = ToolLibrary(
        [
            Tool(tool.name, tool.description, input_schema={"type": "object"}, raw={"id": tool.name})
            for tool in toolset.tools.values()
        ]
    )

    def planned(task: Task) -> PlannedItem:
        calls = []
        for text in task.answer:
            parsed = parse_call(text, toolset)
            if parsed is None or parsed.name not in library:
                return PlannedItem(task.id, None, f"{text[:100]!r} is no call of a tool")
            calls.append(Call(parsed.name, tuple(Argument(*pair) for pair in parsed.arguments.items())))
        nodes = tuple(range(len(calls)))
        links = tuple((place, place + 1) for place in nodes[:-1])
        return PlannedItem(task.id, CallPlan(task.id, task.query, (), tuple(calls), links, True, nodes))

    return PlanSet(library, len(tasks), lambda: map(planned, tasks))


@asynccontextmanager
async def open_workplace_executor(
    context: ExecutionContext, options: WorkplaceExecution
) -> AsyncIterator[OpenExecutor]:
    """Load the sandbox of `WorkplaceExecutor`.

    Raises:
        UsageError: There is none, or its tools may not be run.
    """
    from toolassay.benchmarks.workbench.workplace import open_workplace

    folder = Path(options.workplace) if options.workplace else context.folder.path
    yield OpenWorkplace(open_workplace(folder, allow_tools=context.allow_tools), context)
