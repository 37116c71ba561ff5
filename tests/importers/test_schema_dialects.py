"""Dialects of JSON Schema become valid 2020-12, and what is left out is noted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolassay.importers.importer import Note
from toolassay.importers.schema_dialects import (
    DEEPEST,
    MOST_NODES,
    Normalised,
    Normaliser,
    TooLarge,
    misfitting_values,
)

CONVERTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "definitions beside $defs, and below the root": (
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
        {"minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"exclusiveMinimum": 0, "maximum": 9},
    ),
    "a tuple of draft 7": (
        {"items": [{"type": "string"}], "additionalItems": False},
        {"prefixItems": [{"type": "string"}], "items": False},
    ),
    "dependencies": (
        {"dependencies": {"a": ["b"], "c": {"minProperties": 2}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}},
    ),
    "nullable": ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    "a nullable reference": (
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
        {"allOf": [{"$ref": "#/$defs/a"}], "nullable": True, "$defs": {"a": {}}},
        {"anyOf": [{"allOf": [{"$ref": "#/$defs/a"}]}, {"type": "null"}], "$defs": {"a": {}}},
    ),
    "nulls of a table, in which each row has the keys of all rows": (
        {
            "type": "object",
            "properties": {
                "fee": {"type": "number", "description": None, "enum": None, "default": None},
                "city": None,
                "unit": {"type": None, "description": None, "items": {"type": None}},
                "lines": {
                    "type": "array",
                    "anyOf": None,
                    "items": {"type": "object", "properties": {"sku": {"type": "string"}, "city": None}},
                },
            },
            "required": None,
            "additionalProperties": None,
            "$defs": {"Pet": None},
        },
        {
            "type": "object",
            "properties": {
                "fee": {"type": "number", "default": None},
                "lines": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"sku": {"type": "string"}}},
                },
            },
            "$defs": {},
        },
    ),
    "values that may be null": (
        {"properties": {"a": {"default": None}, "b": {"const": None}, "c": {}}},
        {"properties": {"a": {"default": None}, "b": {"const": None}, "c": {}}},
    ),
    "properties called as keywords": (
        {"properties": {"id": {}, "type": {}}},
        {"properties": {"id": {}, "type": {}}},
    ),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_it_is_converted_without_loss(case: str) -> None:
    given_schema, expected = CONVERTED[case]
    assert Normaliser().convert(given_schema) == Normalised(expected)


LOST: dict[str, tuple[dict[str, Any], dict[str, Any], Note]] = {
    "an unknown type": (
        {"properties": {"a": {"type": "Pet"}}},
        {"properties": {"a": {}}},
        Note("properties.a.type", "no type 'Pet'"),
    ),
    "an empty enum": ({"enum": []}, {}, Note("enum", "not valid: []")),
    "dependencies that are a number": (
        {"dependencies": 5},
        {},
        Note("dependentSchemas", "not an object of schemas"),
    ),
    "a schema that is a text": ({"items": "string"}, {"items": {}}, Note("items", "not a schema")),
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
    assert Normaliser().convert(given_schema) == Normalised(expected, (loss,))


AB: dict[str, Any] = {"properties": {"a": {}, "b": {}}}
MEANT: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a type of another language": ({"type": "Int"}, {"type": "integer"}, ["type"]),
    "a type with items": (
        {"items": {"minimum": 1}, "type": "list[int]"},
        {"items": {"minimum": 1}, "type": "array"},
        ["type"],
    ),
    "required as in draft 3": (
        {"properties": {"a": {"required": True}, "b": {"required": "false"}}},
        AB | {"required": ["a"]},
        ["properties.a.required", "properties.b.required"],
    ),
    "both kinds of required": (
        {"properties": {"a": {"required": True}, "b": {}}, "required": ["b"]},
        AB | {"required": ["a", "b"]},
        ["properties.a.required"],
    ),
    "a name that is no property": (AB | {"required": ["a", "x"]}, AB | {"required": ["a"]}, ["required"]),
    "values of another type": (
        {
            "items": {"type": "integer", "enum": ["1", 2, "x"]},
            "type": ["boolean", "null"],
            "enum": ["true", None],
        },
        {
            "items": {"type": "integer", "enum": [1, 2, "x"]},
            "type": ["boolean", "null"],
            "enum": [True, None],
        },
        ["items.enum", "enum"],
    ),
    "numbers for texts, and twice the same": (
        {"type": "string", "enum": [1, True, "1"]},
        {"type": "string", "enum": ["1", "true"]},
        ["enum", "enum", "enum"],
    ),
    "a name in a text": (AB | {"required": "a"}, AB | {"required": ["a"]}, ["required"]),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_is_not_valid_is_read_as_it_is_meant_with_a_warning(case: str) -> None:
    given_schema, expected, fields = MEANT[case]
    schema, losses, warnings = Normaliser().convert(given_schema)
    assert (schema, losses, [note.field for note in warnings]) == (expected, (), fields)


@pytest.mark.parametrize(
    "schema",
    [
        AB | {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"required": ["c"], "allOf": [{"properties": {"c": {}}}, {"$ref": "#/$defs/d"}], "$defs": {"d": {}}},
        AB | {"required": ["x"], "additionalProperties": {"type": "string"}},
        {"properties": {"o": {"type": "object", "required": ["x"]}}},
        {"if": AB | {"required": ["x"]}},
    ],
)
def test_a_required_name_may_be_declared_elsewhere(schema: dict[str, Any]) -> None:
    assert Normaliser().convert(schema) == Normalised(schema)


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"enum": ["a"], "default": "b"}, "not one of"),
        ({"type": "integer", "default": "3"}, "type"),
        ({"type": "array", "items": {"type": "integer"}, "default": [1, "x"]}, "type"),
        ({"$ref": "#/$defs/d", "default": 4}, "type"),
        ({"type": "string", "default": None}, ""),
        ({"$ref": "#/properties/q", "default": 3}, ""),
    ],
)
def test_a_default_or_example_that_does_not_fit_is_named(schema: dict[str, Any], word: str) -> None:
    root = {"properties": {"p": schema, "q": {}}, "$defs": {"d": {"type": "string"}}}
    reasons = [note.reason for note in misfitting_values(root) if note.field.startswith("properties.p.")]
    assert len(reasons) == bool(word)
    assert all(word in reason for reason in reasons)


def test_a_definition_that_tools_share_is_noted_for_each() -> None:
    normaliser, shared = Normaliser(), {"type": "Int", "enum": []}
    first, second = (normaliser.convert({"$defs": {"a": shared}}) for _ in range(2))
    assert first == second and first.schema == {"$defs": {"a": {"type": "integer"}}}
    assert [note.field for note in (*second.losses, *second.warnings)] == ["$defs.a.enum", "$defs.a.type"]


def test_a_recursive_schema_stays_recursive() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}}}}}
    assert Normaliser().convert(tree) == Normalised(tree)


def test_too_deep_and_too_large_schemas_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(DEEPEST + 1):
        deep = {"items": deep}
    with pytest.raises(TooLarge, match="levels deep"):
        Normaliser().convert(deep)
    with pytest.raises(TooLarge, match="schemas"):
        Normaliser().convert({"anyOf": [{}] * MOST_NODES})


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-9, 9)
    | st.sampled_from(["string", "#/$defs/a", "x", "int?", "list[a|b]"])
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


@settings(max_examples=50, deadline=None)
@given(_SCHEMAS)
def test_the_result_is_always_a_valid_schema(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(Normaliser().convert(schema).schema)


@settings(max_examples=50, deadline=None)
@given(_SCHEMAS)
@example({"type": ["string", "string"]})
def test_converting_a_result_again_changes_nothing(schema: dict[str, Any]) -> None:
    once = Normaliser().convert(schema).schema
    assert Normaliser().convert(once) == Normalised(once)
