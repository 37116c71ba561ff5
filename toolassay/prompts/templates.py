"""Prompt templates: worked examples as chat turns, and tools as sentences that can be parsed again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from datetime import date
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

from toolassay.errors import UsageError
from toolassay.files.data_files import read_text
from toolassay.prompts.signatures import shown_tool
from toolassay.text_values.vocabulary import MONTHS, WEEKDAYS
from toolassay.tools.library import Tool

Wording = Literal["default", "example"]
"""The built-in prompts: with placeholders, or with a worked example instead of them."""

# Matches the line "=== assistant ===", not "=== system ===".
_TURN = re.compile(r"^=== (user|assistant) ===\n", re.MULTILINE)
_NOTHING = "nothing"
_TODAY = "Today is {weekday}, {day} {month} {year}."
# Matches the line and the empty one below it, as `dated` writes them, or nothing; not "Today is fine".
_DATE_LINE = r"(?:Today is [^\n]+\n\n)?"
# Matches "- Crop: Cuts a picture. Takes image, text; gives image. Parameters: edge." with any of the three
# last sentences missing; not '{"id": "Crop"}'. Types and names of parameters hold no full stop.
# Of an imported tool: "- fly: Flies. Parameters: {to: string}. Returns: {seat: string}."
_SENTENCE = re.compile(
    r"- (?P<id>.+?): (?P<desc>.*?)"
    r"(?: Takes (?P<inputs>[^.;]*); gives (?P<outputs>[^.;]*)\.)?"
    r"(?: Parameters: (?P<parameters>[^.{]*|\{.*?\}|object)\.(?: Returns: (?P<returns>.+)\.)?)?"
)


FIXED_TEXTS: ContextVar[Callable[[str, str], str]] = ContextVar(
    "fixed_texts", default=lambda name, text: text
)
"""Chooses between a text of this package and the one that the current run has recorded under its name."""


def fixed_text(name: str, text: str) -> str:
    """A text of this package as prompts have it: `text`, or the one that the current run began with."""
    return FIXED_TEXTS.get()(name, text)


def package_template(folder: str, name: str) -> str:
    """A template of this package, as `fixed_text`.

    Args:
        folder: Of the package, below `toolassay`, e.g. "gates".
        name: Of the file in its `templates`, without the ending.
    """
    return fixed_text(f"{folder}/{name}", template_file(folder, name))


@lru_cache
def template_file(folder: str, name: str) -> str:
    """The template as this version of the package has it; arguments of `package_template`."""
    return files("toolassay").joinpath(folder, "templates", f"{name}.txt").read_text(encoding="utf-8")


def turns_of(template: str) -> list[dict[str, str]]:
    r"""The messages of a template; a template without turn marks is a single message.

    A worked example is a separate exchange before the user's message: when both were in one message, a model
    of 135M parameters copied tools and texts of the example in 15 of 15 answers.

    >>> turns_of("1 + 1?\n=== assistant ===\n2\n=== user ===\n$a + $b?")[1:]
    [{'role': 'assistant', 'content': '2'}, {'role': 'user', 'content': '$a + $b?'}]
    """
    first, *further = _TURN.split(template)
    texts = [first, *further[1::2]]
    texts[:-1] = [text.rstrip("\n") for text in texts[:-1]]
    return [
        {"role": role, "content": text} for role, text in zip(["user", *further[::2]], texts, strict=True)
    ]


def size_of(messages: Sequence[dict[str, str]]) -> int:
    """The size of the messages' texts in bytes."""
    return sum(len(message["content"].encode(errors="replace")) for message in messages)


def tool_sentence(tool: Tool, *, with_paths: bool = False) -> str:
    """Describe a tool in plain text on one line; of parameters only the names, or the signature.

    `with_paths` is that of `shown_tool`.

    >>> tool_sentence(Tool("Crop", "Cuts a picture", inputs=("image", "text"), outputs=("image",)))
    '- Crop: Cuts a picture. Takes image, text; gives image.'
    """
    entry = (
        shown_tool(tool, with_paths=with_paths)
        if tool.input_schema is not None
        else {"desc": tool.description}
    )
    description = " ".join(entry["desc"].split())
    parts = [f"- {tool.id}: {description}{'' if description.endswith(('.', '!', '?')) else '.'}"]
    if tool.is_resource:
        takes, gives = (", ".join(types) or _NOTHING for types in (tool.inputs, tool.outputs))
        parts.append(f"Takes {takes}; gives {gives}.")
    if tool.input_schema is not None:
        parts += [f"{key.capitalize()}: {entry[key]}." for key in ("parameters", "returns") if key in entry]
    elif tool.parameters:
        parts.append(f"Parameters: {', '.join(parameter.name for parameter in tool.parameters)}.")
    return " ".join(parts)


