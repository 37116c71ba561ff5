"""Proposed output schemas of tools that declare none: built from fields, and kept in the tool file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolassay.files.data_files import read_json, write_json
from toolassay.link_proposals.proposal import MOST_FIELDS, ProposedField
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, parse_path

_DEEPEST = 8  # parts of a path
# In `source` of a tool: where its output schema comes from, and the one that its server declares.
_SHAPE = "output_schema"
_PROPOSED = "proposed"
_DECLARED = "declared_output_schema"


def schema_of_fields(fields: Iterable[ProposedField]) -> dict[str, Any]:
    """The schema of a result that has these fields; the first of contradicting ones counts.

    >>> schema_of_fields([ProposedField("ids[]", "integer"), ProposedField("ids.x", "string")])
    {'type': 'object', 'properties': {'ids': {'type': 'array', 'items': {'type': 'integer'}}}}
    """
    typed_paths = [(parse_path(field.path)[:_DEEPEST], field.type) for field in fields]
    typed_paths = [(path, type_) for path, type_ in typed_paths if "*" not in path]  # below any key of a map
    return _shape(typed_paths[:MOST_FIELDS]) if typed_paths else {}


def _shape(fields: Sequence[tuple[Sequence[Part], str]]) -> dict[str, Any]:
    (first, kind) = fields[0]
    if not first:
        return {"type": kind}
    inner: dict[Part, list[tuple[Sequence[Part], str]]] = defaultdict(list)
    for parts, type_ in fields:
        if parts:
            inner[parts[0] if _is_name(parts[0]) else EACH].append((parts[1:], type_))
    if not _is_name(first[0]):
        return {"type": "array", "items": _shape(inner[EACH])}
    names = {name: _shape(those) for name, those in inner.items() if name != EACH}
    return {"type": "object", "properties": names}


def _is_name(part: Part) -> bool:
    return isinstance(part, str) and part != EACH


def with_shape(tool: Tool, shape: Mapping[str, Any]) -> Tool:
    """A tool with a proposed output schema; the schema that its server declares is kept in `source`."""
    source = dict(tool.source)
    if tool.output_schema is not None:
        source[_DECLARED] = tool.output_schema
    return _replaced(tool, shape, {**source, _SHAPE: _PROPOSED})


def without_shape(tool: Tool) -> Tool:
    """A tool as its server declares it."""
    if tool.source.get(_SHAPE) != _PROPOSED:
        return tool
    source = {key: value for key, value in tool.source.items() if key not in (_SHAPE, _DECLARED)}
    return _replaced(tool, tool.source.get(_DECLARED), source)


def _replaced(tool: Tool, shape: Mapping[str, Any] | None, source: Mapping[str, Any]) -> Tool:
    raw = {key: value for key, value in tool.raw.items() if key not in (_SHAPE, "source")}
    return replace(tool, output_schema=shape, source=source, raw=raw)


def write_shapes(path: Path, library: ToolLibrary) -> None:
    """Write proposed output schemas into a tool file, and take those out that are proposed no more."""
    content = read_json(path)
    tools = {tool.id: tool for tool in library}
    for node in content["nodes"] if isinstance(content, dict) else content:
        tool = tools.get(node["id"])
        before = node.get("source") or {}
        if tool is not None and _PROPOSED in (tool.source.get(_SHAPE), before.get(_SHAPE)):
            node |= {_SHAPE: tool.output_schema, "source": dict(tool.source)}
            if tool.output_schema is None:
                del node[_SHAPE]
    write_json(path, content)
