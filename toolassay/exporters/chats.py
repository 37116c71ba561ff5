"""Chats with tool calls: a plan as a conversation, in the form of OpenAI and in that of ShareGPT.

OpenAI's is the form of fine-tuning and of chat templates. LLaMA-Factory reads ShareGPT: human or observation
at even indices, function_call or gpt at odd ones. A `function_call` is JSON: an object, or a list of objects
for parallel calls; its `observation` is then a JSON list too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any, Literal, NamedTuple

from toolassay.calls.call_plan import Argument, Call, CallPlan, Names, Unfit
from toolassay.exporters.executed_results import PlanResults, grounded_answer

ResultForm = Literal["executed", "references", "none"]
"""What an export has as results: what the tools returned, `<node-j>` in their place, or nothing."""
CLOSINGS: Mapping[ResultForm, str | None] = {
    "executed": "$results",
    "references": "Done: $results",
    "none": None,
}
"""Default last message of the assistant, by the form of the results."""


@dataclass(frozen=True)
class ChatStyle:
    """Options of the chat formats.

    Attributes:
        system: the system message; empty for none.
        closing: the last message of the assistant, with `$results` for the results that no other call
            takes; None ends a chat with its last call.
        parallel: put calls that do not depend on each other into one turn.
        as_objects: write the arguments of a call as an object instead of JSON text.
        calls_only: put all calls into one turn, without results. A format that has tool messages requires
            one after each other turn.
    """

    system: str = ""
    closing: str | None = CLOSINGS["references"]
    parallel: bool = False
    as_objects: bool = False
    calls_only: bool = False


class ChatCall(NamedTuple):
    """A call in a chat.

    Attributes:
        id: its id, unique in the chat.
        call: the tool and the arguments.
        result: the text of the tool message.
    """

    id: str
    call: Call
    result: str


def turns_of(plan: CallPlan, *, parallel: bool = False) -> list[list[int]]:
    """The numbers of the calls in each turn, in order.

    Args:
        plan: the plan.
        parallel: put successive calls that do not depend on each other into one turn; by default each call
            is a turn.

    >>> plan = CallPlan("1", "", (), (Call("a", ()), Call("b", ()), Call("c", ())), ((0, 2), (1, 2)))
    >>> turns_of(plan), turns_of(plan, parallel=True)
    ([[0], [1], [2]], [[0, 1], [2]])
    """
    turns: list[list[int]] = []
    for place, before in enumerate(plan.needs()):
        if parallel and turns and before.isdisjoint(turns[-1]):
            turns[-1].append(place)
        else:
            turns.append([place])
    return turns


def chat_turns(plan: CallPlan, style: ChatStyle, results: PlanResults | None) -> list[list[ChatCall]]:
    """The calls of each turn with their results.

    A refused call ends its turn, and the right call begins the next one: so every call comes after those that
    were executed before it.

    Args:
        plan: the sample.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    numbers = [list(range(plan.size))] if style.calls_only else turns_of(plan, parallel=style.parallel)
    calls = plan.calls if results is None else results.calls
    refused = None if results is None else results.refused
    turns = []
    for turn in numbers:
        said: list[ChatCall] = []
        for place in turn:
            if refused is not None and refused.number == place:
                # The number after the last one: no other call of the chat has it.
                turns.append([*said, ChatCall(call_id(plan, plan.size), refused.call, refused.error)])
                said = []
            said.append(ChatCall(call_id(plan, place), calls[place], result_of(place, results)))
        turns.append(said)
    return turns


def result_of(call: int, results: PlanResults | None = None) -> str:
    """The text of a tool's result; without results, the reference that later arguments use for it."""
    return f"<node-{call}>" if results is None else results.texts[call]


def closing_of(plan: CallPlan, closing: str, results: PlanResults | None = None) -> str:
    """The last message of the assistant, with `$results` replaced.

    >>> closing_of(CallPlan("1", "", (), (Call("a", ()), Call("b", ())), ((0, 1),)), "See $results.")
    'See <node-1>.'
    """
    last = [result_of(call, results) for call in plan.results()]
    text = ", ".join(last) if results is None else grounded_answer(last)
    return Template(closing).safe_substitute(results=text)


def call_id(plan: CallPlan, call: int) -> str:
    """The id of a call: nine letters and digits, as Mistral's templates require; unique in a conversation.

    >>> call_id(CallPlan("1", "", (), (), ()), 12)
    '6b86b2012'
    """
    return f"{hashlib.sha256(plan.id.encode()).hexdigest()[:6]}{call:03d}"


def arguments_of(call: Call, names: Names) -> dict[str, Any]:
    """The arguments of a call by the property names of its function.

    A wrong call may have a name that is not a parameter; that is kept.
    """
    known = names.parameters[call.tool]
    return {known.get(name, name): value for name, value in call.arguments}


