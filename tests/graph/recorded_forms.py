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
LEGACY = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": None,
        "function_call": {"name": name, "arguments": _text(given)},
    },
    lambda id, name, value: {"role": "function", "name": name, "content": _text(value)},
)
RESPONSES = _chat(
    lambda id, name, given: {
        "type": "function_call",
        "id": f"fc_{id}",
        "call_id": id,
        "name": name,
        "arguments": _text(given),
    },
    lambda id, name, value: {"type": "function_call_output", "call_id": id, "output": _text(value)},
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
BEDROCK = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": id, "name": name, "input": given}}],
    },
    lambda id, name, value: {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": id, "content": [{"json": value}], "status": "success"}}],
    },
)
GEMINI = _chat(
    lambda id, name, given: {"role": "model", "parts": [{"functionCall": {"name": name, "args": given}}]},
    lambda id, name, value: {
        "role": "user",
        "parts": [{"functionResponse": {"name": name, "response": value}}],
    },
)
TAU2 = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "tool_calls": [{"id": id, "name": name, "arguments": given}],
    },
    lambda id, name, value: {"role": "tool", "id": id, "content": _text(value), "error": False},
)
OLLAMA = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": name, "arguments": given}}],
    },
    lambda id, name, value: {"role": "tool", "tool_name": name, "content": _text(value)},
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
VERCEL = _chat(
    lambda id, name, given: {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": id, "toolName": name, "input": given}],
    },
    lambda id, name, value: {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": id,
                "toolName": name,
                "output": {"type": "json", "value": value},
            }
        ],
    },
)
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


def _span(number: int, attributes: Any) -> dict[str, Any]:
    name = CALLS[number][0]
    return {"traceId": "t1", "spanId": f"s{number}", "name": f"execute_tool {name}", "attributes": attributes}


def _attributes(number: int) -> dict[str, str]:
    name, arguments, result = CALLS[number]
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": f"c{number}",
        "gen_ai.tool.call.arguments": _text(arguments),
        "gen_ai.tool.call.result": _text(result),
    }


_ASKED = {"gen_ai.input.messages": _text([{"role": "user", "parts": [{"type": "text", "content": ASK}]}])}
SPANS = [_span(0, _ASKED), *(_span(number, _attributes(number)) for number in (0, 1))]
OTLP = [
    {
        **span,
        "attributes": [
            {"key": key, "value": {"stringValue": text}} for key, text in span["attributes"].items()
        ],
    }
    for span in SPANS
]
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
    "legacy": [{"messages": LEGACY, "functions": [_LISTED]}],
    "responses": [{"input": RESPONSES[:3], "output": RESPONSES[3:], "tools": [DEFINITION["function"]]}],
    "responses, an item a line": RESPONSES,
    "anthropic": [{"messages": ANTHROPIC, "tools": [{"name": "search", "input_schema": {"type": "object"}}]}],
    "anthropic, a message a line": [
        {"type": one["role"], "sessionId": "s", "uuid": str(number), "message": one}
        for number, one in enumerate(ANTHROPIC)
    ],
    "bedrock": [{"messages": BEDROCK}],
    "gemini": [{"contents": GEMINI}],
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
    "ollama": [{"messages": OLLAMA}],
    "langchain": [LANGCHAIN],
    "langchain, serialised": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "Message"], "kwargs": one["data"]}
        for one in LANGCHAIN
    ],
    "vercel": [{"messages": VERCEL}],
    "sharegpt": [{"conversations": SHAREGPT, "tools": _text([_LISTED])}],
    "sharegpt, tagged": [
        {
            "conversations": [
                {"from": "human", "value": ASK},
                *_chat(
                    lambda id, name, given: {
                        "from": "gpt",
                        "value": f"<tool_call>{_text({'name': name, 'arguments': given})}</tool_call>",
                    },
                    lambda id, name, value: {
                        "from": "tool",
                        "value": f"<tool_response>\n{_text(value)}\n</tool_response>",
                    },
                )[1:],
            ]
        }
    ],
    "vercel, parts of a page": [
        {
            "messages": [
                {"role": "user", "parts": [{"type": "text", "text": ASK}]},
                *(
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": f"tool-{name}", "toolCallId": name, "input": given, "output": value}
                        ],
                    }
                    for name, given, value in CALLS
                ),
            ]
        }
    ],
    "haystack": _chat(
        lambda id, name, given: {
            "role": "assistant",
            "content": [{"tool_call": {"id": id, "tool_name": name, "arguments": given}}],
        },
        lambda id, name, value: {
            "role": "tool",
            "content": [{"tool_call_result": {"result": _text(value), "error": False}}],
        },
    ),
    "steps": [
        {
            "prompt": ASK,
            "steps": [
                {"action": {"name": name, "kwargs": given}, "observation": _text(value)}
                for name, given, value in CALLS
            ],
        }
    ],
    "steps, flat": [
        {
            "prompt": ASK,
            "steps": [
                {"action": name, "action_input": given, "observation": _text(value)}
                for name, given, value in CALLS
            ],
        }
    ],
    "mcp": [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "c"}}},
        {"jsonrpc": "2.0", "id": 0, "result": {"tools": [{"name": "search", "inputSchema": {}}]}},
        *MCP,
    ],
    "spans": SPANS,
    "spans with a context": [
        {**{key: one for key, one in span.items() if key != "traceId"}, "context": {"trace_id": "t1"}}
        for span in SPANS
    ],
    "otlp": [{"resourceSpans": [{"scopeSpans": [{"spans": OTLP[:2]}, {"spans": OTLP[2:]}]}]}],
    "own": [
        {
            "request": ASK,
            "calls": [{"tool": name, "arguments": given, "result": value} for name, given, value in CALLS],
        }
    ],
    "own, a call a line": [
        {"role": "user", "content": ASK},
        *({"tool": name, "arguments": given, "result": value} for name, given, value in CALLS),
    ],
}
