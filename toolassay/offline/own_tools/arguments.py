"""Arguments of a call, valid against the schema of its tool, and the values that a request has to state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from toolassay.offline.fed_arguments import FedArgument
from toolassay.output_paths import Part
from toolassay.tools import Tool, ToolLibrary

Kind = Literal[
    "flag", "choice", "integer", "number", "money", "date", "moment", "time", "duration", "person", "email",
    "phone", "city", "country", "place", "url", "path", "code", "name", "query", "text", "word", "language",
    "currency",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A scalar of the arguments that the request has to state.

    Attributes:
        path: Its place in the arguments: `("guest", "name")`, `("items", 0, "sku")`.
        value: The JSON value.
        text: The value as a request writes it, without quotation marks.
        kind: What it is, which decides how a sentence introduces it.
        description: The description of its place in the schema.
        evidence: What decided the value: "enum", "const", "example", "default", "format", "pattern",
            "bounds", "description", "type", "name" or "related".
    """

    path: tuple[Part, ...]
    value: Any
    text: str
    kind: Kind
    description: str = ""
    evidence: str = "type"


@dataclass(frozen=True, slots=True)
class DrawnArguments:
    """The arguments of one call.

    Attributes:
        arguments: By name; valid against the `input_schema`. Fed arguments are references.
        stated: The values that the request has to state, in the order of the arguments. Fixed values
            (`const`), null and fed values are not stated.
    """

    arguments: Mapping[str, Any]
    stated: tuple[StatedValue, ...] = field(default=())


class UnfillableError(Exception):
    """No valid arguments were found, or none that a sentence can state; the text says why."""


def draw_arguments(
    tool: Tool,
    rng: Random,
    *,
    fed: Sequence[FedArgument] = (),
    known: Mapping[str, Any] | None = None,
    taken: Sequence[str] = (),
) -> DrawnArguments:
    """Draw valid arguments for a call: the required ones and up to two optional ones.

    Args:
        tool: The tool.
        rng: The random numbers of this request alone.
        fed: Arguments that take a value from an earlier call.
        known: Values that arguments must have, by name: those shared with earlier calls.
        taken: Texts of values that earlier calls of the request state; a drawn value neither repeats nor
            contains one of them, nor is contained in one, unless the schema leaves no other.

    Raises:
        UnfillableError: See there.
    """
    raise NotImplementedError


def unfillable(library: ToolLibrary) -> dict[str, str]:
    """The tools that need a model: those for which `draw_arguments` fails, and why."""
    raise NotImplementedError
