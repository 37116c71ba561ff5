"""The request names a tool of the plan."""

from __future__ import annotations

import re
from collections.abc import Callable

from measurements.planted_defects.forms import Change, Form, Plant, World
from measurements.planted_defects.plans import bare, sentences, tools_of
from measurements.planted_defects.samples import Record

KIND = "tool name leaked"
USE = ("Please use {}.", "Use {} for this.", "Use the {} tool for this.")
NATURAL = (
    "I think {} is what you want for that.",
    "I've heard good things about {}, so go with that one.",
    "My colleague always does it with {}, by the way.",
)
SMALL = ("Run it through the {} tool, please.", "there's a {} tool that can do this")


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)


def _snake(name: str) -> str:
    return "_".join(part.lower() for part in _parts(name))


def _camel(name: str) -> str:
    first, *others = _parts(name)
    return first.lower() + "".join(part.capitalize() for part in others)


def _titled(name: str) -> str:
    return " ".join(part.capitalize() for part in _parts(name))


def _small(name: str) -> str:
    return " ".join(part.lower() for part in _parts(name))


def _sentence(*patterns: str, spell: Callable[[str], str] = str, quote: str = "{}") -> Plant:
    def plant(record: Record, world: World) -> Change | None:
        tool = _tool(record, world)
        if tool is None or (spell in (_snake, _camel, _small) and len(_parts(tool)) < 2):
            return None
        said = world.chance.choice(patterns).format(quote.format(spell(tool)))
        record["user_request"] = f"{record['user_request'].rstrip()} {said}"
        return Change("user_request", "", said)

    return plant


def _tool(record: Record, world: World) -> str | None:
    """A tool of the plan that the request does not name yet."""
    request = bare(record["user_request"])
    tools = [tool for tool in tools_of(record) if bare(tool) not in request]
    return world.chance.choice(tools) if tools else None


def _in_brackets(record: Record, world: World) -> Change | None:
    """(X) after one of the sentences, as models do when they have the plan before them."""
    tool = _tool(record, world)
    if tool is None:
        return None
    parts = sentences(record["user_request"])
    place = world.chance.randrange(len(parts))
    match = re.fullmatch(r"(.*?)([.!?]?)", parts[place], re.S)
    assert match
    parts[place] = f"{match[1]} ({tool}){match[2]}"
    record["user_request"] = " ".join(parts)
    return Change("user_request", "", f"({tool})")


FORMS = (
    Form(KIND, "use X", _sentence(*USE)),
    Form(KIND, "snake case", _sentence(*USE, *NATURAL, spell=_snake)),
    Form(KIND, "camel case", _sentence(*USE, *NATURAL, spell=_camel)),
    Form(KIND, "quoted, in words with capitals", _sentence(*USE, *NATURAL, spell=_titled, quote="'{}'")),
    Form(KIND, "(X) after a sentence", _in_brackets),
    Form(KIND, "a natural sentence", _sentence(*NATURAL)),
    Form(KIND, "small letters and the word tool", _sentence(*SMALL, spell=_small)),
)
