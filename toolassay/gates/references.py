"""The arguments of a gold plan, and how they refer to the output of another step.

A reference is spelled as published, nearly so, by a tool's name, by a placeholder, or inside a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolassay.backinstruct.critics import same_tool
from toolassay.dataset import reference_index
from toolassay.gold import Gold, GoldNode

_MOST_VALUES = 10_000  # values of one argument that are looked at
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")


class PlanValue(NamedTuple):
    """An argument of a node: its place, the value in it, and where that stands in the label."""

    place: int
    value: Any
    where: str


def arguments_of(node: GoldNode) -> Iterator[PlanValue]:
    """The values of a node's arguments: themselves (resource), or the `value` of each (temporal)."""
    for place, argument in enumerate(node.arguments or ()):
        where = f"{node.where}.arguments[{place}]"
        if isinstance(argument, Mapping) and "value" in argument:
            yield PlanValue(place, argument["value"], f"{where}.value")
        else:
            yield PlanValue(place, argument, where)


def texts_in(argument: PlanValue) -> Iterator[PlanValue]:
    """The texts in an argument, those in its lists and objects too, each with its place.

    >>> [(text.value, text.where) for text in texts_in(PlanValue(0, ["a", {"b": "c"}], "arguments[0].value"))]
    [('a', 'arguments[0].value[0]'), ('c', 'arguments[0].value[1].b')]
    """
    waiting, count = [argument], 0
    while waiting and count < _MOST_VALUES:
        place, value, where = waiting.pop()
        count += 1
        if isinstance(value, str):
            yield PlanValue(place, value, where)
        elif isinstance(value, list):
            waiting.extend(
                PlanValue(place, item, f"{where}[{i}]") for i, item in reversed([*enumerate(value)])
            )
        elif isinstance(value, Mapping):
            waiting.extend(
                PlanValue(place, item, f"{where}.{key}") for key, item in reversed([*value.items()])
            )


def is_empty(value: Any) -> bool:
    """Whether a value is nothing: null, a blank text, an empty list or object."""
    if isinstance(value, str):
        text = _INVISIBLE.sub("", value).strip()
        return not text or text.casefold() in ("<empty>", "null")
    return value is None or (isinstance(value, list | Mapping) and not value)


def text_of_number(value: float) -> str:
    """A number as a text.

    >>> text_of_number(2), text_of_number(1.5)
    ('2', '1.5')
    """
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return hex(int(value))


_LONGEST = 200
_INDEX = r"[ _\-#:.]?(?P<index>\d{1,18})"
_NEAR = re.compile(
    rf"[<\[({{$%]*\s*(?:(?:the )?(?:output|result)[ _](?:of|from)[ _])?(?:task[ _]?)?nodes?{_INDEX}"
    r"(?:[ _.](?:output|result)s?)?\s*[>\])}%]*"
    r"|[<\[({$%]*task_?nodes?\[(?P<item>\d{1,18})\].{0,80}",
    re.IGNORECASE,
)
_MALFORMED = re.compile(r"[<\[{]+\s*nodes?\b[^<>]*[>\]}]+", re.IGNORECASE)
_INSIDE = re.compile(
    r"<\s*node[ _-]?(?P<angle>\d{1,18})\s*>|\{\{\s*node[ _-]?(?P<curly>\d{1,18})\s*\}\}", re.IGNORECASE
)
_BRACKETED = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|\{[^{}]+\}|%.+%")
_TEMPLATE = re.compile(r"[$%][\[{(].+|\{\{[^{}]+\}\}")
_OUTPUT = re.compile(
    r"(?:the[ _])?(?:final[ _])?(?:outputs?|results?)[ _](?:of|from)[ _](?P<of>.+)"
    r"|(?P<name>.+?)(?:[ _.]|'s )(?:output|result)s?",
    re.IGNORECASE,
)
_STEP = re.compile(r"(?:step|task|tool|node)[ _#-]?\d+", re.IGNORECASE)
_SPEAKS = re.compile(
    r"output|result|step|node|previous|generated|extracted|transcribed|downloaded|translated|simplified|returned",
    re.IGNORECASE,
)

