"""Reads files of recorded calls in any form: JSON Lines, or one JSON value.

A record is searched for objects that are a call (the name of a tool beside arguments) and objects that are a
result (of the call with the same id, else the next one in order). The names of their fields vary with the
form, and are compared in small letters: `tool_use_id`, `toolUseId`. So one reader reads chats of OpenAI (also
Responses and `function_call`), Anthropic, Gemini, LangChain, tau2-bench, Inspect, ShareGPT and ATIF, the
JSON-RPC of MCP, spans of OpenTelemetry, and `{"calls": [{"tool", "arguments", "result", "error"}]}`. The
attributes of a span count as its fields, under the names of its own conventions and of the frameworks.

A list of messages or calls is a sequence. Lines that are single messages, calls or spans form one sequence
for each session or trace that they name, else one for the file. Calls are in the order of the times of their
records, where these have one.
"""

from __future__ import annotations

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.console.text_formatting import some_of, without_controls
from toolassay.errors import UsageError
from toolassay.files.data_files import map_texts, read_json, read_json_lines
from toolassay.files.locks import open_regular
from toolassay.tools.results import is_refusal, parsed_text, result_value

_FORMS = (
    'give chats with tool calls, MCP messages, spans, or lines {"calls": [{"tool", "arguments", "result"}]}'
)

# Keys as `_plain` writes them; the first that an object has counts.
_NAMES = ("toolname", "toolcallname", "tool", "name", "functionname", "function", "task", "action")
_ARGUMENTS = (
    *("arguments", "toolcallarguments", "toolarguments", "toolcallargs", "toolcallinput", "args"),
    *("toolinput", "input", "inputs", "inputvalue", "parameters", "kwargs", "inputparameters", "actioninput"),
    "prompt",  # of LangSmith's spans
)
_RESULTS = (
    *("result", "toolcallresult", "toolresponse", "toolcalloutput", "tooloutput"),
    *("output", "outputs", "outputvalue", "observation", "response", "completion"),
)
_WHOLE = {*_ARGUMENTS, *_RESULTS} - {"input", "output"}  # OpenInference: {"input": {"value": …}}
_CONTENTS = (*_RESULTS, "content", "value", "error")
_IDS = ("toolcallid", "tooluseid", "callid", "sourcecallid", "id")
_SESSIONS = ("traceid", "sessionid", "conversationid", "threadid")
_ERRORS = ("error", "iserror", "errortype", "errortext")
_STARTS = (
    *("starttimeunixnano", "starttime", "starttimestamp", "startedat", "timestamp", "timeunixnano"),
    *("createdat", "start"),
)
_ENDS = ("endtimeunixnano", "endtime", "endtimestamp", "endedat", "completedat", "completed", "end")
_ATTRIBUTES = ("context", "attributes", "spanattributes", "tags")  # objects whose fields are those of a span
_STATUSES = ("status", "statuscode", "state", "level")  # "error", "ERROR", "output-error"
_TEXTS = ("text", "inputtext")
_WORDS = ("request", "userrequest", "instruction", "instructions", "input", "prompt")
# Ends of the names of texts that are JSON.
_TEXTS_OF_JSON = ("messages", "toolcalls", "events", "requestdata", "responsedata")
# Lists of parts of one message, which are no sequences.
_PARTS = ("content", "value", "toolcalls", "invalidtoolcalls", "parts", "choices", "candidates")
# Roles and types, and keys that say the same: "tool_calls", "mcp_tool_use", "functionResponse".
# Each is matched against a whole role, type or key, as `_plain` writes it.
_PERSON = re.compile(r"user|human|system|developer")  # "user", not "username"
_SPEAKER = re.compile(rf"{_PERSON.pattern}|assistant|ai|gpt|model")  # "assistant", not "tool"
# "toolcalls", "mcptooluse"; not "tool", which may be a role
_CALL = re.compile(r"\w*(?:tool|function)(?:calls?|use)|calls|params|function")
# "toolresult", "functioncalloutput"; not "result", which many objects have
_RESULT = re.compile(r"\w*(?:tool|function)\w*(?:result|response|output)")
_RESULT_ROLE = re.compile(r"tool|function|observation|ipython")  # "tool", not "tools"
_TAGGED = re.compile(r"<tool_(call|response)>\s*(.*?)\s*</tool_\1>", re.DOTALL)  # Hermes, Qwen
# Namespaces of frameworks: "gen_ai.tool.name", "ai.toolCall.name", "mlflow.spanInputs", "message.role".
_NAMESPACE = re.compile(
    r"^(?:(?:span_?)?attributes\.|gen_ai\.|ai\.|(?:traceloop|langsmith)\.entity\.|langfuse\.observation\."
    r"|gcp\.vertex\.agent\.|mlflow\.span|message\.|tool_call\.(?:function\.)?)+"
)
_ATTACHMENT = re.compile(r"attachment://([\w.-]+)")  # of Inspect: a long text that is kept once
_DESCRIBED = ("description", "parameters", "inputschema", "outputschema")  # of a tool that is offered
_MOST_KEYS = 12  # that are named of an object that was not read
# Characters of a key in a message: keys of unread objects may be whole texts.
_LONGEST_KEY = 60
_END = object()  # after the last value of a file
# After the name of a server or of an operation: mcp__files__read, files.read, "execute_tool read".
_SEPARATOR = re.compile(r"__|[./:]\s*|^execute_tool\s+")


