"""A server over HTTP that forgets its sessions, as after a restart, and refuses requests in any form."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("add", "refuse")]


@dataclass
class Forgetful:
    """What the server does, and what it did.

    Attributes:
        status: Of a request in a session that it does not know.
        form: Of the body beside it: "null" or "own" is an error of JSON-RPC with such an id, "json" and
            "text" are others, "" is none.
        calls: How many calls a session lasts.
        url: Its address.
        sessions: The calls that each session still takes.
        added: The arguments of the calls of `add` that took effect.
    """

    status: int
    form: str
    calls: int = 2
    url: str = ""
    sessions: dict[str, int] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)

    def body(self, number: Any) -> tuple[str, bytes]:
        """The type and the body of a refusal of the request with this number."""
        error = {"code": -32000, "message": "Bad Request"}
        bodies: dict[str, Any] = {
            "null": {"jsonrpc": "2.0", "id": None, "error": error},
            "own": {"jsonrpc": "2.0", "id": number, "error": error},
            "json": {"detail": "unknown"},
        }
        if self.form in bodies:
            return "application/json", json.dumps(bodies[self.form]).encode()
        return "text/plain", self.form.encode()


@contextmanager
def forgetful(status: int, form: str, calls: int = 2) -> Iterator[Forgetful]:
    """Serve until the block ends."""
    state = Forgetful(status, form, calls)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def give(self, status: int, body: bytes = b"", kind: str = "application/json", **more: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **more}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.give(405)

        do_DELETE = do_GET

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            method, number = message.get("method"), message.get("id")
            session = self.headers.get("Mcp-Session-Id", "")
            if method == "initialize":
                session = f"session-{len(state.sessions)}"
                state.sessions[session] = state.calls
            elif session not in state.sessions or (method == "tools/call" and not state.sessions[session]):
                kind, body = state.body(number)
                self.give(state.status, body, kind)
                return
            if number is None:
                self.give(202)
                return
            answer: dict[str, Any] = {"tools": TOOLS}
            if method == "initialize":
                about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "forgetful", "version": "1"}}
                answer = {"protocolVersion": "2025-06-18", **about}
            elif method == "tools/call":
                state.sessions[session] -= 1
                answer = {"content": [{"type": "text", "text": "done"}]}
                if message["params"]["name"] == "refuse":
                    error = {"code": -32602, "message": "no such card"}
                    self.give(400, json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode())
                    return
                state.added.append(message["params"]["arguments"])
            reply = json.dumps({"jsonrpc": "2.0", "id": number, "result": answer}).encode()
            self.give(200, reply, Mcp_Session_Id=session)

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        try:
            yield state
        finally:
            server.shutdown()
