"""Tools as functions with a JSON schema.

A tool's argument slots, function and parameter names that every service accepts (mapped to the library's
names), and the JSON schema.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from toolassay.graph import DependencyType
from toolassay.normalised_plan import resource_type
from toolassay.tools import Tool, ToolLibrary, is_required, normal_type
from toolassay.type_names import read_type, types_of

# The Python types that a value of each JSON type has after parsing.
_READS_AS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
# "https://x.org", "www.x.org"; not "x.org".
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
MEDIA = frozenset({"image", "audio", "video"})


class ArgumentSlot(NamedTuple):
    """One argument that a tool takes.

    Attributes:
        name: unique within the tool: the name of the parameter, or the type of the input (`text`, `text_2`).
        kind: the type as the library writes it.
        description: the description for the model; may be empty.
        required: whether every call must have it.
        source: its object in the tool file; empty for an input.
        is_json: whether it belongs to an `input_schema`; its values are JSON values as they are.
    """

    name: str
    kind: str
    description: str
    required: bool
    source: Mapping[str, Any]
    is_json: bool = False

    @property
    def json_type(self) -> str:
        """The type in a JSON schema; "string" for an unknown type.

        >>> kinds = ("int", "List[str]", "date", "Enum", "Optional[int]", "null | number")
        >>> [ArgumentSlot("a", kind, "", True, {}).json_type for kind in kinds]
        ['integer', 'array', 'string', 'string', 'integer', 'number']
        """
        return next((kind for kind in types_of(read_type(self.kind) or {}) if kind != "null"), "string")

    def typed(self, value: Any) -> Any:
        """A text converted to the slot's type if it is valid JSON of that type; otherwise the value itself.

        >>> slot = ArgumentSlot("seats", "integer", "", True, {})
        >>> slot.typed("4"), slot.typed("four"), slot.typed("<node-0>"), slot.typed(4)
        (4, 'four', '<node-0>', 4)
        """
        wanted = None if self.is_json else _READS_AS.get(self.json_type)
        if wanted is None or not isinstance(value, str):
            return value
        try:
            read = json.loads(value.casefold() if bool in wanted else value)
        except (ValueError, RecursionError):
            return value
        if isinstance(read, float) and not math.isfinite(read):
            return value
        return read if type(read) in wanted else value


def slots_of(tool: Tool, kind: DependencyType) -> tuple[ArgumentSlot, ...]:
    """The argument slots of a tool: its typed inputs in a resource library, otherwise its parameters.

    >>> [slot.name for slot in slots_of(Tool("Answer", inputs=("text", "text", "image")), "resource")]
    ['text', 'text_2', 'image']
    """
    if kind == "resource" and tool.is_resource:
        return _input_slots(tool.inputs)
    is_json = tool.input_schema is not None
    return tuple(
        ArgumentSlot(one.name, one.type, one.description, is_required(one, tool), one.declaration, is_json)
        for one in tool.parameters
    )


def _input_slots(inputs: Sequence[str]) -> tuple[ArgumentSlot, ...]:
    slots, met = [], Counter[str]()
    for kind in inputs:
        met[kind] += 1
        name = kind if met[kind] == 1 else f"{kind}_{met[kind]}"
        slots.append(
            ArgumentSlot(name, kind, f"{kind}: as given, or the result of an earlier call", True, {})
        )
    return tuple(slots)


def chosen_slots(
    values: Sequence[Any], given: Sequence[Collection[str] | None], slots: Sequence[ArgumentSlot]
) -> list[ArgumentSlot]:
    """The input slot of each value of a resource call: by type first, by position for values left over.

    Args:
        values: the values; at most as many as there are slots.
        given: for each value that is the result of a call, its types; None for a literal.
        slots: the slots of the tool.
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


