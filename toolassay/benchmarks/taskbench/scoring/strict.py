"""Strict metrics: n-F1, e-F1, t-F1, v-F1, edit distance (ED), exact match and hallucination rates.

n-F1 is the F1 of nodes, e-F1 of edges, t-F1 of argument names, and v-F1 of argument values. `score_plan`
gives the counts of one item, `strict_table.StrictTable` has the numbers of a group.

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

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import starmap
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.evaluation.call_alignment import (
    UNMATCHED,
    matched_calls,
    places_of,
    selections,
)
from toolassay.graph import ToolGraph
from toolassay.metrics.f1 import MatchCounts, f1, match_counts, multiset_counts, shared_count
from toolassay.normalised_plan import REFERENCE, Argument, Plan, PlanReader
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
    own_of = {name: place for place, name in enumerate(gold.names)}
    if len(own_of) == len(gold.names) and len(set(predicted.names)) == len(predicted.names):
        # Most plans: no tool is called twice, so that the calls match by name.
        matched = [own_of.get(name, UNMATCHED) for name in predicted.names]
        return _compared(gold, predicted, matched, len(matched) - matched.count(UNMATCHED))
    gold_places = places_of(gold.names)
    calls = places_of(predicted.names, among=gold_places)
    right = sum(min(len(places), len(gold_places[name])) for name, places in calls.items())
    items = [
        _compared(gold, predicted, _matched(gold, predicted, gold_places, usable), right)
        for usable in selections(gold_places, calls)
    ]
    return items[0] if len(items) == 1 else _lowest(items)


def _matched(
    gold: Plan, predicted: Plan, gold_places: Mapping[str, list[int]], usable: Collection[int]
) -> list[int]:
    """The gold node of each predicted node, or UNMATCHED, if only the `usable` calls may match."""
    if len(usable) < len(predicted.names):
        usable = set(usable)
        if predicted.has_types and predicted.has_references:
            predicted = _without_types(predicted, usable)
    return matched_calls(gold, predicted, gold_places, usable)


def _compared(gold: Plan, predicted: Plan, matched: list[int], right: int) -> StrictItem:
    """The item if calls match so, and `right` of them would count as nodes."""
    wanted, given = len(gold.names), len(predicted.names)
    names, values = _argument_counts(gold, predicted, matched)
    return StrictItem(
        match_counts(right, given - right, wanted - right),
        _edge_counts(gold, predicted, matched),
        names,
        values,
        2 * _common_length(gold, predicted, matched) / (wanted + given) if wanted + given else 1.0,
    )


def _common_length(gold: Plan, predicted: Plan, matched: list[int]) -> int:
    """The length of the longest common subsequence of the names of the gold and of the matched calls."""
    own = [place for place in matched if place != UNMATCHED]
    if own == sorted(own):
        return len(own)
    names = [name for name, place in zip(predicted.names, matched, strict=True) if place != UNMATCHED]
    return LCSseq.similarity(gold.names, names)


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
    missed = None if arguments is None else match_counts(0, 0, arguments)
    return StrictItem(match_counts(0, 0, nodes), match_counts(0, 0, edges), missed, missed, 0.0)


def exact_item(gold: Plan) -> StrictItem:
    """The item of a prediction that equals the gold plan."""
    nodes, edges, arguments = _sizes(gold)
    right = None if arguments is None else match_counts(arguments, 0, 0)
    return StrictItem(match_counts(nodes, 0, 0), match_counts(edges, 0, 0), right, right, 1.0)


def _sizes(plan: Plan) -> tuple[int, int, int | None]:
    """The number of nodes, links and arguments; None without any arguments."""
    return len(plan.names), len(plan.links), None if plan.arguments is None else sum(map(len, plan.arguments))


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
    with_references = gold.has_references or predicted.has_references
    own = _own_targets(len(gold.names)) if with_references else {}
    targets = _targets(matched) if with_references else {}
    shared_names = shared_values = 0
    for given, place in zip(predicted.arguments or (), matched, strict=False):
        if place == UNMATCHED or not given or not (wanted := gold.arguments[place]):
            continue
        if with_references:
            wanted, given = _located(wanted, own), _located(given, targets)
        if wanted == given:
            shared_names += len(wanted)
            shared_values += len(wanted)
            continue
        names: list[object] = [name for name, _ in given]
        if with_references and predicted.has_types:
            # A reference to an extra call must not earn more than one outside the plan.
            names = ["other" if _is_extra(value) else name for name, value in given]
        shared_names += shared_count([name for name, _ in wanted], names)
        shared_values += shared_count(wanted, given)
    wanted_total = sum(map(len, gold.arguments))
    given_total = sum(map(len, predicted.arguments or ()))
    return (
        match_counts(shared_names, given_total - shared_names, wanted_total - shared_names),
        match_counts(shared_values, given_total - shared_values, wanted_total - shared_values),
    )


Target = tuple[int, ...]
"""What a reference leads to: the number of a gold node, or UNMATCHED and the number of an extra call."""


def _targets(matched: Sequence[int]) -> dict[str, Target]:
    """The target of a reference to each node.

    >>> _targets([1, UNMATCHED])
    {'<node-0>': (1,), '<node-1>': (-1, 1)}
    """
    return {
        f"<node-{place}>": (own,) if own != UNMATCHED else (UNMATCHED, place)
        for place, own in enumerate(matched)
    }


@lru_cache
def _own_targets(size: int) -> dict[str, Target]:
    return _targets(range(size))


def _located(arguments: list[Argument], targets: Mapping[str, Target]) -> list[Argument]:
    """Arguments with targets for references."""
    return [
        (name, targets.get(value) or _rewritten(value, targets))
        if type(value) is str and "<node-" in value
        else (name, value)
        for name, value in arguments
    ]


def _rewritten(value: str, targets: Mapping[str, Target]) -> Hashable:
    """A reference in another spelling, or a text with references in it."""

    def target(found: re.Match[str]) -> Target | str:
        place = int(found[1])
        return targets.get(f"<node-{place}>", f"outside {place}")

    whole = REFERENCE.fullmatch(value)
    return target(whole) if whole else REFERENCE.sub(lambda found: f"<{target(found)}>", value)


def _is_extra(value: object) -> bool:
    return type(value) is tuple and value[0] == UNMATCHED


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
    return match_counts(right, len(predicted.links) - right, len(gold.links) - right)


class Hallucinations(NamedTuple):
    """The number of invented tools and links of a plan, with the number of all its tools and links.

    >>> Hallucinations(1, 3, 0, 2).invented_tools
    1
    """

    invented_tools: int = 0
    tools: int = 0
    invented_links: int = 0
    links: int = 0


_hallucinations = lru_cache(maxsize=10_000)(Hallucinations)  # most plans have the same few numbers


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
        invented = len([name for name in plan.names if name not in self._ids])
        exist = sum(starmap(self._cached_link_exists, plan.links))
        return _hallucinations(invented, len(plan.names), len(plan.links) - exist, len(plan.links))

    def _link_exists(self, source: str, target: str) -> bool:
        if source not in self._ids or target not in self._ids:
            return False
        if self._graph is None:
            return True
        return bool(self._graph.link_types(self._ids[source], self._ids[target]))
