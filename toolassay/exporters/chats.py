"""What the chat formats share: turns of calls, their results and ids, the last message, and the index."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.exporters.executed_results import Marking, PlanResults, grounded_answer
from toolassay.exporters.export_format import Chats, ChatStyle, ExportFormat, ResultForm
from toolassay.files.data_files import unescaped_json, write_json
from toolassay.plans.call_plan import Call, CallPlan, Names


class CalledFunction(msgspec.Struct, frozen=True):
    """A function and its arguments: an object, or its JSON text."""

    name: str
    arguments: Any


class IndexLine(msgspec.Struct, frozen=True):
    """A line of the index of a split of chats.

    Attributes:
        id: the id of the sample.
        links: pairs of numbers of calls.
        has_arguments: whether the label has arguments.
        results: how the results are marked; absent without results.
        recovery: true if the chat has a refused call; else absent.
    """

    id: str
    links: Sequence[tuple[int, int]]
    has_arguments: bool
    results: Marking | UnsetType = UNSET
    recovery: bool | UnsetType = UNSET


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
    for number, before in enumerate(plan.needs()):
        if parallel and turns and before.isdisjoint(turns[-1]):
            turns[-1].append(number)
        else:
            turns.append([number])
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
        chat_calls: list[ChatCall] = []
        for number in turn:
            if refused is not None and refused.number == number:
                # The number after the last one: no other call of the chat has it.
                turns.append([*chat_calls, ChatCall(call_id(plan, plan.size), refused.call, refused.error)])
                chat_calls = []
            chat_calls.append(ChatCall(call_id(plan, number), calls[number], result_text(number, results)))
        turns.append(chat_calls)
    return turns


def result_text(call: int, results: PlanResults | None = None) -> str:
    """The text of a tool's result; without results, the reference that later arguments use for it."""
    return f"<node-{call}>" if results is None else results.texts[call]


def closing_of(plan: CallPlan, closing: str, results: PlanResults | None = None) -> str:
    """The last message of the assistant, with `$results` replaced.

    >>> closing_of(CallPlan("1", "", (), (Call("a", ()), Call("b", ())), ((0, 1),)), "See $results.")
    'See <node-1>.'
    """
    last = [result_text(call, results) for call in plan.results()]
    text = ", ".join(last) if results is None else results.facts or grounded_answer(last)
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
    property_names = names.parameters[call.tool]
    return {property_names.get(name, name): value for name, value in call.arguments}


def json_text(value: Any) -> str:
    """A value as JSON, on one line."""
    return unescaped_json(msgspec.to_builtins(value))


_RESULTS_ON_CARD: Mapping[ResultForm, str] = {
    "references": "The result of call j, from 0, is written as `<node-j>`; later arguments refer to it so.",
    "executed": "A tool message has the text that the tool returned; arguments have the executed values.",
    "none": "All calls are in one message, without results; `<node-j>` is the result of call j, from 0.",
}


class ChatFormat(ExportFormat):
    """A format with one chat a line, an index, and the names of the functions."""

    about = "One chat per line."
    shows_refusals = True

    def index_line(self, plan: CallPlan, results: PlanResults | None) -> IndexLine:
        """What a chat does not hold of its sample."""
        marking = UNSET if results is None else results.marking
        recovery = UNSET if results is None or results.refused is None else True
        return IndexLine(plan.id, plan.links, plan.has_arguments, marking, recovery)

    def finish(self, folder: Path, files: Mapping[str, str], name: str, chats: Chats) -> None:
        """Write `names.json`."""
        write_json(folder / "names.json", {"functions": msgspec.to_builtins(chats.names.by_function)})

    def card_text(self, form: ResultForm) -> str:
        """With the form of the results."""
        return (
            f"{self.about} {_RESULTS_ON_CARD[form]} `names.json` has the tool of each function; line n of "
            "`index/` has the id and the links of line n."
        )
