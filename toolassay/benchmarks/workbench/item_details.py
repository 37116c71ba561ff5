"""Tasks in detail, for reports: calls with their results, and the changes that they made, wanted or not."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.benchmark import Items
from toolassay.benchmarks.workbench.agents.episode import AgentEntry, read_predictions
from toolassay.benchmarks.workbench.calls import WorkbenchCall, parse_call
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task, read_tasks
from toolassay.benchmarks.workbench.tools import PUBLISHED, Toolset, toolset_of
from toolassay.benchmarks.workbench.workplace import open_workplace
from toolassay.benchmarks.workbench.workplace_environment import task_plans
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import Call, ItemAnswer, ItemGold, Section, drawn_in_order
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.trials import Trial


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
    judge = None if sandbox is None else StrictJudge(sandbox)
    trial = Trial(predictions, llm)
    found = read_predictions(trial.output, tasks)
    with Journal(trial.run_folder / JOURNAL, read_only=True) as journal:
        for task in tasks:
            if task.id in found:
                _, result = found[task.id]
                verdict = (
                    judge.verdict(result.calls, task.answer, error=result.error)
                    if judge is not None
                    else None
                )
                entry = journal.entry(task.id, AgentEntry)
                yield task.id, _answer(task, result.calls, verdict, entry, toolset)
    if sandbox is not None:
        sandbox.close()


def _answer(
    task: Task,
    texts: Sequence[str],
    verdict: StrictVerdict | None,
    entry: AgentEntry,
    toolset: Toolset,
) -> ItemAnswer:
    gold, made = _calls(task.answer, toolset), _calls(texts, toolset)
    wanted, given = drawn_in_order(gold, made)
    sections = []
    if observed := _observed(entry.messages):
        sections.append(Section("Calls and what came back", "calls", observed))
    if verdict is not None and (verdict.unwanted or verdict.missing):
        sections.append(Section("Changes", "table", _changes(verdict)))
    return ItemAnswer(
        wanted,
        given,
        [tool for tool, _ in made],
        entry.response,
        _harmful(gold, made, verdict, toolset),
        sections,
    )


def _calls(texts: Sequence[str], toolset: Toolset) -> list[Call]:
    """The calls; one that cannot be parsed has its text as the name of the tool."""
    parsed = [(text, parse_call(text, toolset)) for text in texts]
    return [
        (call.name, call.arguments) if isinstance(call, WorkbenchCall) else (text, {})
        for text, call in parsed
    ]


def _harmful(
    gold: Sequence[Call], made: Sequence[Call], verdict: StrictVerdict | None, toolset: Toolset
) -> list[str]:
    """The tools that made the unwanted changes: those of changing calls that the ground truth lacks.

    Only tools of the domain of a changed table count, if there are any.
    """
    if verdict is None or not verdict.unwanted:
        return []
    left = list(gold)
    blamed = []
    for call in made:
        if call in left:
            left.remove(call)
        elif (tool := toolset.find(call[0])) is not None and tool.changes_state:
            blamed.append(call[0])
    tables = {change.table for change in verdict.unwanted}
    near = [name for name in blamed if any(name.split(".")[0].startswith(table[:5]) for table in tables)]
    return list(dict.fromkeys(near or blamed))


def _changes(verdict: StrictVerdict) -> dict[str, Any]:
    rows, marks = [], []
    for mark, changes in (("unwanted", verdict.unwanted), ("missing", verdict.missing)):
        for change in changes:
            label = "" if change.id is None else str(change.id)
            cells = "\n".join(f"{name}: {'' if value is None else value}" for name, value in change.cells)
            rows.append([mark, change.table, change.kind, label, cells])
            marks.append(mark)
    return {"columns": ["status", "table", "change", "id", "content"], "rows": rows, "marks": marks}


def _observed(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The calls of a conversation with their results."""
    results = {one["tool_call_id"]: one["content"] for one in messages if one["role"] == "tool"}
    return [
        {
            "tool": call["function"]["name"],
            "arguments": _parsed(call["function"]["arguments"]),
            "result": results.get(call["id"]),
            "error": None,
        }
        for message in messages
        for call in message.get("tool_calls", ())
    ]


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


ITEMS = Items(
    task_golds, task_answers, lambda folder, allow_tools, say: task_plans(folder, allow_tools=allow_tools)
)
