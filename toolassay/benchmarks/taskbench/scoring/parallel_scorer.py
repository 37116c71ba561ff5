"""Scores a prediction file in chunks, on any engine. The numbers do not depend on where they are scored."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from toolassay.benchmarks.taskbench.scoring.chunk_scorer import (
    ChunkLines,
    ChunkScorer,
    ChunkStatistics,
    ScoringJob,
    ScoringTask,
    bit_mask,
)
from toolassay.benchmarks.taskbench.scoring.compat import Converted
from toolassay.benchmarks.taskbench.scoring.compat_table import CompatTable
from toolassay.benchmarks.taskbench.scoring.evaluation_notes import EvaluationNotes
from toolassay.benchmarks.taskbench.scoring.step_scores import TextPair
from toolassay.benchmarks.taskbench.scoring.strict_table import StrictTable, cluster_of
from toolassay.engines import Engine, OneProcess
from toolassay.evaluation.line_index import LineIndex
from toolassay.progress_callback import Progress, no_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CHUNK = 2_500
"""Labels per chunk. The size is fixed, so that floating-point sums have the same order on any engine."""
_CHUNKS_A_WORKER = 4  # at least: a worker costs as much CPU time as scoring a thousand labels


class MergedStatistics:
    """The statistics of all labels, merged in the order of the label file.

    Attributes:
        compat: the published counts.
        strict: the strict counts.
        notes: notices.
        texts: the pairs of steps, if BERTScore is wanted.
        scorer: scores the items that depend on an earlier chunk.
    """

    def __init__(
        self, job: ScoringJob, lines: LineIndex, chunk_of: Callable[[Sequence[int]], ChunkLines]
    ) -> None:
        self._lines, self._chunk_of = lines, chunk_of
        self.scorer = ChunkScorer(job)
        self._rouge: list[NDArray[np.float64]] = []
        self._last: list[Converted | None] = [None] * len(job.groups)
        self._number_of_pairs = 0
        self.compat = CompatTable(job.library.ids)
        self.strict = StrictTable(job.installed)
        self.notes = EvaluationNotes()
        self.texts: list[TextPair] = []

    def add(self, part: ChunkStatistics) -> None:
        """Append the next chunk."""
        first_pair, first_row = self._number_of_pairs, len(self.compat)
        self.compat.extend(part.compat, first_pair=first_pair)
        self.strict.extend(part.strict, first_pair=first_pair, first_compat=first_row)
        self.notes.extend(part.notes)
        self._lines.broken = sorted({*self._lines.broken, *part.broken})
        if part.rouge is not None:
            self._rouge.append(part.rouge)
        self.texts += part.texts
        self._number_of_pairs += part.pairs
        # These items reuse an argument of an earlier chunk, which is known only now.
        for waiting in part.waiting:
            chunk = self._chunk_of([waiting.line])
            label, prediction = self.scorer.label(chunk, 0), self.scorer.prediction_for(chunk, 0)
            by_previous: dict[Converted | None, list[int]] = {}
            for group in waiting.groups:
                by_previous.setdefault(self._last[group], []).append(group)
            for previous, sharing in by_previous.items():
                item = self.scorer.compat.item(label, prediction and prediction.result, previous)
                pair = waiting.pair + first_pair if waiting.pair >= 0 else -1
                row = self.compat.add(item, bit_mask(sharing), pair, cluster_of(label))
                if waiting.first in sharing:
                    self.strict.set_compat(waiting.line, row)
                for group in sharing:
                    self._last[group] = item.last
        for group, last in enumerate(part.last):
            if last is not None:
                self._last[group] = last

    def let_go(self) -> None:
        """Release the files. Nothing can be added afterwards."""
        del self._lines, self._chunk_of, self.scorer

    def rouge(self) -> NDArray[np.float64]:
        """The ROUGE scores of all pairs, shape (pairs, 4)."""
        import numpy as np

        self._rouge = [np.concatenate(self._rouge)] if self._rouge else [np.empty((0, 4))]
        return self._rouge[0]


def score_chunks(
    job: ScoringJob,
    labels: LineIndex,
    lines: LineIndex,
    *,
    engine: Engine | None = None,
    progress: Progress = no_progress,
) -> MergedStatistics:
    """Score every label. Afterwards the two files do not know their ids any more.

    Args:
        job: what to score.
        labels: the lines of the labels.
        lines: the lines of the predictions.
        engine: where; None for one process per core if there are labels enough.
        progress: receives the progress.

    Raises:
        UsageError: a label is malformed (with its line).
        ToolassayError: an installed metric failed.
    """
    numbers = sorted(number for key, number in labels.by_id.items() if job.keeps_all or job.keeps(key))
    cut = [numbers[start : start + CHUNK] for start in range(0, len(numbers), CHUNK)]
    matches = labels.matches(lines)
    # The ids of a million labels and predictions need 280 MB, and their numbers 9 MB.
    labels.forget_ids()
    lines.forget_ids()

    def chunk_of(chosen: Sequence[int]) -> ChunkLines:
        return ChunkLines.of(chosen, labels, lines, matches)

    parts = MergedStatistics(job, lines, chunk_of)
    for number in sorted({*labels.broken, *labels.nameless}):
        parts.scorer.label(chunk_of([number]), 0)  # raises an error that says what is wrong with the line
    with progress("scoring", len(numbers)) as advance:
        found = (engine or _own_engine(len(cut))).map(ScoringTask(job), map(chunk_of, cut))
        for own, part in zip(cut, found, strict=True):
            parts.add(part)
            for _ in own:
                advance()
    return parts


def _own_engine(chunks: int) -> Engine:
    if chunks < 2 * _CHUNKS_A_WORKER:
        return OneProcess()
    from toolassay.engines.processes import Processes, cores

    workers = min(chunks // _CHUNKS_A_WORKER, cores())
    return Processes(workers) if workers > 1 and _may_fork() else OneProcess()


def _may_fork() -> bool:
    """Whether forking is cheap and safe: on Linux, if no other Python thread runs."""
    return sys.platform == "linux" and threading.active_count() == 1
