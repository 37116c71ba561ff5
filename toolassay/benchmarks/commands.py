"""Prints the scores of simple benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from toolassay.cli.screen import show
from toolassay.evaluation.evaluation import FolderEvaluation


def show_accuracy(evaluations: Sequence[FolderEvaluation], noun: str) -> None:
    """Print the accuracy of each model with its 95 % interval, one line each."""
    for one in evaluations:
        for numbers in one.evaluation.groups.values():
            found = numbers["strict"]["accuracy"]
            share = "–"
            if found["value"] is not None:
                bounds = f"[{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
                share = f"{100 * found['value']:.1f} % {bounds}"
            show(f"{one.llm}: {share} of {numbers['n']} {noun}s right")
