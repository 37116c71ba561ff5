"""A server of the SDK over HTTP that records each call in a file: `recorder.py FILE`.

The record is written before the call returns, so a client that ends in between does not know of it.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

RECORD = Path(sys.argv[1] if len(sys.argv) > 1 else os.devnull)  # doctests import it without arguments
SECONDS = 0.015  # before and after a record is written
server = MCPServer("recorder")


def append(line: str) -> None:
    """Append a line, as one write."""
    with RECORD.open("a") as file:
        file.write(f"{line}\n")


async def record(tool: str, key: str) -> None:
    """Record a call in the midst of it."""
    await asyncio.sleep(SECONDS)
    append(f"{tool} {key}")
    await asyncio.sleep(SECONDS)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look(key: str) -> str:
    """Only read."""
    await record("look", key)
    return f"seen {key}"


@server.tool(annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=True))
async def put(key: str, value: str) -> str:
    """Set a value."""
    await record("put", key)
    return f"{key} is {value}"


@server.tool()
async def add(key: str, value: str) -> dict[str, Any]:
    """Add a value, each time once more."""
    await record("add", key)
    return {"key": key, "was": value}


@server.tool()
async def end_in_a_write(key: str) -> str:
    """End the server without an answer."""
    await record("end", key)
    os._exit(3)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def end_in_a_read(key: str) -> str:
    """End the server without an answer."""
    await record("end", key)
    os._exit(3)


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
