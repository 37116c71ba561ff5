"""Signatures: an imported tool in one compact line, as prompts show it, and how such a line is read back.

A signature is the notation of a tool's schemas (`argument_schemas.notation`). Prompts never show a whole
schema: one alone can be longer than the context of a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from toolassay.console.text_formatting import shortened
from toolassay.tools.argument_schemas import (
    FORMATS,
    MOST_SHOWN,
    Property,
    Schema,
    items_of,
    kinds_of,
    notation,
    properties_at,
    properties_of,
)
from toolassay.tools.library import Tool

_MOST = 1_000  # characters of a signature
_MOST_OF_RESULT = 400
_MOST_WITH_PATHS = 1_500  # of a result to whose parts plans refer; the longest of TMDB's API has 1,268
_MOST_NAMES = 200  # parameters that a signature names
_MOST_DESCRIPTION = 2_000  # characters of a description in a prompt, of which the last
_END = 500
_MOST_OF_ARGUMENT = 600  # characters of the description of an argument or a result
_MOST_DESCRIBED = 200  # arguments of a tool
_DESCRIBED = 3  # levels of arguments below the first that are described
# Depths at which a schema is shown, the first whose text is short enough wins.
_DEPTHS = (5, 4, 3, 2, 1)
_FURTHER = (27, 16, 12, *range(8, 0, -1))  # levels below the depth, of which only required names are shown


def signature(schema: Schema, most: int = _MOST) -> str:
    """The notation of a schema in at most about `most` characters, as deep as that allows.

    Optional properties are shown down to five levels, required ones also below, or one more level by name.

    If even one level is too long, only the names remain, those that are required first.

    >>> signature({"properties": {"day": {"format": "date"}, "n": {"type": "integer"}}, "required": ["day"]})
    '{day: date, n?: integer}'
    """
    properties = properties_of(schema)
    if not properties and kinds_of(schema, schema) <= {"object"}:
        return "object" if schema.get("additionalProperties") else "{}"
    text = ""
    for depth in _DEPTHS:
        if len(text := notation(schema, schema, depth=depth)) <= most:
            named = notation(schema, schema, depth=depth, with_names=True)
            deeper = (notation(schema, schema, depth=depth, further=further) for further in _FURTHER)
            text = next((candidate for candidate in deeper if len(candidate) <= most), text)
            return max(text, named, key=len) if len(named) <= most else text
    if not properties:
        return f"{text[: most - 1]}…"
    # Sorting is stable: otherwise the order is that of the schema.
    names = [
        f"{member.name}{'' if member.required else '?'}"
        for member in sorted(properties, key=lambda member: not member.required)
    ]
    more = ["…"] if len(names) > _MOST_NAMES else []
    return "{" + ", ".join([*names[:_MOST_NAMES], *more]) + "}"


@lru_cache(maxsize=4096)
def _shown(tool: Tool, most_of_result: int = _MOST_OF_RESULT) -> tuple[str, str, str | None]:
    """The description, the signature and the result of a tool with an `input_schema`."""
    description = tool.description
    if len(description) > _MOST_DESCRIPTION:  # the end stays: security probes plant their text there
        description = f"{description[: _MOST_DESCRIPTION - _END - 1]}…{description[-_END:]}"
    result = None if tool.output_schema is None else signature(tool.output_schema, most_of_result)
    return description, signature(tool.input_schema or {}), result


def shown_tool(tool: Tool, *, with_paths: bool = False) -> dict[str, Any]:
    """The object that a prompt shows of a tool: that of `tool_desc.json`, with signatures for schemas.

    Args:
        tool: The tool.
        with_paths: Whether plans refer to parts of results. Then the signature of a result may be longer.

    >>> shown_tool(Tool("now", "Tells the time.", input_schema={"type": "object"}))
    {'id': 'now', 'desc': 'Tells the time.', 'parameters': '{}'}
    >>> shown_tool(Tool("now", input_schema={}, output_schema={"type": "number", "description": "In hours."}))
    {'id': 'now', 'desc': '', 'parameters': '{}', 'returns': 'number', 'result': 'In hours.'}
    """
    if tool.input_schema is None:
        return tool.to_json()
    description, takes, gives = _shown(tool, _MOST_WITH_PATHS if with_paths else _MOST_OF_RESULT)
    entry: dict[str, Any] = {"id": tool.id, "desc": description}
    if tool.is_resource:
        entry |= {"input-type": list(tool.inputs), "output-type": list(tool.outputs)}
    entry |= {"parameters": takes} | ({} if gives is None else {"returns": gives})
    return entry | ({"result": about} if (about := said_of_result(tool)) else {})


def said_of_result(tool: Tool) -> str:
    """What a tool says of its result, in at most 600 characters; often the only word on what a bare text is.

    >>> said_of_result(Tool("add", output_schema={"type": "string", "description": "The id of the entry."}))
    'The id of the entry.'
    """
    return _cut(str((tool.output_schema or {}).get("description") or ""))


def _cut(text: str) -> str:
    return shortened(text, _MOST_OF_ARGUMENT)


def argument_descriptions(schema: Schema) -> dict[str, str]:
    """What a schema says of arguments beside their types, by path: descriptions, and long enumerations whole.

    >>> schema = {"properties": {"size": {"enum": ["S", "M"], "description": "Of the shirt."}, "n": {}}}
    >>> argument_descriptions(schema)
    {'size': 'Of the shirt.'}
    """

    def described(properties: Iterable[Property], path: str, levels_left: int) -> Iterator[tuple[str, str]]:
        for member in properties:
            path_here = f"{path}{member.name}"
            own_schema = member.schema
            choices = own_schema.get("enum")
            values = choices if isinstance(choices, list) and len(choices) > MOST_SHOWN else []
            text = _cut(str(own_schema.get("description") or ""))
            if values:
                text = f"{text} One of: {json.dumps(values, ensure_ascii=False)}".strip()
            if text:
                yield path_here, text
            for part, inner in (("", own_schema), ("[]", items_of(own_schema, schema).get("items", {}))):
                if levels_left:
                    yield from described(properties_at(inner, schema), f"{path_here}{part}.", levels_left - 1)

    return dict(islice(described(properties_of(schema), "", _DESCRIBED), _MOST_DESCRIBED))


def details_of(tool: Tool) -> dict[str, Any]:
    """What pages show of an imported tool beside its description; empty for a published one.

    >>> details_of(Tool("now", input_schema={"type": "object"}, tags=("time",), source={"server": "clock"}))
    {'signature': '{}', 'tags': ['time'], 'source': {'server': 'clock'}}
    """
    details: dict[str, Any] = {}
    if tool.input_schema is not None:
        _, details["signature"], result = _shown(tool)
        if result is not None:
            details["result"] = result
    scalars = str, int, float
    hints = {key: value for key, value in tool.annotations.items() if isinstance(value, scalars)}
    source = {key: str(value) for key, value in tool.source.items() if isinstance(value, scalars)}
    optional = {"annotations": hints, "tags": list(tool.tags), "source": source}
    return details | {key: value for key, value in optional.items() if value}


_NOTATIONS = ("parameters", "returns")


def read_shown(entry: Any) -> Any:
    """The object of `tool_desc.json` that `shown_tool` shows; any other value is returned unchanged.

    >>> read_shown({"id": "now", "parameters": "{zone?: string}"})["input_schema"]["properties"]
    {'zone': {'type': 'string'}}
    """
    if not isinstance(entry, Mapping) or not any(isinstance(entry.get(key), str) for key in _NOTATIONS):
        return entry
    tool = {key: item for key, item in entry.items() if key not in (*_NOTATIONS, "arguments", "result")}
    if isinstance(entry.get("parameters"), str):
        tool["input_schema"] = {"type": "object", **read_notation(entry["parameters"])}
    if isinstance(entry.get("returns"), str):
        description = {"description": entry["result"]} if entry.get("result") else {}
        tool["output_schema"] = read_notation(entry["returns"]) | description
    return tool


# The tokens of a notation: 'a text' with escapes, punctuation, "[]" and "[1..8]", words such as "date-time".
_TOKEN = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\[[\d.]*\]|[{}(),:|?=…\[\]]|[^\s{}()\[\],:|?='…]+|')")
_TYPES = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})
# Levels of a notation that are read. A hostile text could exhaust the stack.
_DEEPEST = 40


def read_notation(text: str) -> dict[str, Any]:
    """The schema that a notation shows, as far as it shows it.

    Raises:
        ValueError: The text is not a notation.

    >>> read_notation("{to: email[], size?: 'S' | 'M' = 'M'}") == {"type": "object", "required": ["to"],
    ...     "properties": {"to": {"type": "array", "items": {"type": "string", "format": "email"}},
    ...                    "size": {"enum": ["S", "M"], "default": "M"}}}
    True
    """
    reader = _Reader(_TOKEN.findall(text))
    schema = reader.value(_DEEPEST)
    if reader.next:
        raise ValueError(f"not a signature: {text[:80]}")
    return schema


class _Reader:
    """Parses the tokens of one notation; `next` is the first that is left, "" at the end."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens: Iterator[str] = iter(tokens)
        self.next = next(self._tokens, "")

    def take(self, *allowed: str) -> str:
        token = self.next
        self.next = next(self._tokens, "")
        if not token or (allowed and token not in allowed):
            raise ValueError(f"not a signature at {token!r}")
        return token

    def value(self, levels_left: int) -> dict[str, Any]:
        schema = self.union(levels_left)
        if self.next == "=":
            self.take()
            default = _literal(self.take())
            schema = schema if default is _UNKNOWN else {**schema, "default": default}
        return schema

    def union(self, levels_left: int) -> dict[str, Any]:
        parts = [self.listed(levels_left)]
        while self.next == "|":
            self.take()
            if self.next == "…":  # the values shown are some of the allowed ones
                self.take()
                return {"type": "string"} if isinstance(parts[0].get("enum", [""])[0], str) else {}
            parts.append(self.listed(levels_left))
        if len(parts) == 1:
            only = parts[0]
            return {"enum": only["enum"]} if "enum" in only else only
        if all(part.keys() == {"enum"} for part in parts):
            return {"enum": [value for part in parts for value in part["enum"]]}
        return {"anyOf": parts}

    def listed(self, levels_left: int) -> dict[str, Any]:
        if levels_left == 0:
            raise ValueError("a signature is nested too deeply")
        schema = self.single(levels_left - 1)
        while _LENGTH.fullmatch(self.next):
            bounds = _read_bounds(self.take()[1:-1], "minItems", "maxItems")
            schema = {"type": "array"} | ({"items": schema} if schema else {}) | bounds
        return schema

    def single(self, levels_left: int) -> dict[str, Any]:
        token = self.take()
        if token == "{":
            return self.object(levels_left)
        if token == "(":
            schema = self.union(levels_left)
            self.take(")")
            return schema
        if token == "list" and self.next == "[":
            self.take("[")
            schema = self.union(levels_left)
            self.take("]")
            return {"type": "array", "items": schema}
        if token in ("integer", "number") and _RANGE.fullmatch(self.next):
            return {"type": token} | _read_bounds(self.take(), "minimum", "maximum")
        if token in _TYPES:
            return {"type": token}
        if token in FORMATS:
            return {"type": "string", "format": token}
        value = _literal(token)
        if value is _UNKNOWN and not _WORD.fullmatch(token):
            raise ValueError(f"not a signature at {token!r}")
        return {} if value is _UNKNOWN else {"enum": [value]}

    def object(self, levels_left: int) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: list[str] = []
        more: dict[str, Any] = {}
        while self.next != "}":
            name = self.take()
            if name == "…":
                more = {"additionalProperties": True}
            else:
                name = str(_literal(name)) if name.startswith("'") else name
                if self.next == "?":
                    self.take()
                else:
                    required.append(name)
                properties[name] = {}
                if self.next == ":":
                    self.take()
                    properties[name] = self.value(levels_left)
            if self.next != "}":
                self.take(",")
        self.take()
        needed = {"required": required} if required else {}
        return {"type": "object", "properties": properties} | needed | more


_WORD = re.compile(r"[\w.-]+|…")  # "any" and unknown types, not "["
_LENGTH = re.compile(r"\[[\d.]*\]")  # "[]" and "[1..8]", not "[a]"
_RANGE = re.compile(r"[\d.eE+-]*\.\.[\d.eE+-]*")  # "1..8" and "-0.5..", not "1.5"


def _read_bounds(text: str, least: str, most: str) -> dict[str, Any]:
    """The keywords of `1..8`; raises ValueError if it is none."""
    ends = zip((least, most), text.split(".."), strict=True) if text else ()
    return {keyword: json.loads(end) for keyword, end in ends if end}


_UNKNOWN = object()


def _literal(token: str) -> Any:
    """The value of a token; `_UNKNOWN` if it is a word such as "any"."""
    if token.startswith("'"):
        token = '"' + re.sub(r"\\'|\"", lambda quote: "'" if quote[0] == "\\'" else '\\"', token[1:-1]) + '"'
    try:
        return json.loads(token)
    except (ValueError, RecursionError):
        return _UNKNOWN
