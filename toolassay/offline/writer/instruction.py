"""The offline back-instructor: a request, steps and gold for a sampled subgraph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from toolassay.dataset import Sample
from toolassay.errors import ToolassayError
from toolassay.graph import DependencyType
from toolassay.offline.argument_templates import problem_of
from toolassay.offline.fed_arguments import FedArgument
from toolassay.offline.writer.clauses import (
    Clause,
    ClauseWriter,
    SampleCall,
    drawn_values,
    given_arguments,
    wire_calls,
)
from toolassay.offline.writer.english import joined
from toolassay.offline.writer.phrases import (
    PLACE,
    Phrases,
    invented_phrases,
    kinds_of_values,
    slot_names,
    stated_parameters,
    written_phrases,
)
from toolassay.offline.writer.request_text import Assembly, Situations
from toolassay.offline.writer.story import Story
from toolassay.offline.writer.values import role_entry
from toolassay.output_paths import EACH, path_text
from toolassay.tools import Tool, ToolLibrary

_WORD = re.compile(r"\w+")
# An id of two words or more: "Text Search", "file_modify" and "GetMovie", but not "Translation".
_TELLING = re.compile(r"[\s_-]|[a-z][A-Z]")


class ToolNames:
    """The ids of a library that a request must not contain: those of two words or more.

    >>> ToolNames(["Text Search", "file_modify", "GetMovie", "Translation"]).occur_in("a text search, please")
    True
    >>> ToolNames(["Translation"]).occur_in("a translation")
    False
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._by_first_word: dict[str, list[str]] = {}
        for name in ids:
            first = _WORD.search(name)
            if first and _TELLING.search(name):
                name = name[first.start() :].lower()
                self._by_first_word.setdefault(first[0].lower(), []).append(name)

    def occur_in(self, text: str) -> bool:
        """Whether one of the ids is in the text, in any case."""
        text = text.lower()
        return any(
            text.startswith(name, word.start())
            for word in _WORD.finditer(text)
            for name in self._by_first_word.get(word[0], ())
        )


def step_texts(
    calls: Sequence[SampleCall],
    phrases: Sequence[Phrases],
    values: Sequence[Mapping[str, str]],
    nouns: Sequence[str],
    dependency_type: DependencyType,
) -> list[str]:
    """The steps: "Step 1: Use … to …" for resources, "Step 1: Call … with date: '…'" for parameters.

    A fed argument: "movie_id: results[0].id of step 1".
    """
    steps = []
    for number, (call, phrase) in enumerate(zip(calls, phrases, strict=True)):
        if dependency_type != "resource" and call.slots:
            stated = zip(stated_parameters(call.tool, call.fed), values[number].values(), strict=True)
            parts = [f"{parameter.name}: '{value}'" for parameter, value in stated]
            parts += [
                f"{one.place}: {path_text(one.path).replace(EACH, '[*]') or 'the result'} of step"
                f" {one.source + 1}"
                for one in call.fed
            ]
            steps.append(f"Step {number + 1}: Call {call.tool.id} with {joined(parts)}")
            continue
        verb = "Use" if dependency_type == "resource" else "Call"
        purpose = _purpose(call, phrase, values[number], nouns)
        steps.append(f"Step {number + 1}: {verb} {call.tool.id} to {purpose}")
    return steps


def _purpose(call: SampleCall, phrases: Phrases, values: Mapping[str, str], nouns: Sequence[str]) -> str:
    fed = {slot.name: slot.source for slot in call.slots}

    def usable(action: str) -> bool:
        marks = [(m[1], m[2]) for m in PLACE.finditer(action) if m[2]]
        return all((fed[name] is not None) == (mark == "result") for name, mark in marks)

    action = next(
        (a for a in phrases.actions if usable(a) and not a.startswith(("tell me", "give me"))), None
    )
    action = action or next((a for a in phrases.actions if usable(a)), phrases.actions[0])

    def fill(match: re.Match[str]) -> str:
        name, mark = match.groups()
        source = fed[name]
        entry = role_entry(phrases.kinds[name], call.tool.inputs[int(name)])
        if source is None:
            return values[name] if mark == "bare" else str(entry["step"]).replace("{value}", values[name])
        noun = nouns[source].lstrip("+") or "result"
        wording = entry["result"]
        template = str(wording[0]) if isinstance(wording, list) else "{np}"
        return template.replace("{np}", f"the {noun} of step {source + 1}")

    return PLACE.sub(fill, action)


_ATTEMPTS = 12
_GREETING = re.compile(r"(?:Hi|Hello|Good|Dear|Quick|Just|How)\b")
_UNFILLED = re.compile(r"\{\w*\}")
# "the the", but not "the them".
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)


class _Vocabulary:
    """The phrases of a library's tools and the names to avoid, cached between requests."""

    def __init__(self, library: ToolLibrary) -> None:
        self.names = ToolNames(library.ids)
        self._phrases: dict[tuple[str, DependencyType, tuple[str, ...]], Phrases] = {}

    def phrases(self, tool: Tool, dependency_type: DependencyType, fed: Sequence[FedArgument]) -> Phrases:
        key = tool.id, dependency_type, tuple(one.place for one in fed)
        if key not in self._phrases:
            written = written_phrases(tool, dependency_type)
            self._phrases[key] = written or invented_phrases(tool, dependency_type, fed)
        return self._phrases[key]


