"""The offline back-instructor: a request, steps and gold for a sampled subgraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from toolassay.console.text_formatting import joined
from toolassay.graph import DependencyType
from toolassay.offline.work_order import RealValues, unfillable, write_work_order
from toolassay.offline.writer.clauses import (
    InputSlot,
    Phrases,
    SampleCall,
    filled,
    usable_actions,
    wire_calls,
    written_phrases,
)
from toolassay.offline.writer.english import ToolNames, read_list
from toolassay.offline.writer.story import Story
from toolassay.records.dataset import Sample
from toolassay.tools.library import ToolLibrary

# Wordings of one sample that are tried until one is sound (`_Writer.is_sound`).
_ATTEMPTS = 12
# "the the", but not "the them".
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
# The "t" of "then …" and of "Done. then …"; not that of "Done, then …".
_SENTENCE_START = re.compile(r"^[a-z]|(?<=[.!?] )[a-z]")


class _Writer:
    """Words one request: an opening, and a sentence for each call.

    Attributes:
        nouns: of each call, what its result is called; empty in a graph of parameters.
        values: the gold of each call by slot: literals, and in a resource graph the ids of tools whose result
            is taken.
        request: the text.
    """

    def __init__(self, rng: Random, calls: Sequence[SampleCall], phrases: Sequence[Phrases]) -> None:
        self.calls = calls
        self.phrases = phrases
        self.story = Story(rng)
        self.quote = self.story.pick("'''\"")
        self.nouns: list[str] = []
        self.mentions: list[dict[str, str]] = []
        for tool_phrases in phrases:
            choices = self.story.shuffled(tool_phrases.results)
            clear = (noun for noun in choices if not any(noun in old or old in noun for old in self.nouns))
            self.nouns.append(next(clear, choices[0] if choices else ""))
        self.values = [
            {slot.name: self._value(slot, tool_phrases) for slot in call.slots}
            for call, tool_phrases in zip(calls, phrases, strict=True)
        ]
        sentences = [self._sentence(number) for number in range(len(calls))]
        situations = read_list("situations")
        on_topic = any(self.nouns) or "topic" in self.story.used
        opening = self.story.fill(self.story.pick(situations["general"] + situations["topic"] * on_topic))
        opening = _SENTENCE_START.sub(lambda match: match[0].upper(), opening)
        self.request = " ".join([opening, *sentences])

    def _value(self, slot: InputSlot, phrases: Phrases) -> str:
        if slot.source is not None:
            return self.calls[slot.source].tool.id
        return self.story.value(phrases.kind(slot.name))

    def _sentence(self, number: int) -> str:
        call = self.calls[number]
        phrases = self.phrases[number]
        values = self.values[number]
        self.mentions.append(
            {slot.name: self._mention(slot, phrases, values[slot.name]) for slot in call.slots}
        )
        text = filled(self.story.pick(usable_actions(call, phrases)), self.mentions[-1], values)
        if call.waits and call.waits != (number - 1,):
            return f"Once {joined([self._done(source) for source in call.waits])}, {text}."
        if number == 0:
            kind = "first"
        elif not call.sources:
            kind = "fresh"
        elif number - 1 not in call.sources:
            kind = "branch"
        else:
            kind = "last" if number == len(self.calls) - 1 > 1 else "follows"
        return str(self.story.pick(read_list("asks")[kind])).replace("{x}", text)

    def _mention(self, slot: InputSlot, phrases: Phrases, value: str) -> str:
        kind = phrases.kind(slot.name)
        if slot.source is not None:
            noun = f"the {self.nouns[slot.source].lstrip('+')}"
            return str(self.story.pick(kind["result"])).replace("{np}", noun)
        pattern = self.story.pick(kind.get("given") or ["'{value}'" if kind.get("quoted") else "{value}"])
        return str(pattern).replace("'", self.quote).replace("{value}", value)

    def _done(self, source: int) -> str:
        if noun := self.nouns[source]:
            return f"the {noun.lstrip('+')} {'are' if noun.startswith('+') else 'is'} ready"
        return filled(self.story.pick(self.phrases[source].done), self.mentions[source], self.values[source])

    def steps(self) -> Iterator[str]:
        """The steps: "Step 1: Use … to …" for resources, "Step 1: Call … with date: '…'" for parameters."""
        for number, (call, phrases, values) in enumerate(
            zip(self.calls, self.phrases, self.values, strict=True), start=1
        ):
            if not self.nouns[number - 1]:
                stated = joined([f"{name}: '{value}'" for name, value in values.items()])
                yield f"Step {number}: Call {call.tool.id} with {stated}"
                continue
            step_texts = {}
            for slot in call.slots:
                kind = phrases.kind(slot.name)
                step_texts[slot.name] = kind["step"].replace("{value}", values[slot.name])
                if slot.source is not None:
                    noun = self.nouns[slot.source].lstrip("+")
                    step_texts[slot.name] = kind["result"][0].replace(
                        "{np}", f"the {noun} of step {slot.source + 1}"
                    )
            actions = (
                action
                for action in usable_actions(call, phrases)
                if not action.startswith(("tell me", "give me"))
            )
            yield f"Step {number}: Use {call.tool.id} to {filled(next(actions), step_texts, values)}"

    def is_sound(self, names: ToolNames) -> bool:
        """Whether literals are stated, no tool is named and no word doubled."""
        return not (names.occur_in(self.request) or _DOUBLED.search(self.request)) and all(
            slot.source is not None or values[slot.name] in self.request
            for call, values in zip(self.calls, self.values, strict=True)
            for slot in call.slots
        )


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

    >>> from toolassay.tools.library import Tool
    >>> tool = Tool("Text-to-Speech", "Reads a text aloud.", ("text",), ("audio",))
    >>> reply = write_instruction(Sample(0, 7, "single", (tool.id,), ()), ToolLibrary([tool]), "resource")
    >>> reply["invoking_graph"]["nodes"][0]["input"][0] in reply["user_request"]
    True
    """
    names = _names.get(library)
    if names is None:
        names = _names[library] = ToolNames(library.ids, (tool.description for tool in library))
    phrases = [written_phrases(library[name], dependency_type) for name in sample.nodes]
    written = [tool_phrases for tool_phrases in phrases if tool_phrases is not None]
    if len(written) < len(phrases):
        return write_work_order(sample, library, dependency_type, names, attempt, values)
    calls = wire_calls(sample, library, dependency_type)
    key = f"{sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)}"
    turns = range(attempt * _ATTEMPTS, (attempt + 1) * _ATTEMPTS)
    writers = (_Writer(Random(f"write {key} {turn}"), calls, written) for turn in turns)
    writer = next(writers)
    while not writer.is_sound(names) and (other := next(writers, None)):
        writer = other
    nodes: list[dict[str, Any]] = []
    for call, call_values in zip(calls, writer.values, strict=True):
        pairs = [{"name": name, "value": value} for name, value in call_values.items()]
        call_arguments = (
            {"input": [*call_values.values()]} if dependency_type == "resource" else {"arguments": pairs}
        )
        nodes.append({"id": call.tool.id, **call_arguments})
    links = [{"source": link.source, "target": link.target} for link in sample.links]
    return {
        "task_steps": list(writer.steps()),
        "user_request": writer.request,
        "invoking_graph": {"nodes": nodes, "links": links},
    }


def is_known(library: ToolLibrary, dependency_type: DependencyType) -> bool:
    """Whether there are written phrases for every tool: the bundled libraries."""
    return all(written_phrases(tool, dependency_type) is not None for tool in library)


def needs_model(
    library: ToolLibrary, dependency_type: DependencyType, values: RealValues | None = None
) -> dict[str, str]:
    """The tools that the offline writer cannot write about, and why."""
    if dependency_type == "resource":
        return {}
    unwritten = (tool for tool in library if written_phrases(tool, dependency_type) is None)
    return unfillable(unwritten, values)