class RecordedCall(NamedTuple):
    """A recorded call.

    Attributes:
        tool: Its tool.
        arguments: By name.
        result: The result.
        failed: Whether it is evidence of nothing: the result is an error, or was not found.
        unread: If arguments or result were not found, the keys that were.
    """

    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    failed: bool = False
    unread: str = ""


class RecordedTurn(NamedTuple):
    """Calls that were made together, after `words` of a person (and of the system prompt)."""

    words: str
    calls: Sequence[RecordedCall]


def read_traces(
    path: Path, names: Container[str], unread: Counter[str] | None = None
) -> Iterator[Sequence[RecordedTurn]]:
    """Yield the sequences of a file, one at a time; those of sessions and of single messages at the end.

    Args:
        path: The file.
        names: The tools that are known. A name may have a prefix: `mcp__server__tool`.
        unread: Gets the keys of objects that name a tool and were not read as a call, with their number.

    Raises:
        UsageError: The file is missing, is no JSON (with the line), or has no call.
    """
    reader = _Reader(names, Counter() if unread is None else unread)
    has_sequences = False
    loose: defaultdict[str, list[_Event]] = defaultdict(list)  # by session
    values = [read_json(path)] if _is_one_value(path) else (value for _, value in read_json_lines(path))
    for value in chain(values, [_END]):
        events = list(reader.events(value))
        is_loose = not any(event.location for event in events)
        for event in events:
            if is_loose or event.session:
                loose[event.session or str(reader.connections)].append(event)
        sequential = [event for event in events if not (is_loose or event.session)]
        for sequence in (*_sequences(sequential), *(loose.values() if value is _END else ())):
            if turns := _turns(sequence):
                has_sequences = True
                yield turns
    if not has_sequences:
        keys = next(iter(reader.unread), shown_keys(reader.largest)) or "none"
        raise UsageError(f"has no recorded call that could be read (keys: {keys})", file=path, fix=_FORMS)


def _is_one_value(path: Path) -> bool:
    """Whether a file is one JSON value over several lines: its first line opens a list or an object."""
    try:
        with open_regular(path, "r", encoding="utf-8-sig", errors="replace") as stream:
            first = next((line for line in stream if line.strip()), "")
    except OSError:
        return False  # `read_json_lines` reports it
    return first.split() in (["["], ["{"], ["[["], ["[{"], ["[", "{"], ["[", "["])


class _Event(NamedTuple):
    """A call, a result, a call with its result, or words of a person.

    Attributes:
        location: The lists around it, from the outside, each with the number of the item.
        session: Session or trace; empty if none is named.
        time: Start and end of the nearest record around it, and its number; None without.
        ids: Of the call, or of that of the result.
        tool: Name of the tool; None if a result names none.
        arguments: None if it is no call; empty if they cannot be read.
        result: The result.
        has_result: Whether there is one.
        failed: Whether the call failed, whatever the result.
        words: Of a person.
        source: The object, if its keys are shown where it cannot be read.
    """

    location: Sequence[tuple[str, int]] = ()
    session: str = ""
    time: tuple[float, float, int] | None = None
    ids: Sequence[str | int] = ()
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    result: Any = None
    has_result: bool = False
    failed: bool = False
    words: str = ""
    source: Mapping[str, Any] | None = None


