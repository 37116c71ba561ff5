"""Chat Completions: the API of OpenAI that most servers have, and the form in which this package works.

Reference: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolassay.models.dialects.dialect import Dialect, EventStream, update
from toolassay.models.wire_format import MAX_ANSWER, reasoning_of, text_of

_PIECE = 40  # characters of a text in one event of the fake server


class ChatStream(EventStream):
    """The chunks of a streamed chat completion."""

    def __init__(self, started: float) -> None:
        super().__init__(started)
        self._unchecked = MAX_ANSWER
        self._restart()

    def _restart(self) -> None:
        self._message: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._latest_calls: dict[int | str, dict[str, Any]] = {}  # the latest call by index and by id

    def add(self, event: dict[str, Any]) -> None:
        """Add a chunk, or a message so far."""
        choices = event.get("choices")
        usage = event.get("usage")
        if not (isinstance(choices, list) or usage):
            self._unknown = self._unknown or event
        self.count(usage)
        for choice in choices or []:
            delta = choice.get("delta")
            message = choice.get("message") or {}
            if not delta and (text_of(message.get("content")) or message.get("tool_calls")):
                self._restart()  # an event with the message so far
            self._add(delta or message)
            self.finish = choice.get("finish_reason") or self.finish

    def completion(self) -> Mapping[str, Any]:
        """The chunks as one completion."""
        message = dict(self._message)
        for name, pieces in self._texts.items():
            text = "".join(pieces)
            parts = message.get(name)
            message[name] = [*parts, {"type": "text", "text": text}] if isinstance(parts, list) else text
        calls: list[dict[str, Any]] = []
        for call in self._calls:
            function = call["function"]
            function["arguments"] = "".join(function["arguments"]) or None
            # Without arguments, after a call of the same tool: a last fragment with an id of its own.
            before = calls[-1]["function"] if calls else {}
            if (
                (function["arguments"] or "").strip()
                or not before.get("arguments")
                or before["name"] != function["name"]
            ):
                calls.append(call)
        choice = {"message": {**message, "tool_calls": calls}, "finish_reason": self.finish}
        return {"choices": [choice], "usage": self.usage}

    def _add(self, delta: dict[str, Any]) -> None:
        """Add a delta to the message: texts are joined, lists extended, objects merged."""
        content, calls, old = (delta.get(name) for name in ("content", "tool_calls", "function_call"))
        calls = calls or ([{"index": 0, "function": old}] if old else [])
        if content or delta.get("refusal") or calls or reasoning_of(delta):
            self.begin()
        for call in calls:
            self._add_call(call)
        for name, value in delta.items():
            if isinstance(value, str) and name not in _ONCE:
                self._texts.setdefault(name, []).append(value)
            elif name not in ("tool_calls", "function_call"):
                update(self._message, {name: value})

    def _add_call(self, piece: dict[str, Any]) -> None:
        """Add a fragment of a tool call to the call that it continues, or begin a new call.

        The index alone decides little: some servers number all calls 0, or none. Some repeat the name in each
        fragment, with a new id, and some repeat whole calls at the end.
        """
        function = piece.get("function") or {}
        index = piece.get("index")
        id = piece.get("id")
        name = function.get("name")
        arguments = function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        last = self._calls[-1] if self._calls else None
        call = self._latest_calls.get(index) if isinstance(index, int) else last
        call = call and self._latest_calls.get(id or "", call)
        if call and name and (earlier_name := call["function"].get("name")):
            is_other = bool(id) and id != call["id"]
            if name != earlier_name:
                call = call if id and not is_other else None
            elif self._has_whole_arguments(call) or (is_other and index is None):
                if not is_other and arguments == "".join(call["function"]["arguments"]):
                    return
                call = None
        if call is None:
            call = {"id": None, "function": {"arguments": []}}
            self._calls.append(call)
        self._latest_calls |= {key: call for key in (index, id) if key is not None and key != ""}
        function = {**function, "arguments": [arguments]}
        update(call, {**piece, "index": None, "id": call["id"] or id, "function": function})

    def _has_whole_arguments(self, call: dict[str, Any]) -> bool:
        """Whether the arguments so far are complete JSON; False after 16 MiB of such checks."""
        pieces = call["function"]["arguments"]
        pieces[:] = [text := "".join(pieces)]  # so that the next check joins two pieces, not all
        self._unchecked -= len(text)
        try:
            is_closed = self._unchecked >= 0 and text.rstrip().endswith(("}", "]", '"'))
            return is_closed and json.loads(text) is not None
        except (ValueError, RecursionError):
            return False


_ONCE = ("role", "name", "id", "type")
"""Texts of a message that some servers repeat in every delta."""


def _events(whole: Mapping[str, Any], *, usage: bool, cut: bool = False) -> Iterator[tuple[str, str]]:
    head = {**{key: whole[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    choice = whole["choices"][0]
    message = choice["message"]

    def event(delta: Mapping[str, Any], reason: Any = None) -> str:
        return json.dumps({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield "", event({"role": "assistant"})
    text = message.get("content") or ""
    for start in range(0, len(text), _PIECE):
        yield "", event({"content": text[start : start + _PIECE]})
        if cut:
            return
    for position, call in enumerate(message.get("tool_calls", [])):
        yield "", event({"tool_calls": [{"index": position, **call}]})
    if message.get("refusal"):
        yield "", event({"refusal": message["refusal"]})
    yield "", event({}, choice["finish_reason"])
    if usage:
        yield "", json.dumps({**head, "choices": [], "usage": whole["usage"]})
    yield "", "[DONE]"


def _same(body: Any) -> Any:
    return body


CHAT = Dialect(_same, _same, ChatStream, _same, _same, _events)
