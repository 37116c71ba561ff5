"""`toolassay graph`: tool_desc.json -> graph_desc.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("graph")
@options.option(
    "data_dir", type=options.PATH, default=None, help="The data folder; graph_desc.json is written there."
)
@options.option(
    "tool_desc", type=options.PATH, default=None, help="Tool file [default: DATA_DIR/tool_desc.json]."
)
@options.dependency_type()
@options.option(
    "max_links",
    type=click.IntRange(0),
    default=None,
    help="Do not write links that follow from the types if there are more than this [default: 2000000].",
)
@options.flag("materialise", "Write every link, whatever their number.")
@options.flag(
    "normalise_types", "Treat 'Image' and 'image' as one type; false gives the published graph.", default=True
)
def command(data_dir: Path | None, **settings: Any) -> None:
    """Build the tool graph of a library.

    The tool file is not changed. If the folder has a different graph, a dated copy of it is kept.
    """
    from toolassay.stages.graph import build_graph

    build_graph(data_dir, screen=SCREEN, **settings)
