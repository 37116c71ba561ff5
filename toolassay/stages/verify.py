"""Recomputes recorded predictions and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import VERIFY_OPTIONS, benchmark_of
from toolassay.console.screen import DEFAULT, SILENT, Screen, once
from toolassay.console.tables import Result
from toolassay.console.text_formatting import count_of
from toolassay.errors import as_called
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import STRICT_MODE, read_groups
from toolassay.evaluation.places import find_metrics_folder, prediction_file
from toolassay.evaluation.verification import (
    NEW,
    NEW_IN_MODE,
    LineComparison,
    RecordedRun,
    listed,
    moved_items,
    moved_scores,
    signatures,
)
from toolassay.files.data_files import write_json_lines
from toolassay.files.locks import temporary_folder
from toolassay.records.data_folder import DataFolder
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.runs.recorded_usage import recorded_journal
from toolassay.runs.trials import Trial, trials_of

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
    data_dir: str | Path,
    *,
    llm: str,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    own: Annotated[Any, VERIFY_OPTIONS] = None,
    screen: Screen = DEFAULT,
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

    Raises:
        UsageError: There is no journal or no prediction file, or a file is malformed.
    """
    screen = replace(screen, say=once(screen.say))
    folder = DataFolder(Path(data_dir)).require()
    benchmark = benchmark_of(folder)
    options = benchmark.options.scoring() if own is None else own
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
        screen.show(f"{file}: {count_of(comparison.compared, 'line')} re-parsed{adopted}")
        for line in comparison.report():
            screen.show(line)
        scores: list[str] = []
        if metrics.is_file():
            scores = list(_scores(benchmark, recorded, options, metrics, file))
        else:
            screen.say(
                f"{metrics}: no such file; scores are not compared ({as_called('evaluate')} writes them)"
            )
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
    parts = before.parts
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
    if "n_labels" not in before.strict:
        left_out += NEW
    if parts.get("mode") != STRICT_MODE:
        left_out += NEW_IN_MODE
    otherwise = signatures(before, new[next(iter(old))], benchmark.scores.fingerprint(file), left_out)
    for difference in otherwise:
        if difference.path in _VERSIONS:
            screen.say(f"scored with {_VERSIONS[difference.path]} {difference.old}, this is {difference.new}")
    yield from listed(
        f"{metrics}: computed from other inputs than the current ones:",
        [difference for difference in otherwise if difference.path not in _VERSIONS],
    )
    yield from listed(f"{metrics}: scores that differ:", moved_scores(old, new, left_out))
    items = items_path(metrics)
    if not items.is_file():
        yield f"{items}: no such file; {as_called('evaluate')} writes it beside the scores"
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
