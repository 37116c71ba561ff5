"""`toolassay view`: the report's page on loopback, also while models run."""

from __future__ import annotations

from pathlib import Path

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
@options.option(
    "prediction_dir",
    type=options.PATH,
    default="predictions",
    help="Prediction folder, in the data folder or else relative to the current one.",
)
@options.option(
    "port", type=click.IntRange(0, 65535), default=0, help="Port of the page on 127.0.0.1; 0: any free port."
)
@click.option(
    "--open",
    "open_browser",
    type=bool,
    default=False,
    is_flag=False,
    flag_value=True,
    help="Open the page in the browser.",
)
def command(data_dir: Path, llm: tuple[str, ...], prediction_dir: Path, port: int, open_browser: bool) -> int:
    """Show the report's page of DATA_DIR in the browser, up to date while models run.

    It needs no scores: predictions are scored in a temporary folder. Only programs of this machine reach it.
    Ctrl-C ends it.
    """
    from toolassay.stages.view import view

    view(
        data_dir,
        llm=list(llm),
        prediction_dir=prediction_dir,
        port=port,
        open_browser=open_browser,
        screen=SCREEN,
    )
    return 0
