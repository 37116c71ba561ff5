"""`toolassay evaluate`: predictions -> metrics files and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, evaluate_options, shown_options
from toolassay.cli.screen import SCREEN, say, show
from toolassay.screen import WARNING


@click.command("evaluate")
@options.data_dir()
@options.prediction_dir()
@options.option(
    "save_dir",
    type=options.PATH,
    default=None,
    help="Output folder [default: metrics, with the suffix of the prediction folder].",
)
@options.option(
    "llm",
    multiple=True,
    default=(options.LLM,),
    help="Model to score; may be repeated. all: every model with predictions.",
)
@options.option(
    "limit", type=click.IntRange(1), default=None, help="Score only the items that infer --limit N runs."
)
@options.option(
    "ids",
    type=options.PATH,
    default=None,
    help="Score only the ids in this file, in a format of infer --ids.",
)
@options.option(
    "min_coverage",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Exit with code 3 if less than this share of the labels is scored.",
)
@options.engine()
@evaluate_options()
def command(data_dir: Path, llm: tuple[str, ...], min_coverage: float, **settings: Any) -> int:
    """Score predictions, with strict and published metrics side by side."""
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import benchmark_of
    from toolassay.cli.score_tables import print_signatures
    from toolassay.data_folder import DataFolder
    from toolassay.evaluation.evaluation import FolderEvaluation, IncompleteEvaluation
    from toolassay.extras import import_numpy
    from toolassay.stages.evaluate import evaluate

    import_numpy()
    shown = {name: settings.pop(name) for name in shown_options()}
    evaluations: list[FolderEvaluation]
    failure: IncompleteEvaluation | None = None
    try:
        evaluations = evaluate(data_dir, llm=list(llm), screen=SCREEN, **by_field(settings))
    except IncompleteEvaluation as error:
        evaluations, failure = error.evaluations, error
    benchmark = benchmark_of(DataFolder(data_dir))
    load(benchmark.scores.show)(evaluations, **{one.name: shown[one.name] for one in benchmark.options.show})
    print_signatures(evaluations)
    for result in evaluations:
        show(str(result.path))
    if failure is not None:
        raise failure
    low = [result for result in evaluations if result.coverage < min_coverage]
    for result in low:
        say(f"{WARNING}{result.llm}: only {result.coverage:.1%} of the labels were scored (--min_coverage)")
    return 3 if low or any(result.is_partial for result in evaluations) else 0
