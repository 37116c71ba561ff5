"""What a model proposes about a tool: the prompt, the answer, its records."""

from __future__ import annotations

from collections.abc import Iterable
from string import Template
from typing import Any, Literal

import msgspec

from toolassay.console.text_formatting import shortened
from toolassay.files.data_files import unescaped_json
from toolassay.graph.derive.given_fields import is_informative, scalar_of
from toolassay.models.json_answers import read_answer, shown_forms
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.signatures import argument_descriptions, shown_tool
from toolassay.prompts.templates import package_template
from toolassay.tools.library import Tool

# of one answer
MOST_FIELDS = 40
MOST_LINKS = 30
_MOST_DESCRIPTION = 900  # characters of the description of another tool
# characters of what an argument means; described arguments
_MOST_OF_ARGUMENT = 120
_MOST_ARGUMENTS = 8
_KEYS = ("fields", "links")


class ProposedField(msgspec.Struct, frozen=True):
    """A text, number or truth value in a result, by its path."""

    path: str
    type: Literal["string", "integer", "number", "boolean"]


class ProposedLink(msgspec.Struct, frozen=True):
    """A value that fills an argument: `field` of the result of `source`, `argument` of `target`."""

    source: str = msgspec.field(name="from")
    field: str
    target: str = msgspec.field(name="to")
    argument: str
    reason: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """What a model proposes about one tool: the fields of its result, and links from and to it."""

    fields: list[ProposedField]
    links: list[ProposedLink]
    tool: str = ""
    model: str = ""


def is_unknown(tool: Tool) -> bool:
    """Whether a tool does not say what is in its result."""
    return tool.output_schema is None or not (
        is_informative(tool.output_schema) or scalar_of(tool.output_schema).kinds
    )


def template() -> str:
    """The text of `templates/proposals.txt`, with placeholders."""
    return package_template("link_proposals", "proposals")


def proposal_prompt(tool: Tool, others: Iterable[Tool]) -> str:
    """The prompt about a tool. Each tool is one line of JSON, so that no description can add another."""
    fields = (
        "what its result has is not declared: the texts, numbers and truth values that it most likely has, "
        "each with its place and type. A result that the description calls a formatted text is one text."
        if is_unknown(tool)
        else "its result is declared: give an empty list."
    )
    return Template(template()).substitute(
        tool=_line(tool, with_paths=True),
        others="\n".join(map(_line, others)),
        fields=fields,
        most_fields=MOST_FIELDS,
        most_links=MOST_LINKS,
    )


def answer_schema() -> dict[str, Any]:
    """The `response_format` parameter of a request."""
    text = {"type": "string"}
    field = object_schema(
        {"path": text, "type": {"type": "string", "enum": ["string", "integer", "number", "boolean"]}}
    )
    link = object_schema(dict.fromkeys(("from", "field", "to", "argument", "reason"), text))
    fields = {"type": "array", "items": field, "maxItems": MOST_FIELDS}
    links = {"type": "array", "items": link, "maxItems": MOST_LINKS}
    return json_schema("proposal", object_schema({"fields": fields, "links": links}))


def read_proposal(text: str, finish_reason: str | None = None) -> Proposal | None:
    """The proposal in an answer; None if it is cut off or is not the requested object.

    >>> read_proposal('{"fields": [{"path": "id", "type": "string"}], "links": []}').fields[0].path
    'id'
    """
    forms = shown_forms((template(),), keys=_KEYS)
    answer = read_answer(text, keys=_KEYS, forms=forms, nested=False, finish_reason=finish_reason)
    if answer.value is None or answer.truncated:
        return None
    try:
        return msgspec.convert({key: answer.value[key] for key in _KEYS}, Proposal)
    except (KeyError, msgspec.ValidationError):
        return None


def _line(tool: Tool, *, with_paths: bool = False) -> str:
    """A tool with what its arguments mean."""
    shown = shown_tool(tool, with_paths=with_paths)
    needs = {parameter.name for parameter in tool.parameters if parameter.required}
    described = argument_descriptions(tool.input_schema or {}).items()
    first = sorted(described, key=lambda item: item[0].split(".")[0] not in needs)[:_MOST_ARGUMENTS]
    arguments = {path: shortened(text, _MOST_OF_ARGUMENT) for path, text in first}
    more = {"arguments": arguments} if arguments else {}
    about = shown["desc"] if with_paths else shortened(shown["desc"], _MOST_DESCRIPTION)
    return unescaped_json({**shown, "desc": about, **more})
