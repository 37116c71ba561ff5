"""Reads files of recorded calls: JSON Lines with one sequence a line, or one JSON list of sequences.

A sequence is `{"calls": [{"tool", "arguments", "result", "error"}]}`, a bare list of calls, or a chat in
OpenAI's form: `messages` or `traj` with `tool_calls` of the assistant and messages of the role "tool".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.files import line_of_item, read_json, read_json_lines
from toolassay.locks import open_regular

_CHAT_KEYS = ("messages", "traj")
_WORDS_KEYS = ("request", "user_request", "instruction")
_FORM = 'write {"calls": [{"tool": …, "arguments": {…}, "result": …}, …]} on one line'


class Call(NamedTuple):
    """A recorded call; `failed` if its result is an error."""

    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    failed: bool = False


class Turn(NamedTuple):
    """Calls that were made together, after `words` of a person (and of the system prompt)."""

    words: str
    calls: Sequence[Call]


class _Malformed(ValueError):
    """What is wrong with a sequence."""


def read_traces(path: Path) -> Iterator[Sequence[Turn]]:
    """Yield the sequences of a file, one at a time.

    A file of JSON Lines is read line by line. A JSON list over several lines is read as a whole.

    Raises:
        UsageError: The file is missing, malformed (with the line) or has no sequence.
    """
    found = False
    whole = _is_one_value(path)
    for number, value in enumerate(_items(read_json(path)), 1) if whole else read_json_lines(path):
        try:
            for item in [value] if whole else _items(value):
                found = True
                yield _turns(item)
        except _Malformed as error:
            line = line_of_item(path, None, number) if whole else number
            raise UsageError(str(error), file=path, line=line, fix=_FORM) from None
    if not found:
        raise UsageError("has no recorded calls", file=path, fix=_FORM)


def _is_one_value(path: Path) -> bool:
    """Whether a file is one JSON value over several lines: its first line opens a list or an object."""
    try:
        with open_regular(path, "r", encoding="utf-8-sig", errors="replace") as stream:
            first = next((line for line in stream if line.strip()), "")
    except OSError:
        return False  # `read_json_lines` reports it
    return first.split() in (["["], ["{"], ["[["], ["[{"], ["[", "{"], ["[", "["])


def _items(value: Any) -> list[Any]:
    """The sequences of a value: those of a list of sequences, else the value itself."""
    if not isinstance(value, list):
        return [value]
    keys = {"calls", *_CHAT_KEYS}
    is_list = any(isinstance(item, list) or (isinstance(item, dict) and keys & item.keys()) for item in value)
    return value if is_list else [value]


def _turns(value: Any) -> list[Turn]:
    """The turns of a sequence in any of its forms."""
    given = value if isinstance(value, dict) else {}
    chat = next((given[key] for key in _CHAT_KEYS if key in given), None)
    if isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value):
        chat = value
    if chat is not None:
        return _chat(chat)
    calls = value if isinstance(value, list) else given.get("calls")
    if not isinstance(calls, list):
        raise _Malformed("is no sequence of calls")
    said = "\n".join(text for key in _WORDS_KEYS if isinstance(text := given.get(key), str))
    return [Turn("" if number > 1 else said, [_call(call, number)]) for number, call in enumerate(calls, 1)]


def _call(value: Any, number: int) -> Call:
    if not isinstance(value, dict):
        raise _Malformed(f"call {number} is not an object")
    name = next((value[key] for key in ("tool", "name", "task") if key in value), None)
    if not isinstance(name, str) or not name:
        raise _Malformed(f"call {number} names no tool")
    arguments = _arguments(value.get("arguments"))
    if arguments is None:
        raise _Malformed(f"the arguments of call {number} are no object")
    return Call(name, arguments, _result(value.get("result")), bool(value.get("error")))


def _arguments(value: Any) -> dict[str, Any] | None:
    """Arguments as an object, a list of `{name, value}`, or the JSON text of either; None for others."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return None
    if value is None:
        return {}
    if isinstance(value, list):
        pairs = [one for one in value if isinstance(one, dict) and isinstance(one.get("name"), str)]
        return {one["name"]: one.get("value") for one in pairs} if len(pairs) == len(value) else None
    return value if isinstance(value, dict) else None


def _result(value: Any) -> Any:
    """A result; JSON text is parsed, and of an MCP result the content is taken."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        structured = value.get("structuredContent")
        value = structured if structured is not None else _text(value["content"])
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _text(content: Any) -> str:
    """The text of a message: a text, or a list of parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [one.get("text") for one in parts if isinstance(one, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _chat(messages: Any) -> list[Turn]:
    """The turns of a chat: the calls of one message are one turn, and cannot take each other's results."""
    if not isinstance(messages, list) or not all(isinstance(item, dict) for item in messages):
        raise _Malformed("the messages are no list of objects")
    turns: list[Turn] = []
    words: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") in ("user", "system", "developer"):
            words.append(_text(message.get("content")))
        made = message.get("tool_calls")
        if message.get("role") == "assistant" and isinstance(made, list) and made:
            # Only the results that follow directly: some recordings use an id of a call twice.
            after = islice(messages, place + 1, None)
            results = {
                item.get("tool_call_id"): item.get("content")
                for item in takewhile(lambda item: item.get("role") == "tool", after)
            }
            calls = [_chat_call(item, results, number) for number, item in enumerate(made, start=1)]
            turns.append(Turn("\n".join(words), calls))
            words = []
    return turns


def _chat_call(value: Any, results: Mapping[Any, Any], number: int) -> Call:
    """A call of a chat. It failed if it has no result, or one that starts with "Error".

    Arguments that are not JSON are a mistake of the recorded model, not of the file.
    """
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise _Malformed(f"tool call {number} of a message names no function")
    arguments = _arguments(function.get("arguments"))
    content = results.get(value.get("id"))
    text = _text(content)
    failed = arguments is None or content is None or text.lstrip().casefold().startswith("error")
    return Call(function["name"], arguments or {}, _result(text), failed)
