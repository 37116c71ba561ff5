"""The back-instructor that needs no server: a request, steps and gold for a sampled subgraph."""

from __future__ import annotations

import re
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from toolassay.dataset import Sample
from toolassay.graph import DependencyType
from toolassay.offline.writer.assembly import Assembly
from toolassay.offline.writer.clauses import Clause, Teller
from toolassay.offline.writer.invention import invented_phrases
from toolassay.offline.writer.names import Names
from toolassay.offline.writer.phrases import Phrases, written_phrases
from toolassay.offline.writer.situations import Situations
from toolassay.offline.writer.steps import step_texts
from toolassay.offline.writer.story import Story
from toolassay.offline.writer.wiring import Call, wire
from toolassay.tools import Tool, ToolLibrary

_ATTEMPTS = 12
_GREETING = re.compile(r"(?:Hi|Hello|Good|Dear|Quick|Just|How)\b")
_UNFILLED = re.compile(r"\{\w*\}")
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)


class _Vocabulary:
    """What is known of a library, kept between requests: phrases by tool, and the names to avoid."""

    def __init__(self, library: ToolLibrary) -> None:
        self.names = Names(library.ids)
        self._phrases: dict[tuple[str, DependencyType], Phrases] = {}

    def phrases(self, tool: Tool, dependency_type: DependencyType) -> Phrases:
        key = tool.id, dependency_type
        if key not in self._phrases:
            written = written_phrases(tool, dependency_type)
            self._phrases[key] = written or invented_phrases(tool, dependency_type)
        return self._phrases[key]


_vocabularies: WeakKeyDictionary[ToolLibrary, _Vocabulary] = WeakKeyDictionary()


def write_instruction(
    sample: Sample, library: ToolLibrary, dependency_type: DependencyType
) -> dict[str, Any]:
    """A request for a sampled subgraph, with its steps and its gold plan.

    The same sample of the same library gives the same instruction, whatever was written before.

    Args:
        sample: the subgraph: the tools to be needed, and what flows between them.
        library: the tools.
        dependency_type: of the tool graph; resource tools are given inputs, temporal ones arguments.

    Returns:
        `task_steps`, `user_request` and `invoking_graph` (`nodes`, `links`), the form in which TaskBench
        (section 3.2) has a model answer. A resource node is `{"id", "input": [text, …]}`, one entry for
        each input: a literal that stands in the request, or the id of the tool whose output is taken. A
        temporal node is `{"id", "arguments": [{"name", "value"}, …]}`.

    >>> tool = Tool("Text-to-Speech", "Reads a text aloud.", ("text",), ("audio",))
    >>> reply = write_instruction(Sample(0, 7, "single", (tool.id,), ()), ToolLibrary([tool]), "resource")
    >>> reply["invoking_graph"]["nodes"][0]["input"][0] in reply["user_request"]
    True
    """
    vocabulary = _vocabularies.get(library)
    if vocabulary is None:
        vocabulary = _vocabularies[library] = _Vocabulary(library)
    calls = wire(sample, library, dependency_type)
    phrases = [vocabulary.phrases(call.tool, dependency_type) for call in calls]
    key = f"{sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)}"
    teller, clauses, request = _write(Random(f"write {key} 0"), calls, phrases, dependency_type)
    for attempt in range(1, _ATTEMPTS):
        if _is_sound(request, calls, clauses, vocabulary.names):
            break
        teller, clauses, request = _write(Random(f"write {key} {attempt}"), calls, phrases, dependency_type)
    values = [clause.values for clause in clauses]
    return {
        "task_steps": step_texts(calls, phrases, values, teller.nouns, dependency_type),
        "user_request": request,
        "invoking_graph": {
            "nodes": [_node(call, value, dependency_type) for call, value in zip(calls, values, strict=True)],
            "links": [{"source": link.source, "target": link.target} for link in sample.links],
        },
    }


def _write(
    rng: Random, calls: list[Call], phrases: list[Phrases], dependency_type: DependencyType
) -> tuple[Teller, list[Clause], str]:
    story = Story(rng)
    resource = dependency_type == "resource"
    teller = Teller(calls, phrases, story, dependency_type)
    clauses = teller.clauses()
    ask = Assembly(clauses, story, resource=resource).ask()
    situations = Situations(story)
    opening = situations.opening(situations.kind(resource=resource))
    parts = [opening, *teller.setups, ask]
    if len(calls) <= 2 and not teller.setups and story.chance(0.2) and not _GREETING.match(opening):
        parts = [ask, opening]
    elif story.chance(0.25):
        parts.append(situations.closing())
    return teller, clauses, " ".join(parts)


def _is_sound(request: str, calls: list[Call], clauses: list[Clause], names: Names) -> bool:
    """Whether every literal stands in the request, no tool is named and no word is doubled."""
    for call, clause in zip(calls, clauses, strict=True):
        for slot in call.slots:
            if slot.source is None and clause.values[slot.name] not in request:
                return False
    return not (names.occur_in(request) or _DOUBLED.search(request) or _UNFILLED.search(request))


def _node(call: Call, values: dict[str, str], dependency_type: DependencyType) -> dict[str, Any]:
    if dependency_type == "resource":
        return {"id": call.tool.id, "input": list(values.values())}
    return {
        "id": call.tool.id,
        "arguments": [
            {"name": parameter.name, "value": value}
            for parameter, value in zip(call.tool.parameters, values.values(), strict=True)
        ],
    }
