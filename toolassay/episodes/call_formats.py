"""The formats in which an agent calls tools: natively, as text (ReAct), and as text read as published."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec.structs import replace

from toolassay.models import ChatResponse, ToolCall
from toolassay.models.json_answers import ECHO, read_answer, visible_parts, without_reasoning
from toolassay.models.protocol import OfferedTools, sent_back
from toolassay.models.structured_output import json_schema
from toolassay.prompts.templates import template_file

Message = dict[str, Any]
LONGEST_ARGUMENTS = 200_000
"""Maximum characters of the arguments of a call that goes back to the model."""
REACT = template_file("episodes", "react")

# The example actions in the prompt. An answer that repeats one is not an action.
_PROMPT_EXAMPLES = (
    {"action": "NAME OF A TOOL", "action_input": {"name of an argument": "its value"}},
    {"action": "Final Answer", "action_input": "what you did"},
)
# Matches "```json\n{…}```"; not "```python\n{…}```" or "```{…}```" without a line break.
_PUBLISHED_BLOCK = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)
# As the published pattern, but also "```JSON\n{…}```".
_BLOCK = re.compile(_PUBLISHED_BLOCK.pattern, re.DOTALL | re.IGNORECASE)
# An observation that the model invents, on its own line or right after an action. Matches
# "\n  OBSERVATION: …", "``` Observation (expected)" and "\nObservation\n"; not "my observation: …" or
# "\nObservation shows …". Repeats are bounded so that long runs of blanks take linear time.
_INVENTED_OBSERVATION = re.compile(
    r"(?:\n|(?<=[`}]))[ \t]{0,80}[*_#>]{0,4}[ \t]{0,4}observation[ \t*_]{0,4}(?:[:(\r\n]|\Z)",
    re.IGNORECASE,
)
# The action with which an agent of ReAct answers.
_FINAL = "Final Answer"
# OpenAI's API rejects other characters in function names, and names over 64. Matches the "." in "a.b".
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


@dataclass(frozen=True)
class AgentTurn:
    """One parsed answer of the model.

    Attributes:
        message: as added to the conversation.
        asked: the tool calls it makes.
        final: the final answer; None if the answer makes calls or cannot be parsed.
        is_prose: whether the final answer is plain text, without the action that the format requires.
    """

    message: Message
    asked: Sequence[ToolCall] = ()
    final: str | None = None
    is_prose: bool = False


class AgentTool(Protocol):
    """A tool that is offered to an agent."""

    @property
    def name(self) -> str:
        """Its name in actions in text form."""
        ...

    @property
    def function_name(self) -> str:
        """Its name in the APIs of models, which allow fewer characters."""
        ...

    def to_openai(self) -> dict[str, Any]:
        """The tool as an entry of `tools` in a chat request."""
        ...


class CallFormat(Protocol):
    """How tools are presented to a model, and how its calls and their results are written."""

    def parameters(self, tools: Sequence[AgentTool]) -> Mapping[str, Any]:
        """The parameters of a request besides its messages."""
        ...

    def read(self, response: ChatResponse, step: int) -> AgentTurn:
        """Parse an answer of the model; `step` numbers it."""
        ...

    def observations(self, asked: Sequence[ToolCall], results: Sequence[str]) -> list[Message]:
        """The results of the calls, as messages."""
        ...

    def sent(self, message: Message) -> Message:
        """A message of the conversation as servers accept it in a request."""
        ...


class Native:
    """Tool calls of the model interface; one answer may contain several.

    Args:
        function_name: gives the function of a tool that a model names by its own name; None for no tool.
    """

    def __init__(self, function_name: Callable[[str], str | None] = lambda name: None) -> None:
        self._function_name = function_name
        # Keyed by identity, not by name: a security probe changes a tool's description. The tools are kept
        # with the result, so that their ids are not reused for other objects.
        self._offered: dict[tuple[int, ...], tuple[Sequence[AgentTool], OfferedTools]] = {}

    def parameters(self, tools: Sequence[AgentTool]) -> Mapping[str, Any]:
        """The tools; the same object for the same tools, so that it is serialised once."""
        which = tuple(map(id, tools))
        if which not in self._offered:
            self._offered[which] = tools, OfferedTools(tool.to_openai() for tool in tools)
        return {"tools": self._offered[which][1]}

    def read(self, response: ChatResponse, step: int) -> AgentTurn:
        """Calls, or the final answer without its reasoning.

        Missing or duplicate call ids are replaced, in Mistral's form: nine letters and digits.
        """
        if not response.tool_calls:
            text, _ = without_reasoning(response.text)
            return AgentTurn(_message(response, response.text), final=text or None)
        ids = [call.id for call in response.tool_calls]
        fine = all(ids) and len(set(ids)) == len(ids)
        asked = [
            call if fine else replace(call, id=f"call{step:03}{position:02}")
            for position, call in enumerate(response.tool_calls)
        ]
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **_if_any(call.extra),
            }
            for call in asked
        ]
        return AgentTurn({**_message(response, response.text or None), "tool_calls": calls}, asked)

    def observations(self, asked: Sequence[ToolCall], results: Sequence[str]) -> list[Message]:
        """One message per call."""
        return [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, text in zip(asked, results, strict=True)
        ]

    def sent(self, message: Message) -> Message:
        """Valid function names, and arguments that are an object.

        The recorded conversation keeps what the model wrote. What the server sent besides goes back as it is.
        """
        if not message.get("tool_calls"):
            return sent_back(message)
        calls = []
        for call in message["tool_calls"]:
            function = self._presentable_call(**call["function"])
            more = call.get("extra", {}).get("function", {})
            calls.append({**sent_back(call), "function": {**more, **function}})
        return {**sent_back(message), "tool_calls": calls}

    def _presentable_call(self, name: str, arguments: str) -> dict[str, str]:
        shown_name = self._function_name(name) or _NO_NAME.sub("_", name[:_LONGEST_NAME]) or "unknown"
        try:
            is_object = len(arguments) <= LONGEST_ARGUMENTS and isinstance(json.loads(arguments), dict)
        except (ValueError, RecursionError):
            is_object = False
        return {"name": shown_name, "arguments": arguments if is_object else "{}"}


class React:
    """Thought, action and observation as text; one action per answer.

    Args:
        structured: whether requests carry a JSON Schema of the action. Such an answer is a bare JSON object,
            which is parsed like one in a fenced block.
    """

    def __init__(self, *, structured: bool = False) -> None:
        self._structured = structured

    def parameters(self, tools: Sequence[AgentTool]) -> Mapping[str, Any]:
        """A stop sequence, because the observation is not the model's to write, and the schema if
        `structured`.
        """
        schema = json_schema("action", _action_schema(tools)) if self._structured else {}
        return {"stop": ["Observation:"], **schema}

    def read(self, response: ChatResponse, step: int) -> AgentTurn:
        r"""The last complete action before any observation that the model invented.

        Text in reasoning is never an action. Of a list, the first action is used: later ones may depend on
        its result. An action that is truncated or cannot be parsed becomes a call of no tool, so that the
        model gets an error message. Prose without an action is the final answer, unless it is reasoning that
        never ends.

        >>> React().read(ChatResponse("<think>{'action': 'x'}</think>{'action': 'a.b',}"), 0).asked
        [ToolCall(id='0', name='a.b', arguments='{}', extra={})]
        """
        text = _before_observation(response.text)
        message = _message(response, text)
        # "action" is searched for at the top level only: the input of an action may contain objects of any
        # form.
        answer = read_answer(
            text, keys=("action", "action_input"), required=("action",), forms=_PROMPT_EXAMPLES, nested=False
        )
        visible, unclosed = without_reasoning(text)
        if answer.value is not None and "action" in answer.value and answer.problem is None:
            return _action_turn(message, answer.value, step, otherwise=visible)
        if answer.value is not None or answer.problem == ECHO or _BLOCK.search(visible):
            return AgentTurn(message, [ToolCall(str(step), "", visible)])
        return AgentTurn(message, final=None if unclosed else visible or None, is_prose=True)

    def observations(self, asked: Sequence[ToolCall], results: Sequence[str]) -> list[Message]:
        """One message with all results."""
        return [{"role": "user", "content": "\n".join(f"Observation: {text}" for text in results)}]

    def sent(self, message: Message) -> Message:
        """The message as the server sent it."""
        return sent_back(message)


class PublishedReact(React):
    """ReAct as parsed by a published agent, for comparisons with published numbers.

    The first fenced block (``` or ```json, then a line break) is the action, in strict JSON except that
    strings may contain line breaks; of a list, the first item. Without a block the answer is final. As in the
    release of 2026, an action that cannot be parsed leads to an observation; in that of 2024 it ended the
    run. Reasoning is not removed: a draft of an action in it is executed.
    """

    def read(self, response: ChatResponse, step: int) -> AgentTurn:
        r"""The first action; everything after it is ignored.

        >>> text = '<think>```\n{"action": "x"}\n```</think>{"action": "a.b"}'
        >>> PublishedReact().read(ChatResponse(text), 0).asked
        [ToolCall(id='0', name='x', arguments='{}', extra={})]
        """
        text = response.text.partition("\nObservation:")[0]
        message = _message(response, text)
        block = _PUBLISHED_BLOCK.search(text)
        if block is None:
            return AgentTurn(message, final=text.strip() or None, is_prose=True)
        try:
            action = json.loads(block[1], strict=False)
        except (ValueError, RecursionError):
            action = None
        if isinstance(action, list) and action:
            action = action[0]
        return _action_turn(message, action, step, otherwise=block[1])


def _message(response: ChatResponse, content: str | None) -> Message:
    """An answer as a message of the conversation; parts of a text that is cut here do not go back."""
    cut = (content or "") != response.text
    extra = {name: value for name, value in response.extra.items() if not (cut and name == "content")}
    return {"role": "assistant", "content": content, **_if_any(extra)}


def _if_any(extra: Mapping[str, Any]) -> dict[str, Any]:
    """What the server sent besides the known fields, for `sent_back`."""
    return {"extra": extra} if extra else {}


def _action_schema(tools: Iterable[AgentTool]) -> dict[str, Any]:
    """The JSON Schema of an action: a thought, then an offered tool or the final answer.

    The input is either any object, because arguments may be omitted, or the text of the final answer.
    """
    name = {"type": "string", "enum": [*(tool.name for tool in tools), _FINAL]}
    action_input = {"anyOf": [{"type": "object"}, {"type": "string"}]}
    properties = {"thought": {"type": "string"}, "action": name, "action_input": action_input}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _action_turn(message: Message, action: Any, step: int, *, otherwise: str) -> AgentTurn:
    """The turn of an action; if it is not an action, a call of no tool with the text `otherwise`."""
    name = action.get("action") if isinstance(action, dict) else None
    if not isinstance(name, str):
        return AgentTurn(message, [ToolCall(str(step), "", otherwise)])
    action_input = action.get("action_input", {})
    try:
        text = action_input if isinstance(action_input, str) else json.dumps(action_input)
    except RecursionError:
        return AgentTurn(message, [ToolCall(str(step), name, otherwise)])
    return (
        AgentTurn(message, final=text)
        if name == _FINAL
        else AgentTurn(message, [ToolCall(str(step), name, text)])
    )


def _before_observation(text: str) -> str:
    """The text before the first invented observation. One in reasoning, or at the very start, is ignored."""
    for start, end in visible_parts(text)[0]:
        for match in _INVENTED_OBSERVATION.finditer(text, start, end):
            if not text[start : match.start()].isspace() and match.start() > start:
                return text[: match.start()]
    return text


FORMATS = ("native", "react", "react_published")


def call_format(
    name: str, *, structured: bool = False, function_name: Callable[[str], str | None] = lambda name: None
) -> CallFormat:
    """A format by its name. `structured` applies to `react` only, `function_name` to `native` only."""
    if name == "react":
        return React(structured=structured)
    return PublishedReact() if name == "react_published" else Native(function_name)
