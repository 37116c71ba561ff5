"""Colours and places of tools in pictures of graphs."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks, NumberedLink
from toolassay.reports.graph_picture import arrange
from toolassay.reports.style import NEUTRAL, given_type, is_complete, type_colours, types_by_use
from toolassay.tools.library import Tool, ToolLibrary


@given(st.lists(st.text(max_size=4), unique=True, max_size=30))
def test_no_two_types_share_a_colour_while_there_are_colours(types: list[str]) -> None:
    colours = [colour for colour in type_colours(types).values() if colour != NEUTRAL]
    assert len(colours) == len(set(colours))
    assert len(colours) >= min(len([kind for kind in types if kind]), 10)


def test_the_published_types_keep_their_colours_in_every_graph() -> None:
    assert type_colours(["image", "x", "text"])["text"] == type_colours(["text"])["text"]


def test_types_are_ordered_by_use_then_name() -> None:
    library = ToolLibrary([Tool("1", "", ("b",), ("c",)), Tool("2", "", ("c",), ("a",))])
    assert types_by_use(library) == ["c", "a", "b"]


def test_a_listed_graph_is_complete_only_with_every_link() -> None:
    library = ToolLibrary([Tool("a"), Tool("b")])
    there = NumberedLink(0, 1, "complete")
    back = NumberedLink(1, 0, "complete")
    assert is_complete(ToolGraph(library, "temporal", ListedLinks(2, [there, back])))
    assert not is_complete(ToolGraph(library, "temporal", ListedLinks(2, [there])))
    assert is_complete(ToolGraph.build(library, "temporal"))


KINDS = st.lists(st.sampled_from(["text", "image", "audio", "table"]), max_size=2).map(tuple)
LIBRARIES = st.lists(st.tuples(KINDS, KINDS), min_size=1, max_size=30).map(
    lambda rows: ToolLibrary([Tool(f"tool {n}", "", *row) for n, row in enumerate(rows)])
)


@given(LIBRARIES, st.integers(1, 3))
def test_every_tool_has_a_place_of_its_own(library: ToolLibrary, rings: int) -> None:
    circle = arrange(library, rings=rings)
    assert sorted(circle.places) == sorted(library.ids)
    points = {(round(p.angle, 6), p.ring) for p in circle.places.values()}
    assert len(points) == len(library)


@given(LIBRARIES)
def test_tools_that_give_the_same_type_stand_side_by_side(library: ToolLibrary) -> None:
    circle = arrange(library)
    turns = {name: (math.pi / 2 - place.angle + 1e-6) % math.tau for name, place in circle.places.items()}
    clockwise = sorted(library, key=lambda tool: turns[tool.id])
    groups = [given_type(tool) for tool in clockwise]
    changes = sum(a != b for a, b in pairwise(groups))
    assert changes == len(set(groups)) - 1


def test_nothing_depends_on_the_hash_seed() -> None:
    library = ToolLibrary([Tool(f"t{n}", "", (f"k{n % 3}",), (f"k{n % 5}",)) for n in range(20)])
    assert list(arrange(library).places)[:5] == ["t0", "t15", "t10", "t5", "t6"]
