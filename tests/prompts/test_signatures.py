"""Imported tools in one line, and the same line read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import difficult_tools, workshop_tools
from toolassay.prompts.signatures import (
    argument_descriptions,
    details_of,
    read_notation,
    read_shown,
    shown_tool,
    signature,
)
from toolassay.prompts.templates import read_tool_sentence, tool_sentence
from toolassay.tools.library import ToolLibrary

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean"]).map(lambda kind: {"type": kind}),
    st.sampled_from(["date", "email", "date-time"]).map(lambda name: {"type": "string", "format": name}),
    st.lists(texts, min_size=1, max_size=4, unique=True).map(lambda values: {"enum": values}),
    st.tuples(st.integers(-9, 9), st.integers(10, 99)).map(
        lambda ends: {"type": "integer", "minimum": ends[0], "maximum": ends[1]}
    ),
    st.tuples(texts, texts).map(lambda pair: {"enum": list(dict.fromkeys(pair)), "default": pair[0]}),
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(texts.filter(bool), inner, min_size=1, max_size=3).flatmap(
        lambda properties: st.sets(st.sampled_from(sorted(properties))).map(
            lambda required: {"type": "object", "properties": properties, "required": sorted(required)}
        )
    )


schemas = st.recursive(
    scalars,
    lambda inner: st.one_of(
        objects(inner), inner.map(lambda items: {"type": "array", "items": items, "minItems": 2})
    ),
    max_leaves=6,
)


@given(objects(schemas))
def test_a_signature_read_back_has_the_same_signature(schema: dict[str, Any]) -> None:
    shown = signature(schema, 10_000)
    assert signature(read_notation(shown), 10_000) == shown


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_shown_tools_are_read_back_with_their_parameters(tools: dict[str, Any]) -> None:
    for tool in ToolLibrary.from_json(tools):
        read = ToolLibrary.from_json([read_shown(json.loads(json.dumps(shown_tool(tool))))]).tools[0]
        assert [(one.name, one.required) for one in read.parameters] == [
            (one.name, one.required) for one in tool.parameters
        ]
        assert (read.id, read.description) == (tool.id, tool.description)
        assert (read.output_schema is None) == (tool.output_schema is None)
        sentence = read_shown(read_tool_sentence(tool_sentence(tool)))
        assert sentence["input_schema"] == read.input_schema


def test_nested_objects_enums_bounds_defaults_and_results_are_shown() -> None:
    library = ToolLibrary.from_json(workshop_tools())
    assert shown_tool(library["order_material"])["parameters"] == (
        "{project: string, lines: {material: string, amount: number, unit: 'piece' | 'metre' | 'litre'}[1..]}"
    )
    assert shown_tool(library["search-notes"])["parameters"] == (
        "{query: string, limit?: integer 1..50 = 10, tags?: string[]}"
    )
    assert shown_tool(library["book_bench"])["returns"] == "{booking: string, price?: number}"
    assert shown_tool(library["close_day"])["parameters"] == "{}"


def test_a_long_signature_loses_depth_and_then_types_but_no_name() -> None:
    inner = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(30)}}
    deep = {"properties": {f"part_{n}": inner for n in range(10)}}
    assert signature(deep).startswith("{part_0?: object, ")
    wide = {"properties": {f"a_rather_long_name_{n}": {"type": "string"} for n in range(100)}}
    wide["required"] = ["a_rather_long_name_99"]  # type: ignore[assignment]
    names = signature(wide)
    assert names.startswith("{a_rather_long_name_99, a_rather_long_name_0?, ")
    assert len(read_notation(names)["properties"]) == 100


def test_a_cut_list_of_values_is_read_as_any_text() -> None:
    shown = signature({"properties": {"code": {"enum": [f"C{n}" for n in range(40)]}}})
    assert shown.endswith("'C11' | …}")
    assert read_notation(shown)["properties"]["code"] == {"type": "string"}


def test_a_published_tool_is_shown_whole() -> None:
    tool = ToolLibrary.from_json(
        [{"id": "Crop", "desc": "Crops.", "input-type": ["image"], "more": 1}]
    ).tools[0]
    assert shown_tool(tool) == tool.to_json()
    assert read_shown(tool.to_json()) == tool.to_json()
    assert details_of(tool) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{a: string",
        "string}",
        "[1..2]",
        "(" * 100,
        "{'a: string}",
    ],
)
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="signature"):
        read_notation(text)


def test_arguments_are_described_by_path_and_long_enumerations_are_whole() -> None:
    letters = [chr(97 + number) for number in range(26)]
    item = {"type": "object", "properties": {"name": {"type": "string", "description": "As on the label."}}}
    schema = {
        "type": "object",
        "properties": {
            "day": {"type": "string", "description": "The day of the visit."},
            "letter": {"enum": letters},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
            "plain": {"type": "integer"},
        },
        "$defs": {"part": item},
    }
    found = argument_descriptions(schema)
    assert (found["day"], found["parts[].name"]) == ("The day of the visit.", "As on the label.")
    assert all(f'"{letter}"' in found["letter"] for letter in letters)
    assert found.keys() == {"day", "letter", "parts[].name"}


def test_recursive_schemas_are_described_to_a_depth() -> None:
    schema = {"properties": {"node": {"$ref": "#/$defs/node"}}}
    node = {"description": "A node.", "properties": {"node": {"$ref": "#/$defs/node"}}}
    assert len(argument_descriptions({**schema, "$defs": {"node": node}})) == 4


def test_a_result_that_is_too_large_has_the_names_of_its_next_level() -> None:
    task = {f"field_{number}": {"type": "string", "format": "date-time"} for number in range(30)}
    schema = {"properties": {"data": {"type": "object", "properties": task, "required": ["field_7"]}}}
    shown = signature(schema, 500)
    assert len(shown) <= 500 and "field_29?" in shown and "field_7," in shown
    assert [*read_notation(shown)["properties"]["data"]["properties"]] == [*task]
