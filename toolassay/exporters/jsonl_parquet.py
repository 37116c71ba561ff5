"""Plans as table rows with fixed keys and types, their parser, and writers of JSON Lines and Parquet.

The value of an argument is a text with a `kind`: `text` and `reference` stand for themselves, `json` must be
parsed. So every column has one type in all rows, and no value becomes null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from toolassay.calls.call_plan import Argument, Call, CallPlan
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.grounded_answer import grounded_answer
from toolassay.exporters.turns import ResultForm
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
        text, number = arrow.string(), arrow.int64()
        argument = arrow.struct({"name": text, "kind": text, "value": text})
        call = arrow.struct({"tool": text, "arguments": arrow.list_(argument), "result": text})
        link = arrow.struct({"source": number, "target": number})
        self._schema = arrow.schema(
            {
                "id": text,
                "request": text,
                "shape": text,
                "size": number,
                "steps": arrow.list_(text),
                "calls": arrow.list_(call),
                "links": arrow.list_(link),
                "has_arguments": arrow.bool_(),
                "answer": text,
                "results": text,
            }
        )
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
