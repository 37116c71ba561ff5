"""Pictures of graphs."""

import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.text import Text
from numpy.typing import NDArray

from tests.support.film_graphs import film_graph
from toolassay.errors import ToolassayError
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.reports import graph_picture
from toolassay.reports.graph_picture import (
    MOST_TOOLS,
    draw_graph,
    draw_tools,
)
from toolassay.reports.style import plain_style
from toolassay.tools.library import Tool, ToolLibrary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROJECT = Path(__file__).parents[2]
DATA = {"huggingface": "resource", "multimedia": "resource", "dailylifeapis": "temporal"}

Corners = NDArray[np.float64]


def typed_library(size: int, kinds: int = 5) -> ToolLibrary:
    return ToolLibrary(
        [Tool(f"Tool number {n}", "", (f"kind {n % kinds}",), (f"kind {n % 3}",)) for n in range(size)]
    )


def corners_of(text: Text) -> Corners:
    """The four corners of a text's box as drawn, turned with the text."""
    degrees = text.get_rotation()
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(degrees)
    anchor = np.array(text.get_transform().transform(text.get_position()))
    flat = np.array([(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]) - anchor
    turn = math.radians(degrees)
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    corners: Corners = flat @ rotation + anchor
    return corners


def overlap(one: Corners, other: Corners) -> bool:
    """Whether two turned rectangles overlap (separating axes)."""
    for corners in (one, other):
        for edge in (corners[1] - corners[0], corners[3] - corners[0]):
            first, second = one @ edge, other @ edge
            if first.max() <= second.min() or second.max() <= first.min():
                return False
    return True


def assert_labels_apart(figure: "Figure", gid: str, expected: int) -> None:
    labels = [item for item in figure.axes[0].texts if item.get_gid() == gid]
    assert len(labels) == expected
    boxes = [(label.get_text(), corners_of(label)) for label in labels]
    touching = [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if overlap(one, other)]
    assert touching == []
    width, height = figure.get_size_inches() * figure.dpi
    for name, corners in boxes:
        assert corners.min() >= 0, name
        assert corners[:, 0].max() <= width, name
        assert corners[:, 1].max() <= height, name


@pytest.mark.parametrize("name", DATA)
def test_labels_of_the_bundled_graphs_do_not_overlap(name: str) -> None:
    library = ToolLibrary.load(PROJECT / f"data_{name}" / "tool_desc.json")
    with plain_style():
        assert_labels_apart(draw_tools(ToolGraph.build(library, DATA[name])), "tool", len(library))


@pytest.mark.parametrize("size", [1, 2, 3, MOST_TOOLS])
def test_labels_do_not_overlap_for_few_and_for_many_tools(size: int) -> None:
    library = ToolLibrary([Tool(f"A tool with a rather long name, number {n}") for n in range(size)])
    with plain_style():
        assert_labels_apart(draw_tools(ToolGraph.build(library, "temporal")), "tool", size)


def test_the_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    graph = ToolGraph.build(typed_library(12), "resource")
    first = [path.read_bytes() for path in draw_graph(graph, tmp_path / "a")]
    second = [path.read_bytes() for path in draw_graph(graph, tmp_path / "b")]
    assert first == second
    assert first[0].startswith(b"\x89PNG")
    assert first[1].startswith(b"%PDF")
    assert b"CreationDate" not in first[1]


def test_a_folder_that_cannot_be_written_is_a_line_for_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolassayError, match="cannot write"):
        draw_graph(ToolGraph.build(typed_library(3), "resource"), tmp_path / "file")


@pytest.mark.parametrize("name", ["$x^{2$", "a\nb\tc", "\ud800", "x" * 500])
def test_any_name_can_be_drawn_as_it_stands(tmp_path: Path, name: str) -> None:
    library = ToolLibrary([Tool(name, "", (name,), ("text",)), Tool("b", "", ("text",), (name,))])
    draw_graph(ToolGraph.build(library, "resource"), tmp_path)
    with plain_style():
        figure = draw_tools(ToolGraph.build(library, "resource"))
    label = next(text for text in figure.axes[0].texts if text.get_gid() == "tool")
    assert not label.get_parse_math()
    assert len(label.get_text()) <= 36


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_of_a_large_graph_the_tools_with_the_most_links_are_drawn(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_picture, "MOST_TOOLS", 50)  # 200 have 20,000 links, which take seconds
    library = typed_library(20_000)
    png, _ = draw_graph(ToolGraph.build(library, kind), tmp_path)
    assert png.stat().st_size > 50_000


def test_a_part_of_a_graph_has_the_links_between_its_tools() -> None:
    links = [Dependency("tool 0", "tool 1", "id", 0.5), Dependency("tool 1", "tool 2", "id", 0.5)]
    library = ToolLibrary([Tool(f"tool {n}") for n in range(3)])
    part = ToolGraph.of_dependencies(library, links).within({"tool 1", "tool 2"})
    assert part.library.ids == ("tool 1", "tool 2")
    assert [tuple(link) for link in part.links()] == [("tool 1", "tool 2", "id")]


def texts_of(figure: "Figure", gid: str | None = None) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if gid is None or text.get_gid() == gid]


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


def test_only_the_best_links_of_many_are_drawn() -> None:
    with plain_style():
        figure = draw_tools(film_graph(), most_links=2)
    (shapes,) = [item for item in figure.axes[0].collections if isinstance(item, PolyCollection)]
    assert len(shapes.get_facecolor()) == 2
    assert any("2 of the links" in text for text in texts_of(figure))


def test_a_graph_without_links_can_be_drawn(tmp_path: Path) -> None:
    for size in (1, 201):
        library = ToolLibrary([Tool(f"t{n}") for n in range(size)])
        draw_graph(ToolGraph.of_dependencies(library, []), tmp_path / str(size))
        assert (tmp_path / str(size) / "graph_desc.png").stat().st_size > 0
