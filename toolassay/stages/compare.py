"""Compares the scores of models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolassay.benchmarks.registry import benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.errors import UsageError
from toolassay.evaluation.comparison import Comparison, compare_models, scored_models
from toolassay.evaluation.groups import groups_of
from toolassay.evaluation.places import default_predictions, metrics_folder
from toolassay.files.data_files import write_json
from toolassay.records.data_folder import DataFolder
from toolassay.runs.settings import PREDICTIONS
from toolassay.stages.settings import ComparisonSettings


def compare(
    *models: str | Path,
    data_dir: str | Path | None = None,
    prediction_dir: str | Path = "predictions",
    settings: ComparisonSettings = ComparisonSettings(),
    save: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> Comparison:
    """Compare models on the items they share; the first model is the baseline.

    Args:
        models: Two or more models, each as a name in the data folder's metrics or as the path of an
            `.items.jsonl` or metrics `.json` file.
        data_dir: Data folder; not needed if all models are paths.
        prediction_dir: Prediction folder whose metrics are compared, as for `evaluate`.
        settings: Which scores and items, and the resamples of bootstrap and randomisation test.
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
    groups = groups_of([settings.split], [settings.n_tools], "mul")
    if len(groups) != 1:
        raise UsageError(
            "only one group of items can be compared at a time", fix="give one --split and one --n_tools"
        )

    files = scored_models([str(model) for model in models], metrics_by_name(data_dir, prediction_dir))
    result = compare_models(
        files,
        group=groups[0],
        metrics=settings.metrics,
        resamples=settings.resamples,
        seed=settings.seed,
        clusters={
            benchmark.name: benchmark.about.cluster for benchmark in benchmarks() if benchmark.about.cluster
        },
    )
    for note in result.notes:
        screen.say(f"{WARNING}{note.removeprefix(WARNING)}")
    if save is not None:
        write_json(Path(save), result.to_json())
    return result


def metrics_by_name(data_dir: str | Path | None, prediction_dir: str | Path) -> Callable[[str], Path]:
    """A function that returns the metrics folder of a model; it refuses a name without a data folder."""

    def metrics_of(model: str) -> Path:
        if data_dir is None:
            raise UsageError(f"{model} is no file, so it needs a data folder", fix="add --data_dir")
        home = DataFolder(Path(data_dir)).require().path
        is_default = str(prediction_dir) == PREDICTIONS
        return metrics_folder(home, (is_default and default_predictions(home, model)) or prediction_dir)

    return metrics_of
