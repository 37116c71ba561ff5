"""A plan as a conversation: which calls are made in which turn, and what is said of their results."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from string import Template
from typing import Any

from toolassay.exporters.export_plan import Call, ExportPlan
from toolassay.exporters.function_schemas import Names

CLOSING = "Done: $results"


@dataclass(frozen=True)
class ChatStyle:
    """How chats are written.

    Attributes:
        system: the system message; empty for none.
        closing: the last message of the assistant, with `$results` for the results that no other call
            takes; None ends a chat with its last call.
        parallel: make calls that do not need one another in one turn.
        as_objects: write the arguments of a call as an object rather than as its JSON text.
    """

    system: str = ""
    closing: str | None = CLOSING
    parallel: bool = False
    as_objects: bool = False


def turns_of(plan: ExportPlan, *, parallel: bool = False) -> list[list[int]]:
    """The calls of each turn, by number, in order: one a turn, or as many as need nothing of that turn.

    >>> plan = ExportPlan("1", "", (), (Call("a", ()), Call("b", ()), Call("c", ())), ((0, 2), (1, 2)))
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
    """What a tool says: the reference by which later arguments take its result."""
    return f"<node-{call}>"


def closing_of(plan: ExportPlan, closing: str) -> str:
    """The last words of the assistant.

    >>> closing_of(ExportPlan("1", "", (), (Call("a", ()), Call("b", ())), ((0, 1),)), "See $results.")
    'See <node-1>.'
    """
    return Template(closing).safe_substitute(results=", ".join(map(result_of, plan.results())))


def call_id(plan: ExportPlan, call: int) -> str:
    """Nine letters and digits, as the strictest chat templates want; unique within a conversation.

    >>> call_id(ExportPlan("1", "", (), (), ()), 12)
    '6b86b2012'
    """
    return f"{hashlib.sha256(plan.id.encode()).hexdigest()[:6]}{call:03d}"


def arguments_of(call: Call, names: Names) -> dict[str, Any]:
    """The arguments of a call under the names that its function has for them."""
    return {names.parameters[call.tool][name]: value for name, value in call.arguments}
