"""Scores the labels of one chunk: joins labels with predictions and counts them in both modes.

`ScoringJob` is the input, `ChunkStatistics` the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.benchmarks.taskbench.prediction_lines import entry_of_label
from toolassay.benchmarks.taskbench.scoring.compat import CompatReader, Converted
from toolassay.benchmarks.taskbench.scoring.compat_table import NO_PAIR, CompatTable
from toolassay.benchmarks.taskbench.scoring.evaluation_notes import EvaluationNotes, note_compat
from toolassay.benchmarks.taskbench.scoring.step_scores import StepPairCollector, TextPair
from toolassay.benchmarks.taskbench.scoring.strict import (
    HallucinationCounter,
    Hallucinations,
    StrictItem,
    missing_plan,
    score_plan,
)
from toolassay.benchmarks.taskbench.scoring.strict_table import (
    NO_GOLD_STEPS,
    RESERVED,
    StrictTable,
    cluster_of,
)
from toolassay.benchmarks.taskbench.scoring.strict_table import NO_PAIR as NO_PREDICTED_STEPS
from toolassay.dataset import label_record, read_labels
from toolassay.errors import UsageError
from toolassay.evaluation.groups import ScoreGroup, shape_and_size
from toolassay.evaluation.line_index import Keep, LineFile, LineIndex, LineMatches, Prediction, Spans
from toolassay.files import rare_cycle_search
from toolassay.graph import DependencyType, ToolGraph
from toolassay.metrics.installed import InstalledMetrics
from toolassay.metrics.rouge import RougeBackend
from toolassay.normalised_plan import Plan, PlanReader, same_plan
from toolassay.runs.outcomes import MISSING, UNWRITTEN, RunOutcomes
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ScoringJob:
    """Everything that scoring one chunk needs; pickled for worker processes.

    Attributes:
        labels: `data.json`.
        predictions: the prediction file.
        library: the tools, with their published ids.
        dependency_type: what a link means.
        graph: decides which links exist; None: a link exists if both its tools do.
        metrics: the selected built-in metrics.
        installed: the names of metrics from other packages.
        groups: the groups to aggregate.
        alignment_ids: the labels to score; None for all.
        chosen: a further restriction to these ids, as text; None for none.
        excluded: ids, as text, that are left out of the strict scores.
        keep: which of several lines with the same id counts.
        run: the folder of the run that made the predictions. Its journal gives the outcome of labels without
            a prediction.
        rouge_backend: who computes ROUGE.
        keeps_texts: whether the pairs of steps are wanted, for BERTScore.
    """

    labels: Path
    predictions: Path
    library: ToolLibrary
    dependency_type: DependencyType
    graph: ToolGraph | None
    metrics: tuple[str, ...]
    installed: tuple[str, ...]
    groups: tuple[ScoreGroup, ...]
    alignment_ids: frozenset[str | int] | None
    excluded: frozenset[str]
    keep: Keep
    run: Path
    chosen: frozenset[str] | None = None
    rouge_backend: RougeBackend = "builtin"
    keeps_texts: bool = False

    def keeps(self, key: object) -> bool:
        """Whether the label with this id (a JSON value) is scored."""
        return (self.alignment_ids is None or key in self.alignment_ids) and (
            self.chosen is None or str(key) in self.chosen
        )

    @property
    def has_compat(self) -> bool:
        """Whether the published evaluator knows the dependency type."""
        return self.dependency_type != "schema"

    @property
    def keeps_all(self) -> bool:
        """Whether every label is scored."""
        return self.alignment_ids is None and self.chosen is None

    @property
    def with_steps(self) -> bool:
        """Whether steps are compared. Then compat leaves out plans without steps, as published."""
        return "rouge" in self.metrics or "bertscore" in self.metrics


_NO_INVENTIONS = Hallucinations()
_ANSWERED = "answered"
_AT_ONCE = 16  # labels; step by step, for code and data stay in the processor's cache: a fifth faster


class ChunkLines(NamedTuple):
    """Where the labels of a chunk and their predictions are, and how ids meet.

    Attributes:
        labels: the labels.
        by_id: the prediction of each label, by the id as a JSON value: "7" is not 7.
        by_text: the prediction of each label, by the id as text.
        is_used: whether a label is the one that counts for its id as text.
    """

    labels: Spans
    by_id: Spans
    by_text: Spans
    is_used: bytes

    @classmethod
    def of(
        cls, numbers: Sequence[int], labels: LineIndex, lines: LineIndex, matches: LineMatches
    ) -> ChunkLines:
        """The lines of the labels with these line numbers."""
        return cls(
            labels.spans(numbers),
            lines.spans([matches.by_id[number] for number in numbers]),
            lines.spans([matches.by_text[number] for number in numbers]),
            bytes(matches.is_used[number] for number in numbers),
        )


@dataclass(slots=True)
class ScoredLabel:
    """A label in work.

    Attributes:
        place: in its chunk.
        line: in the file of labels.
        record: the label.
        shape: of its plan.
        size: the number of nodes of its plan.
        members: the groups that it belongs to.
        groups: these groups as a bit mask.
        cluster: the number of its sampled subgraph.
        prediction: the prediction with its id.
        is_same: whether that is spelled like the label.
        pair: the number of its pair of steps, or the reason why there is none.
        compat_row: its row in the first of its groups in the table of published counts, -1 for none.
        outcome: of its request.
        item: its strict counts; None for a label that has none.
        inventions: of its prediction.
        has_plan: whether the prediction is an answer that can be read.
    """

    place: int
    line: int
    record: Mapping[str, Any]
    shape: str
    size: int
    members: list[int]
    groups: int
    cluster: int = 0
    prediction: Prediction | None = None
    is_same: bool = False
    pair: int = NO_PAIR
    compat_row: int = -1
    outcome: str = _ANSWERED
    item: StrictItem | None = None
    inventions: Hallucinations = _NO_INVENTIONS
    has_plan: bool = True

    @property
    def name(self) -> str:
        """The id, for notices."""
        return repr(self.record["id"])


class PendingItem(NamedTuple):
    """An item that borrows an argument converted in an earlier chunk; compat counts it when that is known.

    `first` is the first of the item's groups, whose counts the items file shows.
    """

    line: int
    groups: tuple[int, ...]
    first: int
    pair: int


@dataclass
class ChunkStatistics:
    """The statistics of one chunk.

    Attributes:
        compat: the published counts.
        strict: the strict counts.
        last: for each group, the argument converted last.
        waiting: the items that are not in `compat` yet.
        notes: notices.
        broken: numbers of prediction lines that cannot be parsed.
        pairs: number of distinct pairs of steps.
        rouge: their ROUGE scores, shape (pairs, 4).
        texts: the pairs themselves, if BERTScore is wanted.
    """

    compat: CompatTable
    strict: StrictTable
    last: list[Converted | None]
    waiting: list[PendingItem] = field(default_factory=list)
    notes: EvaluationNotes = field(default_factory=EvaluationNotes)
    broken: set[int] = field(default_factory=set)
    pairs: int = 0
    rouge: NDArray[np.float64] | None = None
    texts: list[TextPair] = field(default_factory=list)


@dataclass(frozen=True)
class ScoringTask:
    """Scoring of chunks, for an engine."""

    job: ScoringJob

    def start(self) -> Callable[[ChunkLines], ChunkStatistics]:
        """Open the files."""
        return ChunkScorer(self.job).score


class ChunkScorer:
    """Scores chunks of labels.

    Args:
        job: what to score.
    """

    def __init__(self, job: ScoringJob) -> None:
        self._job = job
        self._labels = LineFile(job.labels)
        self._lines = LineFile(job.predictions)
        self._reader = PlanReader(job.library, job.dependency_type)
        self._inventions = HallucinationCounter(job.library, job.graph, self._reader)
        self._installed = InstalledMetrics(job.installed, taken=RESERVED)
        self._run = RunOutcomes(job.run, entry_of_label)
        self.compat = CompatReader(job.library, job.dependency_type, with_steps=job.with_steps)
        self._memberships: dict[tuple[str, int], tuple[list[int], int]] = {}
        self._start()

    def _start(self) -> None:
        """Start a chunk; one before it may have ended in an error."""
        job = self._job
        self._part = ChunkStatistics(
            CompatTable(job.library.ids), StrictTable(job.installed), [None] * len(job.groups)
        )
        self._pairs = StepPairCollector("rouge" in job.metrics, job.keeps_texts, job.rouge_backend)

    @rare_cycle_search()
    def score(self, chunk: ChunkLines) -> ChunkStatistics:
        """Score the labels of a chunk.

        Raises:
            UsageError: a label is malformed (with its line).
            ToolassayError: an installed metric failed.
        """
        self._start()
        part, pairs = self._part, self._pairs
        for first in range(0, len(chunk.is_used), _AT_ONCE):
            labels = self._read(chunk, range(first, min(first + _AT_ONCE, len(chunk.is_used))))
            if self._job.has_compat:
                self._add_compat(labels)
            self._add_strict(chunk, self._met_as_text(chunk, labels))
        part.broken.update(self._lines.broken)
        part.pairs, part.rouge, part.texts = len(pairs), pairs.rouge(), pairs.texts
        return part

    def label(self, chunk: ChunkLines, place: int) -> dict[str, Any]:
        """A label of a chunk.

        Raises:
            UsageError: it is malformed.
        """
        number = chunk.labels.numbers[place]
        try:
            value = self._labels.value(chunk.labels, place)
        except ValueError as error:
            for _ in read_labels(self._job.labels):  # raises at that line, with a more precise message
                pass
            raise UsageError(
                "is not JSON", file=self._job.labels, line=number, fix="correct the line"
            ) from error
        return label_record(self._job.labels, number, value)

    def prediction_for(self, chunk: ChunkLines, place: int) -> Prediction | None:
        """The prediction that compat scores for a label of a chunk."""
        return self._lines.prediction_at(chunk.by_id, place)

    def _read(self, chunk: ChunkLines, places: Iterable[int]) -> list[ScoredLabel]:
        """The labels at some places that belong to a group, with their predictions."""
        labels = []
        for place in places:
            record = self.label(chunk, place)
            shape, size = shape_and_size(record)
            members, groups = self._members(shape, size)
            if members:
                line = chunk.labels.numbers[place]
                labels.append(ScoredLabel(place, line, record, shape, size, members, groups))
        for label in labels:
            label.prediction = self._lines.prediction_at(chunk.by_id, label.place)
        for label in labels:
            label.cluster = cluster_of(label.record)
        for label in labels:
            if label.prediction is not None:
                label.is_same = same_plan(label.record, label.prediction.result)
        return labels

    def _met_as_text(self, chunk: ChunkLines, labels: list[ScoredLabel]) -> list[ScoredLabel]:
        """The labels that have strict scores, with the predictions whose ids are the same as text."""
        numbers, numbers_as_text = chunk.by_id.numbers, chunk.by_text.numbers
        for label in labels:
            place = label.place
            if numbers_as_text[place] != numbers[place]:
                if self._job.has_compat:
                    self._part.notes.met(
                        "id(s) that meet only as text, left out of compat",
                        f"{label.name} (label line {label.line})",
                        warn=True,
                    )
                label.prediction = self._lines.prediction_at(chunk.by_text, place)
                label.is_same = False
        excluded = self._job.excluded
        return [
            label
            for label in labels
            if chunk.is_used[label.place] and not (excluded and str(label.record["id"]) in excluded)
        ]

    def _members(self, shape: str, size: int) -> tuple[list[int], int]:
        """The groups that a label of this shape and size belongs to, also as a bit mask."""
        if (shape, size) not in self._memberships:
            groups = enumerate(self._job.groups)
            members = [at for at, group in groups if group.holds(shape, size)]
            self._memberships[shape, size] = members, bit_mask(members)
        return self._memberships[shape, size]

    def _add_compat(self, labels: Iterable[ScoredLabel]) -> None:
        """Add items to the compat counts."""
        answered = [(label, label.prediction.result) for label in labels if label.prediction is not None]
        read, add = self.compat.item, self._pairs.add
        items = [read(label.record, result, is_same=label.is_same) for label, result in answered]
        part, with_steps = self._part, self._job.with_steps
        for (label, _), item in zip(answered, items, strict=True):
            if with_steps and item.steps is not None:
                label.pair = add(*item.steps)
        for (label, result), item in zip(answered, items, strict=True):
            if item.is_unusual:
                note_compat(part.notes, item, f"{label.name} (label line {label.line})")
            if item.needs_previous:
                label.compat_row = self._add_borrowing(label, result, label.pair)
                continue
            if item.last is not None:
                for group in label.members:
                    part.last[group] = item.last
            label.compat_row = part.compat.add(item, label.groups, label.pair, label.cluster)

    def _add_borrowing(self, label: ScoredLabel, result: Any, pair: int) -> int:
        """Add an item that reuses the argument converted last before it. Returns its row, -1 if not known
        yet.

        Groups contain different labels, so that argument may differ by group. The item is counted once per
        distinct argument.
        """
        part, members = self._part, label.members
        by_previous: dict[Converted | None, list[int]] = {}
        for group in members:
            by_previous.setdefault(part.last[group], []).append(group)
        row = -1
        for previous, sharing in by_previous.items():
            if previous is None:
                part.waiting.append(PendingItem(label.line, tuple(sharing), members[0], pair))
                continue
            variant = self.compat.item(label.record, result, previous)
            added = part.compat.add(variant, bit_mask(sharing), pair, label.cluster)
            row = added if members[0] in sharing else row
            for group in sharing:
                part.last[group] = variant.last
        return row

    def _add_strict(self, chunk: ChunkLines, labels: Sequence[ScoredLabel]) -> None:
        """Add items to the strict counts."""
        self._count_strict(chunk, labels)
        kept = [(label, label.item) for label in labels if label.item is not None]
        self._part.strict.add(
            lines=[label.line for label, _ in kept],
            groups=[label.groups for label, _ in kept],
            shapes=[label.shape for label, _ in kept],
            sizes=[label.size for label, _ in kept],
            clusters=[label.cluster for label, _ in kept],
            outcomes=[label.outcome for label, _ in kept],
            items=[item for _, item in kept],
            inventions=[label.inventions for label, _ in kept],
            pairs=[label.pair for label, _ in kept],
            compat=[label.compat_row for label, _ in kept],
            extra=[self._installed_scores(label) for label, _ in kept] if self._job.installed else (),
        )

    def _count_strict(self, chunk: ChunkLines, labels: Iterable[ScoredLabel]) -> None:
        """Set the strict counts of the labels."""
        read = []
        for label in labels:
            gold = self._reader.plan(label.record)
            if gold is None:
                self._part.notes.met(
                    "label(s) without a readable plan, left out of strict",
                    f"{label.name} (line {label.line})",
                    warn=True,
                )
            else:
                read.append((label, gold))
        plans = [self._answer(label, gold, chunk.by_text.numbers[label.place]) for label, gold in read]
        for (label, gold), plan in zip(read, plans, strict=True):
            label.item = missing_plan(gold) if plan is None else score_plan(gold, plan)
            label.has_plan = plan is not None
            label.pair = self._pair(gold, plan)
            if plan is not None:
                label.inventions = self._inventions.count(plan)

    def _answer(self, label: ScoredLabel, gold: Plan, line: int) -> Plan | None:
        """The plan that answers a label, None for none that is readable; the outcome of its request is set.

        Args:
            label: the label.
            gold: its plan.
            line: the line of its prediction, 0 for none.
        """
        notes, prediction = self._part.notes, label.prediction
        if not line:
            label.outcome = self._run.outcome(label.record)
            if label.outcome == MISSING:
                notes.met("label(s) without a prediction, counted as wrong", label.name, warn=True)
            elif label.outcome == UNWRITTEN:
                notes.met(
                    "answer(s) of the journal are not in the prediction file",
                    label.name,
                    fix="run inference.py again",
                    warn=True,
                )
            return None
        if prediction is not None and not prediction.answers(label.record.get("user_request")):
            notes.met(
                "prediction(s) answer another request than the label's",
                f"{label.name} (line {line})",
                fix="run inference.py again",
                warn=True,
            )
            label.outcome = self._run.outcome(label.record)
            return None
        if label.is_same:
            return gold
        plan = None if prediction is None else self._reader.plan(prediction.result)
        if plan is None:
            label.outcome = "malformed" if prediction is None else prediction.outcome or "malformed"
            if prediction is None and (recorded := self._run.outcome(label.record)) != MISSING:
                label.outcome = recorded  # the line is damaged, but the journal has the outcome
            notes.met(f"{label.outcome} prediction(s)", f"{label.name} (line {line})")
        return plan

    def _installed_scores(self, label: ScoredLabel) -> list[float]:
        if label.prediction is None or not label.has_plan:
            return [0.0] * len(self._job.installed)
        return self._installed.scores(label.record, label.prediction.result)

    def _pair(self, gold: Plan, plan: Plan | None) -> int:
        """The number of the pair of steps, or the reason why there is none."""
        if gold.steps is None:
            return NO_GOLD_STEPS
        if plan is None or plan.steps is None or not self._job.with_steps:
            return NO_PREDICTED_STEPS
        return self._pairs.add(gold.steps, plan.steps)


def bit_mask(members: Iterable[int]) -> int:
    """The groups as a bit mask.

    >>> bit_mask([0, 2])
    5
    """
    return sum(1 << group for group in members)
