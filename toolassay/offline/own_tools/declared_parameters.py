"""A JSON Schema for tools that have only a list of parameters, with types in free text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolassay.tools import Parameter, Tool, is_required

_TYPES = {
    "string": "string str text varchar char character chars",
    "number": "number float double decimal real numeric",
    "integer": "integer int long short count uint int32 int64 bigint",
    "boolean": "boolean bool flag",
    "array": "array list sequence set tuple",
    "object": "object dict dictionary map json struct record mapping",
}
_TYPE = {word: kind for kind, words in _TYPES.items() for word in words.split()}
# Types that are a text of some kind, with the `format` of JSON Schema if there is one.
_FORMATS = {"date": "date", "email": "email", "e-mail": "email", "url": "uri", "uri": "uri", "uuid": "uuid"}
_KINDS = {"day": "date", "link": "url", "website": "url"}
# Types of moments, which people write without the T and the Z of RFC 3339.
_MOMENTS = frozenset({"datetime", "date-time", "date_time", "date time", "timestamp"})
# "Optional[int]" and "nullable<date>", not "optional".
_OPTIONAL = re.compile(r"^(?:optional|nullable)\s*[\[<(]\s*(?P<inner>.*?)\s*[\])>]$", re.IGNORECASE)
# "list[integer]", "array of strings", "List<str>"; not "listing".
_LIST = re.compile(
    r"^(?:list|array|sequence|set|tuple)s?(?:\s*[\[<(]\s*(?P<inner>[^\])>]*)[\])>]|\s+of\s+(?P<of>.+))?$",
    re.IGNORECASE,
)
# "string[]", not "[]".
_ITEMS = re.compile(r"^(?P<inner>[\w -]+)\[\]$")
# "enum: a, b", "Literal['a', 'b']", "one of (a|b)"; not "choices".
_ENUM = re.compile(
    r"^(?:enum|literal|choice|one ?of)\s*(?::\s*(?P<open>.+)|[(\[<]\s*(?P<inner>.+?)[)\]>]?)$", re.IGNORECASE
)
_KEYWORDS = (
    "enum", "const", "examples", "example", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "items", "default",
)  # fmt: skip
_LONGEST = 400  # characters of a type


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


def _one(kind: str) -> str:
    """A type in the singular, if that is a known one: "string" for "strings"."""
    single = kind.strip().casefold().removesuffix("s")
    return single if single in _TYPE or single in _FORMATS else kind.strip() or "string"


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
    text = declared.strip()[:_LONGEST]
    if match := _OPTIONAL.match(text):
        text = match["inner"]
    if match := _ENUM.match(text):
        values = [one.strip(" '\"") for one in re.split(r"[,|]", match["open"] or match["inner"])]
        return {"enum": [one for one in values if one]}
    if match := _LIST.match(text) or _ITEMS.match(text):
        groups = match.groupdict()
        inner = groups.get("inner") or groups.get("of") or "string"
        return {"type": "array", "items": schema_of_type(_one(inner.split(",")[0]))}
    names = [name.strip(" '\"").casefold() for name in re.split(r"[|/]|\bor\b", re.sub(r"\(.*\)$", "", text))]
    named = [name for name in names if name not in ("none", "null", "nil", "")]
    if len(named) > 1 and not any(name in _TYPE or name in _FORMATS for name in named):
        return {"enum": [one.strip(" '\"") for one in re.split(r"[|/]|\bor\b", text) if one.strip()]}
    name = named[0] if named else "string"
    if name in _TYPE:
        return {"type": _TYPE[name]}
    if name in _FORMATS:
        return {"type": "string", "format": _FORMATS[name]}
    if name in _MOMENTS:
        return {"type": "string", "x-form": "moment %Y-%m-%d %H:%M"}
    return {"type": "string", "x-kind": _KINDS.get(name, name)}
