"""From what an importer read to the tool file and the report."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolassay.importers.importer import Incoming, IncomingTool, Note, Skipped, ToolNote
from toolassay.importers.intake import Intake, take_in, unique_ids
from toolassay.tools.library import ToolLibrary


def taken(*tools: IncomingTool, **more: Any) -> Intake:
    return take_in("test", Incoming(tools, "a source", **more))


def named(name: str, server: str = "", *further: str) -> IncomingTool:
    return IncomingTool(name, "Does it.", source={"server": server}, further_names=further)


def test_a_node_has_the_published_keys_and_the_new_ones() -> None:
    schema = {
        "properties": {"day": {"type": "string", "format": "date", "description": "When."}},
        "required": ["day"],
    }
    tool = IncomingTool(
        *("book a room", "Books a room.", schema, {"type": "object"}),
        annotations={"destructiveHint": False},
        tags=["rooms", "rooms"],
        source={"server": "hotel", "method": ""},
    )  # fmt: skip
    assert taken(tool).nodes == [
        {
            "id": "book_a_room",
            "desc": "Books a room.",
            "parameters": [{"name": "day", "type": "date", "desc": "When."}],
            "input_schema": {**schema, "type": "object"},
            "output_schema": {"type": "object"},
            "annotations": {"destructiveHint": False},
            "tags": ["rooms"],
            "source": {"kind": "test", "name": "book a room", "server": "hotel"},
        }
    ]


def test_the_library_reads_what_was_written() -> None:
    nodes = taken(IncomingTool("a", "A.", {"properties": {"n": {"type": ["integer", "null"]}}})).nodes
    library = ToolLibrary.from_json({"nodes": json.loads(json.dumps(nodes))})
    assert library.to_json() == {"nodes": nodes}
    (parameter,) = library["a"].parameters
    assert (parameter.type, parameter.required) == ("integer | null", False)


def test_tools_of_one_name_get_the_name_of_their_server() -> None:
    tools = [named("search", "web"), named("read", "web"), named("search", "files")]
    assert unique_ids(tools) == ["web.search", "read", "files.search"]
    assert unique_ids(tools[::-1]) == ["files.search", "read", "web.search"]


@given(st.lists(st.tuples(st.text(max_size=80), st.sampled_from(["", "a", "服务"])), max_size=12))
def test_ids_are_always_valid_and_unique(names: list[tuple[str, str]]) -> None:
    ids = unique_ids([named(name, server) for name, server in names])
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", one) for one in ids)
    assert len({one.casefold() for one in ids}) == len(ids)


def test_losses_and_warnings_name_the_tool_by_its_id() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "Pet"}, "b": {"type": "int"}}}
    tool = IncomingTool("a b", "", schema, losses=[Note("icons", "dropped")], warnings=[Note("x", "odd")])
    report = taken(
        tool, notes=[Note("webhooks", "dropped")], skipped=[Skipped("line 3", "has no name")]
    ).report
    assert report.losses == [
        ToolNote("", "webhooks", "dropped"),
        ToolNote("a_b", "icons", "dropped"),
        ToolNote("a_b", "input_schema.properties.a.type", "no type 'Pet'"),
    ]
    assert report.warnings == [
        ToolNote("a_b", "x", "odd"),
        ToolNote("a_b", "input_schema.properties.b.type", "'int' is read as 'integer'"),
        ToolNote("a_b", "description", "is missing: models and the writer have only the name"),
    ]
    assert report.to_json()["skipped"] == [{"where": "line 3", "reason": "has no name"}]


def test_a_tool_whose_arguments_are_no_object_is_skipped() -> None:
    report = taken(IncomingTool("a", "A.", {"type": "array"}), named("b")).report
    assert report.n_tools == 1
    assert report.skipped == [Skipped("a", "its input schema does not describe an object")]


def test_secrets_are_removed_from_every_text() -> None:
    secret = "s3cr3t-value"
    tool = IncomingTool(
        f"get {secret}",
        f"Uses {secret}.",
        {"properties": {secret: {"default": secret, "enum": [secret]}}},
        annotations={"title": secret},
        source={"server": secret, "url": f"https://x/{secret}"},
        losses=[Note(secret, secret)],
    )
    intake = taken(
        tool, secrets=[secret, "x"], skipped=[Skipped(secret, f"died: {secret}")], notes=[Note("", secret)]
    )
    assert secret not in json.dumps([*intake.nodes, intake.report.to_json()])
    assert "which was removed" in intake.report.warnings[0].reason


def test_what_json_cannot_hold_is_replaced() -> None:
    schema = {"properties": {"a\ud800": {"default": float("nan"), "title": "\ud83d\ude00"}}}
    intake = taken(IncomingTool("pay\udc00", "Pays \ud83d.", schema, losses=[Note("x\ud800", "odd")]))
    text = json.dumps([*intake.nodes, intake.report.to_json()], ensure_ascii=False, allow_nan=False)
    assert "\ud800" not in text.encode().decode()
    (node,) = intake.nodes
    assert node["desc"] == "Pays \ufffd."
    assert node["input_schema"]["properties"] == {"a\ufffd": {"default": None, "title": "😀"}}
    assert any("hidden characters: U+D83D" in finding.reason for finding in intake.report.warnings)
