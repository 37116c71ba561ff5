"""Connections to real processes and addresses, most of which misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import answering, config_of, is_running, serving, written_to
from toolassay.mcp_client.connection import connect
from toolassay.mcp_client.link import ServerLimits
from toolassay.mcp_client.server_config import ServerConfig, ServerError, parse_address

pytest.importorskip("mcp", reason="mcp is not installed")

KEY = "sk-planted-0123456789"
BRIEF = ServerLimits(seconds=1.5)
"""For servers that never answer."""


@pytest.fixture(autouse=True)
def brief_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for servers that ignore SIGTERM."""
    monkeypatch.setattr("toolassay.mcp_client.server_process.GRACE", 0.2)


async def listed(config: ServerConfig, limits: ServerLimits | None = None) -> list[Any]:
    async with connect(config, limits or ServerLimits()) as connection:
        return await connection.list_tools()


async def failure(config: ServerConfig, limits: ServerLimits | None = None) -> str:
    with pytest.raises(ServerError) as error:
        await listed(config, limits)
    text = str(error.value)
    assert text.isprintable()
    assert len(text) < 600
    assert ". Fix: " in text
    return text


async def test_tools_are_listed_and_called_over_standard_streams() -> None:
    async with connect(config_of("shop")) as connection:
        tools = await connection.list_tools()
        result = await connection.call_tool("find", {"words": "tea", "most": 2}, seconds=30)
    assert [tool["name"] for tool in tools] == ["find", "buy"]
    assert tools[0]["inputSchema"]["required"] == ["words"]
    assert result["structuredContent"] == {"result": ["tea 0", "tea 1"]}
    assert connection.info.name == "the shop"
    assert connection.info.version == "1.2"
    assert connection.info.instructions == "Ask before you buy."


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_tools_are_listed_over_http(transport: str) -> None:
    with serving("shop", transport) as address:
        async with connect(parse_address(address, {})) as connection:
            tools = await connection.list_tools()
            result = await connection.call_tool(
                "buy", {"item": "tea", "address": {"city": "Bern"}}, seconds=30
            )
    assert [tool["name"] for tool in tools] == ["find", "buy"]
    assert "on its way" in result["content"][0]["text"]


async def test_odd_answers_reach_the_caller_unchanged() -> None:
    odd = {
        "tools": [{"name": "a", "inputSchema": []}, 7, {"description": None}],
        "_meta": 1,
        "nextCursor": None,
    }
    assert await listed(config_of("hostile", "answer", json.dumps(odd))) == odd["tools"]


async def test_the_environment_is_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TOOLASSAY_API_KEY", KEY)
    tools = await listed(config_of("hostile", "environment", SHOP="open"))
    environment = json.loads(tools[0]["description"])
    assert environment["SHOP"] == "open"
    assert "PATH" in environment
    allowed = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "SHOP", "TOOLASSAY_CHILD"}
    # Python and the C library add their own.
    assert set(environment) - allowed <= {
        "LC_CTYPE",
        "PWD",
        "SHLVL",
        "_",
        "OLDPWD",
        "__CF_USER_TEXT_ENCODING",
    }


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("hang", "did not answer initialize within 1.5 s"),
        ("die_later", "ended with exit status 4 ('ValueError: no shelf') before it answered tools/list"),
        ("flood_garbage", "sent more than 500 lines that are no MCP messages"),
        ("flood_notifications", "sent more than 500 messages that are no answer"),
        ("endless_line", "sent a message of more than 2 MiB"),
        ("many_messages", "sent more than 8 MiB"),
        ("repeat_cursor", "repeats a cursor"),
        ("endless_pages", "lists more than 40 pages"),
    ],
)
async def test_a_hostile_server_is_one_line(behaviour: str, reason: str) -> None:
    limits = ServerLimits(message_bytes=2 * 2**20, total_bytes=8 * 2**20, other_messages=500, pages=40)
    limits = replace(limits, seconds=BRIEF.seconds) if behaviour == "hang" else limits
    assert reason in await failure(config_of("hostile", behaviour), limits)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({}, "without a list of tools"),
        ({"tools": {"look": {}}}, "without a list of tools"),
        ({"tools": [], "nextCursor": 7}, "malformed cursor"),
        ([], "answered tools/list with the error 'the answer is not valid JSON-RPC'"),
    ],
)
async def test_an_answer_that_is_no_listing_is_one_line(result: Any, reason: str) -> None:
    assert reason in await failure(config_of("hostile", "answer", json.dumps(result)))


async def test_a_flood_on_stderr_stays_in_bounds_and_does_no_harm() -> None:
    config = config_of("hostile", "flood_stderr")  # of 64 MB
    await listed(config)  # imports what it needs
    tracemalloc.start()
    try:
        assert len(await listed(config)) == 1
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


async def test_a_server_that_dies_is_one_line_with_its_last_words_and_no_secret() -> None:
    config = config_of("hostile", "die", "--password", "hunter2", KEY, SHOP="planted value")
    text = await failure(config)
    assert (
        "ended with exit status 3 ('bad key --password *** *** at ***') before it answered initialize" in text
    )
    refused = await failure(config_of("hostile", "refuse", KEY))
    assert "answered initialize with the error 'no access for ***'" in refused


