"""Gold as rows with fixed keys and types, which every reader of tables takes; and the way back.

A value of an argument is a text beside its `kind`: `text` and `reference` as it stands, `json` to be read as
JSON. So no column has one type here and another there, and nothing becomes null on the way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolassay.dataset import reference_index
from toolassay.exporters.plan import Argument, Call, Plan


def row_of(plan: Plan) -> dict[str, Any]:
    """A plan as a row.

    >>> call = Call("Book", (Argument("seats", 2), Argument("film", "<node-0>")))
    >>> row_of(Plan("1", "Two seats", (), (call,), ()))["calls"][0]["arguments"][0]
    {'name': 'seats', 'kind': 'json', 'value': '2'}
    """
    return {
        "id": plan.id,
        "request": plan.request,
        "shape": plan.shape,
        "size": plan.size,
        "steps": list(plan.steps),
        "calls": [
            {"tool": call.tool, "arguments": [_argument(argument) for argument in call.arguments]}
            for call in plan.calls
        ],
        "links": [{"source": source, "target": target} for source, target in plan.links],
        "has_arguments": plan.has_arguments,
    }


def plan_of_row(row: Mapping[str, Any]) -> Plan:
    """A row as a plan: `plan_of_row(row_of(plan)) == plan`."""
    return Plan(
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
    kind = "text" if reference_index(value) is None else "reference"
    return {"name": name, "kind": kind, "value": value}


def _value(argument: Mapping[str, str]) -> Any:
    return json.loads(argument["value"]) if argument["kind"] == "json" else argument["value"]
