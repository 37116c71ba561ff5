"""Scores on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from toolgraph.benchmarks.taskbench.score_folder import FolderEvaluation


def print_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The models side by side, then each model's groups where there are several."""
    from rich.console import Console

    from toolgraph.benchmarks.taskbench.table import group_table, model_table

    console = Console()
    groups = {result.llm: result.evaluation.groups for result in evaluations}
    if all("overall_overall" in numbers for numbers in groups.values()):
        console.print(model_table(groups, width=console.width))
    for name, numbers in groups.items():
        if len(numbers) > 1 or "overall_overall" not in numbers:
            console.print(group_table(name, numbers, width=console.width))
