"""Compute the figures of a variety report, as JSON, from counts over the labels."""

from __future__ import annotations

import random
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolassay.dataset import SHAPES, shape_of
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.metrics.confidence_interval import mean_intervals
from toolassay.tools import ToolLibrary
from toolassay.variety.diversity import (
    WINDOW,
    distinct,
    link_coverage,
    moving_type_token_ratio,
    nearest_rouge,
    tool_coverage,
)
from toolassay.variety.near_duplicates import Item, Repeats, Thresholds, find_repeats
from toolassay.variety.normal_form import PlanDigest, words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SAMPLE = 1_000
"""Default number of sampled requests; ROUGE-L compares every pair of them."""
NO_PLAN = ""
"""The shape of a label without a plan."""

Ends = tuple[str, str]


class VarietyTally:
    """Counts over labels.

    Args:
        sample: number of requests whose words are kept, drawn uniformly (reservoir sampling, Vitter 1985).
        seed: seed of the draw.

    Attributes:
        requests: number of requests with words.
        plans: number of labels with a plan.
        different_plans: digests of the plans whose argument values are known.
        valued: number of plans whose argument values are known.
        sizes: number of plans by (shape, number of nodes).
        tools: number of plans that use each tool.
        links: number of plans that use each link.
        lengths: number of words of each request, by shape.
        openings: number of requests by their first two words; the second is empty in a request of one word.
        kept: the sampled requests, each as its shape and its words.
    """

    def __init__(self, *, sample: int = SAMPLE, seed: int = 0) -> None:
        self._size = sample
        self._chance = random.Random(seed)
        self.requests = self.plans = self.valued = 0
        self.different_plans: set[int] = set()
        self.sizes: Counter[tuple[str, int]] = Counter()
        self.tools: Counter[str] = Counter()
        self.links: Counter[Ends] = Counter()
        self.lengths: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        self.openings: Counter[tuple[str, str]] = Counter()
        self.kept: list[tuple[str, list[str]]] = []

    def add(self, gold: Gold, plan: PlanDigest) -> None:
        """Count one label."""
        shape = NO_PLAN
        if gold.nodes:
            tools = [node.tool for node in gold.nodes]
            shape = shape_of(len(tools), gold.links, tools=tools)
            self.plans += 1
            self.sizes[shape, len(tools)] += 1
            self.tools.update(set(tools))
            self.links.update(set(gold.links))
        if plan.whole:
            self.valued += 1
            self.different_plans.add(plan.whole)
        spoken = words(gold.request)
        if spoken:
            self._add_words(shape, spoken)

    def _add_words(self, shape: str, spoken: list[str]) -> None:
        self.requests += 1
        self.lengths[shape].append(len(spoken))
        self.openings[spoken[0], spoken[1] if len(spoken) > 1 else ""] += 1
        if len(self.kept) < self._size:
            self.kept.append((shape, spoken))
        else:
            place = self._chance.randrange(self.requests)
            if place < self._size:
                self.kept[place] = shape, spoken


SELF_INSTRUCT_LIMIT = 0.7
"""ROUGE-L above which Self-Instruct drops an instruction as a copy (Wang and others, ACL 2023)."""
# Bins of the histograms: fine enough for a picture of the usual width.
_BINS = 20
# Openings listed in `variety.json`; the picture needs no more.
_OPENINGS = 200


