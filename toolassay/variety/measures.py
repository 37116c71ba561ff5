"""Compute the figures of a variety report, as JSON, from counts over the labels."""

from __future__ import annotations

import random
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.dataset import SHAPES, read_labels, shape_of
from toolassay.engines import Engine
from toolassay.files import LineRange
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
from toolassay.variety.near_duplicates import Fingerprint, Item, Repeats, Thresholds, find_repeats
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
    """Counts over labels; the tallies of parts of a set can be added up.

    Attributes:
        requests: number of requests with words.
        plans: number of labels with a plan.
        known_plans: digests of the plans whose argument values are known, one per label.
        sizes: number of plans by (shape, number of nodes).
        tools: number of plans that use each tool.
        links: number of plans that use each link.
        lengths: number of words of each request, by shape.
        openings: number of requests by their first two words; the second is empty in a request of one word.
    """

    def __init__(self) -> None:
        self.requests = self.plans = 0
        self.known_plans = array("Q")
        self.sizes: Counter[tuple[str, int]] = Counter()
        self.tools: Counter[str] = Counter()
        self.links: Counter[Ends] = Counter()
        self.lengths: defaultdict[str, array[int]] = defaultdict(_no_lengths)
        self.openings: Counter[tuple[str, str]] = Counter()

    def add(self, gold: Gold, plan: PlanDigest) -> str | None:
        """Count one label; returns its shape, or None for a request without words."""
        shape = NO_PLAN
        if gold.nodes:
            tools = [node.tool for node in gold.nodes]
            shape = shape_of(len(tools), gold.links, tools=tools)
            self.plans += 1
            self.sizes[shape, len(tools)] += 1
            # In order, unlike a set: the report names equally frequent tools in the order of their use.
            self.tools.update(list(dict.fromkeys(tools)))
            self.links.update(list(dict.fromkeys(gold.links)))
        if plan.whole:
            self.known_plans.append(plan.whole)
        spoken = words(gold.request)
        if not spoken:
            return None
        self.requests += 1
        self.lengths[shape].append(len(spoken))
        self.openings[spoken[0], spoken[1] if len(spoken) > 1 else ""] += 1
        return shape

    def extend(self, other: VarietyTally) -> None:
        """Add the counts of the labels that follow."""
        self.requests += other.requests
        self.plans += other.plans
        self.known_plans.extend(other.known_plans)
        self.sizes.update(other.sizes)
        self.tools.update(other.tools)
        self.links.update(other.links)
        self.openings.update(other.openings)
        for shape, lengths in other.lengths.items():
            self.lengths[shape].extend(lengths)


def _no_lengths() -> array[int]:
    return array("I")


class RequestSample:
    """Requests drawn uniformly from a stream (reservoir sampling, Vitter 1985).

    Args:
        size: number of requests to keep.
        seed: seed of the draw.

    Attributes:
        kept: the sampled requests, each as the shape of its plan and its text.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._chance, self._seen = size, random.Random(seed), 0
        self.kept: list[tuple[str, str]] = []

    def add(self, shape: str, text: str) -> None:
        """Offer one request."""
        self._seen += 1
        if len(self.kept) < self._size:
            self.kept.append((shape, text))
        else:
            place = self._chance.randrange(self._seen)
            if place < self._size:
                self.kept[place] = shape, text


class VarietyPart(NamedTuple):
    """What is measured of a part of a set without the rest of it.

    Attributes:
        tally: the counts.
        requests: each request with words, as the shape of its plan and its text.
        fingerprints: every request, for the search of repeats.
    """

    tally: VarietyTally
    requests: list[tuple[str, str]]
    fingerprints: list[Fingerprint]

    @classmethod
    def of(cls, golds: Iterable[Gold]) -> VarietyPart:
        """Measure a part."""
        part = cls(VarietyTally(), [], [])
        for gold in golds:
            item = Item.of(gold)
            shape = part.tally.add(gold, item.plan)
            if shape is not None:
                part.requests.append((shape, gold.request))
            part.fingerprints.append(Fingerprint.of(item))
        return part


PART = 1_000
"""Labels in a part."""


@dataclass(frozen=True)
class VarietyTask:
    """Measures the parts of a file of labels, for an engine.

    Attributes:
        path: `data.json`, or `user_requests.json`.
    """

    path: Path

    def start(self) -> Callable[[LineRange], VarietyPart]:
        """The function that measures a part."""
        return self._part

    def _part(self, lines: LineRange) -> VarietyPart:
        return VarietyPart.of(Gold.of(record, number) for number, record in read_labels(self.path, lines))


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
    thresholds: Thresholds | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure repeats, wording, lengths and the use of tools and links in a data set.

    Args:
        golds: the labels, iterated over once. Requests without plans are accepted.
        library: all tools; None leaves out tool coverage.
        graph: the tool graph; None leaves out link coverage.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        sample: number of sampled requests for the measures that depend on the size of the set.
        seed: seed of the sample.

    Returns:
        The object of `variety.json`. A part that cannot be measured is `{"not_applicable": reason}`.
    """
    source = iter(golds)
    parts = (VarietyPart.of(chunk) for chunk in iter(lambda: list(islice(source, PART)), []))
    return measure_parts(parts, library=library, graph=graph, thresholds=thresholds, sample=sample, seed=seed)


