"""Strict metrics: n-F1, e-F1, t-F1, v-F1, edit distance (ED), exact match and hallucination rates.

n-F1 is the F1 of nodes, e-F1 of edges, t-F1 of argument names, and v-F1 of argument values. `score_plan`
gives the counts of one item, `strict_table.StrictTable` has the numbers of a group.

Nodes are multisets of tool names, so every invented, repeated or omitted node counts. If a tool is called
several times, gold and predicted calls are matched to maximise equal argument values, then equal argument
names, then order. If a tool is called more often than in the gold, every selection of as many calls as the
gold has is compared, and each score takes its lowest result, so that an extra call never helps.
Arguments are compared between matched calls, and references by the matched node they point to. Links are
multisets of (source, target) names; links derived from references connect matched calls.

In plans of schema graphs a reference may lead to a part of a result, `<node-0>.results[0].id`. A reference to
the right call with another path is a wrong value, and beside it a right link.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import starmap
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.evaluation.call_alignment import (
    UNMATCHED,
    matched_calls,
    places_of,
    resolved,
    selections,
)
from toolassay.graph import ToolGraph
from toolassay.metrics.f1 import MatchCounts, f1, multiset_counts, shared_count
from toolassay.normalised_plan import REFERENCE, Plan, PlanReader
from toolassay.tools import ToolLibrary


class StrictItem(NamedTuple):
    """The counts of one item. The argument counts are None if the gold has no arguments.

    `edit_similarity` is the InDel similarity of the sequences of tool names: twice the length of their
    longest common subsequence over the sum of their lengths, 1 for two empty plans.
    """

    nodes: MatchCounts
    edges: MatchCounts
    argument_names: MatchCounts | None
    argument_values: MatchCounts | None
    edit_similarity: float

    @property
    def is_exact(self) -> bool:
        """Whether tools, links, and arguments if the gold has any, are all equal."""
        parts = (self.nodes, self.edges, self.argument_values or MatchCounts(0, 0, 0))
        return not any(part.false_positives or part.false_negatives for part in parts)


def item_f1(counts: MatchCounts) -> float:
    """The F1 of one item; 1 if gold and prediction are both empty."""
    return f1(*counts, empty=1.0)


def score_plan(gold: Plan, predicted: Plan) -> StrictItem:
    """Compare a predicted plan with the gold plan."""
    if predicted is gold:
        return exact_item(gold)
    gold_places = places_of(gold.names)
    if len(set(predicted.names)) == len(predicted.names):  # most plans: one selection, at most one call each
        usable = [place for place, name in enumerate(predicted.names) if name in gold_places]
        extra, absent = len(predicted.names) - len(usable), len(gold.names) - len(usable)
        return _compared(gold, predicted, gold_places, usable, MatchCounts(len(usable), extra, absent))
    calls = places_of(predicted.names, among=gold_places)
    right = sum(min(len(places), len(gold_places[name])) for name, places in calls.items())
    nodes = MatchCounts(right, len(predicted.names) - right, len(gold.names) - right)
    items = [
        _compared(gold, predicted, gold_places, usable, nodes) for usable in selections(gold_places, calls)
    ]
    return items[0] if len(items) == 1 else _lowest(items)


def _compared(
    gold: Plan,
    predicted: Plan,
    gold_places: Mapping[str, list[int]],
    usable: Collection[int],
    nodes: MatchCounts,
) -> StrictItem:
    """The item if only the `usable` calls may match."""
    chosen = usable if len(usable) == len(predicted.names) else set(usable)
    # A reference to an extra call must not earn more than one outside the plan, so it gets the same type.
    if predicted.has_types and len(chosen) < len(predicted.names) and predicted.has_references:
        predicted = _without_types(predicted, chosen)
    matched = matched_calls(gold, predicted, gold_places, chosen)
    common = _common_length(gold.names, [predicted.names[place] for place in usable])
    length = len(gold.names) + len(predicted.names)
    names, values = _argument_counts(gold, predicted, matched)
    similarity = 2 * common / length if length else 1.0
    return StrictItem(nodes, _edge_counts(gold, predicted, matched), names, values, similarity)


def _common_length(gold: list[str], predicted: list[str]) -> int:
    """The length of the longest common subsequence of two lists of names."""
    if gold == predicted:
        return len(gold)
    return LCSseq.similarity(gold, predicted) if len(predicted) > 1 else len(predicted)


def _lowest(items: list[StrictItem]) -> StrictItem:
    """The lowest value of each score. The totals of gold and prediction are the same in all items."""
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
    """The item of a label without a usable prediction: everything in the gold is missed."""
    nodes, edges, arguments = _sizes(gold)
    missed = None if arguments is None else MatchCounts(0, 0, arguments)
    return StrictItem(MatchCounts(0, 0, nodes), MatchCounts(0, 0, edges), missed, missed, 0.0)


def exact_item(gold: Plan) -> StrictItem:
    """The item of a prediction that equals the gold plan."""
    nodes, edges, arguments = _sizes(gold)
    right = None if arguments is None else MatchCounts(arguments, 0, 0)
    return StrictItem(MatchCounts(nodes, 0, 0), MatchCounts(edges, 0, 0), right, right, 1.0)


def _sizes(plan: Plan) -> tuple[int, int, int | None]:
    """The number of nodes, links and arguments; None without any arguments."""
    links = plan.references if plan.links is None else plan.links
    return len(plan.names), len(links), None if plan.arguments is None else sum(map(len, plan.arguments))


def _without_types(plan: Plan, usable: Collection[int]) -> Plan:
    """The plan with the type "other" for each reference to a call that cannot match, as for one outside the
    plan.
    """

    def is_lent(value: object) -> bool:
        found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return found is not None and int(found[1]) not in usable

    arguments = [
        [("other", value) if is_lent(value) else (name, value) for name, value in given]
        for given in plan.arguments or ()
    ]
    return replace(plan, arguments=arguments)


def _argument_counts(
    gold: Plan, predicted: Plan, matched: list[int]
) -> tuple[MatchCounts | None, MatchCounts | None]:
    if gold.arguments is None:
        return None, None
    has_references = gold.has_references or predicted.has_references
    gold_labels = [str(place) for place in range(len(gold.names))]
    labels = [f"extra {place}" if own == UNMATCHED else str(own) for place, own in enumerate(matched)]
    # Where every call has its place of the gold, equal references are to the same call.
    if gold_labels == labels and gold.arguments == predicted.arguments:
        has_references = False
    shared_names = shared_values = 0
    for place, (given, own) in enumerate(zip(predicted.arguments or (), matched, strict=False)):
        if own == UNMATCHED or not given or not (wanted := gold.arguments[own]):
            continue
        if has_references:
            wanted, given = resolved(gold, own, gold_labels), resolved(predicted, place, labels)
        if wanted == given:
            shared_names += len(wanted)
            shared_values += len(wanted)
        else:
            shared_names += shared_count([name for name, _ in wanted], [name for name, _ in given])
            shared_values += shared_count(wanted, given)
    wanted_total = sum(map(len, gold.arguments))
    given_total = sum(map(len, predicted.arguments or ()))
    return (
        MatchCounts(shared_names, given_total - shared_names, wanted_total - shared_names),
        MatchCounts(shared_values, given_total - shared_values, wanted_total - shared_values),
    )


def _edge_counts(gold: Plan, predicted: Plan, matched: list[int]) -> MatchCounts:
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
    return counts + MatchCounts(0, unmatched, 0)


class Hallucinations(NamedTuple):
    """The number of invented tools and links of a plan, with the number of all its tools and links.

    >>> Hallucinations(1, 3, 0, 2).invented_tools
    1
    """

    invented_tools: int = 0
    tools: int = 0
    invented_links: int = 0
    links: int = 0


class HallucinationCounter:
    """Counts the inventions of plans that `reader` parsed.

    A link is invented if either of its tools is, or if the tool graph has no such link; without a graph only
    the tools decide. (Node and edge hallucination of GNN4TaskPlan, Wu et al., 2024.)
    """

    def __init__(self, library: ToolLibrary, graph: ToolGraph | None, reader: PlanReader) -> None:
        self._ids = {reader.name(tool): tool for tool in library.ids}
        self._graph = graph
        self._exists = lru_cache(maxsize=100_000)(self._link_exists)

    def count(self, plan: Plan) -> Hallucinations:
        """The inventions of a plan. If it has no list of links, its references count as links."""
        pairs = plan.links
        if pairs is None:
            pairs = [(plan.names[source], plan.names[target]) for source, target in plan.references]
        return Hallucinations(
            len([name for name in plan.names if name not in self._ids]),
            len(plan.names),
            len(pairs) - sum(starmap(self._exists, pairs)),
            len(pairs),
        )

    def _link_exists(self, source: str, target: str) -> bool:
        if source not in self._ids or target not in self._ids:
            return False
        if self._graph is None:
            return True
        return bool(self._graph.link_types(self._ids[source], self._ids[target]))
