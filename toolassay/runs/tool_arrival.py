"""Detects servers that silently drop the `tools` of requests, and those whose parser of tool calls leaks.

Leaked calls are repaired: those left in the text, passed on with marks, or encoded twice. Only what the
request offers is taken for a call, so a tool that the model invents stays wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from toolassay.files.data_files import unescaped_json
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ToolCall
from toolassay.models.json_answers import NOTHING, load, spans, without_reasoning
from toolassay.plans.normalised_plan import decoded as json_in
from toolassay.runs.manifest import ToolUse, read_manifest
from toolassay.tools.type_names import types_of

FIRST = 10
"""Number of items without a tool call after which the warning is given."""
FEWEST = 3
"""Minimum number of items for a warning at the end of a shorter run."""
CHARACTERS_PER_TOKEN = 8
"""Upper bound: a token of JSON has 3 to 5 characters, and a chat template may render schemas in half their
length."""

Verdict = Literal["fine", "missing", "unknown"]
"""`missing`: no item made a call, and every prompt has too few tokens to contain the tools. `unknown`: no
item made a call, and the server reports no prompt tokens."""


class ToolArrival:
    """A model wrapper that checks whether tools reach the model, and repairs the calls it makes.

    One tool call proves that they do, whatever the server reports. Answers that a filter refused are ignored.

    Args:
        model: The model.
        known: `facts` at the end of an earlier start of the run.
        warn: Called once, with a verdict other than `fine`.
    """

    def __init__(self, model: ChatModel, known_use: ToolUse, warn: Callable[[Verdict], None]) -> None:
        self._model = model
        self._warn = warn
        self.name = model.name
        self._before = known_use.items or 0
        self._called = bool(known_use.called)
        self._tokens = int(known_use.prompt_tokens or 0)
        self._characters = known_use.tool_characters or 0
        self._items: set[str] = set()
        self._answers = known_use.answers
        self._leaks = Counter(known_use.leaks)
        self._warned = False

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Forward the request, repair the answer, and record whether it calls a tool.

        Raises:
            ModelError: There is no answer.
        """
        response = await self._model.complete(request)
        if not (tools := request.parameters.get("tools")) or response.refused:
            return response
        response, leaks = repaired(response, request)
        self._answers += 1
        self._leaks.update(leaks)
        if not self._called:
            self._watch(request, tools, response)
        return response

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    @property
    def items(self) -> int:
        """Items that were offered tools before the first call, up to ten."""
        return min(FIRST, self._before + len(self._items))

    @property
    def verdict(self) -> Verdict:
        """The verdict by the items so far; `fine` for fewer than three."""
        if self._called or self.items < FEWEST:
            return "fine"
        if not self._tokens:
            return "unknown"
        return "missing" if self._tokens * CHARACTERS_PER_TOKEN < self._characters else "fine"

    @property
    def facts(self) -> ToolUse:
        """For the manifest: counts, and sizes of the request with the most prompt tokens for its tools."""
        use = ToolUse(self._answers, dict(self._leaks)) if self._leaks else ToolUse()
        if self.items:
            use.items = self.items
            use.called = self._called
            use.prompt_tokens = self._tokens or None
            use.tool_characters = self._characters
            use.tools_missing = self.verdict == "missing"
        return use

    @property
    def leak_notice(self) -> str:
        """How many answers show the leak, repaired or not; empty for none."""
        leak_texts = (f"{count} of {self._answers} answers had {leak}" for leak, count in self._leaks.items())
        return f"the server's parser of tool calls leaks: {', '.join(leak_texts)}" if self._leaks else ""

    def check(self) -> None:
        """Warn if the verdict is not `fine` and no warning was given yet."""
        if self.verdict != "fine" and not self._warned:
            self._warned = True
            self._warn(self.verdict)

    def _watch(self, request: ChatRequest, tools: Any, response: ChatResponse) -> None:
        # A conversation from an earlier start may contain tool calls although its last answer has none.
        spoken = any(message.get("tool_calls") for message in request.messages)
        self._called = spoken or bool(response.tool_calls)
        if self.items == FIRST and not self._called:
            return
        self._items.add(request.item)
        characters = len(unescaped_json(tools))
        tokens = response.prompt_tokens or 0
        if not self._characters or tokens * self._characters > self._tokens * characters:
            self._tokens = tokens
            self._characters = characters
        if self.items == FIRST:
            self.check()


def tools_missing(run_folder: Path) -> bool:
    """Whether, by its manifest, the tools of a run never reached the model.

    Raises:
        UsageError: The manifest cannot be read.
    """
    return read_manifest(run_folder).tool_use.tools_missing is True


