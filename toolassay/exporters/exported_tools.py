"""Tool libraries in the forms of model services and protocols, each with a list of what that form loses."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.argument_schemas import declared_at, properties_of, resolve, type_name
from toolassay.calls.call_plan import Names, function_of, slots_of
from toolassay.data_folder import DEFAULT_BENCHMARK
from toolassay.errors import UsageError
from toolassay.importers.importer import ToolNote
from toolassay.importers.tool_lists import map_schema
from toolassay.tools import Tool, ToolLibrary, normal_type
from toolassay.type_names import types_of

TOOL_FORMS = ("openai", "anthropic", "mcp", DEFAULT_BENCHMARK)
"""The forms; the published tool file has the name of its benchmark."""


def tool_exporter(form: str) -> Callable[[ToolLibrary], ExportedTools]:
    """The function that writes a tool library in a form.

    Args:
        form: One of `TOOL_FORMS`.

    Raises:
        UsageError: There is no such form.
    """
    if form not in TOOL_FORMS:
        raise UsageError(f"unknown form '{form}'", fix=f"use one of {', '.join(TOOL_FORMS)}")
    writers = (write_openai, write_anthropic, write_mcp, write_published)
    return writers[TOOL_FORMS.index(form)]


@dataclass(frozen=True, slots=True)
class ExportedTools:
    """Tools in another form.

    Attributes:
        document: The whole document, a JSON value.
        losses: What it does not hold.
    """

    document: Any
    losses: Sequence[ToolNote]


class CallSignature(NamedTuple):
    """What every form has of a tool.

    Attributes:
        description: May be empty.
        schema: JSON Schema of the arguments object.
        losses: What of a published tool file is not in the schema.
    """

    description: str
    schema: dict[str, Any]
    losses: Sequence[ToolNote]


# Keys of the published tool files and of parameters in them that `signature_of` reads.
_TOOL_KEYS = frozenset(
    {"id", "desc", "description", "input-type", "output-type", "parameters", "required", "input_schema"}
    | {"output_schema", "annotations", "tags", "source"}
)
_PARAMETER_KEYS = frozenset({"name", "type", "desc", "description", "required", "optional", "enum", "items"})


def signature_of(tool: Tool) -> CallSignature:
    """The description and the schema of a tool; one without `input_schema` gets it from its declarations.

    >>> signature = signature_of(Tool("paint", "Paints.", inputs=("text",), outputs=("image",)))
    >>> signature.description, list(signature.schema["properties"]), signature.losses[0].field
    ('Paints. Gives image.', ['text'], 'input-type')
    """
    if tool.input_schema is not None:
        return CallSignature(tool.description, dict(tool.input_schema), ())
    slots = slots_of(tool, "resource")
    names = Names({tool.id: tool.id}, {tool.id: {slot.name: slot.name for slot in slots}})
    function = function_of(tool, "resource", names)
    schema = dict(function.parameters)
    losses = []
    if tool.is_resource:
        lost = {"input-type": "each type is a text argument of that name"}
        lost |= {"output-type": "is a sentence of the description"} if tool.outputs else {}
        lost |= {"parameters": "the types are written instead"} if tool.parameters else {}
        notes = [ToolNote(tool.id, field, reason) for field, reason in lost.items()]
        return CallSignature(function.description, schema, notes)
    for slot in slots:
        written = type_name(schema["properties"][slot.name], schema)
        if written != normal_type(slot.kind):
            becomes = f"'{slot.kind}' becomes '{written}'"
            losses.append(ToolNote(tool.id, f"parameters.{slot.name}.type", becomes))
        losses += [
            ToolNote(tool.id, f"parameters.{slot.name}.{key}", "is not part of a tool's schema")
            for key in slot.source
            if key not in _PARAMETER_KEYS
        ]
    return CallSignature(function.description, schema, losses)


# Keywords that the APIs of OpenAI and Anthropic refuse beside the arguments.
_REFUSED = ("$ref", "allOf", "anyOf", "oneOf", "not", "enum")


def accepted_signature(tool: Tool) -> CallSignature:
    """`signature_of` with a schema that model services accept: they refuse a request for one tool.

    An array without items gets items of any value. Alternatives at the root become one object with the
    properties of all, of which those are required that every alternative requires.

    >>> either = [{"properties": {one: {}}, "required": [one]} for one in ("path", "id")]
    >>> signature = accepted_signature(Tool("move", input_schema={"type": "object", "anyOf": either}))
    >>> signature.schema, signature.losses[0].field
    ({'type': 'object', 'properties': {'path': {}, 'id': {}}}, 'input_schema.anyOf')
    """
    description, schema, losses = signature_of(tool)
    changes = list(losses)

    def with_items(part: dict[str, Any], where: str) -> dict[str, Any]:
        if "array" not in types_of(part) or "items" in part:
            return part
        reason = "is written as {}: model services refuse a list without it"
        changes.append(ToolNote(tool.id, f"{where}.items", reason))
        return {**part, "items": {}}

    schema = map_schema(schema, with_items, "input_schema")
    reasons = {
        key: "model services refuse it at the root; the arguments are one object that allows more"
        for key in _REFUSED
        if key in schema or key in resolve(schema, schema)
    }
    if schema.get("type") != "object":
        reasons["type"] = "is written as 'object': model services refuse arguments of another type"
    changes += [ToolNote(tool.id, f"input_schema.{key}", reason) for key, reason in reasons.items()]
    return CallSignature(description, _merged(schema) if reasons else schema, changes)


def _merged(root: dict[str, Any]) -> dict[str, Any]:
    """One object with the properties of all alternatives of a schema; of one name, any of theirs fits."""
    whole, declared = resolve(root, root), declared_at(root, root)
    parts = [declared_at(one, root) for key in ("allOf", "anyOf", "oneOf") for one in whole.get(key, ())]
    others = {
        name: [one[name] for one in parts if one.get(name, first) != first]
        for name, first in declared.items()
    }
    properties = {
        name: {"anyOf": [one, *others[name]]} if others[name] else one for name, one in declared.items()
    }
    required = [one.name for one in properties_of(root) if one.required]
    kept = {key: item for key, item in whole.items() if key not in (*_REFUSED, "required")}
    return kept | {"type": "object", "properties": properties} | ({"required": required} if required else {})


def further_losses(tool: Tool, held: Collection[str], kind: str, name: str) -> list[ToolNote]:
    """What the form does not hold beside description and arguments.

    Args:
        tool: The tool.
        held: Fields of the tool and keys of its `source` (as `source.server`) that the form holds.
        kind: Kind of the importer that reads the form.
        name: The name of the tool in it.
    """
    losses = [] if name == tool.id else [ToolNote(tool.id, "id", f"is written as '{name}'")]
    present = {
        "output_schema": tool.output_schema is not None,
        "annotations": bool(tool.annotations),
        "tags": bool(tool.tags),
    }
    losses += [
        ToolNote(tool.id, field, "the form has no place for it")
        for field, is_present in present.items()
        if is_present and field not in held
    ]
    implied = {"kind": kind, "name": name}
    if any(f"source.{key}" not in held and value != implied.get(key) for key, value in tool.source.items()):
        # Not the keys: tools whose losses have one reason are counted together.
        losses.append(ToolNote(tool.id, "source", "the form has no place for all of it"))
    losses += [
        ToolNote(tool.id, key, "the form has no place for it") for key in tool.raw if key not in _TOOL_KEYS
    ]
    return losses


def _write_functions(
    library: ToolLibrary, form: str, entry: Callable[[str, CallSignature], dict[str, Any]]
) -> ExportedTools:
    """A list with an entry for each tool, with names that the APIs of models accept."""
    names = Names.of(library, "resource").functions
    document, losses = [], list[ToolNote]()
    for tool in library:
        signature = accepted_signature(tool)
        document.append(entry(names[tool.id], signature))
        losses += [*signature.losses, *further_losses(tool, (), form, names[tool.id])]
    return ExportedTools(document, losses)


def write_openai(library: ToolLibrary) -> ExportedTools:
    """The list `tools` of OpenAI's Chat Completions API.

    >>> exported = write_openai(ToolLibrary([Tool("shop.find", "Finds.", input_schema={"type": "object"})]))
    >>> exported.document[0]["function"]
    {'name': 'shop_find', 'description': 'Finds.', 'parameters': {'type': 'object'}}
    >>> exported.losses
    [ToolNote(tool='shop.find', field='id', reason="is written as 'shop_find'")]
    """
    return _write_functions(
        library,
        "openai",
        lambda name, signature: {
            "type": "function",
            "function": {"name": name, "description": signature.description, "parameters": signature.schema},
        },
    )


# Names of properties that Anthropic's API accepts: "user.name"; not "per page" nor "größe".
_VALID_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def write_anthropic(library: ToolLibrary) -> ExportedTools:
    """The list `tools` of Anthropic's Messages API.

    Arguments keep their names; those that the API refuses are losses.
    """
    exported = _write_functions(
        library,
        "anthropic",
        lambda name, signature: {
            "name": name,
            "description": signature.description,
            "input_schema": signature.schema,
        },
    )
    refused = [
        ToolNote(tool.id, f"input_schema.properties.{name}", "Anthropic's API refuses this name")
        for tool, entry in zip(library, exported.document, strict=True)
        for name in entry["input_schema"].get("properties") or ()
        if not _VALID_PROPERTY.fullmatch(name)
    ]
    return ExportedTools(exported.document, [*exported.losses, *refused])


def write_mcp(library: ToolLibrary) -> ExportedTools:
    """MCP's answer to `tools/list`, or `{"servers": [{"name", "tools"}]}` for tools of different servers.

    A tool is called by its id, also where its server has another name for it.
    """
    servers: dict[str, list[dict[str, Any]]] = {}
    losses: list[ToolNote] = []
    for tool in library:
        signature, server = signature_of(tool), tool.source.get("server")
        entry = {"name": tool.id, "description": signature.description, "inputSchema": signature.schema}
        if tool.output_schema is not None and tool.output_schema.get("type") == "object":
            entry["outputSchema"] = dict(tool.output_schema)
        elif tool.output_schema is not None:
            losses.append(ToolNote(tool.id, "output_schema", "MCP allows only the schema of an object"))
        if tool.annotations:
            entry["annotations"] = dict(tool.annotations)
        servers.setdefault(server if isinstance(server, str) else "", []).append(entry)
        held = ("annotations", "output_schema", "source.server")
        losses += [*signature.losses, *further_losses(tool, held, "mcp", tool.id)]
    listings = [
        {"name": name, "tools": tools} if name else {"tools": tools} for name, tools in servers.items()
    ]
    return ExportedTools(listings[0] if len(listings) == 1 else {"servers": listings}, losses)


def write_published(library: ToolLibrary) -> ExportedTools:
    """The published tool file: `tool_desc.json` with its published keys only."""
    losses: list[ToolNote] = []
    nodes = []
    for tool in library:
        node: dict[str, Any] = {"id": tool.id, "desc": tool.description}
        losses += further_losses(tool, (), DEFAULT_BENCHMARK, tool.id)
        if tool.is_resource:
            node |= {"input-type": list(tool.inputs), "output-type": list(tool.outputs)}
            lost = {"parameters": "the types are written instead"} if tool.parameters else {}
        else:
            node["parameters"] = [
                {"name": one.name, "type": one.type, "desc": one.description} for one in tool.parameters
            ]
            lost = {
                f"parameters.{one.name}.{key}": "the form has no place for it"
                for one in tool.parameters
                for key in one.declaration
                if key not in ("name", "type", "desc", "description")
            }
            if "required" in tool.raw:
                lost["required"] = "the form has no place for it"
            if tool.input_schema is not None:
                lost = {"input_schema": "only names, types and descriptions of the arguments"}
        losses += [ToolNote(tool.id, field, reason) for field, reason in lost.items()]
        nodes.append(node)
    return ExportedTools({"nodes": nodes}, losses)
