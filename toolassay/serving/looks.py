"""The refusals of a server, and the answers of a model that are not what was hoped for."""

from __future__ import annotations

from typing import Any

from toolassay.serving.completions import Received

_REFUSALS = {
    "429": (429, "slow down", "rate_limit_exceeded"),
    "429-bare": (429, "slow down", "rate_limit_exceeded"),
    "500": (500, "something broke", None),
    "500-bare": (500, "something broke", None),
    "400": (400, "the prompt breaks our rules", None),
    "401": (401, "Incorrect API key provided: {key}", "invalid_api_key"),
    "402": (402, "no credit left", None),
    "403": (403, "not for you", None),
    "404": (404, "no such model", "model_not_found"),
    "413": (413, "the request is larger than this server takes", None),
    "400-filter": (400, "the prompt was stopped by the content filter", "content_filter"),
    "overflow": (400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"),
    "400-echo": (400, "{echo}", None),
    "400-late-echo": (400, f"{'x' * 185} {{echo}}", None),
    "401-echo": (401, "{echo}", None),
    "500-echo": (500, "{echo}", None),
}


def refusal(kind: str, received: Received) -> tuple[int, str, str | None] | None:
    """Status, message and code where a fault is a refusal; None where it is none.

    >>> received = Received("/v1/chat/completions", {}, {})
    >>> refusal("403", received), refusal("whole", received)
    ((403, 'not for you', None), None)
    """
    if kind not in _REFUSALS:
        return None
    status, message, code = _REFUSALS[kind]
    return status, message.replace("{key}", received.key).replace("{echo}", received.echo), code


def bend(whole: dict[str, Any], kind: str, received: Received) -> None:
    """Change a completion into the one that a fault is about; leave it where the fault is about the wire."""
    choice = whole["choices"][0]
    message = choice["message"]
    text = message["content"] or ""
    match kind:
        case "fenced":
            message["content"] = f"Here you are:\n```json\n{text}\n```\nDo {{ask}} for more."
        case "prose":
            message["content"] = "I am sorry, I would rather talk about the weather."
        case "broken":
            message["content"] = text.replace('"', "'")[:-1] + ",}"
        case "length":
            message["content"], choice["finish_reason"] = text[: len(text) // 2], "length"
        case "whole-but-cut":
            choice["finish_reason"] = "length"
        case "empty":
            message["content"] = ""
        case "surrogate":
            message["content"] = f"\ud83d {text}"
        case "echo":
            message["content"] = f"You sent {received.echo}: {text}"
        case "null-content":
            message["content"] = None
        case "odd":
            choice["finish_reason"], whole["usage"] = 7, ["none"]
        case "declined":
            message["content"], message["refusal"] = None, "I will not."
        case "filtered":
            message["content"], choice["finish_reason"] = None, "content_filter"
        case "thought":
            message["content"], choice["finish_reason"] = None, "length"
        case "empty-choices":
            whole["choices"], whole["usage"] = [], None
