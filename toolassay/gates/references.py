"""How an argument speaks of another step's output: as published, nearly so, by name, or inside a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from toolassay.backinstruct.critics import same_tool
from toolassay.dataset import reference_index
from toolassay.gold import Gold

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


class Reading(NamedTuple):
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
class Reader:
    """Reads the arguments of one plan.

    Args:
        tools: the tool of each place; None where it cannot be told.
        request: the user's words; what stands in them is the user's, however it looks.
    """

    tools: Sequence[str | None]
    request: str = ""

    @classmethod
    def of(cls, gold: Gold) -> Reader:
        """The reader of a gold plan."""
        nodes = gold.record.get("task_nodes")
        tools: list[str | None] = [None] * (len(nodes) if isinstance(nodes, list) else 0)
        for node in gold.nodes:
            tools[node.place] = node.tool
        return cls(tools, gold.request)

    def read(self, text: str, place: int) -> Reading | None:
        """How the argument `text` of the node at `place` speaks of other nodes; None for a literal.

        >>> reader = Reader(["Text Search", "Translation"], "Say [result] in German")
        >>> reader.read("<node-0>", 1).spelling, reader.read("[result]", 1)
        ('published', None)
        >>> [reader.read(text, 1).spelling for text in ("output of Text_Search", "on <node-0>")]
        ['name', 'inside']
        """
        index = reference_index(text)
        if index is not None:
            return Reading("published", (index,))
        stripped = text.strip()
        if len(stripped) <= _LONGEST:
            reading = self._whole(stripped, place)
            if reading is not None:
                told = stripped.casefold() in self.request.casefold() and not stripped.startswith("<node-")
                return None if told else reading
        places = [match["angle"] or match["curly"] for match in _INSIDE.finditer(text)]
        return Reading("inside", tuple(map(int, places))) if places else None

    def _whole(self, text: str, place: int) -> Reading | None:
        if match := _NEAR.fullmatch(text):
            return Reading("near", (int(match["index"] or match["item"]),))
        if _MALFORMED.fullmatch(text):
            return Reading("malformed")
        if named := self._named(text, place):
            return Reading("name", named)
        bare = text.strip("<>[](){}$% '\"")
        if match := _OUTPUT.fullmatch(bare):
            name = (match["of"] or match["name"]).strip("'\" ")
            if named := self._named(name, place):
                return Reading("name", named)
            if match["of"] and (_STEP.fullmatch(name) or _STEP.search(name)):
                return Reading("placeholder", step=_step_in(text))
        if _TEMPLATE.fullmatch(text) or (_BRACKETED.fullmatch(text) and _SPEAKS.search(text)):
            return Reading("placeholder", step=_step_in(text))
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
