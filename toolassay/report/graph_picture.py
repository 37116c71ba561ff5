"""The picture of a whole tool graph: `graph_desc.png` and `graph_desc.pdf`."""

from __future__ import annotations

from pathlib import Path

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.report.colours import is_complete
from toolassay.report.figures import plain_style, save
from toolassay.report.tool_picture import draw_tools
from toolassay.report.type_picture import draw_types
from toolassay.words import count_of

MOST_TOOLS = 200
MOST_LINKS = 4_000


def draw_graph(graph: ToolGraph, folder: Path) -> list[Path]:
    """Draw a tool graph; the same graph gives the same bytes.

    A resource graph of more than `MOST_TOOLS` tools or `MOST_LINKS` links is drawn by its types: which
    type is made into which, by how many tools.

    Args:
        graph: the tool graph.
        folder: where `graph_desc.png` and `graph_desc.pdf` go; made if missing.

    Returns:
        The two files.

    Raises:
        UsageError: a temporal graph too large to draw.
        ToolassayError: the folder cannot be written.
    """
    by_tools = drawn_by_tools(graph, most_tools=MOST_TOOLS, most_links=MOST_LINKS)
    with plain_style():
        figure = draw_tools(graph) if by_tools else draw_types(graph)
        return [save(figure, folder / f"graph_desc.{kind}", dpi=150) for kind in ("png", "pdf")]


def drawn_by_tools(graph: ToolGraph, *, most_tools: int, most_links: int) -> bool:
    """Whether a graph is drawn tool by tool, rather than type by type.

    A temporal graph in which every tool can follow every other has no limit of links: they are implied.

    Raises:
        UsageError: it is too large to draw tool by tool, and there are no types to draw instead.
    """
    if len(graph) <= most_tools and (is_complete(graph) or graph.number_of_links <= most_links):
        return True
    if graph.dependency_type == "resource" and graph.library.has_types:
        return False
    raise UsageError(
        f"a {graph.dependency_type} graph of {count_of(len(graph), 'tool')} and "
        f"{count_of(graph.number_of_links, 'link')} is too large to draw "
        f"(up to {most_tools:,} tools and {most_links:,} links can be)",
        fix="draw the graph of a smaller tool_desc.json",
    )
