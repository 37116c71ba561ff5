"""The export formats: the rows of each, their files, and the further files of an export."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from toolassay.calls.call_plan import CallPlan
from toolassay.calls.function_schemas import Names, function_of
from toolassay.exporters.jsonl_parquet import JsonLinesWriter, ParquetWriter, Writer, row_of
from toolassay.exporters.openai import chat_of, check_objects
from toolassay.exporters.sharegpt import conversation_of, dataset_info
from toolassay.exporters.turns import ChatStyle
from toolassay.files import safe_name, write_json
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

Format = Literal["hf", "openai", "sharegpt", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
MOST_TOOLS = 128
"""The limit of OpenAI's API on the functions of one request."""


@dataclass(frozen=True)
class Chats:
    """The tools and options that turn plans into chats.

    Attributes:
        library: all tools.
        kind: the dependency type.
        style: options of the chat formats.
        tools: the functions of a chat: all, only those of its plan ("gold"), or this number, which adds
            randomly drawn ones to those of the plan.
        seed: seed of the draw.
    """

    library: ToolLibrary
    kind: DependencyType
    style: ChatStyle = field(default_factory=ChatStyle)
    tools: int | Literal["all", "gold"] = "all"
    seed: int = 0

    @cached_property
    def names(self) -> Names:
        """The names of functions and parameters in chats."""
        return Names.of(self.library, self.kind)

    @cached_property
    def _functions(self) -> list[dict[str, Any]]:
        return [function_of(tool, self.kind, self.names) for tool in self.library]

    def offered(self, plan: CallPlan) -> Sequence[dict[str, Any]]:
        """The functions of the chat for a plan, in the order of the library."""
        if self.tools == "all" or (isinstance(self.tools, int) and self.tools >= len(self.library)):
            return self._functions
        chosen = {self.library.index(call.tool) for call in plan.calls}
        more = 0 if self.tools == "gold" else int(self.tools) - len(chosen)
        if more > 0:
            others = [place for place in range(len(self.library)) if place not in chosen]
            chosen.update(random.Random(f"{self.seed} {plan.id}").sample(others, more))
        return [self._functions[place] for place in sorted(chosen)]


class Rows:
    """Writes the files of one export, one row at a time.

    Args:
        to: the format.
        folder: the folder to write into.
        chats: the tools and options of chats, which "openai" and "sharegpt" use.
    """

    def __init__(self, to: Format, folder: Path, chats: Chats) -> None:
        self._to, self._folder, self._chats = to, folder, chats
        self._row_of = _ROWS[to](chats)
        self._writers: dict[str, Writer] = {}
        self._splits: set[str] = set()

    @property
    def files(self) -> dict[str, str]:
        """The file of each split with plans, relative to the folder."""
        known = [split for split in ("train", "dev", "test") if split in self._splits]
        return {split: self._place(split) for split in known}

    def check(self, plan: CallPlan) -> None:
        """Check that the format can represent a plan.

        Raises:
            Unfit: it cannot.
        """
        if self._to == "openai" and self._chats.style.as_objects:
            check_objects(plan)

    def write(self, plan: CallPlan, split: str) -> None:
        """Append the row of a plan to the file of a split, and for chats a line to the split's index."""
        self._splits.add(split)
        self._writer(self._place(split)).write(self._row_of(plan))
        if self._to in ("openai", "sharegpt"):
            beside = {
                "id": plan.id,
                "links": [list(link) for link in plan.links],
                "has_arguments": plan.has_arguments,
            }
            self._writer(f"index/{split}.jsonl").write(beside)

    def _writer(self, name: str) -> Writer:
        if name not in self._writers:
            path = self._folder / name
            self._writers[name] = ParquetWriter(path) if path.suffix == ".parquet" else JsonLinesWriter(path)
        return self._writers[name]

    def _place(self, split: str) -> str:
        return f"data/{split}.parquet" if self._to == "hf" else f"{split}.jsonl"

    def finish(self, name: str) -> None:
        """Close the files and write `names.json` and `dataset_info.json` if the format has them.

        Args:
            name: name of the data set, a prefix of the names in `dataset_info.json`.
        """
        self.close()
        if self._to in ("openai", "sharegpt"):
            write_json(self._folder / "names.json", self._chats.names.to_json())
        if self._to == "sharegpt":
            info = dataset_info(self.files.values(), safe_name(name))
            write_json(self._folder / "dataset_info.json", info)

    def close(self) -> None:
        """Close the files."""
        while self._writers:
            self._writers.popitem()[1].close()


_ROWS: Mapping[Format, Callable[[Chats], Callable[[CallPlan], dict[str, Any]]]] = {
    "hf": lambda chats: row_of,
    "jsonl": lambda chats: row_of,
    "openai": lambda chats: lambda plan: chat_of(plan, chats.offered(plan), chats.names, chats.style),
    "sharegpt": lambda chats: (
        lambda plan: conversation_of(plan, chats.offered(plan), chats.names, chats.style)
    ),
}
