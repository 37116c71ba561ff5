"""The interface of an export format: one class in one file, of which one instance is registered."""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from toolassay.exporters.executed_results import PlanResults
from toolassay.files.data_files import HALF_PAIRS, package_data
from toolassay.files.locks import open_regular
from toolassay.graph import DependencyType
from toolassay.plans.call_plan import Call, CallPlan, FunctionSchema, Names, function_of
from toolassay.tools.library import ToolLibrary

ResultForm = Literal["executed", "references", "none"]
"""What an export has as results: what the tools returned, `<node-j>` in their place, or nothing."""
CLOSINGS: Mapping[ResultForm, str | None] = {
    "executed": "$results",
    "references": "Done: $results",
    "none": None,
}
"""Default last message of the assistant, by the form of the results."""


@dataclass(frozen=True)
class ChatStyle:
    """Options of the chat formats.

    Attributes:
        system: the system message; empty for none.
        closing: the last message of the assistant, with `$results` for the results that no other call
            takes; None ends a chat with its last call.
        parallel: put calls that do not depend on each other into one turn.
        as_objects: write the arguments of a call as an object instead of JSON text.
        calls_only: put all calls into one turn, without results. A format that has tool messages requires
            one after each other turn.
    """

    system: str = ""
    closing: str | None = CLOSINGS["references"]
    parallel: bool = False
    as_objects: bool = False
    calls_only: bool = False


@dataclass(frozen=True)
class Chats:
    """The tools, and the options of an export.

    Attributes:
        library: all tools.
        kind: the dependency type.
        style: options of the chat formats.
        tools: the functions of a chat: all, only those of its plan ("gold"), or this number, which adds
            randomly drawn ones to those of the plan.
        seed: seed of the draw.
        form: the form of the results.
    """

    library: ToolLibrary
    kind: DependencyType
    style: ChatStyle = field(default_factory=ChatStyle)
    tools: int | Literal["all", "gold"] = "all"
    seed: int = 0
    form: ResultForm = "references"

    @cached_property
    def names(self) -> Names:
        """The names of functions and parameters in chats."""
        return Names.of(self.library, self.kind)

    @cached_property
    def _functions(self) -> list[FunctionSchema]:
        return [function_of(tool, self.kind, self.names) for tool in self.library]

    def offered(self, plan: CallPlan) -> Sequence[FunctionSchema]:
        """The functions of the chat for a plan, in the order of the library."""
        if self.tools == "all" or (isinstance(self.tools, int) and self.tools >= len(self.library)):
            return self._functions
        chosen = {self.library.index(call.tool) for call in plan.calls}
        more = 0 if self.tools == "gold" else int(self.tools) - len(chosen)
        if more > 0:
            unused = [position for position in range(len(self.library)) if position not in chosen]
            chosen.update(random.Random(f"{self.seed} {plan.id}").sample(unused, more))
        return [self._functions[position] for position in sorted(chosen)]


def columns(what: Literal["fields", "types"], form: str) -> Sequence[Any]:
    """The columns of a built-in form of lines: what they mean, or their types."""
    listing: Sequence[Any] = package_data(__package__, "columns.json")[what][form]
    return listing


class Writer(Protocol):
    """Writes the lines of one file."""

    def write(self, line: object) -> None:
        """Append a line: a record, or what JSON can represent."""
        ...

    def close(self) -> None:
        """Write what is left, and close the file."""
        ...


class JsonLinesWriter:
    """Writes one JSON object per line in UTF-8; creates missing folders."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = open_regular(path, "w", encoding="utf-8", errors=HALF_PAIRS, newline="\n")

    def write(self, row: object) -> None:
        """Append a line."""
        line = json.dumps(msgspec.to_builtins(row), ensure_ascii=False, allow_nan=False)
        self._stream.write(line + "\n")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ExportFormat(ABC):
    """A format of `toolassay export`: a line for each plan, in a file for each split.

    Only `name`, `help`, `about` and `line` are required: then a file has one JSON object a line.

    Attributes:
        name: Value of `--to`.
        help: What it is, for `toolassay export --help`.
        about: The lines in one sentence, for the dataset card.
        fields: Name, type and meaning of the fields of a line, for the card.
        types: The types of the fields, in the form of a card's `dataset_info`. Without them `datasets` infers
            types from the first lines: it then fills objects that have other keys further down with nulls, or
            fails on them.
        shows_refusals: Whether a line can show a wrong call and the tool's error before the right call
            (`--recoveries`).
    """

    name: ClassVar[str]
    help: ClassVar[str]
    about: ClassVar[str]
    fields: Sequence[tuple[str, str, str]] = ()
    types: Sequence[Any] = ()
    shows_refusals: ClassVar[bool] = False

    @abstractmethod
    def line(self, plan: CallPlan, chats: Chats, results: PlanResults | None) -> object:
        """The line of a plan: a record, or what JSON can represent.

        Args:
            plan: The sample.
            chats: The tools, and the options of the export.
            results: What the calls returned, with a refused call only if the line is to show it; None without
                results.
        """

    def require(self) -> None:  # noqa: B027
        """Check, before anything is read, that the packages of the format are installed.

        Raises:
            UsageError: One is missing.
        """

    def check(self, calls: Sequence[Call], chats: Chats) -> None:  # noqa: B027
        """Check that the format can represent calls.

        Raises:
            Unfit: It cannot; the sample is refused.
        """

    def file_of(self, split: str) -> str:
        """The file of a split, relative to the folder of the export."""
        return f"{split}.jsonl"

    def writer(self, path: Path) -> Writer:
        """What writes the lines of a file; it creates missing folders."""
        return JsonLinesWriter(path)

    def index_line(self, plan: CallPlan, results: PlanResults | None) -> object | None:
        """The line of a plan in `index/SPLIT.jsonl`; None if the format has no index."""
        return None

    def finish(  # noqa: B027
        self, folder: Path, files: Mapping[str, str], name: str, chats: Chats
    ) -> None:
        """Write further files, when all lines are written.

        Args:
            folder: The folder of the export.
            files: The file of each split.
            name: Name of the data set.
            chats: The tools, and the options of the export.
        """

    def card_text(self, form: ResultForm) -> str:
        """The lines in words, for the card."""
        return self.about
