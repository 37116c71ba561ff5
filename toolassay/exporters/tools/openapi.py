"""OpenAPI 3.1: imported operations as they were, every other tool as `POST /tools/ID` with a JSON body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from toolassay.argument_schemas import pointed_at
from toolassay.exporters.tools.exported_tools import ExportedTools, Loss, further_losses, signature_of
from toolassay.importers.intake import valid_id
from toolassay.importers.openapi.operations import built_name
from toolassay.importers.tool_lists import map_schema
from toolassay.tools import Tool, ToolLibrary

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_PLACES = frozenset({"path", "query", "header", "cookie", "body"})
# Keys of `source` that an operation holds; `server` is the document's title.
_HELD = frozenset(
    {"name", "method", "path", "operation_id", "url", "arguments", "body", "body_required", "serialization"}
    | {"response", "deprecated"}
)
_NOTHING: Mapping[str, Any] = {}
# Matches "{id}" and "{+name}" with the names "id" and "name"; not "{}".
_TEMPLATE = re.compile(r"\{[+#./;?&]?([^{}/*+]+)[*+]?\}")
# What an object schema may have for its properties to be arguments of their own.
_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "description", "$defs"})
# Keywords that allow and forbid nothing.
_ANNOTATIONS = frozenset({"title", "$comment", "$schema", "$id", "default", "examples", "deprecated"})


def write(library: ToolLibrary) -> ExportedTools:
    """The tools as a document of OpenAPI 3.1.

    A tool that was imported from OpenAPI gets its operation back from its `source`. Definitions become
    components.
    """
    return _Document(library).exported()


class _Own(NamedTuple):
    """The operation from which a tool was imported.

    Attributes:
        method: Lower case.
        path: With templates as `{id}`.
        places: Place of each argument, as in `source.arguments`.
        styles: `source.serialization`.
    """

    method: str
    path: str
    places: Mapping[str, str]
    styles: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Tool, schema: Mapping[str, Any]) -> _Own | str:
        """The operation, or why there is none: "" if the tool never had one."""
        method, path = tool.source.get("method"), tool.source.get("path")
        given = tool.source.get("arguments", {})
        if not isinstance(method, str) or not isinstance(path, str) or not isinstance(given, Mapping):
            return ""
        if method.lower() not in _METHODS or not path.startswith("/"):
            return f"{method} {path} is none of OpenAPI 3.1"
        places = {name: str(place) for name, place in given.items()}
        named = {_real(name, place) for name, place in places.items() if place.startswith("path")}
        if named != set(_TEMPLATE.findall(path)):
            return f"the arguments differ from those of {path}"
        for name in schema.get("properties") or ():
            if places.get(name, "").partition(":")[0] not in _PLACES:
                return f"'{name}' has no place in a request"
        styles = tool.source.get("serialization")
        return cls(method.lower(), path, places, styles if isinstance(styles, Mapping) else {})


class _Document:
    def __init__(self, library: ToolLibrary) -> None:
        self._library = library
        self._ids = frozenset(tool.id for tool in library)
        self._paths: dict[str, dict[str, Any]] = {}
        self._components: dict[str, Any] = {}
        self._definitions: dict[str, Any] = {}  # what each component was made of
        self._losses: list[Loss] = []
        servers = {str(tool.source.get("server", "")) for tool in library}
        self._title = servers.pop() if len(servers) == 1 else ""
        urls = {str(tool.source.get("url", "")) for tool in library}
        self._url = urls.pop() if len(urls) == 1 else ""

    def exported(self) -> ExportedTools:
        for tool in self._library:
            self._add(tool)
        document: dict[str, Any] = {
            "openapi": "3.1.0",
            "info": {"title": self._title or "Tools", "version": "1"},
            **({"servers": [{"url": self._url}]} if self._url else {}),
            "paths": self._paths,
            **({"components": {"schemas": self._components}} if self._components else {}),
        }
        return ExportedTools(document, self._losses)

    def _lose(self, tool: Tool, field: str, reason: str) -> None:
        self._losses.append(Loss(tool.id, field, reason))

    def _add(self, tool: Tool) -> None:
        signature = signature_of(tool)
        self._losses += signature.losses
        found = _Own.of(tool, signature.schema)
        if isinstance(found, _Own) and found.method in self._paths.get(found.path, {}):
            found = f"another tool has {found.method.upper()} {found.path}"
        held = {"tags", "output_schema"}
        if isinstance(found, str):
            own, source = _Own("post", self._free_path(tool), {}, {}), _NOTHING
            if found:
                self._lose(tool, "source", f"the operation is not written: {found}")
        else:
            own, source = found, tool.source
            held |= {f"source.{key}" for key in _HELD} | ({"source.server"} if self._title else set())
        operation = self._labels(tool, signature.description, source, own)
        operation |= self._input(tool, signature.schema, source, own)
        if tool.output_schema is not None:
            operation["responses"] = self._responses(tool, tool.output_schema, source.get("response"))
        self._paths.setdefault(own.path, {})[own.method] = operation
        self._losses += further_losses(tool, held, "openapi", tool.id)

    def _free_path(self, tool: Tool) -> str:
        path = f"/tools/{quote(tool.id, safe='')}"
        while path in self._paths:
            path += "_"
        return path

    def _labels(self, tool: Tool, description: str, source: Mapping[str, Any], own: _Own) -> dict[str, Any]:
        """The keys of an operation that describe it; see `_input`."""
        labels: dict[str, Any] = {}
        wanted = source.get("operation_id")
        wanted = wanted if isinstance(wanted, str) else ""
        # The name that an importer gives the operation.
        expected = wanted or (built_name(own.method, own.path) if source else "")
        is_kept = valid_id(expected) == tool.id and wanted not in self._ids
        name = wanted if is_kept else tool.id
        if name != wanted and source:
            self._lose(tool, "source.operation_id", f"is '{name}' in the document, to keep the tool's id")
        if name:
            labels["operationId"] = name
        if description:
            labels["description"] = description
        if description != description.strip():
            self._lose(tool, "desc", "importers remove the blanks around it")
        if tool.tags:
            labels["tags"] = list(tool.tags)
        if source.get("deprecated") is True:
            labels["deprecated"] = True
        if not self._url and source.get("url"):
            labels["servers"] = [{"url": str(source["url"])}]
        return labels

    def _input(
        self,
        tool: Tool,
        schema: Mapping[str, Any],
        source: Mapping[str, Any],
        own: _Own,
    ) -> dict[str, Any]:
        """`parameters` and `requestBody` of an operation, those that it has.

        Args:
            tool: The tool.
            schema: Its input schema.
            source: Its `source`; empty if it gets a new operation.
            own: The operation; an argument that has no place in it is in the body.
        """
        places = own.places
        schema = self._with_components(tool, schema, "input_schema")
        properties = dict(schema.get("properties") or {})
        required = [name for name in schema.get("required") or () if places.get(name, "body") == "body"]
        inner = {name: item for name, item in properties.items() if places.get(name, "body") == "body"}
        whole = next((name for name in properties if places.get(name) == "body:whole"), None)
        operation: dict[str, Any] = {}
        parameters = [
            _parameter(name, places[name], item, name in (schema.get("required") or ()), own.styles.get(name))
            for name, item in properties.items()
            if name not in inner and name != whole
        ]
        if parameters:
            operation["parameters"] = parameters
        not_plain = schema.keys() - _PLAIN
        if whole is None and (inner or (not_plain - _ANNOTATIONS and not source)):
            body: Any = {**schema, "properties": inner, "required": required}
            if not required:
                del body["required"]
            if not_plain:
                names = ", ".join(sorted(not_plain))
                self._lose(tool, "input_schema", f"not kept as rules of the arguments: {names}")
        else:
            for key in sorted(schema.keys() - {"type", "properties", "required"}):
                self._lose(tool, f"input_schema.{key}", "there is no body with the arguments")
            if whole is None:
                return operation
            body = properties[whole]
        media_type = source.get("body") or "application/json"
        operation["requestBody"] = {"content": {str(media_type): {"schema": body}}}
        if source.get("body_required") is True or (required and not source):
            operation["requestBody"]["required"] = True
        return operation

    def _responses(self, tool: Tool, schema: Mapping[str, Any], response: Any) -> dict[str, Any]:
        schema = self._with_components(tool, schema, "output_schema")
        if schema.keys() == {"$ref"}:
            self._lose(tool, "output_schema", "a reference: importers put the definition in its place")
        description = schema.get("description")
        if isinstance(description, str) and "$ref" not in schema and description == description.strip():
            del schema["description"]  # it comes back from the response
        else:
            description = ""
        response = response if isinstance(response, Mapping) else {}
        media_type = str(response.get("media_type") or "application/json")
        answer = {"description": description, "content": {media_type: {"schema": schema}}}
        return {str(response.get("status") or "200"): answer}

    def _with_components(self, tool: Tool, schema: Mapping[str, Any], field: str) -> dict[str, Any]:
        """A copy of a schema whose definitions are components, with references to them.

        Tools share a component if its definition, and all that it refers to, is the same.
        """
        definitions = schema.get("$defs") or {}
        root = {key: item for key, item in schema.items() if key != "$defs"}
        reached = _reachable(root, definitions)
        for name in definitions.keys() - reached.keys():
            self._lose(tool, f"{field}.$defs.{name}", "nothing refers to it")
        names = {name: self._component_name(tool, field, name, definitions) for name in reached}
        itself = _OTHERS.sub("_", f"{tool.id}.{field}")

        def referring(node: dict[str, Any], place: str) -> dict[str, Any]:
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            name, _, rest = _defined(reference).partition("/")
            if _defined(reference) and _unescaped(name) in names:
                node["$ref"] = f"{_PREFIX}{names[_unescaped(name)]}{rest and f'/{rest}'}"
            elif reference.startswith("#") and pointed_at(reference, root) is not None:
                self._components.setdefault(itself, None)
                node["$ref"] = f"{_PREFIX}{itself}{reference[1:]}"
            else:
                self._lose(tool, f"{place}.$ref", "a reference to nothing")
                del node["$ref"]
            return node

        for name in reached:
            one = definitions[name]
            self._components[names[name]] = (
                map_schema(one, referring, f"{field}.$defs.{name}") if isinstance(one, dict) else one
            )
        written = map_schema(root, referring, field)
        if itself in self._components:
            self._components[itself] = written
            self._lose(tool, f"{field}.$ref", f"what refers to the schema itself refers to '{itself}'")
        return dict(written)

    def _component_name(self, tool: Tool, field: str, name: str, definitions: Mapping[str, Any]) -> str:
        inner = {one: definitions[one] for one in (name, *_reachable(definitions[name], definitions))}
        outside = any(not _defined(one) for item in inner.values() for one in _references(item))
        content = json.dumps([inner, (tool.id, field) if outside else None], sort_keys=True)
        key = plain = _OTHERS.sub("_", name) or "schema"
        if self._definitions.get(key, content) != content:
            key = plain = _OTHERS.sub("_", f"{tool.id}.{name}")
        number = 1
        while self._definitions.get(key, content) != content:
            number += 1
            key = f"{plain}_{number}"
        self._definitions[key] = content
        if key != name:
            self._lose(tool, f"{field}.$defs.{name}", f"is written as '{key}'")
        return key


_PREFIX = "#/components/schemas/"
# What the key of a component may not have: "<" of "Pet<string>"; not "." of "Pet.v1".
_OTHERS = re.compile(r"[^a-zA-Z0-9._-]+")


def _real(name: str, place: str) -> str:
    """The name of an argument in the request: that after the place, as in `query:id`, or its own."""
    return place.partition(":")[2] or name


def _parameter(name: str, place: str, schema: Any, is_required: bool, style: Any) -> dict[str, Any]:
    kind = place.partition(":")[0]
    parameter: dict[str, Any] = {"name": _real(name, place), "in": kind}
    if is_required or kind == "path":
        parameter["required"] = True
    if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
        parameter["description"] = schema["description"]
        schema = {key: item for key, item in schema.items() if key != "description"}
    style = style if isinstance(style, Mapping) else {}
    if isinstance(content := style.get("content"), str):
        return parameter | {"content": {content: {"schema": schema}}}
    return parameter | {"schema": schema, **style}


def _defined(reference: str) -> str:
    """What follows `#/$defs/`; "" for another reference."""
    return reference.removeprefix("#/$defs/") if reference.startswith("#/$defs/") else ""


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _references(schema: Any) -> list[str]:
    found = []

    def note(node: dict[str, Any], _: str) -> dict[str, Any]:
        if isinstance(node.get("$ref"), str):
            found.append(node["$ref"])
        return node

    if isinstance(schema, Mapping):
        map_schema(schema, note, "")
    return found


def _reachable(schema: Any, definitions: Mapping[str, Any]) -> dict[str, None]:
    """The names of the definitions that a schema refers to, directly or through others, in order."""
    reached: dict[str, None] = {}
    left = _references(schema)[::-1]
    while left:
        name = _unescaped(_defined(left.pop()).partition("/")[0])
        if name in definitions and name not in reached:
            reached[name] = None
            left += _references(definitions[name])[::-1]
    return reached
