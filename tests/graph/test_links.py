from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tool_graphs import typed_libraries
from toolassay.graph.links import (
    CompleteLinks,
    Links,
    ListedLinks,
    NumberedLink,
    TypedLinks,
)
from toolassay.tools.library import Tool, ToolLibrary


def check_neighbours(links: Links, size: int) -> None:
    """Assert that neighbours, types, count and list say the same."""
    every = list(links)
    pairs = {(link.source, link.target) for link in every}

    assert links.count() == len(every) == len(set(every))
    assert [link[:2] for link in every] == sorted(link[:2] for link in every)
    for one in range(size):
        after, before = list(links.successors(one)), list(links.predecessors(one))
        assert sorted(after) == [two for two in range(size) if (one, two) in pairs]
        assert sorted(before) == [two for two in range(size) if (two, one) in pairs]
        assert [links.successors(one)[place] for place in range(len(after))] == after
        assert [links.predecessors(one)[-place - 1] for place in range(len(before))] == before[::-1]
        for two in range(size):
            assert (two in links.successors(one)) == ((one, two) in pairs)
            kinds = [link.type for link in every if link[:2] == (one, two)]
            assert list(links.types(one, two)) == kinds


@settings(deadline=None)
@given(typed_libraries(most=10))
def test_typed_links(library: ToolLibrary) -> None:
    links = TypedLinks(library)
    check_neighbours(links, len(library))

    every = {
        (one, two, kind)
        for one, giver in enumerate(library)
        for two, taker in enumerate(library)
        for kind in giver.outputs
        if one != two and kind in taker.inputs
    }
    assert set(links) == every
    for tool in range(len(library)):
        for kinds in (["text"], ["image", "text"], []):
            feeding = {one for one, two, kind in every if two == tool and kind in kinds}
            assert set(links.predecessors_by(tool, kinds)) == feeding


@settings(deadline=None)
@given(st.integers(1, 7), st.data())
def test_listed_links(size: int, data: st.DataObject) -> None:
    tools = st.integers(0, size - 1)
    given_links = data.draw(st.lists(st.builds(NumberedLink, tools, tools, st.sampled_from(["b", "a", "c"]))))
    links = ListedLinks(size, given_links)

    check_neighbours(links, size)
    # Sorted by pair; `sorted` is stable, so the types of a pair are in the given order.
    kept = dict.fromkeys(link for link in given_links if link.source != link.target)
    assert list(links) == sorted(kept, key=lambda link: link[:2])
    written = json.dumps([list(links.successors(0)), list(links.predecessors(0)), links.count()])
    assert json.loads(written)[2] == len(kept)  # the numbers are Python's, which `json` can write


@given(st.integers(1, 12))
def test_complete_links(size: int) -> None:
    check_neighbours(CompleteLinks(size), size)


def test_two_types_of_one_pair_stand_in_the_order_of_the_giver() -> None:
    """The published graph keeps one of them, which one depending on the hash seed of the process."""
    giver = Tool("giver", "", (), ("text", "audio", "image"))
    library = ToolLibrary([giver, Tool("taker", "", ("image", "text", "audio"), ())])

    assert [link.type for link in TypedLinks(library)] == ["text", "audio", "image"]
