"""Plans as table rows with fixed keys and types, their parser, and writers of JSON Lines and Parquet.

The value of an argument is a text with a `kind`: `text` and `reference` stand for themselves, `json` must be
parsed. So every column has one type in all rows, and no value becomes null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Protocol

from toolassay.calls.call_plan import Argument, Call, CallPlan
from toolassay.exporters.chats import ResultForm
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.grounded_answer import grounded_answer
from toolassay.extras import needed
from toolassay.files import HALF_PAIRS
from toolassay.locks import open_regular
from toolassay.output_paths import parse_reference


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
