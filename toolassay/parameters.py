"""What a tool says of its parameters beside their names: their objects, and which ones are required."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolassay.tools import Parameter, Tool

_OPTIONAL = re.compile(
    r"^\W*optional\b|\(\s*optional\b|\boptional\W*$|\bif not (?:given|specified)\b", re.IGNORECASE
)


def source_of(parameter: Parameter, tool: Tool) -> Mapping[str, Any]:
    """The parameter's object in the library file; empty where there is none."""
    given = tool.source.get("parameters")
    for item in given if isinstance(given, list) else []:
        if isinstance(item, Mapping) and item.get("name") == parameter.name:
            return item
    return {}


def declares_parameters(tool: Tool) -> bool:
    """Whether the tool says which parameters it takes, be it none."""
    return bool(tool.parameters) or isinstance(tool.source.get("parameters"), list)


def is_required(parameter: Parameter, tool: Tool) -> bool:
    """Whether a call without the parameter is wrong.

    Every declared parameter is, unless the library says otherwise: a list `required` of the tool, a word
    of the parameter (`required`, `optional`, `default`, "Optional[int]", "(optional)"), or other
    parameters of the tool that are marked as required where this one is not.

    >>> [is_required(Parameter("day", "date", text), Tool("t")) for text in ("the day", "Optional day")]
    [True, False]
    """
    source = source_of(parameter, tool)
    listed = tool.source.get("required")
    if isinstance(listed, list):
        return parameter.name in listed
    said = source.get("required")
    if isinstance(said, bool):
        return said
    if source.get("optional") is not None:
        return source["optional"] is False
    kind = parameter.type.strip().casefold()
    if "default" in source or _OPTIONAL.search(parameter.description) or kind.startswith("optional"):
        return False
    given = tool.source.get("parameters")
    others = given if isinstance(given, list) else []
    return not any(isinstance(item, Mapping) and item.get("required") is True for item in others)
