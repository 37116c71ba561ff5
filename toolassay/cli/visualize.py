"""`toolassay visualize`: graph_desc.json -> PNG, PDF and HTML."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("visualize")
@options.data_dir()
@options.option(
    "graph_desc", type=options.PATH, default=None, help="Graph file [default: DATA_DIR/graph_desc.json]."
)
def command(data_dir: Path, graph_desc: Path | None) -> None:
    """Draw the tool graph: graph_desc.png, graph_desc.pdf and graph_desc.html."""
    from toolassay.stages.visualize import visualize

    visualize(data_dir, graph_desc=graph_desc, screen=SCREEN)
