"""What the fields of each format are and mean, for the card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ROWS = (
    ("id", "text", "of the sample"),
    ("request", "text", "the user's words"),
    ("shape", "text", "`single`, `chain` or `dag`"),
    ("size", "number", "how many calls"),
    ("steps", "list of texts", "the plan in words"),
    ("calls", "list", "the tool calls, in an order in which references and links point back"),
    ("calls[].tool", "text", "the tool"),
    (
        "calls[].arguments[].name",
        "text",
        "the parameter; of a resource tool the input's type (`text_2`: second)",
    ),
    ("calls[].arguments[].kind", "text", "how to read the value: `text`, `reference` or `json`"),
    (
        "calls[].arguments[].value",
        "text",
        "the value; a reference `<node-j>` is the result of call j, from 0",
    ),
    ("links", "list", "`source` and `target`: numbers of calls"),
    (
        "has_arguments",
        "true or false",
        "whether the gold says arguments; if not, those of all calls are empty",
    ),
)
_RESULTS = "A result is the reference `<node-j>` by which later arguments take it: call j of it, from 0."
_BESIDE = (
    "`names.json` gives the tool of each function; line n of `index/` has the id and the links of line n."
)

FIELDS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "hf": _ROWS,
    "jsonl": _ROWS,
    "openai": (
        ("messages", "list", "`role`, `content`; `tool_calls` of the assistant; `tool_call_id` of a result"),
        (
            "messages[].tool_calls[].function.arguments",
            "JSON text, or an object if so exported",
            "the arguments",
        ),
        ("tools", "list", "the functions on offer, each with a JSON schema"),
        ("parallel_tool_calls", "true or false", "false where each turn has one call"),
    ),
    "sharegpt": (
        ("conversations", "list", "`from` (human, function_call, observation, gpt) and `value`"),
        ("system", "text", "the system message; may be empty"),
        ("tools", "JSON text", "the functions on offer, each with a JSON schema"),
    ),
}
NOTES: Mapping[str, str] = {
    "hf": "One row a sample.",
    "jsonl": "One object a line.",
    "openai": f"One chat a line. {_RESULTS} {_BESIDE}",
    "sharegpt": f"One chat a line. {_RESULTS} {_BESIDE} `dataset_info.json` is for LLaMA-Factory.",
}


def _text(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "dtype": "string"} for name in names]


def _whole(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "dtype": "int64"} for name in names]


_ROW_TYPES = [
    *_text("id", "request", "shape"),
    *_whole("size"),
    {"name": "steps", "list": "string"},
    {
        "name": "calls",
        "list": [*_text("tool"), {"name": "arguments", "list": _text("name", "kind", "value")}],
    },
    {"name": "links", "list": _whole("source", "target")},
    {"name": "has_arguments", "dtype": "bool"},
]
_CHAT_TYPES = [
    {"name": "messages", "list": "json"},
    {"name": "tools", "list": "json"},
    {"name": "parallel_tool_calls", "dtype": "bool"},
]
TYPES: Mapping[str, list[dict[str, Any]]] = {
    "hf": _ROW_TYPES,
    "jsonl": _ROW_TYPES,
    "openai": _CHAT_TYPES,
    "sharegpt": [{"name": "conversations", "list": _text("from", "value")}, *_text("system", "tools")],
}
"""The columns as `datasets` names their types. Told rather than guessed: a guess looks at the first lines
only, and takes objects with other keys further down for objects full of nulls, or fails on them."""
