"""A request with its steps and gold plan for tools that nobody wrote phrases for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from toolassay.dataset import Sample
from toolassay.english.vocabulary import items
from toolassay.errors import ToolassayError
from toolassay.graph import DependencyType
from toolassay.graph.derive.fields import verb_of
from toolassay.offline.argument_templates import as_text
from toolassay.offline.fed_arguments import FedArgument, fed_arguments
from toolassay.offline.own_tools.arguments import (
    DrawnArguments,
    RealValues,
    UnfillableError,
    draw_arguments,
    real_arguments,
)
from toolassay.offline.own_tools.call_text import CallText, Source, call_text
from toolassay.offline.own_tools.purpose import purpose_of
from toolassay.offline.own_tools.setting import setting_of
from toolassay.offline.own_tools.slots import slots_of
from toolassay.offline.tool_names import ToolNames
from toolassay.offline.writer.english import joined
from toolassay.output_paths import EACH, parse_reference, path_text
from toolassay.tools import ToolLibrary

NEEDS_MODEL = "needs --llm MODEL"
_ATTEMPTS = 12
_SETTING = 0.4  # share of requests with a setting
_JOINED_WORDS = 26  # of two calls in one sentence

_FRAMES = {name: items(f"frames, {name}") for name in ("alone", "first", "next", "last", "beside")}
# "the the", but not "the them".
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)


def write_own_instruction(
    sample: Sample,
    library: ToolLibrary,
    dependency_type: DependencyType,
    names: ToolNames,
    attempt: int = 0,
    values: RealValues | None = None,
) -> dict[str, Any]:
    """A request, steps and gold plan, in the form of `write_instruction`.

    Args:
        sample: The tools and their links.
        library: The tools.
        dependency_type: "temporal" or "schema".
        names: The tool names that the request must not have.
        attempt: Another request for each number.
        values: Values that exist on a server.

    Raises:
        ToolassayError: No valid arguments were found for a tool.
    """
    if values:
        sample = _removing_last(sample, library)
    fed = fed_arguments(sample, library)
    key = f"{sample.seed} {sample.index} {' '.join(sample.nodes)} {len(sample.links)}"
    best: tuple[_Writer, str] | None = None
    problem = ""
    for turn in range(_ATTEMPTS):
        writer = _Writer(sample, library, fed, Random(f"own {key} {attempt} {turn}"), values)
        try:
            best = writer, writer.request()
        except UnfillableError as error:
            problem = f"the offline writer cannot fill '{writer.tool}': {error}"
            continue
        if not (names.occur_in(best[1]) or _DOUBLED.search(best[1])) and writer.is_stated(best[1]):
            break
    if best is None:
        raise ToolassayError(problem, fix=NEEDS_MODEL)
    writer, request = best
    return {
        "task_steps": writer.steps(),
        "user_request": request,
        "invoking_graph": {
            "nodes": writer.nodes(),
            "links": [{"source": link.source, "target": link.target} for link in sample.links],
        },
    }


def _removing_last(sample: Sample, library: ToolLibrary) -> Sample:
    """The sample with the tools that remove something as late as its links allow.

    On a real server a thing that is removed is gone for the calls that follow. Of several such tools the one
    with the most fed arguments is first, because it removes a part of a thing.
    """
    place = {name: number for number, name in enumerate(sample.nodes)}
    fed = Counter(
        link.target for link, pairs in zip(sample.links, sample.fields, strict=False) for _ in pairs
    )
    sources = {name: {link.source for link in sample.links if link.target == name} for name in sample.nodes}
    left, ordered = list(sample.nodes), list[str]()
    while left:
        free = [name for name in left if sources[name].isdisjoint(left)] or left
        removes = {name: verb_of(library[name], None) == "remove" for name in free}
        first = min(free, key=lambda name: (removes[name], -fed[name] * removes[name], place[name]))
        left.remove(first)
        ordered.append(first)
    return replace(sample, nodes=tuple(ordered))


class _Writer:
    """One attempt at a request."""

    def __init__(
        self,
        sample: Sample,
        library: ToolLibrary,
        fed: Sequence[Sequence[FedArgument]],
        rng: Random,
        values: RealValues | None,
    ) -> None:
        self.sample, self.library, self.fed, self.rng = sample, library, fed, rng
        self.values = values or {}
        self.tools = [library[name] for name in sample.nodes]
        self.purposes = [purpose_of(tool) for tool in self.tools]
        self.drawn: list[DrawnArguments] = []
        self.tool = ""
        self.quote = "'" if rng.random() < 0.75 else '"'

    def request(self) -> str:
        """The text of the request.

        Raises:
            UnfillableError: No valid arguments were found for `tool`.
        """
        self.drawn = []
        for number, tool in enumerate(self.tools):
            self.tool = tool.id
            taken = [one.text for drawn in self.drawn for one in drawn.stated]
            fed, known = self.fed[number], self._known(number)
            real = real_arguments(self.values, tool.id, self.rng, known) if self.values else None
            self.drawn.append(draw_arguments(tool, self.rng, fed=fed, known=known, taken=taken, real=real))
        calls = [self._call(number) for number in range(len(self.tools))]
        setting = setting_of(self.library, self.purposes, self.rng) if self.rng.random() < _SETTING else ""
        return " ".join(part for part in (setting, *self._sentences(calls)) if part)

    def is_stated(self, request: str) -> bool:
        """Whether the request has every value that it has to state."""
        return all(one.kind == "flag" or one.text in request for drawn in self.drawn for one in drawn.stated)

    def steps(self) -> list[str]:
        """The steps: "Step 1: Call … with date: '2026-05-14'"."""
        return [
            f"Step {number}: Call {tool.id}{_with(drawn.arguments)}"
            for number, (tool, drawn) in enumerate(zip(self.tools, self.drawn, strict=True), start=1)
        ]

    def nodes(self) -> list[dict[str, Any]]:
        """The nodes of the gold plan."""
        return [
            {"id": tool.id, "arguments": [{"name": n, "value": v} for n, v in drawn.arguments.items()]}
            for tool, drawn in zip(self.tools, self.drawn, strict=True)
        ]

    def _known(self, number: int) -> Mapping[str, Any]:
        """The values of arguments that a call has in common with earlier calls."""
        order = {name: place for place, name in enumerate(self.sample.nodes)}
        known = {}
        for link, pairs in zip(self.sample.links, self.sample.shared, strict=False):
            if order[link.target] != number or order[link.source] >= number:
                continue
            given = self.drawn[order[link.source]].arguments
            for pair in pairs:
                if pair.source in given and "<node-" not in str(given[pair.source]):
                    known[pair.target] = given[pair.source]
        return known

    def _call(self, number: int) -> CallText:
        def source_of(fed: FedArgument) -> Source:
            others = tuple(
                purpose.imperative
                for place, purpose in enumerate(self.purposes[:number])
                if place != fed.source
            )
            return Source(self.purposes[fed.source], fed.source, fed.source == number - 1, others)

        slots = slots_of(self.drawn[number].stated, self.fed[number], self.quote)
        return call_text(self.purposes[number], slots, source_of)

    def _sentences(self, calls: Sequence[CallText]) -> list[str]:
        if len(calls) == 1:
            return [_framed(self.rng.choice(_FRAMES["alone"]), calls[0].action), *calls[0].details]
        if len(calls) == 2 and not calls[0].details and self._is_short(calls) and self.rng.random() < 0.5:
            joint = self.rng.choice((" and then ", ", then ", ", and then "))
            both = f"{calls[0].action}{joint if self._follows(1) else ' and also '}{calls[1].action}"
            return [_framed(self.rng.choice(_FRAMES["alone"]), both), *calls[1].details]
        sentences, frame = [], ""
        for number, call in enumerate(calls):
            place = "first" if number == 0 else "last" if number == len(calls) - 1 else "next"
            if number and not self._follows(number):
                place = "beside"
            frame = self.rng.choice([one for one in _FRAMES[place] if one != frame])
            sentences += [_framed(frame, call.action), *call.details]
        return sentences

    def _follows(self, number: int) -> bool:
        """Whether a call depends on an earlier one."""
        return any(link.target == self.sample.nodes[number] for link in self.sample.links)

    def _is_short(self, calls: Sequence[CallText]) -> bool:
        return sum(len(call.action.split()) for call in calls) <= _JOINED_WORDS


def _framed(frame: str, action: str) -> str:
    text = frame.replace("{x}", action)
    return text[0].upper() + text[1:]


def _with(arguments: Mapping[str, Any]) -> str:
    """The arguments of a step: " with room: 214 and guest: 'Ada Lovelace'"."""
    parts = [f"{name}: {_shown(value)}" for name, value in arguments.items()]
    return f" with {joined(parts)}" if parts else ""


def _shown(value: Any) -> str:
    if isinstance(value, str):
        reference = parse_reference(value)
        if reference is None:
            return f"'{value}'"
        path = path_text(reference.path).replace(EACH, "[*]") or "the result"
        return f"{path} of step {reference.node + 1}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_shown(one)}' for name, one in value.items())}}}"
    return "null" if value is None else as_text(value)
