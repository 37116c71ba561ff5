"""Names of functions and parameters that every service takes, and the way back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolassay.exporters.slots import slots_of
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST = 64
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True)
class Names:
    """What tools and their parameters are called in chats.

    Attributes:
        functions: tool -> function.
        parameters: tool -> parameter -> property.
    """

    functions: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, library: ToolLibrary, kind: DependencyType) -> Names:
        """Choose names; those that are valid already stay.

        >>> from toolassay.tools import Tool
        >>> Names.of(ToolLibrary([Tool("Edit Image"), Tool("Edit_Image"), Tool("画")]), "resource").functions
        {'Edit Image': 'Edit_Image_2', 'Edit_Image': 'Edit_Image', '画': 'tool'}
        """
        parameters = {
            tool.id: _valid((slot.name for slot in slots_of(tool, kind)), "argument") for tool in library
        }
        return cls(_valid(library.ids, "tool"), parameters)

    def to_json(self) -> dict[str, Any]:
        """The object of `names.json`: function -> its tool, and property -> parameter."""
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
        """Read the object of `names.json`."""
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
        """The tool that a function stands for.

        Raises:
            KeyError: none.
        """
        return self._tools[function]


def _valid(names: Iterable[str], fallback: str) -> dict[str, str]:
    """A valid name for each, unique even where case is not told apart."""
    given = list(names)
    chosen = {name: name for name in given if VALID.fullmatch(name)}
    taken: set[str] = set()
    for name in list(chosen):
        if name.casefold() in taken:
            del chosen[name]
        taken.add(name.casefold())
    for name in given:
        if name in chosen:
            continue
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        base = _OTHERS.sub("_", plain).strip("_")[:LONGEST] or fallback
        new, number = base, 1
        while new.casefold() in taken:
            number += 1
            new = f"{base[: LONGEST - len(str(number)) - 1]}_{number}"
        taken.add(new.casefold())
        chosen[name] = new
    return {name: chosen[name] for name in given}
