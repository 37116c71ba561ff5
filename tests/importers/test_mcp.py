"""The importer of MCP servers: saved listings, live servers, and configuration files."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import answering, command_of, is_running, serving, written_to
from toolassay.errors import UsageError
from toolassay.importers.importer import Incoming, IncomingTool
from toolassay.importers.intake import take_in
from toolassay.importers.mcp import IMPORTER, McpOptions

KEY = "sk-planted-0123456789"
LOOK = {
    "name": "look",
    "description": "Look at goods.",
    "inputSchema": {"type": "object", "properties": {"shelf": {"type": "string"}}, "required": ["shelf"]},
}


def read(source: str | Path, **options: Any) -> Incoming:
    return IMPORTER.read(str(source), McpOptions(**options))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return tmp_path / "listing.json"


def listing(saved: Path, value: Any) -> Incoming:
    saved.write_text(json.dumps(value))
    return read(saved)


def only(saved: Path, **parts: Any) -> IncomingTool:
    """A tool with these parts, imported."""
    (tool,) = listing(saved, [{**LOOK, **parts}]).tools
    return tool


def names(incoming: Incoming) -> list[tuple[str | None, str]]:
    return [(tool.source.get("server"), tool.name) for tool in incoming.tools]


@pytest.mark.parametrize(
    ("value", "servers"),
    [
        ({"tools": [LOOK]}, [None]),
        (LOOK, [None]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [LOOK]}}, [None]),
        ({"serverInfo": {"name": "shop"}, "tools": [LOOK]}, ["shop"]),
        ({"shop": {"tools": [LOOK]}, "bank": [LOOK]}, ["shop", "bank"]),
        ([{"name": "shop", "tools": [LOOK]}, {"name": "bank", "tools": [LOOK]}], ["shop", "bank"]),
        ([{"name": "Shop", "tools": {"shop": {"server_name": "x", "tools": [LOOK]}}}], ["shop"]),
    ],
)
def test_the_forms_of_a_saved_listing(saved: Path, value: Any, servers: list[str | None]) -> None:
    incoming = listing(saved, value)
    assert names(incoming) == [(server, "look") for server in servers]
    assert not incoming.skipped
    assert incoming.source == str(saved)


def test_what_of_a_tool_is_kept(saved: Path) -> None:
    output = {"type": "object", "properties": {"found": {"type": "integer"}}}
    hints = {"readOnlyHint": True, "x": 1, "idempotentHint": None}
    tool = only(saved, title="Look!", outputSchema=output, annotations=hints)
    assert (tool.name, tool.description) == ("look", "Look at goods.")
    assert tool.input_schema == LOOK["inputSchema"]
    assert tool.output_schema == output
    assert tool.annotations == {"readOnlyHint": True, "x": 1, "title": "Look!"}
    assert not tool.losses
    assert not tool.warnings


def test_what_of_a_tool_is_lost_is_named(saved: Path) -> None:
    tool = only(saved, execution={}, _meta={}, icons=[], price=3, outputSchema={"type": "array"})
    assert [loss.field for loss in tool.losses] == ["execution", "_meta", "icons", "price", "outputSchema"]
    assert tool.output_schema is None


def test_an_empty_list_is_an_empty_object_as_php_writes_it(saved: Path) -> None:
    tool = only(saved, annotations=[], inputSchema=[])
    assert (tool.annotations, tool.input_schema["properties"]) == ({}, {})


def test_a_schema_may_be_a_text_and_one_that_is_no_object_is_named(saved: Path) -> None:
    schema = {"type": "object", "properties": {"a": {}}}
    assert only(saved, inputSchema=json.dumps(schema)).input_schema == schema
    tool = only(saved, inputSchema=True)
    assert tool.input_schema["properties"] == {} and [one.field for one in tool.warnings] == ["inputSchema"]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    ("tool", "where", "reason"),
    [
        ("look", "tool 2", "`object`"),
        ({}, "tool 2", "`name`"),
        ({"name": "x" * 2000}, "tool " + "x" * 79 + "…", "name"),
        ({"name": "b", "inputSchema": deep(300)}, "tool b", "nested more than 200 levels deep"),
    ],
)
def test_a_malformed_tool_is_skipped_and_the_others_stay(
    saved: Path, tool: Any, where: str, reason: str
) -> None:
    incoming = listing(saved, {"server_name": "my shop", "tools": [LOOK, tool, {**LOOK, "name": "touch"}]})
    assert names(incoming) == [("my_shop", "look"), ("my_shop", "touch")]
    (skipped,) = incoming.skipped
    assert skipped.where == f"{where} of my_shop"
    assert reason in skipped.reason


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": {"b": {"c": 1}}},
        {"error": {"code": 1}},
        {"tools": [{}]},
    ],
)
def test_a_file_without_tools_is_refused(saved: Path, value: Any) -> None:
    with pytest.raises(UsageError, match=r"has no MCP tools.*Fix: give \{"):
        listing(saved, value)


FUNCTION = {"name": "look", "parameters": {"type": "object"}}
CLAUDE = {"name": "look", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"openapi": "3.1.0", "paths": {}, "servers": [{"url": "https://host"}]}, "openapi"),
        ([{"type": "function", "function": FUNCTION}], "openai"),
        ({"model": "m", "tools": [{"function": FUNCTION}]}, "openai"),
        ({"functions": [FUNCTION]}, "openai"),
        ([CLAUDE], "anthropic"),
    ],
)
def test_tools_in_another_form_name_the_command_that_reads_them(saved: Path, value: Any, kind: str) -> None:
    with pytest.raises(UsageError, match=rf"'{kind}'.*Fix: use `toolassay import {kind} {saved}`"):
        listing(saved, value)


def test_a_listing_may_have_comments_and_last_commas(saved: Path) -> None:
    text = json.dumps({"tools": [{**LOOK, "description": 'A "//" and /* b */, ] at https://host'}]})
    saved.write_text("// Of the shop\n" + text[:-1] + "/* no\nmore, */ , // end\n}")
    (tool,) = read(saved).tools
    assert tool.description == 'A "//" and /* b */, ] at https://host'
    saved.chmod(0o755)
    assert read(saved).tools == [tool]


def test_a_file_that_is_no_json_is_refused(saved: Path) -> None:
    saved.write_text("import os\nprint('{')\n{")
    with pytest.raises(UsageError, match=r"write the whole command, e\.g\. 'python listing\.json'"):
        read(saved)
    saved.write_text("[1,\n2")
    with pytest.raises(UsageError, match=r":2: is not valid JSON.*e\.g\. 'python listing\.json'"):
        read(saved)
    with pytest.raises(UsageError, match="is a folder"):
        read(saved.parent)


def test_commands_in_a_listing_are_never_run(saved: Path) -> None:
    trace = saved.parent / "was-run"
    command = {"command": sys.executable, "args": ["-c", f"open({str(trace)!r}, 'w')"]}
    for value in (
        [{"name": "shop", "config": {"mcpServers": {"shop": command}}, "tools": [LOOK]}],
        {"servers": {"shop": {**command, "tools": [LOOK]}, "bank": command}},
        {"mcpServers": {"shop": command}, "tools": [LOOK]},
    ):
        assert "look" in [name for _, name in names(listing(saved, value))]
    assert not trace.exists()


def test_a_saved_listing_needs_no_sdk(saved: Path) -> None:
    saved.write_text(json.dumps([LOOK]))
    program = (
        "import sys; sys.modules.update(mcp=None, mcp_types=None, httpx2=None, anyio=None)\n"
        "from toolassay.importers.mcp import IMPORTER, McpOptions\n"
        f"print(IMPORTER.read({str(saved)!r}, McpOptions()).tools[0].name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "look\n"


def test_the_published_listings_of_seventy_servers(reference: Path) -> None:
    path = reference / "mcp" / "livemcpbench_tools.json"
    if not path.exists():
        pytest.skip("the listings are not there")
    incoming = read(path)
    tools = incoming.tools
    assert len(tools) == 527
    assert sum(tool.output_schema is not None for tool in tools) == 104
    assert sum(not tool.description for tool in tools) == 19
    servers: dict[str, set[str]] = {}
    for tool in tools:
        servers.setdefault(tool.name, set()).add(tool.source["server"])
    assert sum(len(of_name) > 1 for of_name in servers.values()) == 13
    assert len({tool.source["server"] for tool in tools}) == 70
    assert not incoming.skipped
    assert not any(tool.losses for tool in tools)


# Live servers

live = pytest.mark.skipif(
    not pytest.importorskip("importlib.util").find_spec("mcp"), reason="mcp is not installed"
)


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    """The address of a server."""
    with serving("shop", "http") as address:
        yield address


def assert_shop(incoming: Incoming) -> None:
    find, buy = incoming.tools
    assert (find.name, find.description) == ("find", "Find goods by words in their names.")
    assert find.annotations == {"readOnlyHint": True, "title": "Find goods"}
    assert find.input_schema["required"] == ["words"]
    assert find.output_schema is not None
    assert find.source == {"server": "the_shop"}
    assert buy.input_schema["properties"]["address"]["type"] == "object"
    assert not incoming.notes
    assert incoming.service.endswith(": Ask before you buy.")
    assert not incoming.skipped


@live
async def test_a_command_line_also_in_a_notebook() -> None:
    incoming = read(command_of("shop"))  # while an event loop runs in this thread
    assert_shop(incoming)
    assert incoming.source == f"{Path(sys.executable).name} shop.py"


@live
def test_a_program_without_arguments_is_a_command_line(tmp_path: Path) -> None:
    program = tmp_path / "shop-server"
    program.write_text(f"#!/bin/sh\nexec {command_of('shop')}\n")
    with pytest.raises(UsageError, match="write the whole command"):
        read(program)
    program.chmod(0o755)
    incoming = read(program)
    assert_shop(incoming)
    assert incoming.source == "shop-server"
    program.write_text(json.dumps([LOOK]))
    assert names(read(program)) == [(None, "look")]


@live
def test_an_address_with_headers(shop: str) -> None:
    incoming = read(shop, header=[f"Authorization: Bearer {KEY}"])
    assert_shop(incoming)
    assert KEY in incoming.secrets
    assert KEY not in incoming.source
    assert incoming.source.startswith("http://127.0.0.1:")


@live
def test_a_configuration_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shop: str) -> None:
    monkeypatch.setenv("SHOP_KEY", KEY)
    path = tmp_path / "mcp.json"
    hostile = {"command": sys.executable, "args": command_of("hostile").split()[1:]}
    with answering(401) as (locked, requests):
        servers = {
            "main shop": {"command": sys.executable, "args": command_of("shop").split()[1:]},
            "branch": {"type": "http", "url": shop, "headers": {"X-Key": "${SHOP_KEY}"}},
            "locked": {"url": locked, "headers": {"Authorization": f"Bearer {KEY}"}},
            "dead": {**hostile, "args": [*hostile["args"], "die", KEY], "env": {"SHOP": "planted value"}},
            "unset": {"command": "serve", "args": ["${NOT_SET_ANYWHERE}"]},
            "off": {"command": "serve", "disabled": True},
        }
        path.write_text(json.dumps({"mcpServers": servers}))
        incoming = read(path)
    assert names(incoming) == [
        *(("main_shop", name) for name in ("find", "buy")),
        *(("branch", name) for name in ("find", "buy")),
    ]
    skipped = {one.where: one.reason for one in incoming.skipped}
    assert skipped.keys() == {"off", "unset", "locked", "dead"}
    assert "NOT_SET_ANYWHERE" in skipped["unset"] and "HTTP 401" in skipped["locked"]
    assert "'bad key *** at ***'" in skipped["dead"]
    assert requests
    assert incoming.source == str(path)
    assert {KEY, "planted value"} <= set(incoming.secrets)
    assert KEY not in str(dataclasses.replace(incoming, secrets=()))


@live
def test_values_of_the_environment_are_in_no_description_whatever_they_are() -> None:
    env = {"T_DB_PASS": "swordfish", "T_PASSPHRASE": "correcthorse", "T_PIN": "48213"}
    words = " ".join(f"{name}={value}" for name, value in env.items())
    intake = take_in("mcp", read(f"{words} {command_of('hostile', 'environment')}"))
    text = json.dumps([*intake.nodes, intake.report.to_json()])
    assert "T_DB_PASS" in text
    assert not any(value in text for value in env.values())


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("serve", {"header": ["A: b"]}, "--header is for an http"),
        ("http://host/mcp", {"header": ["hunter2"]}, "--header number 1 has no colon"),
        ("http://host/mcp", {"header": ["a b: hunter2"]}, "has a malformed header"),
        ("serve", {"timeout": float("nan")}, "--timeout is out of range"),
        ("", {}, "SOURCE is empty"),
        ("A=1", {}, "has no command"),
        ("ftp://me:hunter2@x", {}, "an address with ftp:// is no MCP server"),
        ("no-such-command --x", {}, "no-such-command --x: the command was not found"),
    ],
)
def test_what_cannot_be_read_at_all_is_one_line(source: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        read(source, **options)
    assert "hunter2" not in str(error.value)
    assert "Fix: " in str(error.value)


@live
@pytest.mark.parametrize(
    ("number", "times"),
    [
        (signal.SIGINT, 2),
        (signal.SIGTERM, 1),
        pytest.param(signal.SIGINT, 1, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 2, marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_ends_the_server_and_its_children(number: int, times: int, tmp_path: Path) -> None:
    pids, pipe = tmp_path / "pids", tmp_path / "pipe"
    os.mkfifo(pipe)
    program = (
        "import sys; from toolassay.importers.mcp import IMPORTER, McpOptions\n"
        "import toolassay.mcp_client.server_process as process\n"
        f"process.GRACE = {0.3 if times == 1 else 60}\n"  # the second interrupt ends this waiting
        "IMPORTER.read(sys.argv[1], McpOptions())"
    )
    command = command_of("hostile", "children", str(pids), "hang", str(pipe))
    with subprocess.Popen(
        [sys.executable, "-c", program, command], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert written_to(pipe) == "all run"
            process.send_signal(number)
            if times == 2:
                assert written_to(pipe) == "asked to end"
                process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in errors
    assert "returncode" not in errors  # warnings of asyncio
    assert not [pid for pid in map(int, pids.read_text().split()) if is_running(pid)]
