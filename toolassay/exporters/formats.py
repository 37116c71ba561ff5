"""The export formats: the rows of each, their files, and the further files of an export."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from toolassay.calls.call_plan import Argument, Call, CallPlan, Names, function_of
from toolassay.exporters.chats import (
    ChatStyle,
    ResultForm,
    chat_of,
    check_objects,
    conversation_of,
    dataset_info,
)
from toolassay.exporters.executed_results import PlanResults, grounded_answer
from toolassay.extras import needed
from toolassay.files import HALF_PAIRS, safe_name, write_json
from toolassay.graph import DependencyType
from toolassay.locks import open_regular
from toolassay.output_paths import parse_reference
from toolassay.tools import ToolLibrary


def row_of(
    plan: CallPlan, results: PlanResults | None = None, *, form: ResultForm = "references"
) -> dict[str, Any]:
    """The row of a plan; each argument has `name`, `kind` and `value`.

    Args:
        plan: the sample.
        results: what the calls returned; None without results.
        form: the column `results` of a row without results.

    >>> call = Call("Book", (Argument("seats", 2), Argument("film", "<node-0>")))
    >>> row_of(CallPlan("1", "Two seats", (), (call,), ()))["calls"][0]["arguments"][0]
    {'name': 'seats', 'kind': 'json', 'value': '2'}
    """
    texts = ("",) * plan.size if results is None else results.texts
    return {
        "id": plan.id,
        "request": plan.request,
        "shape": plan.shape,
        "size": plan.size,
        "steps": list(plan.steps),
        "calls": [
            {
                "tool": call.tool,
                "arguments": [_argument(argument) for argument in call.arguments],
                "result": text,
            }
            for call, text in zip(plan.calls, texts, strict=True)
        ],
        "links": [{"source": source, "target": target} for source, target in plan.links],
        "has_arguments": plan.has_arguments,
        "answer": "" if results is None else grounded_answer([texts[call] for call in plan.results()]),
        "results": form if results is None else results.marking,
    }


def plan_of_row(row: Mapping[str, Any]) -> CallPlan:
    """The plan of a row: `plan_of_row(row_of(plan)) == plan`."""
    return CallPlan(
        row["id"],
        row["request"],
        tuple(row["steps"]),
        tuple(
            Call(
                call["tool"],
                tuple(Argument(argument["name"], _value(argument)) for argument in call["arguments"]),
            )
            for call in row["calls"]
        ),
        tuple((link["source"], link["target"]) for link in row["links"]),
        row["has_arguments"],
    )


def _argument(argument: Argument) -> dict[str, str]:
    name, value = argument
    if not isinstance(value, str):
        return {"name": name, "kind": "json", "value": json.dumps(value, ensure_ascii=False)}
    kind = "text" if parse_reference(value) is None else "reference"
    return {"name": name, "kind": kind, "value": value}


def _value(argument: Mapping[str, str]) -> Any:
    return json.loads(argument["value"]) if argument["kind"] == "json" else argument["value"]


def columns(what: Literal["fields", "types"], form: str) -> Sequence[Any]:
    """The columns of a format: what they mean, or their types.

    `datasets` infers types from the first lines only if it is not told: it then fills objects that have other
    keys further down with nulls, or fails on them.
    """
    text = files(__package__).joinpath("columns.json").read_text(encoding="utf-8")
    found: list[Any] = json.loads(text)[what]["rows" if form in ("hf", "jsonl") else form]
    return found


ROWS_OF_A_GROUP = 1_000
"""Rows of a Parquet row group, which memory holds at once."""


class Writer(Protocol):
    """Writes rows one by one; the file is complete after `close`."""

    def write(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class JsonLinesWriter:
    """Writes one JSON object per line in UTF-8; creates missing folders."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = open_regular(path, "w", encoding="utf-8", errors=HALF_PAIRS, newline="\n")

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a line."""
        self._stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ParquetWriter:
    """Writes the rows of `row_of` as Parquet (zstd), `ROWS_OF_A_GROUP` at a time; needs pyarrow."""

    def __init__(self, path: Path) -> None:
        arrow, parquet = parquet_libraries()
        plain = {"string": arrow.string(), "int64": arrow.int64(), "bool": arrow.bool_()}

        def type_of(column: Mapping[str, Any]) -> Any:
            if (items := column.get("list")) is None:
                return plain[column["dtype"]]
            return arrow.list_(plain[items] if isinstance(items, str) else arrow.struct(types_of(items)))

        def types_of(table: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
            return {column["name"]: type_of(column) for column in table}

        self._schema = arrow.schema(types_of(columns("types", "hf")))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._table_of = arrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a row."""
        self._rows.append(row)
        if len(self._rows) >= ROWS_OF_A_GROUP:
            self._flush()

    def close(self) -> None:
        """Write the last group and close the file."""
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._table_of(self._rows, schema=self._schema))
        self._rows = []


def parquet_libraries() -> tuple[Any, Any]:
    """The modules `pyarrow` and `pyarrow.parquet`.

    Raises:
        UsageError: pyarrow is not installed.
    """
    return needed("pyarrow", "Parquet", "export"), needed("pyarrow.parquet", "Parquet", "export")


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
