"""Scores predictions, compares the scores of models, and recomputes recorded ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.benchmark import Benchmark
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
from toolassay.evaluation.groups import groups_of
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import read_groups, signature_of
from toolassay.evaluation.places import (
    default_predictions,
    find_metrics_folder,
    metrics_folder,
    prediction_file,
    prediction_folder,
)
from toolassay.evaluation.verification import (
    NEW,
    LineComparison,
    RecordedRun,
    listed,
    moved_items,
    moved_scores,
    signatures,
)
from toolassay.files import write_json, write_json_lines
from toolassay.locks import temporary_folder
from toolassay.requests import read_ids
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.runs.outcomes import AskedCounts, excluded_phrase
from toolassay.runs.recorded_usage import recorded_journal
from toolassay.runs.settings import PREDICTIONS
from toolassay.runs.trials import Trial, trials_of
from toolassay.screen import DEFAULT, SILENT, WARNING, Screen, once
from toolassay.stages.leaderboard import keep_leaderboard
from toolassay.tables import Result
from toolassay.text_formatting import count_of


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
    if Path(prediction_dir) == Path(PREDICTIONS):
        prediction_dir = default_predictions(folder.path, models[0]) or PREDICTIONS
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
    for one in evaluations:
        place = prediction_folder(folder.path, Path(prediction_dir))
        if (place / "executions").is_dir():
            from toolassay.stages.execute import judge_agent

            judge_agent(folder, prediction_file(folder.path, place.absolute(), one.llm), one.path, screen)
    if evaluations and (board := keep_leaderboard(folder.path, prediction_dir, evaluations[0].path.parent)):
        screen.say(f"leaderboard: {board}")
    for evaluation in evaluations:
        if note := evaluation.whole.get("notes", {}).get("answers"):
            screen.say(f"{evaluation.llm}: {note}")
        for number, ran, first in evaluation.short_trials:
            screen.say(
                f"{WARNING}{evaluation.llm}: trial {number} has {ran} of {first} items: stability is "
                "computed from fewer runs; the same inference.py command sends the rest"
            )
        for numbers in evaluation.counted:
            if (counts := AskedCounts.read(numbers)) and counts.partial:
                screen.say(
                    f"{WARNING}{evaluation.llm}: {counts.phrase} (excluded: "
                    f"{excluded_phrase(numbers['outcomes'])}); other items are not scored. The same "
                    "inference.py command sends the rest; evaluate.py --limit N or --ids FILE scores a subset"
                )
                break
    if folder.benchmark.is_by_rules:
        screen.say(f"the data set is {BY_RULES}")


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

    def metrics_of(model: str) -> Path:
        home = DataFolder(Path(data_dir)).require().path
        is_default = str(prediction_dir) == PREDICTIONS
        return metrics_folder(home, (is_default and default_predictions(home, model)) or prediction_dir)

    files = scored_models([str(model) for model in models], metrics_of)
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


_BERTSCORE = "bertscore"
_VERSIONS = {"toolassay": "version", "mode": "mode"}  # parts of a signature whose change is no difference


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """Differences of prediction lines, and messages about differing scores; both empty if all is equal."""

    lines: LineComparison
    scores: list[str]

    @property
    def is_equal(self) -> bool:
        """Whether predictions and scores match the raw answers."""
        return self.lines.is_equal and not self.scores


def verify(
    data_dir: str | Path = "data_huggingface",
    *,
    llm: str,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    own: Any = None,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Verification:
    """Recompute predictions and scores of a model from its journal and report differences.

    Nothing is written to the data folder.

    Args:
        data_dir: Data folder of any benchmark.
        llm: Name of the model.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its `runs/<llm>/journal.jsonl` has
            the raw answers.
        metrics_dir: Metrics folder, below `data_dir` or as a path; default: that of the predictions.
        own: Options of the benchmark that the scores were made with, an instance of its `options.scoring`.
        screen: Receives messages, results and progress.
        keywords: Fields of these options; they replace the fields of `own`.

    Raises:
        UsageError: There is no journal or no prediction file, or a file is malformed.
        TypeError: A keyword is unknown.
    """
    screen = replace(screen, say=once(screen.say))
    folder = DataFolder(Path(data_dir)).require()
    benchmark = benchmark_of(folder)
    options = own_options("evaluate", benchmark, own, keywords)
    file = prediction_file(folder.path, Path(prediction_dir), llm)
    run = file.parent / "runs" / file.stem
    metrics = find_metrics_folder(folder.path, file.parent.absolute(), metrics_dir) / file.name
    with (
        temporary_folder() as name,
        recorded_journal(run / JOURNAL) as journal,
    ):
        recorded = RecordedRun(folder, llm, run, journal, name, screen)
        comparison = LineComparison()
        lines = benchmark.verify(recorded, options, comparison)
        write_json_lines(recorded.work / "predictions" / file.name, comparison.watch(lines, file))
        adopted = f"; {comparison.adopted} of them taken over without a raw answer" * bool(comparison.adopted)
        screen.show(f"{file}: {count_of(comparison.made, 'line')} re-parsed{adopted}")
        for line in comparison.report():
            screen.show(line)
        scores: list[str] = []
        if metrics.is_file():
            scores = list(_scores(benchmark, recorded, options, metrics, file))
        else:
            screen.say(f"{metrics}: no such file; scores are not compared (evaluate.py writes them)")
    for line in scores:
        screen.show(line)
    verification = Verification(comparison, scores)
    if verification.is_equal:
        both = " and scores are" if metrics.is_file() else " are"
        screen.show(f"equal: predictions{both} what the raw answers give")
    return verification


def _scores(
    benchmark: Benchmark, recorded: RecordedRun, own: Any, metrics: Path, file: Path
) -> Iterator[str]:
    """Messages about differences between the metrics file and the recomputed scores."""
    screen, llm = recorded.screen, recorded.llm
    predictions, target = recorded.work / "predictions", recorded.work / "metrics"
    old = read_groups(metrics)
    before = next(iter(old.values()))
    parts = signature_of(before)
    # Scores of a subset: the file of items lists its ids.
    chosen = [item.id for item in read_items(items_path(metrics))] if "chosen" in parts else None
    left_out: list[str] = []
    if parts.get(_BERTSCORE, "none") != "none":
        left_out.append(_BERTSCORE)
        screen.say(f"BERTScore is not recomputed (it was made with {parts[_BERTSCORE]})")
    _bring(trials_of(file.parent, llm), predictions)
    for there in file.parent.glob(f"security*/{file.name}"):
        copy = predictions / there.relative_to(file.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.symlink_to(there.absolute())
    scoring = ScoringSettings(
        (llm,), predictions, target, chosen, screen=replace(SILENT, progress=screen.progress)
    )
    recorded_scoring = benchmark.scores.recorded
    own = own if recorded_scoring is None else recorded_scoring(old, metrics)
    (result,) = benchmark.evaluate(DataFolder(recorded.folder.path.absolute()), scoring, own)
    new = read_groups(result.path)
    if "n_labels" not in before["strict"]:
        left_out += NEW
    otherwise = signatures(before, new[next(iter(old))], benchmark.scores.fingerprint(file), left_out)
    for one in otherwise:
        if one.place in _VERSIONS:
            screen.say(f"scored with {_VERSIONS[one.place]} {one.old}, this is {one.new}")
    yield from listed(
        f"{metrics}: computed from other inputs than the current ones:",
        [one for one in otherwise if one.place not in _VERSIONS],
    )
    yield from listed(f"{metrics}: scores that differ:", moved_scores(old, new, left_out))
    items = items_path(metrics)
    if not items.is_file():
        yield f"{items}: no such file; evaluate.py writes it beside the scores"
        return
    moved = moved_items(items, items_path(result.path), left_out)
    yield from listed(f"{items}: {count_of(len(moved), 'item')} with differences:", moved, most=5)


def _bring(trials: Iterable[Trial], predictions: Path) -> None:
    """Link the files that are not recomputed: further trials, and ledgers and manifests of all trials."""
    for trial in trials:
        there = replace(trial, predictions=predictions)
        pairs = [
            (trial.ledger, there.ledger),
            (trial.run_folder / MANIFEST, there.run_folder / MANIFEST),
            (trial.run_folder / JOURNAL, there.run_folder / JOURNAL),
            *([(trial.output, there.output)] if trial.number else []),
        ]
        for given, wanted in pairs:
            if given.is_file():
                wanted.parent.mkdir(parents=True, exist_ok=True)
                wanted.symlink_to(given.absolute())
