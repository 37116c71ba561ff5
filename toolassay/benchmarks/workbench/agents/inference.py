"""Runs an agent over many tasks: one journal entry per task, the prediction file (written and read), and
the dry run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.agents.episode import Episode, WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.native_and_react import call_format
from toolassay.benchmarks.workbench.judge.error_classes import CONTEXT_OVERFLOW
from toolassay.benchmarks.workbench.judge.evaluation import TaskResult
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import WorkplaceTool, toolset_of
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, write_json_lines
from toolassay.models import ModelError
from toolassay.runs import Journal
from toolassay.runs.items import FINAL, OVERFLOW, Ask, ItemWork
from toolassay.runs.journal import TOOL
from toolassay.text_formatting import count_of

_FEW = 0.05  # share of tasks; more than this ended by a limit suggest that the limit is too low


def entry_of(journal: Journal, task: Task) -> dict[str, Any]:
    """The journal entry of a task; empty if there is none, or it is for an earlier wording of the request."""
    entry = journal.get(task.id)
    return entry if entry.get("query") == task.query else {}


def is_settled(entry: Mapping[str, Any]) -> bool:
    """Whether the entry of a task is final, so that a continued run does not repeat it."""
    return entry.get("outcome") in FINAL and "error" in entry


def prediction_lines(tasks: Iterable[Task], journal: Journal) -> Iterator[dict[str, Any]]:
    """One line per task with a final entry, in the order of the tasks."""
    for task in tasks:
        entry = entry_of(journal, task)
        if is_settled(entry):
            kept = {name: entry[name] for name in ("query", "function_calls", "outcome", "error")}
            yield {"id": task.id, **kept}


def limit_notice(tasks: Iterable[Task], journal: Journal, settings: WorkbenchAgentSettings) -> str:
    """A notice with a fix if limits ended more than 5 % of the completed tasks; else empty."""
    entries = (entry_of(journal, task) for task in tasks)
    limits = Counter(entry.get("limit") for entry in entries if is_settled(entry))
    steps, seconds = limits["steps"], limits["time"]
    if steps + seconds <= _FEW * limits.total():
        return ""
    parts = (
        f"{steps} at --max_steps {settings.max_steps}",
        f"{seconds} at --max_seconds {settings.max_seconds:g}",
    )
    found = " and ".join(part for part, count in zip(parts, (steps, seconds), strict=True) if count)
    slow = "; a server's own queue counts as time: a lower --multiworker shortens it" if seconds else ""
    return (
        f"limits ended {steps + seconds} of {count_of(limits.total(), 'task')} before the agent was done "
        f"({found}): raise the limit and start again with --force true or another --prediction_dir{slow}"
    )


class WorkbenchTasks(ItemWork[Task]):
    """An agent on single tasks, each on its own sandbox.

    Args:
        sandbox: the state before every run.
        settings: of the agent.
        parameters: of the requests.
        found: gives the sandbox and the tools for a task, if they are not the same for all (security probes).
    """

    final = FINAL

    def __init__(
        self,
        sandbox: Sandbox,
        settings: WorkbenchAgentSettings,
        parameters: Mapping[str, Any],
        *,
        found: Callable[[Task], tuple[Sandbox, Sequence[WorkplaceTool]]] | None = None,
    ) -> None:
        self._settings, self._parameters = settings, parameters
        self._form = call_format(settings.agent, structured=settings.is_structured)
        self._found = found or (lambda task: (sandbox, settings.tools(task, toolset_of(sandbox))))

    def key_of(self, item: Task) -> str:
        """The id of a task."""
        return item.id

    def identity(self, item: Task) -> dict[str, Any]:
        """The request."""
        return {"query": item.query}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry is final; a context overflow is."""
        return is_settled(entry)

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answers and results of an entry with its whole conversation."""
        talks = [*entry.get("discarded", ()), entry.get("messages", ())]
        said = [message for talk in talks for message in talk if message["role"] == "assistant"]
        last = {
            **({"refused": True} if entry.get("outcome") == "refused" else {}),
            **({"finish_reason": "length"} if entry.get("cut_off") else {}),
        }
        answers = [
            {
                "response": message["content"] or "",
                "finish_reason": "stop",
                "tool_calls": [
                    {"id": call["id"], **call["function"], "extra": call.get("extra", {})}
                    for call in message.get("tool_calls", ())
                ],
                "extra": message.get("extra", {}),
                **(last if number == len(said) else {}),
            }
            for number, message in enumerate(said, start=1)
        ]
        return {"agent": answers, TOOL: [{"result": text} for text in entry.get("observations", ())]}

    async def answer(self, item: Task, ask: Ask) -> dict[str, Any]:
        """Run the agent on a task.

        A context overflow ends it with the calls made so far: a second attempt would overflow as well.
        """
        sandbox, tools = self._found(item)
        episode = Episode(item, sandbox, self._settings, self._form, tools=tools)
        try:
            return {**await episode.run(ask, self._parameters), **episode.record}
        except ModelError as error:
            if error.outcome != OVERFLOW:
                raise
            end = {"response": None, "error": CONTEXT_OVERFLOW, "problem": str(error)}
            return {"outcome": OVERFLOW, **end, **episode.record}
        finally:
            episode.close()


def write_predictions(output: Path, tasks: Iterable[Task], journal: Journal) -> int:
    """Write the prediction file from the journal. Writes none if no task is done. Returns the number of
    lines.
    """
    lines = list(prediction_lines(tasks, journal))
    return write_json_lines(output, lines) if lines else 0


_FIX = "write the file with inference.py, or remove the line"


def read_predictions(
    path: Path, tasks: Iterable[Task], *, unknown: list[str] | None = None
) -> dict[str, tuple[str, TaskResult]]:
    """Read a prediction file: the outcome and the result of each task, by task id. The last line of a task
    counts.

    A missing `outcome` means `answered`. A missing `error` means none, except after a context overflow.

    Args:
        path: the prediction file.
        tasks: of the data folder.
        unknown: receives the ids that no task has, with their line numbers; these lines are ignored.

    Raises:
        UsageError: the file does not exist, a line is malformed, or its request differs from the task's.
    """
    queries = {task.id: task.query for task in tasks}
    found: dict[str, tuple[str, TaskResult]] = {}
    for line, entry in read_json_lines(path, fix="run inference.py first, or check --llm"):
        calls = entry.get("function_calls") if isinstance(entry, dict) else None
        if not isinstance(calls, list) or not all(isinstance(text, str) for text in calls):
            raise UsageError(
                "is not a prediction: it has no list 'function_calls'", file=path, line=line, fix=_FIX
            )
        name = str(entry.get("id"))
        if name not in queries:
            if unknown is not None:
                unknown.append(f"{name[:80]!r} (line {line})")
            continue
        if entry.get("query", queries[name]) != queries[name]:
            raise UsageError(
                f"the request of the task {name!r} has changed since",
                file=path,
                line=line,
                fix="run inference.py again",
            )
        outcome = str(entry.get("outcome", "answered"))
        error = str(entry.get("error") or (CONTEXT_OVERFLOW if outcome == OVERFLOW else ""))
        found[name] = outcome, TaskResult(queries[name], tuple(calls), error)
    return found
