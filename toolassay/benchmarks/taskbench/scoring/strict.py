"""Strict metrics: n-F1, e-F1, t-F1, v-F1, edit distance (ED), exact match and hallucination rates.

n-F1 is the F1 of nodes, e-F1 of edges, t-F1 of argument names, and v-F1 of argument values. `score_plan`
gives the counts of one item, `StrictTable` the numbers of a group with bootstrap intervals.

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

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, starmap
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from rapidfuzz.distance import LCSseq

from toolassay.benchmarks.taskbench.scoring.columns import CodedTexts, moved
from toolassay.evaluation.call_alignment import (
    UNMATCHED,
    matched_calls,
    places_of,
    resolved,
    selections,
)
from toolassay.evaluation.groups import METRICS
from toolassay.graph import ToolGraph
from toolassay.metrics.f1 import MatchCounts, f1, multiset_counts, shared_count
from toolassay.normalised_plan import REFERENCE, Plan, PlanReader
from toolassay.runs.outcomes import EXCLUDED, asked_counts, is_scored
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.step_scores import TextScores
    from toolassay.evaluation.line_index import CompactTexts


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


NO_PAIR, NO_GOLD_STEPS = -1, -2
COUNTS = ("nodes", "edges", "argument_names", "argument_values")
PLAN_SCORES = (
    "node_f1",
    "edge_f1",
    "argument_name_f1",
    "argument_value_f1",
    "exact_match",
    "edit_similarity",
)
ROUGE_SCORES = ("rouge1", "rouge2", "rougeL")
BERTSCORE = "bertscore_f1"
RATES = ("tool_hallucination_rate", "link_hallucination_rate")
SCORES = (*PLAN_SCORES, *ROUGE_SCORES, BERTSCORE)
_POOLED = PLAN_SCORES[:4]
RESERVED = frozenset(
    (
        *("all", *METRICS, *SCORES, *RATES, *(f"{name}_pooled" for name in _POOLED)),
        *("n_labels", "n_asked", "n_scored", "partial", "coverage"),
        *("n_expected", "outcomes", "compat_links", "compat_intervals", "signature"),
    )
)
"""Names that a metric of another package must not use."""
# Each score needs any of these metrics; f1 and argument each compute both scores, as published.
_METRICS_OF = {
    "node_f1": ("f1", "argument"),
    "edge_f1": ("link",),
    "argument_name_f1": ("f1", "argument"),
    "argument_value_f1": ("f1", "argument"),
    "edit_similarity": ("ed",),
    "tool_hallucination_rate": ("f1", "argument"),
    "link_hallucination_rate": ("link",),
}
# The columns of counts: three for each of COUNTS, then the inventions.
_FIRST_HALLUCINATION = 3 * len(COUNTS)
_COLUMNS = _FIRST_HALLUCINATION + len(Hallucinations._fields)
_HALLUCINATION_COLUMNS = range(_FIRST_HALLUCINATION, _COLUMNS, 2)
_NO_COUNTS = MatchCounts(0, 0, 0)
_ANSWERED = "answered"
_WORD = 2**64 - 1
_ITEMS_AT_ONCE = 10_000  # rows whose scores are Python objects at a time


class StrictRow(NamedTuple):
    """One scored label.

    Attributes:
        line: its line in the label file.
        shape: of the gold plan.
        size: number of nodes of the gold plan.
        outcome: of the request; anything but "answered" scores 0 or is excluded (`runs.outcomes`).
        item: its counts.
        inventions: hallucinations of the prediction.
        pair: the number of its pair of steps; NO_PAIR scores 0, NO_GOLD_STEPS is left out of text metrics.
        cluster: a number shared by all labels of the same sampled subgraph.
        extra: the scores of the installed metrics; NaN for none.
        compat: its row in the table of published counts, -1 if it has none.
    """

    line: int
    shape: str
    size: int
    outcome: str
    item: StrictItem
    inventions: Hallucinations
    pair: int
    cluster: int
    extra: list[float]
    compat: int = -1


def cluster_of(label: Mapping[str, Any]) -> int:
    """A number shared by all labels of the same sampled subgraph; unique if the subgraph is unknown.

    >>> a = {"id": 1, "sampled_nodes": [{"task": "x"}], "sampled_links": []}
    >>> cluster_of(a) == cluster_of({**a, "id": 2}), cluster_of({"id": 1}) == cluster_of({"id": 2})
    (True, False)
    """
    nodes = label.get("sampled_nodes")
    known = str((nodes, label.get("sampled_links")) if nodes else label.get("id"))
    digest = hashlib.blake2b(known.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class StrictTable:
    """One row per scored label. Every number of a group is a mean or a ratio of sums over its rows.

    Args:
        extra: the names of the installed metrics.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.extra = tuple(extra)
        self._lines = array("q")
        self._counts = array("i")
        self._has_arguments = bytearray()
        self._similarities = array("d")
        self._extra = array("d")
        self._groups = array("Q")
        self._pairs = array("i")
        self._clusters = array("q")
        self._sizes = array("i")
        self._compat = array("i")
        self._shapes, self._outcomes = CodedTexts(), CodedTexts()
        self._scores_of: dict[str, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, row: StrictRow, groups: int) -> None:
        """Add an item to the groups in the bit mask."""
        nodes, edges, names, values, similarity = row.item
        self._lines.append(row.line)
        self._shapes.append(row.shape)
        self._outcomes.append(row.outcome)
        self._sizes.append(row.size)
        self._groups.append(groups)
        self._pairs.append(row.pair)
        self._clusters.append(row.cluster)
        self._compat.append(row.compat)
        self._extra.fromlist(row.extra)
        self._has_arguments.append(names is not None)
        self._similarities.append(similarity)
        counts = [*nodes, *edges, *(names or _NO_COUNTS), *(values or _NO_COUNTS), *row.inventions]
        self._counts.fromlist(counts)

    def extend(self, other: StrictTable, *, first_pair: int, first_compat: int) -> None:
        """Append the rows of a table whose pairs and compat rows are numbered from 0."""
        for name in (
            "_lines",
            "_counts",
            "_has_arguments",
            "_similarities",
            "_extra",
            "_groups",
            "_clusters",
        ):
            getattr(self, name).extend(getattr(other, name))
        self._sizes.extend(other._sizes)
        self._shapes.extend(other._shapes)
        self._outcomes.extend(other._outcomes)
        self._pairs.extend(moved(other._pairs, first_pair))
        self._compat.extend(moved(other._compat, first_compat))

    def set_compat(self, line: int, row: int) -> None:
        """Set the row in the table of published counts for the item of a line, if this table has it."""
        place = bisect_left(self._lines, line)
        if place < len(self._lines) and self._lines[place] == line:
            self._compat[place] = row

    def numbers(
        self, group: int, metrics: Collection[str], texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, Any]:
        """The strict numbers of one group; null for a metric that was not selected.

        Args:
            group: its bit number.
            metrics: the selected metrics; the exact match is always computed.
            texts: the scores of the numbered pairs of steps.
            resamples: bootstrap resamples for the 95 % intervals; 0 for no intervals.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.confidence_interval import NOTHING, Ratio, ratio_intervals

        groups = np.frombuffer(self._groups, dtype=np.uint64) if self._groups else np.empty(0, np.uint64)
        labelled = np.flatnonzero(groups >> np.uint64(group) & np.uint64(1))
        counts = self._all_counts()
        outcomes = self._outcomes.counts(labelled)
        chosen = labelled
        if any(name in EXCLUDED for name in outcomes):
            chosen = labelled[self._outcomes.select(labelled, is_scored)]
        names = self._names(metrics, texts)
        ratios = chain(
            (Ratio.mean(self._scores(name, texts)[chosen]) for name in names),
            (
                Ratio(counts[chosen, at].astype(np.float64), counts[chosen, at + 1].astype(np.float64))
                for at in _HALLUCINATION_COLUMNS
            ),
        )
        intervals = ratio_intervals(
            ratios, clusters=np.asarray(self._clusters)[chosen], resamples=resamples, seed=seed
        )
        found = dict(zip((*names, *RATES), intervals, strict=True))
        numbers: dict[str, Any] = {
            **asked_counts(outcomes),
            "n_expected": len(chosen),
            "outcomes": {name: count for name, count in sorted(outcomes.items()) if count},
        }
        for name in (*SCORES, *RATES, *self.extra):
            interval = found.get(name, NOTHING) if _is_asked(name, metrics) else NOTHING
            numbers[name] = interval.to_json()
        for part, name in enumerate(_POOLED):
            is_known = numbers[name]["value"] is not None
            sums = [float(counts[chosen, 3 * part + kind].sum()) for kind in range(3)]
            numbers[f"{name}_pooled"] = f1(*sums, empty=1.0) if is_known else None
        return numbers

    def _names(self, metrics: Collection[str], texts: TextScores) -> tuple[str, ...]:
        """The scores that are means over items and can be computed."""
        with_bertscore = "bertscore" in metrics and texts.bertscore is not None
        return (
            *PLAN_SCORES,
            *(ROUGE_SCORES if "rouge" in metrics else ()),
            *((BERTSCORE,) if with_bertscore else ()),
            *self.extra,
        )

    def _all_counts(self) -> NDArray[np.int32]:
        """Shape (rows, columns), without a copy."""
        import numpy as np

        return np.frombuffer(self._counts or b"", dtype=np.int32).reshape(-1, _COLUMNS)

    def _scores(self, name: str, texts: TextScores) -> NDArray[np.float64]:
        """One score of every row, shape (rows,); NaN for items without it. Computed once."""
        if name not in self._scores_of:
            self._scores_of[name] = self._computed(name, texts)
        return self._scores_of[name]

    def _computed(self, name: str, texts: TextScores) -> NDArray[np.float64]:
        import numpy as np

        if name in self.extra:
            return np.asarray(self._extra).reshape(-1, len(self.extra))[:, self.extra.index(name)]
        if name in PLAN_SCORES:
            scores = self._plan_score(name)
            scores[~self._outcomes.select(slice(None), _ANSWERED.__eq__)] = 0.0
            if name.startswith("argument"):
                scores[~np.frombuffer(bytes(self._has_arguments), dtype=bool)] = np.nan
            return scores
        if name in ROUGE_SCORES:
            column = texts.rouge[:, ROUGE_SCORES.index(name)]
        else:
            assert texts.bertscore is not None
            column = texts.bertscore[:, 2]
        pairs = np.asarray(self._pairs, dtype=np.int64)
        scores = np.zeros(len(pairs))
        scores[pairs == NO_GOLD_STEPS] = np.nan
        scores[pairs >= 0] = column[pairs[pairs >= 0]]
        return scores

    def _plan_score(self, name: str) -> NDArray[np.float64]:
        """A score of PLAN_SCORES of every row, as if each were answered and had arguments."""
        import numpy as np

        counts = self._all_counts()
        if name == "edit_similarity":
            return np.array(self._similarities, dtype=np.float64)
        if name == "exact_match":
            wrong = counts[:, [place + kind for place in (0, 3, 9) for kind in (1, 2)]]
            return np.where(wrong.any(axis=1), 0.0, 1.0)
        at = 3 * PLAN_SCORES.index(name)
        right = 2 * counts[:, at].astype(np.float64)
        total = right + counts[:, at + 1] + counts[:, at + 2]
        scores = np.ones(len(self))
        np.divide(right, total, out=scores, where=total > 0)
        return scores

    def items(
        self, metrics: Collection[str], texts: TextScores, keys: CompactTexts
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Each item for the items file, with its row in the table of published counts (-1: none).

        `keys[n]` is the id of line n.
        """
        names = [name for name in self._names(metrics, texts) if _is_asked(name, metrics)]
        columns = [self._scores(name, texts) for name in names]
        counts = self._counts
        rows: Iterator[Sequence[float]] = iter(())
        for place, line in enumerate(self._lines):
            if place % _ITEMS_AT_ONCE == 0:
                block = [column[place : place + _ITEMS_AT_ONCE].tolist() for column in columns]
                rows = zip(*block, strict=True)
            outcome, first = self._outcomes[place], place * _COLUMNS
            own = next(rows)
            if not is_scored(outcome):
                own = (nan,) * len(names)
            yield (
                {
                    "id": keys[line],
                    "type": self._shapes[place],
                    "n_tools": self._sizes[place],
                    "cluster": f"{self._clusters[place] & _WORD:016x}",
                    "outcome": outcome,
                    "scores": {
                        name: None if score != score else score
                        for name, score in zip(names, own, strict=True)
                    },
                    "counts": {
                        "nodes": counts[first : first + 3].tolist(),
                        "edges": counts[first + 3 : first + 6].tolist(),
                        "argument_names": counts[first + 6 : first + 9].tolist()
                        if self._has_arguments[place]
                        else None,
                        "argument_values": counts[first + 9 : first + 12].tolist()
                        if self._has_arguments[place]
                        else None,
                        "invented_tools": counts[first + 12],
                        "tools": counts[first + 13],
                        "invented_links": counts[first + 14],
                        "links": counts[first + 15],
                    },
                },
                self._compat[place],
            )


def _is_asked(name: str, metrics: Collection[str]) -> bool:
    needed = _METRICS_OF.get(name)
    return needed is None or any(metric in metrics for metric in needed)