_LEAKS = ("marks around a tool's name", "arguments encoded twice or between marks")
_LONGEST = 300  # characters of a name with marks, and of what precedes the arguments of a call in a text
# A special token: matches "<|channel|>", "<tool_call>", "<function=add>" and "[TOOL_CALLS]", not "[1]".
_MARK = r"(?:<[^<>\s]{1,80}>|\[/?[A-Z_]{2,20}\])"
# What may precede a name: matches "functions.", "default_api:" and "<|channel|>commentary to=functions.", not
# "my_" or "never ".
_BEFORE_NAME = re.compile(rf"(?:{_MARK}(?:\w++(?![\w.:/=-]))?+|[\w-]++[.:/=]++|[\s\"'`({{<\[])*")
# What may follow a name: matches "<|channel|>commentary", "()" and ":0", not "2" or " later".
_AFTER_NAME = re.compile(rf"(?:[\s\"'`(){{}}\]>,;:.]|:\d{{1,3}})*(?:(?:{_MARK}|<\|).*)?", re.DOTALL)
# What precedes a call that is an object: the start, a line end, a mark, a fence, "functools["; not words on
# the same line.
_BEFORE_CALL = re.compile(r"(?:(?:\A|\n)(?:\w++(?=\[))?|[>\]]|```\w*)[\s\[,;]*\Z")
# What may follow the object of a call: "}", a line end, "<|call|>", a fence; not words on the same line.
_AFTER_CALL = re.compile(r"[\s}]*(?:\Z|\n|[<\[\],;]|```)")
# One argument as XML: '<parameter=to>1</parameter>', '<parameter name="to" string="true">1</parameter>' and
# '<arg_key>to</arg_key><arg_value>1</arg_value>'.
_XML_ARGUMENT = re.compile(
    r"<[^<>\s]{0,20}(?:parameter(?:=|\sname=)[\"']?|arg_key>\s*)(?P<name>[^<>\"'\s]{1,80})"
    r"[^<>]{0,40}(?:</arg_key>\s*<arg_value)?>(?P<value>(?:(?!<[^<>\s]{0,20}(?:parameter|arg_))[\s\S])*+)"
    r"</[^<>\s]{0,20}(?:parameter|arg_value)>"
)
# What may surround arguments: matches "\n```json\n```" and "<|call|>", not "Sure:".
_AROUND_ARGUMENTS = re.compile(rf"(?:\s|```\w*+|{_MARK})*+")
# A name after a sign of a mark or as a function: matches "send" in "<function=send>", '<invoke name="send">',
# "\nsend(to=1)", "call:send" and '"name": "send", "arguments"', not in "I send it" or "`send`".
_MARKED_NAME = re.compile(
    r"(?:(?<=[<>\]|=\[:.])[\"']?|(?<![^\n])(?=\w+\()|name\"\s?:\s?\"(?=[\w-]+\"\s?,\s?\"(?:argu|param)))([\w-]+)"
)
# The opening of a fence before a call: "```json" at the end; not "``` done".
_FENCE = re.compile(r"```\w*\s*\Z")
# Keys around arguments that a server encoded twice. An object with another key is the arguments.
_KEYS = frozenset({"name", "tool_name", "arguments", "parameters", "id", "tool_call_id", "type"})
Offered = Mapping[str, Mapping[str, Any]]
"""The schema of the arguments of each function that a request offers."""


def repaired(response: ChatResponse, request: ChatRequest) -> tuple[ChatResponse, list[str]]:
    """The answer to a request that offers tools, and what was repaired in it.

    Calls in the text count only if there are no others. One that the conversation has already is a quotation.
    """
    functions = [tool["function"] for tool in request.parameters["tools"]]
    offered = {function["name"]: function.get("parameters") or {} for function in functions}
    if calls_of_response := response.tool_calls:
        names, arguments = zip(*((call.name, call.arguments) for call in calls_of_response), strict=True)
        known_names = tuple(offered_name(name, offered) for name in names)
        plain = (
            known_names,
            tuple(decoded(*pair) for pair in zip(arguments, map(offered.get, known_names), strict=True)),
        )
        calls = tuple(
            replace(call, name=name, arguments=text)
            for call, name, text in zip(calls_of_response, *plain, strict=True)
        )
        leaks = [leak for leak, a, b in zip(_LEAKS, (names, arguments), plain, strict=True) if a != b]
        return replace(
            response, tool_calls=calls, leaked=json.dumps([names, arguments]) if leaks else ""
        ), leaks
    functions_called = [
        call["function"] for message in request.messages for call in message.get("tool_calls") or ()
    ]
    earlier = [(call["name"], load(call["arguments"])) for call in functions_called]
    visible = without_reasoning(response.text)[0]
    written = list(calls_in(visible, offered))
    new_calls = [call for call in written if call not in earlier]
    if not new_calls:
        marked = () if written else _MARKED_NAME.finditer(visible or response.reasoning)
        is_call = any(token[1] in offered for token in marked)
        return response, ["calls as text that cannot be read"] if is_call else []
    text = re.split(r"[<\[{]|```", visible, maxsplit=1)[0].strip()
    calls = tuple(ToolCall("", name, json.dumps(arguments)) for name, arguments in new_calls)
    return replace(response, text=text, tool_calls=calls, leaked=response.text), ["calls as text"]


