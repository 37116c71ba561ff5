"""Scores of a prediction file without a data folder."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.prediction_scores import score_predictions
from toolassay.benchmarks.taskbench.scoring.scorer import ScoringJob
from toolassay.evaluation.evaluation import Evaluation
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools.library import ToolLibrary


def evaluate_predictions(
    labels: Path,
    predictions: Path,
    library: ToolLibrary,
    dependency_type: DependencyType,
    *,
    graph: ToolGraph | None = None,
    alignment_ids: Collection[str | int] | None = None,
    exclude_ids: Collection[str | int] = (),
    **choices: Any,
) -> Evaluation:
    """`score_predictions`, with `choices` as those of `PlanScoring`."""
    job = ScoringJob(
        labels,
        predictions,
        library,
        dependency_type,
        PlanScoring(**choices),
        graph,
        None if alignment_ids is None else frozenset(alignment_ids),
        frozenset(map(str, exclude_ids)),
    )
    return score_predictions(job)[0]