_NOWHERE = _Event()


def _in_order(events: Sequence[_Event]) -> list[_Event]:
    """Events in the order of their times; one without a time stays behind the one before it."""
    times: list[tuple[float, float, int]] = []
    for event in events:
        times.append(event.time or (times[-1] if times else (-1, 0, 0)))
    starts = [start for start, _, number in times if number]
    # Where the newest record comes first, that holds for equal times too.
    sign = -1 if starts and starts[0] > starts[-1] else 1
    order = sorted(range(len(events)), key=lambda number: (*times[number][:2], sign * times[number][2]))
    return [events[number] for number in order]


def _sequences(events: Sequence[_Event], depth: int = 0) -> Iterator[Sequence[_Event]]:
    """Part the events of a value: what directly holds a list of calls is one sequence."""
    depths = [len(event.location) - depth for event in events if event.arguments is not None]
    if depths and min(depths) <= 1:
        yield events
    elif depths:
        parts: defaultdict[Any, list[_Event]] = defaultdict(list)
        for event in events:
            parts[tuple(event.location[depth : depth + 1])].append(event)
        for part in parts.values():
            yield from _sequences(part, depth + 1)


@dataclass
class _Made:
    """A call whose result may come later."""

    event: _Event
    answer: _Event | None = None

    def call(self) -> RecordedCall:
        assert self.event.tool is not None and self.event.arguments is not None
        if self.answer is None:
            unread = "" if self.event.failed else shown_keys(self.event.source or {})
            return RecordedCall(self.event.tool, self.event.arguments, None, True, unread)
        result = result_value(self.answer.result)
        if isinstance(result, Mapping) and result.keys() == {"output"}:  # Gemini, LangSmith
            result = result_value(result["output"])
        if isinstance(result, Mapping) and result.get("type") == "tool":  # a message of LangChain
            result = result_value(result.get("content"))
        is_error = isinstance(self.answer.result, Mapping) and self.answer.result.get("isError") is True
        failed = self.answer.failed or self.event.failed or is_error or is_refusal(result)
        return RecordedCall(self.event.tool, self.event.arguments, result, failed)


def _turns(events: Sequence[_Event]) -> list[RecordedTurn]:
    """The turns of a sequence; nothing if it has no call.

    A call without id, result and time is left out: it belongs to a plan.
    """
    turns: list[tuple[str, list[_Made]]] = []
    words: list[str] = []
    calls_by_id: dict[str | int, _Made] = {}  # by id; some recordings use one for several calls
    for event in _in_order(events):
        words += [event.words] if event.words else []
        called = [calls_by_id[call_id] for call_id in event.ids if call_id in calls_by_id]
        if event.arguments is not None:
            # Some recordings hold a call twice, once perhaps without its arguments.
            called = [call for call in called if call.event.tool == event.tool]
            called = [call for call in called if event.arguments in ({}, call.event.arguments)]
            if not called:
                called = [_Made(event)]
                calls_by_id |= dict.fromkeys(event.ids, called[0])
                if words or not turns or any(call.answer for call in turns[-1][1]):
                    turns.append(("\n".join(words), []))
                    words = []
                turns[-1][1].append(called[0])
        elif not called and turns:
            waiting = [call for call in turns[-1][1] if not (call.answer or (event.ids and call.event.ids))]
            called = [call for call in waiting if event.tool in (None, call.event.tool)]
            results = result_value(event.result) if len(called) > 1 else None
            if isinstance(results, list) and len(results) == len(called):  # ShareGPT: those of a message
                for call, result in zip(called, results, strict=True):
                    call.answer = event._replace(result=result)
        if event.has_result and called and called[0].answer is None:
            called[0].answer = event
    read = [
        (words, [call.call() for call in calls if call.event.source or call.event.ids or call.answer])
        for words, calls in turns
    ]
    return [RecordedTurn(*turn) for turn in read if any(turn)] if any(calls for _, calls in read) else []


