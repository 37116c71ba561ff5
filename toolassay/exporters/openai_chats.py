"""The export format "openai": chats as OpenAI's fine-tuning and chat templates read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.exporters.chats import (
    CalledFunction,
    ChatCall,
    ChatFormat,
    arguments_of,
    chat_turns,
    closing_of,
    json_text,
)
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.export_format import Chats, columns
from toolassay.files.data_files import values_in
from toolassay.plans.call_plan import Call, CallPlan, FunctionSchema, Unfit


class MessageCall(msgspec.Struct, frozen=True):
    """A call in a message of an assistant."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message; one of a tool has the id of its call."""

    role: Literal["system", "user", "assistant", "tool"]
    tool_call_id: str | UnsetType = UNSET
    content: str
    tool_calls: list[MessageCall] | UnsetType = UNSET


class ChatFunction(msgspec.Struct, frozen=True):
    """A function that a chat offers."""

    type: Literal["function"]
    function: FunctionSchema


class ChatLine(msgspec.Struct, frozen=True):
    """A line of the format "openai"."""

    messages: list[ChatMessage]
    tools: list[ChatFunction]
    parallel_tool_calls: bool


class OpenAiFormat(ChatFormat):
    """Messages with tool calls, and the offered functions."""

    name = "openai"
    help = "chats with tool calls for OpenAI's fine-tuning and chat templates"
    fields = columns("fields", "openai")
    types = columns("types", "openai")

    def line(self, plan: CallPlan, chats: Chats, results: PlanResults | None) -> ChatLine:
        """The chat of a plan: each turn of calls is followed by its results, one message per call.

        `content` of a message with calls is an empty text, because templates render null as "None".

        >>> from toolassay.plans.call_plan import Argument
        >>> from toolassay.tools.library import Tool, ToolLibrary
        >>> chats = Chats(ToolLibrary([Tool("Paint it", inputs=("text",))]), "resource")
        >>> plan = CallPlan("1", "Paint a cat", (), (Call("Paint it", (Argument("text", "cat"),)),), ())
        >>> messages = FORMAT.line(plan, chats, None).messages
        >>> [(one.role, one.content) for one in messages]
        [('user', 'Paint a cat'), ('assistant', ''), ('tool', '<node-0>'), ('assistant', 'Done: <node-0>')]
        >>> messages[1].tool_calls[0].function
        CalledFunction(name='Paint_it', arguments='{"text": "cat"}')
        """
        names = chats.names
        style = chats.style

        def called(call: ChatCall) -> MessageCall:
            arguments = arguments_of(call.call, names)
            written = arguments if style.as_objects else json_text(arguments)
            return MessageCall(call.id, "function", CalledFunction(names.functions[call.call.tool], written))

        messages = [ChatMessage(role="system", content=style.system)] if style.system else []
        messages.append(ChatMessage(role="user", content=plan.request))
        turns = chat_turns(plan, style, results)
        for turn in turns:
            messages.append(ChatMessage(role="assistant", content="", tool_calls=[*map(called, turn)]))
            if turn is not turns[-1] or style.closing is not None:
                messages += [
                    ChatMessage(role="tool", tool_call_id=call.id, content=call.result) for call in turn
                ]
        if style.closing is not None:
            messages.append(ChatMessage(role="assistant", content=closing_of(plan, style.closing, results)))
        offered = [ChatFunction("function", function) for function in chats.offered(plan)]
        return ChatLine(messages, offered, style.parallel or style.calls_only)

    def check(self, calls: Sequence[Call], chats: Chats) -> None:
        """For `datasets`, arguments that are objects have integers of at most 64 bits."""
        for position, call in enumerate(calls if chats.style.as_objects else ()):
            for argument in call.arguments:
                for number in values_in(argument.value):
                    if isinstance(number, int) and not -(2**63) <= number < 2**63:
                        raise Unfit(
                            f"has a number of over 64 bits in {argument.name}; use --arguments text",
                            f"call {position}",
                        )


FORMAT = OpenAiFormat()