def measure_variety(
    golds: Iterable[Gold],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    repeats: Repeats | None = None,
    thresholds: Thresholds | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure repeats, wording, lengths and the use of tools and links in a data set.

    Args:
        golds: the labels, iterated over once. Requests without plans are accepted.
        library: all tools; None leaves out tool coverage.
        graph: the tool graph; None leaves out link coverage.
        repeats: the repeated requests if already known. By default they are searched.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        sample: number of sampled requests for the measures that depend on the size of the set.
        seed: seed of the sample.

    Returns:
        The object of `variety.json`. A part that cannot be measured is `{"not_applicable": reason}`.
    """
    thresholds = thresholds or Thresholds()
    tally = VarietyTally(sample=sample, seed=seed)

    def items() -> Iterator[Item]:
        for gold in golds:
            item = Item.of(gold)
            tally.add(gold, item.plan)
            yield item

    if repeats is None:
        repeats = find_repeats(items(), thresholds=thresholds)
    else:
        for _ in items():
            pass
    texts = [spoken for _, spoken in tally.kept]
    best = nearest_rouge(texts)
    return {
        "requests": tally.requests,
        "plans": tally.plans,
        "sample": {"requests": len(texts), "seed": seed},
        "repeats": _repeats(repeats, tally, thresholds),
        "likeness": _likeness(best, seed),
        "wording": _wording(texts),
        "lengths": _lengths(tally),
        "first_words": _first_words(tally),
        "shapes": _shapes(tally, best),
        "sizes": _sizes(tally),
        "tools": _tools(tally, library),
        "links": _links(tally, graph),
    }


def _without(why: str) -> dict[str, Any]:
    return {"not_applicable": why}


def _repeats(repeats: Repeats, tally: VarietyTally, thresholds: Thresholds) -> dict[str, Any]:
    held = repeats.held_back().values()
    clusters = repeats.clusters()
    return {
        "threshold": thresholds.threshold,
        "exact": sum(match.exact for match in held),
        "near": sum(not match.exact for match in held),
        "share": len(held) / tally.requests if tally.requests else None,
        "clusters": len(clusters),
        "largest_cluster": max(map(len, clusters), default=0),
        "plans_said_before": tally.valued - len(tally.different_plans) if tally.valued else None,
    }


def _likeness(best: npt.NDArray[np.float64], seed: int) -> dict[str, Any]:
    import numpy as np

    if len(best) < 2:
        return _without("there are fewer than two requests to compare")
    (interval,) = mean_intervals([best], seed=seed)
    counts, _ = np.histogram(best, bins=_BINS, range=(0, 1))
    return {
        "nearest": interval.to_json(),
        "above": SELF_INSTRUCT_LIMIT,
        "share_above": float((best > SELF_INSTRUCT_LIMIT).mean()),
        "histogram": counts.tolist(),
    }


def _wording(texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    if not texts:
        return _without("no request has words")
    return {
        "words": sum(map(len, texts)),
        "different_words": len({word for text in texts for word in text}),
        **{f"distinct_{length}": distinct(texts, length) for length in (1, 2, 3, 4)},
        f"moving_type_token_ratio_{WINDOW}": moving_type_token_ratio(texts),
    }


def _lengths(tally: VarietyTally) -> dict[str, Any]:
    import numpy as np

    if not tally.requests:
        return _without("no request has words")
    every = np.concatenate([np.frombuffer(lengths, np.uint32) for lengths in tally.lengths.values()])
    low, middle, high = np.percentile(every, [5, 50, 95])
    widest = max(float(np.percentile(every, 99.5)), _BINS)
    edges = np.linspace(0, widest, _BINS + 1)
    histogram = {
        shape: np.histogram(np.minimum(np.frombuffer(tally.lengths[shape], np.uint32), edges[-1]), edges)[0]
        for shape in _in_order(tally.lengths)
    }
    return {
        "mean": float(every.mean()),
        "median": float(middle),
        "percentile_5": float(low),
        "percentile_95": float(high),
        "longest": int(every.max()),
        "edges": edges.tolist(),
        "histogram": {shape: counts.tolist() for shape, counts in histogram.items()},
    }


def _first_words(tally: VarietyTally) -> dict[str, Any]:
    if not tally.requests:
        return _without("no request has words")
    firsts: Counter[str] = Counter()
    for (first, _), count in tally.openings.items():
        firsts[first] += count
    ranked = sorted(tally.openings.items(), key=lambda opening: (-opening[1], opening[0]))
    return {
        "different_first_words": len(firsts),
        "different_openings": len(tally.openings),
        "most_common_share": ranked[0][1] / tally.requests,
        "openings": [[first, second, count] for (first, second), count in ranked[:_OPENINGS]],
    }


def _shapes(tally: VarietyTally, best: npt.NDArray[np.float64]) -> dict[str, Any]:
    if not tally.plans:
        return _without("the labels have no plans")
    shapes: dict[str, Any] = {}
    for shape in _in_order({shape for shape, _ in tally.sizes}):
        chosen = [place for place, (kept, _) in enumerate(tally.kept) if kept == shape]
        texts = [tally.kept[place][1] for place in chosen]
        lengths = tally.lengths[shape]
        shapes[shape] = {
            "plans": sum(count for (kept, _), count in tally.sizes.items() if kept == shape),
            "mean_words": sum(lengths) / len(lengths) if lengths else None,
            "distinct_2": distinct(texts, 2),
            "nearest": float(best[chosen].mean()) if chosen and len(best) > 1 else None,
        }
    return shapes


def _sizes(tally: VarietyTally) -> dict[str, Any]:
    if not tally.plans:
        return _without("the labels have no plans")
    return {
        shape: {str(size): tally.sizes[shape, size] for kept, size in sorted(tally.sizes) if kept == shape}
        for shape in _in_order({shape for shape, _ in tally.sizes})
    }


def _tools(tally: VarietyTally, library: ToolLibrary | None) -> dict[str, Any]:
    if library is None:
        return _without("there is no tool_desc.json")
    return tool_coverage(tally.tools, library) if tally.plans else _without("the labels have no plans")


def _links(tally: VarietyTally, graph: ToolGraph | None) -> dict[str, Any]:
    if graph is None:
        return _without("there is no graph_desc.json")
    return link_coverage(tally.links, graph) if tally.plans else _without("the labels have no plans")


def _in_order(shapes: Iterable[str]) -> list[str]:
    order: tuple[str, ...] = SHAPES
    return sorted(shapes, key=lambda shape: (order.index(shape) if shape in order else len(order), shape))
