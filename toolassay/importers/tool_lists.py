"""What the importers of tool lists share: reading JSON and JSON Lines, one tool for equal definitions."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from toolassay.console.screen import SILENT, Screen
from toolassay.console.text_formatting import some_of
from toolassay.errors import UsageError
from toolassay.importers.documents import DEEPEST, read_values, too_deep
from toolassay.importers.importer import DefinitionError, Importer, Incoming, IncomingTool, Note, Skipped
from toolassay.tools.results import parsed_text
from toolassay.tools.type_names import read_types, types_of

# Keys under which a request is stored: batch files of OpenAI (`body`) and Anthropic (`params`, `requests`),
# sessions of realtime models, logs.
_ENVELOPES = ("body", "params", "request", "requests", "session")
# A nameless object with one of these is a request or a question that needs no tool.
_REQUEST_KEYS = frozenset({"messages", "input", "model", "prompt", "question", *_ENVELOPES})
_MOST_LEVELS = 6  # lists, requests and namespaces around a tool

_REASONS = {
    "strict": "sets how the provider constrains the model's output",
    "defer_loading": "sets when the provider shows the tool to the model",
    "cache_control": "sets the provider's prompt cache",
    "allowed_callers": "sets who may call the tool at the provider",
}


class _Entry(NamedTuple):
    where: str
    value: Any
    namespace: Mapping[str, Any] | None


class ToolListImporter(Importer):
    """An importer of a file with tool definitions, alone, in lists or in requests.

    Attributes:
        holders: Keys of a request whose value is a list of definitions, or one of them.
        example: A definition in this form, for messages.
    """

    holders: ClassVar[tuple[str, ...]] = ("tools", "functions")
    example: ClassVar[str]

    def read(self, source: str, options: Any, *, screen: Screen = SILENT) -> Incoming:
        """Read all definitions of a file; see `Importer.read`."""
        lines = read_values(Path(source))
        first = [line for _, line in zip(range(2), lines, strict=False)]
        definitions = _Definitions()
        others = list[str]()
        for line in chain(first, lines):
            line_name = f"line {line.number}" if len(first) > 1 else ""
            for entry in self._entries(line.value, line_name, None, 0):
                try:
                    if too_deep(entry.value):
                        raise DefinitionError(f"is nested more than {DEEPEST} levels deep")
                    if not isinstance(entry.value, dict):
                        raise DefinitionError("is no object")
                    if other := other_kind(entry.value, self.name):
                        others.append(other)
                        fix = f"import it with `toolassay import {other}`"
                        raise DefinitionError(f"has the form of '{other}': {fix}")
                    definitions.add(self.tool_of(entry.value, entry.namespace), entry.where)
                except DefinitionError as error:
                    definitions.skip(entry, str(error))
        if not definitions.by_key:
            other_kinds = (other_kind(line.value, self.name) for line in first)
            if other := next(chain(others, filter(None, other_kinds)), None):
                title = f"has the form of '{other}', not of '{self.name}'"
                raise UsageError(title, file=source, fix=f"use `toolassay import {other}`")
        if not definitions:
            raise UsageError("holds no tool definitions", file=source, fix=f"write e.g. [{self.example}]")
        return Incoming(tuple(definitions.tools()), source, definitions.skipped())

    @abstractmethod
    def tool_of(self, value: dict[str, Any], namespace: Mapping[str, Any] | None) -> IncomingTool:
        """The tool of one definition.

        Args:
            value: The definition, at most `DEEPEST` levels deep.
            namespace: The namespace object whose list has it, if any.

        Raises:
            DefinitionError: It is no definition of a tool.
        """

    def _entries(
        self, value: Any, where: str, namespace: Mapping[str, Any] | None, level: int
    ) -> Iterator[_Entry]:
        value = decoded(value)
        if level > _MOST_LEVELS:
            yield _Entry(where, value, namespace)
        elif isinstance(value, list):
            for number, item in enumerate(value, start=1):
                tool_path = f"{where}, tool {number}" if where else f"tool {number}"
                yield from self._entries(item, tool_path, namespace, level + 1)
        elif isinstance(value, dict):
            if value.get("type") == "namespace":
                namespace = value
            lists = [value[key] for key in self._holders_of(value)]
            for tool_list in lists:
                yield from self._entries(tool_list, where, namespace, level + 1)
            is_request = bool(value.keys() & _REQUEST_KEYS) and not value.get("name")
            has_malformed = any(value.get(key) is not None for key in self.holders)
            if not lists and (has_malformed or not is_request):
                yield _Entry(where or "the document", value, namespace)
        elif value is not None:
            yield _Entry(where or "the document", value, namespace)

    def _holders_of(self, value: Mapping[str, Any]) -> Iterator[str]:
        if value.get("type") == "function":  # a definition: OpenAI's `function` is no list of BFCL
            return
        for key in self.holders:
            if isinstance(decoded(value.get(key)), list | dict):
                yield key
        if not value.get("name"):
            yield from (key for key in _ENVELOPES if isinstance(value.get(key), list | dict))


class _Definitions:
    """The tools of a file in order: equal definitions once, different ones of one name each."""

    def __init__(self) -> None:
        self.by_key: dict[str, IncomingTool] = {}
        self._places: dict[str, list[str]] = {}  # of the different definitions of each name
        self._skipped: dict[tuple[str, str], list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self.by_key or self._skipped)

    def tools(self) -> Iterator[IncomingTool]:
        numbers = Counter[str]()
        for tool in self.by_key.values():
            numbers[tool.name] += 1
            if len(self._places[tool.name]) > 1:
                name = f"{tool.name}_{numbers[tool.name]}"
                tool = replace(tool, further_names=(*tool.further_names, name))
            yield tool

    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(Skipped(some_of(places, 1), reason) for (reason, _), places in self._skipped.items())

    def add(self, tool: IncomingTool, where: str) -> None:
        # Not the losses: a request may set `cache_control` on a tool that another one has without it.
        content = tool.name, tool.description, tool.input_schema, tool.output_schema, *tool.tags
        key = json.dumps([content, tool.source], sort_keys=True)
        present = self.by_key.get(key)
        if present is not None:
            self.by_key[key] = replace(present, losses=tuple(dict.fromkeys([*present.losses, *tool.losses])))
            return
        places = self._places.setdefault(tool.name, [])
        places.append(where)
        if len(places) > 1:
            note = Note("name", f"{where} defines '{tool.name}' differently from {places[0]}; both are kept")
            tool = replace(tool, warnings=(*tool.warnings, note))
        self.by_key[key] = tool

    def skip(self, entry: _Entry, reason: str) -> None:
        content = entry.where if too_deep(entry.value) else json.dumps(entry.value, sort_keys=True)
        # Equal ones of many requests are one line of the report.
        content = content if entry.where.startswith("line ") else entry.where
        self._skipped.setdefault((reason, content), []).append(entry.where)


# The kinds that read a function with `parameters`.
_FUNCTION_KINDS = ("openai", "langchain", "bfcl")
# The kinds that read what has a key, the likeliest first.
_KINDS = {
    **dict.fromkeys(("openapi", "swagger"), ("openapi",)),
    **dict.fromkeys(("mcpServers", "inputSchema"), ("mcp",)),
    **dict.fromkeys(("args_schema", "tool_call_schema"), ("langchain",)),
    "input_schema": ("anthropic",),
    "parameters": _FUNCTION_KINDS,
}
# Keys with the definitions of a document or of a request.
_CONTAINERS = ("tools", "functions", "servers", "result", *_ENVELOPES)


def other_kind(value: Any, own_kind: str) -> str | None:
    """The kind of import that reads a value, if its keys are of another form than the importer's own.

    Args:
        value: A document, a list of definitions, or one definition.
        own_kind: The kind of the importer that was chosen.

    Returns:
        The name of the kind; None if the value may be of the own form, or is of no known one.

    >>> other_kind({"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}, "openai")
    'mcp'
    >>> other_kind({"openapi": "3.1.0", "paths": {}}, "mcp"), other_kind([{"name": "find"}], "mcp")
    ('openapi', None)
    """
    kinds = _kinds(value, 0)
    return None if own_kind in kinds else next(iter(kinds), None)


def _kinds(value: Any, level: int) -> tuple[str, ...]:
    """The kinds that read a value, the likeliest first; of a list, those of the first item that has any."""
    value = decoded(value)
    if level > _MOST_LEVELS or not isinstance(value, list | dict):
        return ()
    if isinstance(value, list):
        return next(filter(None, (_kinds(item, level + 1) for item in value)), ())
    function = decoded(value.get("function"))
    if isinstance(function, list):
        return ("bfcl",)
    if isinstance(value.get("servers"), dict):
        return ("mcp",)
    if value.get("type") == "function":
        return _FUNCTION_KINDS[:2]
    if isinstance(function, dict):
        return _FUNCTION_KINDS
    if "input_schema" in value and value.keys() & {"title", "output_schema", "annotations"}:
        return ("anthropic", "mcp")  # as the SDK for Python names the fields of MCP
    if kinds_by_key := next((kinds for key, kinds in _KINDS.items() if value.get(key) is not None), ()):
        return kinds_by_key
    kinds_by_container = ((key, _kinds(value.get(key), level + 1)) for key in _CONTAINERS)
    key, kinds = next((entry for entry in kinds_by_container if entry[1]), ("", ()))
    return tuple(kind for kind in kinds if (key, kind) != ("tools", "bfcl"))  # its files have no such key


def decoded(value: Any) -> Any:
    """A JSON list or object that is stored as text, as data sets do; any other value unchanged.

    So is a text that is nested more than `DEEPEST` levels deep.

    >>> decoded('[{"name": "find"}]'), decoded("[find")
    ([{'name': 'find'}], '[find')
    """
    parsed = parsed_text(value) if isinstance(value, str) else value
    return value if isinstance(value, str) and too_deep(parsed) else parsed


def name_of(value: Mapping[str, Any]) -> str:
    """The name of a definition.

    Raises:
        DefinitionError: It has none.
    """
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        raise DefinitionError("has no name")
    return name


def text_of(value: Mapping[str, Any], key: str, losses: list[Note]) -> str:
    """The text under a key; another value is a loss."""
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        losses.append(Note(key, "is no text"))
    return text if isinstance(text, str) else ""


def arguments_of(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The JSON Schema under a key; without one the tool has no arguments.

    Raises:
        DefinitionError: It is no schema of an object.
    """
    schema = decoded(value.get(key))
    if schema is None or schema == {}:
        return {"type": "object", "properties": {}}
    if not isinstance(schema, dict):
        raise DefinitionError(f"'{key}' is no JSON Schema")
    if not allows_object(schema) or not schema.keys() & _OBJECT_KEYWORDS:
        raise DefinitionError(f"'{key}' is no JSON Schema of an object")
    return schema


def allows_object(schema: Mapping[str, Any]) -> bool:
    """Whether the type of a schema, in any spelling, may be an object.

    >>> allows_object({"type": ["Object", "null"]}), allows_object({}), allows_object({"type": "list"})
    (True, True, False)
    """
    kinds = types_of(read_types(schema.get("type", "object")) or {})
    return not kinds or "object" in kinds


def result_schema(value: Mapping[str, Any], key: str, losses: list[Note]) -> dict[str, Any] | None:
    """The JSON Schema of the result under a key; another value is a loss."""
    schema = decoded(value.get(key))
    if schema is not None and not isinstance(schema, dict):
        losses.append(Note(key, "is no JSON Schema"))
    return schema if isinstance(schema, dict) else None


# What a schema of arguments has at least one of.
_OBJECT_KEYWORDS = frozenset(
    {"type", "properties", "additionalProperties", "required", "$ref", "$schema", "allOf", "anyOf", "oneOf"}
)


def unread(value: Mapping[str, Any], read: Collection[str], unset: Iterable[Any] = (None,)) -> list[Note]:
    """The losses of a definition: its keys that are not read and have a value.

    Args:
        value: The definition.
        read: The keys that are read.
        unset: Values that say nothing.
    """
    return [
        Note(key, _REASONS.get(key, "a tool file has no place for it"))
        for key, value_of_key in value.items()
        if key not in read
        and not any(
            type(value_of_key) is type(unset_value) and value_of_key == unset_value for unset_value in unset
        )
    ]
