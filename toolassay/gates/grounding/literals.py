"""The literals of a plan: every value that is no reference to another call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolassay.gold import Gold, GoldNode
from toolassay.output_paths import parse_reference

Leaf = str | int | float | bool
REFERENCE = re.compile(r"<node-(\d+)>")
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


def earlier_nodes(gold: Gold, node: GoldNode) -> list[GoldNode]:
    """The nodes whose output a node may use: earlier ones and those it depends on, but none that needs it."""
    feeds: dict[int, set[int]] = {}
    by_tool: dict[str, list[int]] = {}
    for other in gold.nodes:
        by_tool.setdefault(other.tool, []).append(other.place)
        for leaf in leaves(list(other.arguments or ())):
            if isinstance(leaf, str):
                found = [int(number) for number in REFERENCE.findall(leaf) if len(number) < 9]
                feeds.setdefault(other.place, set()).update(found)
    for giver, taker in gold.links:
        if len(by_tool.get(giver, ())) == len(by_tool.get(taker, ())) == 1:
            feeds.setdefault(by_tool[taker][0], set()).add(by_tool[giver][0])
    before = _reached(node.place, feeds)
    needs: dict[int, set[int]] = {}
    for target, sources in feeds.items():
        for source_place in sources:
            needs.setdefault(source_place, set()).add(target)
    after = _reached(node.place, needs) - before
    return [
        other
        for other in gold.nodes
        if other.place != node.place
        and (other.place in before or (other.place < node.place and other.place not in after))
    ]


def _reached(start: int, ways: Mapping[int, set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        for place in ways.get(waiting.pop(), ()):
            if place not in found:
                found.add(place)
                waiting.append(place)
    return found


def _name(text: str) -> str:
    return text.replace("_", " ").strip().casefold()
