"""Reads files of recorded calls in any form: JSON Lines, or one JSON value.

A record is searched for objects that are a call (the name of a tool beside arguments) and objects that are a
result (of the call with the same id, else the next one in order). The names of their fields vary with the form;
they are compared in small letters: `tool_use_id`, `toolUseId`. So one reader reads chats of OpenAI (Responses
and `function_call` too), Anthropic, LangChain, tau2-bench, Inspect and ShareGPT, the JSON-RPC of MCP, spans of
OpenTelemetry, and `{"calls": [{"tool", "arguments", "result", "error"}]}`.

A list of messages or calls is a sequence. Lines that are single messages, calls or spans form one sequence: for
each session or trace that they name, else for the file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.files import read_json, read_json_lines
from toolassay.tool_results import is_refusal, parsed_text, result_value

READABLE = (
    'give chats with tool calls, MCP messages, spans, or {"calls": [{"tool": …, "arguments": {…}, "result": …}, …]} '
    "on each line"
)
"""What can be read, for messages."""

_NAMES = ("toolname", "tool", "name", "function", "task")
_OWN_NAMES = ("tool", "task")  # of the form `{"calls": …}`, in which a result may be left out
_ARGUMENTS = (
    "arguments",
    "toolcallarguments",
    "args",
    "input",
    "toolinput",
    "inputs",
    "parameters",
    "kwargs",
)
_RESULTS = ("result", "toolcallresult", "output", "outputs", "observation", "response")
_CONTENTS = (*_RESULTS, "content", "value", "error")
_IDS = ("toolcallid", "tooluseid", "callid", "id")
_SESSIONS = ("traceid", "sessionid", "conversationid", "threadid")
_ERRORS = ("error", "iserror", "errortype")
_PERSONS = frozenset({"user", "human", "system", "developer"})
_MODELS = frozenset({"assistant", "ai", "gpt", "model"})
_WORDS = ("request", "userrequest", "instruction", "instructions", "input", "prompt")
# What holds a call or a result, by its role, type or key: "tool_calls", "mcp_tool_use", "functionResponse".
_CALL = re.compile(r"\w*(?:tool|function)(?:calls?|use)|calls|params|function")
_RESULT = re.compile(r"\w*(?:tool|function)\w*(?:result|response|output)")
_RESULT_ROLES = frozenset({"tool", "function", "observation", "ipython"})
_SEPARATOR = re.compile(r"__|[./:]")  # after the name of a server: mcp__files__read, files.read
# Lists of parts of one message, which are no sequences.
_PARTS = frozenset({"content", "value", "toolcalls", "invalidtoolcalls", "parts", "choices", "candidates"})


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


def read_traces(path: Path, names: Container[str]) -> Iterator[Sequence[Turn]]:
    """Yield the sequences of a file, one at a time; those of sessions and of single messages at the end.

    Args:
        path: The file.
        names: The tools that are known. A name may have a prefix: `mcp__server__tool`.

    Raises:
        UsageError: The file is missing, is no JSON (with the line), or has no call.
    """
    reader, found = _Reader(names), False
    for value in [read_json(path)] if _is_one_value(path) else (one for _, one in read_json_lines(path)):
        items = list(reader.sequences(value))
        if not items:
            reader.walk(value, reader.loose)
        for item in items:
            own = _Sequence()
            reader.walk(item, own)
            if turns := own.recorded():
                found = True
                yield turns
    for sequence in (*reader.ended, reader.loose, *reader.sessions.values()):
        if turns := sequence.recorded():
            found = True
            yield turns
    if not found:
        raise UsageError("has no recorded call that could be read", file=path, fix=READABLE)


def _is_one_value(path: Path) -> bool:
    """Whether a file is one JSON value over several lines: its first line opens a list or an object."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            first = next((line for line in stream if line.strip()), "")
    except OSError:
        return False  # `read_json_lines` reports it
    return first.split() in (["["], ["{"], ["[["], ["[{"], ["[", "{"], ["[", "["])


@dataclass
class _Made:
    """A call, and its result once that is found."""

    tool: str
    arguments: dict[str, Any] | None  # None if the model wrote none that can be read
    ids: Sequence[str | int]
    is_answered: bool = False
    result: Any = None
    failed: bool = True

    def answer(self, result: Any, *, failed: bool) -> None:
        if not self.is_answered:
            self.is_answered, self.result = True, result_value(result)
            self.failed = failed or self.arguments is None or is_refusal(result)


