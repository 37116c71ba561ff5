"""The arguments of tools that may come from other tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolassay.argument_schemas import kinds_of, properties_at, resolve
from toolassay.graph.derive.fields import (
    Route,
    Taken,
    allowed_values,
    name_words,
    things_of_tool,
    tool_verbs,
    verb_of,
)
from toolassay.graph.derive.names import Words, is_control, meaning_of, thing_of, word_list, words_of
from toolassay.output_paths import EACH, Part, parse_path, path_text
from toolassay.tools import Tool
from toolassay.type_names import read_type

# Bounds on what is read of one tool.
_DEEPEST_ARGUMENT, _DEEPEST_ENVELOPE, _MOST_ARGUMENTS = 3, 7, 200


def taken_fields(tool: Tool, route: Route | None) -> list[Taken]:
    """The arguments of a tool that may come from other tools: not page sizes, free texts and the like."""
    schema = tool.input_schema
    if schema is None and not tool.parameters:
        return _named_things(tool)
    if schema is None:
        return [
            _taken(one.name, one.name, read_type(one.type) or {}, {}, one.required is not False, tool, route)
            for one in tool.parameters
            if not is_control(one.name)
        ]
    found: list[Taken] = []
    waiting: list[tuple[tuple[Part, ...], Any, bool, int]] = [((), schema, True, 0)]
    left = _MOST_ARGUMENTS  # objects to look into
    while waiting and len(found) < _MOST_ARGUMENTS and left:
        left -= 1
        place, part, needed, depth = waiting.pop(0)
        for one in properties_at(part, schema):
            path, inner = (*place, one.name), one.schema
            required = needed and one.required
            if depth and not required:
                continue  # what an optional object has inside is data to write, rarely a reference
            kinds = kinds_of(inner, schema)
            items = resolve(inner.get("items"), schema) if "array" in kinds else {}
            if depth < _DEEPEST_ARGUMENT and ("object" in kinds or "object" in kinds_of(items, schema)):
                is_list = "object" not in kinds
                inside = (*path, EACH) if is_list else path
                if not thing_of(one.name):  # an envelope such as `data`, which may contain itself
                    if len(path) < _DEEPEST_ENVELOPE:
                        waiting.append((inside, items if is_list else inner, True, depth))
                else:
                    waiting.append((inside, items if is_list else inner, required, depth + 1))
                continue
            taken = _taken(path_text(path), one.name, inner, schema, required, tool, route)
            if not is_control(one.name) and not _is_setting(taken, tool, route):
                found.append(taken)
    return found


def _named_things(tool: Tool) -> list[Taken]:
    """What a tool without declared arguments is likely to work on: the nouns of its name.

    Of the things that a tool finds, the last noun is what it returns: the images in "get movie images".
    """
    words = [word for word in name_words(tool) if word not in tool_verbs() and not word.isdigit()]
    if verb_of(tool, None) in ("find", "search"):
        words = words[:-1]
    nothing: frozenset[str] = frozenset()
    return [
        Taken("", (word,), "", nothing, "", frozenset(), False, False, (), "")
        for word in dict.fromkeys(words)
    ]


_NEW = frozenset({"name", "id", "path", "title", ""})
"""Attributes that a tool which creates a thing gives it."""


def _is_setting(taken: Taken, tool: Tool, route: Route | None) -> bool:
    """Whether an argument is a value to set or a choice, rather than a reference to a thing."""
    name = str(parse_path(taken.path)[-1])
    bare = meaning_of(name).thing == () and bool(taken.attribute)
    makes = verb_of(tool, route) == "make"
    # What a tool changes or sets as often as it refers to a thing by it.
    describing = word_list("describing attributes")
    # The `id` or `name` of what a tool creates is new, `ids` are those of other things. A tool without a path
    # may refer to a thing by its name.
    is_plural = taken.listed or name[-1:].casefold() == "s"
    is_new = makes and not is_plural
    own = things_of_tool(tool, route)
    names_own = bool(own) and own[0].thing[-len(taken.thing) :] == taken.thing and taken.attribute in _NEW
    if names_own and is_new and not taken.route and taken.thing:
        return True  # `branch_name` of "create_branch"
    if bare and not taken.route and (is_new or (route is not None and taken.attribute in describing)):
        return True
    if taken.kinds == {"boolean"} or taken.format in ("date", "date-time", "time", "duration"):
        return True
    if not taken.required and taken.attribute in describing - {"code", "number", "slug", "key"}:
        return True
    return not taken.attribute and (bool(taken.values) or _CHOICE.search(taken.description) is not None)


# The description of an argument that chooses what to include: "true or false", "all or a comma-separated
# list of: name, url". Not "A comma-separated list of user ids".
_CHOICE = re.compile(
    r"^\W*(?:true or false|(?:one|any|some) of\b|either\b|whether\b|(?:all|none)\W+or\b)|\blist of:",
    re.IGNORECASE,
)


_PLACES = frozenset({"url", "uri", "link", "href"})


def _taken(
    path: str, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], required: bool, tool: Tool,
    route: Route | None,
) -> Taken:  # fmt: skip
    kinds = kinds_of(schema, root) - {"null"}
    listed = "array" in kinds
    declared = resolve(schema.get("items"), root) if listed else schema
    thing, attribute = meaning_of(name)
    before = None if route is None else route.before(name)
    if not thing and attribute in _PLACES and route is None:
        thing, attribute = ("url",), ""  # of whatever a search found
    elif not thing and attribute:
        thing = _thing_around(path, tool, route, before)
    values = declared.get("enum")
    description = schema.get("description")
    if thing and not attribute and isinstance(description, str):
        attribute = _described_attribute(description)
    return Taken(
        path,
        thing,
        attribute,
        (kinds_of(declared, root) - {"null"}) if listed else kinds - {"array"},
        str(declared.get("format") or ""),
        allowed_values(values),
        required,
        listed,
        before or (),
        description if isinstance(description, str) else "",
    )


# "the name of the namespace", "ID of the channel"; the first that a description names counts.
_ATTRIBUTE = re.compile(
    r"\b(id|uuid|guid|name|slug|key|login|username|email|number|code|sha|url|uri)s?\b", re.IGNORECASE
)


def _described_attribute(description: str) -> str:
    """The attribute of a thing that the first sentence of a description names; empty if it names none."""
    found = _ATTRIBUTE.search(re.split(r"[.\n]", description, maxsplit=1)[0])
    return found[1].lower() if found else ""


def _thing_around(path: str, tool: Tool, route: Route | None, before: tuple[str, ...] | None) -> Words:
    """What an argument named only `id` or `name` is of: the object around it, else what the path names."""
    around = [part for part in re.split(r"[.\[\]]+", path) if part][:-1]
    for part in reversed(around):
        if words := thing_of(part):
            return words
    if before:
        return words_of(before[-1])
    owners = things_of_tool(tool, route)
    return owners[0].thing if owners else ()
