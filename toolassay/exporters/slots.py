"""What a tool takes, argument by argument, and which of it the texts of a resource call are."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.benchmarks.taskbench.scoring.strict_values import resource_type
from toolassay.graph import DependencyType
from toolassay.parameters import is_required, source_of
from toolassay.tools import Tool, normal_type

_JSON_TYPES = {
    "integer": "integer int long int32 int64",
    "number": "number float double decimal numeric real",
    "boolean": "boolean bool",
    "array": "array list tuple sequence set",
    "object": "object dict dictionary map mapping json",
}
_JSON_TYPE = {word: name for name, words in _JSON_TYPES.items() for word in words.split()}
_MAYBE = frozenset({"optional", "nullable", "union", "null", "none"})
_READS_AS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
MEDIA = frozenset({"image", "audio", "video"})


class Slot(NamedTuple):
    """One argument a tool takes.

    Attributes:
        name: unique within the tool: the parameter's, or the resource type's word (`text`, `text_2`).
        kind: the library's word for its type.
        description: in words.
        required: whether a call must give it.
        source: what the tool file says of it.
    """

    name: str
    kind: str
    description: str
    required: bool
    source: Mapping[str, Any]

    @property
    def json_type(self) -> str:
        """The type in a JSON schema; a word that is not known is a text.

        >>> kinds = ("int", "List[str]", "date", "Enum", "Optional[int]", "null | number")
        >>> [Slot("a", kind, "", True, {}).json_type for kind in kinds]
        ['integer', 'array', 'string', 'string', 'integer', 'number']
        """
        words = re.findall(r"[a-z0-9]+", normal_type(self.kind))
        return _JSON_TYPE.get(next((word for word in words if word not in _MAYBE), ""), "string")

    def typed(self, value: Any) -> Any:
        """A value as its type where a text says it in JSON; anything else stays as it is.

        >>> slot = Slot("seats", "integer", "", True, {})
        >>> slot.typed("4"), slot.typed("four"), slot.typed("<node-0>"), slot.typed(4)
        (4, 'four', '<node-0>', 4)
        """
        wanted = _READS_AS.get(self.json_type)
        if wanted is None or not isinstance(value, str):
            return value
        try:
            read = json.loads(value.casefold() if bool in wanted else value)
        except (ValueError, RecursionError):
            return value
        if isinstance(read, float) and not math.isfinite(read):
            return value
        return read if type(read) in wanted else value


def slots_of(tool: Tool, kind: DependencyType) -> tuple[Slot, ...]:
    """What a tool takes: in a resource library one slot an input, else its parameters.

    >>> [slot.name for slot in slots_of(Tool("Answer", inputs=("text", "text", "image")), "resource")]
    ['text', 'text_2', 'image']
    """
    if kind == "resource" and tool.is_resource:
        return _input_slots(tool.inputs)
    return tuple(
        Slot(one.name, one.type, one.description, is_required(one, tool), source_of(one, tool))
        for one in tool.parameters
    )


def _input_slots(inputs: Sequence[str]) -> tuple[Slot, ...]:
    slots, met = [], Counter[str]()
    for kind in inputs:
        met[kind] += 1
        name = kind if met[kind] == 1 else f"{kind}_{met[kind]}"
        slots.append(Slot(name, kind, f"{kind}: as given, or the result of an earlier call", True, {}))
    return tuple(slots)


def chosen_slots(
    values: Sequence[Any], given: Sequence[Collection[str] | None], slots: Sequence[Slot]
) -> list[Slot]:
    """The input slot of each value of a resource call, by type and then by place.

    Args:
        values: no more than there are slots.
        given: the types a value has where it is the result of a call; None where it is a literal.
        slots: of the tool.
    """
    free = dict.fromkeys(range(len(slots)))
    chosen: dict[int, int] = {}
    for place, (value, types) in enumerate(zip(values, given, strict=True)):
        fitting = [slot for slot in free if _fits(value, types, slots[slot].kind)]
        if fitting:
            chosen[place] = place if place in fitting else fitting[0]
            del free[chosen[place]]
    for place in range(len(values)):
        if place not in chosen:
            chosen[place] = place if place in free else next(iter(free))
            del free[chosen[place]]
    return [slots[chosen[place]] for place in range(len(values))]


def _fits(value: Any, types: Collection[str] | None, kind: str) -> bool:
    if types is not None:
        return kind in {normal_type(one) for one in types} if types else True
    if not isinstance(value, str):
        return False
    if kind == "url":
        return _URL.fullmatch(value.strip()) is not None
    found = resource_type(value)
    return found == kind if kind in MEDIA else found not in MEDIA and not _URL.fullmatch(value.strip())
