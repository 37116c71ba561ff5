"""JSON Schemas for properties: every one of them can be met, unless contradictory ones are wanted."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import strategies as st

NAMES = ("id", "name", "count", "token", "items", "data", "start_date", "end_date", "user", "city", "note")
FORMATS = ("date", "date-time", "email", "uri", "uuid", "ipv4", "time")
Schemas = st.SearchStrategy[dict[str, Any]]


def fits(value: Any, schema: Any) -> bool:
    """Whether a value fits a schema."""
    valid: bool = jsonschema.Draft202012Validator(schema).is_valid(value)
    return valid


def schemas(*, contradictory: bool = False) -> Schemas:
    """Schemas of scalars, lists, objects and alternatives.

    Args:
        contradictory: also schemas that ask for two things at once, which no value may meet.
    """
    scalars: Schemas = st.one_of(
        st.builds(
            lambda low, room: {"type": "integer", "minimum": low, "maximum": low + room},
            st.integers(-50, 5000),
            st.integers(0, 40),
        ),
        st.builds(lambda low: {"type": "number", "minimum": low, "maximum": low + 0.5}, st.integers(-5, 5)),
        st.builds(
            lambda low, step: {"type": "number", "minimum": low, "multipleOf": step},
            st.integers(0, 90),
            st.sampled_from([0.25, 0.5, 3, 7]),
        ),
        st.builds(
            lambda least, more: {"type": "string", "minLength": least, "maxLength": least + more},
            st.integers(0, 60),
            st.integers(0, 20),
        ),
        st.builds(lambda form: {"type": "string", "format": form}, st.sampled_from(FORMATS)),
        st.builds(
            lambda values: {"enum": values},
            st.lists(st.sampled_from(["a", "b c", 3, None, 2.5]), min_size=1, unique=True),
        ),
        st.sampled_from([{"type": "boolean"}, {"type": "null"}, {}]),
        st.sampled_from([{}, {"pattern": "^[a-z]{2}-\\d+$"}]).map(
            lambda more: {"type": ["string", "null"], **more}
        ),
    )

    def larger(inner: Schemas) -> Schemas:
        ways = [
            st.builds(
                lambda items, least: {"type": "array", "items": items, "minItems": least},
                inner,
                st.integers(0, 4),
            ),
            st.builds(
                lambda of, needs, is_open: {
                    "type": "object",
                    "properties": of,
                    "required": sorted(of)[:needs],
                    "additionalProperties": is_open,
                },
                st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
                st.integers(0, 4),
                st.booleans(),
            ),
            st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
            st.builds(lambda one: {"allOf": [one, {"description": "Of a thing."}]}, inner),
        ]
        if contradictory:
            ways.append(st.builds(lambda one, other: {"oneOf": [one, other]}, inner, inner))
            ways.append(st.builds(lambda one, other: {"allOf": [one, other]}, inner, inner))
        return st.one_of(ways)

    return st.recursive(scalars, larger, max_leaves=10)
