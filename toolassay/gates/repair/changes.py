"""A repair, and the parts of a label that may be repaired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolassay.gates.gate import Background
from toolassay.gold import Gold


class Repair(NamedTuple):
    """One change of a label.

    Attributes:
        kind: "tool name", "argument name", "form", "number", "reference", "counted from 1", "order",
            "duplicate link", "steps", "size" or "shape".
        where: the place in the label, before the repair, such as `task_nodes[1].arguments[0]`.
        before: what stood there.
        after: what stands there now; None where it was removed.
    """

    kind: str
    where: str
    before: Any
    after: Any


Record = dict[str, Any]
# Gives the label with its changes made, adding each to the list; what is not changed is the same object.
Mender = Callable[[Record, Background, list[Repair]], Record]


def gold_of(record: Mapping[str, Any]) -> Gold:
    """The gold plan of a label that may lack everything, its id too."""
    return Gold.of({"id": 0, **record})


def nodes_of(record: Mapping[str, Any]) -> list[Any]:
    """The nodes as they stand; empty where there is no list of them."""
    nodes = record.get("task_nodes")
    return nodes if isinstance(nodes, list) else []


def with_argument(argument: Any, value: Any) -> Any:
    """An argument with another value: itself (resource), or its `value` (temporal)."""
    if isinstance(argument, Mapping) and "value" in argument:
        return {**argument, "value": value}
    return value


def with_arguments(record: Record, changed: Mapping[tuple[int, int], Any]) -> Record:
    """The label with the values at (place of the node, place of the argument) replaced."""
    if not changed:
        return record
    nodes = list(nodes_of(record))
    for (place, item), value in changed.items():
        arguments = list(nodes[place]["arguments"])
        arguments[item] = with_argument(arguments[item], value)
        nodes[place] = {**nodes[place], "arguments": arguments}
    return {**record, "task_nodes": nodes}
