"""A JSON Schema for tools that have only a list of parameters, with types in free text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolassay.tools import Parameter, Tool, is_required
from toolassay.type_names import read_type, types_of

# Formats that the writer keeps; a type of another one is a text of that kind.
_FORMATS = frozenset({"date", "email", "uri", "uuid"})
_KEYWORDS = (
    "enum", "const", "examples", "example", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "items", "default",
)  # fmt: skip


def declared_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema that the parameters of a tool amount to.

    >>> days = Parameter("arrival", "date", "Day of arrival.")
    >>> declared_schema(Tool("t", parameters=(days,)))["properties"]
    {'arrival': {'type': 'string', 'format': 'date', 'description': 'Day of arrival.'}}
    """
    return {
        "type": "object",
        "properties": {one.name: _schema(one) for one in tool.parameters},
        "required": [one.name for one in tool.parameters if is_required(one, tool)],
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema = schema_of_type(parameter.type)
    source = parameter.declaration
    for name in _KEYWORDS:
        if name in source and _is_sound(name, source[name]):
            schema[name] = source[name]
    for name in ("options", "choices", "allowed_values", "values"):
        given = source.get(name)
        if isinstance(given, list) and given and "enum" not in schema:
            schema["enum"] = [one for one in given if isinstance(one, str | int | float)]
    if "enum" in schema:
        # The values of a list may be of another type than its text says.
        schema.pop("type", None)
    if parameter.description:
        schema["description"] = parameter.description
    return schema


def _is_sound(name: str, value: Any) -> bool:
    """Whether a keyword of a declaration has the type that JSON Schema wants."""
    if name in ("enum", "examples"):
        return isinstance(value, list) and bool(value)
    if name in ("format", "pattern"):
        return isinstance(value, str)
    if name == "items":
        return isinstance(value, Mapping) and isinstance(value.get("type", "string"), str)
    if name in ("const", "example", "default"):
        return value is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def schema_of_type(declared: str) -> dict[str, Any]:
    """The schema of a type in free text; an unknown type is a text of that kind (`x-kind`).

    >>> schema_of_type("list[integer]"), schema_of_type("enum: low, high")
    ({'type': 'array', 'items': {'type': 'integer'}}, {'enum': ['low', 'high']})
    >>> schema_of_type("Optional[datetime]"), schema_of_type("city")
    ({'type': 'string', 'x-form': 'moment %Y-%m-%d %H:%M'}, {'type': 'string', 'x-kind': 'city'})
    """
    names = [one.strip(" '\"") for one in re.split(r"[|/]|\bor\b", declared) if one.strip()]
    if len(names) > 1 and not any(map(read_type, names)):
        return {"enum": names}
    schema = read_type(declared, _of_kind) or {"type": "string"}
    if isinstance(items := schema.get("items"), Mapping):
        schema["items"] = _written(items)
    return _written(schema)


def _of_kind(name: str) -> dict[str, Any]:
    return {"type": "string", "x-kind": name}


def _written(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with one type, and a moment as people write it, without the T and the Z of RFC 3339."""
    written = dict(schema)
    if kinds := [kind for kind in types_of(written) if kind != "null"]:
        written["type"] = kinds[0]
    form = written.get("format")
    if form not in (None, *_FORMATS):
        del written["format"]
        written |= {"x-form": "moment %Y-%m-%d %H:%M"} if form == "date-time" else {"x-kind": form}
    return written
