"""Facts: the scalar values in the results of tools, each with the words that say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from toolassay.files.data_files import unescaped_json
from toolassay.graph.derive.fields import name_words, thing_of, things_of_tool, words_of
from toolassay.plans.execution_record import Arguments
from toolassay.tools.identifiers import is_secret
from toolassay.tools.library import Tool
from toolassay.tools.results import parsed_text

Words = tuple[str, ...]
Scalar = str | int | float

_MOST_FACTS = 500  # of one result
_LONGEST = 120  # characters of a value
# Levels of a result. Deeper values are not remembered, so that no result can exhaust the stack.
_DEEPEST = 12
# A line of a listing: "[FILE] notes.txt", "[DIR] archive"; not "[1, 2]".
_ENTRY = re.compile(r"\[(?P<kind>FILE|DIR)\]\s+(?P<name>[^\t]+?)(?:\s{2,}.*)?")
# "Author: Ann" and "Commit: '3f2a…'"; not "a: b: c" or "http://host".
_PAIR = re.compile(r"(?P<key>[A-Za-z][\w -]{0,30}?):\s+(?P<value>\S.*)")
# An item of a list: "* main", "- first"; not "---".
_ITEM = re.compile(r"\s*[*+-]\s+(?P<value>\S.*)|\s{2,}(?P<other>\S+)")
# A path in a text: "/workspace/notes/a.txt".
_PATH = re.compile(r"/workspace(?:/[\w.@%+=~-]+)*")
# What a text writes for a flag or for nothing: "isFile: true" names nothing that another call could take.
_NO_VALUES = frozenset({"true", "false", "yes", "no", "none", "null", "n/a", "-"})


class Fact(NamedTuple):
    """A value that a tool returned.

    Attributes:
        value: The value.
        name: Words of its own name: ("name",), ("commit",).
        thing: Words of what has it: ("customer",), or of what the tool is about.
        source: Id of the tool.
        record: Number of the object in the result that has it; facts with one number belong together.
    """

    value: Scalar
    name: Words
    thing: Words
    source: str
    record: int = 0


def facts_of(tool: Tool, arguments: Arguments, value: Any, text: str) -> list[Fact]:
    """The facts in a result, each once.

    Args:
        tool: The tool.
        arguments: With which it was called; a listing is relative to the folder among them.
        value: The result as JSON.
        text: The result as text.
    """
    things = things_of_tool(tool, None)
    about: Words = things[-1].thing if things else name_words(tool)
    usable: dict[tuple[Any, Words, int], Fact] = {}
    parsed = parsed_text(text) if _is_text(value) else value
    facts = (
        _from_text(tool, about, arguments, text)
        if isinstance(parsed, str)
        else _walk(tool, parsed, (), about, 0, count(1))
    )
    for fact in facts:
        if len(usable) >= _MOST_FACTS:
            break
        if _is_usable(fact):
            usable.setdefault((fact.value, fact.name, fact.record), fact)
    return list(usable.values())


def without_secrets(value: Any) -> Any:
    r"""A result or arguments without the fields and the lines of a text that are named as secrets.

    >>> without_secrets({"id": 7, "api_key": "k-1"}), without_secrets("id: 7\npassword: x")
    ({'id': 7}, 'id: 7')
    """
    if isinstance(value, Mapping):
        kept = {name: item for name, item in value.items() if not is_secret(words_of(str(name)))}
        return {name: without_secrets(item) for name, item in kept.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    if not isinstance(value, str):
        return value
    if not isinstance(parsed := parsed_text(value), str):
        public = without_secrets(parsed)
        return value if public == parsed else unescaped_json(public)
    pairs = ((line, _PAIR.fullmatch(line.strip())) for line in value.split("\n"))
    return "\n".join(line for line, pair in pairs if not (pair and is_secret(words_of(pair["key"]))))


def _is_usable(fact: Fact) -> bool:
    """Whether a request could name a fact: no flag, no long text, no secret."""
    if isinstance(fact.value, bool) or is_secret(fact.name):
        return False
    if isinstance(fact.value, str):
        return 0 < len(fact.value) <= _LONGEST and fact.value.isprintable() and fact.value.strip() != ""
    return True


def _is_text(value: Any) -> bool:
    """Whether a result is a text, also one in an object around it: `{"content": "…"}`."""
    return isinstance(value, str) or (
        isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str)
    )


def _walk(
    tool: Tool, value: Any, name: Words, thing: Words, depth: int, numbers: Iterator[int], record: int = 0
) -> Iterator[Fact]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        object_number = next(numbers)
        for key, item in value.items():
            # "result" and "items" say nothing of what they contain.
            owner = name if any(map(thing_of, name)) else thing
            yield from _walk(tool, item, words_of(str(key)), owner, depth + 1, numbers, object_number)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(tool, item, name, thing, depth + 1, numbers, record)
    elif isinstance(value, str | int | float):
        yield Fact(value, name or thing, thing, tool.id, record)


def _from_text(tool: Tool, about: Words, arguments: Arguments, text: str) -> Iterator[Fact]:
    folder = next(
        (
            argument
            for argument in arguments.values()
            if isinstance(argument, str) and argument.startswith("/")
        ),
        "",
    )
    block = 1  # the lines of a block describe one thing: "Commit: 3f2a…", "Author: Ann"
    for line in text.splitlines()[:_MOST_FACTS]:
        block += not line.strip()
        if entry := _ENTRY.fullmatch(line.strip()):
            kind = "file" if entry["kind"] == "FILE" else "directory"
            path = f"{folder.rstrip('/')}/{entry['name']}" if folder else entry["name"]
            yield Fact(path, ("path",), (kind,), tool.id)
            continue
        for path in _PATH.findall(line):
            yield Fact(path, ("path",), ("path",), tool.id)
        if pair := _PAIR.fullmatch(line.strip()):
            value = pair["value"].strip("'\"")
            if value.casefold() not in _NO_VALUES:
                yield Fact(value, words_of(pair["key"]), about, tool.id, block)
        elif item := _ITEM.fullmatch(line):
            yield Fact((item["value"] or item["other"]).strip(), about, about, tool.id)
