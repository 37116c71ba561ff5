"""The offline back-instructor: a request, steps and gold for a sampled subgraph."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from toolassay.dataset import Sample
from toolassay.graph import DependencyType
from toolassay.offline.work_order import RealValues, unfillable, write_work_order
from toolassay.offline.writer.clauses import (
    PLACE,
    Clause,
    ClauseWriter,
    Phrases,
    SampleCall,
    usable_actions,
    wire_calls,
    written_phrases,
)
from toolassay.offline.writer.english import ToolNames, joined, read_list
from toolassay.offline.writer.request_text import Assembly, Situations
from toolassay.offline.writer.story import Story
from toolassay.tools import ToolLibrary


def step_texts(
    calls: Sequence[SampleCall],
    phrases: Sequence[Phrases],
    values: Sequence[Mapping[str, str]],
    nouns: Sequence[str],
    dependency_type: DependencyType,
) -> list[str]:
    """The steps: "Step 1: Use … to …" for resources, "Step 1: Call … with date: '…'" for parameters."""
    steps = []
    for number, (call, phrase, stated) in enumerate(zip(calls, phrases, values, strict=True), start=1):
        if dependency_type == "resource":
            what = f"Use {call.tool.id} to {_purpose(call, phrase, stated, nouns)}"
        else:
            parts = [f"{name}: '{value}'" for name, value in stated.items()]
            what = f"Call {call.tool.id} with {joined(parts)}"
        steps.append(f"Step {number}: {what}")
    return steps


def _purpose(call: SampleCall, phrases: Phrases, values: Mapping[str, str], nouns: Sequence[str]) -> str:
    fed = {slot.name: slot.source for slot in call.slots}
    action = next(a for a in usable_actions(call, phrases) if not a.startswith(("tell me", "give me")))

    def fill(match: re.Match[str]) -> str:
        name, mark = match.groups()
        source = fed[name]
        entry = read_list("roles")[phrases.kinds[name]]
        if source is None:
            return values[name] if mark == "bare" else str(entry["step"]).replace("{value}", values[name])
        noun = nouns[source].lstrip("+")
        return str(entry["result"][0]).replace("{np}", f"the {noun} of step {source + 1}")

    return PLACE.sub(fill, action)


_ATTEMPTS = 12
_GREETING = re.compile(r"(?:Hi|Hello|Good|Dear|Quick|Just|How)\b")
_UNFILLED = re.compile(r"\{\w*\}")
# "the the", but not "the them".
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)


_names: WeakKeyDictionary[ToolLibrary, ToolNames] = WeakKeyDictionary()


def write_instruction(
    sample: Sample,
    library: ToolLibrary,
    dependency_type: DependencyType,
    attempt: int = 0,
    values: RealValues | None = None,
) -> dict[str, Any]:
    """A request for a sampled subgraph, with its steps and its gold plan.

    The result depends only on the sample, the library and the attempt. For tools without written phrases it
    is a work order (`work_order.py`).

    Args:
        sample: the subgraph of tools that the request needs.
        library: the tools.
        dependency_type: of the tool graph; resource tools get inputs, others arguments.
        attempt: Another request for each number.
        values: Values that exist on a server, for tools without written phrases.

    Returns:
        `task_steps`, `user_request` and `invoking_graph` (`nodes`, `links`), the form that Shen et al. (2024,
        section 3.2) require of a model. A resource node is `{"id", "input": [text, …]}`, one entry for each
        input: a literal of the request, or the id of the tool whose output is taken. Another node is
        `{"id", "arguments": [{"name", "value"}, …]}`; in a schema graph values may be references.

    Raises:
        ToolassayError: No valid arguments were found for a tool (see `work_order.unfillable`).

    >>> from toolassay.tools import Tool
    >>> tool = Tool("Text-to-Speech", "Reads a text aloud.", ("text",), ("audio",))
    >>> reply = write_instruction(Sample(0, 7, "single", (tool.id,), ()), ToolLibrary([tool]), "resource")
    >>> reply["invoking_graph"]["nodes"][0]["input"][0] in reply["user_request"]
    True
    """
    names = _names.get(library)
    if names is None:
        names = _names[library] = ToolNames(library.ids, (tool.description for tool in library))
    phrases = [written_phrases(library[name], dependency_type) for name in sample.nodes]
    known = [one for one in phrases if one is not None]
    if len(known) < len(phrases):
        return write_work_order(sample, library, dependency_type, names, attempt, values)
    calls = wire_calls(sample, library, dependency_type)
    key = f"{sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)}"
    turns = iter(range(attempt * _ATTEMPTS, (attempt + 1) * _ATTEMPTS))
    writer, clauses, request = _write(Random(f"write {key} {next(turns)}"), calls, known, dependency_type)
    while not _is_sound(request, calls, clauses, names) and (turn := next(turns, None)):
        writer, clauses, request = _write(Random(f"write {key} {turn}"), calls, known, dependency_type)
    stated = [clause.values for clause in clauses]
    return {
        "task_steps": step_texts(calls, known, stated, writer.nouns, dependency_type),
        "user_request": request,
        "invoking_graph": {
            "nodes": [_node(call, value, dependency_type) for call, value in zip(calls, stated, strict=True)],
            "links": [{"source": link.source, "target": link.target} for link in sample.links],
        },
    }


def _write(
    rng: Random, calls: list[SampleCall], phrases: list[Phrases], dependency_type: DependencyType
) -> tuple[ClauseWriter, list[Clause], str]:
    story = Story(rng)
    resource = dependency_type == "resource"
    writer = ClauseWriter(calls, phrases, story, dependency_type)
    clauses = writer.clauses()
    ask = Assembly(clauses, story, resource=resource).ask()
    situations = Situations(story)
    opening = situations.opening(situations.kind(resource=resource))
    parts = [opening, *writer.setups, ask]
    if len(calls) <= 2 and not writer.setups and story.chance(0.2) and not _GREETING.match(opening):
        parts = [ask, opening]
    elif story.chance(0.25):
        parts.append(situations.closing())
    return writer, clauses, " ".join(parts)


def _is_sound(request: str, calls: list[SampleCall], clauses: list[Clause], names: ToolNames) -> bool:
    """Whether literals are stated, no tool is named, no word doubled, no place unfilled."""
    is_stated = all(
        slot.source is not None or clause.values[slot.name] in request
        for call, clause in zip(calls, clauses, strict=True)
        for slot in call.slots
    )
    return is_stated and not (
        names.occur_in(request) or _DOUBLED.search(request) or _UNFILLED.search(request)
    )


def is_known(library: ToolLibrary, dependency_type: DependencyType) -> bool:
    """Whether there are written phrases for every tool: the bundled libraries."""
    return all(written_phrases(tool, dependency_type) is not None for tool in library)


def needs_model(
    library: ToolLibrary, dependency_type: DependencyType, values: RealValues | None = None
) -> dict[str, str]:
    """The tools that the offline writer cannot write about, and why."""
    if dependency_type == "resource":
        return {}
    own = (tool for tool in library if written_phrases(tool, dependency_type) is None)
    return unfillable(own, values)


def _node(call: SampleCall, values: dict[str, str], dependency_type: DependencyType) -> dict[str, Any]:
    if dependency_type == "resource":
        return {"id": call.tool.id, "input": list(values.values())}
    return {
        "id": call.tool.id,
        "arguments": [{"name": name, "value": value} for name, value in values.items()],
    }
