"""A plan as a conversation: the calls of each turn with their results, and the last message."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any, Literal, NamedTuple

from toolassay.calls.call_plan import Call, CallPlan
from toolassay.calls.function_schemas import Names
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.grounded_answer import grounded_answer

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
