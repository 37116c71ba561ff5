"""Checks that `tool_desc.json` and the `nodes` of `graph_desc.json` describe the same tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.argument_schemas import with_subschemas
from toolassay.errors import UsageError
from toolassay.tools import Tool, ToolLibrary, normal_type

_MOST_NAMED = 3


class ToolFilesDiffer(UsageError):
    """The two files differ in ids, types or parameters, so the links belong to other tools."""


def agreed_tools(
    tools: ToolLibrary,
    nodes: ToolLibrary,
    *,
    schemas: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> ToolLibrary:
    """The tools of `tool_desc.json` with the type spelling of the graph, from which implied links follow.

    Descriptions, order and further keys are those of `tool_desc.json`.

    Args:
        tools: Tools of `tool_desc.json`.
        nodes: Nodes of `graph_desc.json`.
        schemas: Whether schemas must agree, too, apart from their descriptions: the links of a schema graph
            follow from them.
        say: Called with one notice if descriptions or other details, such as schemas, differ.

    Raises:
        ToolFilesDiffer: Ids, types, or names or types of parameters differ, or which of them an
            `input_schema` requires. The spelling of types (`Image`, `image`), the order of parameters and
            the rest of a schema do not count.
    """
    found = list(_differences(tools, nodes, schemas))
    if found:
        more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise ToolFilesDiffer(
            f"differs from {_shown(nodes.path, tools.path)}: {'; '.join(found[:_MOST_NAMED])}{more}",
            file=tools.path,
            fix=f"regenerate the graph: generate_graph.py {_flags(tools.path, nodes.path)}",
        )
    merged = [replace(tool, inputs=nodes[tool.id].inputs, outputs=nodes[tool.id].outputs) for tool in tools]
    edited = [tool.id for tool in merged if tool.to_json() != nodes[tool.id].to_json()]
    if edited:
        named = ", ".join(f"'{name}'" for name in edited[:_MOST_NAMED])
        more = f" and {len(edited) - _MOST_NAMED} more" if len(edited) > _MOST_NAMED else ""
        say(f"using the descriptions of {tools.path}; {nodes.path} has others for {named}{more}")
    return ToolLibrary(merged, normalised=tools.normalised, path=tools.path, list_name=tools.list_name)


def tools_agree(tools: ToolLibrary, nodes: ToolLibrary, *, schemas: bool = False) -> bool:
    """Whether `agreed_tools` accepts the two files."""
    return next(_differences(tools, nodes, schemas), None) is None


def _differences(tools: ToolLibrary, nodes: ToolLibrary, schemas: bool) -> Iterator[str]:
    """The differences that affect links or plans, one phrase per tool."""
    for tool in tools:
        if tool.id not in nodes:
            yield f"'{tool.id}' is not in the graph"
        elif what := "; ".join(_difference(tool, nodes[tool.id])):
            yield f"'{tool.id}' has {what}"
        elif schemas:
            for name in ("input_schema", "output_schema"):
                here, there = getattr(tool, name), getattr(nodes[tool.id], name)
                if here != there and _without_texts(here) != _without_texts(there):
                    yield f"'{tool.id}' has another {name}"
    yield from (f"the graph also has '{node.id}'" for node in nodes if node.id not in tools)


def _difference(tool: Tool, node: Tool) -> Iterator[str]:
    for name, here, there in (
        ("input-type", tool.inputs, node.inputs),
        ("output-type", tool.outputs, node.outputs),
    ):
        if [*map(normal_type, here)] != [*map(normal_type, there)]:
            yield f"{name} {_listed(here)} (in the graph: {_listed(there)})"
    ours, theirs = ({one.name: one for one in side.parameters} for side in (tool, node))
    for name in dict.fromkeys([*ours, *theirs]):
        if name not in theirs or name not in ours:
            words = ("a", "none") if name in ours else ("no", "one")
            yield f"{words[0]} parameter '{name}' (in the graph: {words[1]})"
        elif (kind := ours[name].type) != theirs[name].type:
            yield f"parameter '{name}' of type {kind} (in the graph: {theirs[name].type})"
        elif None not in (needs := (ours[name].required, theirs[name].required)) and needs[0] != needs[1]:
            words = ("required", "optional") if needs[0] else ("optional", "required")
            yield f"parameter '{name}' {words[0]} (in the graph: {words[1]})"


def _without_texts(schema: Any, place: str = "") -> Any:
    """A schema without its texts, which do not say what a tool takes or gives."""
    if not isinstance(schema, Mapping):
        return schema
    texts = ("description", "title", "examples", "$comment")
    kept = {key: value for key, value in schema.items() if key not in texts}
    return with_subschemas(kept, _without_texts)


def _listed(types: Sequence[str]) -> str:
    return ", ".join(types) or "none"


def _shown(path: Path | None, beside: Path | None) -> str:
    """The path of the graph's file; its name alone if it is in the same folder."""
    if path is None:
        return "the graph"
    return path.name if beside is not None and path.parent == beside.parent else str(path)


def _flags(tools: Path | None, graph: Path | None) -> str:
    """The flags of `generate_graph.py` for these files."""
    folder = f"--data_dir {graph.parent}" if graph is not None else "--data_dir FOLDER"
    is_beside = tools is None or (graph is not None and tools.parent == graph.parent)
    return folder if is_beside else f"{folder} --tool_desc {tools}"
