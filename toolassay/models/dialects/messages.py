"""Messages: Anthropic's API, whose messages are lists of blocks.

Blocks of thinking go back with their signatures, as parts of the message's `content`.
Reference: https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolassay.files.data_files import unescaped_json
from toolassay.models.dialects.dialect import Dialect, EventStream, completion_of, function_calls, parts_of
from toolassay.models.structured_output import schema_of
from toolassay.models.wire_format import text_of

_MOST_TOKENS = 4096  # the API requires a limit
_ANSWER = "structured_answer"
"""Name of the tool whose input is the answer, for servers without structured output."""
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}


def _body(chat: dict[str, Any]) -> dict[str, Any]:
    body = dict(chat)
    system: list[str] = []
    messages: list[dict[str, Any]] = []
    for message in body.pop("messages"):
        if message["role"] in ("system", "developer"):
            system.append(text_of(message["content"]) or "")
            continue
        role, blocks = _blocks(message)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks  # roles alternate, and results of calls are in one message
        elif blocks:
            messages.append({"role": role, "content": blocks})
    body |= {"messages": messages, **({"system": "\n\n".join(system)} if system else {})}
    body.pop("stream_options", None)
    limits = [body.pop(name, None) for name in ("max_completion_tokens", "max_tokens")]
    body["max_tokens"] = limits[0] or limits[1] or _MOST_TOKENS
    if (stop := body.pop("stop", None)) is not None:
        body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if "tools" in body:
        body["tools"] = [_tool(**tool["function"]) if "function" in tool else tool for tool in body["tools"]]
    choice = body.get("tool_choice")
    if isinstance(choice, str):
        body["tool_choice"] = {"type": _CHOICES.get(choice, choice)}
    elif choice and "function" in choice:
        body["tool_choice"] = {"type": "tool", "name": choice["function"]["name"]}
    form: Any = body.get("response_format")
    if (schema := schema_of(form)) is not None:
        del body["response_format"]
    if schema is not None and form["type"] == "json_schema":
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    elif schema is not None:
        body["tools"] = [_tool(_ANSWER, "The answer.", schema)]
        body["tool_choice"] = {"type": "tool", "name": _ANSWER}
    return body


def _tool(
    name: str, description: str = "", parameters: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    schema = parameters or {"type": "object", "properties": {}}
    return {"name": name, "description": description, "input_schema": schema, **more}


def _blocks(message: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The role and the blocks of a message; texts without a visible character are refused by the API."""
    content = message.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text_of(content)}
        return "user", [result]
    blocks = [part for part in parts if part["type"] != "text" or (text_of(part) or "").strip()]
    for call in message.get("tool_calls") or ():
        name = call["function"]["name"]
        text = call["function"]["arguments"]
        try:
            arguments = json.loads(text)
        except ValueError:
            arguments = text
        arguments = arguments if isinstance(arguments, dict) else {"arguments": arguments}
        blocks.append({"type": "tool_use", "id": call["id"], "name": name, "input": arguments})
    return message["role"], blocks


def _completion(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    blocks = answer["content"] or ()
    tool_uses = [block for block in blocks if block["type"] == "tool_use"]
    parts = [block for block in blocks if block["type"] != "tool_use"]
    parts += [
        {"type": "text", "text": _written(tool_use)} for tool_use in tool_uses if tool_use["name"] == _ANSWER
    ]
    calls = [
        (tool_use.get("id"), tool_use["name"], _written(tool_use))
        for tool_use in tool_uses
        if tool_use["name"] != _ANSWER
    ]
    plain = all(part["type"] == "text" for part in parts)
    message = {"content": text_of(parts) or "" if plain else parts, **function_calls(calls)}
    reason: Any = answer.get("stop_reason")
    reason = "stop" if tool_uses and not calls and reason == "tool_use" else _REASONS.get(reason, reason)
    return completion_of(message, reason, answer.get("usage"))


def _written(block: Mapping[str, Any]) -> str:
    """The input of a call as text; that of a stream is a text, cut off if the answer is."""
    return block.get("partial_json") or unescaped_json(block.get("input") or {})


class MessagesStream(EventStream):
    """The events of a streamed message."""

    def __init__(self, started: float) -> None:
        super().__init__(started)
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._is_ending = False

    def add(self, event: dict[str, Any]) -> None:
        """Add an event."""
        match event["type"]:
            case "message_start":
                self._message = event.get("message") or {}
                self.count(self._message.get("usage"))
            case "content_block_start":
                self._blocks[event["index"]] = event["content_block"]
            case "content_block_delta":
                self.begin()
                kind = event["delta"]["type"].removesuffix("_delta")
                block = self._blocks.setdefault(event["index"], {"type": kind})
                for name, piece in event["delta"].items():  # text, thinking, signature or partial_json
                    if name != "type" and isinstance(piece, str):
                        block[name] = (block.get(name) or "") + piece
            case "message_delta":
                self.count(event.get("usage"))
                self._is_ending = True
                self.finish = (event.get("delta") or {}).get("stop_reason") or self.finish
            case "message_stop":  # without a message_delta the server broke off
                self._ended = self._is_ending

    def completion(self) -> Mapping[str, Any]:
        """The blocks as one message."""
        content = [*self._blocks.values()] or self._message.get("content")
        ended = {"content": content, "stop_reason": self.finish, "usage": self.usage}
        return _completion({**self._message, **ended})


def _received(body: dict[str, Any]) -> dict[str, Any]:
    chat = dict(body)
    system = chat.pop("system", None)
    messages = [{"role": "system", "content": system}] if system else []
    for message in chat["messages"]:
        role = message["role"]
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_result":
                result = text_of(block.get("content")) or ""
                messages.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": result})
        tool_uses = [block for block in blocks if block["type"] == "tool_use"]
        calls = function_calls(
            [(tool_use["id"], tool_use["name"], _written(tool_use)) for tool_use in tool_uses]
        )
        text = text_of(blocks)
        if calls or text is not None:
            messages.append({"role": role, "content": text, **calls})
    chat["messages"] = messages
    if "tools" in chat:
        functions = [{**tool, "parameters": tool["input_schema"]} for tool in chat["tools"]]
        chat["tools"] = [{"type": "function", "function": function} for function in functions]
    return chat


def _answer(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    message, reason, tokens = parts_of(whole)
    text = message.get("content") or message.get("refusal")
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for call in message.get("tool_calls", ()):
        name = call["function"]["name"]
        arguments = json.loads(call["function"]["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": name, "input": arguments})
    reasons = {chat: our_reason for our_reason, chat in reversed(_REASONS.items())}
    reason = "refusal" if message.get("refusal") else reasons.get(reason, "end_turn")
    head = {"id": f"msg_{whole['id']}", "type": "message", "role": "assistant", "model": whole["model"]}
    return {**head, "content": blocks, "stop_reason": reason, "stop_sequence": None, "usage": tokens}


def _events(answer: Mapping[str, Any], *, usage: bool, cut: bool = False) -> Iterator[tuple[str, str]]:
    def event(name: str, **fields: Any) -> tuple[str, str]:
        return name, json.dumps({"type": name, **fields})

    yield event("message_start", message={**answer, "content": [], "stop_reason": None})
    for index, block in enumerate(answer["content"]):
        start = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=start)
        yield event("content_block_delta", index=index, delta=delta)
        if cut:
            return
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta={"stop_reason": answer["stop_reason"]}, usage=answer["usage"])
    yield event("message_stop")


_LACKS = frozenset({"presence_penalty", "frequency_penalty"})
MESSAGES = Dialect(_body, _completion, MessagesStream, _received, _answer, _events, _LACKS)
