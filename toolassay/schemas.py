"""JSON schemas of plans and samples over a tool library, for structured output.

They use only what OpenAI's strict mode, vLLM and llama.cpp support: every property required, no additional
ones, no `pattern`, no `minItems`. `maxItems` stops small models that repeat items endlessly;
`toolassay.models.structured_output` omits it for servers that refuse it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolassay.graph import DependencyType
from toolassay.tools import Tool, ToolLibrary

Schema = dict[str, Any]

MOST_NODES = 12
"""Maximum nodes of a plan; the published data sets have up to 10."""
_MOST_LINKS = 32  # maximum links of a plan
_MOST_ARGUMENTS = 8  # maximum arguments of a node, unless a tool has more inputs
_MANY = 64
"""Number of distinct parameter sets above which all tools share one: many forms slow down constrained
decoding."""
_TEXT: Schema = {"type": "string"}


def plan_schema(library: ToolLibrary, dependency_type: DependencyType) -> Schema:
    """The schema of a plan. Tools, and in temporal plans parameters and links, are limited to known ones.

    Arguments and values may be any text, `<node-j>` included.

    >>> schema = plan_schema(ToolLibrary([Tool("a"), Tool("b")]), "resource")
    >>> schema["properties"]["task_nodes"]["items"]["properties"]["task"]
    {'type': 'string', 'enum': ['a', 'b']}
    """
    node = _nodes(library.tools, dependency_type, name="task", arguments="arguments")
    parts = {"task_steps": _list(_TEXT, MOST_NODES), "task_nodes": _list(node, MOST_NODES)}
    if dependency_type == "temporal":
        parts["task_links"] = _list(_link(library.ids), _MOST_LINKS)
    return _object(parts)


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
    graph = _object(
        {
            "nodes": _list(node, len(tools)),
            "links": _list(_link([tool.id for tool in tools]), max(1, links)),
        }
    )
    parts = {"task_steps": _list(_TEXT, len(tools)), "user_request": _TEXT, "invoking_graph": graph}
    return _object(parts | ({"check_by_teacher": _TEXT} if check else {}))


def _nodes(tools: Sequence[Tool], dependency_type: DependencyType, *, name: str, arguments: str) -> Schema:
    """The schema of a node: one for all tools, or in temporal plans one for each set of parameters."""
    if dependency_type == "resource":
        most = max(_MOST_ARGUMENTS, *(len(tool.inputs) for tool in tools))
        return _object({name: _enum(tool.id for tool in tools), arguments: _list(_TEXT, most)})
    alike: dict[tuple[str, ...], list[Tool]] = {}
    for tool in tools:
        alike.setdefault(tuple(parameter.name for parameter in tool.parameters), []).append(tool)
    if len(alike) > _MANY:
        names = tuple(dict.fromkeys(name for parameters in alike for name in parameters))
        alike = {names: list(tools)}
    forms = [
        _object({name: _enum(tool.id for tool in those), arguments: _arguments(parameters)})
        for parameters, those in alike.items()
    ]
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _arguments(names: Sequence[str]) -> Schema:
    """The schema of the arguments of a temporal tool; without `names`, any name is allowed."""
    argument = _object({"name": _enum(names) if names else _TEXT, "value": _TEXT})
    return _list(argument, max(_MOST_ARGUMENTS, len(names)))


def _link(names: Iterable[str]) -> Schema:
    end = _enum(names)
    return _object({"source": end, "target": end})


def _object(properties: Mapping[str, Schema]) -> Schema:
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
