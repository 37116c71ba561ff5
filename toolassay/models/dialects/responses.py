"""Responses: OpenAI's API whose messages, tool calls and reasoning are items of one list.

Requests are not stored at the server (`store: false`), so reasoning items go back with the next request,
encrypted by the server. Reference: https://platform.openai.com/docs/api-reference/responses
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolassay.models.dialects.dialect import Dialect, EventStream, completion_of, function_calls, parts_of
from toolassay.models.wire_format import text_of

_REASONING = "reasoning_items"
"""Field of a message that carries the reasoning items of its answer."""
_LIMIT = "max_output_tokens"
_UNFINISHED = ("incomplete", "failed", "cancelled")
_FINISHED = ("completed", "done", *_UNFINISHED)


def _body(chat: dict[str, Any]) -> dict[str, Any]:
    body = {**chat, "store": False}
    body["input"] = [item for message in body.pop("messages") for item in _items(message)]
    body.pop("stream_options", None)
    for name in ("max_tokens", "max_completion_tokens"):
        if name in body:
            body.setdefault(_LIMIT, body.pop(name))
    if (effort := body.pop("reasoning_effort", None)) is not None:
        body["reasoning"] = {"effort": effort}
    if (form := body.pop("response_format", None)) is not None:
        named = form.get("json_schema")
        body["text"] = {"format": {"type": "json_schema", **named} if named else form}
    if "tools" in body:
        # Here functions are strict by default.
        body["tools"] = [
            {"type": "function", "strict": False, **tool["function"]} if "function" in tool else tool
            for tool in body["tools"]
        ]
    choice = body.get("tool_choice")
    if isinstance(choice, Mapping) and "function" in choice:
        body["tool_choice"] = {"type": "function", "name": choice["function"]["name"]}
    return body


def _items(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    role = message["role"]
    text = text_of(message.get("content")) or ""
    if role == "tool":
        yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": text}
        return
    yield from message.get(_REASONING) or ()
    calls = message.get("tool_calls") or ()
    if text or not calls:
        sort = "output_text" if role == "assistant" else "input_text"
        yield {"type": "message", "role": role, "content": [{"type": sort, "text": text}]}
    for call in calls:
        yield {"type": "function_call", "call_id": call["id"], **_pick(call["function"])}


def _pick(function: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": function["name"], "arguments": function["arguments"]}


def _completion(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if answer.get("status") == "failed":
        return {"error": answer.get("error") or "the answer failed", "usage": answer.get("usage")}
    items = answer["output"] or ()
    kinds = ("message", "reasoning", "function_call")
    messages, thoughts, calls = ([item for item in items if item["type"] == kind] for kind in kinds)
    parts = [part for item in messages for part in item.get("content") or ()]
    message: dict[str, Any] = {"content": _joined(parts, "text") if parts or thoughts else None}
    if refusal := _joined(parts, "refusal"):
        message |= {"content": None, "refusal": refusal}
    if thoughts:
        texts = [text for item in thoughts for text in item.get("content") or item.get("summary") or ()]
        message |= {"reasoning_content": _joined(texts, "text"), _REASONING: thoughts}
    message |= function_calls(
        [(call.get("call_id") or call.get("id"), call["name"], call.get("arguments")) for call in calls]
    )
    reason = "tool_calls" if calls else "stop"
    if answer.get("status") == "cancelled":
        reason = "cancelled"
    elif answer.get("status") == "incomplete":
        reason = (answer.get("incomplete_details") or {}).get("reason") or _LIMIT
    return completion_of(message, "length" if reason == _LIMIT else reason, answer.get("usage"))


def _joined(parts: Iterable[Mapping[str, Any]], name: str) -> str:
    return "".join(part.get(name) or "" for part in parts)


class ResponsesStream(EventStream):
    """The events of a streamed response.

    The last event has all of it. Those of some gateways have no items, or empty ones: then the items that
    have ended count, and without them the deltas.
    """

    def __init__(self, started: float) -> None:
        super().__init__(started)
        self._answer: dict[str, Any] = {}
        self._done: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []  # that have begun, with their arguments so far
        self._texts = {"text": "", "refusal": ""}

    def add(self, event: dict[str, Any]) -> None:
        """Add an event."""
        kind = event["type"].removeprefix("response.")
        item = event.get("item") or {}
        if kind.endswith(".delta"):
            self.begin()
        if kind == "output_item.done":
            self._done.append(item)
        elif kind == "output_item.added" and item.get("type") == "function_call":
            self._calls.append(item)
        elif kind.startswith("function_call_arguments.") and self._calls:
            of_id = (call for call in reversed(self._calls) if call.get("id") == event.get("item_id"))
            call = next(of_id, self._calls[-1])
            so_far = (call.get("arguments") or "") + (event.get("delta") or "")
            call["arguments"] = so_far or event.get("arguments")
        elif kind.startswith(("output_text.", "refusal.")):
            name = "refusal" if kind.startswith("refusal.") else "text"
            self._texts[name] = self._texts[name] + (event.get("delta") or "") or event.get(name) or ""
        elif isinstance(answer := event.get("response"), dict):
            self.count(answer.get("usage"))
            self._answer |= answer
        if kind in _FINISHED:
            self.finish = kind
            if self._answer.get("status") not in _UNFINISHED:
                self._answer["status"] = kind

    def completion(self) -> Mapping[str, Any]:
        """The answer of the last event, with what earlier ones had of it."""
        message = {"type": "message", "content": [self._texts]}
        begun = [*self._calls, message] if any(self._texts.values()) else self._calls
        items: list[Any] = []
        for kind in ("reasoning", "message", "function_call"):
            sources: list[list[Any]] = [
                [item for item in source if item.get("type") == kind]
                for source in (self._answer.get("output") or [], self._done, begun)
            ]
            best = max(sources, key=lambda source: (_says_something(source), len(source) > 0))
            items += best
        return _completion({**self._answer, "output": items, "usage": self.usage})


def _says_something(items: list[Any]) -> bool:
    """Whether one of these items has a text, arguments or reasoning."""
    parts = [part for item in items for part in item.get("content") or ()]
    texts = any(_joined(parts, name) for name in ("text", "refusal"))
    return texts or any(item.get("arguments") or item["type"] == "reasoning" for item in items)


def _received(body: dict[str, Any]) -> dict[str, Any]:
    chat = dict(body)
    input_items = body["input"]
    messages = [{"role": "system", "content": chat.pop("instructions")}] if "instructions" in chat else []
    for item in [{"role": "user", "content": input_items}] if isinstance(input_items, str) else input_items:
        kind = item.get("type", "message")
        if kind == "message":
            text = item["content"] if isinstance(item["content"], str) else _joined(item["content"], "text")
            messages.append({"role": item["role"], "content": text})
        elif kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        elif kind == "function_call":
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            calls = function_calls([(item["call_id"], item["name"], item["arguments"])])["tool_calls"]
            messages[-1].setdefault("tool_calls", []).extend(calls)
    chat = {**chat, "messages": messages, "max_tokens": chat.pop(_LIMIT, None)}
    if "tools" in chat:
        chat["tools"] = [{"type": "function", "function": tool} for tool in chat["tools"]]
    return chat


def _answer(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    message, reason, tokens = parts_of(whole)
    texts = {"output_text": message.get("content"), "refusal": message.get("refusal")}
    parts = [
        {"type": kind, kind.removeprefix("output_"): text} for kind, text in texts.items() if text is not None
    ]
    output: list[dict[str, Any]] = []
    if parts:
        output.append({"type": "message", "role": "assistant", "status": "completed", "content": parts})
    for call in message.get("tool_calls", ()):
        output.append({"type": "function_call", "call_id": call["id"], **_pick(call["function"])})
    why = {"length": _LIMIT, "content_filter": reason}.get(reason)
    ended = (
        {"status": "incomplete", "incomplete_details": {"reason": why}} if why else {"status": "completed"}
    )
    head = {"id": f"resp_{whole['id']}", "object": "response", "model": whole["model"], "error": None}
    return {**head, "created_at": int(time.time()), **ended, "output": output, "usage": tokens}


def _events(answer: Mapping[str, Any], *, usage: bool, cut: bool = False) -> Iterator[tuple[str, str]]:
    def event(name: str, **fields: Any) -> tuple[str, str]:
        return f"response.{name}", json.dumps({"type": f"response.{name}", **fields})

    yield event("created", response={**answer, "output": [], "status": "in_progress"})
    for index, item in enumerate(answer["output"]):
        kind = "function_call_arguments"
        text = item.get("arguments")
        if item["type"] == "message":
            kind = "output_text"
            text = _joined(item["content"], "text")
        yield event(f"{kind}.delta", output_index=index, delta=text)
        if cut:
            return
    yield event(answer["status"], response=answer)


_LACKS = frozenset({"stop", "presence_penalty", "frequency_penalty"})
RESPONSES = Dialect(_body, _completion, ResponsesStream, _received, _answer, _events, _LACKS)
