from __future__ import annotations

import re

import pytest

from tests.support.writer_libraries import NAMES, graph_of
from toolassay.graph import Link
from toolassay.offline.writer.clauses import slot_names, wire_calls, written_phrases
from toolassay.records.dataset import Sample
from toolassay.tools.library import Tool, ToolLibrary


@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_tool_has_written_phrases(name: str) -> None:
    graph = graph_of(name)
    for tool in graph.library:
        phrases = written_phrases(tool, graph.dependency_type)
        assert phrases is not None, tool.id
        assert len(phrases.actions) >= 3
        slots = set(slot_names(tool, graph.dependency_type))
        for action in phrases.actions:
            assert set(re.findall(r"\{(\w+)(?::\w+)?\}", action)) == slots
        assert phrases.results or phrases.done


def test_phrases_are_written_for_the_published_parameters_only() -> None:
    assert written_phrases(Tool("book_flight", "Flight booking tool"), "temporal") is None
    assert written_phrases(Tool("Translation", "", ("image",), ("text",)), "resource") is None


def test_links_feed_inputs_by_type_each_once() -> None:
    library = ToolLibrary(
        [Tool(name, "", (), ("text",)) for name in "abc"] + [Tool("join", "", ("image", "text", "text"), ())]
    )
    links = tuple(Link(name, "join", "text") for name in "abc")
    call = wire_calls(Sample(0, 0, "dag", ("a", "b", "c", "join"), links), library, "resource")[3]
    assert [slot.source for slot in call.slots] == [None, 0, 1]
    assert call.waits == (2,)
