"""`toolassay view`: the report's page on loopback, also while models run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("view")
@click.argument("data_dir", type=options.PATH)
@options.option(
    "llm",
    multiple=True,
    default=("all",),
    help="Model to include; may be repeated. 'all': every model with predictions.",
)
@options.prediction_dir()
@options.page()
def command(data_dir: Path, llm: tuple[str, ...], **settings: Any) -> int:
    """Show the report's page of DATA_DIR in the browser, up to date while models run.

    It needs no scores: predictions are scored in a temporary folder. Only programs of this machine reach it.
    Ctrl-C ends it.
    """
    from toolassay.stages.view import view

    view(data_dir, llm=list(llm), screen=SCREEN, **settings)
    return 0
