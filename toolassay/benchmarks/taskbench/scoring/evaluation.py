"""Scores of one prediction file: published and strict numbers of every group, from one pass over the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.scorer import EvaluationNotes, ScoringJob, score_chunks
from toolassay.engines import Engine
from toolassay.evaluation.evaluation import Evaluation
from toolassay.evaluation.groups import METRICS, groups_of, metrics_of
from toolassay.evaluation.items import write_items
from toolassay.evaluation.line_index import LineIndex
from toolassay.evaluation.metrics_file import Signature
from toolassay.files import rare_cycle_search, sha256_of
from toolassay.graph import DependencyType, ToolGraph
from toolassay.metrics.installed import installed_metrics
from toolassay.metrics.rouge import TextPair, rouge_score_release
from toolassay.runs import recorded_settings
from toolassay.runs.record import refused_part
from toolassay.screen import Progress, no_progress
from toolassay.tools import ToolLibrary
from toolassay.version import __version__

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_LABEL_FIX = "make it with format_data.py"
_PREDICTION_FIX = "make it with inference.py, or check --prediction_dir and --llm"
_MOST_HASHED = 10_000  # links; more of them, where the tools imply them, stand for their tools
_NO_BERTSCORE = "BERTScore is left out: no model is named (--bertscore_model NAME or FOLDER)"

_UNKNOWN = "prediction(s) with an unknown id"
_BROKEN = "broken prediction line(s)"
_NAMELESS = "prediction line(s) without an id"


def context_of(run: Path) -> str:
    """The tools that the requests of a run showed, as `ToolsInContext` writes it; empty for all."""
    return str((recorded_settings(run) or {}).get("tools_in_context", ""))


class PairScorer(Protocol):
    """Scores pairs of texts by meaning (BERTScore)."""

    @property
    def name(self) -> str:
        """The name of the embedding model, for the signature; "none" if nothing can be scored."""
        ...

    def scores(self, pairs: Sequence[TextPair], *, progress: Progress = no_progress) -> NDArray[np.float64]:
        """Precision, recall and F1 of each pair, shape (pairs, 3).

        Raises:
            BertScoreError: the scores cannot be computed; the evaluation continues without them.
        """
        ...


class PlanEvaluator:
    """Scores one prediction file against the labels.

    Compat: ids meet as JSON values, items without a readable prediction are left out, and what the
    published evaluator leaves out is left out. Its stale argument, which depends there on the order of a
    hash table, follows the order of the label file here. Strict: ids meet as text, and a prediction that
    states another `user_request` than the label answers nothing. Every labelled item counts but
    `exclude_ids` (the demonstrations of a prompt) and those that the run's journal says were never asked or
    met a provider error (`runs.asked`); without a journal, every labelled item counts.

    Args:
        labels: `data.json`.
        predictions: the prediction file.
        library: the tools, with their published ids.
        dependency_type: what a link means. Plans of schema graphs have strict scores only.
        choices: what is asked for.
        graph: the tool graph, which says what links exist; None takes links between known tools to exist.
        alignment_ids: the labels to keep; None keeps all.
        exclude_ids: labels left out of the strict scores.
        chosen_ids: score only the labels with these ids; None scores all.
        bertscore: who computes BERTScore; None leaves it out.
        ask: what was requested, as `infer --ask` has it; see `ScoringJob`.

    Raises:
        UsageError: a missing file, an unknown metric, split or mode.
    """

    def __init__(
        self,
        labels: Path,
        predictions: Path,
        library: ToolLibrary,
        dependency_type: DependencyType,
        choices: PlanScoring | None = None,
        *,
        graph: ToolGraph | None = None,
        alignment_ids: Collection[str | int] | None = None,
        exclude_ids: Collection[str | int] = (),
        chosen_ids: Collection[str | int] | None = None,
        bertscore: PairScorer | None = None,
        ask: str = "plan",
    ) -> None:
        self.choices = choices = choices or PlanScoring()
        self.notes = EvaluationNotes()
        known = installed_metrics() if set(choices.metrics) - set(METRICS) else ()  # 12 ms
        # Calls have no steps in words.
        chosen = metrics_of(choices.metrics, choices.prompting if ask == "plan" else ask, known)
        if ask == "calls":
            chosen = tuple(name for name in chosen if name != "link")
            self.notes.remark("calls in one answer: links and arguments from results are not compared")
        if "bertscore" in chosen and bertscore is None:
            self.notes.remark(_NO_BERTSCORE)
        self._bertscore = bertscore if "bertscore" in chosen else None
        # Absolute: a worker of a cluster has another current folder.
        labels, predictions = labels.absolute(), predictions.absolute()
        self.job = ScoringJob(
            labels,
            predictions,
            library,
            dependency_type,
            graph,
            tuple(name for name in chosen if name not in known),
            tuple(name for name in chosen if name in known),
            tuple(groups_of(choices.splits, choices.n_tools, choices.mode)),
            None if alignment_ids is None else frozenset(alignment_ids),
            frozenset(map(str, exclude_ids)),
            choices.keep,
            predictions.parent / "runs" / predictions.stem,
            None if chosen_ids is None else frozenset(map(str, chosen_ids)),
            choices.rouge_backend,
            ask=ask,
        )

    def signature(self) -> Signature:
        """What the scores are made with: version, choices, and hashes of everything read.

        Raises:
            UsageError: a file is missing, or the package of a backend is not installed.
        """
        job, choices = self.job, self.choices
        by_reference = "rouge" in job.metrics and job.rouge_backend == "rouge-score"
        parts = {
            "toolassay": __version__,
            "mode": "strict-2",  # "strict" until calls with the same meaning were equal
            "metrics": "+".join((*job.metrics, *job.installed)),
            "links": job.dependency_type,
            "alignment": self._hashes["alignment"],
            "excluded": _short(json.dumps(sorted(job.excluded))) if job.excluded else "none",
            "keep": choices.keep,
            "bootstrap": f"{choices.resamples}@{choices.seed}",
            "bertscore": self._bertscore.name if self._bertscore else "none",
            "data": self._hashes["data"],
            "tools": self._hashes["tools"],
            "graph": self._hashes["graph"],
            **({"rouge": rouge_score_release()} if by_reference else {}),
            **({"rouge_median": "true"} if choices.rouge_median else {}),
            **({"compat": "published"} if choices.compat and compat_misfits(job) else {}),
            **({} if job.ask == "plan" else {"ask": job.ask}),
            **({"context": context} if (context := context_of(job.run)) else {}),
            **({} if job.chosen is None else {"chosen": _short(json.dumps(sorted(job.chosen)))}),
            **refused_part([job.run]),
            "predictions": self._hashes["predictions"],
        }
        return Signature(parts)

    @cached_property
    def _hashes(self) -> dict[str, str]:
        """The hashes of what is read, taken once."""
        job, name = self.job, self.choices.alignment or "none"
        kept = job.alignment_ids
        return {
            "data": sha256_of(job.labels)[:12],
            "tools": _short(json.dumps(job.library.to_json())),
            "graph": _graph_hash(job.graph),
            "predictions": sha256_of(job.predictions)[:12],
            "alignment": name if kept is None else f"{name}@{_short(json.dumps(sorted(map(repr, kept))))}",
        }

    @rare_cycle_search()
    def evaluate(
        self,
        *,
        items: Path | None = None,
        engine: Engine | None = None,
        progress: Progress = no_progress,
    ) -> Evaluation:
        """Score everything.

        Args:
            items: where to write the file of items; None writes none.
            engine: where the labels are scored; None for one process a core if there are many.
            progress: who watches.

        Raises:
            UsageError: a missing file, a malformed label (with its line).
        """
        if self._bertscore is not None and self._bertscore.name == "none":
            self._by_meaning([], progress)  # notes why
        # The texts of a million items fill a gigabyte.
        job, choices = replace(self.job, keeps_texts=self._bertscore is not None), self.choices
        with (
            LineIndex(job.labels, fix=_LABEL_FIX, keep=choices.keep) as labels,
            LineIndex(job.predictions, fix=_PREDICTION_FIX, keep=choices.keep) as lines,
        ):
            _ = self._hashes  # of the files as they are now, whatever becomes of them meanwhile
            about_ids = EvaluationNotes()
            unknown = _note_ids(about_ids, labels, lines)
            rows, notes = score_chunks(job, labels, lines, engine=engine, progress=progress)
            self.notes.extend(notes)
            self.notes.extend(about_ids)
            self.notes.met(_BROKEN, *(f"line {number}" for number in lines.broken), warn=True)
            self.notes.met(_NAMELESS, *(f"line {number}" for number in lines.nameless), warn=True)
            counts = {
                "unknown_ids": unknown,
                "broken_lines": len(lines.broken),
                "lines_without_id": len(lines.nameless),
                "repeated_ids": len(lines.doubled),
            }
        dropped = {kind: count for kind, count in counts.items() if count}
        pairs = [pair for row in rows.texts for pair in row if pair is not None]
        rows.score_texts(self._by_meaning(pairs, progress))
        misfits = [] if choices.compat == "published" else compat_misfits(job)
        if not job.has_compat:
            self.notes.remark("compat is undefined: the published evaluator knows no schema graphs")
        if misfits:
            self.notes.remark(
                "compat is undefined for this library: the published evaluator reads '_' in a tool's name as "
                f"a blank, and then knows no such tool ({', '.join(misfits[:3])}"
                f"{', …' if len(misfits) > 3 else ''}); --compat published shows its numbers"
            )
        signature = self.signature()
        if items is not None:
            write_items(items, rows.items(job.metrics, compat=not misfits))
            signature = signature.with_items(items)
        draws = {"resamples": choices.resamples, "seed": choices.seed}
        groups: dict[str, dict[str, Any]] = {}
        for place, group in enumerate(job.groups):
            numbers = rows.compat(place, job.metrics)
            if choices.rouge_median and "rouge" in job.metrics:
                numbers |= rows.rouge_medians(place, **draws)
            if not job.has_compat:
                numbers = dict.fromkeys(numbers)
            elif misfits:  # supports and the scores of steps do not depend on the names of tools
                kept = ("all_samples", "step_")
                numbers = {
                    name: value if name.startswith(kept) or name.endswith("_supports") else None
                    for name, value in numbers.items()
                }
            strict = rows.strict(place, job.metrics, **draws)
            strict["compat_intervals"] = {
                name: found
                for name, found in rows.compat_intervals(place, **draws).items()
                if numbers.get(name) is not None
            }
            if dropped:
                strict["dropped"] = dropped
            strict["compat_links"] = rows.number_of_links(place)
            strict["signature"] = signature.of_group(group.key, strict["n_labels"])
            groups[group.key] = {**numbers, "strict": strict}
        return Evaluation(groups, self.notes.lines(), tuple(choices.metrics), self.notes.warnings())

    def _by_meaning(self, pairs: Sequence[TextPair], progress: Progress) -> NDArray[np.float64] | None:
        """BERTScore of the pairs; None where it was not asked for, or cannot be had, and that is noted."""
        if self._bertscore is None:
            return None
        from toolassay.metrics.bertscore import BertScoreError

        try:
            return self._bertscore.scores(pairs, progress=progress)
        except BertScoreError as error:
            self.notes.remark(str(error))
            self._bertscore = None
            return None


def compat_misfits(job: ScoringJob) -> list[str]:
    """The tools that the published evaluator cannot score: resource tools with an underscore in the name."""
    return [name for name in job.library.ids if "_" in name] if job.dependency_type == "resource" else []


def _note_ids(notes: EvaluationNotes, labels: LineIndex, lines: LineIndex) -> int:
    """Note repeated and unknown ids. Returns the number of predictions that no label has."""
    which = "first" if lines.keep == "first" else "last"
    for name, index in (("label", labels), ("prediction", lines)):
        found = [f"{key!r} (line {number})" for key, number in index.doubled]
        notes.met(f"doubled {name} id(s), the {which} counts", *found, warn=True)
    known = labels.by_text
    unknown = [f"{key!r} (line {number})" for key, number in lines.by_id.items() if str(key) not in known]
    notes.met(_UNKNOWN, *unknown, warn=True)
    return len(unknown)


def dropped_lines(groups: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What a metrics file says of lines that no score counts, a sentence a kind."""
    found: Mapping[str, int] = next((numbers["strict"].get("dropped", {}) for numbers in groups.values()), {})
    kinds = {"unknown_ids": _UNKNOWN, "broken_lines": _BROKEN, "lines_without_id": _NAMELESS}
    return [f"{found[name]:,} {kind}" for name, kind in kinds.items() if found.get(name)]


def _graph_hash(graph: ToolGraph | None) -> str:
    if graph is None:
        return "none"
    if graph.is_implied and graph.number_of_links > _MOST_HASHED:
        return _short(f"{graph.dependency_type} {json.dumps(graph.library.to_json())}")
    return _short(json.dumps(sorted(map(tuple, graph.links()))))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
