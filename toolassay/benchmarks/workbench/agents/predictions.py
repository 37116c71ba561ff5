"""The prediction file of agents, read back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from toolassay.benchmarks.workbench.agents.inference import OVERFLOW
from toolassay.benchmarks.workbench.judge.classes import CONTEXT_OVERFLOW
from toolassay.benchmarks.workbench.judge.results import Result
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.errors import UsageError
from toolassay.files import read_json_lines

_FIX = "make it with inference.py, or leave the line out"


def read_predictions(
    path: Path, tasks: Iterable[Task], *, unknown: list[str] | None = None
) -> dict[str, tuple[str, Result]]:
    """The outcome and the result of each task that has a line, by the id of the task; the last line counts.

    A missing `outcome` is `answered`, a missing `error` is none (but of a context overflow its name).

    Args:
        path: the prediction file.
        tasks: of the data folder.
        unknown: receives the ids that no task has, with their lines; these predictions are left out.

    Raises:
        UsageError: no such file, a line of another form, or another request under the id of a task.
    """
    queries = {task.id: task.query for task in tasks}
    found: dict[str, tuple[str, Result]] = {}
    for line, entry in read_json_lines(path, fix="run inference.py first, or check --llm"):
        calls = entry.get("function_calls") if isinstance(entry, dict) else None
        if not isinstance(calls, list) or not all(isinstance(text, str) for text in calls):
            raise UsageError("is not a prediction: no list 'function_calls'", file=path, line=line, fix=_FIX)
        name = str(entry.get("id"))
        if name not in queries:
            if unknown is not None:
                unknown.append(f"{name[:80]!r} (line {line})")
            continue
        if entry.get("query", queries[name]) != queries[name]:
            raise UsageError(
                f"the task {name!r} asks something else by now",
                file=path,
                line=line,
                fix="run inference.py again",
            )
        outcome = str(entry.get("outcome", "answered"))
        error = str(entry.get("error") or (CONTEXT_OVERFLOW if outcome == OVERFLOW else ""))
        found[name] = outcome, Result(queries[name], tuple(calls), error)
    return found