Spelling = Literal["published", "near", "malformed", "name", "placeholder", "inside"]


class ReferenceReading(NamedTuple):
    """What an argument says of other nodes.

    Attributes:
        spelling: `<node-1>` is "published", `<Node_1>` "near", `<node-x>` "malformed", a tool of the plan
            or "output of" it "name", "[text from step 2]" a "placeholder", "about <node-1>" "inside".
        places: the nodes it speaks of, as far as that can be told.
        step: the number of the step that a placeholder names, if it names one.
    """

    spelling: Spelling
    places: tuple[int, ...] = ()
    step: int | None = None


@dataclass(frozen=True)
class ReferenceReader:
    """Reads the arguments of one plan.

    Args:
        tools: the tool of each place; None where it cannot be told.
        request: the user's words; what stands in them is the user's, however it looks.
    """

    tools: Sequence[str | None]
    request: str = ""

    @classmethod
    def of(cls, gold: Gold) -> ReferenceReader:
        """The reader of a gold plan."""
        nodes = gold.record.get("task_nodes")
        tools: list[str | None] = [None] * (len(nodes) if isinstance(nodes, list) else 0)
        for node in gold.nodes:
            tools[node.place] = node.tool
        return cls(tools, gold.request)

    def read(self, text: str, place: int) -> ReferenceReading | None:
        """How the argument `text` of the node at `place` speaks of other nodes; None for a literal.

        >>> reader = ReferenceReader(["Text Search", "Translation"], "Say [result] in German")
        >>> reader.read("<node-0>", 1).spelling, reader.read("[result]", 1)
        ('published', None)
        >>> [reader.read(text, 1).spelling for text in ("output of Text_Search", "on <node-0>")]
        ['name', 'inside']
        """
        index = reference_index(text)
        if index is not None:
            return ReferenceReading("published", (index,))
        stripped = text.strip()
        if len(stripped) <= _LONGEST:
            reading = self._whole(stripped, place)
            if reading is not None:
                told = stripped.casefold() in self.request.casefold() and not stripped.startswith("<node-")
                return None if told else reading
        places = [match["angle"] or match["curly"] for match in _INSIDE.finditer(text)]
        return ReferenceReading("inside", tuple(map(int, places))) if places else None

    def _whole(self, text: str, place: int) -> ReferenceReading | None:
        if match := _NEAR.fullmatch(text):
            return ReferenceReading("near", (int(match["index"] or match["item"]),))
        if _MALFORMED.fullmatch(text):
            return ReferenceReading("malformed")
        if named := self._named(text, place):
            return ReferenceReading("name", named)
        bare = text.strip("<>[](){}$% '\"")
        if match := _OUTPUT.fullmatch(bare):
            name = (match["of"] or match["name"]).strip("'\" ")
            if named := self._named(name, place):
                return ReferenceReading("name", named)
            if match["of"] and (_STEP.fullmatch(name) or _STEP.search(name)):
                return ReferenceReading("placeholder", step=_step_in(text))
        if _TEMPLATE.fullmatch(text) or (_BRACKETED.fullmatch(text) and _SPEAKS.search(text)):
            return ReferenceReading("placeholder", step=_step_in(text))
        return None

    def _named(self, name: str, place: int) -> tuple[int, ...]:
        """The other nodes whose tool is named, nearest earlier one first."""
        plain = same_tool(name)
        places = [
            p
            for p, tool in enumerate(self.tools)
            if tool is not None and p != place and same_tool(tool) == plain
        ]
        return tuple(sorted(places, key=lambda other: (other > place, abs(other - place))))


def _step_in(text: str) -> int | None:
    numbers = re.findall(r"step[ _#-]?(\d{1,9})(?!\d)", text, re.IGNORECASE)
    return int(numbers[0]) if len(numbers) == 1 else None
