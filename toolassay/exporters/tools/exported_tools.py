"""What the forms share: a tool's description and schema, and the losses that do not depend on the form."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolassay.argument_schemas import type_name
from toolassay.calls.function_schemas import Names, function_of, slots_of
from toolassay.tools import Tool, normal_type


class Loss(NamedTuple):
    """What a form does not hold of a tool.

    Attributes:
        tool: Its id.
        field: Where in the tool file, e.g. `output_schema`.
        reason: One clause.
    """

    tool: str
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExportedTools:
    """Tools in another form.

    Attributes:
        document: The whole document, a JSON value.
        losses: What it does not hold.
    """

    document: Any
    losses: Sequence[Loss]


class Signature(NamedTuple):
    """What every form has of a tool.

    Attributes:
        description: May be empty.
        schema: JSON Schema of the arguments object.
        losses: What of a published tool file is not in the schema.
    """

    description: str
    schema: dict[str, Any]
    losses: Sequence[Loss]


# Keys of the published tool files and of parameters in them that `signature_of` reads.
_TOOL_KEYS = frozenset(
    {"id", "desc", "description", "input-type", "output-type", "parameters", "required", "input_schema"}
    | {"output_schema", "annotations", "tags", "source"}
)
_PARAMETER_KEYS = frozenset({"name", "type", "desc", "description", "required", "optional", "enum", "items"})


def signature_of(tool: Tool) -> Signature:
    """The description and the schema of a tool; one without `input_schema` gets it from its declarations.

    >>> signature = signature_of(Tool("paint", "Paints.", inputs=("text",), outputs=("image",)))
    >>> signature.description, list(signature.schema["properties"]), signature.losses[0].field
    ('Paints. Gives image.', ['text'], 'input-type')
    """
    if tool.input_schema is not None:
        return Signature(tool.description, dict(tool.input_schema), ())
    slots = slots_of(tool, "resource")
    names = Names({tool.id: tool.id}, {tool.id: {slot.name: slot.name for slot in slots}})
    function = function_of(tool, "resource", names)
    schema: dict[str, Any] = function["parameters"]
    losses = []
    if tool.is_resource:
        losses.append(Loss(tool.id, "input-type", "each type is a text argument of that name"))
        losses += [Loss(tool.id, "output-type", "is a sentence of the description")] if tool.outputs else []
        losses += [Loss(tool.id, "parameters", "the types are written instead")] if tool.parameters else []
        return Signature(function["description"], schema, losses)
    for slot in slots:
        written = type_name(schema["properties"][slot.name], schema)
        if written != normal_type(slot.kind):
            losses.append(Loss(tool.id, f"parameters.{slot.name}.type", f"'{slot.kind}' becomes '{written}'"))
        losses += [
            Loss(tool.id, f"parameters.{slot.name}.{key}", "is not part of a tool's schema")
            for key in slot.source
            if key not in _PARAMETER_KEYS
        ]
    return Signature(function["description"], schema, losses)


def further_losses(tool: Tool, held: Collection[str], kind: str, name: str) -> list[Loss]:
    """What the form does not hold beside description and arguments.

    Args:
        tool: The tool.
        held: Fields of the tool and keys of its `source` (as `source.server`) that the form holds.
        kind: Kind of the importer that reads the form.
        name: The name of the tool in it.
    """
    losses = [] if name == tool.id else [Loss(tool.id, "id", f"is written as '{name}'")]
    present = {
        "output_schema": tool.output_schema is not None,
        "annotations": bool(tool.annotations),
        "tags": bool(tool.tags),
    }
    losses += [
        Loss(tool.id, field, "the form has no place for it")
        for field, is_present in present.items()
        if is_present and field not in held
    ]
    implied = {"kind": kind, "name": name}
    if any(f"source.{key}" not in held and value != implied.get(key) for key, value in tool.source.items()):
        # Not the keys: tools whose losses have one reason are counted together.
        losses.append(Loss(tool.id, "source", "the form has no place for all of it"))
    losses += [
        Loss(tool.id, key, "the form has no place for it") for key in tool.raw if key not in _TOOL_KEYS
    ]
    return losses
