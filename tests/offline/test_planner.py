"""What holds for every plan, whatever the request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.running import ROOT, is_the_same_in_every_process
from toolassay.graph import ToolGraph
from toolassay.offline.planner import Planner
from toolassay.records.dataset import TaskGraph, reference_index
from toolassay.tools.library import Parameter, Tool, ToolLibrary

MEDIA = ToolGraph.build(
    ToolLibrary(
        [
            Tool("Image-to-Text", "Reads the text in an image.", ("image",), ("text",)),
            Tool("Translation", "Translates a text into another language.", ("text",), ("text",)),
            Tool("Text-to-Speech", "Speaks a text aloud.", ("text",), ("audio",)),
            Tool("Audio Mixer", "Mixes two audio files into one.", ("audio", "audio"), ("audio",)),
            Tool("Image Editing", "Edits an image as a text says.", ("text", "image"), ("image",)),
            Tool("Image Downloader", "Downloads an image from a url.", ("url",), ("image",)),
        ]
    ),
    "resource",
)
ERRANDS = ToolGraph.build(
    ToolLibrary(
        [
            Tool(
                "book_flight",
                "Book a flight for a date, from a place to a place",
                parameters=(
                    Parameter("date", "date", "The date to book the flight for"),
                    Parameter("from", "string", "The place to book the flight from"),
                    Parameter("to", "string", "The place to book the flight to"),
                ),
            ),
            Tool(
                "send_email",
                "Send an email to an address",
                parameters=(
                    Parameter("email_address", "string", "The address to send the email to"),
                    Parameter("content", "string", "The content of the email"),
                ),
            ),
            Tool("play_music", "Play music by its title", parameters=(Parameter("title"),)),
            Tool("water_plants", "Water the plants"),
        ]
    ),
    "temporal",
)
VOCABULARY = (
    "translate read image text speak mix edit download book flight send email play music then and , . 'sun' "
    "a.png b.wav https://a.org/b.jpg 5 May to from Paris <node-0> ann@example.org"
)
WORDS = st.sampled_from(VOCABULARY.split(" "))
REQUESTS = st.one_of(st.text(), st.lists(WORDS, max_size=30).map(" ".join))


def check_plan(graph: ToolGraph, plan: TaskGraph) -> None:
    assert len(plan.steps) == len(plan.nodes)
    tools = [graph.library[node["task"]] for node in plan.nodes]
    names = [tool.id for tool in tools]
    for link in plan.links:
        assert graph.link_types(link["source"], link["target"])
        assert link["source"] in names and link["target"] in names
    for place, (tool, node) in enumerate(zip(tools, plan.nodes, strict=True)):
        if graph.dependency_type == "temporal":
            allowed = [parameter.name for parameter in tool.parameters]
            given_names = [argument["name"] for argument in node["arguments"]]
            assert given_names == [name for name in allowed if name in given_names]
            assert all(argument["value"] for argument in node["arguments"])
            continue
        assert len(node["arguments"]) == len(tool.inputs)
        assert all(node["arguments"])
        for slot, argument in zip(tool.inputs, node["arguments"], strict=True):
            source = reference_index(argument)
            if source is not None:
                assert source < place
                assert slot in tools[source].outputs
                assert {"source": names[source], "target": tool.id} in plan.links


PLANNERS = {"resource": (MEDIA, Planner(MEDIA)), "temporal": (ERRANDS, Planner(ERRANDS))}


@pytest.mark.parametrize("kind", PLANNERS)
@given(text=REQUESTS)
@settings(max_examples=60, deadline=None)
def test_every_plan_is_one_of_the_graph(kind: str, text: str) -> None:
    graph, planner = PLANNERS[kind]
    plan = planner.plan(text)
    check_plan(graph, plan)
    assert planner.plan(text) == plan


def test_a_chain_is_linked_by_its_references() -> None:
    plan = Planner(MEDIA).plan("Read the text in 'menu.jpg', translate it, and speak the translation aloud.")
    assert [(node["task"], node["arguments"]) for node in plan.nodes] == [
        ("Image-to-Text", ["menu.jpg"]),
        ("Translation", ["<node-0>"]),
        ("Text-to-Speech", ["<node-1>"]),
    ]
    assert plan.links == [
        {"source": "Image-to-Text", "target": "Translation"},
        {"source": "Translation", "target": "Text-to-Speech"},
    ]
    assert plan.steps[0] == "Step 1: Use Image-to-Text to read the text in an image"


def test_literals_go_to_the_slots_of_their_type() -> None:
    plan = Planner(MEDIA).plan("Please edit the image 'cat.png': 'give it a hat'. Edit only this image.")
    assert [(node["task"], node["arguments"]) for node in plan.nodes] == [
        ("Image Editing", ["give it a hat", "cat.png"])
    ]


def test_parameters_get_the_values_said_for_them() -> None:
    plan = Planner(ERRANDS).plan(
        "Book a flight from New York to Paris on May 5th, 2023, then send an email to ann@example.org with "
        "the content 'I am coming', and finally water the plants."
    )
    assert [(node["task"], node["arguments"]) for node in plan.nodes] == [
        (
            "book_flight",
            [
                {"name": "date", "value": "May 5th, 2023"},
                {"name": "from", "value": "New York"},
                {"name": "to", "value": "Paris"},
            ],
        ),
        (
            "send_email",
            [
                {"name": "email_address", "value": "ann@example.org"},
                {"name": "content", "value": "I am coming"},
            ],
        ),
        ("water_plants", []),
    ]
    assert [(link["source"], link["target"]) for link in plan.links] == [
        ("book_flight", "send_email"),
        ("send_email", "water_plants"),
    ]
    assert plan.steps[1] == (
        "Step 2: Call send_email with email_address: 'ann@example.org' and content: 'I am coming'"
    )
    assert plan.steps[2] == "Step 3: Call water_plants to water the plants"


def test_quoted_words_do_not_choose_tools() -> None:
    plan = Planner(ERRANDS).plan("Send an email with the content 'play music and book a flight'")
    assert [node["task"] for node in plan.nodes] == ["send_email"]


def test_an_unsaid_look_up_is_put_before_what_needs_it() -> None:
    library = ToolLibrary(
        [
            Tool("search_train", "Search for trains and train tickets"),
            Tool("train_ticket_booking", "Book a train ticket"),
            Tool("search_songs", "Search for songs"),
            Tool("play_song", "Play a song"),
        ]
    )
    planner = Planner(ToolGraph.build(library, "temporal"))
    for text, expected in (
        ("Get me a train ticket to Kyiv", ["search_train", "train_ticket_booking"]),
        ("Play a song", ["play_song"]),
    ):
        assert [node["task"] for node in planner.plan(text).nodes] == expected


@pytest.mark.parametrize("text", ["", " ", "x", "?", "\0", "你好，请帮我", "Przetłumacz to proszę"])
def test_a_request_that_speaks_of_no_tool_gives_an_empty_plan(text: str) -> None:
    for _, planner in PLANNERS.values():
        assert planner.plan(text) == TaskGraph([], [], [])


@pytest.mark.parametrize(
    "piece",
    [
        *('"a ', "2020-01-01 ", "1-", "A Bc "),
        "translate 'x.png', then edit an image from https://a.org/b.jpg to 5 May ",
    ],
)
def test_a_long_request_is_planned(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    for graph, planner in PLANNERS.values():
        check_plan(graph, planner.plan(text))


PLANNING = """
import sys
from toolassay.graph import ToolGraph
from toolassay.offline.planner import Planner
from toolassay.tools.library import ToolLibrary
for kind, path in (("resource", sys.argv[1]), ("temporal", sys.argv[2])):
    graph = ToolGraph.build(ToolLibrary.load(path), kind)
    plan = Planner(graph).plan("edit an image, book a flight to Rome, translate and mix")
    assert plan.nodes
    print(plan)
"""


def test_plans_do_not_depend_on_the_hash_seed() -> None:
    paths = [ROOT / f"data_{name}/tool_desc.json" for name in ("multimedia", "dailylifeapis")]
    assert is_the_same_in_every_process(PLANNING, *paths)


def test_a_huge_complete_graph_is_never_written_down() -> None:
    tools = [
        Tool(f"tool_{number}", f"Does the thing number {number} with stones") for number in range(20_000)
    ]
    graph = ToolGraph.build(ToolLibrary(tools), "temporal")
    plan = Planner(graph).plan("Do the thing number 777")
    assert "tool_777" in [node["task"] for node in plan.nodes]
