"""The interface of an importer: one file or folder with one entry, an instance of `Importer`.

An importer only parses. It turns a source into `IncomingTool`s with the names, descriptions and schemas of
that source. Everything common to all kinds follows in `intake.py`: ids, one dialect of JSON Schema,
warnings about descriptions, and the report.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from toolassay.console.screen import SILENT, Screen
from toolassay.declarations import NoOptions

Schema = Mapping[str, Any]


class Note(NamedTuple):
    """What was lost of a tool, or what to look at.

    Attributes:
        field: Where in the source, e.g. `responses.404` or `input_schema.properties.id.format`.
        reason: One clause.
    """

    field: str
    reason: str


class ToolNote(NamedTuple):
    """A loss or a warning about a tool; about the whole source if `tool` is empty."""

    tool: str
    field: str
    reason: str


class DefinitionError(Exception):
    """A definition gives no tool. The text is the reason, one clause."""


class Skipped(NamedTuple):
    """A part of the source that gave no tool.

    Attributes:
        where: The place, e.g. `line 7`, `GET /pets/{id}` or the name of a server.
        reason: One clause.
    """

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class IncomingTool:
    """A tool as its source describes it.

    Attributes:
        name: Its name in the source, whatever the characters.
        description: Empty if the source has none.
        input_schema: JSON Schema of the arguments object; `$ref` only within itself (`#/…`).
        output_schema: JSON Schema of the result; None if the source has none.
        annotations: MCP's hints: `readOnlyHint`, `destructiveHint`, `idempotentHint`, and others as given.
        tags: The source's groups.
        source: Further keys of `source` in the tool file: `method`, `path`, `operation_id`, `server`, and
            others that the way back needs. `kind` and `name` are added by the intake.
        further_names: Names to try, in order, if another tool of the import has the same name. The first
            try is always `server.name`, if there is a server.
        losses: What the tool file does not hold of this tool.
        warnings: What a person should look at.
    """

    name: str
    description: str = ""
    input_schema: Schema = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: Schema | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    further_names: Sequence[str] = ()
    losses: Sequence[Note] = ()
    warnings: Sequence[Note] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """All that an importer read.

    Attributes:
        tools: The tools, in the order of the source.
        source: The source as the report names it: no secret, and nothing below a secret path.
        skipped: Parts that gave no tool.
        secrets: Texts that no file or message may repeat, e.g. values of `env`.
        notes: Losses of the whole source, e.g. webhooks of an OpenAPI document.
        service: What the service is, in its own words: title and description, instructions of a server.
    """

    tools: Sequence[IncomingTool]
    source: str
    skipped: Sequence[Skipped] = ()
    secrets: Sequence[str] = ()
    notes: Sequence[Note] = ()
    service: str = ""


class Importer(ABC):
    """One form in which tools exist.

    Attributes:
        name: The KIND on the command line.
        title: Its name in messages, e.g. "OpenAPI document".
        help: One sentence for `toolassay import --help`.
        source_help: What SOURCE is, one sentence.
        options: Dataclass of its options (`toolassay.declarations`); every field has a default.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    source_help: ClassVar[str]
    options: ClassVar[type[Any]] = NoOptions

    @abstractmethod
    def read(self, source: str, options: Any, *, screen: Screen = SILENT) -> Incoming:
        """Read the tools of a source.

        Args:
            source: A path, an address or a command line, as typed.
            options: An instance of `options`.
            screen: Shows progress of what takes more than two seconds.

        Raises:
            UsageError: The source cannot be read at all.
        """