# OpenAI's rule for function names: "send_email"; not "send email".
VALID_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# The limit in that rule.
LONGEST_NAME = 64
# Runs of characters that become one "_": ": " and "é"; not "_".
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True)
class Names:
    """The names of tools and parameters in chats.

    Attributes:
        functions: name of the function for each tool.
        parameters: for each tool, the name of the property for each parameter.
    """

    functions: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, library: ToolLibrary, kind: DependencyType) -> Names:
        """Valid names for all tools and parameters; names that are valid already stay unchanged.

        So do the properties of an `input_schema`: OpenAI restricts the names of functions only.

        >>> from toolassay.tools import Tool
        >>> Names.of(ToolLibrary([Tool("Edit Image"), Tool("Edit_Image"), Tool("画")]), "resource").functions
        {'Edit Image': 'Edit_Image_2', 'Edit_Image': 'Edit_Image', '画': 'tool'}
        """
        parameters = {}
        for tool in library:
            slots = [slot.name for slot in slots_of(tool, kind)]
            is_kept = _schema_of(tool, kind) is not None
            parameters[tool.id] = {name: name for name in slots} if is_kept else _valid(slots, "argument")
        return cls(_valid(library.ids, "tool"), parameters)

    def to_json(self) -> dict[str, Any]:
        """The object of `names.json`: for each function its tool, and the parameter of each property."""
        return {
            "functions": {
                function: {
                    "tool": tool,
                    "parameters": {name: slot for slot, name in self.parameters[tool].items()},
                }
                for tool, function in self.functions.items()
            }
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Names:
        """Parse the object of `names.json`."""
        functions = value["functions"]
        return cls(
            {entry["tool"]: function for function, entry in functions.items()},
            {
                entry["tool"]: {slot: name for name, slot in entry["parameters"].items()}
                for entry in functions.values()
            },
        )

    @cached_property
    def _tools(self) -> dict[str, str]:
        return {name: tool for tool, name in self.functions.items()}

    def tool(self, function: str) -> str:
        """The tool of a function.

        Raises:
            KeyError: no tool has this function.
        """
        return self._tools[function]


def _valid(names: Iterable[str], fallback: str) -> dict[str, str]:
    """A valid name for each name, unique even if case is ignored."""
    given = list(names)
    chosen = {name: name for name in given if VALID_NAME.fullmatch(name)}
    taken: set[str] = set()
    for name in list(chosen):
        if name.casefold() in taken:
            del chosen[name]
        taken.add(name.casefold())
    for name in given:
        if name in chosen:
            continue
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        base = _OTHERS.sub("_", plain).strip("_")[:LONGEST_NAME] or fallback
        new, number = base, 1
        while new.casefold() in taken:
            number += 1
            new = f"{base[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        taken.add(new.casefold())
        chosen[name] = new
    return {name: chosen[name] for name in given}


def _schema_of(tool: Tool, kind: DependencyType) -> Mapping[str, Any] | None:
    """The schema of a function's arguments as imported; None if it is built of its argument slots."""
    return None if kind == "resource" and tool.is_resource else tool.input_schema


_FORMATS = frozenset({"date", "time", "date-time"})


def function_of(tool: Tool, kind: DependencyType, names: Names) -> dict[str, Any]:
    """The JSON schema of a tool, `{"name", "description", "parameters"}`: OpenAI's value of `function`.

    The `parameters` of an imported tool are its `input_schema`.

    Args:
        tool: the tool.
        kind: the dependency type; for "resource" the description names the outputs.
        names: names of functions and parameters.

    >>> from toolassay.tools import ToolLibrary
    >>> tool = Tool("Paint it", "Paints.", inputs=("text",), outputs=("image",))
    >>> function = function_of(tool, "resource", Names.of(ToolLibrary([tool]), "resource"))
    >>> function["name"], function["parameters"]["required"], function["description"]
    ('Paint_it', ['text'], 'Paints. Gives image.')
    """
    slots, called = slots_of(tool, kind), names.parameters[tool.id]
    if (given := _schema_of(tool, kind)) is not None:
        schema = {"type": "object", "properties": {}, **given}
        return {"name": names.functions[tool.id], "description": tool.description, "parameters": schema}
    gives = f"Gives {', '.join(tool.outputs)}." if kind == "resource" and tool.outputs else ""
    return {
        "name": names.functions[tool.id],
        "description": " ".join(text for text in (tool.description.strip(), gives) if text),
        "parameters": {
            "type": "object",
            "properties": {called[slot.name]: _property(slot) for slot in slots},
            "required": [called[slot.name] for slot in slots if slot.required],
        },
    }


def _property(slot: ArgumentSlot) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": slot.json_type}
    if slot.description:
        schema["description"] = slot.description
    declared = read_type(slot.kind) or {}
    if declared.get("format") in _FORMATS:
        schema["format"] = declared["format"]
    values = slot.source.get("enum")
    if isinstance(values, list) and values:
        schema["enum"] = values
    if slot.json_type == "array":
        items = slot.source.get("items")
        schema["items"] = items if isinstance(items, dict) else declared.get("items", {})
    return schema
