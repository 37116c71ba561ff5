"""`toolgraph pipeline`: all stages in a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolgraph.cli import options
from toolgraph.cli.screen import SCREEN, show


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
@options.option("multiworker", type=click.IntRange(1), default=5, help="Requests in flight.")
def command(data_dir: Path, llm: tuple[str, ...], **settings: Any) -> int:
    """From a tool list to scored models: graph, pictures, requests, gold, predictions, scores.

    Without further flags everything runs offline, on a machine with nothing but Python.
    """
    from toolgraph.cli.scores import print_scores
    from toolgraph.stages.pipeline import files_of, pipeline

    evaluations = pipeline(data_dir, llm=llm, screen=SCREEN, **options.with_model_options(settings))
    show("")
    print_scores(evaluations)
    for what, path in files_of(data_dir, [result.llm for result in evaluations]):
        show(f"{what:<28} {path}")
    return 0 if len(evaluations) == len(llm) else 1
