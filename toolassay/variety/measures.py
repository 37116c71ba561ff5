"""The figures of a variety report, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolassay.dataset import SHAPES
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.metrics.intervals import mean_intervals
from toolassay.tools import ToolLibrary
from toolassay.variety.bars import Bars
from toolassay.variety.coverage import link_coverage, tool_coverage
from toolassay.variety.duplicates import Item, find_repeats
from toolassay.variety.likeness import nearest
from toolassay.variety.repeats import Repeats
from toolassay.variety.tally import SAMPLE, Tally
from toolassay.variety.wording import WINDOW, distinct, moving_ratio

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ALIKE = 0.7
"""Above this ROUGE-L, Self-Instruct takes two instructions for one."""
_BINS = 20
_OPENINGS = 200


def measure_variety(
    golds: Iterable[Gold],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    repeats: Repeats | None = None,
    bars: Bars | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> dict[str, Any]:
    """How varied a set is; a part that cannot be measured is `{"not_applicable": why}`.

    Args:
        golds: the labels, read once; requests without plans will do.
        library: all tools.
        graph: the tool graph.
        repeats: which requests repeat one another, where that is known already; looked for otherwise.
        bars: how alike near duplicates are.
        sample: on how many requests, drawn with `seed`, what depends on their number is measured.
        seed: likewise.
    """
    bars = bars or Bars()
    tally = Tally(sample=sample, seed=seed)

    def items() -> Iterator[Item]:
        for gold in golds:
            item = Item.of(gold)
            tally.add(gold, item.plan)
            yield item

    if repeats is None:
        repeats = find_repeats(items(), bars=bars)
    else:
        for _ in items():
            pass
    texts = [said for _, said in tally.kept]
    best = nearest(texts)
    return {
        "requests": tally.requests,
        "plans": tally.plans,
        "sample": {"requests": len(texts), "seed": seed},
        "repeats": _repeats(repeats, tally, bars),
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


def _repeats(repeats: Repeats, tally: Tally, bars: Bars) -> dict[str, Any]:
    held = repeats.held_back().values()
    clusters = repeats.clusters()
    return {
        "threshold": bars.threshold,
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
        return _without("there are not two requests to compare")
    (interval,) = mean_intervals([best], seed=seed)
    counts, _ = np.histogram(best, bins=_BINS, range=(0, 1))
    return {
        "nearest": interval.to_json(),
        "above": ALIKE,
        "share_above": float((best > ALIKE).mean()),
        "histogram": counts.tolist(),
    }


def _wording(texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    if not texts:
        return _without("no request has words")
    return {
        "words": sum(map(len, texts)),
        "different_words": len({word for text in texts for word in text}),
        **{f"distinct_{length}": distinct(texts, length) for length in (1, 2, 3, 4)},
        f"moving_type_token_ratio_{WINDOW}": moving_ratio(texts),
    }


def _lengths(tally: Tally) -> dict[str, Any]:
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


def _first_words(tally: Tally) -> dict[str, Any]:
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


def _shapes(tally: Tally, best: npt.NDArray[np.float64]) -> dict[str, Any]:
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


def _sizes(tally: Tally) -> dict[str, Any]:
    if not tally.plans:
        return _without("the labels have no plans")
    return {
        shape: {str(size): tally.sizes[shape, size] for kept, size in sorted(tally.sizes) if kept == shape}
        for shape in _in_order({shape for shape, _ in tally.sizes})
    }


def _tools(tally: Tally, library: ToolLibrary | None) -> dict[str, Any]:
    if library is None:
        return _without("there is no tool_desc.json")
    return tool_coverage(tally.tools, library) if tally.plans else _without("the labels have no plans")


def _links(tally: Tally, graph: ToolGraph | None) -> dict[str, Any]:
    if graph is None:
        return _without("there is no graph_desc.json")
    return link_coverage(tally.links, graph) if tally.plans else _without("the labels have no plans")


def _in_order(shapes: Iterable[str]) -> list[str]:
    order: tuple[str, ...] = SHAPES
    return sorted(shapes, key=lambda shape: (order.index(shape) if shape in order else len(order), shape))
