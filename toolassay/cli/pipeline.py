"""`toolassay pipeline`: all stages in a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, show


@click.command("pipeline")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; made if missing.")
@options.option(
    "tool_desc", type=options.PATH, default=None, help="The tools [default: DATA_DIR/tool_desc.json]."
)
@options.dependency_type()
@options.option("llm", multiple=True, default=("offline",), help="A model to test; may be repeated.")
@options.option("generator", default="offline", help="The model that writes requests and gold plans.")
@options.server()
@options.option("number_of_samples", type=click.IntRange(1), default=300, help="How many requests.")
@options.option("seed", type=click.IntRange(0), default=0)
@options.multiworker()
@options.budget("for each run: the generation, and the plans of each model")
def command(data_dir: Path, llm: tuple[str, ...], **settings: Any) -> int:
    """From a tool list to scored models: graph, pictures, requests, gold, predictions, scores.

    Without further flags everything runs offline, on a machine with nothing but Python. What a served model
    would cost is told by `generate --dry_run` and `infer --dry_run`; this command has no such flag.
    """
    from toolassay.benchmarks.registry import default_benchmark
    from toolassay.stages.pipeline import files_of, pipeline

    settings = options.with_budget(options.with_model_options(settings))
    piped = pipeline(data_dir, llm=llm, command=options.typed(), screen=SCREEN, **settings)
    show("")
    default_benchmark().show_scores(piped.evaluations)
    for what, path in files_of(data_dir, [result.llm for result in piped.evaluations]):
        show(f"{what:<28} {path}")
    if len(piped.evaluations) < len(llm):
        return 1
    return 0 if piped.complete else 3