class _Reader:
    """Finds the events in the values of a file."""

    def __init__(self, names: Container[str], unread: Counter[str]) -> None:
        self._names = names
        self._ids: set[str | int] = set()  # of calls so far
        self._count = 0  # calls and results
        self._records = 0  # with a time
        self.connections = 0  # of MCP, each of which numbers its requests from 1
        self.unread = unread
        self.largest: Mapping[str, Any] = {}  # object

    def events(self, value: Any, key: str = "", context: _Event = _NOWHERE) -> Iterator[_Event]:
        """The events in a value.

        Args:
            value: The value.
            key: Its key, as `_plain` writes it; that of the list for an item.
            context: Location, session, time and ids around it; a call has the ids too.
        """
        if isinstance(value, dict) and _is_numbered(value):
            value = [value[number] for number in sorted(value, key=int)]
        if isinstance(value, list):
            for number, item in enumerate(value):
                inner_path = context.location if key in _PARTS else (*context.location, (key, number))
                yield from self.events(item, key, context._replace(location=inner_path, ids=()))
        if not isinstance(value, Mapping):
            return
        if isinstance(texts := value.get("attachments"), Mapping) and texts:
            resolve = partial(_ATTACHMENT.sub, lambda match: str(texts.get(match[1], match[0])))
            value = map_texts({**value, "attachments": None}, resolve, key=str)
        fields = _fields(value)
        self.largest = max(self.largest, value, key=len)
        sessions = (fields[name] for name in _SESSIONS if isinstance(fields.get(name), str))
        context = context._replace(session=next(sessions, context.session))
        start = _time(fields, _STARTS)
        if start is not None:
            self._records += 1
            context = context._replace(time=(start, _time(fields, _ENDS) or start, self._records))
        self.connections += fields.get("method") == "initialize"
        own_ids = [fields[name] for name in _IDS if isinstance(fields.get(name), str | int)]
        kinds = _kinds(fields)
        tool, arguments_key = self._call(fields, key)
        content = next((name for name in (_RESULTS if arguments_key else _CONTENTS) if name in fields), "")
        result = fields.get(content)
        failed = _has_failed(fields)
        is_result = (
            content != ""
            and not _is_one(_SPEAKER, kinds)
            and (
                not self._ids.isdisjoint(own_ids)
                or (_is_one(_RESULT_ROLE, kinds) and not _holds_results(result))
                or _is_one(_RESULT, (*kinds, key))
            )
        )
        count_before = self._count
        if tool and (arguments_key or not is_result):
            arguments = _arguments(fields.get(arguments_key))
            ids = own_ids or context.ids
            self._ids.update(ids)
            # Of the form `{"calls": …}` a result may be left out.
            is_whole = content != "" or failed or "tool" in fields or "task" in fields
            is_planned = bool(arguments_key) and not ids and start is None
            call = context._replace(ids=ids, tool=tool, source=None if is_planned else value)
            if arguments is None:
                self.unread[shown_keys(value)] += 1
            else:
                self._count += 1
                yield call._replace(arguments=arguments, result=result, has_result=is_whole, failed=failed)
        elif is_result:
            self._count += 1
            name = next((fields[name] for name in _NAMES if isinstance(fields.get(name), str)), None)
            name = name and self._known_name(name)
            yield context._replace(ids=own_ids, tool=name, result=result, has_result=True, failed=failed)
        else:
            spoken = _spoken_texts(fields, kinds)
            if any(spoken):
                yield context._replace(ids=(), words="\n".join(spoken))
            is_text = _is_one(_SPEAKER, kinds) or not fields.keys().isdisjoint(_DESCRIBED)
            names_tool = not is_text and any(
                isinstance(name, str) and name in self._names for name in fields.values()
            )
            inside = context._replace(ids=own_ids, source=value if names_tool else context.source)
            for name, item in _children(fields, kinds):
                yield from self.events(item, name, inside)
            if names_tool and self._count == count_before and context.source is None:
                self.unread[shown_keys(value)] += 1
            for name in ("observation", "observations"):  # beside an object that is the call
                if isinstance(fields.get(name), str | Mapping):
                    yield context._replace(ids=(), result=fields[name], has_result=True, failed=failed)

    def _call(self, fields: Mapping[str, Any], key: str) -> tuple[str, str]:
        """The tool of a call and the key of its arguments if it has any; no tool for another object."""
        names = [self._known_name(fields[name]) for name in _NAMES if isinstance(fields.get(name), str)]
        if "toolcallid" in fields and str(fields.get("type")).startswith("tool-"):  # Vercel: "tool-search"
            names.append(fields["type"].removeprefix("tool-"))
        arguments_key = next((name for name in _ARGUMENTS if name in fields), "")
        schema = fields.get(arguments_key)
        is_description = isinstance(schema, Mapping) and schema.get("type") == "object"
        if not names or is_description or (arguments_key in ("", "parameters") and "description" in fields):
            return "", ""
        is_call = not fields.keys().isdisjoint(_NAMES[:3]) or _is_one(_CALL, (*_kinds(fields), key))
        for name in names:
            if name in self._names and (
                arguments_key or is_call or any(result_key in fields for result_key in _RESULTS)
            ):
                return name, arguments_key
        return (names[0], arguments_key) if is_call and (arguments_key or key in ("", "calls")) else ("", "")

    def _known_name(self, name: str) -> str:
        """The name of a tool without the prefix of its server."""
        ends = [name, *(name[separator.end() :] for separator in _SEPARATOR.finditer(name))]
        return next((end for end in ends if end in self._names), name)


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A name in small letters: `toolUseId` is `tool_use_id`, and `gen_ai.tool.name` is `toolName`."""
    return re.sub(r"[^a-z]", "", _NAMESPACE.sub("", name.casefold()))


def _has_failed(fields: Mapping[str, Any]) -> bool:
    """Whether the fields of a call, a result or a span report an error."""
    states = [_plain(fields[name]) for name in _STATUSES if isinstance(fields.get(name), str)]
    if isinstance(status := fields.get("status"), Mapping):  # of a span; in OTLP 2 is an error
        code = status.get("code", status.get("status_code"))
        states.append("error" if str(code) == "2" else _plain(str(code)))
    return any(fields.get(name) for name in _ERRORS) or any("error" in state for state in states)


def _spoken_texts(fields: Mapping[str, Any], kinds: Iterable[str]) -> list[str]:
    """The texts that a person wrote: the request of a record, or the content of a message."""
    texts = [fields[name] for name in _WORDS if isinstance(fields.get(name), str)]
    if _is_one(_PERSON, kinds):
        content = ("content", "text", "value", "parts", "message")
        texts += [_text(fields[name]) for name in content if name in fields]
    return texts


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object by plain name, with those in its attributes if it is a span."""
    fields = {_plain(str(key)): _untyped(item) for key, item in value.items()}
    for name in _ATTRIBUTES:
        if name in fields and (attributes := _attributes(fields[name])):
            del fields[name]
            fields |= {_plain(key): item for key, item in attributes.items()}
    return fields


