"""The Back-Instruct prompt, and parsing of its answer (the `result` of a raw record)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from string import Template
from typing import Any

import msgspec

from toolassay.backinstruct.records import Instruction
from toolassay.console.text_formatting import shortened
from toolassay.files.data_files import unescaped_json
from toolassay.graph import DependencyType
from toolassay.models.json_answers import ParsedAnswer, read_answer, shown_forms
from toolassay.prompts.signatures import shown_tool
from toolassay.prompts.templates import (
    Wording,
    dated,
    fixed_text,
    package_template,
    template_name,
    tool_sentence,
    turns_of,
    typed_note,
)
from toolassay.records.dataset import Sample
from toolassay.tools.library import Tool, ToolLibrary

_CHECK_KEY = ', "check_by_teacher": "…"'
REQUIRED = ("nodes", "links")


class BackInstructPrompt:
    """Renders the prompt of a sample.

    Args:
        library: The tools.
        dependency_type: Selects the built-in template.
        check: Whether to request the teacher's review in the same answer.
        wording: Selects the built-in template; "example" shows tools as sentences and a worked example.
        template: The text of a template to use instead of the built-in one (`read_template`).
        values: Real values of arguments, by tool and argument, that the prompt shows.
        conditions: Under which condition a proposed link holds, by its tools.
        today: Date of the set.
    """

    def __init__(
        self,
        library: ToolLibrary,
        dependency_type: DependencyType,
        *,
        check: bool = False,
        wording: Wording = "default",
        template: str | None = None,
        values: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
        conditions: Mapping[tuple[str, str], str] | None = None,
        today: date | None = None,
    ) -> None:
        self._values = values or {}
        self._conditions = conditions or {}
        self._library = library
        self._check = check
        self._wording: Wording = wording
        # All texts by which answers are read are recorded here, in whichever process they are read.
        for name in (dependency_type, f"example_{dependency_type}"):
            built_in(name)
        text = template or built_in(template_name(dependency_type, wording))
        # Replaced at once, so that `text` is that of earlier versions for a published library.
        note = typed_note(library)
        note += fixed_text("json_text_note", _JSON_TEXT) if note else ""
        self.text = dated(text.replace("$typed", note), today)
        *self._example, last = [{"role": "user", "content": self.text}] if template else turns_of(self.text)
        self._template = Template(last["content"])

    def messages(self, sample: Sample) -> list[dict[str, str]]:
        """The messages for a sample: the turns of the worked example, if there is one, and the prompt."""
        return [*self._example, {"role": "user", "content": self.render(sample)}]

    def render(self, sample: Sample) -> str:
        """The prompt for a sample, which is the last message."""
        nodes = (self._line(number, tool) for number, tool in enumerate(sample.nodes, start=1))
        links = [line for number in range(len(sample.links)) for line in self._link_lines(sample, number)]
        return self._template.safe_substitute(
            nodes="\n".join(nodes),
            links="\n".join(links) or "(none)",
            check_key=_CHECK_KEY if self._check else "",
            check=built_in("check") if self._check else "",
            seed=f"{sample.seed}-{sample.index}",
        )

    def _line(self, number: int, name: str) -> str:
        tool = self._library[name]
        if self._wording == "example":
            return tool_sentence(tool)
        shown = shown_tool(tool)
        if notes := argument_notes(tool, self._values.get(name, {})):
            shown["about_parameters"] = notes
        return f"Node {number}: {unescaped_json(shown)}"

    def _link_lines(self, sample: Sample, number: int) -> Iterator[str]:
        """A link, and in a schema graph its condition and the fields that flow, one on each line."""
        link = sample.links[number]
        yield f"Link: {link.source} -> {link.target}"
        if when := self._conditions.get((link.source, link.target)):
            yield f"{CONDITION}{' '.join(when.split())}"
        for pair in sample.fields[number] if sample.fields else ():
            yield f"  {pair.source or WHOLE_RESULT} -> {pair.target}"
        for pair in sample.shared[number] if sample.shared else ():
            yield f"  {pair.source} = {pair.target}"


WHOLE_RESULT = "(whole result)"
CONDITION = "  condition: "
"""How the line begins that says when a link holds."""
# What the schema of an answer requires; `as_meant` reads it back.
_JSON_TEXT = " An object whose keys are not declared, such as `object`, is JSON text."
_MOST_NOTES = 12  # parameters of a tool that a prompt explains, the required ones first
_MOST_OF_NOTE = 160  # characters
_MOST_EXAMPLES = 3
_LIMITS = ("pattern", "format", "minimum", "maximum", "minLength", "maxLength", "multipleOf")


def argument_notes(tool: Tool, values: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """What a signature does not say of an imported tool's parameters: meaning, limits, examples, real values.

    Args:
        tool: The tool; none without an `input_schema` has notes.
        values: Real values by parameter.

    >>> day = {"description": "Day of the visit.", "examples": ["2031-04-02"]}
    >>> schema = {"type": "object", "properties": {"day": day}}
    >>> library = ToolLibrary.from_json({"nodes": [{"id": "visit", "desc": "", "input_schema": schema}]})
    >>> argument_notes(library["visit"], {})
    {'day': "Day of the visit; e.g. '2031-04-02'"}
    """
    if tool.input_schema is None:
        return {}
    notes = {}
    for parameter in sorted(tool.parameters, key=lambda parameter: not parameter.required):
        schema = parameter.declaration
        parts = [" ".join(parameter.description[:_MOST_OF_NOTE].split()).rstrip(".")]
        parts += [
            f"{name}: {schema[name]}" for name in _LIMITS if isinstance(schema.get(name), str | int | float)
        ]
        given = schema.get("examples", [schema["example"]] if "example" in schema else [])
        examples = (
            [example for example in given if isinstance(example, str | int | float)]
            if isinstance(given, list)
            else []
        )
        if examples:
            parts.append(f"e.g. {', '.join(map(repr, examples[:_MOST_EXAMPLES]))}")
        if real := list(values.get(parameter.name, ()))[:_MOST_EXAMPLES]:
            parts.append(f"real values: {', '.join(map(repr, real))}")
        text = "; ".join(part for part in parts if part)
        if text:
            notes[parameter.name] = shortened(text, 2 * _MOST_OF_NOTE)
        if len(notes) == _MOST_NOTES:
            break
    return notes


def built_in(name: str) -> str:
    """The text of a template: that of a dependency type, alone or after "example_", or "check"."""
    return package_template("backinstruct", name)


INSTRUCTION_KEYS = ("task_steps", "user_request", "invoking_graph")


def read_instruction(
    text: str, dependency_type: DependencyType, finish_reason: str | None = None
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """Parse the instruction in an answer.

    An answer that only repeats the form or the worked example of a built-in prompt is not an instruction.

    Returns:
        The object with `task_steps`, `user_request`, `invoking_graph` and possibly `check_by_teacher`, or
        None if a part is missing or truncated; and the parsed answer, with a `problem` in that case.
    """
    answer = read_answer(
        text,
        keys=INSTRUCTION_KEYS,
        forms=_shown_forms(*map(built_in, (dependency_type, f"example_{dependency_type}"))),
        finish_reason=finish_reason,
    )
    value = answer.value
    if value is None or answer.problem:
        return None, answer
    try:
        msgspec.convert(value, Instruction)
    except msgspec.ValidationError as error:
        return None, answer._replace(problem=str(error))
    return value, answer


@cache
def _shown_forms(template: str, example: str) -> tuple[dict[str, Any], ...]:
    """The forms of an answer that the built-in prompts show, worked example included."""
    worked = turns_of(example)[1]["content"]
    return shown_forms((template.replace("$check_key", ""), worked), keys=INSTRUCTION_KEYS)
