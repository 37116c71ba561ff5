"""The export formats: the rows of each, their files, and the further files of an export."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, get_args

from toolassay.calls.call_plan import Call, CallPlan
from toolassay.calls.function_schemas import Names, function_of
from toolassay.exporters.chats import (
    ChatStyle,
    ResultForm,
    chat_of,
    check_objects,
    conversation_of,
    dataset_info,
)
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.jsonl_parquet import JsonLinesWriter, ParquetWriter, Writer, row_of
from toolassay.files import safe_name, write_json
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

Format = Literal["hf", "openai", "sharegpt", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
CHAT_FORMATS: tuple[Format, ...] = ("openai", "sharegpt")
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
        form: the form of the results.
    """

    def __init__(self, to: Format, folder: Path, chats: Chats, form: ResultForm = "references") -> None:
        self._to, self._folder, self._chats = to, folder, chats
        self._row_of = _ROWS[to](chats, form)
        self._writers: dict[str, Writer] = {}
        self._splits: set[str] = set()

    @property
    def files(self) -> dict[str, str]:
        """The file of each split with plans, relative to the folder."""
        known = [split for split in ("train", "dev", "test") if split in self._splits]
        return {split: self._place(split) for split in known}

    def check(self, calls: Sequence[Call]) -> None:
        """Check that the format can represent calls.

        Raises:
            Unfit: it cannot.
        """
        if self._to == "openai" and self._chats.style.as_objects:
            check_objects(calls)

    def write(self, plan: CallPlan, split: str, results: PlanResults | None = None) -> None:
        """Append the row of a plan to the file of a split, and for chats a line to the split's index.

        Args:
            plan: the sample.
            split: its split.
            results: what its calls returned, with a refused call only if the chat is to have it; None without
                results.
        """
        self._splits.add(split)
        self._writer(self._place(split)).write(self._row_of(plan, results))
        if self._to in CHAT_FORMATS:
            beside: dict[str, Any] = {
                "id": plan.id,
                "links": [list(link) for link in plan.links],
                "has_arguments": plan.has_arguments,
            }
            if results is not None:
                beside["results"] = results.marking
                if results.refused is not None:
                    beside["recovery"] = True
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
        if self._to in CHAT_FORMATS:
            write_json(self._folder / "names.json", self._chats.names.to_json())
        if self._to == "sharegpt":
            info = dataset_info(self.files.values(), safe_name(name))
            write_json(self._folder / "dataset_info.json", info)

    def close(self) -> None:
        """Close the files."""
        while self._writers:
            self._writers.popitem()[1].close()


_RowOf = Callable[[CallPlan, PlanResults | None], dict[str, Any]]
_ROWS: Mapping[Format, Callable[[Chats, ResultForm], _RowOf]] = {
    "hf": lambda chats, form: partial(row_of, form=form),
    "jsonl": lambda chats, form: partial(row_of, form=form),
    "openai": lambda chats, form: (
        lambda plan, results: chat_of(plan, chats.offered(plan), chats.names, chats.style, results)
    ),
    "sharegpt": lambda chats, form: (
        lambda plan, results: conversation_of(plan, chats.offered(plan), chats.names, chats.style, results)
    ),
}
