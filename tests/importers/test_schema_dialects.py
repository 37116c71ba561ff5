"""Dialects of JSON Schema become valid 2020-12, and what is left out is noted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolassay.importers.importer import Note
from toolassay.importers.schema_dialects import DEEPEST, MOST_NODES, Normaliser, TooLarge

CONVERTED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "definitions": (
        "2020-12",
        {"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
    ),
    "definitions beside $defs, and below the root": (
        "2020-12",
        {
            "definitions": {"a": {"enum": [1]}},
            "$defs": {"b": {}},
            "properties": {"d": {"definitions": {"c": {}}, "$ref": "#/definitions/a"}},
            "items": {"$ref": "#/properties/d/definitions/c"},
        },
        {
            "$defs": {"a": {"enum": [1]}, "b": {}},
            "properties": {"d": {"$defs": {"c": {}}, "$ref": "#/$defs/a"}},
            "items": {"$ref": "#/properties/d/$defs/c"},
        },
    ),
    "an exclusive bound of draft 4": (
        "2020-12",
        {"minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"exclusiveMinimum": 0, "maximum": 9},
    ),
    "a tuple of draft 7": (
        "2020-12",
        {"items": [{"type": "string"}], "additionalItems": False},
        {"prefixItems": [{"type": "string"}], "items": False},
    ),
    "dependencies": (
        "2020-12",
        {"dependencies": {"a": ["b"], "c": {"minProperties": 2}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}},
    ),
    "nullable": ("openapi-3.0", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    "a nullable enum": (
        "openapi-3.0",
        {"type": "string", "enum": ["a"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    "a nullable reference": (
        "openapi-3.0",
        {
            "properties": {"p": {"$ref": "#/$defs/a", "nullable": True, "description": "d"}},
            "$defs": {"a": {}},
        },
        {
            "properties": {"p": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "description": "d"}},
            "$defs": {"a": {}},
        },
    ),
    "a nullable root": (
        "openapi-3.0",
        {"allOf": [{"$ref": "#/$defs/a"}], "nullable": True, "$defs": {"a": {}}},
        {"anyOf": [{"allOf": [{"$ref": "#/$defs/a"}]}, {"type": "null"}], "$defs": {"a": {}}},
    ),
    "x-nullable": ("swagger-2.0", {"type": "integer", "x-nullable": True}, {"type": ["integer", "null"]}),
    "a file": ("swagger-2.0", {"type": "file"}, {"type": "string", "format": "binary"}),
    "an example": ("openapi-3.0", {"example": {"a": 1}}, {"examples": [{"a": 1}]}),
    "nullable has no meaning in 2020-12": ("2020-12", {"nullable": True}, {"nullable": True}),
    "an empty list of required properties": ("2020-12", {"required": []}, {}),
    "an unknown keyword": ("2020-12", {"x-order": 1}, {"x-order": 1}),
    "the name of the dialect": ("2020-12", {"$schema": "http://json-schema.org/draft-07/schema#"}, {}),
    "properties called as keywords": (
        "2020-12",
        {"properties": {"id": {}, "type": {}}},
        {"properties": {"id": {}, "type": {}}},
    ),
    "a boolean schema": ("2020-12", {"properties": {"a": True}}, {"properties": {"a": True}}),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_it_is_converted_without_loss(case: str) -> None:
    dialect, given_schema, expected = CONVERTED[case]
    assert Normaliser(dialect).convert(given_schema) == (expected, ())


LOST: dict[str, tuple[dict[str, Any], dict[str, Any], Note]] = {
    "an unknown type": (
        {"properties": {"a": {"type": "text"}}},
        {"properties": {"a": {}}},
        Note("properties.a.type", "no type 'text'"),
    ),
    "required as in draft 3": (
        {"properties": {"a": {"type": "string", "required": True}}},
        {"properties": {"a": {"type": "string"}}},
        Note("properties.a.required", "not valid: True"),
    ),
    "an empty enum": ({"enum": []}, {}, Note("enum", "not valid: []")),
    "a schema that is a text": ({"items": "string"}, {"items": {}}, Note("items", "not a schema")),
    "properties in a list": ({"properties": []}, {}, Note("properties", "not an object of schemas")),
    "a reference to another document": (
        {"$ref": "other.json#/a"},
        {},
        Note("$ref", "a reference to another document: other.json#/a"),
    ),
    "a reference to a missing definition": (
        {"items": {"$ref": "#/$defs/a"}},
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}},
        Note("items.$ref", "a reference to nothing: #/$defs/a"),
    ),
    "a reference to a missing place": (
        {"items": {"$ref": "#/properties/a"}},
        {"items": {}},
        Note("items.$ref", "a reference to nothing: #/properties/a"),
    ),
}


@pytest.mark.parametrize("case", LOST)
def test_what_is_not_valid_is_left_out_and_noted(case: str) -> None:
    given_schema, expected, loss = LOST[case]
    assert Normaliser("2020-12").convert(given_schema) == (expected, (loss,))


def test_a_shared_definition_is_converted_once_and_its_losses_are_noted_for_each_tool() -> None:
    shared = {"type": "strange"}
    normaliser = Normaliser("2020-12")
    first = normaliser.convert({"$ref": "#/$defs/a", "$defs": {"a": shared}})
    second = normaliser.convert({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": shared}})
    assert first.schema["$defs"]["a"] is second.schema["$defs"]["a"]
    assert first.losses == second.losses == (Note("$defs.a.type", "no type 'strange'"),)


def test_a_recursive_schema_stays_recursive() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}}
    assert Normaliser("2020-12").convert(tree) == (tree, ())


def test_too_deep_and_too_large_schemas_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(DEEPEST + 1):
        deep = {"items": deep}
    with pytest.raises(TooLarge, match="levels deep"):
        Normaliser("2020-12").convert(deep)
    with pytest.raises(TooLarge, match="schemas"):
        Normaliser("2020-12").convert({"anyOf": [{}] * MOST_NODES})


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-9, 9)
    | st.sampled_from(["string", "#/$defs/a", "x"])
)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "type", "items"]), inner, max_size=3)
    ),
    max_leaves=5,
)
_KEYWORDS = (
    *("type", "properties", "items", "required", "enum", "const", "anyOf", "allOf", "oneOf", "not", "$ref"),
    *("definitions", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "minLength", "maxItems"),
    *("nullable", "example", "examples", "dependencies", "dependentRequired", "additionalProperties", "$id"),
    *("additionalItems", "prefixItems", "uniqueItems", "description", "format", "title", "if", "multipleOf"),
    *("$defs", "$schema", "pattern"),
)
_SCHEMAS = st.recursive(
    st.dictionaries(st.sampled_from(_KEYWORDS), _JSON, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(_KEYWORDS),
        inner
        | _JSON
        | st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_size=4,
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(_SCHEMAS, st.sampled_from(["2020-12", "openapi-3.0", "swagger-2.0"]))
def test_the_result_is_always_a_valid_schema(schema: dict[str, Any], dialect: str) -> None:
    Draft202012Validator.check_schema(Normaliser(dialect).convert(schema).schema)


@settings(max_examples=200, deadline=None)
@given(_SCHEMAS)
@example({"type": ["string", "string"]})
def test_converting_a_result_again_changes_nothing(schema: dict[str, Any]) -> None:
    once = Normaliser("2020-12").convert(schema).schema
    assert Normaliser("2020-12").convert(once) == (once, ())
