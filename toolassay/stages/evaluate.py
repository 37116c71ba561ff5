"""Scores predictions, and compares the scores of models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.registry import benchmark_of, benchmarks, own_options
from toolassay.data_folder import BY_RULES, DataFolder
from toolassay.engines import open_engine
from toolassay.errors import UsageError
from toolassay.evaluation.comparison import Comparison, compare_models, scored_models
from toolassay.evaluation.evaluation import (
    Evaluations,
    FolderEvaluation,
    IncompleteEvaluation,
    ScoringSettings,
)
from toolassay.evaluation.groups import OVERALL_GROUP, groups_of
from toolassay.evaluation.places import metrics_folder
from toolassay.files import write_json
from toolassay.requests import read_ids
from toolassay.runs.outcomes import excluded_phrase, scored_phrase
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.leaderboard import keep_leaderboard


def evaluate(
    data_dir: str | Path = "data_huggingface",
    *,
    llm: str | Sequence[str] = "gpt-4",
    prediction_dir: str | Path = "predictions",
    save_dir: str | Path | None = None,
    ids: Path | Collection[str | int] | None = None,
    limit: int | None = None,
    own: Any = None,
    engine: str | None = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Evaluations:
    """Score the predictions of one or several models and write `leaderboard.md`.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of one or several models; "all" is every model with a prediction file.
        prediction_dir: Prediction folder, below `data_dir` or as a path.
        save_dir: Output folder, below `data_dir`; default: the name of the prediction folder with "metrics"
            in place of "predictions".
        ids: Score only these items; the formats are those of `infer`.
        limit: Score only the items that `infer` runs with this limit.
        own: Options of the folder's benchmark, an instance of its `options.scoring`.
        engine: Where the items are scored: `local:N` for N processes, `dask://HOST:PORT` for a cluster; None
            for this machine.
        screen: Receives messages, results and progress.
        keywords: Fields of these options; they replace the fields of `own`.

    Returns:
        One evaluation per model: its metrics by group, and the metrics file.

    Raises:
        UsageError: A file is missing or malformed, or an option belongs to another benchmark.
        TypeError: A keyword is unknown.
        IncompleteEvaluation: Some of several models cannot be scored; it carries the scores of the others.
    """
    folder = DataFolder(Path(data_dir))
    benchmark = benchmark_of(folder)
    options = own_options("evaluate", benchmark, own, keywords)
    if engine is not None and not benchmark.options.scores_on_engine:
        raise UsageError(f"{benchmark.about.title} is scored in one process", fix="omit --engine")
    only = read_ids(ids) if isinstance(ids, Path) else ids
    models = (llm,) if isinstance(llm, str) else tuple(llm)
    scoring = ScoringSettings(models, prediction_dir, save_dir, only, limit, screen)
    try:
        if engine is None:
            found = Evaluations(benchmark.evaluate(folder, scoring, options))
        else:
            with open_engine(engine) as opened:
                found = Evaluations(benchmark.evaluate(folder, replace(scoring, engine=opened), options))
    except IncompleteEvaluation as error:
        _finish(folder, prediction_dir, error.evaluations, screen)
        raise
    _finish(folder, prediction_dir, found, screen)
    return found


def _finish(
    folder: DataFolder, prediction_dir: str | Path, evaluations: Sequence[FolderEvaluation], screen: Screen
) -> None:
    if evaluations and (board := keep_leaderboard(folder.path, prediction_dir, evaluations[0].path.parent)):
        screen.say(f"leaderboard: {board}")
    _warn_of_partial(evaluations, screen)
    if folder.is_by_rules:
        screen.say(f"the data set is {BY_RULES}")


def _warn_of_partial(evaluations: Iterable[FolderEvaluation], screen: Screen) -> None:
    for evaluation in evaluations:
        if note := evaluation.evaluation.groups.get(OVERALL_GROUP, {}).get("notes", {}).get("answers"):
            screen.say(f"{evaluation.llm}: {note}")
        for number, ran, first in evaluation.short_trials:
            screen.say(
                f"{WARNING}{evaluation.llm}: trial {number} has {ran} of {first} items: stability is "
                "computed from fewer runs; the same inference.py command sends the rest"
            )
        for numbers in evaluation.counted:
            if numbers["partial"]:
                screen.say(
                    f"{WARNING}{evaluation.llm}: {scored_phrase(numbers)} (excluded: "
                    f"{excluded_phrase(numbers['outcomes'])}); other items are not scored. The same "
                    "inference.py command sends the rest; evaluate.py --limit N or --ids FILE scores a subset"
                )
                break


def compare(
    *models: str | Path,
    data_dir: str | Path = "data_huggingface",
    prediction_dir: str | Path = "predictions",
    metrics: Sequence[str] = (),
    split: str = "overall",
    n_tools: str | int = "overall",
    resamples: int = 10_000,
    seed: int = 0,
    save: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> Comparison:
    """Compare models on the items they share; the first model is the baseline.

    Args:
        models: Two or more models, each as a name in the data folder's metrics or as the path of an
            `.items.jsonl` or metrics `.json` file.
        data_dir: Data folder; not needed if all models are paths.
        prediction_dir: Prediction folder whose metrics are compared, as for `evaluate`.
        metrics: Names of strict scores; empty for all that both models have.
        split: "overall", "single", "chain" or "dag".
        n_tools: "overall", or 1 to 10.
        resamples: Number of resamples of the bootstrap and of the randomisation test.
        seed: Random seed of both.
        save: JSON file for the result.
        screen: Receives messages, results and progress.

    Returns:
        For each model and the baseline: means, difference with 95 % interval, p-values, and the smallest
        detectable effect.

    Raises:
        UsageError: There are fewer than two models, one was not evaluated, or their items do not match.
    """
    if len(models) < 2:
        raise UsageError("nothing to compare", fix="name two models, the baseline first")
    if resamples < 1:
        raise UsageError(f"{resamples} resamples", fix="give --resamples 1 or more")
    groups = groups_of([split], [n_tools], "mul")
    if len(groups) != 1:
        raise UsageError(
            "only one group of items can be compared at a time", fix="give one --split and one --n_tools"
        )
    files = scored_models(
        [str(model) for model in models],
        lambda: metrics_folder(DataFolder(Path(data_dir)).require().path, prediction_dir),
    )
    result = compare_models(
        files,
        group=groups[0],
        metrics=metrics,
        resamples=resamples,
        seed=seed,
        clusters={one.name: one.about.cluster for one in benchmarks() if one.about.cluster},
    )
    for note in result.notes:
        screen.say(f"{WARNING}{note.removeprefix(WARNING)}")
    if save is not None:
        write_json(Path(save), result.to_json())
    return result
