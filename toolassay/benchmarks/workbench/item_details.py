"""Tasks in detail, for reports: calls with their results, and the changes that they made, wanted or not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from toolassay.benchmarks.benchmark import Items
from toolassay.benchmarks.workbench.agents.episode import (
    AgentEntry,
    WorkbenchAgentSettings,
    entry_of,
    read_predictions,
)
from toolassay.benchmarks.workbench.calls import WorkbenchCall, parse_call
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.benchmarks.workbench.tools import PUBLISHED, Toolset, toolset_of
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_environment import task_plans
from toolassay.episodes.call_formats import call_format
from toolassay.episodes.episode import MadeCall, training_messages, trajectory_of
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import (
    AgentStep,
    Call,
    ItemAnswer,
    ItemGold,
    RecordedTrajectory,
    Section,
    TrajectoryFigures,
    drawn_in_order,
)
from toolassay.records.data_folder import DataFolder
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, recorded_settings
from toolassay.runs.trials import Trial
from toolassay.tools.results import is_refusal


def task_golds(folder: DataFolder) -> Iterator[ItemGold]:
    """The tasks of a folder with their ground truth."""
    for task in read_tasks(folder.path):
        tools = [tool for tool, _ in _calls(task.answer, PUBLISHED)]
        yield ItemGold(task.id, task.query, list(dict.fromkeys(tools)), {"domain": task.group})


def task_answers(
    folder: DataFolder, predictions: Path, llm: str, only: Collection[str] | None = None
) -> Iterator[tuple[str, ItemAnswer]]:
    """What an agent did about each task.

    The tools of a team's own workplace are code, which a report does not run: then there are no changes.
    """
    tasks = read_tasks(folder.path)
    try:
        sandbox: Sandbox | None = open_workplace(folder.path)
    except UsageError:
        sandbox = None
    toolset = PUBLISHED if sandbox is None else toolset_of(sandbox)
    trial = Trial(predictions, llm)
    judge = None if sandbox is None else StrictJudge(sandbox)
    form = call_format((recorded_settings(trial.run_folder) or {}).get("agent", "native"))
    results = read_predictions(trial.output, tasks)
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for task in tasks:
            if task.id in results:
                _, result = results[task.id]
                error = result.error
                calls = result.calls
                verdict = None if judge is None else judge.verdict(calls, task.answer, error=error)
                entry = journal.entry(task.id, AgentEntry)
                trajectory = trajectory_of(entry.messages, form)
                gold = _calls(task.answer, toolset)
                called = _calls(result.calls, toolset)
                sections = []
                figures = None
                if trajectory.steps:
                    steps = [_step(call, toolset) for call in trajectory.calls]
                    figures = TrajectoryFigures.of(steps, gold, trajectory.steps)
                    sections.append(figures.section("Calls and what came back", steps))
                if verdict is not None and (verdict.unwanted or verdict.missing):
                    sections.append(_changes(verdict))
                names = [tool for tool, _ in called]
                harm = _harmful(gold, called, verdict, toolset)
                drawn = drawn_in_order(gold, called)
                raw = entry.response or None
                yield task.id, ItemAnswer(*drawn, names, raw, harm, sections, figures)
    if sandbox is not None:
        sandbox.close()


def task_trajectories(folder: DataFolder, predictions: Path, llm: str) -> Iterator[RecordedTrajectory]:
    """The conversations of an agent.

    Raises:
        UsageError: Files are missing, or the tools of the folder are code, which an export does not run.
    """
    trial = Trial(predictions, llm)
    settings = recorded_settings(trial.run_folder) or {}
    known = {name: settings[name] for name in ("agent", "toolkit") if name in settings}
    agent = WorkbenchAgentSettings(**known)
    sandbox = open_workplace(folder.path)
    form = call_format(agent.agent)
    toolset = toolset_of(sandbox)
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for task in read_tasks(folder.path):
            entry = entry_of(journal, task)
            if entry.messages:
                tools = [tool.to_openai() for tool in agent.tools(task, toolset)]
                messages = training_messages(entry.messages, form)
                yield RecordedTrajectory(task.id, messages, tools, entry.outcome, entry.limit)
    sandbox.close()


def _calls(texts: Sequence[str], toolset: Toolset) -> list[Call]:
    """The calls; one that cannot be parsed has its text as the name of the tool."""
    parsed = [(text, parse_call(text, toolset)) for text in texts]
    return [
        (call.name, call.arguments) if isinstance(call, WorkbenchCall) else (text, {})
        for text, call in parsed
    ]


def _harmful(
    gold: Sequence[Call], called: Sequence[Call], verdict: StrictVerdict | None, toolset: Toolset
) -> list[str]:
    """The tools that made the unwanted changes: those of changing calls that the ground truth lacks.

    Only tools of the domain of a changed table count, if there are any.
    """
    if verdict is None or not verdict.unwanted:
        return []
    left = list(gold)
    blamed = []
    for call in called:
        if call in left:
            left.remove(call)
        elif (tool := toolset.find(call[0])) is not None and tool.changes_state:
            blamed.append(call[0])
    tables = {change.table for change in verdict.unwanted}
    near = [name for name in blamed if any(name.split(".")[0].startswith(table[:5]) for table in tables)]
    return list(dict.fromkeys(near or blamed))


def _changes(verdict: StrictVerdict) -> Section:
    rows = []
    for mark, changes in (("unwanted", verdict.unwanted), ("missing", verdict.missing)):
        for change in changes:
            label = "" if change.id is None else str(change.id)
            cells = "\n".join(f"{name}: {'' if value is None else value}" for name, value in change.cells)
            rows.append((mark, (mark, change.table, change.kind, label, cells)))
    return Section.of_rows("Changes", ("status", "table", "change", "id", "content"), rows)


def _step(call: MadeCall, toolset: Toolset) -> AgentStep:
    """A call as the ground truth has it, where its tool and arguments are known."""
    tool = toolset.find(call.name)
    arguments = call.arguments
    # Arguments that are not JSON are shown as the model wrote them.
    with suppress(ValueError):
        arguments = json.loads(call.arguments or "{}")
    if tool is not None and isinstance(arguments, dict):
        arguments = tool.recorded_arguments(arguments)
    name = call.name if tool is None else tool.name
    return AgentStep(call.step, name, arguments, call.result, is_refusal(call.result))


ITEMS = Items(
    task_golds,
    task_answers,
    lambda folder, allow_tools, say: task_plans(folder, allow_tools=allow_tools),
    trajectories=task_trajectories,
)
