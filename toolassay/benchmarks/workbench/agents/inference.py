"""Runs an agent over many tasks: one journal entry per task, the prediction file (written and read), and
the dry run.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.agents.episode import Episode, WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.native_and_react import call_format
from toolassay.benchmarks.workbench.judge.error_classes import CONTEXT_OVERFLOW
from toolassay.benchmarks.workbench.judge.evaluation import Result
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import WorkplaceTool, toolset_of
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, write_json_lines
from toolassay.models import ChatModel, ChatRequest, ModelError
from toolassay.models.registry import is_served
from toolassay.runs import Journal, Loop, run_unsettled
from toolassay.runs.budget import Estimate, size_of
from toolassay.runs.retry_malformed import BEGUN, COUNT, RetryPlan
from toolassay.runs.runner import AT_A_LIMIT
from toolassay.text_formatting import count_of

OVERFLOW = "context overflow"
_FINAL = ("answered", "malformed", "refused", OVERFLOW)
_FEW = 0.05  # share of tasks; more than this ended by a limit suggest that the limit is too low


def entry_of(journal: Journal, task: Task) -> dict[str, Any]:
    """The journal entry of a task; empty if there is none, or it is for an earlier wording of the request."""
    entry = journal.get(task.id)
    return entry if entry.get("query") == task.query else {}


def is_settled(entry: Mapping[str, Any]) -> bool:
    """Whether the entry of a task is final, so that a continued run does not repeat it."""
    return entry.get("outcome") in _FINAL and "error" in entry


def is_passed_over(entry: Mapping[str, Any], retry: RetryPlan) -> bool:
    """Whether this start of the run skips a task: it has a usable final answer, or is not to be repeated."""
    unusable = entry.get("outcome") == "malformed" or bool(entry.get("cut_off"))
    return retry.skips(settled=is_settled(entry), unusable=unusable)


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


class WorkbenchAgents:
    """Runs an agent on every task, each on its own sandbox. An interrupted run is continued from the journal.

    Args:
        sandbox: the state before every run.
        settings: of the agent.
        parameters: of the requests.
        found: gives the sandbox and the tools for a task, if they are not the same for all (security probes).
    """

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

    def run(self, tasks: Iterable[Task], model: ChatModel, journal: Journal, loop: Loop) -> int:
        """Run the tasks that are not done yet. Returns how many were done before.

        Raises:
            ToolassayError: the run cannot continue.
            KeyboardInterrupt: after Ctrl-C, when the requests in flight have ended.
        """

        async def work(task: Task) -> str:
            return await self._work(model, task, journal, loop.retry)

        def stopped(task: Task, error: ModelError) -> None:
            if not entry_of(journal, task):
                journal.append(
                    task.id, {"outcome": error.outcome, "query": task.query, "problem": str(error)}
                )

        return run_unsettled(
            tasks,
            work,
            settled=lambda task: is_passed_over(entry_of(journal, task), loop.retry),
            models=[model],
            loop=loop,
            stopped=stopped,
        )

    async def _work(self, model: ChatModel, task: Task, journal: Journal, retry: RetryPlan) -> str:
        sandbox, tools = self._found(task)
        known = entry_of(journal, task)
        is_again = is_settled(known)
        # A repeated task keeps its earlier answer until the new one is complete; its progress is stored
        # beside it.
        progress = known.get(BEGUN, {}) if is_again else known
        episode = Episode(task, sandbox, self._settings, progress, self._form, tools=tools)

        def keep() -> None:  # a process that is killed has paid for the answers
            begun = {"outcome": "not run", "query": task.query, "response": None, **episode.progress}
            journal.append(task.id, {**known, BEGUN: episode.progress} if is_again else begun)

        try:
            kept = (keep,) if is_served(model.name) else ()
            end = await episode.run(model, self._parameters, *kept)
        except (ModelError, asyncio.CancelledError) as error:
            if is_again:  # the earlier answer stays valid
                if episode.progress:
                    journal.append(task.id, {**known, BEGUN: episode.progress})
                raise
            if isinstance(error, ModelError) and error.outcome == OVERFLOW:
                # A second attempt would overflow as well, so the calls made so far are the result.
                end = {
                    "outcome": OVERFLOW,
                    "response": None,
                    "error": CONTEXT_OVERFLOW,
                    "problem": str(error),
                }
                journal.append(
                    task.id, {"query": task.query, "function_calls": [], **end, **episode.progress}
                )
                return OVERFLOW
            outcome = error.outcome if isinstance(error, ModelError) else "not run"
            settles = isinstance(error, ModelError) and error.settles
            if episode.progress or settles:
                paid = {"response": None, **episode.progress} if episode.progress else {}
                entry = {"outcome": outcome, "query": task.query, "problem": str(error), **paid}
                journal.append(task.id, entry)
            raise
        else:
            entry = {"outcome": end["outcome"], "query": task.query, **end, **episode.progress}
            if is_again:
                retry.replaced += 1
                entry[COUNT] = known.get(COUNT, 0) + 1
            journal.append(task.id, entry)
            return AT_A_LIMIT if "limit" in end else str(end["outcome"])
        finally:
            episode.close()


def write_predictions(output: Path, tasks: Iterable[Task], journal: Journal) -> int:
    """Write the prediction file from the journal. Writes none if no task is done. Returns the number of
    lines.
    """
    lines = list(prediction_lines(tasks, journal))
    return write_json_lines(output, lines) if lines else 0


@dataclass(frozen=True)
class DryRunPreview:
    """The result of a dry run.

    Attributes:
        already: number of tasks that are done.
        first: the first request that would be sent; None if there is none.
    """

    already: int
    first: ChatRequest | None


def preview_requests(
    tasks: Iterable[Task],
    sandbox: Sandbox,
    settings: WorkbenchAgentSettings,
    parameters: Mapping[str, Any],
    journal: Journal,
    estimate: Estimate,
    retry: RetryPlan | None = None,
) -> DryRunPreview:
    """Add the next request of each unfinished task to `estimate`. Nothing is sent or written.

    Args:
        tasks: the tasks of the run.
        sandbox: the state before every run.
        settings: of the agent.
        parameters: of the requests.
        journal: of the run; may be open read-only.
        estimate: receives one request per task, because the number of steps is unknown.
        retry: which completed tasks would be repeated.
    """
    retry = retry or RetryPlan()
    already, first, form = 0, None, call_format(settings.agent, structured=settings.is_structured)
    for task in tasks:
        entry = entry_of(journal, task)
        if is_passed_over(entry, retry):
            already += 1
            continue
        progress = entry.get(BEGUN, {}) if is_settled(entry) else entry
        request = Episode(task, sandbox, settings, progress, form).next_request(parameters)
        first = first or request
        estimate.add(size_of(request))
    return DryRunPreview(already - retry.left, first)


_FIX = "write the file with inference.py, or remove the line"


def read_predictions(
    path: Path, tasks: Iterable[Task], *, unknown: list[str] | None = None
) -> dict[str, tuple[str, Result]]:
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
    found: dict[str, tuple[str, Result]] = {}
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
        found[name] = outcome, Result(queries[name], tuple(calls), error)
    return found
