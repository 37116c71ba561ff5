"""Runs solvers, models that plan the requests without seeing the gold, for the second-opinion gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.files import safe_name
from toolassay.gates.gate import Background
from toolassay.gates.labelled_set import Selected
from toolassay.gates.second_opinion_gate import Solver
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
) -> tuple[tuple[Solver, ...], bool]:
    """Let each solver plan the requests that it has not planned yet.

    Args:
        golds: The samples whose requests are sent.
        background: Their tools.
        solvers: Names of the models.
        folder: Folder with the requests and the tools.
        predictions: Prediction folder; existing predictions are used.
        run: Endpoint, limits and choices of the runs.

    Returns:
        The solvers with their predictions, and whether every solver answered every request.

    Raises:
        UsageError: A request is missing in `user_requests.json`, or the settings differ from those of a run.
        ToolassayError: A model cannot be reached.
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
    files = (predictions.absolute() / f"{safe_name(name)}.json" for name in solvers)
    return tuple(map(Solver, solvers, files)), complete