def shown_keys(value: Mapping[str, Any]) -> str:
    """The keys of an object for people; those of its attributes if it is a span."""
    keys = _attributes(value.get("attributes")) or value
    return some_of([without_controls(str(key))[:_LONGEST_KEY] for key in keys], _MOST_KEYS)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of a span by their names with dots; {} for what is none.

    >>> _attributes([{"key": "m.0.role", "value": {"stringValue": "user"}}]), _attributes({"a": {"b": 1}})
    ({'m': {'0': {'role': 'user'}}}, {'a.b': 1})
    """
    attributes = _by_key(value) if isinstance(value, list) else value
    tree: dict[str, Any] = {}
    for key, item in attributes.items() if isinstance(attributes, Mapping) else ():
        *outer, last = str(key).split(".")
        inner = tree
        for part in outer:
            if not isinstance(inner.get(part), dict):
                inner[part] = {}
            inner = inner[part]
        inner.setdefault(last, item)
    return dict(_leaves(tree))


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What is in objects, under names with dots; arguments, results and numbered objects stay whole."""
    for key, item in tree.items():
        name = f"{prefix}{key}"
        if isinstance(item, Mapping) and not _is_numbered(item) and _plain(name) not in _WHOLE:
            yield from _leaves(item, f"{name}.")
        else:
            yield name, item


