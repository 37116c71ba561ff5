"""Arguments of tools with parameters: the value of the request that suits each parameter best."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolgraph.offline.planner.mentions import Kind, Mention, Mentions
from toolgraph.offline.planner.words import stem, words_of
from toolgraph.tools import Parameter, Tool

# The word of a parameter that tells how its value looks. First match wins.
_LOOKS: tuple[tuple[Kind, str], ...] = (
    ("email", "email mail"),
    ("phone", "phone mobile telephone"),
    ("url", "url link uri"),
    ("date", "date day birthday departure arrival"),
    ("time", "time hour clock"),
    ("file", "file document image photo picture video audio attachment"),
    ("number", "number amount count quantity price id year age code budget size integer float card limit"),
)
_LOOK_OF = {stem(word): kind for kind, words in reversed(_LOOKS) for word in words.split()}
# Such values are known by their look: a parameter that wants one takes nothing else, and nothing else takes one.
_STRICT: frozenset[Kind] = frozenset({"email", "phone", "url", "date", "time"})
_FREE: dict[Kind, float] = {"quoted": 0.5, "name": 0.4, "file": 0.1, "number": 0.0, "phrase": 0.0}
_EXAMPLES = re.compile(r"\b(?:e\.?g\.?|such as|for example|like)[\s:,]+([^()]{1,300})", re.IGNORECASE)
_NEARBY = 30
_FAR = 150.0


def fill_parameters(tool: Tool, mentions: Mentions, place: float, taken: set[int]) -> list[dict[str, str]]:
    """A value for each parameter that the request holds one for.

    Args:
        tool: the tool.
        mentions: the values of the request.
        place: the character position at which the request speaks of the tool.
        taken: start positions of values that earlier steps took; extended by those taken here.
    """
    values = {p.name: value for p in tool.parameters if (value := _example(p, mentions, place)) is not None}
    open_ones = [parameter for parameter in tool.parameters if parameter.name not in values]
    offers = [
        (score, number, mention)
        for number, parameter in enumerate(open_ones)
        for mention, score in _offers(parameter, mentions, place, taken)
    ]
    used: list[Mention] = []
    for _, number, mention in sorted(offers, key=lambda offer: (-offer[0], offer[1], offer[2].start)):
        name = open_ones[number].name
        if name not in values and not any(_overlap(mention, other) for other in used):
            values[name] = mention.text
            used.append(mention)
            taken.add(mention.start)
    return [{"name": p.name, "value": values[p.name]} for p in tool.parameters if p.name in values]


def _offers(
    parameter: Parameter, mentions: Mentions, place: float, taken: set[int]
) -> Iterator[tuple[Mention, float]]:
    """The values that could fill a parameter, with how well they suit it."""
    look = _look(parameter)
    own_words = {word.stem for word in words_of(f"{parameter.name} {parameter.description}")}
    spoken = {word.casefold() for word in re.findall(r"\w+", f"{parameter.name} {parameter.description}")}
    for mention in (*mentions.values, *mentions.phrases):
        if look in _STRICT or mention.kind in _STRICT:
            if mention.kind != look:
                continue
            fit = 1.0
        else:
            fit = 1.0 if mention.kind == look else _FREE[mention.kind]
        nearby = mentions.text[max(0, mention.start - _NEARBY) : mention.end + _NEARBY // 2]
        shared = len(own_words & {word.stem for word in words_of(nearby)})
        score = fit + 0.5 * min(shared, 2) + 0.5 * (mention.lead in spoken)
        score -= min(abs(mention.start - place) / _FAR, 2.0) + 0.5 * (mention.start in taken)
        if score > 0:
            yield mention, score


def _look(parameter: Parameter) -> Kind | None:
    words = [*words_of(parameter.type), *words_of(parameter.name)]
    return next((_LOOK_OF[word.stem] for word in words if word.stem in _LOOK_OF), None)


def _example(parameter: Parameter, mentions: Mentions, place: float) -> str | None:
    """An example the parameter's description gives, if the request holds it: the nearest to `place`."""
    listed = _EXAMPLES.search(parameter.description)
    if listed is None:
        return None
    texts = [text.strip(" .'\"") for text in re.split(r",|\bor\b|\betc\b", listed[1])]
    found = [
        (abs(match.start() - place), match.group())
        for text in texts
        if text
        for match in re.finditer(rf"\b{re.escape(text)}\b", mentions.text, re.IGNORECASE)
    ]
    return min(found)[1] if found else None


def _overlap(first: Mention, second: Mention) -> bool:
    return first.start < second.end and second.start < first.end
