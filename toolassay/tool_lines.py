"""A tool as a line of a prompt: a sentence that does not resemble the answer, and the sentence read back."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

from toolassay.errors import UsageError
from toolassay.tools import Tool

Wording = Literal["published", "example"]
"""The built-in wordings of a prompt: as published, or with a worked example instead of placeholders."""

_NOTHING = "nothing"
# Matches "- Crop: Cuts a picture. Takes image, text; gives image. Parameters: edge." with any of the three
# last sentences missing; not '{"id": "Crop"}'. Types and names of parameters hold no full stop.
_SENTENCE = re.compile(
    r"- (?P<id>.+?): (?P<desc>.*?)"
    r"(?: Takes (?P<inputs>[^.;]*); gives (?P<outputs>[^.;]*)\.)?(?: Parameters: (?P<parameters>[^.]*)\.)?"
)


def tool_sentence(tool: Tool) -> str:
    """A tool in plain words, on one line; parameters by their names.

    >>> tool_sentence(Tool("Crop", "Cuts a picture", inputs=("image", "text"), outputs=("image",)))
    '- Crop: Cuts a picture. Takes image, text; gives image.'
    """
    description = " ".join(tool.description.split())
    parts = [f"- {tool.id}: {description}{'' if description.endswith(('.', '!', '?')) else '.'}"]
    if tool.is_resource:
        takes, gives = (", ".join(types) or _NOTHING for types in (tool.inputs, tool.outputs))
        parts.append(f"Takes {takes}; gives {gives}.")
    if tool.parameters:
        parts.append(f"Parameters: {', '.join(parameter.name for parameter in tool.parameters)}.")
    return " ".join(parts)


def read_tool_sentence(line: str) -> dict[str, Any]:
    """The tool in a sentence, as an object of `tool_desc.json`.

    A name that contains ": " is cut there.

    Raises:
        ValueError: the line is no such sentence.

    >>> read_tool_sentence("- ask: Asks. Parameters: whom, what.")
    {'id': 'ask', 'desc': 'Asks.', 'parameters': ['whom', 'what']}
    """
    found = _SENTENCE.fullmatch(line)
    if found is None:
        raise ValueError(f"no tool: {line[:80]}")
    tool: dict[str, Any] = {"id": found["id"], "desc": found["desc"]}
    if found["inputs"] is not None:
        tool |= {"input-type": _listed(found["inputs"]), "output-type": _listed(found["outputs"])}
    if found["parameters"] is not None:
        tool["parameters"] = _listed(found["parameters"])
    return tool


def check_wording(wording: str, *, with_template: bool) -> Wording:
    """The value of `--prompt`, verified.

    Args:
        wording: the value.
        with_template: whether a template file is given as well.

    Raises:
        UsageError: an unknown wording, or one beside a template file.
    """
    for known in get_args(Wording):
        if wording == known:
            if with_template and known != "published":
                raise UsageError(
                    f"--prompt {known} and --prompt_template are two wordings of one prompt",
                    fix="leave one of them out",
                )
            return known  # type: ignore[no-any-return]
    raise UsageError(f"unknown --prompt {wording!r}", fix=f"choose from {', '.join(get_args(Wording))}")


def _listed(text: str) -> list[str]:
    return [] if text == _NOTHING else text.split(", ")
