from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from film_graphs import film_graph
from matplotlib.collections import LineCollection, PolyCollection

from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.report.graph_picture import draw_graph, draw_groups, draw_tools
from toolassay.report.style import plain_style
from toolassay.report.tool_groups import tool_groups
from toolassay.tools import Tool, ToolLibrary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def texts_of(figure: "Figure", gid: str | None = None) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if gid is None or text.get_gid() == gid]


def large_graph(size: int, tags: int) -> ToolGraph:
    library = ToolLibrary([Tool(f"tool {n}", tags=(f"group {n % tags}",)) for n in range(size)])
    links = [Dependency(f"tool {n}", f"tool {n * 7 % size}", "id", n / size) for n in range(size)]
    return ToolGraph.of_dependencies(library, links)


def test_links_are_darker_and_wider_by_score_and_dashed_if_only_observed() -> None:
    with plain_style():
        figure = draw_tools(film_graph())
    (shapes,) = [item for item in figure.axes[0].collections if isinstance(item, PolyCollection)]
    (lines,) = [item for item in figure.axes[0].collections if isinstance(item, LineCollection)]
    opacities = [float(row[3]) for row in np.asarray(shapes.get_facecolor())]
    assert len(opacities) == 4
    assert opacities == sorted(opacities)
    assert opacities[-1] > 1.5 * opacities[0]
    assert len(lines.get_segments()) == 1


def test_groups_without_a_colour_share_an_entry_of_the_legend() -> None:
    names = [f"group {n % 14}" for n in range(28)]
    tools = [Tool(f"t{n}", tags=(name,)) for n, name in enumerate(names)]
    with plain_style():
        graph = ToolGraph.of_dependencies(ToolLibrary([*tools, Tool("other")]), [])
        legend = texts_of(draw_tools(graph), "legend")
    assert len(legend) == 12
    assert legend[-2:] == ["4 other tags: 8 tools", "no tag: 1 tool"]


def test_only_the_best_links_of_many_are_drawn() -> None:
    with plain_style():
        figure = draw_tools(film_graph(), most_links=2)
    (shapes,) = [item for item in figure.axes[0].collections if isinstance(item, PolyCollection)]
    assert len(shapes.get_facecolor()) == 2
    assert any(text.startswith("The 2 best links.") for text in texts_of(figure))


def test_a_large_graph_is_drawn_by_its_groups(tmp_path: Path) -> None:
    graph = large_graph(300, 3)
    with plain_style():
        figure = draw_groups(graph, tool_groups(graph))
    found = texts_of(figure)
    assert f"300 tools, {graph.number_of_links} links, by tag" in found
    assert sorted(texts_of(figure, "type")) == sorted(2 * [f"group {n}, 100 tools" for n in range(3)])
    counts = [int(text.replace(",", "")) for text in found if text.replace(",", "").isdecimal()]
    assert sum(counts) == graph.number_of_links
    assert [path.suffix for path in draw_graph(graph, tmp_path)] == [".png", ".pdf"]


def test_a_graph_without_links_can_be_drawn(tmp_path: Path) -> None:
    for size in (1, 201):
        library = ToolLibrary([Tool(f"t{n}") for n in range(size)])
        draw_graph(ToolGraph.of_dependencies(library, []), tmp_path / str(size))
        assert (tmp_path / str(size) / "graph_desc.png").stat().st_size > 0