def read_tool_sentence(line: str) -> dict[str, Any]:
    """Parse a line of `tool_sentence` to an object of `tool_desc.json`; an id is cut at its first ": ".

    Raises:
        ValueError: The line is not such a sentence.

    >>> read_tool_sentence("- ask: Asks. Parameters: whom, what.")
    {'id': 'ask', 'desc': 'Asks.', 'parameters': ['whom', 'what']}
    """
    sentence = _SENTENCE.fullmatch(line)
    if sentence is None:
        raise ValueError(f"not a tool: {line[:80]}")
    tool: dict[str, Any] = {"id": sentence["id"], "desc": sentence["desc"]}
    if sentence["inputs"] is not None:
        tool |= {"input-type": _listed(sentence["inputs"]), "output-type": _listed(sentence["outputs"])}
    if (parameters := sentence["parameters"]) is not None:
        is_signature = parameters.startswith("{") or parameters == "object"
        tool["parameters"] = parameters if is_signature else _listed(parameters)
    if sentence["returns"] is not None:
        tool["returns"] = sentence["returns"]
    return tool


_TYPED = (
    " A parameter marked with ? is optional: leave it out unless the request needs it. A value is JSON of the"
    " parameter's type: numbers and true or false without quotation marks, lists and objects as such."
)


def typed_note(tools: Iterable[Tool]) -> str:
    """The sentences about types that a prompt adds if a tool has an `input_schema`; else empty."""
    is_typed = any(tool.input_schema is not None for tool in tools)
    return fixed_text("typed_note", _TYPED) if is_typed else ""


def dated(prompt: str, today: date | None) -> str:
    r"""A prompt below a line that says which day it is; without a date the prompt itself.

    >>> dated("Plan the calls.", date(2026, 11, 30))
    'Today is Monday, 30 November 2026.\n\nPlan the calls.'
    """
    if today is None:
        return prompt
    line = fixed_text("today", _TODAY).format(
        # Not by `strftime`, whose names depend on the locale: a continued run would send other prompts.
        weekday=WEEKDAYS[today.weekday()].capitalize(),
        day=today.day,
        month=MONTHS[today.month - 1].capitalize(),
        year=today.year,
    )
    return f"{line}\n\n{prompt}"


def check_wording(wording: str, *, with_template: bool) -> Wording:
    """Check the value of `--prompt`.

    Args:
        wording: The value.
        with_template: Whether `--prompt_template` is given too.

    Raises:
        UsageError: The wording is unknown, or both options are given.
    """
    if wording not in get_args(Wording):
        raise UsageError(f"unknown --prompt {wording!r}", fix=f"choose from {', '.join(get_args(Wording))}")
    if with_template and wording != "default":
        raise UsageError(
            f"--prompt {wording} and --prompt_template exclude each other", fix="remove one of them"
        )
    return wording  # type: ignore[return-value]


def _listed(text: str) -> list[str]:
    return [] if text == _NOTHING else text.split(", ")


def last_turn(template: str) -> str:
    """The message of a template that is read back: a worked example before it says nothing."""
    return turns_of(template)[-1]["content"]


def template_name(dependency_type: str, wording: Wording) -> str:
    """The name of a built-in template.

    >>> template_name("resource", "default"), template_name("resource", "example")
    ('resource', 'example_resource')
    """
    return dependency_type if wording == "default" else f"{wording}_{dependency_type}"


def read_template(path: Path, names: Collection[str]) -> str:
    """The text of a file with a prompt template.

    Args:
        path: The file.
        names: Of the placeholders that it must have.

    Raises:
        UsageError: The file does not exist, is no template, or lacks a placeholder.
    """
    text = read_text(path)
    template = Template(text)
    if not template.is_valid() or not set(names) <= set(template.get_identifiers()):
        needed = " and ".join(f"${name}" for name in names)
        raise UsageError(
            "is not a prompt template", file=path, fix=f"it needs {needed}; write $$ for a dollar"
        )
    return text


def fields_of(template: str, prompt: str) -> dict[str, str] | None:
    """The values of a template's fields in a prompt; None if the prompt does not follow the template.

    The prompt may begin with the line of `dated`.

    >>> fields_of("Say $word to $name, $word!", "Say hello to Ann, hello!")
    {'word': 'hello', 'name': 'Ann'}
    """
    match = _pattern(template).fullmatch(prompt)
    return match.groupdict() if match else None


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    """The template as an expression with a group for each of its fields; a repeated one repeats its text."""
    parts: list[str] = []
    end = 0
    for field in Template.pattern.finditer(template):
        name = field["named"]
        is_repeated = f"(?P<{name}>" in "".join(parts)
        parts += [
            re.escape(template[end : field.start()]),
            f"(?P={name})" if is_repeated else f"(?P<{name}>.*?)",
        ]
        end = field.end()
    parts.append(re.escape(template[end:].rstrip()))
    return re.compile(_DATE_LINE + "".join(parts) + r"\s*", re.DOTALL)
