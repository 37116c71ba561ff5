"""One item scored strictly: every invention, repetition and omission counts.

Nodes are multisets of tool names. Where a tool is used several times, gold and predicted calls are matched
so that most argument values agree, then most argument names, then in order. Of a tool called more often than
in the gold, only as many calls are compared, and each score takes those that give the least: another call can
never help, wherever it stands. Arguments are compared between matched calls, references by the matched node
they point to. Links are multisets of (source, target) names; links read from references join matched calls.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import comb, prod

from rapidfuzz.distance import LCSseq

from toolassay.benchmarks.taskbench.scoring.strict_plan import REFERENCE, Argument, Plan
from toolassay.metrics.assignment import best_assignment
from toolassay.metrics.counts import Counts, f1, multiset_counts, shared_count

UNMATCHED = -1
_MOST_SELECTIONS = 64


@dataclass(frozen=True, slots=True)
class StrictItem:
    """Counts of one item; the argument counts are None where the gold has no arguments.

    `edit_similarity` is twice the longest common subsequence of tool names over the sum of lengths (the
    InDel similarity), 1 for two empty plans.
    """

    nodes: Counts
    edges: Counts
    argument_names: Counts | None
    argument_values: Counts | None
    edit_similarity: float

    @property
    def is_exact(self) -> bool:
        """Whether the whole plan is right: tools, links, and arguments where the gold has any."""
        parts = (self.nodes, self.edges, self.argument_values or Counts(0, 0, 0))
        return not any(part.false_positives or part.false_negatives for part in parts)


def item_f1(counts: Counts) -> float:
    """The F1 of one item; 1 where gold and prediction are both empty."""
    return f1(*counts, empty=1.0)


def score_plan(gold: Plan, predicted: Plan) -> StrictItem:
    """Compare a predicted plan with the gold."""
    gold_places = _places(gold.names)
    calls = {name: places for name, places in _places(predicted.names).items() if name in gold_places}
    right = sum(min(len(places), len(gold_places[name])) for name, places in calls.items())
    nodes = Counts(right, len(predicted.names) - right, len(gold.names) - right)
    items = [
        _compared(gold, predicted, gold_places, usable, nodes) for usable in _selections(gold_places, calls)
    ]
    return items[0] if len(items) == 1 else _lowest(items)


def _places(names: list[str]) -> dict[str, list[int]]:
    """Where each tool is called."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return places


def _selections(
    gold_places: Mapping[str, list[int]], calls: Mapping[str, list[int]]
) -> list[tuple[int, ...]]:
    """Every choice of as many calls of each tool as the gold has, in plan order.

    Where these are too many, only the choice of no call of the tools that are called too often.
    """
    if all(len(places) <= len(gold_places[name]) for name, places in calls.items()):
        return [tuple(sorted(chain.from_iterable(calls.values())))]
    needed = {name: min(len(places), len(gold_places[name])) for name, places in calls.items()}
    count = prod(comb(len(places), needed[name]) for name, places in calls.items())
    if count > _MOST_SELECTIONS:
        needed = {name: 0 if len(calls[name]) > number else number for name, number in needed.items()}
    choices = (combinations(places, needed[name]) for name, places in calls.items())
    return [tuple(sorted(chain.from_iterable(choice))) for choice in product(*choices)]


def _compared(
    gold: Plan,
    predicted: Plan,
    gold_places: Mapping[str, list[int]],
    usable: Collection[int],
    nodes: Counts,
) -> StrictItem:
    """The item if only the `usable` calls may match."""
    chosen = set(usable)
    if predicted.has_types and len(chosen) < len(predicted.names) and predicted.has_references:
        predicted = _without_types(predicted, chosen)
    matched = _matched(gold, predicted, gold_places, chosen)
    common = LCSseq.similarity(gold.names, [predicted.names[place] for place in usable])
    length = len(gold.names) + len(predicted.names)
    names, values = _argument_counts(gold, predicted, matched)
    similarity = 2 * common / length if length else 1.0
    return StrictItem(nodes, _edge_counts(gold, predicted, matched), names, values, similarity)


def _lowest(items: list[StrictItem]) -> StrictItem:
    """Each score where it is lowest; what was predicted and what was to be found is the same in all."""
    first = items[0]
    names = [item.argument_names for item in items if item.argument_names is not None]
    values = [item.argument_values for item in items if item.argument_values is not None]
    return StrictItem(
        first.nodes,
        min(item.edges for item in items),
        min(names, default=None),
        min(values, default=None),
        min(item.edit_similarity for item in items),
    )


def missing_plan(gold: Plan) -> StrictItem:
    """The item where there is no usable prediction: everything in the gold is missed."""
    edges = gold.references if gold.links is None else gold.links
    arguments = None if gold.arguments is None else Counts(0, 0, sum(map(len, gold.arguments)))
    return StrictItem(Counts(0, 0, len(gold.names)), Counts(0, 0, len(edges)), arguments, arguments, 0.0)


