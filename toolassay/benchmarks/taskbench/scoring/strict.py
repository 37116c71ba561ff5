"""Strict metrics: n-F1, e-F1, t-F1, v-F1, edit distance (ED), exact match and hallucination rates.

n-F1 is the F1 of nodes, e-F1 of edges, t-F1 of argument names, and v-F1 of argument values. `score_plan`
gives the counts of one item, `scored_rows.ScoredRows` has the numbers of a group.

Nodes are multisets of tool names, so every invented, repeated or omitted node counts. If a tool is called
several times, gold and predicted calls are matched to maximise equal argument values, then equal argument
names, then order. If a tool is called more often than in the gold, every selection of as many calls as the
gold has is compared, and each score takes its lowest result, so that an extra call never helps.
Arguments are compared between matched calls, and references by the matched node they point to. Links are
multisets of (source, target) names: those of the list, and those of references that it lacks. What makes two
calls equal is in `normalised_plan`.

In plans of schema graphs a reference may lead to a part of a result, `<node-0>.results[0].id`. A reference to
the right call with another path is a wrong value, and beside it a right link.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from itertools import starmap
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.evaluation.call_alignment import (
    UNMATCHED,
    matched_calls,
    positions_by_tool,
    resolved,
    selections,
)
from toolassay.graph import ToolGraph
from toolassay.metrics.f1 import MatchCounts, f1, multiset_counts, shared_count
from toolassay.plans.normalised_plan import REFERENCE, Plan, PlanReader
from toolassay.tools.library import ToolLibrary


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

    @property
    def rank(self) -> tuple[float, ...]:
        """By what the best of several right plans is chosen: exact match, F1 of values, edges and nodes."""
        values = self.argument_values or MatchCounts(0, 0, 0)
        return (self.is_exact, *(f1(*counts, empty=1.0) for counts in (values, self.edges, self.nodes)))


def score_plan(gold: Plan, predicted: Plan) -> StrictItem:
    """Compare a predicted plan with the gold plan."""
    gold_positions = positions_by_tool(gold.names)
    calls = positions_by_tool(predicted.names, among=gold_positions)
    right = sum(min(len(positions), len(gold_positions[name])) for name, positions in calls.items())
    items = [
        _compared(gold, predicted, _matched(gold, predicted, gold_positions, usable), right)
        for usable in selections(gold_positions, calls)
    ]
    # Which calls may match changes no total of gold or prediction, so the lowest counts have the lowest F1.
    names = [item.argument_names for item in items if item.argument_names is not None]
    values = [item.argument_values for item in items if item.argument_values is not None]
    return StrictItem(
        items[0].nodes,
        min(item.edges for item in items),
        min(names, default=None),
        min(values, default=None),
        min(item.edit_similarity for item in items),
    )


def _matched(
    gold: Plan, predicted: Plan, gold_positions: dict[str, list[int]], usable: Collection[int]
) -> list[int]:
    """The gold node of each predicted node, or UNMATCHED, if only the `usable` calls may match."""
    if predicted.has_types and any(source not in usable for source, _ in predicted.references):
        # A reference to a call that cannot match has the type "other", as one outside the plan.
        arguments = [
            [("other", value) if _is_lent(value, usable) else (name, value) for name, value in given]
            for given in predicted.arguments or ()
        ]
        predicted = replace(predicted, arguments=arguments)
    return matched_calls(gold, predicted, gold_positions, set(usable))


def _is_lent(value: object, usable: Collection[int]) -> bool:
    reference = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return reference is not None and int(reference[1]) not in usable


def _compared(gold: Plan, predicted: Plan, matched: list[int], right: int) -> StrictItem:
    """The item if calls match so, and `right` of them would count as nodes."""
    wanted = len(gold.names)
    given = len(predicted.names)
    names, values = _argument_counts(gold, predicted, matched)
    own = [name for name, partner in zip(predicted.names, matched, strict=True) if partner != UNMATCHED]
    return StrictItem(
        MatchCounts(right, given - right, wanted - right),
        _edge_counts(gold, predicted, matched),
        names,
        values,
        2 * LCSseq.similarity(gold.names, own) / (wanted + given) if wanted + given else 1.0,
    )


def _argument_counts(
    gold: Plan, predicted: Plan, matched: list[int]
) -> tuple[MatchCounts | None, MatchCounts | None]:
    if gold.arguments is None:
        return None, None
    gold_labels = [f"gold {position}" for position in range(len(gold.names))]
    extra = [f"extra {position}" for position in range(len(predicted.names))]
    labels = [
        extra[position] if own == UNMATCHED else gold_labels[own] for position, own in enumerate(matched)
    ]
    # A reference to an extra call must not earn more than one outside the plan.
    untyped = {f"<{label}>" for label in extra} if predicted.has_types else ()
    shared_names = 0
    shared_values = 0
    for position, own in enumerate(matched if predicted.arguments is not None else ()):
        if own != UNMATCHED:
            wanted = resolved(gold, own, gold_labels)
            given = resolved(predicted, position, labels)
            names = ["other" if value in untyped else name for name, value in given]
            shared_names += shared_count([name for name, _ in wanted], names)
            shared_values += shared_count(wanted, given)
    wanted_total, given_total = (sum(map(len, plan.arguments or ())) for plan in (gold, predicted))
    return (
        MatchCounts(shared_names, given_total - shared_names, wanted_total - shared_names),
        MatchCounts(shared_values, given_total - shared_values, wanted_total - shared_values),
    )


def _edge_counts(gold: Plan, predicted: Plan, matched: list[int]) -> MatchCounts:
    if not predicted.references or UNMATCHED not in matched:
        return multiset_counts(gold.links, predicted.links)
    # A reference from or to a call that matches nothing is a link too many.
    between = [
        (source, target)
        for source, target in predicted.references
        if UNMATCHED not in (matched[source], matched[target])
    ]
    right = shared_count(gold.links, predicted.links_of(between))
    return MatchCounts(right, len(predicted.links) - right, len(gold.links) - right)


class Hallucinations(NamedTuple):
    """The number of invented tools and links of a plan, with the number of all its tools and links."""

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
        self._cached_link_exists = lru_cache(maxsize=100_000)(self._link_exists)

    def count(self, plan: Plan) -> Hallucinations:
        """The inventions of a plan."""
        invented = sum(name not in self._ids for name in plan.names)
        exist = sum(starmap(self._cached_link_exists, plan.links))
        return Hallucinations(invented, len(plan.names), len(plan.links) - exist, len(plan.links))

    def _link_exists(self, source: str, target: str) -> bool:
        if source not in self._ids or target not in self._ids:
            return False
        return self._graph is None or bool(self._graph.link_types(self._ids[source], self._ids[target]))