_vocabularies: WeakKeyDictionary[ToolLibrary, _Vocabulary] = WeakKeyDictionary()


def write_instruction(
    sample: Sample, library: ToolLibrary, dependency_type: DependencyType
) -> dict[str, Any]:
    """A request for a sampled subgraph, with its steps and its gold plan.

    The result depends only on the sample and the library.

    Args:
        sample: the subgraph of tools that the request needs.
        library: the tools.
        dependency_type: of the tool graph; resource tools get inputs, others arguments.

    Returns:
        `task_steps`, `user_request` and `invoking_graph` (`nodes`, `links`), the form that Shen et al. (2024,
        section 3.2) require of a model. A resource node is `{"id", "input": [text, …]}`, one entry for each
        input: a literal of the request, or the id of the tool whose output is taken. Another node is
        `{"id", "arguments": [{"name", "value"}, …]}`; in a schema graph values may be references.

    Raises:
        ToolassayError: No valid arguments were found for an imported tool (see `unfillable`).

    >>> tool = Tool("Text-to-Speech", "Reads a text aloud.", ("text",), ("audio",))
    >>> reply = write_instruction(Sample(0, 7, "single", (tool.id,), ()), ToolLibrary([tool]), "resource")
    >>> reply["invoking_graph"]["nodes"][0]["input"][0] in reply["user_request"]
    True
    """
    vocabulary = _vocabularies.get(library)
    if vocabulary is None:
        vocabulary = _vocabularies[library] = _Vocabulary(library)
    calls = wire_calls(sample, library, dependency_type)
    phrases = [vocabulary.phrases(call.tool, dependency_type, call.fed) for call in calls]
    key = f"{sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)}"
    writer, clauses, request = _write(Random(f"write {key} 0"), calls, phrases, dependency_type)
    for attempt in range(1, _ATTEMPTS):
        if _is_sound(request, calls, clauses, vocabulary.names, dependency_type):
            break
        writer, clauses, request = _write(Random(f"write {key} {attempt}"), calls, phrases, dependency_type)
    values = [clause.values for clause in clauses]
    for tool, problem in _problems(calls, clauses, dependency_type):
        raise ToolassayError(f"the offline writer cannot fill '{tool}': {problem}", fix=NEEDS_MODEL)
    return {
        "task_steps": step_texts(calls, phrases, values, writer.nouns, dependency_type),
        "user_request": request,
        "invoking_graph": {
            "nodes": [_node(call, value, dependency_type) for call, value in zip(calls, values, strict=True)],
            "links": [{"source": link.source, "target": link.target} for link in sample.links],
        },
    }


def _write(
    rng: Random, calls: list[SampleCall], phrases: list[Phrases], dependency_type: DependencyType
) -> tuple[ClauseWriter, list[Clause], str]:
    story = Story(rng)
    if any(call.tool.input_schema is not None for call in calls):
        story.use_iso_dates()
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


def _is_sound(
    request: str,
    calls: list[SampleCall],
    clauses: list[Clause],
    names: ToolNames,
    dependency_type: DependencyType,
) -> bool:
    """Whether arguments are valid, literals stated, no tool is named, no word doubled, no place unfilled."""
    for call, clause in zip(calls, clauses, strict=True):
        for slot in call.slots:
            if slot.source is None and clause.values[slot.name] not in request:
                return False
    if names.occur_in(request) or _DOUBLED.search(request) or _UNFILLED.search(request):
        return False
    return not any(_problems(calls, clauses, dependency_type))


def _problems(
    calls: list[SampleCall], clauses: list[Clause], dependency_type: DependencyType
) -> Iterator[tuple[str, str]]:
    """The imported tools whose arguments are invalid, and why."""
    for call, clause in zip(calls, clauses, strict=True):
        if dependency_type == "resource" or call.tool.input_schema is None:
            continue
        if problem := problem_of(call.tool, given_arguments(call.tool, clause.values, call.fed)):
            yield call.tool.id, problem


NEEDS_MODEL = "needs --llm MODEL"


def unfillable(library: ToolLibrary) -> dict[str, str]:
    """The imported tools for which a few draws find no valid arguments, and why."""
    found = {}
    for tool in library:
        if tool.input_schema is None:
            continue
        kinds = dict(zip(slot_names(tool, "temporal"), kinds_of_values(tool), strict=True))
        problem = ""
        for attempt in range(_ATTEMPTS):
            values = drawn_values(tool, kinds, Story(Random(f"fill {tool.id} {attempt}")))
            problem = problem_of(tool, given_arguments(tool, values))
            if not problem:
                break
        if problem:
            found[tool.id] = problem
    return found


def _node(call: SampleCall, values: dict[str, str], dependency_type: DependencyType) -> dict[str, Any]:
    if dependency_type == "resource":
        return {"id": call.tool.id, "input": list(values.values())}
    return {"id": call.tool.id, "arguments": given_arguments(call.tool, values, call.fed)}
