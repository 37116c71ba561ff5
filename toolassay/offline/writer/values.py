"""Values of the user: the kind of a parameter, the role of a resource input, and concrete values of both."""

from __future__ import annotations

import re
from functools import cache

from toolassay.offline.writer.allowed_values import allowed_range, allowed_values
from toolassay.offline.writer.english import id_words, is_plural, read_list
from toolassay.offline.writer.story import Story
from toolassay.tools import Parameter, Tool

# "e.g. walk, drive" and "one of a, b", but not "some of a, b".
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
    """The kind of value of a parameter, by its name, type and description.

    A kind `one of|a|b` lists the allowed values, `within|1|5|0` gives a range and its decimals.

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
    """The kind of a parameter that is restricted to a list or a range; None if it is not."""
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


_PREPOSITIONS = frozenset(
    {"with", "without", "from", "to", "by", "in", "on", "for", "of", "at", "after", "before"}
)
FED = "fed"
"""The kind of a value that comes from the result of an earlier step."""


def slot_phrase(parameter: Parameter, kind: str, slot: str) -> tuple[str, bool]:
    """The phrase for a slot at the end of a verb phrase, and whether it needs no "with" before it.

    >>> slot_phrase(Parameter("date"), "date", "date"), slot_phrase(Parameter("seats"), "count", "seats")
    (('on {date}', True), ('for {seats} seats', True))
    >>> slot_phrase(Parameter("priority"), "priority", "priority")
    ('the priority {priority}', False)
    """
    words = id_words(parameter.name)
    name, place = " ".join(words), f"{{{slot}}}"
    if kind == FED:
        # "with the with genres" would be read twice.
        return (f"the '{name}' value {place}" if words[0] in _PREPOSITIONS else f"the {name} {place}"), False
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
    """Whether values of a kind always have quotation marks (texts and titles)."""
    return bool(read_list("kinds").get(kind, {}).get("quoted"))


def value_of(kind: str, story: Story) -> str:
    """A new value of a kind, coherent with the story."""
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


def guessed_role(tool: Tool, number: int) -> str:
    """The role of an input of a tool without hand-written phrases, by type and description.

    `kind:…` is a kind of value, `file:…` a file with that extension, `named:…` a thing with a reference
    number.
    """
    types = read_list("types")
    kind = tool.inputs[number].casefold()
    word = " ".join(id_words(kind)) or kind
    if kind in types["media"]:
        return (
            str(types["media"][kind])
            if tool.inputs[:number].count(tool.inputs[number]) == 0 or kind != "image"
            else "second photo"
        )
    if kind in ("url", "link", "uri", "web page", "webpage"):
        media = " ".join(tool.outputs)
        return next(
            (
                f"{m} address"
                for t, m in (("image", "picture"), ("video", "video"), ("audio", "sound"))
                if t in media
            ),
            "page address",
        )
    if kind in ("text", "string", "sentence", "paragraph", "prompt", "query", "question"):
        return _text_role(tool, number, kind)
    if word in types["kinds"]:
        return f"kind:{types['kinds'][word]}"
    if word in types["formats"]:
        return f"file:{word}"
    if word.split()[-1] in types["documents"]:
        return "file:pdf"
    return "named:"


def _text_role(tool: Tool, number: int, kind: str) -> str:
    about = f"{' '.join(id_words(tool.id))} {tool.description}"
    if tool.inputs.count("text") > 1 and number == tool.inputs.index("text") and kind == "text":
        return "passage"
    if len(tool.inputs) > 1 and re.search(r"instruct", about, re.I):
        return "photo instruction" if "image" in tool.inputs else "note"
    if len(tool.inputs) > 1 and kind == "text" and tool.inputs.count("text") == 1:
        of = next(
            (k for k in ("currency", "language", "colour", "city") if re.search(rf"\b{k}", about, re.I)), None
        )
        if of:
            return f"kind:{of}"
        if not re.search(r"question|caption|script|text|title|message", about, re.I):
            return "note"
    if kind in ("query", "question", "prompt"):
        return {"query": "query", "question": "question about text", "prompt": "scene"}[kind]
    if re.search(r"question", about, re.I) and len(tool.inputs) > 1:
        return "question about photo" if "image" in tool.inputs else "question about text"
    head = about[:120]
    role = next(
        (role for pattern, role in read_list("types")["text roles"] if re.search(pattern, head, re.I)),
        "passage",
    )
    if role == "scene" and not {"image", "video"} & set(tool.outputs):
        role = "prompt"
    if role.startswith("question") and len(tool.inputs) == 1:
        role = "message"
    return role


def role_entry(role: str, kind: str) -> dict[str, object]:
    """The wording of a role for literals and for results."""
    roles = read_list("roles")
    if role in roles:
        entry: dict[str, object] = roles[role]
        return entry
    word = " ".join(id_words(kind)) or kind
    noun = role[5:] if role.startswith("kind:") and word == "text" else word
    given = {
        "kind": [f"the {noun} {{value}}"],
        "file": [f"the {word} {{value}}"],
        "named": [f"the {word} {{value}}"],
    }
    return {
        "given": given[role.split(":")[0]],
        "result": ["{np}"],
        "step": "{value}",
        "handles": [],
        "setups": [],
    }


def role_value(role: str, story: Story) -> str:
    """A new literal for a role."""
    if role.startswith("kind:"):
        if role == "kind:coordinates":
            return story.fresh(lambda: f"{value_of('latitude', story)}, {value_of('longitude', story)}")
        return value_of(role[5:], story)
    if role.startswith("file:"):
        ending = role[5:]
        return story.fresh(lambda: _file(ending, story), attempts=20)
    if role.startswith("named:"):
        return story.fresh(lambda: story.field("identifier"))
    entry = read_list("roles")[role]
    if "file" in entry:
        return story.fresh(lambda: story.file(entry["file"], entry.get("names")))
    if "url" in entry:
        return story.fresh(lambda: story.url(entry["url"]))
    return story.fresh(lambda: story.fill(story.pick(entry["values"])))


def _file(ending: str, story: Story) -> str:
    first = f"example.{ending}"
    if first not in story.literals:
        return first
    return f"{story.pick(('sample', 'latest', 'second', 'spring', 'north', 'draft', 'copy'))}.{ending}"
