"""Which call of a plan corresponds to which call of the gold plan, for strict scores and second opinions.

If a tool is called several times, gold and predicted calls are matched to maximise equal argument values,
then equal argument names, then order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain, combinations, product
from math import comb, prod

from toolassay.metrics.f1 import best_assignment, shared_count
from toolassay.plans.normalised_plan import REFERENCE, Argument, Plan

# In place of a position: no position is negative, so it can be in an array of positions.
UNMATCHED = -1
_MOST_SELECTIONS = 64  # bounds the combinatorial number of comparisons per item


def positions_by_tool(names: list[str], *, among: Collection[str] | None = None) -> dict[str, list[int]]:
    """The positions at which each tool is called; `among` restricts the tools."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        if name in positions:
            positions[name].append(position)
        elif among is None or name in among:
            positions[name] = [position]
    return positions


def selections(gold_places: Mapping[str, list[int]], calls: Mapping[str, list[int]]) -> list[tuple[int, ...]]:
    """Every selection of as many calls of each tool as the gold has, in plan order.

    If there are more than `_MOST_SELECTIONS`, the only selection contains no call of a tool that is called
    too often.
    """
    if all(len(positions) <= len(gold_places[name]) for name, positions in calls.items()):
        return [tuple(sorted(chain.from_iterable(calls.values())))]
    needed_counts = {name: min(len(positions), len(gold_places[name])) for name, positions in calls.items()}
    count = prod(comb(len(positions), needed_counts[name]) for name, positions in calls.items())
    if count > _MOST_SELECTIONS:
        needed_counts = {
            name: 0 if len(calls[name]) > number else number for name, number in needed_counts.items()
        }
    choices = (combinations(positions, needed_counts[name]) for name, positions in calls.items())
    return [tuple(sorted(chain.from_iterable(choice))) for choice in product(*choices)]


def matched_calls(
    gold: Plan, predicted: Plan, gold_places: Mapping[str, list[int]], usable: Collection[int]
) -> list[int]:
    """The gold node of each predicted node, or UNMATCHED."""
    matched = [UNMATCHED] * len(predicted.names)
    repeated: dict[str, list[int]] = {}
    for position in sorted(usable):
        name = predicted.names[position]
        gold_positions = gold_places[name]
        if len(gold_positions) == 1:
            matched[position] = gold_positions[0]
        else:
            repeated.setdefault(name, []).append(position)
    # References are compared by the name of the node they point to. Those outside the plan never match,
    # because an additional call could move them into it.
    gold_labels = [f"({name})" for name in gold.names]
    labels = [f"({name})" if position in usable else "extra" for position, name in enumerate(predicted.names)]
    for name, positions in repeated.items():
        gold_positions = gold_places[name]
        gold_arguments = [
            resolved(gold, position, gold_labels, outside="nowhere") for position in gold_positions
        ]
        arguments = [resolved(predicted, position, labels, outside="extra") for position in positions]
        # The value of matching two calls of a tool: shared values first, then shared names, then order.
        weight = 1 + sum(map(len, gold_arguments))
        order = 1 + len(gold_positions) ** 2
        gains = [
            [
                (shared_count(expected, actual) * weight + shared_count(names_of(expected), names_of(actual)))
                * order
                - abs(row - column)
                for column, actual in enumerate(arguments)
            ]
            for row, expected in enumerate(gold_arguments)
        ]
        for position, row in zip(positions, best_assignment(gains), strict=True):
            matched[position] = gold_places[name][row]
    return matched


def names_of(arguments: list[Argument]) -> list[object]:
    return [name for name, _ in arguments]


def resolved(plan: Plan, position: int, labels: list[str], *, outside: str | None = None) -> list[Argument]:
    """The arguments of a node, with references replaced by the labels of the nodes they point to.

    `outside` is the label of every position outside the plan; None gives each position its own.
    """
    arguments = plan.arguments[position] if plan.arguments is not None else []
    if not plan.has_references:
        return arguments
    return [
        (name, REFERENCE.sub(lambda reference: _label(reference[1], labels, outside), value))
        if isinstance(value, str) and "<node-" in value
        else (name, value)
        for name, value in arguments
    ]


def _label(digits: str, labels: list[str], outside: str | None) -> str:
    position = int(digits)
    return f"<{labels[position]}>" if position < len(labels) else f"<{outside or f'outside {position}'}>"
