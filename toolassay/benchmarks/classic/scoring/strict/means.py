"""Means over messages with their 95 % intervals; the messages of a conversation are drawn together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolassay.benchmarks.classic.scoring.strict.judged import Judged
from toolassay.metrics.intervals import Ratio, ratio_intervals

Score = Callable[[Judged], float | None]
Group = Callable[[Judged], str | None]


def means(
    judged: Sequence[Judged], scores: Mapping[str, Score], by_group: Mapping[str, tuple[Score, Group]]
) -> dict[str, Any]:
    """Means with intervals, by name.

    Args:
        judged: what is averaged.
        scores: plain means; None leaves one out.
        by_group: means of the means of groups, each with what is averaged and the group of each; None leaves
            one out.
    """
    import numpy as np

    numbers = {name: number for number, name in enumerate({one.example.conversation: 0 for one in judged})}
    columns = [Ratio.mean(_column(judged, score)) for score in scores.values()]
    for score, group in by_group.values():
        names = [group(one) for one in judged]
        sizes = Counter(names)
        weights = np.array([0.0 if name is None else 1 / sizes[name] for name in names])
        values = np.nan_to_num(_column(judged, score))
        columns.append(Ratio(values * weights, weights))
    clusters = np.array([numbers[one.example.conversation] for one in judged], dtype=np.int64)
    intervals = ratio_intervals(columns, clusters=clusters)
    return {name: interval.to_json() for name, interval in zip([*scores, *by_group], intervals, strict=True)}


def _column(judged: Sequence[Judged], score: Score) -> Any:
    import numpy as np

    values = [score(one) for one in judged]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
