"""`toolassay graph`: tool_desc.json -> graph_desc.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("graph")
@options.option(
    "data_dir", type=options.PATH, default=None, help="The data folder; graph_desc.json goes there."
)
@options.option(
    "tool_desc", type=options.PATH, default=None, help="The tools [default: DATA_DIR/tool_desc.json]."
)
@options.dependency_type()
@options.option(
    "max_links",
    type=click.IntRange(0),
    default=None,
    help="More implied links are not written [default: 2000000].",
)
@options.flag("materialise", "Write every link, however many.")
@options.flag(
    "normalise_types", "Read 'Image' and 'image' as one type; false for the published graph.", default=True
)
def command(data_dir: Path | None, **settings: Any) -> None:
    """Build the tool graph of a library.

    The tool file is only read. A graph that is there already is kept as a dated copy if it differs.
    """
    from toolassay.stages.graph import build_graph

    build_graph(data_dir, screen=SCREEN, **settings)