@dataclass
class _Sequence:
    """A sequence that is being read."""

    turns: list[tuple[str, list[_Made]]] = field(default_factory=list)
    by_id: dict[str | int, _Made] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)  # since the last call
    is_open: bool = False  # whether the next call is made together with the last

    def call(self, made: _Made) -> _Made:
        """Add a call, unless it is there; some recordings use an id for several calls."""
        for one in made.ids:
            twin = self.by_id.get(one)
            # The requests of each session of MCP are numbered from 1.
            if isinstance(one, str) and twin and (twin.tool, twin.arguments) == (made.tool, made.arguments):
                return twin
        self.by_id |= dict.fromkeys(made.ids, made)
        if not self.is_open:
            self.turns.append(("\n".join(self.words), []))
            self.words, self.is_open = [], True
        self.turns[-1][1].append(made)
        return made

    def result(self, tool: str | None, ids: Sequence[str | int], result: Any, *, failed: bool) -> None:
        """Give a call its result: that with an id of the result, else the next without one."""
        self.is_open = False
        last = self.turns[-1][1] if self.turns else []
        waiting = [one for one in last if not one.is_answered and not (ids and one.ids)]
        waiting = [one for one in waiting if tool in (None, one.tool)]
        called = next((self.by_id[one] for one in ids if one in self.by_id), None)
        results = result_value(result)
        if called:
            called.answer(result, failed=failed)
        elif isinstance(results, list) and len(results) == len(waiting) > 1:  # ShareGPT: those of a message
            for one, item in zip(waiting, results, strict=True):
                one.answer(item, failed=failed)
        elif waiting:
            waiting[0].answer(result, failed=failed)

    def recorded(self) -> list[Turn]:
        """The turns. A call without id and result is left out: it belongs to a plan."""
        turns, words = [], list[str]()
        for said, made in self.turns:
            words += [said] if said else []
            calls = [
                Call(one.tool, one.arguments or {}, one.result, one.failed)
                for one in made
                if one.ids or one.is_answered
            ]
            if calls:
                turns.append(Turn("\n".join(words), calls))
                words = []
        return turns


