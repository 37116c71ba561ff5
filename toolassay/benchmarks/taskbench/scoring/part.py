"""Scores a part of the labels, with nothing but what is in that part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.benchmarks.taskbench.prediction_lines import entry_of_label
from toolassay.benchmarks.taskbench.scoring.compat import CompatItem, CompatReader
from toolassay.benchmarks.taskbench.scoring.compat_arguments import Converted
from toolassay.benchmarks.taskbench.scoring.compat_table import NO_PAIR, CompatTable
from toolassay.benchmarks.taskbench.scoring.groups import shape_and_size
from toolassay.benchmarks.taskbench.scoring.inventions import InventionCounter, Inventions
from toolassay.benchmarks.taskbench.scoring.job import Job
from toolassay.benchmarks.taskbench.scoring.line_index import LineIndex, Prediction
from toolassay.benchmarks.taskbench.scoring.notes import Notes
from toolassay.benchmarks.taskbench.scoring.strict import missing_plan, score_plan
from toolassay.benchmarks.taskbench.scoring.strict_plan import Plan, PlanReader
from toolassay.benchmarks.taskbench.scoring.strict_table import (
    NO_GOLD_STEPS,
    RESERVED,
    StrictRow,
    StrictTable,
    cluster_of,
)
from toolassay.benchmarks.taskbench.scoring.strict_table import NO_PAIR as NO_PREDICTED_STEPS
from toolassay.benchmarks.taskbench.scoring.texts import PairCollector, TextPair
from toolassay.dataset import label_record, read_labels
from toolassay.errors import UsageError
from toolassay.metrics.installed import InstalledMetrics
from toolassay.runs.asked import MISSING, UNWRITTEN, RunOutcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Waiting(NamedTuple):
    """An item that borrows an argument converted before this part: compat counts it when that is known.

    `first` is the first of all its groups: the counts there stand in the file of items.
    """

    line: int
    groups: tuple[int, ...]
    first: int
    pair: int


@dataclass
class Part:
    """The statistics of a part of the labels.

    Attributes:
        compat: the published counts.
        strict: the strict counts.
        last: of each group, the argument converted last.
        waiting: the items that compat does not hold yet.
        notes: what was met.
        broken: prediction lines that turned out to be none.
        pairs: how many different pairs of steps there are.
        rouge: their scores, shape (pairs, 4).
        texts: the pairs themselves, if a model is to read them.
    """

    compat: CompatTable
    strict: StrictTable
    last: list[Converted | None]
    waiting: list[Waiting] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    broken: set[int] = field(default_factory=set)
    pairs: int = 0
    rouge: NDArray[np.float64] | None = None
    texts: list[TextPair] = field(default_factory=list)


class PartScorer:
    """Scores parts of the labels.

    Args:
        job: what is to be scored.
        labels: the lines of the labels.
        lines: the lines of the predictions.
    """

    def __init__(self, job: Job, labels: LineIndex, lines: LineIndex) -> None:
        self._job = job
        self._labels = labels
        self._lines = lines
        self._reader = PlanReader(job.library, job.dependency_type)
        self._inventions = InventionCounter(job.library, job.graph, self._reader)
        self._installed = InstalledMetrics(job.installed, taken=RESERVED)
        self._run = RunOutcomes(job.run, entry_of_label)
        self.compat = CompatReader(job.library, job.dependency_type, with_steps=job.with_steps)
        self._memberships: dict[tuple[str, int], list[int]] = {}
        self._part, self._pairs = self._new_part()

    def _new_part(self) -> tuple[Part, PairCollector]:
        job = self._job
        part = Part(CompatTable(job.library.ids), StrictTable(job.installed), [None] * len(job.groups))
        return part, PairCollector("rouge" in job.metrics, "bertscore" in job.metrics)

    def score(self, numbers: Iterable[int]) -> Part:
        """Score the labels in these lines.

        Raises:
            UsageError: a label is malformed (with its line).
            ToolassayError: an installed metric failed.
        """
        self._part, self._pairs = part, pairs = self._new_part()
        for number in numbers:
            self._add(self.label(number), number)
        part.broken.update(self._lines.broken)
        part.pairs, part.rouge, part.texts = len(pairs), pairs.rouge(), pairs.texts
        return part

    def label(self, number: int) -> dict[str, Any]:
        """The label in a line.

        Raises:
            UsageError: it is malformed.
        """
        try:
            value = self._labels.read(number)
        except ValueError as error:
            for _ in read_labels(self._job.labels):  # stops at that line, and says what is wrong with it
                pass
            raise UsageError("is not JSON", file=self._job.labels, line=number, fix="mend it") from error
        return label_record(self._job.labels, number, value)

    def prediction_for(self, label: Mapping[str, Any]) -> Prediction | None:
        """What compat scores for a label: ids meet as JSON values."""
        line = self._lines.by_id.get(label["id"])
        return None if line is None else self._lines.prediction(line)

    def _add(self, label: Mapping[str, Any], number: int) -> None:
        shape, size = shape_and_size(label)
        members = self._members(shape, size)
        if not members:
            return
        key = label["id"]
        line, line_as_text = self._lines.by_id.get(key), self._lines.by_text.get(str(key))
        prediction = None if line is None else self._lines.prediction(line)
        compat_row = -1
        if prediction is not None:
            compat_row = self._add_compat(label, number, prediction, members)
        if line_as_text != line:
            self._part.notes.met(
                "id(s) that meet only as text, left out of compat",
                f"{key!r} (label line {number})",
                warn=True,
            )
            prediction = None if line_as_text is None else self._lines.prediction(line_as_text)
        is_expected = str(key) not in self._job.excluded and self._labels.by_text.get(str(key)) == number
        if is_expected:
            self._add_strict(label, number, line_as_text, prediction, members, compat_row)

    def _members(self, shape: str, size: int) -> list[int]:
        """The groups that a label of this shape and size belongs to."""
        if (shape, size) not in self._memberships:
            groups = enumerate(self._job.groups)
            self._memberships[shape, size] = [at for at, group in groups if group.holds(shape, size)]
        return self._memberships[shape, size]

    def _add_compat(
        self, label: Mapping[str, Any], number: int, prediction: Prediction, members: list[int]
    ) -> int:
        """Count an item as published; its row in the first of its groups, -1 while that is not known."""
        part = self._part
        item = self.compat.item(label, prediction.result)
        note_compat(part.notes, item, f"{label['id']!r} (label line {number})")
        cluster = cluster_of(label)
        pair = NO_PAIR if item.steps is None else self._pairs.add(*item.steps)
        if not item.needs_previous:
            if item.last is not None:
                for group in members:
                    part.last[group] = item.last
            return part.compat.add(item, bits(members), pair, cluster)
        by_previous: dict[Converted | None, list[int]] = {}
        for group in members:
            by_previous.setdefault(part.last[group], []).append(group)
        row = -1
        for previous, sharing in by_previous.items():
            if previous is None:
                part.waiting.append(Waiting(number, tuple(sharing), members[0], pair))
                continue
            variant = self.compat.item(label, prediction.result, previous)
            added = part.compat.add(variant, bits(sharing), pair, cluster)
            row = added if members[0] in sharing else row
            for group in sharing:
                part.last[group] = variant.last
        return row

    def _add_strict(
        self,
        label: Mapping[str, Any],
        number: int,
        line: int | None,
        prediction: Prediction | None,
        members: list[int],
        compat_row: int,
    ) -> None:
        notes = self._part.notes
        gold = self._reader.plan(label)
        if gold is None:
            notes.met(
                "label(s) without a readable plan, left out of strict",
                f"{label['id']!r} (line {number})",
                warn=True,
            )
            return
        plan: Plan | None = None
        if prediction is not None and not prediction.answers(label.get("user_request")):
            outcome = self._run.outcome(label)
            notes.met(
                "prediction(s) answer another request than the label's",
                f"{label['id']!r} (line {line})",
                fix="run inference.py again",
                warn=True,
            )
        elif line is None:
            outcome = self._run.outcome(label)
            if outcome == MISSING:
                notes.met("label(s) without a prediction, counted as wrong", repr(label["id"]), warn=True)
            elif outcome == UNWRITTEN:
                notes.met(
                    "answer(s) of the journal are not in the prediction file",
                    repr(label["id"]),
                    fix="run inference.py again",
                    warn=True,
                )
        else:
            plan = None if prediction is None else self._reader.plan(prediction.result)
            outcome = "answered"
            if plan is None:
                outcome = "malformed" if prediction is None else prediction.outcome or "malformed"
                if prediction is None and (recorded := self._run.outcome(label)) != MISSING:
                    outcome = recorded  # the line is broken, whatever the model said
                notes.met(f"{outcome} prediction(s)", f"{label['id']!r} (line {line})")
        shape, size = shape_and_size(label)
        item, extra = missing_plan(gold), [0.0] * len(self._job.installed)
        if plan is not None and prediction is not None:
            item, extra = score_plan(gold, plan), self._installed.scores(label, prediction.result)
        self._part.strict.add(
            StrictRow(
                number,
                shape,
                size,
                outcome,
                item,
                Inventions() if plan is None else self._inventions.count(plan),
                self._pair(gold, plan),
                cluster_of(label),
                extra,
                compat_row,
            ),
            bits(members),
        )

    def _pair(self, gold: Plan, plan: Plan | None) -> int:
        """The number of the pair of steps, or why there is none."""
        if gold.steps is None:
            return NO_GOLD_STEPS
        if plan is None or plan.steps is None or not self._job.with_steps:
            return NO_PREDICTED_STEPS
        return self._pairs.add(gold.steps, plan.steps)


def note_compat(notes: Notes, item: CompatItem, where: str) -> None:
    """Note what compat does to an item that one would not expect."""
    if item.lacks_gold_arguments:
        notes.met("label(s) without gold arguments, left out of compat as published", where)
    if item.unreadable_links:
        notes.met("item(s) with unreadable task_links, in compat as if empty", where)
    if item.borrowed:
        notes.met("item(s) where compat lends a malformed argument the last one converted", where)


def bits(members: Iterable[int]) -> int:
    """The groups as bits.

    >>> bits([0, 2])
    5
    """
    return sum(1 << group for group in members)