def chat_of(
    plan: CallPlan,
    functions: Sequence[Mapping[str, Any]],
    names: Names,
    style: ChatStyle,
    results: PlanResults | None = None,
) -> dict[str, Any]:
    """One line of the file: `messages`, `tools` and `parallel_tool_calls`.

    `content` of a message with calls is an empty text, because templates render null as "None".

    Args:
        plan: the sample.
        functions: the functions of the chat, each as `toolassay.calls.call_plan.function_of`
            returns it.
        names: names of functions and parameters.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    return {
        "messages": messages_of(plan, names, style, results),
        "tools": [{"type": "function", "function": function} for function in functions],
        "parallel_tool_calls": style.parallel or style.calls_only,
    }


def messages_of(
    plan: CallPlan, names: Names, style: ChatStyle, results: PlanResults | None = None
) -> list[dict[str, Any]]:
    """The messages of a chat: each turn of calls is followed by its results, one message per call.

    >>> from toolassay.tools import Tool, ToolLibrary
    >>> names = Names.of(ToolLibrary([Tool("Paint it", inputs=("text",))]), "resource")
    >>> plan = CallPlan("1", "Paint a cat", (), (Call("Paint it", (Argument("text", "cat"),)),), ())
    >>> for message in messages_of(plan, names, ChatStyle()):
    ...     print(message["role"], message["content"], *message.get("tool_calls", []))
    ... # doctest: +NORMALIZE_WHITESPACE
    user Paint a cat
    assistant  {'id': '6b86b2000', 'type': 'function',
        'function': {'name': 'Paint_it', 'arguments': '{"text": "cat"}'}}
    tool <node-0>
    assistant Done: <node-0>
    """
    messages: list[dict[str, Any]] = []
    if style.system:
        messages.append({"role": "system", "content": style.system})
    messages.append({"role": "user", "content": plan.request})
    turns = chat_turns(plan, style, results)
    for turn in turns:
        calls = [_call(one, names, style) for one in turn]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        if turn is not turns[-1] or style.closing is not None:
            messages += [{"role": "tool", "tool_call_id": one.id, "content": one.result} for one in turn]
    if style.closing is not None:
        messages.append({"role": "assistant", "content": closing_of(plan, style.closing, results)})
    return messages


def _call(one: ChatCall, names: Names, style: ChatStyle) -> dict[str, Any]:
    arguments: Any = arguments_of(one.call, names)
    if not style.as_objects:
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": names.functions[one.call.tool], "arguments": arguments}
    return {"id": one.id, "type": "function", "function": function}


def check_objects(calls: Sequence[Call]) -> None:
    """Check that `datasets` can read arguments as objects: it takes integers of at most 64 bits.

    Raises:
        Unfit: an integer is larger.
    """
    for place, call in enumerate(calls):
        for argument in call.arguments:
            for number in _whole_numbers(argument.value):
                if not -(2**63) <= number < 2**63:
                    raise Unfit(
                        f"has a number of over 64 bits in {argument.name}; use --arguments text",
                        f"call {place}",
                    )


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _whole_numbers(item)


def calls_of(messages: Sequence[Mapping[str, Any]], names: Names) -> tuple[Call, ...]:
    """The calls in the messages of a chat, with the library's names: the inverse of `messages_of`.

    With executed results, the arguments are the executed ones, and a refused call is among the calls.

    Raises:
        KeyError: `names` does not have a function or parameter.
    """
    slots = {tool: {name: slot for slot, name in called.items()} for tool, called in names.parameters.items()}
    found = []
    for message in messages:
        for item in message.get("tool_calls") or ():
            tool, arguments = names.tool(item["function"]["name"]), item["function"]["arguments"]
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
            found.append(
                Call(tool, tuple(Argument(slots[tool][name], value) for name, value in arguments.items()))
            )
    return tuple(found)


def conversation_of(
    plan: CallPlan,
    functions: Sequence[Mapping[str, Any]],
    names: Names,
    style: ChatStyle,
    results: PlanResults | None = None,
) -> dict[str, Any]:
    """One line of the file: `conversations`, `system` (may be empty), and `tools` as JSON text.

    Args:
        plan: the sample.
        functions: the functions of the chat, each as `toolassay.calls.call_plan.function_of`
            returns it.
        names: names of functions and parameters.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    turns = chat_turns(plan, style, results)
    messages = [("human", plan.request)]
    for turn in turns:
        calls = [
            {"name": names.functions[one.call.tool], "arguments": arguments_of(one.call, names)}
            for one in turn
        ]
        messages.append(("function_call", _text(calls[0] if len(calls) == 1 else calls)))
        if turn is not turns[-1] or style.closing is not None:
            texts = [one.result for one in turn]
            messages.append(("observation", texts[0] if len(texts) == 1 else _text(texts)))
    if style.closing is not None:
        messages.append(("gpt", closing_of(plan, style.closing, results)))
    return {
        "conversations": [{"from": who, "value": text} for who, text in messages],
        "system": style.system,
        "tools": _text(list(functions)),
    }


def dataset_info(files: Iterable[str], name: str) -> dict[str, Any]:
    """The object of `dataset_info.json`, in which LLaMA-Factory looks up the files of a folder.

    Args:
        files: file names, each with its split before the first dot.
        name: prefix of the names of the data sets.

    >>> list(dataset_info(["train.jsonl", "test.jsonl"], "errands"))
    ['errands_train', 'errands_test']
    """
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    return {
        f"{name}_{file.partition('.')[0]}": {
            "file_name": file,
            "formatting": "sharegpt",
            "columns": columns,
        }
        for file in files
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