class _Reader:
    """Reads the values of a file."""

    def __init__(self, names: Container[str]) -> None:
        self._names = names
        self.loose = _Sequence()  # of lines that are single messages, calls or spans
        self.sessions: defaultdict[str, _Sequence] = defaultdict(_Sequence)
        self.ended: list[_Sequence] = []

    def sequences(self, value: Any, parent: str = "") -> Iterator[Any]:
        """The parts of a value that are one sequence each: the innermost that hold a list of calls."""
        lists = list(self._lists(value, parent))
        items = [(key, item) for key, one in lists for item in one if self._has_call(item, key)]
        if any(next(self._lists(item, key), None) is None for key, item in items):
            yield value
        else:
            for key, item in items:
                yield from self.sequences(item, key)

    def walk(self, value: Any, sequence: _Sequence, parent: str = "", ids: Sequence[str | int] = ()) -> None:
        """Add the calls, results and words in a value to a sequence, or to that of the session it names.

        Args:
            value: The value.
            sequence: The sequence.
            parent: Key of the value, as `_fields` writes it.
            ids: Those of the object around it, which a call has too.
        """
        if isinstance(value, list):
            for item in value:
                self.walk(item, sequence, parent)
        if not isinstance(value, Mapping):
            return
        fields = _fields(value)
        for place in (fields, _fields(fields["context"]) if isinstance(fields.get("context"), dict) else {}):
            for key in _SESSIONS:
                if isinstance(place.get(key), str):
                    sequence = self.sessions[place[key]]
        if fields.get("method") == "initialize" and sequence is self.loose:
            self.ended.append(sequence)
            sequence = self.loose = _Sequence()
        own = [fields[key] for key in _IDS if isinstance(fields.get(key), str | int)]
        kinds = _kinds(fields)
        call = self._call(fields, parent)
        keys = _RESULTS if call and call[1] else _CONTENTS
        result = next((key for key in keys if key in fields), None)
        is_result = (
            result is not None
            and not kinds & (_PERSONS | _MODELS)
            and (
                any(one in sequence.by_id for one in own)
                or (bool(kinds & _RESULT_ROLES) and not _has_results(fields[result]))
                or _is_one(_RESULT, kinds, parent)
            )
        )
        failed = any(fields.get(key) for key in _ERRORS) or fields.get("status") == "error"
        if call and (call[1] or not is_result):
            made = sequence.call(_Made(call[0], _arguments(fields.get(call[1])), own or ids))
            if result or failed or any(key in fields for key in _OWN_NAMES):
                made.answer(fields.get(result or ""), failed=failed)
                sequence.is_open = False
            return
        if result is not None and is_result:
            failed = failed or fields[result] is None
            tool = next(
                (self._known(fields[key]) for key in _NAMES if isinstance(fields.get(key), str)), None
            )
            sequence.result(tool, own, fields[result], failed=failed)
            return
        said = [fields[key] for key in _WORDS if isinstance(fields.get(key), str)]
        if kinds & _PERSONS:
            said += [_text(fields[key]) for key in ("content", "text", "value", "parts") if key in fields]
        if any(said):
            sequence.words += said
            sequence.is_open = False
        for key, item in _children(fields, kinds):
            self.walk(item, sequence, key, own if isinstance(item, Mapping) else ())

    def _lists(self, value: Any, parent: str) -> Iterator[tuple[str, list[Any]]]:
        """The outermost lists with calls in a value, with their keys; not those of parts of a message."""
        if isinstance(value, list):
            if self._has_call(value, parent):
                yield parent, value
        elif isinstance(value, Mapping):
            fields = _fields(value)
            if not self._call(fields, parent):
                for key, item in _children(fields, _kinds(fields)):
                    if key not in _PARTS:
                        yield from self._lists(item, key)

    def _has_call(self, value: Any, parent: str) -> bool:
        if isinstance(value, list):
            return any(self._has_call(item, parent) for item in value)
        if not isinstance(value, Mapping):
            return False
        fields = _fields(value)
        return self._call(fields, parent) is not None or any(
            self._has_call(item, key) for key, item in _children(fields, _kinds(fields))
        )

    def _call(self, fields: Mapping[str, Any], parent: str) -> tuple[str, str] | None:
        """The tool of a call and the key of its arguments, empty if it has none; None for another object."""
        names = [self._known(fields[key]) for key in _NAMES if isinstance(fields.get(key), str)]
        key = next((key for key in _ARGUMENTS if key in fields), "")
        arguments = fields.get(key)
        is_schema = isinstance(arguments, Mapping) and arguments.get("type") == "object"
        if not names or is_schema or (key in ("", "parameters") and "description" in fields):
            return None  # a description of a tool is no call
        is_named = any(name in fields for name in ("tool", "toolname"))
        if known := next((name for name in names if name in self._names), None):
            is_call = any(name in fields for name in _RESULTS) or _is_one(_CALL, (), parent)
            return (known, key) if key or is_call or is_named else None
        is_call = is_named or _is_one(_CALL, _kinds(fields), parent)
        return (names[0], key) if is_call and (key or parent in ("", "calls")) else None

    def _known(self, name: str) -> str:
        """The name of a tool without the prefix of its server."""
        ends = [name, *(name[found.end() :] for found in _SEPARATOR.finditer(name))]
        return next((end for end in ends if end in self._names), name)


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name in small letters: `toolUseId` is `tool_use_id`, and `gen_ai.tool.name` is `toolName`."""
    return re.sub(r"[^a-z]", "", name.casefold().removeprefix("gen_ai."))


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_plain(str(key)): item for key, item in value.items()}


def _kinds(fields: Mapping[str, Any]) -> frozenset[str]:
    """What an object says that it is: its role, its type, and from whom it is."""
    return frozenset(
        _plain(fields[key]) for key in ("role", "type", "from") if isinstance(fields.get(key), str)
    )


def _is_one(form: re.Pattern[str], kinds: Iterable[str], parent: str = "") -> bool:
    return any(map(form.fullmatch, (*kinds, parent)))


def _has_results(content: Any) -> bool:
    """Whether the content of a message is a list of results, not the result of one call."""
    parts = content if isinstance(content, list) else ()
    return any(isinstance(one, Mapping) and _is_one(_RESULT, _kinds(_fields(one))) for one in parts)


def _children(fields: Mapping[str, Any], kinds: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """The objects and lists in an object, also those in JSON texts; of spans, attributes as an object."""
    is_call = _is_one(_CALL, kinds)
    for key, item in fields.items():
        if key == "toolchoice":
            continue
        if isinstance(item, str) and key.endswith("messages"):
            item = parsed_text(item)
        elif isinstance(item, str) and is_call and key in ("content", "value"):
            key, item = "toolcalls", parsed_text(item)
        elif key == "attributes" and isinstance(item, list):
            pairs = [
                one for one in item if isinstance(one, Mapping) and isinstance(one.get("value"), Mapping)
            ]
            item = {one.get("key"): next(iter(one["value"].values()), None) for one in pairs}
        if isinstance(item, Mapping | list):
            yield key, item


def _text(value: Any) -> str:
    """The text of a message: a text, or a list of parts, of which some may be results."""
    parts = value if isinstance(value, list) else [{"text": value}]
    texts = [
        one.get("text", one.get("content"))
        for one in parts
        if isinstance(one, Mapping) and str(one.get("type", "text")).endswith("text")
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _arguments(value: Any) -> dict[str, Any] | None:
    """Arguments as an object, a list of `{name, value}`, or a text of either; None for others."""
    if isinstance(value, str):
        value = parsed_text(value) if value.strip() else {}
    if value is None:
        return {}
    if isinstance(value, list):
        pairs = [one for one in value if isinstance(one, Mapping) and isinstance(one.get("name"), str)]
        return {one["name"]: one.get("value") for one in pairs} if len(pairs) == len(value) else None
    return dict(value) if isinstance(value, Mapping) else None
