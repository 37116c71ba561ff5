from hypothesis import given
from hypothesis import strategies as st

from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks, NumberedLink
from toolassay.report.style import NEUTRAL, is_complete, type_colours, types_by_use
from toolassay.tools import Tool, ToolLibrary


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
