"""Phrases for a tool: its action, its result, and its completion.

Hand-written ones if there are any, otherwise derived from the tool's description, id, types and parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from toolassay.graph import DependencyType
from toolassay.offline.own_tools.purpose import purpose_of
from toolassay.offline.writer.english import (
    base_form,
    gerund,
    id_words,
    is_plural,
    participle,
    read_list,
)
from toolassay.offline.writer.values import guessed_role
from toolassay.tools import Tool

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
        are_written: whether a person wrote them. Details that suit them are added to nothing else.
    """

    actions: tuple[str, ...]
    results: tuple[str, ...]
    done: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)
    are_written: bool = True


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


_TAIL = (
    r"(?: (?:file|clip|recording|content|document|data|string|shape|object|track|description|input|layer)s?)?"
)
_OF = r"(?: of (?:a|an|the|some) \w+)?(?: or (?:an? )?\w+(?: post)?)?"
_TRAILING = (
    r"(?<=\w\w\w) (?:that|which|currently|related|based|using|through|with|by|into|to|as|against)\b.*$"
)
_NUMERIC = ("kind:number", "kind:integer")
_NUMBERED = r"(?:two|both|pairs? of|multiple|several)"


class VerbPhrase(NamedTuple):
    """A verb in base form and what follows it."""

    verb: str
    rest: str

    def __str__(self) -> str:
        return f"{self.verb} {self.rest}".strip()


def invented_phrases(tool: Tool) -> Phrases:
    """Phrases for a resource tool, derived from its description, id and types."""
    purpose = purpose_of(tool)
    base = VerbPhrase(
        f"{purpose.verb} {purpose.particle}".strip(), f"{purpose.object} {purpose.rest}".strip()
    )
    kinds = {str(number): guessed_role(tool, number) for number in range(len(tool.inputs))}
    actions = _synonymous(_counted(_with_inputs(base, tool), kinds), base.verb)
    return Phrases(actions, _results(base, tool), _done([base]), kinds, are_written=False)


def _synonymous(actions: list[str], verb: str) -> tuple[str, ...]:
    """The actions, and the same with synonyms of the verb."""
    others = [text for text in read_list("verbs")["synonyms"].get(verb, ()) if text != verb]
    return (*actions, *(other + action.removeprefix(verb) for action in actions for other in others))


def _counted(action: str, kinds: dict[str, str]) -> list[str]:
    """The action; "{1} of metres" in two ways: "2.5 metres" given, "that number of metres" as a result."""
    for name, kind in kinds.items():
        if kind in _NUMERIC and re.search(rf"\{{{name}\}} of \w", action):
            given = re.sub(rf"\{{{name}\}} of ", f"{{{name}:bare}} ", action)
            return [given, action.replace(f"{{{name}}}", f"{{{name}:result}}")]
    return [action]


def _done(bases: list[VerbPhrase]) -> tuple[str, ...]:
    """The step as completed: "after booking the flight"."""
    phrases = []
    for base in bases:
        verb, *particle = base.verb.split()
        rest = re.sub(r"\b(?:for me|me)\b ?", "", base.rest)
        rest = re.sub(r"^and (\w+)", lambda m: f"and {gerund(m[1])}", rest)
        second = re.search(r"(?<=\w) (?:and|or) (\w+) \w", rest)
        if second and base_form(second[1]):
            rest = rest[: second.start()]
        rest = re.sub(r"\b(?:a|an) (?=\w)", "the ", rest, count=1)
        if len(rest.split()) > 5:
            rest = re.sub(_TRAILING, "", rest)
        phrases.append(" ".join(["after", gerund(verb), *particle, rest]).strip())
    return tuple(dict.fromkeys(phrases))[:1]


def _results(base: VerbPhrase, tool: Tool) -> tuple[str, ...]:
    verb = base.verb.split()[0]
    adjective = participle(verb)
    nouns = [" ".join(id_words(kind)) for kind in tool.outputs] or ["result"]
    noun = nouns[0]
    mark = "+" if is_plural(noun) else ""
    if noun == "result":
        return (noun,)
    return (f"{mark}{adjective} {noun}",)


def _with_inputs(base: VerbPhrase, tool: Tool) -> str:
    """The verb phrase with each input's words replaced by its place, or with the place appended."""
    text, placed, missing = str(base), set[int](), []
    for number, kind in enumerate(tool.inputs):
        if number in placed:
            continue
        twins = [n for n, other in enumerate(tool.inputs) if other == kind]
        pair = re.search(
            rf"\b(?:the )?{_NUMBERED} (?:\w+ ){{0,2}}?(?:{_patterns(kind)[-1]})s?{_TAIL}\b",
            text,
            re.IGNORECASE,
        )
        if pair and len(twins) == 2:
            both = f"{{{twins[0]}}} and {{{twins[1]}}}"
            text = f"{text[: pair.start()]}{both}{text[pair.end() :]}"
            placed.update(twins)
            continue
        makes = base.verb.split()[0] in read_list("grammar")["making"]
        matches = (_mention_of(words, text, makes=makes) for words in _patterns(kind))
        match = next((match for match in matches if match), None)
        if match:
            text = f"{text[: match.start()]}{{{number}}}{text[match.end() :]}"
            placed.add(number)
        else:
            missing.append(number)
    for place, number in enumerate(missing):
        text += f" {'with' if place or '{' in text else _joint(base)} {{{number}}}"
    return re.sub(r"\s+", " ", text)


def _patterns(kind: str) -> list[str]:
    """Regular expressions for a type: its own words, then its synonyms."""
    words = r"[ _-]?".join(map(re.escape, re.split(r"[ _-]", kind)))
    synonyms = read_list("types")["synonyms"]
    return [words, synonyms[kind]] if kind in synonyms else [words]


def _mention_of(words: str, text: str, *, makes: bool) -> re.Match[str] | None:
    """The mention of an input in a verb phrase: with an article, else bare.

    After a verb of making, an input comes only after a preposition: its object is the result.
    """
    noun = rf"(?:{words})s?\b{_TAIL}{_OF}(?! (?:format|type|amount|search|domain|effect)\b)(?!-)"
    article = r"\b(?:a|an|the|any|one|some|another|your|its|each|every) (?:black and white )?"
    adjectives = r"(?:(?!of\b|in\b|from\b|to\b|with\b|and\b|by\b|into\b)\w+[ -]){0,3}?"
    for pattern in (article + adjectives + noun, rf"(?<![-{{\w])(?:input )?{noun}"):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if not makes or re.search(r"\b(?:from|of|on|for|to|by|with|represents)\b", text[: match.start()]):
                return match
    return None


def _joint(base: VerbPhrase) -> str:
    verb = base.verb.split()[0]
    if verb in ("extract", "find", "get", "retrieve", "detect", "recognise", "generate", "create", "make"):
        return "from"
    if verb in ("calculate", "compute", "estimate", "predict", "check", "determine", "look", "recommend"):
        return "for"
    return "using"
