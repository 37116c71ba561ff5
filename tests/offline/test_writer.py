from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from tests.support.writer_libraries import NAMES, graph_of, literals_of, samples_of
from toolassay.offline.writer.instruction import write_instruction
from toolassay.records.dataset import Sample
from toolassay.tools.library import ToolLibrary
from toolassay.variety.near_duplicates import Item, Thresholds, find_repeats

Reply = dict[str, Any]


@cache
def written(name: str, count: int, seed: int, shape: str | None = None) -> list[tuple[Sample, Reply]]:
    graph = graph_of(name)
    samples = list(samples_of(graph, count, seed=seed, shape=shape))
    return [(s, write_instruction(s, graph.library, graph.dependency_type)) for s in samples]


def names_in(request: str, library: ToolLibrary) -> list[str]:
    lower = request.lower()
    telling = [name for name in library.ids if re.search(r"[\s_-]|[a-z][A-Z]", name)]
    return [name for name in telling if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", lower)]


@pytest.mark.parametrize("name", NAMES)
def test_the_gold_has_the_shape_of_the_sample(name: str) -> None:
    graph = graph_of(name)
    for sample, reply in written(name, 300, 0):
        assert set(reply) == {"task_steps", "user_request", "invoking_graph"}
        nodes, links = reply["invoking_graph"]["nodes"], reply["invoking_graph"]["links"]
        assert [node["id"] for node in nodes] == list(sample.nodes)
        assert links == [{"source": link.source, "target": link.target} for link in sample.links]
        assert len(reply["task_steps"]) == len(nodes)
        for number, (node, step) in enumerate(zip(nodes, reply["task_steps"], strict=True), start=1):
            tool = graph.library[node["id"]]
            assert step.startswith(f"Step {number}: ")
            assert tool.id in step
            if graph.dependency_type == "resource":
                assert len(node["input"]) == len(tool.inputs)
                fed = {link.source for link in sample.links if link.target == tool.id}
                assert {text for text in node["input"] if text in graph.library} == fed
            else:
                assert [a["name"] for a in node["arguments"]] == [p.name for p in tool.parameters]
                assert all(isinstance(a["value"], str) and a["value"] for a in node["arguments"])


@pytest.mark.parametrize("name", NAMES)
def test_every_literal_stands_in_the_request(name: str) -> None:
    library = graph_of(name).library
    for _, reply in written(name, 1000, 0):
        for literal in literals_of(reply, library):
            assert literal in reply["user_request"]


@pytest.mark.parametrize("name", NAMES)
def test_the_request_names_no_tool(name: str) -> None:
    library = graph_of(name).library
    for _, reply in written(name, 1000, 0):
        assert names_in(reply["user_request"], library) == []


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_requests_differ(name: str) -> None:
    library = graph_of(name).library
    of_tools = set(words_of(" ".join(f"{tool.id} {tool.description}" for tool in library).replace("_", " ")))
    openings, skeletons, items = Counter[str](), set(), []
    for number, (_, reply) in enumerate(written(name, 1000, 0)):
        request = reply["user_request"]
        openings[" ".join(request.split()[:3])] += 1
        items.append(Item.from_request(number, request))
        for literal in sorted(literals_of(reply, library), key=len, reverse=True):
            request = request.replace(literal, "L")
        skeletons.add(tuple("_" if word in of_tools else word for word in words_of(request)))
    assert max(openings.values()) <= 40
    assert len(skeletons) >= 900
    assert not find_repeats(items, thresholds=Thresholds(0.65)).held_back


def test_a_request_depends_on_its_sample_alone() -> None:
    graph = graph_of("multimedia")
    samples = list(samples_of(graph, 40, seed=3))
    forward = [write_instruction(s, graph.library, "resource") for s in samples]
    again = ToolLibrary(graph.library.tools)
    backward = [write_instruction(s, again, "resource") for s in reversed(samples)]
    assert forward == backward[::-1]
    other = samples[0]
    moved = Sample(other.index + 1, other.seed, other.shape, other.nodes, other.links)
    assert write_instruction(moved, graph.library, "resource") != forward[0]
