"""The verify stage: predictions and scores made again from the raw answers, compared with the files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmark_of, own_options
from toolassay.benchmarks.security.probe_results import security_file
from toolassay.data_folder import DataFolder
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import read_groups, signature_of
from toolassay.evaluation.places import find_metrics_folder, prediction_file
from toolassay.evaluation.verification import (
    LineComparison,
    RecordedRun,
    listed,
    moved_items,
    moved_scores,
    signatures,
    without_counts,
)
from toolassay.files import write_json_lines
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.runs.recorded_usage import recorded_journal
from toolassay.runs.trials import Trial, trials_of
from toolassay.screen import DEFAULT, SILENT, Screen, once
from toolassay.text_formatting import count_of

_BERTSCORE = "bertscore"


@dataclass(frozen=True)
class Verification:
    """What a verification found: the lines, and what to say of the scores; equal if there is nothing."""

    lines: LineComparison
    scores: list[str]

    @property
    def is_equal(self) -> bool:
        """Whether predictions and scores are what the raw answers give."""
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
    """Make the predictions and scores of a model again from its journal, and report what differs.

    Nothing is written to the folder.

    Args:
        data_dir: the data folder, of any benchmark.
        llm: the model.
        prediction_dir: below `data_dir`, or as given; `runs/<llm>/journal.jsonl` in it holds the raw answers.
        metrics_dir: below `data_dir`, or as given; default that of the predictions.
        own: the options of the benchmark that the scores were made with, an instance of its `scoring`.
        screen: where notices, results and progress go.
        keywords: fields of those options, instead of or beside them.

    Raises:
        UsageError: there is no journal or no prediction file, or a file is malformed.
        TypeError: an unknown keyword.
    """
    screen = replace(screen, say=once(screen.say))
    folder = DataFolder(Path(data_dir)).require()
    benchmark = benchmark_of(folder)
    options = own_options("evaluate", benchmark, own, keywords)
    file = prediction_file(folder.path, Path(prediction_dir), llm)
    run = file.parent / "runs" / file.stem
    metrics = find_metrics_folder(folder.path, file.parent.absolute(), metrics_dir) / file.name
    with (
        tempfile.TemporaryDirectory(prefix="toolassay-verify-") as name,
        recorded_journal(run / JOURNAL) as journal,
    ):
        recorded = RecordedRun(folder, llm, run, journal, Path(name), screen)
        comparison = LineComparison()
        lines = benchmark.remade_lines(recorded, options, comparison)
        write_json_lines(recorded.work / "predictions" / file.name, comparison.watch(lines, file))
        adopted = f"; {comparison.adopted} of them taken over without a raw answer" * bool(comparison.adopted)
        screen.show(f"{file}: {count_of(comparison.made, 'line')} re-parsed{adopted}")
        for line in comparison.report():
            screen.show(line)
        scores: list[str] = []
        if metrics.is_file():
            scores = list(_scores(benchmark, recorded, options, metrics, file))
        else:
            screen.say(f"{metrics}: no such file, so that no scores are compared (evaluate.py makes them)")
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
    """What differs between the metrics file and the scores of the predictions that were made again."""
    screen, llm = recorded.screen, recorded.llm
    predictions, target = recorded.work / "predictions", recorded.work / "metrics"
    old = read_groups(metrics)
    before = next(iter(old.values()))
    parts = signature_of(before)
    # Scores of some items: which ones, the file of items says.
    chosen = [item.id for item in read_items(items_path(metrics))] if "chosen" in parts else None
    left_out = None
    if parts.get(_BERTSCORE, "none") != "none":
        left_out = _BERTSCORE
        screen.say(f"BERTScore is not recomputed (it was made with {parts[_BERTSCORE]})")
    _bring(trials_of(file.parent, llm), predictions)
    beside = zip(
        (security_file(file.parent, llm), *benchmark.beside(file.parent, llm)),
        (security_file(predictions, llm), *benchmark.beside(predictions, llm)),
        strict=True,
    )
    for there, copy in beside:
        if there.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(there.absolute())
    scoring = ScoringSettings(
        (llm,), predictions, target, chosen, screen=replace(SILENT, progress=screen.progress)
    )
    (result,) = benchmark.evaluate(
        DataFolder(recorded.folder.path.absolute()), scoring, benchmark.recorded_scoring(old, metrics, own)
    )
    new = read_groups(result.path)
    if "n_labels" not in before["strict"]:  # of version 0.1.0
        new = without_counts(new)
        old = without_counts(old)
    otherwise = signatures(before, new[next(iter(old))], benchmark.fingerprint(file), left_out=left_out)
    for one in otherwise:
        if one.place == "toolassay":
            screen.say(f"scored with version {one.old}, this is {one.new}")
    yield from listed(
        f"{metrics}: made from other things than there are now:",
        [one for one in otherwise if one.place != "toolassay"],
    )
    yield from listed(f"{metrics}: numbers that moved:", moved_scores(old, new, left_out=left_out))
    items = items_path(metrics)
    if not items.is_file():
        yield f"{items}: no such file, which evaluate.py writes beside the scores"
        return
    moved = moved_items(items, items_path(result.path), left_out=left_out)
    yield from listed(f"{items}: {count_of(len(moved), 'item')} moved:", moved, most=5)


def _bring(trials: Iterable[Trial], predictions: Path) -> None:
    """Link the files that are not made again: further trials, and the ledgers and manifests of all trials."""
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
