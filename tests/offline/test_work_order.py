"""Work orders: grammatical by construction, grounded, marked, and accepted by the gates."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.builders import difficult_tools, workshop_tools
from tests.support.schema_graphs import CINEMA
from tests.support.writer_libraries import graph_of, literals_of
from toolassay.backinstruct.labels import Labeller
from toolassay.backinstruct.records import raw_sample
from toolassay.errors import ToolassayError
from toolassay.gates.gate import Background
from toolassay.gates.grounding.gate import GroundingGate
from toolassay.gates.leak_gate import LeakGate
from toolassay.gates.schema_gate import SchemaGate
from toolassay.graph import Link, ToolGraph
from toolassay.offline.writer.english import first_sentence
from toolassay.offline.writer.instruction import is_known, needs_model, write_instruction
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.tools.library import Parameter, Tool, ToolLibrary

OFFICE = ToolLibrary(
    [
        Tool("get_order", "Gets an order. Slow.", parameters=(Parameter("order_id"),)),
        Tool("cancel_order", "", parameters=(Parameter("order_id"), Parameter("reason"))),
        Tool("PublishPost", "PublishPost sends a post", parameters=(Parameter("channel", "enum: a, b"),)),
    ]
)
MAPS = ToolLibrary(
    [
        Tool("Map Renderer", "Renders a layer as a picture.", ("geojson",), ("image",)),
        Tool("Frame", "Puts a picture and a title together.", ("image", "text", "text"), ("image",)),
        Tool("sort", "Sorts names."),
    ]
)


def written(
    library: ToolLibrary, *names: str, seed: int = 0, kind: str = "", **further: Any
) -> dict[str, Any]:
    links = tuple(Link(one, other, kind or "complete") for one, other in pairwise(names))
    dependency_type: Any = "resource" if kind else "temporal"
    return write_instruction(Sample(0, 0, "chain", names, links), library, dependency_type, **further)


def test_a_work_order_quotes_the_tools_own_sentences_and_labels_the_values() -> None:
    reply = written(OFFICE, "get_order", "cancel_order", "PublishPost")
    order, *items = reply["user_request"].splitlines()
    values = [one["value"] for node in reply["invoking_graph"]["nodes"] for one in node["arguments"]]
    assert order == "Please do the following, in this order:"
    assert items == [
        f'1. Gets an order. order id: "{values[0]}"',
        f'2. Cancel order. order id: "{values[1]}"; reason: "{values[2]}"',
        f'3. Publish post. channel: "{values[3]}"',
    ]
    assert reply["task_steps"][0] == f"Step 1: Call get_order with order_id: '{values[0]}'"
    assert values[0] != values[1]


def test_an_input_that_an_earlier_step_feeds_is_named_by_its_step() -> None:
    reply = written(MAPS, "Map Renderer", "Frame", "sort", kind="image")
    inputs = [node["input"] for node in reply["invoking_graph"]["nodes"]]
    assert inputs[1][0] == "Map Renderer" and inputs[2] == []
    assert reply["user_request"].splitlines()[2] == (
        f'2. Puts a picture and a title together. image: the image from step 1; text 1: "{inputs[1][1]}"; '
        f'text 2: "{inputs[1][2]}"'
    )


def test_each_attempt_has_other_values_and_the_same_seed_the_same() -> None:
    texts = [written(OFFICE, "get_order", attempt=number)["user_request"] for number in (0, 1, 0)]
    assert texts[0] == texts[2] != texts[1]


def test_the_record_and_the_label_of_a_work_order_are_marked() -> None:
    reply = written(OFFICE, "get_order")
    record = raw_sample(Sample(0, 0, "single", ("get_order",), ()), OFFICE, reply)
    label, problems = Labeller(OFFICE, "temporal").label(record)
    assert label is not None and not problems
    assert record.form == label.record["form"] == "work order"
    rewritten = {**reply, "user_request": "What is order A-1042?"}
    label, _ = Labeller(OFFICE, "temporal").label(replace(record, result=rewritten))
    assert label is not None and "form" not in label.record


def test_the_bundled_libraries_have_phrases_and_need_no_work_order() -> None:
    library = graph_of("multimedia").library
    assert is_known(library, "resource")
    assert not is_known(OFFICE, "temporal") and needs_model(OFFICE, "temporal") == {}


@pytest.mark.parametrize(
    "graph",
    [
        CINEMA,
        *(
            ToolGraph.build(ToolLibrary.from_json(one()), "temporal")
            for one in (workshop_tools, difficult_tools)
        ),
        ToolGraph.build(OFFICE, "temporal"),
    ],
    ids=["cinema", "workshop", "difficult", "office"],
)
def test_the_gates_accept_work_orders(graph: ToolGraph) -> None:
    background = Background(graph.library, graph.dependency_type)
    gates = (SchemaGate(background), GroundingGate(background), LeakGate(background))
    labeller = Labeller(graph.library, graph.dependency_type)
    for sample in Sampler(graph, 4).samples(60):
        reply = write_instruction(sample, graph.library, graph.dependency_type)
        label, problems = labeller.label(raw_sample(sample, graph.library, reply))
        assert label is not None, problems
        gold = label
        findings = [one for gate in gates for one in gate.check(gold) if one.state != "not applicable"]
        assert not findings, (findings, gold.request)


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("Pays bills, e.g. rent. Costs vary.", "Pays bills, e.g. rent."),
        ("\n# Sends **mail**\n\nMore.", "Sends **mail"),
        ("发信。收费", "发信。"),
        ("word " * 100, f"{'word ' * 39}…"),
    ],
)
def test_the_first_sentence_of_a_description(description: str, sentence: str) -> None:
    assert first_sentence(description) == sentence


_names = st.text(min_size=1, max_size=20).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(_names, min_size=1, max_size=4, unique=True),
    st.text(max_size=60),
    st.lists(_names, max_size=2),
    st.lists(st.tuples(_names, st.sampled_from(["string", "integer", "boolean", "date", "??"])), max_size=3),
)
def test_any_library_is_written_for(
    ids: list[str], description: str, types: list[str], parameters: list[tuple[str, str]]
) -> None:
    given_parameters = tuple(Parameter(name, kind) for name, kind in dict(parameters).items())
    library = ToolLibrary([Tool(i, description, tuple(types), ("text",), given_parameters) for i in ids])
    for kind in ("text", ""):
        try:
            reply = written(library, *ids, kind=kind)
        except ToolassayError as error:
            assert str(error).endswith("Fix: needs --llm MODEL")
            return
        assert len(reply["task_steps"]) == len(re.findall(r"(?m)^\d+\. ", reply["user_request"])) >= len(ids)
        for literal in literals_of(reply, library):
            assert literal in reply["user_request"]
