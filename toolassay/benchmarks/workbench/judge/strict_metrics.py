"""What a strict evaluation says beyond the published counts: partial credit and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolassay.benchmarks.workbench.judge.verdict import Verdict
from toolassay.metrics.intervals import mean_intervals


def strict_metrics(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Means of one file with their 95 % intervals; tasks of one template are drawn together.

    Returns:
        `unwanted_changes` (their number) and, under `intervals`, `accuracy`, `side_effects`,
        `wanted_changes_made`, `made_changes_wanted` and `exact_match`: shares of 1, each with `value`, `low`
        and `high`.
    """
    import numpy as np

    templates = {name: number for number, name in enumerate({v.task.base_template: 0 for v in verdicts})}
    scores: dict[str, list[float | None]] = {
        "accuracy": [float(v.correct) for v in verdicts],
        "side_effects": [float(v.side_effects) for v in verdicts],
        "wanted_changes_made": [v.strict.wanted_made if v.strict else None for v in verdicts],
        "made_changes_wanted": [v.strict.made_wanted if v.strict else None for v in verdicts],
        "exact_match": [float(v.classes.exact_match) for v in verdicts],
    }
    intervals = mean_intervals(
        (np.array([np.nan if x is None else x for x in column]) for column in scores.values()),
        clusters=np.array([templates[v.task.base_template] for v in verdicts], dtype=np.int64),
    )
    return {
        "unwanted_changes": sum(len(v.strict.unwanted) for v in verdicts if v.strict),
        "intervals": {name: found.to_json() for name, found in zip(scores, intervals, strict=True)},
    }
