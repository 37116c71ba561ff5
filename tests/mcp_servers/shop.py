"""A small server of the SDK: over standard streams, or with `http` or `sse` on a port of its own."""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("the shop", version="1.2", instructions="Ask before you buy.")


@server.tool(title="Find goods", annotations=ToolAnnotations(read_only_hint=True))
def find(words: str, most: int = 5) -> list[str]:
    """Find goods by words in their names."""
    return [f"{words} {number}" for number in range(most)]


@server.tool()
def buy(item: str, address: dict[str, Any]) -> str:
    """Order an item."""
    return f"{item} is on its way to {address}"


def main(transport: str) -> None:
    """Serve until the process is ended."""
    if transport == "stdio":
        server.run("stdio")
        return
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    path = "sse" if transport == "sse" else "mcp"
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    listener.listen()  # so that a request may follow at once
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{path}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "stdio")
