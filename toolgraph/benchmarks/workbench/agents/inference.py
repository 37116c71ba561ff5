"""Many tasks, one agent, one journal: an entry a task, with its whole conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolgraph.benchmarks.workbench.agents.episode import Episode
from toolgraph.benchmarks.workbench.agents.settings import AgentSettings
from toolgraph.benchmarks.workbench.judge.classes import CONTEXT_OVERFLOW
from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tasks import Task
from toolgraph.files import write_json_lines
from toolgraph.models import ChatModel, ModelError
from toolgraph.runs import Journal, RunSummary, run_items

OVERFLOW = "context overflow"
_FINAL = ("answered", "malformed", "refused", OVERFLOW)


def entry_of(journal: Journal, task: Task) -> dict[str, Any]:
    """What the journal holds for a task as it is worded now; empty if nothing."""
    entry = journal.get(task.id)
    return entry if entry.get("query") == task.query else {}


def is_settled(entry: Mapping[str, Any]) -> bool:
    """Whether a task has ended and is not tried again."""
    return entry.get("outcome") in _FINAL and "error" in entry


def prediction_lines(tasks: Iterable[Task], journal: Journal) -> Iterator[dict[str, Any]]:
    """The line of each task that has ended, in the order of the tasks."""
    for task in tasks:
        entry = entry_of(journal, task)
        if is_settled(entry):
            kept = {name: entry[name] for name in ("query", "function_calls", "outcome", "error")}
            yield {"id": task.id, **kept}


class Agents:
    """Runs an agent on every task, each on its own sandbox, continuing where it left off.

    Args:
        sandbox: as every run finds it.
        model: who decides.
        settings: of the agent.
        parameters: of the requests.
    """

    def __init__(
        self, sandbox: Sandbox, model: ChatModel, settings: AgentSettings, parameters: Mapping[str, Any]
    ) -> None:
        self._sandbox, self._model, self._settings = sandbox, model, settings
        self._parameters = parameters

    def run(
        self,
        tasks: Sequence[Task],
        journal: Journal,
        *,
        concurrency: int | None,
        done: Callable[[], None],
        interrupted: Callable[[int], None],
        summary: RunSummary,
    ) -> int:
        """Do what is not done yet; returns how many tasks were.

        Raises:
            ToolgraphError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
        """
        missing = [task for task in tasks if not is_settled(entry_of(journal, task))]
        for _ in range(len(tasks) - len(missing)):
            done()

        async def work(task: Task) -> str:
            return await self._work(task, journal)

        def stopped(task: Task, error: ModelError) -> None:
            if not entry_of(journal, task):
                journal.append(
                    task.id, {"outcome": error.outcome, "query": task.query, "problem": str(error)}
                )

        async def run_all() -> None:
            try:
                await run_items(
                    missing,
                    work,
                    concurrency=concurrency,
                    done=done,
                    stopped=stopped,
                    interrupted=interrupted,
                    summary=summary,
                )
            finally:
                await self._model.close()

        asyncio.run(run_all())
        if summary.interrupted:
            raise KeyboardInterrupt
        return len(tasks) - len(missing)

    async def _work(self, task: Task, journal: Journal) -> str:
        episode = Episode(task, self._sandbox, self._settings, entry_of(journal, task))
        try:
            end = await episode.run(self._model, self._parameters)
        except (ModelError, asyncio.CancelledError) as error:
            if isinstance(error, ModelError) and error.outcome == OVERFLOW:
                # The same conversation would only become too long again: what was done until then counts.
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
            journal.append(
                task.id, {"outcome": end["outcome"], "query": task.query, **end, **episode.progress}
            )
            return str(end["outcome"])
        finally:
            episode.close()


def write_predictions(output: Path, tasks: Iterable[Task], journal: Journal) -> int:
    """Write the prediction file anew from the journal; none where nothing has ended. Returns its lines."""
    lines = list(prediction_lines(tasks, journal))
    return write_json_lines(output, lines) if lines else 0
