"""Runs plans with an executor, as `toolassay execute` does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolassay.executors.executor import CallLimits, ExecutionContext, Executor, OpenExecutor
from toolassay.executors.plan_run import ExecutionWork, PlannedItem, RunRules, recorded_execution, run_plans
from toolassay.plans.call_plan import Argument, Call, CallPlan, references
from toolassay.plans.execution_record import Execution
from toolassay.records.data_folder import DataFolder
from toolassay.runs.journal import Journal
from toolassay.runs.runner import Loop
from toolassay.tools.library import Tool, ToolLibrary

Calls = Sequence[tuple[str, Mapping[str, Any]]]
LIMITS = CallLimits(seconds=20, result_bytes=100_000, memory_bytes=2**29)
WRITES = RunRules(allow_writes=True)


def planned(name: str | int, *calls: tuple[str, Mapping[str, Any]]) -> PlannedItem:
    """A plan whose links are its references."""
    made = tuple(Call(tool, tuple(Argument(*pair) for pair in given.items())) for tool, given in calls)
    links = sorted(
        {(source, target) for target, call in enumerate(made) for source in references(call.arguments)}
    )
    nodes = tuple(range(len(made)))
    return PlannedItem(name, CallPlan(str(name), "a request", (), made, tuple(links), True, nodes))


def library_of(items: Sequence[PlannedItem], tools: Sequence[Tool] = ()) -> ToolLibrary:
    """The tools that plans call; those of `tools` as they are there."""
    named = {tool.id: tool for tool in tools}
    names = {call.tool: None for item in items if item.plan for call in item.plan.calls}
    return ToolLibrary([named.get(name, Tool(name)) for name in (names or {"none": None})])


@asynccontextmanager
async def opened(
    executor: Executor,
    folder: Path,
    library: ToolLibrary,
    *,
    limits: CallLimits = LIMITS,
    allow_tools: bool = True,
    **options: Any,
) -> AsyncIterator[OpenExecutor]:
    """An executor that is ready to run plans."""
    context = ExecutionContext(DataFolder(folder), library, limits, allow_tools)
    async with executor.open(context, executor.options(**options)) as ready:
        yield ready


async def run_with(
    ready: OpenExecutor,
    journal: Path,
    items: Sequence[PlannedItem],
    *,
    rules: RunRules = WRITES,
    workers: int = 2,
    tools: Sequence[Tool] = (),
) -> dict[str | int, Execution]:
    """Run plans with an open executor, to the end of the journal; the executions by id."""
    with Journal(journal) as book:
        work = ExecutionWork(ready, "test", library_of(items, tools), rules)
        await run_plans(work, items, book, Loop(workers))
        return {item.id: done for item in items if (done := recorded_execution(book, item))}


async def executed(
    executor: Executor,
    folder: Path,
    *items: PlannedItem,
    rules: RunRules = WRITES,
    workers: int = 2,
    **more: Any,
) -> dict[str | int, Execution]:
    """Open an executor and run plans; the executions by id."""
    async with opened(executor, folder, library_of(items), **more) as ready:
        return await run_with(ready, folder / "journal.jsonl", items, rules=rules, workers=workers)
