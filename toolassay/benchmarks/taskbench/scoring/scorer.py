"""Scores a prediction file in chunks, on any engine: joins labels with predictions and counts each pair once
in both readings. The numbers do not depend on where chunks are scored.
"""

from __future__ import annotations

import math
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.benchmarks.taskbench.entries import outcome_of_label
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.compat import CompatItem, CompatReader, Converted
from toolassay.benchmarks.taskbench.scoring.scored_rows import (
    ANSWERED,
    NO_ALTERNATIVE,
    NO_STRICT,
    NOTHING,
    RESERVED,
    ScoredRows,
    cluster_of,
    strict_part,
)
from toolassay.benchmarks.taskbench.scoring.strict import HallucinationCounter, Hallucinations, score_plan
from toolassay.console.screen import Progress, no_progress
from toolassay.engines import Engine, OneProcess
from toolassay.errors import UsageError, as_called, made_by
from toolassay.evaluation.groups import METRICS, ScoreGroup, groups_of, metrics_of, shape_and_size
from toolassay.evaluation.line_index import LineFile, LineIndex, LinePlace, Prediction
from toolassay.files.data_files import rare_cycle_search
from toolassay.graph import DependencyType, ToolGraph
from toolassay.metrics.installed import installed_metrics, item_scores, load_metrics
from toolassay.metrics.rouge import NAMES as ROUGE_NAMES
from toolassay.metrics.rouge import TextPair, has_tokens, rouge_scorer
from toolassay.plans.gold import alternative_labels
from toolassay.plans.normalised_plan import Plan, PlanReader, plan_digest, without_results
from toolassay.records.cases import has_no_plan
from toolassay.records.dataset import label_record, read_labels
from toolassay.runs.outcomes import MISSING, UNWRITTEN, RunOutcomes
from toolassay.tools.library import ToolLibrary

if TYPE_CHECKING:
    from toolassay.benchmarks.taskbench.scoring.executed_gold import ExecutedGold

CHUNK = 2_500
"""Labels per chunk. The size is fixed, so that floating-point sums have the same order on any engine."""
_CHUNKS_A_WORKER = 4  # at least: a worker costs as much CPU time as scoring a thousand labels
_NAMED = 5  # occurrences listed per kind of notice
_NO_STEPS = (float("nan"),) * 4
_NO_ANSWER = (0.0,) * 4
# ROUGE-Lsum, which strict does not show, keeps a number: BERTScore needs to know that there are steps.
_NO_TOKENS = (*_NO_STEPS[:3], 0.0)
_NO_PLAN = Plan([], [], [], None)


