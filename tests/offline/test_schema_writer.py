"""The offline models with schema graphs: references for fed arguments, literals for the others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import imported_tool
from tests.support.schema_graphs import CINEMA, link
from toolassay.argument_values.fed_arguments import fed_argument
from toolassay.graph import Dependency, FieldPair, Link, ToolGraph
from toolassay.offline.critic import review
from toolassay.offline.model_tasks import CritiqueTask
from toolassay.offline.planner import Planner
from toolassay.offline.writer.instruction import write_instruction
from toolassay.records.dataset import Sample, references_in
from toolassay.sampling import Sampler
from toolassay.tools.library import Tool, ToolLibrary

SIZES = {"2": 1.0, "3": 1.0, "4": 1.0, "5": 1.0}


def sample_of(graph: ToolGraph, *links: Dependency, shape: Any = "chain") -> Sample:
    nodes = list(dict.fromkeys(name for one in links for name in (one.source, one.target)))
    plain = tuple(Link(one.source, one.target, one.type) for one in links)
    fields, shared = (tuple(getattr(one, name) for one in links) for name in ("fields", "shared"))
    return Sample(0, 4, shape, tuple(nodes), plain, fields, shared)


def written(sample: Sample, library: ToolLibrary = CINEMA.library) -> dict[str, Any]:
    return write_instruction(sample, library, "schema")


def arguments(instruction: dict[str, Any], node: int) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in instruction["invoking_graph"]["nodes"][node]["arguments"]}


def cinema_link(source: str, target: str) -> Dependency:
    found = CINEMA.dependency(source, target)
    assert found is not None
    return found


def test_a_fed_argument_is_a_reference_that_the_request_does_not_state() -> None:
    details = written(sample_of(CINEMA, cinema_link("search_movies", "movie_details")))
    assert arguments(details, 1)["movie_id"] == "<node-0>.results[0].id"
    assert "movie id: the first id from step 1" in details["user_request"]
    assert "movie_id: results[0].id of step 1" in details["task_steps"][1]


@pytest.mark.parametrize(
    ("source", "target", "value"),
    [
        ("results[].id", "id", "<node-0>.results[0].id"),
        ("results[].id", "ids", "<node-0>.results[*].id"),
        ("results[].tags", "ids", "<node-0>.results[0].tags"),
        ("results[].tags", "id", "<node-0>.results[0].tags[0]"),
        ("total", "ids", ["<node-0>.total"]),
        ("", "text", "<node-0>"),
    ],
)
def test_items_of_a_list_fill_a_list_and_the_first_fills_a_single_value(
    source: str, target: str, value: Any
) -> None:
    number = {"type": "integer"}
    numbers = {"type": "array", "items": number}
    items = {"type": "array", "items": {"type": "object", "properties": {"id": number, "tags": numbers}}}
    library = ToolLibrary.from_json(
        [
            imported_tool("give", "", {}, output={"properties": {"results": items, "total": number}}),
            imported_tool("take", "", {"id": number, "ids": numbers, "text": {"type": "string"}}),
        ]
    )
    fed = fed_argument(FieldPair(source, target), 0, library["give"], library["take"])
    assert fed.value == value


def test_an_argument_with_a_point_in_its_name_is_no_nested_one() -> None:
    schema = {"properties": {"user.name": {"type": "string"}}}
    taker = ToolLibrary.from_json([{"id": "take", "input_schema": schema}])["take"]
    assert fed_argument(FieldPair("name", "user.name"), 0, Tool("give"), taker).parts == ("user.name",)


def test_an_observed_link_gives_an_order_and_no_reference() -> None:
    instruction = written(sample_of(CINEMA, cinema_link("book_seats", "open_doors")))
    assert not list(references_in(instruction["invoking_graph"]["nodes"]))
    assert instruction["invoking_graph"]["links"] == [{"source": "book_seats", "target": "open_doors"}]


def test_steps_about_one_thing_name_the_same_thing() -> None:
    number = {"type": "integer"}
    found = {"properties": {"seasons": {"type": "array", "items": {"properties": {"number": number}}}}}
    library = ToolLibrary.from_json(
        [
            imported_tool("get_show", "Gets a show.", {"show_id": number}, ["show_id"], output=found),
            imported_tool(
                "get_season",
                "Gets a season of a show.",
                {"show_id": number, "season": number},
                ["show_id", "season"],
            ),
        ]
    )
    flow = link("get_show", "get_season", ("seasons[].number", "season"))
    same = replace(flow, shared=(FieldPair("show_id", "show_id"),))
    instruction = written(sample_of(CINEMA, same), library)
    assert arguments(instruction, 0)["show_id"] == arguments(instruction, 1)["show_id"]


def test_requests_have_no_residue_and_the_critic_accepts_the_plans() -> None:
    for sample in Sampler(CINEMA, 11, sizes=SIZES).samples(120):
        instruction = written(sample)
        request = instruction["user_request"]
        assert "<node" not in request and "[0]" not in request and "fed " not in request
        references = [
            (reference.node, place)
            for place, node in enumerate(instruction["invoking_graph"]["nodes"])
            for reference in references_in(node["arguments"])
        ]
        assert {(sample.nodes[source], sample.nodes[target]) for source, target in references} == {
            (one.source, one.target)
            for one, fields in zip(sample.links, sample.fields, strict=True)
            if fields
        }
        said = review(CritiqueTask(sample, request, instruction, CINEMA.library, "schema"))
        assert said.endswith("Executable: yes\nCorrect: yes"), said


def test_the_critic_rejects_a_value_that_is_neither_stated_nor_a_reference() -> None:
    sample = sample_of(CINEMA, cinema_link("search_movies", "movie_details"))
    instruction = json.loads(
        json.dumps(written(sample)).replace("<node-0>.results[0].id", "of the first result")
    )
    said = review(CritiqueTask(sample, "Search.", instruction, CINEMA.library, "schema"))
    assert "Executable: no" in said


def test_the_planner_refers_along_the_links_of_the_graph() -> None:
    library = ToolLibrary([CINEMA.library[name] for name in ("search_movies", "movie_details")])
    graph = ToolGraph.of_dependencies(library, [cinema_link("search_movies", "movie_details")])
    plan = Planner(graph).plan("Search for movies about 'dogs', then get the details of a movie.")
    assert [node["task"] for node in plan.nodes] == ["search_movies", "movie_details"]
    assert {"name": "movie_id", "value": "<node-0>.results[0].id"} in plan.nodes[1]["arguments"]
    assert plan.links == [{"source": "search_movies", "target": "movie_details"}]
