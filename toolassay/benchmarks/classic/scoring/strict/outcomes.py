"""The outcome of every message in every trial, and means over messages with 95 % intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData, Example
from toolassay.benchmarks.classic.scoring.prediction_rows import ANSWERED, MALFORMED, PredictionRow
from toolassay.metrics.confidence_interval import Ratio, ratio_intervals
from toolassay.runs.outcomes import MISSING

MissingOutcome = Callable[[Example, int], str]
"""Gives the outcome of a message that has no row in a trial."""


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    """One message in one trial.

    Args:
        example: the message with its labels.
        trial: its number.
        row: the agent's answer; None if there is none.
        outcome: of the request (`runs.outcomes` defines which are scored). The name of a workflow that was
            not offered is malformed, as is an empty name.
    """

    example: Example
    trial: int
    row: PredictionRow | None
    outcome: str

    @property
    def answered(self) -> bool:
        """Whether the agent made a choice, a workflow or none."""
        return self.outcome == ANSWERED

    @property
    def choice(self) -> str | None:
        """The chosen workflow; None for the choice of none, and for a message without a choice."""
        return self.row.prediction if self.row is not None and self.answered else None

    @property
    def right(self) -> bool:
        """Whether the labels accept the choice; False without a choice."""
        return self.answered and self.example.accepts(self.choice)

    @property
    def wanted(self) -> str | None:
        """The primary label; None if no workflow is correct."""
        return self.example.labels[0] if self.example.labels else None


def message_outcomes(
    rows: Iterable[PredictionRow], data: ClassicData, ended: MissingOutcome = lambda example, trial: MISSING
) -> list[MessageOutcome]:
    """Every message of the data in each trial that has a row.

    Args:
        rows: answers to these data, with one order of the candidates.
        data: its labels are used.
        ended: the outcome of a message without a row in a trial.

    Returns:
        Sorted by conversation, message and trial.
    """
    rows = list(rows)
    found = {(*row.input, row.trial): row for row in rows}
    trials = sorted({row.trial for row in rows}) or [0]
    offered = {domain: {flow.id for flow in flows} for domain, flows in data.workflows.items()}
    judged = []
    for example in sorted(data.examples, key=lambda each: (each.conversation, each.request_idx)):
        for trial in trials:
            row = found.get((example.conversation, example.request_idx, trial))
            outcome = ended(example, trial) if row is None else _outcome(row, offered[example.domain])
            judged.append(MessageOutcome(example, trial, row, outcome))
    return judged


def by_message(judged: Sequence[MessageOutcome]) -> list[list[MessageOutcome]]:
    """The trials of each message, in the given order."""
    found: dict[str, list[MessageOutcome]] = {}
    for one in judged:
        found.setdefault(one.example.id, []).append(one)
    return list(found.values())


def _outcome(row: PredictionRow, offered: set[str]) -> str:
    if row.outcome == ANSWERED and row.prediction is not None and row.prediction not in offered:
        return MALFORMED
    return row.outcome


Score = Callable[[MessageOutcome], float | None]
Group = Callable[[MessageOutcome], str | None]


def means(
    judged: Sequence[MessageOutcome], scores: Mapping[str, Score], by_group: Mapping[str, tuple[Score, Group]]
) -> dict[str, Any]:
    """Means with intervals, by name. The bootstrap resamples conversations.

    Args:
        judged: the messages.
        scores: the values of plain means; None leaves a message out.
        by_group: means of group means, each with the value and the group of a message; None leaves it out.
    """
    import numpy as np

    numbers = {name: number for number, name in enumerate({one.example.conversation: 0 for one in judged})}
    columns = [Ratio.mean(_column(judged, score)) for score in scores.values()]
    for score, group in by_group.values():
        names = [group(one) for one in judged]
        sizes = Counter(names)
        # A mean of group means is a weighted mean, and as a ratio of sums it can be resampled by cluster.
        weights = np.array([0.0 if name is None else 1 / sizes[name] for name in names])
        values = np.nan_to_num(_column(judged, score))
        columns.append(Ratio(values * weights, weights))
    clusters = np.array([numbers[one.example.conversation] for one in judged], dtype=np.int64)
    intervals = ratio_intervals(columns, clusters=clusters)
    return {name: interval.to_json() for name, interval in zip([*scores, *by_group], intervals, strict=True)}


def _column(judged: Sequence[MessageOutcome], score: Score) -> Any:
    import numpy as np

    values = [score(one) for one in judged]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
