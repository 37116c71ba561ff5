"""`toolassay evaluate`: predictions -> metrics, and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, evaluate_options, shown_options
from toolassay.cli.screen import SCREEN, say, show
from toolassay.screen import WARNING


@click.command("evaluate")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("prediction_dir", type=options.PATH, default="predictions", help="Below it, or as given.")
@options.option("save_dir", type=options.PATH, default=None, help="Where metrics go [default: metrics…].")
@options.option(
    "llm", multiple=True, default=(options.LLM,), help="The model; may be repeated; all: every one there."
)
@options.option("limit", type=click.IntRange(1), default=None, help="Score only what infer --limit N asks.")
@options.option(
    "ids", type=options.PATH, default=None, help="Score only the items in this file, as infer --ids."
)
@options.option(
    "min_coverage",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Exit with 3 where a smaller share of the labels was scored.",
)
@evaluate_options()
def command(data_dir: Path, llm: tuple[str, ...], min_coverage: float, **settings: Any) -> int:
    """Score predictions: strict and as published, side by side."""
    from toolassay.benchmarks.registry import benchmark_of
    from toolassay.cli.score_tables import print_signatures
    from toolassay.data_folder import DataFolder
    from toolassay.evaluation.evaluation import FolderEvaluation, IncompleteEvaluation
    from toolassay.stages.evaluate import evaluate

    shown = {name: settings.pop(name) for name in shown_options()}
    evaluations: list[FolderEvaluation]
    failure: IncompleteEvaluation | None = None
    try:
        evaluations = evaluate(data_dir, llm=list(llm), screen=SCREEN, **by_field(settings))
    except IncompleteEvaluation as error:
        evaluations, failure = error.evaluations, error
    benchmark_of(DataFolder(data_dir)).show_scores(evaluations, **shown)
    print_signatures(evaluations)
    for result in evaluations:
        show(str(result.path))
    if failure is not None:
        raise failure
    low = [result for result in evaluations if result.coverage < min_coverage]
    for result in low:
        say(f"{WARNING}{result.llm}: only {result.coverage:.1%} of the labels were scored (--min_coverage)")
    return 3 if low or any(result.is_partial for result in evaluations) else 0
