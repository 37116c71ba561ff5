"""Which kind of value a parameter takes, and concrete values of each kind."""

from __future__ import annotations

import re
from functools import cache

from toolassay.offline.writer.limits import allowed_range, allowed_values
from toolassay.offline.writer.lists import read_list
from toolassay.offline.writer.story import Story
from toolassay.offline.writer.words import id_words, is_plural
from toolassay.tools import Parameter, Tool

_EXAMPLES = re.compile(
    r"(?:\be\.?g\.?|\bfor example|\bfor instance|\bsuch as|\bone of|\beither|\ballowed values?|\boptions?)"
    r"[:,]?\s+(?P<list>(?:[^.;()]|\.(?=\d))+)",
    re.IGNORECASE,
)
_NUMERIC = frozenset({"integer", "number", "boolean"})


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in read_list("parameter_rules"))


def kind_of(parameter: Parameter, tool: Tool) -> str:
    """The kind of value for a parameter, by its name, type and description.

    A kind `one of|a|b` lists the values the tool's words give, `within|1|5|0` a range and its decimals.

    >>> kind_of(Parameter("checkInDate"), Tool("t")), kind_of(Parameter("seats", "integer"), Tool("t"))
    ('date', 'count')
    >>> kind_of(Parameter("mode", "string", "How to go, eg. walk, drive, fly etc."), Tool("t"))
    'one of|walk|drive|fly'
    """
    name = " ".join(id_words(parameter.name))
    declared: str | None = read_list("types")["declared"].get(parameter.type.strip().casefold())
    limited = _limited(parameter, tool, declared)
    if limited:
        return limited
    kind = next((kind for pattern, kind in _rules() if pattern.search(name)), None)
    if kind in ("person", "country", "language"):
        sharper = read_list("types")["sharper"]
        kind = next((k for p, k in sharper[kind] if re.search(p, parameter.description, re.I)), kind)
    if kind == "full name" and name == "name":
        context = f"{' '.join(id_words(tool.id))} {parameter.description}"
        kind = next(
            (k for word, k in read_list("types")["things"].items() if re.search(rf"\b{word}", context, re.I)),
            kind,
        )
    if declared in _NUMERIC:
        kind = {"amount": "plain amount", "price": "plain amount", "identifier": "numeric code"}.get(
            kind or "", kind
        )
    if (
        kind is not None
        and (declared not in _NUMERIC or kind in read_list("types")["numeric kinds"])
        and declared != "boolean"
    ):
        return kind
    listed = _listed(parameter.description)
    if listed and declared not in _NUMERIC:
        return "|".join(["one of", *listed])
    if declared:
        return declared
    context = parameter.description
    kind = next((kind for pattern, kind in _rules() if context and pattern.search(context)), None)
    return kind or ("text" if len(name.split()) > 2 or "text" in context else "label")


def _limited(parameter: Parameter, tool: Tool, declared: str | None) -> str | None:
    """The kind for a parameter that takes only some values or the numbers of a range."""
    if declared == "boolean":
        return None
    values = allowed_values(parameter, tool)
    examples = _EXAMPLES.search(parameter.description)
    # "e.g. Oslo, Norway" is one example; with "or", "etc" or a third item it is a list.
    if not values and examples and declared in (None, *_NUMERIC):
        listed = _listed(parameter.description)
        if len(listed) > 2 or (len(listed) == 2 and re.search(r"\b(?:or|etc)\b", examples["list"])):
            values = listed
    if declared in _NUMERIC:
        values = [value for value in values if re.fullmatch(r"-?\d+(?:\.\d+)?", value)]
    if values:
        return "|".join(["one of", *values])
    limits = allowed_range(parameter, tool)
    if limits and declared in (None, *_NUMERIC):
        return f"within|{limits.low}|{limits.high}|{limits.decimals}"
    return None


def _listed(description: str) -> list[str]:
    match = _EXAMPLES.search(description)
    if match is None:
        return []
    items = [
        re.sub(r"^(?:and|or)\s+|\s+etc$|['\"`]", "", item.strip(" ."))
        for item in re.split(r",|\bor\b|\|", match["list"])
    ]
    return [item for item in items if item and item.lower() != "etc" and len(item.split()) <= 4][:8]


def told(parameter: Parameter, kind: str, slot: str) -> tuple[str, bool]:
    """How the value of a slot is told at the end of a verb phrase, and whether that stands on its own.

    >>> told(Parameter("date"), "date", "date"), told(Parameter("seats"), "count", "seats")
    (('on {date}', True), ('for {seats} seats', True))
    >>> told(Parameter("priority"), "priority", "priority")
    ('the priority {priority}', False)
    """
    words = id_words(parameter.name)
    name, place = " ".join(words), f"{{{slot}}}"
    if kind == "count" and len(words) == 1 and is_plural(name):
        return f"for {place} {name}", True
    if len(words) > 1 and words[0] in ("from", "to") and kind != "date":
        return f"{name} {place}", True
    if kind == "city" and {"to", "arrival", "destination"} & set(words):
        return f"to {place}", True
    prepositions: dict[str, str] = read_list("types")["prepositions"]
    if kind in prepositions:
        return prepositions[kind].replace("{}", place), True
    if kind == "boolean":
        return f"the option '{name}' set to {place}", False
    if kind.split("|")[0] in ("one of", "within", "number", "integer", "plain amount", "percentage", "count"):
        return f"the {name} set to {place}", False
    return f"the {name} {place}", False


def is_quoted(kind: str) -> bool:
    """Whether values of a kind always stand in quotation marks (texts and titles)."""
    return bool(read_list("kinds").get(kind, {}).get("quoted"))


def value_of(kind: str, story: Story) -> str:
    """A fresh value of a kind, coherent with the story."""
    if kind.startswith("one of|"):
        return story.fresh(lambda: story.pick(kind.split("|")[1:]), attempts=0)
    if kind.startswith("within|"):
        low, high, decimals = (float(text) for text in kind.split("|")[1:])
        steps = round((high - low) * 10**decimals) + 1
        return story.fresh(lambda: f"{low + story.below(steps) / 10**decimals:.{int(decimals)}f}", attempts=0)
    entry = read_list("kinds")[kind]
    if "from" in entry:
        template = "{" + str(entry["from"]) + "}"
        repeats = kind in ("city", "date", "topic", "country")
        if repeats:
            value = _field(template, story)
            if value not in story.literals:
                story.literals.append(value)
            return value
        return story.fresh(lambda: _field(template, story))
    return story.fresh(lambda: story.fill(story.pick(entry["values"])))


def _field(template: str, story: Story) -> str:
    name = template[1:-1]
    story.used.add(name)
    return story.field(name)
