"""Paths into the result of a tool, and references to another step's output in the arguments of a plan.

A path names a place in a result: `results[].id` is the `id` of each item of `results`.

In an argument, a reference is `<node-j>`, the whole output of node j, or `<node-j>.path`, a part of it:
`<node-0>.results[0].id` is the id of the first item, `<node-0>.results[*].id` a list with those of all items.
"""

from __future__ import annotations

import re
from typing import NamedTuple

EACH = "[]"
"""The part of a path that stands for the items of a list."""

# One part of a path: ".name", "[3]", ".3", "[*]", "[]", "['odd name']", "['']". Not "..", "[x]".
_PART = re.compile(
    r"\.(?P<name>[^\s.\[\]'\"<>]+)|\[(?P<item>\d{1,9}|\*|)\]|\[(?P<quote>['\"])(?P<odd>.*?)(?P=quote)\]",
    re.DOTALL,
)
# A whole reference: "<node-2>", "<node-0>.results[0].id". Not "<node-x>", "see <node-0>". The atomic group
# ends a quoted name at the first quote with a bracket; without it, n of them in a wrong text take 2^n steps.
_REFERENCE = re.compile(
    r"<node-(\d{1,18})>((?:\.[^\s.\[\]'\"<>]+|\[(?:\d{1,9}|\*|)\]|(?>\[(['\"]).*?\3\]))*)", re.DOTALL
)
# A name that needs no quotes in a path: "results" and "a-b"; not "a.b", "a b" or "a[0]".
_PLAIN = re.compile(r"[^\s.\[\]'\"<>]+")

Part = str | int
"""A name, the number of an item (from 0), or `EACH`."""


class Reference(NamedTuple):
    """A reference to the output of a node, or to a part of it; `path` is empty for the whole output."""

    node: int
    path: tuple[Part, ...] = ()


def parse_reference(text: str) -> Reference | None:
    """The reference that is all of a text; None for any other text.

    >>> parse_reference("<node-0>.results[0].id")
    Reference(node=0, path=('results', 0, 'id'))
    >>> parse_reference("<node-1>"), parse_reference("about <node-1>")
    (Reference(node=1, path=()), None)
    """
    match = _REFERENCE.fullmatch(text.strip()) if "<node-" in text else None
    return None if match is None else Reference(int(match[1]), _parts(match[2]))


def reference_text(reference: Reference) -> str:
    """The text of a reference, in one spelling.

    >>> reference_text(Reference(0, ("results", EACH, "id")))
    '<node-0>.results[*].id'
    """
    path = path_text(reference.path, each="[*]")
    return f"<node-{reference.node}>{path if path[:1] in ('', '[') else f'.{path}'}"


def parse_path(text: str) -> tuple[Part, ...]:
    """The parts of a path.

    >>> parse_path("results[].id"), parse_path("[].name"), parse_path("")
    (('results', '[]', 'id'), ('[]', 'name'), ())
    """
    return _parts(text if text[:1] in ("", "[", ".") else f".{text}")


def _parts(text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for match in _PART.finditer(text):
        if match["item"] is not None:
            parts.append(int(match["item"]) if match["item"].isdecimal() else EACH)
        else:
            name = match["name"]
            if match["odd"] is not None:
                parts.append(match["odd"])
            else:  # ".0" is another spelling of "[0]"
                parts.append(int(name) if name.isdecimal() else name)
    return tuple(parts)


def path_text(parts: tuple[Part, ...], *, each: str = EACH) -> str:
    """The text of a path, with `each` for all items of a list.

    >>> path_text(("results", EACH, "id")), path_text((EACH, "a b", 0))
    ('results[].id', "[]['a b'][0]")
    """
    text = ""
    for part in parts:
        if part == EACH or isinstance(part, int):
            text += each if part == EACH else f"[{part}]"
        elif _PLAIN.fullmatch(part) and not part.isdecimal():
            text += f".{part}" if text else part
        else:
            quote = '"' if "'" in part and '"]' not in part else "'"
            text += f"[{quote}{part}{quote}]"
    return text
