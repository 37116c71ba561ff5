"""The phrases of a tool, and the calls of a sample: what feeds each input, an earlier call or the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.graph import DependencyType
from toolassay.offline.writer.english import read_list
from toolassay.records.dataset import Sample
from toolassay.tools.library import Tool, ToolLibrary

# "{0}", "{0:given}" and "{city}", but not "{0:other}".
PLACE = re.compile(r"\{([^{}:]+)(?::(given|result|bare))?\}")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The wording for one tool.

    Attributes:
        actions: verb phrases in base form with a place for each input: `{0}`, `{1}` (resources), `{name}`
            (parameters). `{0:given}` takes only a value of the user, `{0:result}` only the result of another
            step, `{0:bare}` a value of the user without quotation marks.
        results: noun phrases, plural ones with a leading "+".
        done: the step as completed: "the flight is booked", or "after booking the flight".
        kinds: the role or kind of value of each input.
    """

    actions: tuple[str, ...]
    results: tuple[str, ...]
    done: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)

    def kind(self, slot: str) -> dict[str, Any]:
        """The values of an input, and the words for it."""
        roles: dict[str, Any] = read_list("roles" if self.results else "kinds")[self.kinds[slot]]
        return roles


def slot_names(tool: Tool, dependency_type: DependencyType) -> tuple[str, ...]:
    """The slots of a tool: the numbers of its inputs, or the names of its parameters."""
    if dependency_type == "resource":
        return tuple(str(number) for number in range(len(tool.inputs)))
    return tuple(parameter.name for parameter in tool.parameters)


def written_phrases(tool: Tool, dependency_type: DependencyType) -> Phrases | None:
    """The hand-written phrases for a tool with this id and these inputs, if there are any."""
    entry = read_list(f"{dependency_type}_phrases").get(tool.id) if dependency_type != "schema" else None
    if entry is None:
        return None
    if dependency_type == "temporal":
        if tool.input_schema is not None:
            return None  # whose types the values of the entry need not have
        if set(entry["values"]) != {parameter.name for parameter in tool.parameters}:
            return None
        return Phrases(tuple(entry["actions"]), (), tuple(entry["done"]), dict(entry["values"]))
    if [read_list("roles")[role]["type"] for role in entry["inputs"]] != [*map(str.casefold, tool.inputs)]:
        return None
    kinds = {str(number): role for number, role in enumerate(entry["inputs"])}
    return Phrases(tuple(entry["actions"]), tuple(entry["results"]), (), kinds)


@dataclass(frozen=True, slots=True)
class InputSlot:
    """An input of a call: its name in phrases, and the earlier node that feeds it (None: the user)."""

    name: str
    source: int | None = None


@dataclass(frozen=True, slots=True)
class SampleCall:
    """One node of the sample.

    Attributes:
        sources: the earlier nodes on which it depends.
        waits: those of them that feed no slot: it only has to come after them.
    """

    tool: Tool
    slots: tuple[InputSlot, ...]
    sources: tuple[int, ...]
    waits: tuple[int, ...]


def wire_calls(sample: Sample, library: ToolLibrary, dependency_type: DependencyType) -> list[SampleCall]:
    """The calls of a sample, in its order.

    In a resource graph a link feeds the first free input of its type, if there is one.
    """
    order = {name: number for number, name in enumerate(sample.nodes)}
    calls = []
    for name in sample.nodes:
        tool = library[name]
        names = slot_names(tool, dependency_type)
        links = [link for link in sample.links if link.target == name and link.source in order]
        feeds: dict[int, int] = {}
        waits = []
        for link in links:
            free = (
                number
                for number, kind in enumerate(tool.inputs)
                if dependency_type == "resource" and kind == link.type and number not in feeds
            )
            if (number := next(free, None)) is None:
                waits.append(order[link.source])
            else:
                feeds[number] = order[link.source]
        slots = [InputSlot(slot, feeds.get(number)) for number, slot in enumerate(names)]
        sources = tuple(sorted({order[link.source] for link in links}))
        only_waits = tuple(sorted(set(waits) - {slot.source for slot in slots}))
        calls.append(SampleCall(tool, tuple(slots), sources, only_waits))
    return calls


def usable_actions(call: SampleCall, phrases: Phrases) -> list[str]:
    """The actions whose places fit what feeds the slots of a call."""
    is_fed = {slot.name: slot.source is not None for slot in call.slots}
    return [
        action
        for action in phrases.actions
        if all(not mark or is_fed[name] == (mark == "result") for name, mark in PLACE.findall(action))
    ]


def filled(action: str, mentions: Mapping[str, str], values: Mapping[str, str]) -> str:
    """The verb phrase with its places filled: `{name:bare}` with the value, others with the mention."""

    def fill(match: re.Match[str]) -> str:
        name, mark = match.groups()
        return values[name] if mark == "bare" else mentions[name]

    return PLACE.sub(fill, action)
