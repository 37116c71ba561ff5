"""The arguments of planned calls.

An input of a resource tool gets an earlier step's output or a literal of the request. A parameter gets the
value of the request that fits it best.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolassay.argument_values.allowed_values import allowed_range, allowed_values
from toolassay.argument_values.fed_arguments import FedArgument, fed_argument, is_fed, with_fed
from toolassay.argument_values.places import ABSENT, ValuePlace, filled_arguments, value_places
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import fields_of
from toolassay.offline.planner.mentions import MentionedValue, MentionKind, Mentions
from toolassay.offline.planner.terms import WORDS, stem, words_of
from toolassay.tools.library import Parameter, Tool


def fill_resources(
    graph: ToolGraph, tools: Sequence[int], places: Sequence[float], mentions: Mentions
) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """One argument for each input of each tool, in plan order, and the pairs of nodes that references link.

    An input takes the first of these: the latest earlier output that fits and is unused, a literal that fits
    and is unused, any such output, any such literal, for a text the sentence at the tool's position, and the
    name of its type.

    Args:
        graph: the tool graph; references follow its links only.
        tools: tool numbers in plan order.
        places: the character position at which the request mentions each tool.
        mentions: the values of the request.
    """
    arguments: list[list[str]] = []
    references: list[tuple[int, int]] = []
    taken_outputs: set[int] = set()
    taken_literals: set[str] = set()
    for node, number in enumerate(tools):
        filled: list[str] = []
        own_sources: set[int] = set()
        for slot in graph.library.tools[number].inputs:
            outputs = [
                earlier
                for earlier in range(node - 1, -1, -1)
                if earlier not in own_sources
                and slot in graph.library.tools[tools[earlier]].outputs
                and graph.numbered.types(tools[earlier], number)
            ]
            texts = [mention.text for mention in mentions.values if slot in mention.resource_types]
            literals = [text for text in dict.fromkeys(texts) if text not in filled]
            output = next((earlier for earlier in outputs if earlier not in taken_outputs), None)
            literal = next((text for text in literals if text not in taken_literals), None)
            if output is None and literal is None:
                output = next(iter(outputs), None)
            if output is not None:
                filled.append(f"<node-{output}>")
                references.append((output, node))
                own_sources.add(output)
                taken_outputs.add(output)
            else:
                sentence = mentions.sentence_at(places[node]) if slot == "text" else ""
                fallback = slot if sentence in filled else sentence
                value = literal or next(iter(literals), None) or fallback or slot
                filled.append(value)
                taken_literals.add(value)
        arguments.append(filled)
    return arguments, references


def with_references(
    graph: ToolGraph, tools: Sequence[Tool], arguments: Sequence[list[Any]]
) -> tuple[list[list[Any]], list[tuple[int, int]]]:
    """The arguments with references along the links of a schema graph, and the linked pairs of nodes.

    An argument takes the nearest earlier result that can fill it. Where no value flows into a node, the link
    from the node before it counts.

    Args:
        graph: the tool graph.
        tools: the tools in plan order.
        arguments: the arguments of each tool, without references.
    """
    filled: list[list[Any]] = []
    pairs: list[tuple[int, int]] = []
    for node, tool in enumerate(tools):
        fed_arguments: list[FedArgument] = []
        sources: set[int] = set()
        for source in range(node - 1, -1, -1):
            link = graph.dependency(tools[source].id, tool.id)
            for pair in fields_of(link) if link is not None else ():
                candidate = fed_argument(pair, source, tools[source], tool)
                if not is_fed(candidate.place, fed_arguments) and not any(
                    is_fed(other.place, [candidate]) for other in fed_arguments
                ):
                    fed_arguments.append(candidate)
                    sources.add(source)
        if node and not sources and graph.dependency(tools[node - 1].id, tool.id) is not None:
            sources.add(node - 1)
        filled.append(with_fed(arguments[node], fed_arguments))
        pairs += [(source, node) for source in sorted(sources)]
    return filled, pairs


# Words of parameters by the kind of value they expect; a word in two rows counts for the first.
_KIND_OF_STEM: dict[str, MentionKind] = {
    stem(word): kind for kind, words in reversed(WORDS["kinds"]) for word in words
}
# Kinds that are recognised by their form: a parameter of such a kind takes no other, and no other takes it.
_STRICT: frozenset[MentionKind] = frozenset({"email", "phone", "url", "date", "time"})
_FREE: dict[MentionKind, float] = {"quoted": 0.5, "name": 0.4, "file": 0.1, "number": 0.0, "phrase": 0.0}
# "e.g. red, blue" and "such as red", but not "likely".
_EXAMPLES = re.compile(r"\b(?:e\.?g\.?|such as|for example|like)[\s:,]+([^()]{1,300})", re.IGNORECASE)
_FAR = 150.0  # characters from the tool at which a value loses one point
_MOST_OPTIONAL = 64  # optional arguments of an imported tool for which a value is looked for


def fill_parameters(
    tool: Tool, mentions: Mentions, position: float, taken_starts: set[int]
) -> list[dict[str, Any]]:
    """A value for each parameter for which the request has one; of an imported tool, of its JSON type.

    Args:
        tool: the tool to call.
        mentions: the values of the request.
        position: the character position at which the request mentions the tool.
        taken_starts: start positions of values that earlier steps took; those taken here are added.
    """
    places = value_places(tool, _MOST_OPTIONAL)
    texts = _texts_of(
        tool, [value_place.parameter for value_place in places], mentions, position, taken_starts
    )
    if tool.input_schema is None:
        return [{"name": places[number].parameter.name, "value": texts[number]} for number in sorted(texts)]
    numbers = {value_place: number for number, value_place in enumerate(places)}

    def value(value_place: ValuePlace) -> Any:
        number = numbers[value_place]
        return value_place.typed(texts[number]) if number in texts else ABSENT

    return filled_arguments(tool, _MOST_OPTIONAL, value)


def _texts_of(
    tool: Tool, parameters: Sequence[Parameter], mentions: Mentions, position: float, taken_starts: set[int]
) -> dict[int, str]:
    """The value of each parameter that has one, by its number."""
    examples = {
        number: example
        for number, parameter in enumerate(parameters)
        if (example := _example(parameter, mentions, position)) is not None
    }
    # "The meeting" names what the tool is about; it is no value.
    tool_stems = {word.stem for word in words_of(f"{tool.id} {tool.description}")}
    offers = [
        (score, number, mention)
        for number, parameter in enumerate(parameters)
        if number not in examples and not _is_boolean(parameter) and not allowed_values(parameter)
        for mention, score in _offers(parameter, mentions, position, taken_starts)
        if mention.kind != "phrase" or not tool_stems.issuperset(word.stem for word in words_of(mention.text))
    ]
    values = {number: example.text for number, example in examples.items()}
    used_mentions = list(examples.values())
    for _, number, mention in sorted(offers, key=lambda offer: (-offer[0], offer[1], offer[2].start)):
        if number not in values and not any(
            mention.start < other.end and other.start < mention.end for other in used_mentions
        ):
            values[number] = _trimmed(mention, parameters[number])
            used_mentions.append(mention)
            taken_starts.add(mention.start)
    return values


def _offers(
    parameter: Parameter, mentions: Mentions, position: float, taken_starts: set[int]
) -> Iterator[tuple[MentionedValue, float]]:
    """The values that may fill a parameter, with their scores."""
    look = _expected_kind(parameter)
    limits = allowed_range(parameter) if look not in _STRICT else None
    about = f"{parameter.name} {parameter.description}"
    own_words = {word.stem for word in words_of(about)}
    spoken = {word.casefold() for word in re.findall(r"\w+", about)}
    for mention, words_around in mentions.surroundings.items():
        if limits:
            if not limits.holds(mention.text):
                continue
            fit = 1.0
        elif look in _STRICT or mention.kind in _STRICT:
            if mention.kind != look:
                continue
            fit = 1.0
        else:
            fit = 1.0 if mention.kind == look else _FREE[mention.kind]
        score = fit + 0.5 * min(len(own_words & words_around), 2) + 0.5 * (mention.lead in spoken)
        score -= min(abs(mention.start - position) / _FAR, 2.0)
        if mention.start in taken_starts and mention.kind not in _STRICT:
            score -= 1
        if score > 0:
            yield mention, score


def _expected_kind(parameter: Parameter) -> MentionKind | None:
    words = [*words_of(parameter.type), *words_of(parameter.name)]
    return next(filter(None, (_KIND_OF_STEM.get(word.stem) for word in words)), None)


def _is_boolean(parameter: Parameter) -> bool:
    return parameter.type.strip().casefold() in ("bool", "boolean")


def _example(parameter: Parameter, mentions: Mentions, position: float) -> MentionedValue | None:
    """The allowed or example value of a parameter that the request has nearest to `position`.

    For a boolean, nearest to the parameter's name, if that occurs.
    """
    listed_examples = _EXAMPLES.search(parameter.description)
    if _is_boolean(parameter):
        texts = ["true", "false"]
        name = re.escape(" ".join(word.plain for word in words_of(parameter.name)))
        named = re.search(rf"\b{name}\b", mentions.text, re.IGNORECASE)
        position = named.end() if named else position
    else:
        texts = allowed_values(parameter)
    if not texts and listed_examples:
        texts = [text.strip(" .'\"") for text in re.split(r",|\bor\b|\betc\b", listed_examples[1])]
    matching = [
        MentionedValue(match.group(), "phrase", match.start(), match.end())
        for text in texts
        if text
        for match in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", mentions.text, re.IGNORECASE)
    ]
    return min(matching, key=lambda mention: (abs(mention.start - position), mention.start), default=None)


def _trimmed(mention: MentionedValue, parameter: Parameter) -> str:
    """The text of a value. For a parameter `job` the phrase "web developer job" loses its last word."""
    first, space, last = mention.text.rpartition(" ")
    if mention.kind == "phrase" and space and stem(last.casefold()) == stem(parameter.name.casefold()):
        return first
    return mention.text
