from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from writer_libraries import INVENTED, NAMES, graph_of

from toolassay.dataset import Sample
from toolassay.graph import Link
from toolassay.offline.writer.clauses import wire_calls
from toolassay.offline.writer.english import read_list
from toolassay.offline.writer.phrases import invented_phrases, slot_names, written_phrases
from toolassay.tools import Tool, ToolLibrary

RESOURCE_NAMES = [name for name in NAMES if graph_of(name).dependency_type == "resource"]


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("Invoice Total", "calculate the total amount of {0}"),
        ("Map Intersect", "intersect {0} and {1}"),
        ("Map Buffer", "buffer {0} by {1:bare} metres"),
        ("Parcel Outline", "draw the outline of a land parcel from {0}"),
        ("Invoice Scanner", "read {0}"),
    ],
)
def test_inputs_take_their_place_in_the_phrase(tool: str, action: str) -> None:
    assert invented_phrases(INVENTED[tool]).actions[0] == action


@pytest.mark.parametrize("name", ["huggingface", "multimedia", "dailylifeapis"])
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


@pytest.mark.parametrize("name", RESOURCE_NAMES)
def test_invented_phrases_have_a_place_for_every_input(name: str) -> None:
    graph = graph_of(name)
    for tool in graph.library:
        phrases = invented_phrases(tool)
        for action in phrases.actions:
            places = re.findall(r"\{(\w+)(?::\w+)?\}", action)
            assert sorted(places) == sorted(slot_names(tool, graph.dependency_type)), tool.id


def test_links_feed_inputs_by_type_each_once() -> None:
    library = ToolLibrary(
        [Tool(name, "", (), ("text",)) for name in "abc"] + [Tool("join", "", ("image", "text", "text"), ())]
    )
    links = tuple(Link(name, "join", "text") for name in "abc")
    call = wire_calls(Sample(0, 0, "dag", ("a", "b", "c", "join"), links), library, "resource")[3]
    assert [slot.source for slot in call.slots] == [None, 0, 1]
    assert call.waits == (2,)


def test_word_lists_have_no_quotation_marks_in_literals() -> None:
    kinds = read_list("kinds")
    for topic in read_list("topics"):
        assert not re.search("['\"]", json.dumps(list(topic.values()), ensure_ascii=False).replace('"', ""))
    assert not [v for entry in kinds.values() for v in entry.get("values", ()) if re.search("['\"]", v)]


def test_word_lists_know_every_kind_they_mention() -> None:
    kinds, roles = read_list("kinds"), read_list("roles")
    used = {kind for entry in read_list("temporal_phrases").values() for kind in entry["values"].values()}
    assert used <= set(kinds)
    assert {role for entry in read_list("resource_phrases").values() for role in entry["inputs"]} <= set(
        roles
    )


def test_the_word_lists_are_package_data() -> None:
    import toolassay.offline.writer as writer

    folder = Path(str(writer.__file__)).parent / "data"
    assert {path.suffix for path in folder.iterdir()} == {".json"}