def measure_parts(
    parts: Iterable[VarietyPart],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    thresholds: Thresholds | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Measure a data set from its parts.

    Args:
        parts: the parts, in order, iterated over once.
        library: as for `measure_variety`, like the next four.
        graph: see there.
        thresholds: see there.
        sample: see there.
        seed: see there.
        engine: where the signatures of requests are computed. Default: in this process.
    """
    thresholds = thresholds or Thresholds()
    tally, drawn = VarietyTally(), RequestSample(sample, seed)

    def fingerprints() -> Iterator[Fingerprint]:
        for part in parts:
            tally.extend(part.tally)
            for shape, text in part.requests:
                drawn.add(shape, text)
            yield from part.fingerprints

    repeats = find_repeats(fingerprints(), thresholds=thresholds, engine=engine)
    shapes = [shape for shape, _ in drawn.kept]
    texts = [words(text) for _, text in drawn.kept]
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
        "shapes": _shapes(tally, shapes, texts, best),
        "sizes": _sizes(tally),
        "tools": _tools(tally, library),
        "links": _links(tally, graph),
    }


def _without(why: str) -> dict[str, Any]:
    return {"not_applicable": why}


def _repeats(repeats: Repeats, tally: VarietyTally, thresholds: Thresholds) -> dict[str, Any]:
    import numpy as np

    held = repeats.held_back().values()
    clusters = repeats.clusters()
    plans = len(tally.known_plans)
    different = len(np.unique(np.frombuffer(tally.known_plans, np.uint64))) if plans else 0
    return {
        "threshold": thresholds.threshold,
        "exact": sum(match.exact for match in held),
        "near": sum(not match.exact for match in held),
        "share": len(held) / tally.requests if tally.requests else None,
        "clusters": len(clusters),
        "largest_cluster": max(map(len, clusters), default=0),
        "plans_said_before": plans - different if plans else None,
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


def _shapes(
    tally: VarietyTally,
    drawn: Sequence[str],
    texts: Sequence[Sequence[str]],
    best: npt.NDArray[np.float64],
) -> dict[str, Any]:
    """The figures by shape; `drawn`, `texts` and `best` are of the sampled requests."""
    if not tally.plans:
        return _without("the labels have no plans")
    shapes: dict[str, Any] = {}
    for shape in _in_order({shape for shape, _ in tally.sizes}):
        chosen = [place for place, kept in enumerate(drawn) if kept == shape]
        lengths = tally.lengths[shape]
        shapes[shape] = {
            "plans": sum(count for (kept, _), count in tally.sizes.items() if kept == shape),
            "mean_words": sum(lengths) / len(lengths) if lengths else None,
            "distinct_2": distinct([texts[place] for place in chosen], 2),
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
