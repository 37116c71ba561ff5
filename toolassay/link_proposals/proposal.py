"""What a model proposes about tools: the prompt, the answer, its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any, Literal, NamedTuple

import msgspec

from toolassay.console.text_formatting import shortened
from toolassay.files.data_files import short_json, unescaped_json
from toolassay.graph.derive.given_fields import is_informative, scalar_of
from toolassay.models.json_answers import read_answer, shown_forms
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.signatures import argument_descriptions, shown_tool
from toolassay.prompts.templates import package_template
from toolassay.tools.library import Tool
from toolassay.tools.results import parsed_text

MOST_TOOLS = 6
"""Maximum number of tools that one request is about."""
# of one tool
MOST_FIELDS = 40
MOST_LINKS = 30
_MOST_DESCRIPTION = 900  # characters of the description of another tool
_MOST_RETURNED = 800  # characters of a real result
# characters of what an argument means; described arguments
_MOST_OF_ARGUMENT = 120
_MOST_ARGUMENTS = 8
_KEYS = ("proposals",)


class ProposedField(msgspec.Struct, frozen=True):
    """A text, number or truth value in a result, by its path."""

    path: str
    type: Literal["string", "integer", "number", "boolean"]


class ProposedLink(msgspec.Struct, frozen=True):
    """A value that fills an argument: `field` of the result of `source`, `argument` of `target`.

    `when` is the condition under which it does, empty if it always does.
    """

    source: str = msgspec.field(name="from")
    field: str
    target: str = msgspec.field(name="to")
    argument: str
    reason: str = ""
    when: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """What a model proposes about one tool: the fields of its result, and links from it."""

    fields: list[ProposedField]
    links: list[ProposedLink]
    tool: str = ""
    model: str = ""


class ToolGroup(NamedTuple):
    """The tools of one request, and the others that it shows: they only take values."""

    tools: Sequence[Tool]
    others: Sequence[Tool]


def is_unknown(tool: Tool) -> bool:
    """Whether a tool does not say what is in its result."""
    return tool.output_schema is None or not (
        is_informative(tool.output_schema) or scalar_of(tool.output_schema).kinds
    )


def template() -> str:
    """The text of `templates/links.txt`, with placeholders."""
    return package_template("link_proposals", "links")


def proposal_prompt(group: ToolGroup, seen: Mapping[str, str]) -> str:
    """The prompt about a group of tools.

    Each tool is one line of JSON, so that no description and no result can add another.

    Args:
        group: The tools.
        seen: What a real call of a tool returned, by tool.
    """
    return Template(template()).substitute(
        tools="\n".join(source_line(tool, seen.get(tool.id)) for tool in group.tools),
        others="\n".join(map(_target_line, group.others)) or "(none)",
        unknown=", ".join(unescaped_json(tool.id) for tool in group.tools if is_unknown(tool)) or "none",
        most_fields=MOST_FIELDS,
        most_links=MOST_LINKS,
    )


def answer_schema() -> dict[str, Any]:
    """The `response_format` parameter of a request."""
    text = {"type": "string"}
    type_ = {"type": "string", "enum": ["string", "integer", "number", "boolean"]}
    field = object_schema({"path": text, "type": type_})
    link = object_schema(dict.fromkeys(("from", "field", "to", "argument", "reason", "when"), text))
    fields = {"type": "array", "items": field, "maxItems": MOST_FIELDS}
    links = {"type": "array", "items": link, "maxItems": MOST_LINKS}
    proposal = object_schema({"tool": text, "fields": fields, "links": links})
    proposals = {"type": "array", "items": proposal, "maxItems": MOST_TOOLS}
    return json_schema("proposals", object_schema({"proposals": proposals}))


def read_proposals(text: str, finish_reason: str | None = None) -> list[Proposal] | None:
    """The proposals in an answer; None if it is cut off or is not the requested object.

    >>> read_proposals('{"proposals": [{"tool": "now", "fields": [], "links": []}]}')[0].tool
    'now'
    """
    forms = shown_forms((template(),), keys=_KEYS)
    answer = read_answer(text, keys=_KEYS, forms=forms, nested=False, finish_reason=finish_reason)
    if answer.value is None or answer.truncated:
        return None
    try:
        return msgspec.convert(answer.value[_KEYS[0]], list[Proposal])
    except (KeyError, msgspec.ValidationError):
        return None


def source_line(tool: Tool, returned: str | None = None) -> str:
    """A tool of a group: its description and result in full, and what a real call of it returned."""
    value = None if returned is None else parsed_text(returned)
    if isinstance(value, str):
        value = shortened(value, _MOST_RETURNED)
    elif value is not None:
        value = parsed_text(short_json(value, _MOST_RETURNED))
    shown = shown_tool(tool, with_paths=True)
    return unescaped_json(shown | _arguments(tool) | ({} if value is None else {"returned": value}))


def _target_line(tool: Tool) -> str:
    shown = shown_tool(tool)
    shown["desc"] = shortened(shown["desc"], _MOST_DESCRIPTION)
    return unescaped_json(shown | _arguments(tool))


def _arguments(tool: Tool) -> dict[str, Any]:
    """What the arguments of a tool mean, the required ones first."""
    needs = {parameter.name for parameter in tool.parameters if parameter.required}
    described = argument_descriptions(tool.input_schema or {}).items()
    first = sorted(described, key=lambda item: item[0].split(".")[0] not in needs)[:_MOST_ARGUMENTS]
    arguments = {path: shortened(text, _MOST_OF_ARGUMENT) for path, text in first}
    return {"arguments": arguments} if arguments else {}
