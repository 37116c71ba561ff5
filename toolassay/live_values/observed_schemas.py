"""The JSON Schema of results that were seen, for tools that declare none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolassay.argument_schemas import Schema, properties_of

_DEEPEST = 8
_MOST_PROPERTIES = 60
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def is_opaque(schema: Schema | None) -> bool:
    """Whether an output schema says nothing of what is in a result: none, or a bare object.

    >>> is_opaque(None), is_opaque({"type": "object", "additionalProperties": True}), is_opaque({"items": {}})
    (True, True, False)
    """
    return schema is None or not ("items" in schema or properties_of(schema))


def schema_of_results(values: Sequence[Any], depth: int = 0) -> dict[str, Any]:
    """The schema that all values are valid against: types, properties, and those that every object has.

    >>> schema_of_results([{"id": 1}, {"id": 2, "name": "Ann"}])["required"]
    ['id']
    >>> schema_of_results([1, 2.5, None])
    {'type': ['null', 'number']}
    """
    if depth > _DEEPEST:
        return {}
    kinds = {"array" if isinstance(one, list) else _TYPES.get(type(one), "object") for one in values}
    if "number" in kinds:
        kinds.discard("integer")
    names = sorted(kinds)
    schema: dict[str, Any] = {"type": names[0] if len(names) == 1 else names} if names else {}
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        properties = list(dict.fromkeys(name for one in objects for name in one))[:_MOST_PROPERTIES]
        schema["properties"] = {
            name: schema_of_results([one[name] for one in objects if name in one], depth + 1)
            for name in properties
        }
        schema["required"] = [name for name in properties if all(name in one for one in objects)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        schema["items"] = schema_of_results(items, depth + 1)
    return schema
