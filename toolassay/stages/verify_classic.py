"""Verifying a run of CLASSic: every answer is read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.agents.inference import agent_of, entry_of
from toolassay.benchmarks.classic.agents.predictions import prediction_rows, reparse_entry
from toolassay.benchmarks.classic.agents.settings import ClassicAgentSettings
from toolassay.benchmarks.classic.data import read_data
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.runs import Journal, recorded_settings
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.ledger import FREE
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.runs.trials import number_of
from toolassay.screen import Screen


def chat_rows(
    folder: DataFolder, llm: str, run: Path, journal: Journal, work: Path, screen: Screen
) -> Iterator[dict[str, Any]]:
    """The rows of the prediction file, made anew.

    Args:
        folder: the tables.
        llm: the model.
        run: where the manifest is.
        journal: of the run.
        work: where a journal of the choices made anew may be kept.
        screen: told what is not read again.

    Raises:
        UsageError: there is no manifest, or an entry of the journal cannot be read.
    """
    settings = recorded_settings(run)
    if settings is None:
        raise UsageError("no such file", file=run / MANIFEST, fix="it says how the agent was run")
    name, order = str(settings.get("agent", "cot")), str(settings.get("order", "table"))
    examples = read_data(folder.path).examples
    trial = number_of(run.parent.parent)
    if name == "recorded":
        screen.say("recorded answers are taken as the journal has them")
        yield from prediction_rows(examples, journal, trial=trial, order=order, free=False)
        return
    agent = agent_of(ClassicAgentSettings(name, order))
    with Journal(work / JOURNAL) as remade, screen.progress("read", len(examples)) as advance:
        for example in examples:
            if entry := entry_of(journal, example.question):
                try:
                    made = run_coroutine(reparse_entry(example.question, agent, order, entry))
                except (KeyError, TypeError, AttributeError):
                    raise UsageError(
                        f"the entry of {example.id!r} holds no answers",
                        file=run / JOURNAL,
                        fix="remove its line",
                    ) from None
                remade.append(example.id, made)
            advance()
        yield from prediction_rows(examples, remade, trial=trial, order=order, free=llm in FREE)
