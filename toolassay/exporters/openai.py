"""Chats with tool calls in the form of OpenAI's fine-tuning and of chat templates, and their parser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolassay.calls.call_plan import Argument, Call, CallPlan, Unfit
from toolassay.calls.function_schemas import Names
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.turns import ChatCall, ChatStyle, arguments_of, chat_turns, closing_of


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
        functions: the functions of the chat, each as `toolassay.calls.function_schemas.function_of`
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
