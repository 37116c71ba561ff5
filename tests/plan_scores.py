"""Scores of a prediction file without a data folder."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.evaluation import PlanEvaluator
from toolassay.evaluation.evaluation import Evaluation
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools import ToolLibrary


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
    """`PlanEvaluator`, with `choices` as those of `PlanScoring`."""
    chosen, ids = PlanScoring(**choices), {"alignment_ids": alignment_ids, "exclude_ids": exclude_ids}
    return PlanEvaluator(
        labels,
        predictions,
        library,
        dependency_type,
        chosen,
        graph=graph,
        **ids,  # type: ignore[arg-type]
    ).evaluate()
