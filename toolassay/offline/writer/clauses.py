"""The clauses of a request, one for each call of a sample.

Inputs are wired to an earlier tool or to the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolassay.dataset import Sample
from toolassay.graph import DependencyType
from toolassay.offline.writer.english import joined, read_list, with_article
from toolassay.offline.writer.story import Story, role_value, value_of
from toolassay.tools import Tool, ToolLibrary

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
    if len(entry["inputs"]) != len(tool.inputs) or not _same_media(entry["inputs"], tool.inputs):
        return None
    kinds = {str(number): role for number, role in enumerate(entry["inputs"])}
    return Phrases(tuple(entry["actions"]), tuple(entry["results"]), (), kinds)


def _same_media(roles: list[str], types: tuple[str, ...]) -> bool:
    """Whether the roles of the inputs in an entry have the types that the tool declares."""
    lists = read_list("roles")
    media = [lists[role].get("file") or ("url" if "url" in lists[role] else "text") for role in roles]
    return media == [kind.casefold() for kind in types]


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
            number = next(free, None)
            if number is None:
                waits.append(order[link.source])
            else:
                feeds[number] = order[link.source]
        slots = [InputSlot(slot, feeds.get(number)) for number, slot in enumerate(names)]
        sources = tuple(sorted({order[link.source] for link in links}))
        only_waits = tuple(sorted(set(waits) - {slot.source for slot in slots}))
        calls.append(SampleCall(tool, tuple(slots), sources, only_waits))
    return calls


Relation = Literal["first", "follows", "branch", "fresh"]

_LONG = 60


@dataclass(slots=True)
class Clause:
    """One step in words, with its gold.

    Attributes:
        text: a verb phrase.
        lead: what the step waits for: "once the flight is booked"; empty if nothing.
        waits: the numbers of the steps in `lead`.
        values: the gold by slot: literals, and in a resource graph the ids of tools whose result is taken.
    """

    text: str
    lead: str
    waits: tuple[int, ...]
    relation: Relation
    values: dict[str, str]

    @property
    def begins_with_literal(self) -> bool:
        """Whether the first word is a literal, which must not be capitalised."""
        return any(self.text.startswith(value) for value in self.values.values())


class ClauseWriter:
    """Writes the clauses of one request.

    Args:
        calls: the calls, in order.
        phrases: the phrases of each call's tool.
        story: what the request is about.
        dependency_type: of the tool graph.
    """

    def __init__(
        self,
        calls: Sequence[SampleCall],
        phrases: Sequence[Phrases],
        story: Story,
        dependency_type: DependencyType,
    ) -> None:
        self.calls, self.phrases, self.story = calls, phrases, story
        self.resource = dependency_type == "resource"
        self.quote = "'" if story.chance(0.75) else '"'
        self.quote_all = not self.resource and story.chance(0.2)
        self.setups: list[str] = []
        self._handles: set[str] = set()
        self._mentions: list[dict[str, str]] = []
        self.nouns = self._result_nouns()

    def clauses(self) -> list[Clause]:
        """The clauses, in order. This also fills `setups`, the sentences that introduce literals."""
        return [self._clause(number) for number in range(len(self.calls))]

    def _result_nouns(self) -> list[str]:
        nouns: list[str] = []
        for phrases in self.phrases:
            choices = self.story.shuffled(phrases.results)
            clear = (
                c for c in choices if not any(c.strip("+") in n or n.strip("+") in c for n in nouns if n)
            )
            nouns.append(next(clear, choices[0] if choices else ""))
        return nouns

    def _clause(self, number: int) -> Clause:
        call, phrases = self.calls[number], self.phrases[number]
        values = {slot.name: self._value(slot, phrases) for slot in call.slots}
        action = self.story.pick(usable_actions(call, phrases))
        mentions = {
            slot.name: self._mention(slot, number, values.get(slot.name, ""), phrases, action)
            for slot in call.slots
        }
        self._mentions.append(mentions)
        relation, lead = self._relation(number)
        return Clause(filled(action, mentions, values), lead, call.waits if lead else (), relation, values)

    def _value(self, slot: InputSlot, phrases: Phrases) -> str:
        if slot.source is not None:
            return self.calls[slot.source].tool.id
        kind = phrases.kinds[slot.name]
        return role_value(kind, self.story) if self.resource else value_of(kind, self.story)

    def _mention(self, slot: InputSlot, number: int, value: str, phrases: Phrases, action: str) -> str:
        kind = phrases.kinds[slot.name]
        if not self.resource:
            quoted = self.quote_all or bool(read_list("kinds")[kind].get("quoted"))
            return f"{self.quote}{value}{self.quote}" if quoted else value
        entry = read_list("roles")[kind]
        if slot.source is not None:
            noun = self._noun_phrase(slot.source, near=slot.source == number - 1)
            return str(self.story.pick(entry["result"])).replace("{np}", noun)
        introduced = self._setup(entry, value)
        if introduced:
            return introduced
        at_end = action.endswith((f"{{{slot.name}}}", f"{{{slot.name}:given}}"))
        choices = [text for text in entry["given"] if at_end or not text.endswith("|end")]
        text = self.story.pick(choices).removesuffix("|end").replace("'", self.quote)
        return str(text.replace("{value}", value))

    def _setup(self, entry: Mapping[str, Any], value: str) -> str | None:
        """Introduce a literal in a sentence of its own, and return its short name from then on."""
        handles = [
            handle
            for handle in entry["handles"]
            if handle not in self._handles and not any(handle in noun for noun in self.nouns)
        ]
        likely = 0.75 if len(value) > _LONG else 0.4
        if not handles or len(self.setups) >= 2 or not self.story.chance(likely):
            return None
        handle = self.story.pick(handles)
        self._handles.add(handle)
        setup = self.story.pick(entry["setups"]).replace("'", self.quote)
        story = self.story
        setup = (
            setup.replace("{a_handle}", with_article(handle))
            .replace("{handle}", handle)
            .replace("{value}", value)
        )
        self.setups.append(story.fill(setup) if "{" in setup else setup)
        if " " not in value and story.chance(0.4):
            return value
        return f"the {handle}"

    def _noun_phrase(self, source: int, *, near: bool) -> str:
        noun = self.nouns[source]
        plural, noun = noun.startswith("+"), noun.lstrip("+")
        roll = self.story.rng.random()
        if near and roll < 0.35:
            return f"{'those' if plural else 'that'} {noun}"
        if near and roll < 0.5 and " " not in noun:
            return f"the resulting {noun}"
        return f"the {noun}"

    def _relation(self, number: int) -> tuple[Relation, str]:
        call = self.calls[number]
        if number == 0:
            return "first", ""
        if not call.sources:
            return "fresh", ""
        if call.waits and call.waits != (number - 1,):
            return "branch", self._lead(call.waits, number)
        return ("follows" if number - 1 in call.sources else "branch"), ""

    def _lead(self, waits: Sequence[int], number: int) -> str:
        """The results to wait for: "once the flight is booked and the hotel is arranged"."""
        if len(waits) == number and number > 2:
            return self.story.pick(("once all of that is done", "when everything so far is done"))
        done = [self._done(source) for source in waits]
        gerunds = [text.removeprefix("after ") for text in done if text.startswith("after ")]
        states = [text for text in done if not text.startswith("after ")]
        leads = [f"after {joined(gerunds)}"] if gerunds else []
        if states:
            leads.append(f"{self.story.pick(('once', 'when', 'as soon as'))} {joined(states)}")
        return " and ".join(leads)

    def _done(self, source: int) -> str:
        if self.nouns[source]:
            return f"{self._noun_phrase(source, near=False)} is ready"
        text = self.story.pick(self.phrases[source].done)
        for slot in self.calls[source].slots:
            text = text.replace(f"{{{slot.name}}}", self._mentions[source][slot.name])
        return text


def usable_actions(call: SampleCall, phrases: Phrases) -> list[str]:
    """The actions whose places fit what feeds the slots of a call."""
    fed = {slot.name: slot.source is not None for slot in call.slots}
    return [
        action
        for action in phrases.actions
        if all(not mark or fed[name] == (mark == "result") for name, mark in PLACE.findall(action))
    ]


def filled(action: str, mentions: Mapping[str, str], values: Mapping[str, str]) -> str:
    """The verb phrase with its places filled: `{name:bare}` with the value, others with the mention."""

    def fill(match: re.Match[str]) -> str:
        name, mark = match.groups()
        return values[name] if mark == "bare" else mentions[name]

    return PLACE.sub(fill, action)
