"""A server whose tool `bad` misbehaves as the first argument says; its tool `good` works.

It needs no package, so it starts at once. A second argument names a file to which it appends its process
number when it starts and a word for each call of `bad`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""  # doctests import it without arguments
LOG = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(os.devnull)
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
READS = {"readOnlyHint": True}
OBJECT = {"type": "object"}


def send(message: dict[str, Any]) -> None:
    """Write a message as a line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value: str, **more: Any) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": value}], **more}


def log(word: object) -> None:
    """Append a line to the log; returns after it is written."""
    with LOG.open("a") as file:
        file.write(f"{word}\n")


def bad(arguments: dict[str, Any]) -> Any:
    """The result of `bad`, or an object with the key `error`."""
    log("bad")
    if MODE == "hang":
        time.sleep(3600)
    elif MODE == "crash":
        sys.stderr.write("Segmentation fault\x1b[31m\n")
        sys.stderr.flush()
        os._exit(3)
    elif MODE == "huge":
        for _ in range(64):
            sys.stdout.write("x" * 2**20)
    elif MODE == "large":
        return text("é" * 60_000)
    elif MODE == "wrong_schema":
        return text("{}", structuredContent={"id": "seven"})
    elif MODE == "no_result":
        return {"answer": 7}
    elif MODE == "flood_notifications":
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})
    elif MODE == "memory":
        block = bytearray(300 * 2**20)
        block[:: 2**12] = b"x" * (len(block) // 2**12)
        time.sleep(3600)
    elif MODE == "is_error":
        return text(f"\x1b[31mdenied\x07\nfor {os.environ.get('PASSWORD')}\n" + "x" * 1000, isError=True)
    elif MODE == "rpc_error":
        return {"error": {"code": -32000, "message": f"no\nrights\x07 for {os.environ.get('PASSWORD')}"}}
    elif MODE == "json_error":
        return text('{"error": "no such note", "id": 7}')
    elif MODE == "wrapped_text_error":
        return text("Error: no such note", structuredContent={"result": "Error: no such note"})
    return text("done")


def main() -> None:
    """Answer until the input ends."""
    log(os.getpid())
    tools: list[dict[str, Any]] = [
        {"name": name, "inputSchema": OBJECT, "annotations": READS} for name in ("good", "bad")
    ]
    if MODE in ("wrong_schema", "json_error"):
        tools[1]["outputSchema"] = SCHEMA
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request.get("method"), request.get("id")
        if method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "1"}}
            send({"id": number, "result": {"protocolVersion": "2025-06-18", **about}})
        elif method == "tools/list" and MODE == "no_list":
            send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
        elif method == "tools/list":
            send({"id": number, "result": {"tools": tools}})
        elif method == "tools/call" and request["params"]["name"] == "good":
            send({"id": number, "result": text("good")})
        elif method == "tools/call":
            result = bad(request["params"].get("arguments") or {})
            is_error = isinstance(result, dict) and "error" in result
            send({"id": number, **(result if is_error else {"result": result})})


if __name__ == "__main__":
    main()