async def test_a_server_that_dies_before_its_child_does_not_wait_for_the_child() -> None:
    text = await failure(config_of("hostile", "die_with_a_child"), ServerLimits(seconds=600))
    assert "ended with exit status 4 ('ValueError: no shelf') before it answered tools/list" in text


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (ServerConfig(command="no-such-command"), "the command was not found"),
        (ServerConfig(command=__file__), "the command is not executable"),
        (ServerConfig(command=sys.executable, cwd="/no/such/folder"), "its working directory does not exist"),
        (ServerConfig(command="a\0b"), "the command cannot be started"),
    ],
)
async def test_a_command_that_cannot_be_started_is_one_line(config: ServerConfig, reason: str) -> None:
    with pytest.raises(ServerError, match=reason):
        await listed(config)


@pytest.mark.parametrize("end", ["serve", "flood_garbage", "die"])
async def test_a_server_is_ended_with_its_children(end: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    config = config_of("hostile", "children", str(pids), end)
    if end == "serve":
        assert len(await listed(config)) == 1
    else:
        await failure(config)
    started = {int(line) for line in pids.read_text().split()}
    assert len(started) == 4
    assert not [pid for pid in started if is_running(pid)]


async def test_a_cancelled_caller_leaves_no_process(tmp_path: Path) -> None:
    pids, pipe = tmp_path / "pids", tmp_path / "pipe"
    os.mkfifo(pipe)
    task = asyncio.create_task(listed(config_of("hostile", "children", str(pids), "hang", str(pipe))))
    assert await asyncio.to_thread(written_to, pipe) == "all run"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [pid for pid in map(int, pids.read_text().split()) if is_running(pid)]


# HTTP


async def test_headers_are_sent_and_not_repeated() -> None:
    headers = {"Authorization": f"Bearer {KEY}", "X-Shop": "blue-7"}
    with answering(401) as (address, requests):
        text = await failure(parse_address(f"{address}?key=red-9", headers))
    assert requests[0]["authorization"] == f"Bearer {KEY}"
    assert requests[0]["x-shop"] == "blue-7"
    assert requests[0]["accept-encoding"] == "identity"
    assert "answered HTTP 401 Unauthorized" in text
    assert "--header" in text
    assert not any(secret in text for secret in (KEY, "blue-7", "red-9"))


def page(kind: str, body: bytes = b"<html>", status: int = 200, **headers: str) -> Callable[[], Any]:
    return lambda: answering(status, body, Content_Type=kind, **headers)


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (page("text/html", status=404), "answered HTTP 404 Not Found"),
        (page("application/json", b'{"detail": "no"}', status=500), "answered HTTP 500"),
        (lambda: answering(202), "with the error 'server answered a request with 202 Accepted'"),
        (page("text/html"), "answered initialize with text/html, not with MCP"),
        (page("application/json", b"[1,"), "answered initialize with something else than MCP"),
        (
            page(
                "application/json",
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no \\u001b[31mkey"}}',
                400,
            ),
            "answered initialize with the error 'no key'",
        ),
        (page("application/json", b"x" * 2**21), "sent a message of more than 1 MiB"),
        (page("text/event-stream", b"data: " + b"x" * 2**21), "exceeded the 1048576 byte limit"),
        (page("text/event-stream", b": waiting\n" * 2**19), "sent more than 4 MiB"),
        (page("text/event-stream", b"id: 1\nretry: 0\ndata:\n\n"), "ended its event stream 30 times"),
        (page("application/json", b"\x1f\x8b", Content_Encoding="gzip"), "sends compressed responses"),
    ],
)
async def test_an_address_without_mcp_is_one_line(server: Callable[[], Any], reason: str) -> None:
    limits = ServerLimits(message_bytes=2**20, total_bytes=4 * 2**20)
    with server() as (address, _):
        assert reason in await failure(parse_address(address, {}), limits)


async def test_a_redirect_elsewhere_gets_no_header() -> None:
    with (
        answering(200) as (elsewhere, stolen),
        answering(307, Location=elsewhere) as (address, requests),
    ):
        text = await failure(parse_address(address, {"Authorization": f"Bearer {KEY}"}))
    assert requests
    assert not stolen
    assert "not followed" in text


async def test_a_session_that_cannot_be_ended_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolassay.mcp_client.transports._DELETE_SECONDS", 0.2)
    deleted = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
                request = json.loads(await reader.readexactly(int(length[1])) if length else "{}")
                result = {"protocolVersion": "2025-06-18", "capabilities": {}, "tools": []}
                body = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result})
                if head.startswith("DELETE"):
                    deleted.set()
                    return  # without an answer, and without the end of the connection
                status = (
                    "405 No" if head.startswith("GET") else "200 OK" if "id" in request else "404 Not Found"
                )
                body = body if status == "200 OK" else ""
                kind = (
                    "application/json" if body else "text/html"
                )  # nothing depends on that of a notification
                headers = f"Content-Type: {kind}\r\nMcp-Session-Id: 7"
                writer.write(
                    f"HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
                )

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with asyncio.timeout(30):
        assert await listed(parse_address(f"http://127.0.0.1:{port}/mcp", {})) == []
    assert deleted.is_set()
    listener.close()


async def test_an_address_that_never_answers_is_one_line() -> None:
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    for path in ("mcp", "sse"):
        text = await failure(
            parse_address(f"http://127.0.0.1:{port}/{path}", {}), replace(BRIEF, seconds=0.5)
        )
        assert "did not answer" in text
        assert "within 0.5 s" in text
    listener.close()
