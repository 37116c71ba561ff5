"""A server over standard streams without packages: it starts in 30 ms, one of the SDK in a second."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


class CallRefused(Exception):
    """A call fails in these words."""


def tool(name: str, description: str, *, reads: bool = False, **arguments: Any) -> dict[str, Any]:
    """A tool with required arguments; the schema of each is given by name."""
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": {"readOnlyHint": reads},
    }


def serve(name: str, tools: list[dict[str, Any]], call: Callable[[str, dict[str, Any]], Any]) -> None:
    """Answer until the input ends; `call` gives the result of a tool, an object or a text."""
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": "1"}}
    for line in sys.stdin:
        request = json.loads(line)
        result: dict[str, Any] = {"protocolVersion": "2025-06-18", **about}
        if request["method"] == "tools/list":
            result = {"tools": tools}
        elif request["method"] == "tools/call":
            try:
                value = call(request["params"]["name"], request["params"]["arguments"])
                text = value if isinstance(value, str) else json.dumps(value)
                result = {"structuredContent": {"result": value} if value is text else value}
            except (CallRefused, TypeError, KeyError) as error:
                text, result = f"Error executing tool: {error}", {"isError": True}
            result["content"] = [{"type": "text", "text": text}]
        if "id" in request:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
            sys.stdout.flush()
