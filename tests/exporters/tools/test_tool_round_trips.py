"""What an importer reads of an exported library is that library, except for what the losses name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.exporters.exported_tools import ExportedTools, tool_exporter
from toolassay.importers import importer_named
from toolassay.importers.importer import Incoming, IncomingTool
from toolassay.importers.intake import Intake, take_in
from toolassay.tools.library import ToolLibrary

KINDS = ("openai", "anthropic", "mcp")
FIELDS = ("desc", "input_schema", "output_schema", "annotations", "tags", "source")

_WORDS = st.sampled_from(["city", "day", "at", "id", "properties", "$ref", "x-y", "größe", "Pet.v1", "items"])
_TEXTS = st.sampled_from(["Where.", "How many?", "Zwei\nZeilen", "“”", "a" * 70])
_LEAVES = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda name: {"type": name}),
    st.just({"type": ["string", "null"], "format": "date"}),
    st.just({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
    st.just({"enum": ["a", None, 3]}),
    st.just({"const": {"$ref": "#/kept"}}),
    st.just({}),
    st.sampled_from(["Pet", "Pet<a/b>", "Node"]).map(
        lambda name: {"$ref": f"#/$defs/{name.replace('/', '~1')}"}
    ),
)


def _described(schemas: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(schemas, st.fixed_dictionaries({}, optional={"description": _TEXTS})).map(
        lambda parts: parts[0] | parts[1]
    )


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        properties: dict[str, Any] = draw(st.dictionaries(_WORDS, inner, max_size=4))
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        required = [name for name in properties if draw(st.integers(0, 1))]
        if required:
            schema["required"] = required
        if draw(st.integers(0, 1)):
            schema["additionalProperties"] = False
        return schema

    return build()


_SCHEMAS = _described(
    st.recursive(
        _LEAVES,
        lambda inner: st.one_of(
            _described(inner).map(lambda item: {"type": "array", "items": item}),
            st.lists(inner, min_size=1, max_size=3).map(lambda items: {"anyOf": items}),
            _objects(_described(inner)),
        ),
        max_leaves=6,
    )
)


@st.composite
def _roots(draw: st.DrawFn) -> dict[str, Any]:
    schema = draw(_described(_objects(_SCHEMAS)))
    if draw(st.integers(0, 9)) == 0:
        schema["anyOf"] = [{"required": ["city"]}, {"required": ["day"]}]
    text = json.dumps(schema)
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "at": draw(_LEAVES)}}
    definitions = {"Pet": draw(_LEAVES), "Pet<a/b>": {"type": "string"}, "Node": node}
    return {**schema, "$defs": definitions} if "#/$defs/" in text else schema


@st.composite
def incoming_tools(draw: st.DrawFn) -> IncomingTool:
    server = draw(st.sampled_from([{}, {"server": "shop"}, {"server": "bank"}]))
    description = draw(st.just("") | _TEXTS)
    title = {"title": "Find"} if description else {}  # the importer of MCP takes it for a missing description
    return IncomingTool(
        draw(st.sampled_from(["find", "find item", "users.list", "Suche_öffnen", "x" * 70, "GET"])),
        description,
        draw(_roots()),
        draw(st.none() | _roots() | _SCHEMAS),
        annotations=draw(st.sampled_from([{}, {"readOnlyHint": True, **title}])),
        tags=draw(st.sampled_from([(), ("a", "b")])),
        source=server,
    )


def library_of(kind: str, tools: Sequence[IncomingTool]) -> ToolLibrary:
    return ToolLibrary.from_json({"nodes": list(take_in(kind, Incoming(tools, "source")).nodes)})


def read_back(kind: str, exported: ExportedTools, folder: pytest.TempPathFactory) -> Intake:
    path = folder.getbasetemp() / "exported.json"
    path.write_text(json.dumps(exported.document), encoding="utf-8")
    importer = importer_named(kind)
    return take_in(kind, importer.read(str(path), importer.options()))


def differences(library: ToolLibrary, exported: ExportedTools, back: Intake) -> list[Any]:
    """Fields of tools that differ and that no loss names."""
    named = {(loss.tool, loss.field.partition(".")[0]) for loss in exported.losses}
    renamed = {loss.tool: loss.reason.split("'")[1] for loss in exported.losses if loss.field == "id"}
    nodes = {node["id"]: node for node in back.nodes}
    found: list[Any] = []
    for tool in library:
        before, after = tool.to_json(), nodes.get(renamed.get(tool.id, tool.id))
        if after is None:
            found.append((tool.id, "missing", sorted(nodes)))
            continue
        for field in FIELDS:
            values = [_with_sorted_names(node.get(field)) for node in (before, after)]
            if values[0] != values[1] and (tool.id, field) not in named:
                found.append((tool.id, field, *values))
    return found


def _with_sorted_names(value: Any) -> Any:
    """A schema whose list `required` is sorted: its order says nothing."""
    if not isinstance(value, dict) or not isinstance(value.get("required"), list):
        return value
    return {**value, "required": sorted(value["required"])}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(origin=st.sampled_from(["openai", "mcp"]), tools=st.lists(incoming_tools(), min_size=1, max_size=4))
def test_only_what_the_losses_name_differs_after_a_round_trip(
    kind: str, tmp_path_factory: pytest.TempPathFactory, origin: str, tools: list[IncomingTool]
) -> None:
    library = library_of(origin, tools)
    exported = tool_exporter(kind)(library)
    back = read_back(kind, exported, tmp_path_factory)
    assert not back.report.skipped
    assert len(back.nodes) == len(library)
    assert differences(library, exported, back) == []
