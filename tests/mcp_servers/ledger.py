"""A server without packages that keeps a ledger in its working directory: `ledger.py RECORD`.

A call of `add` appends a line to `ledger.txt`. Each call appends one to RECORD, which is in no copy; it also
has the number of the process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

RECORD = Path(sys.argv[1] if len(sys.argv) > 1 else os.devnull)  # doctests import it without arguments
LEDGER = Path("ledger.txt")


def record(line: str) -> None:
    """Append a line outside of the copy."""
    with RECORD.open("a") as file:
        file.write(f"{line}\n")


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of a call."""
    record(f"{name} {arguments.get('key')}")
    time.sleep(0.01)
    if name == "add":
        with LEDGER.open("a") as file:
            file.write(f"{arguments['key']} {arguments['value']}\n")
    lines = LEDGER.read_text().splitlines()
    return {"key": arguments.get("key"), "lines": len(lines)}


def main() -> None:
    """Answer until the input ends."""
    record(f"pid {os.getpid()}")
    tools = [
        {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name == "look"}}
        for name in ("look", "add")
    ]
    for line in sys.stdin:
        request = json.loads(line)
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "ledger", "version": "1"}}
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-06-18", **about},
            "tools/list": {"tools": tools},
        }
        if request.get("method") == "tools/call":
            value = called(request["params"]["name"], request["params"]["arguments"])
            results["tools/call"] = {
                "content": [{"type": "text", "text": json.dumps(value)}],
                "structuredContent": value,
            }
        if "id" in request:
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": results[request["method"]]}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
