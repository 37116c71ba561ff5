"""`toolassay pipeline`: every stage from the tool list to the scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, show


@click.command("pipeline")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; created if missing.")
@options.option(
    "tool_desc", type=options.PATH, default=None, help="Tool file [default: DATA_DIR/tool_desc.json]."
)
@options.dependency_type()
@options.option("llm", multiple=True, default=("offline",), help="Model to test; may be repeated.")
@options.option("generator", default="offline", help="Model that writes the requests and gold plans.")
@options.option(
    "critic",
    multiple=True,
    help="Model that reviews each sample besides the gates; may be repeated. 'offline' needs no server.",
)
@options.option(
    "rewrite",
    type=click.IntRange(0, 10),
    default=2,
    help="How often a sample that does not pass the gates goes back to the generator with what they found.",
)
@options.server()
@options.option(
    "number_of_samples",
    type=click.IntRange(1),
    default=None,
    help="Number of requests [default: 300, or as --cover and --until say].",
)
@options.cover()
@options.until()
@options.option("seed", type=click.IntRange(0), default=0, help="Random seed.")
@options.by_score()
@options.multiworker()
@options.budget("for each run: the generation, and the inference of each model")
def command(data_dir: Path, llm: tuple[str, ...], **settings: Any) -> int:
    """Run every stage from tools to scored models: graph, requests with gold, gates, predictions, scores.

    By default everything runs offline, without a server. To estimate the cost of a served model first, use
    `generate --dry_run` and `infer --dry_run`; this command has no such flag.
    """
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import default_benchmark
    from toolassay.stages.pipeline import files_of, pipeline

    settings = options.with_budget(options.with_model_options(settings))
    piped = pipeline(data_dir, llm=llm, command=options.typed(), screen=SCREEN, **settings)
    if not piped.evaluations and not piped.complete:
        return 3
    show("")
    load(default_benchmark().scores.show)(piped.evaluations)
    for what, path in files_of(data_dir, [result.llm for result in piped.evaluations]):
        show(f"{what:<28} {path}")
    if len(piped.evaluations) < len(llm):
        return 1
    return 0 if piped.complete else 3