def _matched(
    gold: Plan, predicted: Plan, gold_places: Mapping[str, list[int]], usable: Collection[int]
) -> list[int]:
    """The gold node of each predicted node, or UNMATCHED."""
    matched = [UNMATCHED] * len(predicted.names)
    repeated: dict[str, list[int]] = {}
    for place in sorted(usable):
        name = predicted.names[place]
        if len(gold_places[name]) == 1:
            matched[place] = gold_places[name][0]
        else:
            repeated.setdefault(name, []).append(place)
    for name, places in repeated.items():
        rows = best_assignment(_gains(gold, predicted, gold_places[name], places, usable))
        for place, row in zip(places, rows, strict=True):
            matched[place] = gold_places[name][row]
    return matched


def _gains(
    gold: Plan,
    predicted: Plan,
    gold_places: list[int],
    predicted_places: list[int],
    usable: Collection[int],
) -> list[list[float]]:
    """What matching two calls of a tool is worth: values shared, then names, then nearness in order.

    References count by the name of the node they point to; those out of the plan count nothing, for a call
    more may put them into it.
    """
    gold_labels = [f"({name})" for name in gold.names]
    labels = [f"({name})" if place in usable else "extra" for place, name in enumerate(predicted.names)]
    gold_arguments = [_resolved(gold, place, gold_labels, outside="nowhere") for place in gold_places]
    predicted_arguments = [_resolved(predicted, place, labels, outside="extra") for place in predicted_places]
    weight = 1 + sum(map(len, gold_arguments))
    order = 1 + len(gold_places) ** 2
    return [
        [
            (shared_count(wanted, given) * weight + shared_count(_names(wanted), _names(given))) * order
            - abs(row - column)
            for column, given in enumerate(predicted_arguments)
        ]
        for row, wanted in enumerate(gold_arguments)
    ]


def _names(arguments: list[Argument]) -> list[object]:
    return [name for name, _ in arguments]


def _without_types(plan: Plan, usable: Collection[int]) -> Plan:
    """The plan with every reference to a call that cannot match typed "other", like one out of the plan."""

    def is_lent(value: object) -> bool:
        found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return found is not None and int(found[1]) not in usable

    arguments = [
        [("other", value) if is_lent(value) else (name, value) for name, value in given]
        for given in plan.arguments or ()
    ]
    return replace(plan, arguments=arguments)


def _resolved(plan: Plan, place: int, labels: list[str], *, outside: str | None = None) -> list[Argument]:
    """The arguments of a node, its references replaced by the labels of the nodes they point to.

    `outside` is the label of any place out of the plan; None gives each its own.
    """
    arguments = plan.arguments[place] if plan.arguments is not None else []
    if not plan.has_references:
        return arguments
    return [
        (name, REFERENCE.sub(lambda found: _label(found[1], labels, outside), value))
        if isinstance(value, str) and "<node-" in value
        else (name, value)
        for name, value in arguments
    ]


def _label(digits: str, labels: list[str], outside: str | None) -> str:
    place = int(digits)
    return f"<{labels[place]}>" if place < len(labels) else f"<{outside or f'outside {place}'}>"


def _argument_counts(gold: Plan, predicted: Plan, matched: list[int]) -> tuple[Counts | None, Counts | None]:
    if gold.arguments is None:
        return None, None
    gold_labels = [str(place) for place in range(len(gold.names))]
    labels = [f"extra {place}" if own == UNMATCHED else str(own) for place, own in enumerate(matched)]
    shared_names = shared_values = 0
    for place, own in enumerate(matched):
        if own != UNMATCHED:
            wanted, given = _resolved(gold, own, gold_labels), _resolved(predicted, place, labels)
            shared_names += shared_count(_names(wanted), _names(given))
            shared_values += shared_count(wanted, given)
    wanted_total = sum(map(len, gold.arguments))
    given_total = sum(map(len, predicted.arguments or ()))
    return (
        Counts(shared_names, given_total - shared_names, wanted_total - shared_names),
        Counts(shared_values, given_total - shared_values, wanted_total - shared_values),
    )


def _edge_counts(gold: Plan, predicted: Plan, matched: list[int]) -> Counts:
    if gold.links is None and predicted.links is None:
        wanted = gold.references
        given = [(matched[source], matched[target]) for source, target in predicted.references]
        return multiset_counts(wanted, given)
    gold_pairs: list[tuple[str, str]] = gold.links or []
    if gold.links is None:
        gold_pairs = [(gold.names[source], gold.names[target]) for source, target in gold.references]
    if predicted.links is not None:
        return multiset_counts(gold_pairs, predicted.links)
    pairs = [
        (predicted.names[source], predicted.names[target])
        for source, target in predicted.references
        if UNMATCHED not in (matched[source], matched[target])
    ]
    counts = multiset_counts(gold_pairs, pairs)
    unmatched = len(predicted.references) - len(pairs)
    return counts + Counts(0, unmatched, 0)
