"""The literals of a plan: every value that is no reference to another call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.gold import Gold, GoldNode
from toolassay.output_paths import parse_reference

Leaf = str | int | float | bool
# Bounds the work on values that are very deep or wide.
_MOST_LEAVES = 10_000


class PlanLiteral(NamedTuple):
    """A value of a plan.

    Attributes:
        node: the call.
        where: path of the argument in the label.
        parameter: the name of the argument; "" if it has none.
        value: the value.
        place: where it is in the argument, if that is a list or an object: `("tags", 0)`.
    """

    node: GoldNode
    where: str
    parameter: str
    value: Leaf
    place: tuple[str | int, ...] = ()


def literals_of(gold: Gold) -> Iterator[PlanLiteral]:
    """Every literal of a plan, in order; lists and objects yield each value in them.

    >>> arguments = ["<node-1>", {"name": "n", "value": [2]}]
    >>> gold = Gold.of({"id": 1, "task_nodes": [{"task": "a", "arguments": arguments}]})
    >>> [(literal.where, literal.parameter, literal.value) for literal in literals_of(gold)]
    [('task_nodes[0].arguments[1]', 'n', 2)]
    """
    tools = {_name(node.tool) for node in gold.nodes}
    for node in gold.nodes:
        for place, argument in enumerate(node.arguments or ()):
            name, value = "", argument
            if isinstance(argument, Mapping) and "value" in argument:
                name, value = str(argument.get("name", "")), argument["value"]
            for inner, leaf in placed_leaves(value):
                if isinstance(leaf, str) and (parse_reference(leaf) is not None or _name(leaf) in tools):
                    continue
                yield PlanLiteral(node, f"{node.where}.arguments[{place}]", name, leaf, inner)


def leaves(value: Any) -> Iterator[Leaf]:
    """The texts, numbers and booleans in a JSON value, in order.

    >>> list(leaves({"a": [1, "x"], "b": None}))
    [1, 'x']
    """
    return (leaf for _, leaf in placed_leaves(value))


def placed_leaves(value: Any) -> Iterator[tuple[tuple[str | int, ...], Leaf]]:
    """`leaves`, each with its place in the value.

    >>> list(placed_leaves({"a": [1, "x"], "b": None}))
    [(('a', 0), 1), (('a', 1), 'x')]
    """
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    count = 0
    while waiting and count < _MOST_LEAVES:
        place, item = waiting.pop()
        if isinstance(item, Mapping):
            waiting.extend(((*place, str(key)), one) for key, one in reversed(list(item.items())))
        elif isinstance(item, list | tuple):
            waiting.extend(((*place, number), one) for number, one in reversed(list(enumerate(item))))
        elif isinstance(item, str | int | float):
            count += 1
            yield place, item


def _name(text: str) -> str:
    return text.replace("_", " ").strip().casefold()
