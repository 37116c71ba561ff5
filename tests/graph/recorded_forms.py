"""One recording in many forms: a search for a film, then its details by the id that was found."""

from __future__ import annotations

import json
from typing import Any

ASK = "Find heat."
FOUND, FILM = {"ids": [60312]}, {"title": "Heat"}
CALLS = (("search", {"query": "heat"}, FOUND), ("details", {"id": 60312}, FILM))

Lines = list[Any]


def _text(value: Any) -> str:
    return json.dumps(value)


def _chat(call: Any, result: Any) -> Lines:
    """A chat of messages, of which `call` and `result` make those of a call."""
    messages: Lines = [{"role": "user", "content": ASK}]
    for number, (name, arguments, value) in enumerate(CALLS):
        messages += [call(f"c{number}", name, arguments), result(f"c{number}", name, value)]
    return messages


OPENAI = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": _text(given)}}],
    },
    lambda id, name, value: {"role": "tool", "tool_call_id": id, "content": _text(value)},
)
ANTHROPIC = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": id, "name": name, "input": given},
        ],
    },
    lambda id, name, value: {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": _text(value)}]}
        ],
    },
)
TAU2 = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "tool_calls": [{"id": id, "name": name, "arguments": given}],
    },
    lambda id, name, value: {"role": "tool", "id": id, "content": _text(value), "error": False},
)
INSPECT = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": id, "function": name, "arguments": given, "type": "function"}],
    },
    lambda id, name, value: {
        "role": "tool",
        "tool_call_id": id,
        "function": name,
        "content": [{"type": "text", "text": _text(value)}],
    },
)
LANGCHAIN = [
    {"type": "human", "data": {"type": "human", "content": ASK}},
    *_chat(
        lambda id, name, given: {
            "type": "ai",
            "data": {
                "type": "ai",
                "id": "run-1",
                "content": "",
                "tool_calls": [{"name": name, "args": given, "id": id, "type": "tool_call"}],
                "additional_kwargs": {
                    "tool_calls": [{"id": id, "function": {"name": name, "arguments": _text(given)}}]
                },
            },
        },
        lambda id, name, value: {
            "type": "tool",
            "data": {
                "type": "tool",
                "content": _text(value),
                "tool_call_id": id,
                "name": name,
                "status": "success",
            },
        },
    )[1:],
]
SHAREGPT = [
    {"from": "human", "value": ASK},
    *_chat(
        lambda id, name, given: {"from": "function_call", "value": _text({"name": name, "arguments": given})},
        lambda id, name, value: {"from": "observation", "value": _text(value)},
    )[1:],
]
MCP = _chat(
    lambda id, name, given: {
        "jsonrpc": "2.0",
        "id": int(id[1:]) + 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": given},
    },
    lambda id, name, value: {
        "jsonrpc": "2.0",
        "id": int(id[1:]) + 1,
        "result": {"content": [{"type": "text", "text": _text(value)}], "isError": False},
    },
)


DEFINITION = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}
_LISTED = {"name": "details", "description": "A film.", "parameters": {}}

FORMS: dict[str, Lines] = {
    "openai": [
        {"messages": OPENAI, "tools": [DEFINITION, _LISTED], "tool_choice": {"function": {"name": "clock"}}}
    ],
    "anthropic": [{"messages": ANTHROPIC, "tools": [{"name": "search", "input_schema": {"type": "object"}}]}],
    "tau2": [
        {
            "tasks": [
                {"evaluation_criteria": {"actions": [{"name": "details", "arguments": {"id": 60312}}]}}
            ],
            "simulations": [
                {
                    "reward_info": {"actions": [{"name": "details", "arguments": {"id": 60312}}]},
                    "messages": TAU2,
                }
            ],
        }
    ],
    "inspect": [
        {
            "eval": {"task": "films", "model": "m"},
            "samples": [
                {
                    "id": 1,
                    "input": "",
                    "messages": INSPECT,
                    "events": [
                        {
                            "event": "model",
                            "input": INSPECT[:1],
                            "tools": [_LISTED],
                            "output": {"choices": []},
                        },
                        {
                            "event": "tool",
                            "type": "function",
                            "id": "c0",
                            "function": "search",
                            "arguments": {"query": "heat"},
                            "result": _text(FOUND),
                        },
                        {"event": "model", "input": INSPECT[:3]},
                    ],
                }
            ],
        }
    ],
    "langchain": [LANGCHAIN],
    "sharegpt": [{"conversations": SHAREGPT, "tools": _text([_LISTED])}],
    "mcp": [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "c"}}},
        {"jsonrpc": "2.0", "id": 0, "result": {"tools": [{"name": "search", "inputSchema": {}}]}},
        *MCP,
    ],
    "own": [
        {
            "request": ASK,
            "calls": [{"tool": name, "arguments": given, "result": value} for name, given, value in CALLS],
        }
    ],
}
