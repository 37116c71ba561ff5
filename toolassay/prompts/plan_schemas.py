"""JSON schemas of plans and samples over a tool library, for structured output.

They use only what OpenAI's strict mode, vLLM and llama.cpp support: every property required, no additional
ones, no `pattern`, no `minItems`. `maxItems` stops small models that repeat items endlessly;
`toolassay.models.structured_output` omits it for servers that refuse it.

A value of an imported tool has the types of its `input_schema`, or is a text, which may refer to the output
of another step. What strict mode cannot express is written in another way, and `argument_schemas.as_meant`
reads it back: null for an optional property that is absent, and JSON text for an object with free names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolassay.graph import DependencyType
from toolassay.tools.argument_schemas import items_of, kinds_of, properties_at, resolve, schema_at
from toolassay.tools.library import Tool, ToolLibrary

Schema = dict[str, Any]

MOST_NODES = 12
"""Maximum nodes of a plan; the published data sets have up to 10."""
_MOST_LINKS = 32  # maximum links of a plan
_MOST_ARGUMENTS = 8  # maximum arguments of a node, unless a tool has more inputs
_MANY = 64
"""Number of distinct parameter sets above which all tools share one: many forms slow down constrained
decoding."""
_TEXT: Schema = {"type": "string"}
_MOST_ITEMS = 32  # maximum items of a list in a value
_DEEPEST = 3
"""Objects and lists within each other in a value. OpenAI allows 10 levels in all; the plan itself needs 5."""
_MOST_CHARACTERS = 60_000
"""Size of the schemas of all tools above which values of imported tools have no types. OpenAI's limit is
120,000 characters of names and values."""
_SCALARS = ("integer", "number", "boolean", "null")
# A value without types: with the text it covers everything but objects, which then are JSON text.
_ANY: list[Schema] = [
    *({"type": kind} for kind in _SCALARS[1:]),
    {
        "type": "array",
        "items": {"anyOf": [_TEXT, *({"type": kind} for kind in _SCALARS[1:])]},
        "maxItems": _MOST_ITEMS,
    },
]


def plan_schema(library: ToolLibrary, dependency_type: DependencyType) -> Schema:
    """The schema of a plan: only known tools, and except in resource plans known parameters and links.

    Arguments and values may be any text, `<node-j>` included.

    >>> schema = plan_schema(ToolLibrary([Tool("a"), Tool("b")]), "resource")
    >>> schema["properties"]["task_nodes"]["items"]["properties"]["task"]
    {'type': 'string', 'enum': ['a', 'b']}
    """
    node = _nodes(library.tools, dependency_type, name="task", arguments="arguments")
    parts = {"task_steps": _list(_TEXT, MOST_NODES), "task_nodes": _list(node, MOST_NODES)}
    if dependency_type != "resource":
        parts["task_links"] = _list(_link(library.ids), _MOST_LINKS)
    return object_schema(parts)


def sample_schema(
    tools: Sequence[Tool], links: int, dependency_type: DependencyType, *, check: bool
) -> Schema:
    """The schema of a Back-Instruct answer for a sampled subgraph.

    Args:
        tools: Tools of the sample.
        links: Number of its links.
        dependency_type: Determines the form of arguments.
        check: Whether the answer also has a review of the sample.
    """
    arguments = "input" if dependency_type == "resource" else "arguments"
    node = _nodes(tools, dependency_type, name="id", arguments=arguments)
    graph = object_schema(
        {
            "nodes": _list(node, len(tools)),
            "links": _list(_link([tool.id for tool in tools]), max(1, links)),
        }
    )
    parts = {"task_steps": _list(_TEXT, len(tools)), "user_request": _TEXT, "invoking_graph": graph}
    return object_schema(parts | ({"check_by_teacher": _TEXT} if check else {}))


def call_list_schema(tools: Sequence[Tool], most: int) -> Schema:
    """The schema of a list of calls `{"tool", "arguments"}` of imported tools, at most `most`."""
    return _list(_nodes(tools, "schema", name="tool", arguments="arguments"), most)


def _nodes(tools: Sequence[Tool], dependency_type: DependencyType, *, name: str, arguments: str) -> Schema:
    """The schema of a node: one for all tools, or with named arguments one for each set of parameters."""
    if dependency_type == "resource":
        most = max(_MOST_ARGUMENTS, *(len(tool.inputs) for tool in tools))
        return object_schema({name: _enum(tool.id for tool in tools), arguments: _list(_TEXT, most)})
    forms = _typed_nodes(tools, name, arguments)
    tools = [tool for tool in tools if tool.input_schema is None] if forms else tools
    alike: dict[tuple[str, ...], list[Tool]] = {}
    for tool in tools:
        alike.setdefault(tuple(parameter.name for parameter in tool.parameters), []).append(tool)
    if len(alike) > _MANY:
        names = tuple(dict.fromkeys(name for parameters in alike for name in parameters))
        alike = {names: list(tools)}
    is_typed = any(tool.input_schema is not None for tool in tools)
    forms += [
        object_schema(
            {name: _enum(tool.id for tool in those), arguments: _arguments(parameters, any_value=is_typed)}
        )
        for parameters, those in alike.items()
    ]
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _arguments(names: Sequence[str], *, any_value: bool = False) -> Schema:
    """The schema of named arguments; without `names`, any name is allowed."""
    value = {"anyOf": [_TEXT, *_ANY]} if any_value else _TEXT
    argument = object_schema({"name": _enum(names) if names else _TEXT, "value": value})
    return _list(argument, max(_MOST_ARGUMENTS, len(names)))


def _typed_nodes(tools: Sequence[Tool], name: str, arguments: str) -> list[Schema]:
    """The schema of a node for each imported tool; none if they are too many or too large together."""
    typed = [tool for tool in tools if tool.input_schema is not None]
    if not 0 < len(typed) <= _MANY:
        return []
    forms = []
    characters_left = _MOST_CHARACTERS
    for tool in typed:
        form = object_schema({name: _enum([tool.id]), arguments: _typed_arguments(tool)})
        characters_left -= len(json.dumps(form))
        if characters_left < 0:
            return []
        forms.append(form)
    return forms


def _typed_arguments(tool: Tool) -> Schema:
    """The schema of the arguments of an imported tool: an alternative for each type of value."""
    root = tool.input_schema or {}
    names: dict[str, list[str]] = {}
    for parameter in tool.parameters:
        value = _value(schema_at([parameter.name], root), root, _DEEPEST)
        names.setdefault(json.dumps(value), []).append(parameter.name)
    forms = [
        object_schema({"name": _enum(those), "value": json.loads(value)}) for value, those in names.items()
    ]
    if not forms:
        return _arguments(())
    return _list(
        forms[0] if len(forms) == 1 else {"anyOf": forms}, max(_MOST_ARGUMENTS, len(tool.parameters))
    )


def _value(schema: Any, root: Mapping[str, Any], levels_left: int) -> Schema:
    """The schema of a value: its types, or a text.

    Args:
        schema: of the value, in the tool's `input_schema`. One of listed texts is never a reference.
        root: the whole `input_schema`.
        levels_left: levels of lists and objects that it may have.
    """
    kinds = kinds_of(schema, root)
    choices = resolve(schema, root).get("enum")
    if isinstance(choices, list) and choices and all(isinstance(choice, str) for choice in choices):
        return _enum(choices)
    if not kinds:
        return {"anyOf": [_TEXT, *_ANY]}
    forms = [_TEXT, *({"type": kind} for kind in _SCALARS if kind in kinds)]
    schema = resolve(schema, root)
    if "array" in kinds and levels_left > 0:
        forms.append(_list(_value(items_of(schema, root).get("items"), root, levels_left - 1), _MOST_ITEMS))
    if "object" in kinds and levels_left > 0 and (properties := properties_at(schema, root)):
        inner = {
            member.name: (_value(member.schema, root, levels_left - 1), member.required)
            for member in properties
        }
        forms.append(
            object_schema(
                {name: form if needed else _or_null(form) for name, (form, needed) in inner.items()}
            )
        )
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _or_null(form: Schema) -> Schema:
    forms = form.get("anyOf", [form])
    null = {"type": "null"}
    return {"anyOf": forms if null in forms else [*forms, null]}


def _link(names: Iterable[str]) -> Schema:
    end = _enum(names)
    return object_schema({"source": end, "target": end})


def object_schema(properties: Mapping[str, Schema]) -> Schema:
    """The schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": most}


def _enum(names: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(names)}
