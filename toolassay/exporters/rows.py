"""The export format "jsonl": plans as table rows with fixed keys and types, and a parser of rows.

The value of an argument is a text with a `kind`: `text` and `reference` stand for themselves, `json` must be
parsed. So every column has one type in all rows, and no value becomes null.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from toolassay.exporters.chats import json_text
from toolassay.exporters.executed_results import Marking, PlanResults, grounded_answer
from toolassay.exporters.export_format import Chats, ExportFormat, ResultForm, columns
from toolassay.plans.call_plan import Argument, Call, CallPlan
from toolassay.records.dataset import Shape
from toolassay.tools.output_paths import parse_reference


class RowArgument(msgspec.Struct, frozen=True):
    """An argument in a row; see the module."""

    name: str
    kind: Literal["text", "reference", "json"]
    value: str


class RowCall(msgspec.Struct, frozen=True):
    """A call in a row, with its result as a model reads it; "" without results."""

    tool: str
    arguments: list[RowArgument]
    result: str


class RowLink(msgspec.Struct, frozen=True):
    """A link in a row, by the numbers of the calls."""

    source: int
    target: int


class PlanRow(msgspec.Struct, frozen=True):
    """A line of the formats "hf" and "jsonl"; `columns.json` says what the fields mean."""

    id: str
    request: str
    shape: Shape
    size: int
    steps: tuple[str, ...]
    calls: list[RowCall]
    links: list[RowLink]
    has_arguments: bool
    answer: str
    results: ResultForm | Marking


def row_of(plan: CallPlan, results: PlanResults | None = None, *, form: ResultForm = "references") -> PlanRow:
    """The row of a plan.

    Args:
        plan: the sample.
        results: what the calls returned; None without results.
        form: the column `results` of a row without results.

    >>> call = Call("Book", (Argument("seats", 2), Argument("film", "<node-0>")))
    >>> row_of(CallPlan("1", "Two seats", (), (call,), ())).calls[0].arguments[0]
    RowArgument(name='seats', kind='json', value='2')
    """
    texts = ("",) * plan.size if results is None else results.texts
    return PlanRow(
        plan.id,
        plan.request,
        plan.shape,
        plan.size,
        plan.steps,
        [
            RowCall(call.tool, [*map(_argument, call.arguments)], text)
            for call, text in zip(plan.calls, texts, strict=True)
        ],
        [RowLink(*link) for link in plan.links],
        plan.has_arguments,
        "" if results is None else grounded_answer([texts[call] for call in plan.results()]),
        form if results is None else results.marking,
    )


def plan_of_row(line: object) -> CallPlan:
    """The plan of a row, which is a `PlanRow` or its JSON object."""
    row = msgspec.convert(line, PlanRow, from_attributes=True)

    def named(argument: RowArgument) -> Argument:
        return Argument(
            argument.name, json.loads(argument.value) if argument.kind == "json" else argument.value
        )

    return CallPlan(
        row.id,
        row.request,
        row.steps,
        tuple(Call(call.tool, tuple(map(named, call.arguments))) for call in row.calls),
        tuple((link.source, link.target) for link in row.links),
        row.has_arguments,
    )


def _argument(argument: Argument) -> RowArgument:
    name, value = argument
    if not isinstance(value, str):
        return RowArgument(name, "json", json_text(value))
    return RowArgument(name, "text" if parse_reference(value) is None else "reference", value)


class RowFormat(ExportFormat):
    """Rows as JSON Lines."""

    name = "jsonl"
    help = "the same rows as JSON Lines"
    about = "One object per line."
    fields = columns("fields", "rows")
    types = columns("types", "rows")

    def line(self, plan: CallPlan, chats: Chats, results: PlanResults | None) -> PlanRow:
        """The row of a plan."""
        return row_of(plan, results, form=chats.form)


FORMAT = RowFormat()
