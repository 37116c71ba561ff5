"""Verifying a run of WorkBench: every conversation is gone through again, its calls carried out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.agents.episode import WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.inference import entry_of, is_settled, prediction_lines
from toolassay.benchmarks.workbench.agents.verification import rerun_entry
from toolassay.benchmarks.workbench.workplace_stages import load_workplace
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.runs import Journal, recorded_settings
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.screen import Screen
from toolassay.text_formatting import count_of


def agent_lines(
    folder: DataFolder, run: Path, journal: Journal, work: Path, *, allow_tools: bool, screen: Screen
) -> Iterator[dict[str, Any]]:
    """The lines of the prediction file, made anew.

    Args:
        folder: the tasks and the sandbox.
        run: where the manifest is.
        journal: of the run.
        work: where a journal of the conversations made anew may be kept.
        allow_tools: run the tools that the folder brings.
        screen: told where tools answer otherwise than they did.

    Raises:
        UsageError: there is no manifest, or an entry of the journal cannot be read.
    """
    settings = recorded_settings(run)
    if settings is None:
        raise UsageError("no such file", file=run / MANIFEST, fix="it says how the agents were run")
    known = {name: settings[name] for name in ("agent", "toolkit", "resample") if name in settings}
    agent = WorkbenchAgentSettings(**known)
    sandbox, tasks = load_workplace(folder.path, allow_tools=allow_tools)
    otherwise = 0
    with Journal(work / JOURNAL) as remade, screen.progress("read", len(tasks)) as advance:
        for task in tasks:
            entry = entry_of(journal, task)
            if is_settled(entry):
                try:
                    made = run_coroutine(rerun_entry(task, sandbox, agent, entry))
                except (KeyError, TypeError, AttributeError):
                    raise UsageError(
                        f"the entry of {task.id!r} holds no conversation",
                        file=run / JOURNAL,
                        fix="remove its line",
                    ) from None
                otherwise += made.pop("observations") != entry.get("observations", [])
                remade.append(task.id, {**entry, **made})
            advance()
        yield from prediction_lines(tasks, remade)
    if otherwise:
        screen.say(f"in {count_of(otherwise, 'task')} the tools answer otherwise than they did in the run")
