"""How the writer speaks of a tool: what is to be done, what comes out, and when it is done."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolassay.graph import DependencyType
from toolassay.offline.writer.lists import read_list
from toolassay.tools import Tool

PLACE = re.compile(r"\{([^{}:]+)(?::(given|result|bare))?\}")
_PLAIN = re.compile(r"[\w.-]+(?: [\w.-]+)*")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The wording for one tool.

    `actions` are verb phrases in base form with a place for each input: `{0}`, `{1}` (resources),
    `{name}` (parameters). `{0:given}` takes only what the user supplies, `{0:result}` only the result of
    another step, `{0:bare}` what the user supplies without quotation marks. `results` are noun phrases,
    plural ones with a leading "+". `done` says that the step is over: "the flight is booked", or "after
    booking the flight". `kinds`
    says for each input which role or kind of value it takes.
    """

    actions: tuple[str, ...]
    results: tuple[str, ...]
    done: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)


def slot_names(tool: Tool, dependency_type: DependencyType) -> tuple[str, ...]:
    """What a tool's call must be given: the numbers of its inputs, or the names of its parameters.

    A name that cannot stand in a template is replaced by its number.
    """
    if dependency_type == "resource":
        return tuple(str(number) for number in range(len(tool.inputs)))
    names = [parameter.name for parameter in tool.parameters]
    return tuple(name if _PLAIN.fullmatch(name) else f"parameter {n}" for n, name in enumerate(names))


def written_phrases(tool: Tool, dependency_type: DependencyType) -> Phrases | None:
    """The hand-written phrases for a tool of this id and these inputs, if there are any."""
    entry = read_list(f"{dependency_type}_phrases").get(tool.id)
    if entry is None:
        return None
    if dependency_type == "temporal":
        if set(entry["values"]) != {parameter.name for parameter in tool.parameters}:
            return None
        return Phrases(tuple(entry["actions"]), (), tuple(entry["done"]), dict(entry["values"]))
    if len(entry["inputs"]) != len(tool.inputs) or not _same_media(entry["inputs"], tool.inputs):
        return None
    kinds = {str(number): role for number, role in enumerate(entry["inputs"])}
    return Phrases(tuple(entry["actions"]), tuple(entry["results"]), (), kinds)


def _same_media(roles: list[str], types: tuple[str, ...]) -> bool:
    """Whether the roles an entry gives the inputs are of the types that the tool declares."""
    lists = read_list("roles")
    media = [lists[role].get("file") or ("url" if "url" in lists[role] else "text") for role in roles]
    return media == [kind.casefold() for kind in types]