def _is_numbered(value: Mapping[str, Any]) -> bool:
    """Whether an object is a list: `{"0": …, "1": …}`."""
    return bool(value) and all(map(str.isdecimal, value))


def _by_key(items: Any) -> dict[str, Any]:
    return {str(entry["key"]): _untyped(entry.get("value")) for entry in _objects(items) if "key" in entry}


def _untyped(value: Any) -> Any:
    """A value as JSON has it; of OTLP `{"intValue": "7"}` is 7.

    >>> _untyped({"kvlistValue": {"values": [{"key": "ids", "value": {"arrayValue": {}}}]}})
    {'ids': []}
    """
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((name, inner),) = value.items()
    # An object that only looks like a typed value, e.g. `{"intValue": "many"}`, stays as it is.
    with suppress(ValueError, TypeError, AttributeError):
        match _plain(str(name)):
            case "stringvalue" | "boolvalue" | "doublevalue":
                return inner
            case "intvalue":
                return int(inner)
            case "bytesvalue":
                return base64.b64decode(inner).decode()
            case "arrayvalue":
                return [_untyped(item) for item in inner.get("values") or ()]
            case "kvlistvalue":
                return _by_key(inner.get("values"))
    return value


def _time(fields: Mapping[str, Any], names: Iterable[str]) -> float | None:
    """The time in the first of these fields that has one: of ISO text in nanoseconds, a number as it is."""
    for value in filter(None, map(fields.get, names)):
        with suppress(ValueError, TypeError):
            # A float has no single nanoseconds of this century.
            return int(value) if str(value).isdecimal() else float(value)
        with suppress(ValueError, TypeError):
            return datetime.fromisoformat(value).timestamp() * 1e9
    return None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _kinds(fields: Mapping[str, Any]) -> list[str]:
    """What an object says that it is: its role, its type, and from whom it is."""
    keys = ("role", "type", "from", "source")
    return [_plain(fields[key]) for key in keys if isinstance(fields.get(key), str)]


def _is_one(form: re.Pattern[str], kinds: Iterable[str]) -> bool:
    return any(map(form.fullmatch, kinds))


def _holds_results(value: Any) -> bool:
    if isinstance(value, str):
        return "<tool_response>" in value
    parts = map(_fields, _objects(value))
    return any(_is_one(_RESULT, (*_kinds(part), *part)) for part in parts)


def _children(fields: Mapping[str, Any], kinds: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The objects and lists in an object, also those in JSON texts."""
    is_call = _is_one(_CALL, kinds)
    for key, item in fields.items():
        if key == "toolchoice":
            continue
        if isinstance(item, str) and key.endswith(_TEXTS_OF_JSON):
            item = parsed_text(item)
        elif isinstance(item, str) and is_call and key in ("content", "value"):
            key = "toolcalls"
            item = parsed_text(item)
        elif isinstance(item, str) and key in ("content", "value") and (tagged := _TAGGED.findall(item)):
            key = "parts"
            tagged_parts = [(f"tool{kind}", parsed_text(text)) for kind, text in tagged]
            item = [
                {"content": part, **(part if isinstance(part, dict) else {}), "type": kind}
                for kind, part in tagged_parts
            ]
        if isinstance(item, Mapping | list):
            yield key, item


def _text(value: Any) -> str:
    """The text of a message: a text, or a list of parts, of which some may be results."""
    parts = _objects(value if isinstance(value, list) else [{"text": value}])
    texts = [
        part.get("text", part.get("content"))
        for part in parts
        if _plain(str(part.get("type", "text"))) in _TEXTS
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _arguments(value: Any) -> dict[str, Any] | None:
    """Arguments as an object, a list of `{name, value}`, or a text of either; None for others."""
    if isinstance(value, str):
        value = parsed_text(value) if value.strip() else {}
    inner = value.get("input") if isinstance(value, Mapping) and len(value) == 1 else None
    if isinstance(inner, str) and isinstance(parsed := parsed_text(inner), dict):  # LangSmith
        value = parsed
    if value is None:
        return {}
    if isinstance(value, list):
        pairs = [pair for pair in _objects(value) if isinstance(pair.get("name"), str)]
        return {pair["name"]: pair.get("value") for pair in pairs} if len(pairs) == len(value) else None
    return dict(value) if isinstance(value, Mapping) else None
