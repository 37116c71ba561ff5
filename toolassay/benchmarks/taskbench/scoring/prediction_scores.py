"""Scores of one prediction file: published and strict numbers of every group, from one pass over the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.taskbench.scoring.scored_rows import ScoredRows
from toolassay.benchmarks.taskbench.scoring.scorer import EvaluationNotes, ScoringJob, score_file
from toolassay.benchmarks.taskbench.scoring.strict_scores import StrictScores
from toolassay.console.screen import Progress, no_progress
from toolassay.engines import Engine
from toolassay.evaluation.evaluation import Evaluation
from toolassay.evaluation.items import write_items
from toolassay.evaluation.metrics_file import STRICT_MODE, MetricsGroup, signature_text
from toolassay.files.data_files import rare_cycle_search, sha256_of
from toolassay.graph import ToolGraph
from toolassay.metrics.rouge import TextPair, rouge_score_release
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.record import refused_part
from toolassay.runs.trials import fingerprint
from toolassay.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.metrics.bertscore import BertScore


_MOST_HASHED = 10_000  # links; more of them, where the tools imply them, stand for their tools


def context_of(run: Path) -> str:
    """The tools that the requests of a run showed, as `ToolsInContext` writes it; empty for all."""
    return str((recorded_settings(run) or {}).get("tools_in_context", ""))


def signature_parts(job: ScoringJob, further: Mapping[int, Path], bertscore: str) -> dict[str, str]:
    """What scores are made with: version, choices, and hashes of everything read.

    Args:
        job: what is scored.
        further: the prediction files of the further trials, by their numbers.
        bertscore: the name of the model of BERTScore, or "none".

    Raises:
        UsageError: a file is missing, or the package of a backend is not installed.
    """
    choices = job.choices
    kept = job.alignment_ids
    alignment = job.choices.alignment or "none"
    by_reference = "rouge" in job.metrics and choices.rouge_backend == "rouge-score"
    if kept is not None:
        alignment = f"{alignment}@{_short(json.dumps(sorted(map(repr, kept))))}"
    return {
        "toolassay": __version__,
        # "strict" until calls with the same meaning were equal, "strict-2" until all trials counted.
        "mode": STRICT_MODE,
        "metrics": "+".join((*job.metrics, *job.installed)),
        "links": job.dependency_type,
        "alignment": alignment,
        "excluded": _short(json.dumps(sorted(job.excluded))) if job.excluded else "none",
        "keep": choices.keep,
        "bootstrap": f"{choices.resamples}@{choices.seed}",
        "bertscore": bertscore,
        "data": sha256_of(job.labels)[:12],
        "tools": _short(json.dumps(job.library.to_json())),
        "graph": _graph_hash(job.graph),
        **({} if job.executions is None else {"gold": sha256_of(job.executions)[:12]}),
        **({"rouge": rouge_score_release()} if by_reference else {}),
        **({"rouge_median": "true"} if choices.rouge_median else {}),
        **({"compat": "published"} if choices.compat and compat_misfits(job) else {}),
        **({} if job.ask == "plan" else {"ask": job.ask}),
        **({"context": context} if (context := context_of(job.run)) else {}),
        **({} if job.chosen is None else {"chosen": _short(json.dumps(sorted(job.chosen)))}),
        **refused_part([job.run]),
        "predictions": sha256_of(job.predictions)[:12],
        "trials": fingerprint([job.predictions, *further.values()]),
    }


@rare_cycle_search()
def score_predictions(
    job: ScoringJob,
    further: Mapping[int, Path] = MappingProxyType({}),
    *,
    bertscore: BertScore | None = None,
    items: Path | None = None,
    engine: Engine | None = None,
    progress: Progress = no_progress,
) -> tuple[Evaluation, StrictScores]:
    """Score a prediction file and its further trials against the labels.

    Compat: ids meet as JSON values, items without a readable prediction are left out, and what the
    published evaluator leaves out is left out. Its stale argument, which depends there on the order of a
    hash table, follows the order of the label file here. Strict: ids meet as text, and a prediction that
    states another `user_request` than the label answers nothing. Every labelled item counts but
    `job.excluded` (the demonstrations of a prompt) and those that the run's journal says were never asked or
    met a provider error (`runs.outcomes`); without a journal, every labelled item counts. Compat is of the
    prediction file, strict of all trials.

    Args:
        job: what to score, the first trial.
        further: the prediction files of the further trials, by their numbers.
        bertscore: who computes BERTScore; None leaves it out.
        items: where to write the file of items; None writes none.
        engine: where the labels are scored; None for one process a core if there are many.
        progress: Shows how many items are scored.

    Returns:
        The metrics by group, and the strict scores they are made of.

    Raises:
        UsageError: a missing file, an unknown metric, split or mode, a malformed label (with its line).
    """
    choices = job.choices
    notes = EvaluationNotes()
    if job.ask == "calls":
        notes.remark("calls in one answer: links and arguments from results are not compared")
    meaning = _Meaning(bertscore, notes, progress)
    if "bertscore" not in job.metrics:
        meaning.bertscore = None
    elif bertscore is None:
        notes.remark("BERTScore is left out: no model is named (--bertscore_model NAME or FOLDER)")
    elif bertscore.name == "none":
        meaning.scores([])  # notes why
        meaning.bertscore = None
    # Of the files as they are now, whatever becomes of them meanwhile.
    parts = signature_parts(job, further, meaning.bertscore.name if meaning.bertscore else "none")
    # The texts of a million items fill a gigabyte, so they are kept for BERTScore only.
    job = replace(job, keeps_texts=meaning.bertscore is not None)
    rows, of_lines, dropped = score_file(job, engine=engine, progress=progress)
    notes.extend(of_lines)
    trials = {job.trial: rows}
    for number, predictions in further.items():
        other = replace(job, predictions=predictions, trial=number)
        trials[number], of_lines, _ = score_file(other, engine=engine, progress=progress)
        for line in of_lines.lines():
            notes.remark(f"trial {number}: {line}")
    for scored in trials.values():
        scores = meaning.scores([pair for row in scored.texts for pair in row if pair is not None])
        scored.score_texts(scores)
        if scores is None:
            parts["bertscore"] = "none"
    strict_scores = StrictScores(trials)
    misfits = [] if choices.compat == "published" else compat_misfits(job)
    if misfits:
        notes.remark(
            "compat is undefined for this library: the published evaluator reads '_' in a tool's name as "
            f"a blank, and then knows no such tool ({', '.join(misfits[:3])}"
            f"{', …' if len(misfits) > 3 else ''}); --compat published shows its numbers"
        )
    if items is not None:
        write_items(items, strict_scores.items(job.metrics, compat=not misfits))
        parts["items"] = sha256_of(items)[:12]
    draws = {"resamples": choices.resamples, "seed": choices.seed}
    groups: dict[str, MetricsGroup] = {}
    for group_index, group in enumerate(job.groups):
        compat = _compat_numbers(job, rows, group_index, draws, has_misfits=bool(misfits))
        strict = strict_scores.numbers(group_index, job.metrics, **draws)
        strict["compat_intervals"] = {
            name: interval
            for name, interval in rows.compat_intervals(group_index, **draws).items()
            if compat.get(name) is not None
        }
        if dropped:
            strict["dropped"] = dropped
        strict["compat_links"] = rows.number_of_links(group_index)
        strict["signature"] = signature_text(parts, group=group.key, n=strict["n_labels"])
        groups[group.key] = MetricsGroup({**compat, "strict": strict})
    return Evaluation(groups, notes.lines(), tuple(choices.metrics), notes.warnings()), strict_scores


@dataclass
class _Meaning:
    """BERTScore of the texts of steps; without it, and where it fails, there is none, and `notes` say why."""

    bertscore: BertScore | None
    notes: EvaluationNotes
    progress: Progress

    def scores(self, pairs: Sequence[TextPair]) -> NDArray[np.float64] | None:
        if self.bertscore is None:
            return None
        from toolassay.metrics.bertscore import BertScoreError

        try:
            return self.bertscore.scores(pairs, progress=self.progress)
        except BertScoreError as error:
            self.notes.remark(str(error))
            return None


def _compat_numbers(
    job: ScoringJob, rows: ScoredRows, group_index: int, draws: Mapping[str, int], *, has_misfits: bool
) -> dict[str, Any]:
    """The published scores of a group of labels; None where the published evaluator has no number.

    Args:
        job: What is scored.
        rows: The rows of the first trial.
        group_index: Number of the group.
        draws: Resamples and seed of the medians of ROUGE.
        has_misfits: Whether the published evaluator cannot read the names of the library's tools.
    """
    numbers = rows.compat(group_index, job.metrics)
    if job.choices.rouge_median and "rouge" in job.metrics:
        numbers |= rows.rouge_medians(group_index, **draws)
    if not job.has_compat:
        return dict.fromkeys(numbers)
    if not has_misfits:
        return numbers
    # Supports and the scores of steps do not depend on the names of tools.
    kept = ("all_samples", "step_")
    return {
        name: value if name.startswith(kept) or name.endswith("_supports") else None
        for name, value in numbers.items()
    }


def compat_misfits(job: ScoringJob) -> list[str]:
    """The tools that the published evaluator cannot score: resource tools with an underscore in the name."""
    return [name for name in job.library.ids if "_" in name] if job.dependency_type == "resource" else []


def _graph_hash(graph: ToolGraph | None) -> str:
    if graph is None:
        return "none"
    if graph.is_implied and graph.number_of_links > _MOST_HASHED:
        return _short(f"{graph.dependency_type} {json.dumps(graph.library.to_json())}")
    return _short(json.dumps(sorted(map(tuple, graph.links()))))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
