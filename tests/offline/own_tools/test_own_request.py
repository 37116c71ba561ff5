"""Requests, steps and gold for own tools."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolassay.dataset import Sample
from toolassay.gates.language_gate import language_findings
from toolassay.graph import Link
from toolassay.offline.writer.instruction import is_known, needs_model, write_instruction
from toolassay.tools import ToolLibrary

HOTEL: dict[str, Any] = {
    "nodes": [
        {
            "id": "search_rooms",
            "desc": "Searches for free rooms.",
            "parameters": [
                {"name": "arrival", "type": "date", "desc": "first night"},
                {"name": "departure", "type": "date", "desc": "day of departure"},
                {"name": "guests", "type": "integer", "desc": "number of guests"},
                {"name": "room_type", "type": "string", "desc": "single, double or suite"},
            ],
        },
        {
            "id": "check_out_guest",
            "desc": "Checks out a guest at the end of the stay.",
            "parameters": [{"name": "room_number", "type": "integer", "desc": "number of the room"}],
        },
        {
            "id": "order_dish",
            "desc": "Order a dish to a room",
            "parameters": [
                {"name": "dish", "type": "string", "desc": "name of the dish"},
                {"name": "room_number", "type": "integer", "desc": "number of the room"},
            ],
        },
    ]
}


def written(index: int, *names: str) -> dict[str, Any]:
    library = ToolLibrary.from_json(HOTEL)
    links = tuple(Link(one, other, "complete") for one, other in itertools.pairwise(names))
    return write_instruction(Sample(index, 3, "chain", names, links), library, "temporal")


def arguments(instruction: dict[str, Any], node: int = 0) -> dict[str, str]:
    return {one["name"]: one["value"] for one in instruction["invoking_graph"]["nodes"][node]["arguments"]}


@pytest.mark.parametrize("index", range(40))
def test_a_hotel_request_is_valid_and_sound(index: int) -> None:
    instruction = written(index, "search_rooms", "check_out_guest")
    values = arguments(instruction)
    assert values["arrival"] < values["departure"]
    assert values["room_type"] in ("single", "double", "suite")
    assert 1 <= int(values["guests"]) <= 12
    assert language_findings(instruction["user_request"]) == []
    for value in values.values():
        assert value in instruction["user_request"]
    assert "check out" in instruction["user_request"]


def test_the_steps_do_not_quote_numbers() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"id": "count_up", "desc": "Counts up to a number.", "input_schema": schema}
    instruction = write_instruction(
        Sample(0, 0, "single", ("count_up",), ()), ToolLibrary.from_json([tool]), "temporal"
    )
    value = arguments(instruction)["n"]
    assert instruction["task_steps"] == [f"Step 1: Call count_up with n: {value}"]
    Draft202012Validator(schema).validate(arguments(instruction))


def test_each_attempt_is_another_request() -> None:
    library = ToolLibrary.from_json(HOTEL)
    sample = Sample(0, 3, "single", ("search_rooms",), ())
    texts = [write_instruction(sample, library, "temporal", n)["user_request"] for n in range(3)]
    assert len(set(texts)) == 3
    assert texts == [write_instruction(sample, library, "temporal", n)["user_request"] for n in range(3)]


def test_only_the_bundled_libraries_are_known() -> None:
    from toolassay.graph import ToolGraph

    assert is_known(ToolGraph.load("data_multimedia/graph_desc.json").library, "resource")
    assert not is_known(ToolLibrary.from_json(HOTEL), "temporal")
    assert needs_model(ToolLibrary.from_json(HOTEL), "temporal") == {}