@dataclass(frozen=True)
class ScoringJob:
    """Everything that scoring needs; pickled for worker processes.

    Attributes:
        labels: `data.json`; absolute, because a worker of a cluster has another current folder.
        predictions: the prediction file, likewise. The journal of its run gives the outcome of labels without
            a prediction.
        library: the tools, with their published ids.
        dependency_type: what a link means. Plans of schema graphs have strict scores only.
        choices: the metrics, groups and ways of scoring.
        graph: decides which links exist; None: a link exists if both its tools do.
        alignment_ids: the labels to score; None for all.
        excluded: ids, as text, that are left out of the strict scores.
        chosen: a further restriction to these ids, as text; None for none.
        ask: what was requested, as `infer --ask` has it. For "calls", whose results the model does not see,
            links and arguments that depend on results are not compared.
        trial: the number of the trial; of a further one only the strict counts are needed.
        with_digests: whether equal plans are to be found, in several trials.
        executions: `executions.jsonl`, by which references are compared by their values; None without it.
        keeps_texts: whether the pairs of steps are wanted, for BERTScore.

    Raises:
        UsageError: an unknown metric, split or mode.
    """

    labels: Path
    predictions: Path
    library: ToolLibrary
    dependency_type: DependencyType
    choices: PlanScoring
    graph: ToolGraph | None = None
    alignment_ids: frozenset[str | int] | None = None
    excluded: frozenset[str] = frozenset()
    chosen: frozenset[str] | None = None
    ask: str = "plan"
    trial: int = 0
    with_digests: bool = False
    executions: Path | None = None
    keeps_texts: bool = False

    @cached_property
    def _selected(self) -> tuple[str, ...]:
        known = installed_metrics() if set(self.choices.metrics) - set(METRICS) else ()  # 12 ms
        # Calls have no steps in words.
        return metrics_of(
            self.choices.metrics, self.choices.prompting if self.ask == "plan" else self.ask, known
        )

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The selected built-in metrics."""
        return tuple(
            name for name in self._selected if name in METRICS and (name != "link" or self.ask != "calls")
        )

    @cached_property
    def installed(self) -> tuple[str, ...]:
        """The selected metrics of other packages."""
        return tuple(name for name in self._selected if name not in METRICS)

    @cached_property
    def groups(self) -> tuple[ScoreGroup, ...]:
        """The groups to aggregate."""
        return tuple(groups_of(self.choices.splits, self.choices.n_tools, self.choices.mode))

    @property
    def run(self) -> Path:
        """The folder of the run that made the predictions."""
        return self.predictions.parent / "runs" / self.predictions.stem

    def compared(self, plan: Plan | None, label: Mapping[str, Any]) -> Plan | None:
        """What is compared of a plan, the gold or a prediction for a label."""
        return plan if plan is None or self.ask != "calls" else without_results(plan, label)

    def keeps(self, key: object) -> bool:
        """Whether the label with this id (a JSON value) is scored."""
        return (self.alignment_ids is None or key in self.alignment_ids) and (
            self.chosen is None or str(key) in self.chosen
        )

    @property
    def has_compat(self) -> bool:
        """Whether published numbers are wanted, and the published evaluator knows the dependency type."""
        return self.dependency_type != "schema" and not self.trial

    @property
    def keeps_all(self) -> bool:
        """Whether every label is scored."""
        return self.alignment_ids is None and self.chosen is None

    @property
    def with_steps(self) -> bool:
        """Whether steps are compared. Then compat leaves out plans without steps, as published."""
        return "rouge" in self.metrics or "bertscore" in self.metrics

    def compat_reader(self) -> CompatReader:
        """The reader of items as published."""
        return CompatReader(self.library, self.dependency_type, with_steps=self.with_steps)

    def rows(self) -> ScoredRows:
        """A table for the scores."""
        return ScoredRows(self.library.ids, self.installed)

    def start(self) -> Callable[[Sequence[LabelLines]], ChunkStatistics]:
        """Open the files, for an engine."""
        return ChunkScorer(self).score


class EvaluationNotes:
    """Notices about labels and predictions: counts by kind, with the first five occurrences of each.

    >>> notes = EvaluationNotes()
    >>> notes.met("unknown id(s) in the predictions", "'7' (line 3)")
    >>> notes.lines()
    ["1 unknown id(s) in the predictions: '7' (line 3)"]
    """

    def __init__(self) -> None:
        self._notices: dict[str, tuple[int, list[str], str, bool]] = {}
        self._remarks: list[str] = []

    def met(
        self, kind: str, *whats: str, fix: str = "", warn: bool = False, count: int | None = None
    ) -> None:
        """Count occurrences.

        Args:
            kind: of the notice.
            whats: the occurrences.
            fix: what to do about this kind.
            warn: whether the kind is a defect of the files, which is always shown.
            count: the number of occurrences, if `whats` are the first of them.
        """
        known, first, *_ = self._notices.get(kind, (0, [], "", False))
        total = known + (len(whats) if count is None else count)
        if total:
            self._notices[kind] = total, [*first, *whats][:_NAMED], fix, warn

    def remark(self, sentence: str) -> None:
        """Add a sentence that is not counted."""
        self._remarks.append(sentence)

    def extend(self, other: EvaluationNotes) -> None:
        """Append the notices of a later chunk."""
        for kind, (count, first, fix, warn) in other._notices.items():
            self.met(kind, *first, fix=fix, warn=warn, count=count)
        self._remarks += other._remarks

    def lines(self) -> list[str]:
        """One line per kind with its count and first occurrences, then the remarks."""
        return [*map(self._line, self._notices), *self._remarks]

    def warnings(self) -> list[str]:
        """The lines of kinds that are always shown."""
        return [self._line(kind) for kind, (*_, warn) in self._notices.items() if warn]

    def _line(self, kind: str) -> str:
        count, first, fix, _ = self._notices[kind]
        more = ", …" if count > len(first) else ""
        return f"{count:,} {kind}: {', '.join(first)}{more}{fix and f'; {fix}'}"


class LabelLines(NamedTuple):
    """Where a label and its prediction are.

    Attributes:
        label: the label.
        by_id: the prediction with the same id as a JSON value: "7" is not 7.
        by_text: the prediction with the same id as text.
        is_used: whether the label is the one that counts for its id as text.
    """

    label: LinePlace
    by_id: LinePlace
    by_text: LinePlace
    is_used: bool


class WaitingItem(NamedTuple):
    """An item that borrows an argument of an earlier one; compat counts it when all chunks before are known.

    Groups contain different labels, so the argument converted last, and with it the counts, may differ by
    group.

    Attributes:
        row: its row in the chunk, for the counts in the first of its groups.
        groups: those of the label.
        last: for each group, the argument converted last since the waiting item before; None for none.
        label: the label.
        result: the predicted plan.
        about: the fields of its row that both readings share.
        rouge: of its steps; None without steps.
    """

    row: int
    groups: list[int]
    last: list[Converted | None]
    label: Mapping[str, Any]
    result: Any
    about: tuple[Any, ...]
    rouge: Sequence[float] | None


@dataclass
class ChunkStatistics:
    """The statistics of one chunk.

    Attributes:
        rows: its rows.
        last: for each group, the argument converted last after its last waiting item; None for none.
        waiting: items whose compat counts are not known yet.
        notes: notices.
        broken: numbers of prediction lines that cannot be parsed.
    """

    rows: ScoredRows
    last: list[Converted | None]
    waiting: list[WaitingItem] = field(default_factory=list)
    notes: EvaluationNotes = field(default_factory=EvaluationNotes)
    broken: set[int] = field(default_factory=set)


class ChunkScorer:
    """Scores chunks of labels."""

    def __init__(self, job: ScoringJob) -> None:
        self._job = job
        self._labels = LineFile(job.labels)
        self._lines = LineFile(job.predictions)
        self._reader = PlanReader(job.library, job.dependency_type)
        self._executed: ExecutedGold | None = None
        if job.executions is not None:
            from toolassay.benchmarks.taskbench.scoring.executed_gold import ExecutedGold

            self._executed = ExecutedGold(job.executions, self._reader, job.library)
        self._inventions = HallucinationCounter(job.library, job.graph, self._reader)
        self._installed = load_metrics(job.installed, RESERVED)
        self._run = RunOutcomes(job.run, outcome_of_label)
        self._compat_reader = job.compat_reader()
        self._rouge = rouge_scorer(job.choices.rouge_backend) if "rouge" in job.metrics else None
        self._members = lru_cache(
            lambda shape, size: [at for at, group in enumerate(job.groups) if group.holds(shape, size)]
        )

    @rare_cycle_search()
    def score(self, chunk: Iterable[LabelLines]) -> ChunkStatistics:
        """Score the labels of a chunk.

        Raises:
            UsageError: a label is malformed (with its line).
            ToolassayError: an installed metric failed.
        """
        self._part = ChunkStatistics(self._job.rows(), [None] * len(self._job.groups))
        # ROUGE of each pair, filled for all at once. Compat and strict have the same steps in most items.
        self._rouges: dict[TextPair, list[float]] = {}
        for lines in chunk:
            self._score(lines)
        if self._rouge is not None:
            found = self._rouge(list(self._rouges)).tolist()
            for scores, own in zip(self._rouges.values(), found, strict=True):
                scores[:] = own
        self._part.rows.pack()
        self._part.broken.update(self._lines.broken)
        return self._part

    def label(self, line: LinePlace) -> dict[str, Any]:
        """The label on a line.

        Raises:
            UsageError: it is malformed.
        """
        try:
            value = self._labels.value(line)
        except ValueError as error:
            for _ in read_labels(self._job.labels):  # raises at that line, with a more precise message
                pass
            raise UsageError(
                "is not JSON", file=self._job.labels, line=line.number, fix="correct the line"
            ) from error
        return label_record(self._job.labels, line.number, value)

    def _score(self, lines: LabelLines) -> None:
        job = self._job
        part = self._part
        label = self.label(lines.label)
        shape, size = shape_and_size(label)
        members = self._members(shape, size)
        if not members:
            return
        where = f"{label['id']!r} (label line {lines.label.number})"
        item: CompatItem | None = None
        prediction = self._lines.prediction(lines.by_id)
        result = None if prediction is None else prediction.result
        if job.has_compat and prediction is not None and not has_no_plan(label):
            item = self._compat_reader.item(label, result)
            if item.lacks_gold_arguments:
                part.notes.met("label(s) without gold arguments, left out of compat as published", where)
            if item.unreadable_links:
                part.notes.met("item(s) with unreadable task_links, in compat as if empty", where)
            if item.borrowed:
                part.notes.met(
                    "item(s) where compat lends a malformed argument the last one converted", where
                )
        by_text = prediction
        if lines.by_text != lines.by_id:
            if job.has_compat:
                part.notes.met("id(s) that meet only as text, left out of compat", where, warn=True)
            by_text = self._lines.prediction(lines.by_text)
        outcome = ANSWERED
        strict = NO_STRICT
        pair = None
        extra = [0.0] * len(job.installed)
        reference = NO_ALTERNATIVE
        is_counted = lines.is_used and str(label["id"]) not in job.excluded
        gold = job.compared(self._reader.plan(label), label) if is_counted else None
        if gold is not None:
            plan, outcome = self._answer(label, by_text, lines.by_text.number)
            plan = job.compared(plan, label)
            written = plan or _NO_PLAN
            if self._executed is not None and plan is not None and by_text is not None:
                gold, plan = self._executed.compared(label, gold, by_text.result, plan)
            inventions = Hallucinations() if plan is None else self._inventions.count(plan)
            rouge: Sequence[float] = _NO_STEPS if gold.steps is None else _NO_ANSWER
            if gold.steps is not None and plan is not None and plan.steps is not None and job.with_steps:
                pair = gold.steps, plan.steps
                rouge = self._rouge_of(pair) or _NO_ANSWER
            if self._rouge is not None and gold.steps is not None and not has_tokens(gold.steps):
                rouge = _NO_TOKENS
                kind = "label(s) whose steps have no token a-z0-9: ROUGE has no value, in compat 0"
                part.notes.met(kind, where, warn=True)
            if plan is not None and by_text is not None and job.installed:
                extra = item_scores(self._installed, label, by_text.result)
            counts = score_plan(gold, plan or _NO_PLAN)
            for number, alternative in enumerate(self._alternatives(label), start=1):
                other = score_plan(alternative, written)
                reference = max(reference, 0)
                if other.rank > counts.rank:
                    counts = other
                    reference = number
            digest = plan_digest(plan) if plan is not None and job.with_digests else 0
            strict = strict_part(members, counts, inventions, rouge, digest)
        elif is_counted and has_no_plan(label):
            _, outcome = self._answer(label, by_text, lines.by_text.number)
            strict = strict_part(members, NOTHING, Hallucinations(), _NO_STEPS, 0)
            extra = [math.nan] * len(job.installed)
        elif is_counted:
            part.notes.met(
                "label(s) without a readable plan, left out of strict",
                where.replace("label line", "line"),
                warn=True,
            )
        if strict is NO_STRICT and item is None:
            return
        steps = None if item is None else item.steps
        compat_rouge = None if steps is None else self._rouge_of(steps)
        # One string for each kind, however many labels there are.
        about = str(label["id"]), cluster_of(label), sys.intern(shape), size, sys.intern(outcome), reference
        waits = item is not None and item.needs_previous
        compat = None if item is None or waits else part.rows.counted(members, item, compat_rouge)
        row = part.rows.add(about, strict, compat, extra)
        if job.keeps_texts:
            part.rows.texts.append((pair, steps))
        if waits:
            last = part.last.copy()
            part.waiting.append(WaitingItem(row, members, last, label, result, about, compat_rouge))
        if item is not None and (waits or item.last):
            for group in members:
                part.last[group] = item.last

    def _alternatives(self, label: Mapping[str, Any]) -> Iterator[Plan]:
        """The other right plans of a label; what is malformed is none."""
        for alternative in alternative_labels(label):
            plan = self._job.compared(self._reader.plan(alternative), label)
            if plan is not None:
                yield plan

    def _rouge_of(self, pair: TextPair) -> Sequence[float] | None:
        return None if self._rouge is None else self._rouges.setdefault(pair, [0.0] * len(ROUGE_NAMES))

    def _answer(
        self, label: Mapping[str, Any], prediction: Prediction | None, line: int
    ) -> tuple[Plan | None, str]:
        """The plan that answers a label, None for none that is readable, and the outcome of its request.

        Args:
            label: the label.
            prediction: its prediction; None for a broken line, or for none.
            line: the line of the prediction, 0 for none.
        """
        met = self._part.notes.met
        name = repr(label["id"])
        if not line:
            outcome = self._run.outcome(label)
            if outcome == MISSING:
                # Another trial may have one.
                as_wrong = "" if self._job.with_digests else ", counted as wrong"
                met(f"label(s) without a prediction{as_wrong}", name, warn=True)
            elif outcome == UNWRITTEN:
                kind = "answer(s) of the journal are not in the prediction file"
                met(kind, name, fix=f"run {as_called('infer')} again", warn=True)
            return None, outcome
        if prediction is not None and not prediction.answers(label.get("user_request")):
            kind = "prediction(s) answer another request than the label's"
            met(kind, f"{name} (line {line})", fix=f"run {as_called('infer')} again", warn=True)
            return None, self._run.outcome(label)
        plan = None if prediction is None else self._reader.plan(prediction.result)
        if plan is not None:
            return plan, ANSWERED
        outcome = "malformed" if prediction is None else prediction.outcome or "malformed"
        if prediction is None and (recorded := self._run.outcome(label)) != MISSING:
            outcome = recorded  # the line is damaged, but the journal has the outcome
        met(f"{outcome} prediction(s)", f"{name} (line {line})")
        return None, outcome


class ScoredFile(NamedTuple):
    """The statistics of a prediction file.

    Attributes:
        rows: its rows.
        notes: notices.
        dropped: numbers of lines that no score counts, by kind.
    """

    rows: ScoredRows
    notes: EvaluationNotes
    dropped: dict[str, int]


def score_file(
    job: ScoringJob,
    *,
    engine: Engine | None = None,
    progress: Progress = no_progress,
) -> ScoredFile:
    """Score every label.

    Args:
        job: what to score.
        engine: where; None for one process per core if there are labels enough.
        progress: receives the progress.

    Raises:
        UsageError: a file is missing, or a label is malformed (with its line).
        ToolassayError: an installed metric failed.
    """
    keep = job.choices.keep
    with (
        LineIndex(job.labels, fix=made_by("format"), keep=keep) as labels,
        LineIndex(
            job.predictions, fix=f"{made_by('infer')}, or check --prediction_dir and --llm", keep=keep
        ) as lines,
    ):
        about_ids, unknown = _notes_about_ids(labels, lines, keep)
        # An array: integer objects among the ids would keep their memory from being freed.
        numbers = array("i", sorted(n for key, n in labels.by_id.items() if job.keeps_all or job.keeps(key)))
        matches = labels.matches(lines)
        # The ids of a million labels and predictions need 280 MB, and their numbers 9 MB.
        labels.forget_ids()
        lines.forget_ids()
        for number in sorted({*labels.broken, *labels.nameless}):
            ChunkScorer(job).label(labels.place(number))  # raises an error that says what is wrong

        def chunk_of(start: int) -> list[LabelLines]:
            return [
                LabelLines(
                    labels.place(number),
                    lines.place(matches.by_id[number]),
                    lines.place(matches.by_text[number]),
                    bool(matches.is_used[number]),
                )
                for number in numbers[start : start + CHUNK]
            ]

        notes = EvaluationNotes()
        ordered = _OrderedRows(job)
        starts = range(0, len(numbers), CHUNK)
        with progress("scoring", len(numbers)) as advance:
            chunks = (engine or _own_engine(len(starts))).map(job, map(chunk_of, starts))
            for start, chunk in zip(starts, chunks, strict=True):
                ordered.add(chunk)
                notes.extend(chunk.notes)
                lines.broken = sorted({*lines.broken, *chunk.broken})
                for _ in numbers[start : start + CHUNK]:
                    advance()
        notes.extend(about_ids)
        notes.met("broken prediction line(s)", *(f"line {n}" for n in lines.broken), warn=True)
        notes.met("prediction line(s) without an id", *(f"line {n}" for n in lines.nameless), warn=True)
        counts = {
            "unknown_ids": unknown,
            "broken_lines": len(lines.broken),
            "lines_without_id": len(lines.nameless),
            "repeated_ids": len(lines.doubled),
        }
    return ScoredFile(ordered.rows, notes, {kind: count for kind, count in counts.items() if count})


def _notes_about_ids(labels: LineIndex, lines: LineIndex, keep: str) -> tuple[EvaluationNotes, int]:
    """Notes about doubled and unknown ids, and the number of predictions with an unknown one."""
    notes = EvaluationNotes()
    which = "first" if keep == "first" else "last"
    for name, index in (("label", labels), ("prediction", lines)):
        doubled = [f"{key!r} (line {number})" for key, number in index.doubled]
        notes.met(f"doubled {name} id(s), the {which} counts", *doubled, warn=True)
    unknown = [f"{key!r} (line {n})" for key, n in lines.by_id.items() if str(key) not in labels.by_text]
    notes.met("prediction(s) with an unknown id", *unknown, warn=True)
    return notes, len(unknown)


class _OrderedRows:
    """The rows of chunks that arrive in file order.

    The published evaluator takes what it cannot read in an item from the item before it, in each group of
    items. So an item whose predecessor is in another chunk waits until its chunk is added.
    """

    def __init__(self, job: ScoringJob) -> None:
        self.rows = job.rows()
        self._reader = job.compat_reader()
        self._keeps_texts = job.keeps_texts
        self._last: list[Converted | None] = [None] * len(job.groups)

    def add(self, chunk: ChunkStatistics) -> None:
        """Add the rows of the next chunk."""
        self.rows.extend(chunk.rows)
        for waiting in chunk.waiting:
            self._add_waiting(waiting)
        self.rows.pack()
        self._last = [own or before for own, before in zip(chunk.last, self._last, strict=True)]

    def _add_waiting(self, waiting: WaitingItem) -> None:
        by_previous: dict[Converted | None, list[int]] = {}
        for group in waiting.groups:
            by_previous.setdefault(waiting.last[group] or self._last[group], []).append(group)
        for before, groups in by_previous.items():
            item = self._reader.item(waiting.label, waiting.result, before)
            for group in groups:
                self._last[group] = item.last
            compat = self.rows.counted(groups, item, waiting.rouge)
            if waiting.groups[0] in groups:
                self.rows.set_compat(waiting.row, compat)
                continue
            self.rows.add(waiting.about, NO_STRICT, compat)
            if self._keeps_texts:
                self.rows.texts.append((None, item.steps))


def _own_engine(chunks: int) -> Engine:
    if chunks < 2 * _CHUNKS_A_WORKER:
        return OneProcess()
    from toolassay.engines.processes import Processes, cores

    workers = min(chunks // _CHUNKS_A_WORKER, cores())
    # Forking is cheap and safe on Linux, if no other Python thread runs.
    may_fork = sys.platform == "linux" and threading.active_count() == 1
    return Processes(workers) if workers > 1 and may_fork else OneProcess()
