from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from writer_libraries import NAMES, ROOT, graph_of, samples_of
from writer_measures import literals_of, measure

from toolassay.dataset import Sample
from toolassay.graph import Link, ToolGraph
from toolassay.offline.writer.instruction import write_instruction
from toolassay.tools import ToolLibrary

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


@pytest.mark.parametrize("name", NAMES)
def test_the_request_reads_as_english(name: str) -> None:
    for _, reply in written(name, 1000, 7):
        request = reply["user_request"]
        assert request == request.strip()
        assert not re.search(r"[{}<>_|]\w*\}|\{|\}|  | [,.;?!](?!\w)|\(\)", request)
        assert not re.search(r"\b(\w+) \1\b", request, re.IGNORECASE)
        assert not re.search(r"\ba (?:[aeio]|SMS|hour)", request)
        assert not re.search(
            r"\ban (?![aeiouAEIOU]|SMS|MP3|hour|honest|HBO|NRK|SVT|F|H|L|M|N|R|S|X)", request
        )
        assert not re.search(r"\b(?:the|a|an) (?:the|a|an)\b", request)
        assert not re.search(r"(?<!\d)[.!?] [a-z]", re.sub(r"'[^']*'|\"[^\"]*\"", "Q", request))
        assert re.match(r"[A-Z0-9'\"]", request)
        assert re.search(r"[.!?]['\"]?$", request)
        for sentence in re.split(r"(?<=[.!?]) ", re.sub(r"['\"][^'\"]{20,}['\"]", "Q", request)):
            assert len(sentence.split()) <= 70 or re.search(r"\d[.)]", sentence), sentence


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_requests_differ(name: str, seed: int) -> None:
    variety = measure([reply for _, reply in written(name, 1000, seed)], graph_of(name).library)
    assert variety.sentences >= 900
    assert variety.skeletons >= 900
    assert variety.opening <= 0.04
    assert variety.overlap < 0.7
    assert variety.different == 1000


@pytest.mark.parametrize("name", ["huggingface", "dailylifeapis"])
def test_a_thousand_singles_differ(name: str) -> None:
    variety = measure([reply for _, reply in written(name, 1000, 0, "single")], graph_of(name).library)
    assert variety.skeletons >= 900
    assert variety.opening <= 0.04
    assert variety.overlap < 0.8
    assert variety.different == 1000


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


def test_a_request_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from writer_libraries import graph_of, samples_of;"
        "from toolassay.offline.writer.instruction import write_instruction;"
        "import json; g = graph_of('multimedia');"
        "print(json.dumps([write_instruction(s, g.library, 'resource') for s in samples_of(g, 20, seed=1)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(json.loads(outputs.pop())) == 20


def test_results_are_spoken_of_where_they_are_used() -> None:
    library = graph_of("multimedia").library
    links = (
        Link("Audio-to-Text", "Text Translator", "text"),
        Link("Text Translator", "Text-to-Image", "text"),
    )
    for index in range(30):
        sample = Sample(index, 0, "chain", ("Audio-to-Text", "Text Translator", "Text-to-Image"), links)
        reply = write_instruction(sample, library, "resource")
        assert re.search(r"transcript|speech", reply["user_request"])
        assert re.search(r"English (?:version|translation)", reply["user_request"])
        inputs = [node["input"] for node in reply["invoking_graph"]["nodes"]]
        assert inputs == [["example.wav"], ["Audio-to-Text"], ["Text Translator"]]


def test_a_fork_of_orders_says_what_waits_for_what() -> None:
    library = graph_of("dailylifeapis").library
    links = tuple(
        Link("book_flight", target, "complete") for target in ("book_hotel", "send_sms", "set_alarm")
    )
    for index in range(30):
        nodes = ("book_flight", "book_hotel", "send_sms", "set_alarm")
        request = write_instruction(Sample(index, 0, "dag", nodes, links), library, "temporal")[
            "user_request"
        ]
        told = (
            r"(?:once|when|as soon as) the (?:flight to .+? is booked|plane ticket is sorted)|after step 1,"
        )
        assert len(re.findall(told, request, re.IGNORECASE)) == 2


def test_two_files_of_a_kind_have_two_names() -> None:
    library = graph_of("multimedia").library
    for index in range(30):
        reply = write_instruction(Sample(index, 0, "single", ("Image Stitcher",), ()), library, "resource")
        first, second = reply["invoking_graph"]["nodes"][0]["input"]
        assert first in ("example.jpg", "example.png")
        assert second != first


@pytest.mark.parametrize("name", ["huggingface", "multimedia", "dailylifeapis"])
def test_published_libraries_with_inputs(name: str, reference: Path) -> None:
    library = ToolLibrary.load(reference / "taskbench" / name / "tool_desc.json")
    graph = ToolGraph.build(library, "temporal" if name == "dailylifeapis" else "resource")
    samples = list(samples_of(graph, 500, seed=7))
    replies = [write_instruction(s, library, graph.dependency_type) for s in samples]
    assert measure(replies, library).opening <= 0.05
    for reply in replies:
        assert all(literal in reply["user_request"] for literal in literals_of(reply, library))
        assert names_in(reply["user_request"], library) == []
