"""Configuration files of editors and agents: which servers one names, and JSON with comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# A string, which stays, or a comment: `"a // b"`, "// to its end" and "/* a */"; not "/ a". What is not
# closed ends with the text, so that every character is looked at once.
_COMMENT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
# A string, or the comma in ", }" and ",]"; not the one in ", 1".
_LAST_COMMA = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|,(?=\s*[}\]])', re.DOTALL)


def parse_json(text: str) -> Any:
    """The value of JSON with comments and last commas, as VS Code reads it; None if it is none.

    >>> parse_json('{"command": "serve", /* the shop */ "args": ["http://host",], } // end')
    {'command': 'serve', 'args': ['http://host']}
    """
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def servers_of(value: Any) -> Mapping[str, Any] | None:
    """The servers of a configuration file by name, unchecked; None if it is none.

    VS Code's settings have them under `mcp`. A listing is never taken for a configuration, as its commands
    would be run. An entry with `tools` makes `servers` a listing; under `mcpServers` it selects tools.
    """
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("mcp"), dict) and not value.keys() & {"mcpServers", "servers", "tools", "result"}:
        others = [one for key, one in value.items() if key != "mcp"]
        has_listing = any(isinstance(one, dict) and "tools" in one for one in others)
        return None if has_listing else _servers(value["mcp"])
    return _servers(value)


def _servers(value: dict[str, Any]) -> Mapping[str, Any] | None:
    configured: Any = value.get("mcpServers")
    if isinstance(configured, dict) and "tools" not in value:
        return configured
    servers = value.get("servers")
    entries = list(servers.values()) if isinstance(servers, dict) else []
    has_servers = any(isinstance(one, dict) and ("command" in one or "url" in one) for one in entries)
    has_tools = any(isinstance(one, list) or (isinstance(one, dict) and "tools" in one) for one in entries)
    return servers if servers and has_servers and not has_tools else None
