"""Models that solve the requests of samples blind, for a second opinion on the gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.files import safe_name
from toolassay.gates.gate import Background
from toolassay.gates.labelled_set import Selected
from toolassay.gates.second_opinion_gate import SecondOpinionGate, Solver
from toolassay.runs.settings import RunSettings
from toolassay.stages.infer import infer


def ask_solvers(
    golds: Selected,
    background: Background,
    *,
    solvers: Sequence[str],
    folder: DataFolder,
    predictions: Path,
    run: RunSettings,
) -> tuple[SecondOpinionGate, bool]:
    """Have each solver plan what it has not planned yet.

    Args:
        golds: the samples whose requests are asked.
        background: their tools.
        solvers: the models.
        folder: holds the requests and the tools.
        predictions: the folder of the predictions; those there count.
        run: endpoint, limits and choices of the runs.

    Returns:
        The gate that knows what they answered, and whether each answered everything.

    Raises:
        UsageError: a request is missing in `user_requests.json`, or settings contradict a run.
        ToolassayError: a model cannot be reached.
    """
    ids = [gold.id for gold in golds]
    complete = True
    for name in solvers if ids else ():
        ended = infer(
            folder.path,
            model=replace(run.model, llm=name),
            limits=run.limits,
            choices=replace(run.choices, ids=ids, prediction_dir=str(predictions.resolve())),
            dependency_type=background.kind,
            command=run.command,
            screen=run.screen,
        )
        complete = complete and ended.summary.complete
    files = [Solver(name, predictions / f"{safe_name(name)}.json") for name in solvers]
    return SecondOpinionGate(files, background, golds.lines), complete
