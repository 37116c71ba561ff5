"""Scores predictions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, overload

from toolassay.benchmarks.registry import SCORING_OPTIONS, benchmark_of
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.engines import EngineName, open_engine
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.evaluation import (
    Evaluations,
    FolderEvaluation,
    IncompleteEvaluation,
    ScoringSettings,
)
from toolassay.evaluation.places import EVERY_MODEL, default_predictions, prediction_file, prediction_folder
from toolassay.models import ModelOptions
from toolassay.records.data_folder import BY_RULES, DataFolder
from toolassay.records.requests import read_ids
from toolassay.runs.settings import PREDICTIONS, ModelSettings, RunChoices, RunSettings
from toolassay.stages.leaderboard import keep_leaderboard


@overload
def evaluate(
    data_dir: str | Path,
    *,
    llm: str,
    prediction_dir: str | Path = ...,
    save_dir: str | Path | None = ...,
    ids: Path | Collection[str | int] | None = ...,
    limit: int | None = ...,
    own: Any = ...,
    engine: EngineName = ...,
    judge: str | None = ...,
    options: ModelOptions | None = ...,
    screen: Screen = ...,
) -> FolderEvaluation: ...


@overload
def evaluate(
    data_dir: str | Path,
    *,
    llm: list[str] | tuple[str, ...] | None = ...,
    prediction_dir: str | Path = ...,
    save_dir: str | Path | None = ...,
    ids: Path | Collection[str | int] | None = ...,
    limit: int | None = ...,
    own: Any = ...,
    engine: EngineName = ...,
    judge: str | None = ...,
    options: ModelOptions | None = ...,
    screen: Screen = ...,
) -> Evaluations: ...


def evaluate(
    data_dir: str | Path,
    *,
    llm: str | Sequence[str] | None = None,
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    ids: Path | Collection[str | int] | None = None,
    limit: int | None = None,
    own: Annotated[Any, SCORING_OPTIONS] = None,
    engine: EngineName = None,
    judge: str | None = None,
    options: ModelOptions | None = None,
    screen: Screen = DEFAULT,
) -> FolderEvaluation | Evaluations:
    """Score the predictions of one or several models and write `leaderboard.md`.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of a model, or of several; None for every model with a prediction file.
        prediction_dir: Prediction folder, below `data_dir` or as a path.
        save_dir: Output folder, below `data_dir`; default: the name of the prediction folder with "metrics"
            in place of "predictions".
        ids: Score only these items; the formats are those of `infer`.
        limit: Score only the items that `infer` runs with this limit.
        own: Options of the folder's benchmark, an instance of its `options.scoring`; None for the defaults.
        engine: Where the items are scored: `local:N` for N processes, `dask://HOST:PORT` for a cluster; None
            for this machine.
        judge: Model that decides about facts of a final text where the rule cannot; its answers are kept.
        options: Endpoint of the judge.
        screen: Receives messages, results and progress.

    Returns:
        The result of the model that is named; a list of results for several names or None.

    Raises:
        UsageError: A file is missing or malformed.
        IncompleteEvaluation: Some of several models cannot be scored; it carries the scores of the others.
    """
    folder = DataFolder(Path(data_dir))
    benchmark = benchmark_of(folder)
    own_options = benchmark.options.scoring() if own is None else own
    if engine is not None and not benchmark.options.scores_on_engine:
        raise UsageError(f"{benchmark.about.title} is scored in one process", fix="omit --engine")
    judging = None
    if judge is not None:
        judging = RunSettings(ModelSettings(judge, options), choices=RunChoices(), screen=screen)
    only = read_ids(ids) if isinstance(ids, Path) else ids
    if llm == EVERY_MODEL:
        warnings.warn("llm='all' is the command line's: omit llm", DeprecationWarning, stacklevel=3)
        llm = None
    models: Sequence[str] = [EVERY_MODEL]
    if llm is not None:
        models = [llm] if isinstance(llm, str) else list(llm)
    if Path(prediction_dir) == Path(PREDICTIONS):
        prediction_dir = default_predictions(folder.path, models[0]) or PREDICTIONS
    scoring = ScoringSettings(models, prediction_dir, save_dir, only, limit, screen)
    try:
        if engine is None:
            evaluations = Evaluations(benchmark.evaluate(folder, scoring, own_options))
        else:
            with open_engine(engine) as opened:
                evaluations = Evaluations(
                    benchmark.evaluate(folder, replace(scoring, engine=opened), own_options)
                )
    except IncompleteEvaluation as error:
        _finish(folder, prediction_dir, error.evaluations, screen, judging)
        raise
    _finish(folder, prediction_dir, evaluations, screen, judging)
    return evaluations[0] if isinstance(llm, str) else evaluations


def _finish(
    folder: DataFolder,
    prediction_dir: str | Path,
    evaluations: Sequence[FolderEvaluation],
    screen: Screen,
    judging: RunSettings | None,
) -> None:
    for folder_evaluation in evaluations:
        predictions = prediction_folder(folder.path, Path(prediction_dir))
        if (predictions / "executions").is_dir():
            from toolassay.stages.outcomes import judge_agent

            judge_agent(
                folder,
                prediction_file(folder.path, predictions.absolute(), folder_evaluation.llm),
                folder_evaluation.path,
                screen,
                judging,
            )
    if evaluations and (board := keep_leaderboard(folder.path, prediction_dir, evaluations[0].path.parent)):
        screen.say(f"leaderboard: {board}")
    for evaluation in evaluations:
        if note := evaluation.whole.get("notes", {}).get("answers"):
            screen.say(f"{evaluation.llm}: {note}")
        for number, ran, most in evaluation.short_trials:
            screen.say(
                f"{WARNING}{evaluation.llm}: trial {number} has {ran} of {most} items: the others count with "
                f"fewer runs; the same {as_called('infer')} command sends the rest"
            )
        for group in evaluation.counted:
            if (counts := group.counts) and counts.partial:
                screen.say(
                    f"{WARNING}{evaluation.llm}: {counts.phrase} (excluded: "
                    f"{group.excluded}); other items are not scored. The same "
                    f"{as_called('infer')} command sends the rest; --limit N or --ids FILE of "
                    f"{as_called('evaluate')} scores a subset"
                )
                break
    if folder.benchmark.is_by_rules:
        screen.say(f"the data set is {BY_RULES}")
