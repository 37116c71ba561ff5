"""A server over standard streams without packages: it starts in 30 ms, one of the SDK in a second."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

READS = {"readOnlyHint": True}
"""The hints of a tool that only reads."""


class CallRefused(Exception):
    """A call fails in these words."""


def tool(
    name: str,
    description: str,
    hints: dict[str, bool] | None = None,
    /,
    **arguments: Any,
) -> dict[str, Any]:
    """A tool with required arguments; the schema of each is given by name."""
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": hints or {"readOnlyHint": False},
    }


def serve(name: str, tools: list[dict[str, Any]], call: Callable[[str, dict[str, Any]], Any]) -> None:
    """Answer until the input ends; `call` gives a result: an object, a text or a list of texts."""
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": "1"}}
    for line in sys.stdin:
        request = json.loads(line)
        result: dict[str, Any] = {"protocolVersion": "2025-06-18", **about}
        if request["method"] == "tools/list":
            result = {"tools": tools}
        elif request["method"] == "tools/call":
            try:
                value = call(request["params"]["name"], request["params"]["arguments"])
                texts = value if isinstance(value, list) else [value]
                texts = [text if isinstance(text, str) else json.dumps(text) for text in texts]
                result = {"structuredContent": value if isinstance(value, dict) else {"result": value}}
            except (CallRefused, TypeError, KeyError) as error:
                texts, result = [f"Error executing tool: {error}"], {"isError": True}
            except OSError:
                texts, result = [f"Error executing tool {request['params']['name']}"], {"isError": True}
            result["content"] = [{"type": "text", "text": text} for text in texts]
        if "id" in request:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
            sys.stdout.flush()
