"""A plan as a conversation: the calls of each turn, placeholders for their results, and the last message."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from string import Template
from typing import Any

from toolassay.calls.call_plan import Call, CallPlan
from toolassay.calls.function_schemas import Names

CLOSING = "Done: $results"
"""Default last message of the assistant."""


@dataclass(frozen=True)
class ChatStyle:
    """Options of the chat formats.

    Attributes:
        system: the system message; empty for none.
        closing: the last message of the assistant, with `$results` for the results that no other call
            takes; None ends a chat with its last call.
        parallel: put calls that do not depend on each other into one turn.
        as_objects: write the arguments of a call as an object instead of JSON text.
    """

    system: str = ""
    closing: str | None = CLOSING
    parallel: bool = False
    as_objects: bool = False


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


def result_of(call: int) -> str:
    """The text of a tool's result: the reference that later arguments use for it."""
    return f"<node-{call}>"


def closing_of(plan: CallPlan, closing: str) -> str:
    """The last message of the assistant, with `$results` replaced.

    >>> closing_of(CallPlan("1", "", (), (Call("a", ()), Call("b", ())), ((0, 1),)), "See $results.")
    'See <node-1>.'
    """
    return Template(closing).safe_substitute(results=", ".join(map(result_of, plan.results())))


def call_id(plan: CallPlan, call: int) -> str:
    """The id of a call: nine letters and digits, as Mistral's templates require; unique in a conversation.

    >>> call_id(CallPlan("1", "", (), (), ()), 12)
    '6b86b2012'
    """
    return f"{hashlib.sha256(plan.id.encode()).hexdigest()[:6]}{call:03d}"


def arguments_of(call: Call, names: Names) -> dict[str, Any]:
    """The arguments of a call by the property names of its function."""
    return {names.parameters[call.tool][name]: value for name, value in call.arguments}
