"""Paths into the result of a tool, and references to another step's output in the arguments of a plan.

A path names a place in a result: `results[].id` is the `id` of each item of `results`.

In an argument, a reference is `<node-j>`, the whole output of node j, or `<node-j>.path`, a part of it:
`<node-0>.results[0].id` is the id of the first item, `<node-0>.results[*].id` a list with those of all items.
Selectors choose among items by their fields, `<node-0>.results[name="Ann"].id` and
`<node-0>.results[max price].id`, or repeat the call, `<node-0>.results[each].id`; docs/execution.md has the
grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

EACH = "[]"
"""The part of a path that stands for the items of a list."""

# The field of a selector: "price", "owner.name"; not "a b", "a=b", "items[0]".
_FIELD = r"[^\s.\[\]'\"<>=]+(?:\.[^\s.\[\]'\"<>=]+)*"
# A value: '"Ann"', "'Ann'" (as it is, without escapes), "-7.5", "true"; not "Ann", "007". No escaped
# surrogates, because no file can hold one alone.
_VALUE = (
    r"\"(?:[^\"\\]|\\(?:[\"\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*\"|'[^']*'"
    r"|-?[0-9](?:\.[0-9]{1,18})?[eE][+-]?[12]?[0-9]{1,2}|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?"
    r"|true|false|null"
)
# One part of a path: ".name", "[3]", ".3", "[*]", "[]", "['odd name']", "['']"; the selectors "[each]",
# "[max price first]", '[name="Ann"]'. Not "..", "[x]", "[max]".
_PART = re.compile(
    r"\.(?P<name>[^\s.\[\]'\"<>]+)|\[(?P<item>\d{1,9}|\*|)\]|\[(?P<quote>['\"])(?P<odd>.*?)(?P=quote)\]"
    rf"|\[(?P<each>each)\]|\[(?P<extreme>max|min)\s+(?P<of>{_FIELD})(?P<first>\s+first)?\]"
    rf"|\[(?P<field>{_FIELD})\s*=\s*(?P<value>{_VALUE})\]",
    re.DOTALL,
)
# A whole reference: "<node-2>", "<node-0>.results[0].id". Not "<node-x>", "see <node-0>". The atomic groups
# end a quoted name at the first quote with a bracket; without them, n of them in a wrong text take 2^n steps.
_REFERENCE = re.compile(
    r"<node-(\d{1,18})>((?:\.[^\s.\[\]'\"<>]+|\[(?:\d{1,9}|\*|)\]|(?>\[(['\"]).*?\3\])"
    rf"|\[each\]|(?>\[(?:max|min)\s+{_FIELD}(?:\s+first)?\])|(?>\[{_FIELD}\s*=\s*(?:{_VALUE})\]))*)",
    re.DOTALL,
)
# A name that needs no quotes in a path: "results" and "a-b"; not "a.b", "a b" or "a[0]".
_PLAIN = re.compile(r"[^\s.\[\]'\"<>]+")

Part = str | int
"""A name, the number of an item (from 0), or `EACH`."""


class Selector(NamedTuple):
    """A choice among the items of a list, in a reference.

    Attributes:
        kind: "is": the items whose field has a value. "max", "min": the item whose field has the largest or
            smallest value. "each": every item, each for a call of its own.
        field: The field of an item, or of an object in it (`owner.name`); empty for "each".
        value: The value for "is".
        first: Whether "max" and "min" take the first of equal items.
    """

    kind: Literal["is", "max", "min", "each"]
    field: str = ""
    value: str | float | bool | None = None
    first: bool = False

    @property
    def text(self) -> str:
        """Its one spelling.

        >>> Selector("is", "name", "Ann").text, Selector("max", "due_on", first=True).text
        ('[name="Ann"]', '[max due_on first]')
        """
        if self.kind == "each":
            return "[each]"
        if self.kind == "is":
            # "<node-1>" in a value is no reference, for programs that look for references in texts.
            value = json.dumps(self.value, ensure_ascii=False).replace("<node-", "\\u003cnode-")
            return f"[{self.field}={value}]"
        return f"[{self.kind} {self.field}{' first' if self.first else ''}]"


FOR_EACH = Selector("each")
"""The part of a reference that repeats the call for each item."""

Step = Part | Selector
"""A part of the path of a reference."""


class Reference(NamedTuple):
    """A reference to the output of a node, or to a part of it; `path` is empty for the whole output."""

    node: int
    path: tuple[Step, ...] = ()


def parse_reference(text: str) -> Reference | None:
    """The reference that is all of a text; None for any other text.

    >>> parse_reference("<node-0>.results[0].id")
    Reference(node=0, path=('results', 0, 'id'))
    >>> parse_reference("<node-1>"), parse_reference("about <node-1>")
    (Reference(node=1, path=()), None)
    >>> parse_reference("<node-0>[year = 2021].id").path[0]
    Selector(kind='is', field='year', value=2021, first=False)
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
    """The parts of a path, which has no selectors.

    >>> parse_path("results[].id"), parse_path("[].name"), parse_path("")
    (('results', '[]', 'id'), ('[]', 'name'), ())
    """
    steps = _parts(text if text[:1] in ("", "[", ".") else f".{text}")
    return tuple(step for step in steps if not isinstance(step, Selector))


def _parts(text: str) -> tuple[Step, ...]:
    parts: list[Step] = []
    for match in _PART.finditer(text):
        if match["item"] is not None:
            parts.append(int(match["item"]) if match["item"].isdecimal() else EACH)
        elif match["odd"] is not None:
            parts.append(match["odd"])
        elif (name := match["name"]) is not None:  # ".0" is another spelling of "[0]"
            parts.append(int(name) if name.isdecimal() else name)
        elif match["value"] is not None:
            value = match["value"]
            value = value[1:-1] if value[0] == "'" else json.loads(value, strict=False)
            parts.append(Selector("is", match["field"], value))
        elif match["each"] is not None:
            parts.append(FOR_EACH)
        else:
            first = match["first"] is not None
            parts.append(Selector("max" if match["extreme"] == "max" else "min", match["of"], first=first))
    return tuple(parts)


def may_leave_several(path: Sequence[Step], depth: int) -> bool:
    """Whether the filter at a place of a path may leave several items: a bracket that chooses follows it."""
    following = path[depth + 1] if depth + 1 < len(path) else ""
    return following == EACH or not isinstance(following, str)


def schema_path(path: Sequence[Step]) -> tuple[Part, ...]:
    """A path for a schema: an item in place of what selectors choose.

    >>> schema_path(parse_reference('<node-0>.films[kind="long"][max year].id').path)
    ('films', 0, 'id')
    """
    return tuple(
        0 if isinstance(step, Selector) else step
        for depth, step in enumerate(path)
        if not (isinstance(step, Selector) and step.kind == "is" and may_leave_several(path, depth))
    )


def path_text(parts: Sequence[Step], *, each: str = EACH) -> str:
    """The text of a path, with `each` for all items of a list.

    >>> path_text(("results", EACH, "id")), path_text((EACH, "a b", 0))
    ('results[].id', "[]['a b'][0]")
    """
    text = ""
    for part in parts:
        if isinstance(part, Selector):
            text += part.text
        elif part == EACH or isinstance(part, int):
            text += each if part == EACH else f"[{part}]"
        elif _PLAIN.fullmatch(part) and not part.isdecimal():
            text += f".{part}" if text else part
        else:
            quote = '"' if "'" in part and '"]' not in part else "'"
            text += f"[{quote}{part}{quote}]"
    return text
