"""Prints the scores of simple benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from toolassay.cli.screen import show
from toolassay.console.tables import percent, percent_interval
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.metrics.confidence_interval import Interval


def show_accuracy(evaluations: Sequence[FolderEvaluation]) -> None:
    """Print the accuracy of each model with its 95 % interval, one line each."""
    for evaluation in evaluations:
        for numbers in (group.numbers for group in evaluation.evaluation.groups.values()):
            value, low, high = Interval.of(numbers["strict"]["accuracy"])
            share = [percent(value), percent_interval(low, high)]
            show(f"{evaluation.llm}: {' '.join(filter(None, share))} of {numbers['n']} right")
