"""`toolgraph visualize`: graph_desc.json -> pictures and a page."""

from __future__ import annotations

from pathlib import Path

import click

from toolgraph.cli import options
from toolgraph.cli.screen import say, show


@click.command("visualize")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("graph_desc", type=options.PATH, default=None, help="Another graph than the folder's.")
def command(data_dir: Path, graph_desc: Path | None) -> None:
    """Draw the tool graph: graph_desc.png, graph_desc.pdf and graph_desc.html."""
    from toolgraph.folder import DataFolder, find_file
    from toolgraph.graph import ToolGraph
    from toolgraph.report import draw_graph, write_graph_page

    folder = DataFolder(data_dir).require()
    path = folder.graph_desc if graph_desc is None else find_file(graph_desc, data_dir)
    say(f"drawing {path}")
    graph = ToolGraph.load(path, dependency_type=folder.benchmark.get("dependency_type"))
    for picture in draw_graph(graph, data_dir):
        show(str(picture))
    show(str(write_graph_page(graph, data_dir / "graph_desc.html")))