def offered_name(name: str, offered: Collection[str]) -> str:
    r"""The one offered name in a name with marks; the name itself if there is none.

    >>> offered = {"send", "read"}
    >>> [offered_name(name, offered) for name in ("functions.send", "send<|channel|>final", " `send`\n")]
    ['send', 'send', 'send']
    >>> [offered_name(name, offered) for name in ("send2", "re-send", "send read", "never send")]
    ['send2', 're-send', 'send read', 'never send']
    """
    if name in offered or len(name) > _LONGEST:
        return name
    tokens = [token for token in re.finditer(r"[\w-]+", name) if token[0] in offered]
    if len(tokens) != 1 or not _BEFORE_NAME.fullmatch(name, 0, tokens[0].start()):
        return name
    return tokens[0][0] if _AFTER_NAME.fullmatch(name, tokens[0].end()) else name


def decoded(arguments: str, schema: Mapping[str, Any] | None = None) -> str:
    r"""Arguments that are an object between marks, encoded several times or inside another, as JSON.

    Others are unchanged. An empty object before another one is where a proxy began to stream them.

    Args:
        arguments: As the server sent them.
        schema: The schema of the arguments, whose own `arguments` and `parameters` are not unwrapped.

    >>> decoded('"{\\"to\\": 1}"'), decoded('"to"'), decoded('{"to": 1}<|call|>')
    ('{"to": 1}', '"to"', '{"to": 1}')
    >>> decoded('{"name": "send", "arguments": {"to": 1}}', {"properties": {"to": {}}})
    '{"to": 1}'
    """
    arguments = arguments[2:] if arguments.startswith("{}{") else arguments
    span = next(spans(arguments), None)
    if span and span.whole and span.source is arguments:
        around = arguments[: span.start] + arguments[span.end :]
        if around.strip() and len(around) <= _LONGEST and _AROUND_ARGUMENTS.fullmatch(around):
            return span.text if isinstance(load(span.text), dict) else arguments
    value = json_in(arguments)
    if not isinstance(value, dict):
        return arguments
    own_properties = (schema or {}).get("properties") or {}
    inner = value.get("arguments", value.get("parameters"))
    if (
        own_properties
        and isinstance(inner, dict)
        and value.keys() <= _KEYS
        and not value.keys() & own_properties.keys()
    ):
        return json.dumps(inner)
    return arguments if arguments.lstrip().startswith("{") else unescaped_json(value)


def calls_in(text: str, offered: Offered) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls of offered tools that are written in a text, with their arguments.

    A call is a JSON object with a name and arguments on lines of its own, between marks or in a fence, or an
    object of arguments after marks with the name; else XML with an element for each argument.

    >>> offered = {"send": {"properties": {"to": {"type": "integer"}}}}
    >>> list(calls_in('<tool_call>{"name": "send", "arguments": {"to": 1}}</tool_call>', offered))
    [('send', {'to': 1})]
    >>> list(calls_in('<function=send>{"to": 1}</function>', offered))
    [('send', {'to': 1})]
    >>> list(calls_in('<function=send><parameter=to>1</parameter></function>', offered))
    [('send', {'to': 1})]
    >>> list(calls_in('I would write {"name": "send", "arguments": {}} here.', offered))
    []
    """
    end = 0  # of the last call
    for span in spans(text):
        value = load(span.text) if span.whole and _AFTER_CALL.match(span.source, span.end) else None
        if not isinstance(value, dict) or span.source is not text:
            continue
        before = text[end : span.start][-_LONGEST:]
        listed = value["tool_calls"] if value.keys() == {"tool_calls"} else [value]
        read = map(partial(_call_of, offered=offered), listed if isinstance(listed, list) else ())
        calls = [call for call in read if call] if _BEFORE_CALL.search(before) else []
        marked = _FENCE.sub("", before)
        names = (offered_name(marked[mark.start() :], offered) for mark in re.finditer(_MARK, marked))
        if calls := calls or [(name, value) for name in names if name in offered][:1]:
            end = span.end
            yield from calls
    heads = [token for token in _MARKED_NAME.finditer(text) if token[1] in offered and not end]
    for number, head in enumerate(heads):
        until = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        declared = offered[head[1]].get("properties") or {}
        arguments = {}
        for name, written_value in _XML_ARGUMENT.findall(text, head.end(), until):
            value = NOTHING if "string" in types_of(declared.get(name) or {}) else load(written_value)
            plain = written_value.removeprefix("\n").removesuffix("\n")
            arguments[name] = plain if value is NOTHING else value
        if arguments:
            yield head[1], arguments


def _call_of(value: Any, offered: Offered) -> tuple[str, dict[str, Any]] | None:
    value = value if isinstance(value, dict) else {}
    value = inner if isinstance(inner := value.get("function"), dict) else value  # as in the model interface
    name = offered_name(str(value.get("name", value.get("tool_name"))), offered)
    arguments = value.get("arguments", value.get("parameters"))
    arguments = load(decoded(arguments)) if isinstance(arguments, str) else arguments
    if name not in offered or not isinstance(arguments, dict) or not value.keys() <= _KEYS:
        return None
    return name, arguments
