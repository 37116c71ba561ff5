"""Tool libraries in the forms of model services and protocols, each with a list of what that form loses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.importers.importer import ToolNote
from toolassay.plans.call_plan import Names, function_of, renamed, slots_of
from toolassay.records.data_folder import DEFAULT_BENCHMARK
from toolassay.tools.argument_schemas import accepted_schema, type_name
from toolassay.tools.library import Tool, ToolLibrary, normal_type

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


def accepted_signature(tool: Tool) -> CallSignature:
    """`signature_of` with a schema that model services accept (`accepted_schema`)."""
    description, schema, losses = signature_of(tool)
    accepted, reasons = accepted_schema(schema)
    changes = [ToolNote(tool.id, field, reason) for field, reason in reasons.items()]
    return CallSignature(description, accepted, [*losses, *changes])


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
    names = Names.of(library, "resource", strict=form == "anthropic")
    document = []
    losses = list[ToolNote]()
    for tool in library:
        name = names.functions[tool.id]
        signature = accepted_signature(tool)
        property_names = names.parameters[tool.id] if tool.input_schema else {}
        document.append(entry(name, signature._replace(schema=renamed(signature.schema, property_names))))
        changed = {old: new for old, new in property_names.items() if new != old}.items()
        reason = "is written as '{}': Anthropic's API refuses it"
        losses += [
            ToolNote(tool.id, f"input_schema.properties.{old}", reason.format(new)) for old, new in changed
        ]
        losses += [*signature.losses, *further_losses(tool, (), form, name)]
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


def write_anthropic(library: ToolLibrary) -> ExportedTools:
    """The list `tools` of Anthropic's Messages API.

    Arguments keep their names but those that the API refuses.
    """
    return _write_functions(
        library,
        "anthropic",
        lambda name, signature: {
            "name": name,
            "description": signature.description,
            "input_schema": signature.schema,
        },
    )


def write_mcp(library: ToolLibrary) -> ExportedTools:
    """MCP's answer to `tools/list`, or `{"servers": [{"name", "tools"}]}` for tools of different servers.

    A tool is called by its id, also where its server has another name for it.
    """
    servers: dict[str, list[dict[str, Any]]] = {}
    losses: list[ToolNote] = []
    for tool in library:
        signature = signature_of(tool)
        server = tool.source.get("server")
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
                {"name": parameter.name, "type": parameter.type, "desc": parameter.description}
                for parameter in tool.parameters
            ]
            lost = {
                f"parameters.{parameter.name}.{key}": "the form has no place for it"
                for parameter in tool.parameters
                for key in parameter.declaration
                if key not in ("name", "type", "desc", "description")
            }
            if "required" in tool.raw:
                lost["required"] = "the form has no place for it"
            if tool.input_schema is not None:
                lost = {"input_schema": "only names, types and descriptions of the arguments"}
        losses += [ToolNote(tool.id, field, reason) for field, reason in lost.items()]
        nodes.append(node)
    return ExportedTools({"nodes": nodes}, losses)
