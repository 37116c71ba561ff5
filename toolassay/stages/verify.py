"""The verify stage: predictions and scores anew from the raw answers, compared with what the folder holds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.data import is_classic
from toolassay.benchmarks.classic.evaluation import evaluate_classic
from toolassay.benchmarks.classic.scoring.prediction_rows import rows_fingerprint_of
from toolassay.benchmarks.classic.security.published import published_file
from toolassay.benchmarks.security.probe_results import security_file
from toolassay.benchmarks.taskbench.prediction_lines import entry_of, is_settled, prediction_line
from toolassay.benchmarks.taskbench.scoring.folder_evaluation import (
    FolderEvaluation,
    evaluate_folder,
    find_metrics_folder,
    prediction_file,
)
from toolassay.benchmarks.workbench.evaluation import evaluate_workbench
from toolassay.benchmarks.workbench.work import is_workbench
from toolassay.data_folder import DataFolder
from toolassay.evaluation.items import items_path, read_items
from toolassay.evaluation.metrics_file import read_groups, recorded_choices, signature_of
from toolassay.evaluation.verification import (
    LineComparison,
    listed,
    moved_items,
    moved_scores,
    signatures,
    without_counts,
)
from toolassay.files import sha256_of, write_json_lines
from toolassay.graph import DependencyType
from toolassay.requests import Requests
from toolassay.runs import Journal, recorded_settings
from toolassay.runs.manifest import JOURNAL, MANIFEST
from toolassay.runs.recorded_usage import recorded_journal
from toolassay.runs.trials import Trial, trials_of
from toolassay.screen import DEFAULT, Screen, once
from toolassay.stages.verify_classic import chat_rows
from toolassay.stages.verify_workbench import agent_lines
from toolassay.stages.workfolder import graph_of
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
    allow_tools: bool = False,
    orders: Sequence[str | Path] = (),
    screen: Screen = DEFAULT,
) -> Verification:
    """Make the predictions and scores of a model anew from its journal and say what differs from the files.

    Nothing is written to the folder.

    Args:
        data_dir: the data folder.
        llm: the model.
        prediction_dir: below `data_dir`, or as given; `runs/<llm>/journal.jsonl` in it holds the raw answers.
        metrics_dir: below `data_dir`, or as given; default that of the predictions.
        allow_tools: of WorkBench: run the tools that the folder brings, which are a program.
        orders: of CLASSic: the further prediction folders that the scores were made with.
        screen: who listens.

    Raises:
        UsageError: there is no journal or no prediction file, or a file is malformed.
    """
    screen = replace(screen, say=once(screen.say))
    folder = DataFolder(Path(data_dir)).require()
    file = prediction_file(folder.path, Path(prediction_dir), llm)
    run = file.parent / "runs" / file.stem
    metrics = find_metrics_folder(folder.path, file.parent.absolute(), metrics_dir) / file.name
    with (
        tempfile.TemporaryDirectory(prefix="toolassay-verify-") as name,
        recorded_journal(run / JOURNAL) as journal,
    ):
        work = Path(name)
        comparison = LineComparison()
        if is_classic(folder):
            lines = chat_rows(folder, llm, run, journal, work, screen)
        elif is_workbench(folder):
            lines = agent_lines(folder, run, journal, work, allow_tools=allow_tools, screen=screen)
        else:
            lines = _lines(folder, run, journal, comparison, screen)
        remade = work / "predictions" / file.name
        write_json_lines(remade, comparison.watch(lines, file))
        adopted = f"; {comparison.adopted} of them taken over without a raw answer" * bool(comparison.adopted)
        screen.show(f"{file}: {count_of(comparison.made, 'line')} made anew{adopted}")
        for line in comparison.report():
            screen.show(line)
        scores: list[str] = []
        if metrics.is_file():
            scores = list(_scores(folder, llm, metrics, file, work, allow_tools, orders, screen))
        else:
            screen.say(f"{metrics}: no such file, so that no scores are compared (evaluate.py makes them)")
    for line in scores:
        screen.show(line)
    verification = Verification(comparison, scores)
    if verification.is_equal:
        both = " and scores are" if metrics.is_file() else " are"
        screen.show(f"equal: predictions{both} what the raw answers give")
    return verification


def _lines(
    folder: DataFolder, run: Path, journal: Journal, comparison: LineComparison, screen: Screen
) -> Iterator[dict[str, Any]]:
    """The lines of the prediction file, made anew."""
    kind = _dependency_type(folder, run, screen)
    requests = Requests(folder.user_requests)
    with screen.progress("read", len(requests)) as advance:
        for request in requests:
            entry = entry_of(journal, request)
            if is_settled(entry):
                comparison.adopted += "adopted" in entry
                yield prediction_line(request, entry, kind)
            advance()


def _dependency_type(folder: DataFolder, run: Path, screen: Screen) -> DependencyType:
    """What the run was made with, else what the folder says."""
    recorded = (recorded_settings(run) or {}).get("dependency_type")
    return graph_of(folder, recorded if isinstance(recorded, str) else None, say=screen.say).dependency_type


def _scores(
    folder: DataFolder,
    llm: str,
    metrics: Path,
    file: Path,
    work: Path,
    allow_tools: bool,
    orders: Sequence[str | Path],
    screen: Screen,
) -> Iterator[str]:
    """What the scores of the predictions made anew say otherwise than the metrics file."""
    old = read_groups(metrics)
    before = next(iter(old.values()))
    parts = signature_of(before)
    # Scores of some items: which ones, the file of items says.
    chosen = [item.id for item in read_items(items_path(metrics))] if "chosen" in parts else None
    left_out = None
    if parts.get(_BERTSCORE, "none") != "none":
        left_out = _BERTSCORE
        screen.say(f"BERTScore is not computed anew (it was made with {parts[_BERTSCORE]})")
    _bring(trials_of(file.parent, llm), work / "predictions")
    for place_of in (security_file, published_file):
        if (probed := place_of(file.parent, llm)).is_file():
            copy = place_of(work / "predictions", llm)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(probed.absolute())
    path, predictions, target = folder.path.absolute(), work / "predictions", work / "metrics"
    result: FolderEvaluation
    if is_classic(folder):
        (result,) = evaluate_classic(
            path, llm=llm, prediction_dir=predictions, save_dir=target, orders=orders, ids=chosen
        )
    elif is_workbench(folder):
        (result,) = evaluate_workbench(
            path,
            llm=llm,
            prediction_dir=predictions,
            save_dir=target,
            allow_tools=allow_tools,
            ids=chosen,
        )
    else:
        result = evaluate_folder(
            path,
            llm,
            recorded_choices(old, metrics),
            prediction_dir=predictions,
            save_dir=target,
            dependency_type=parts.get("links"),
            chosen_ids=chosen,
            progress=screen.progress,
            say=screen.say,
        )
    new = read_groups(result.path)
    held = rows_fingerprint_of(file) if is_classic(folder) else sha256_of(file)
    if "n_labels" not in before["strict"]:  # of version 0.1.0
        new = without_counts(new)
        old = without_counts(old)
    otherwise = signatures(before, new[next(iter(old))], held, left_out=left_out)
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
    """Set what is not made anew beside what was: the further trials, and the books and manifests of all."""
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
