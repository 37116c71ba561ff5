"""The figures of a variety report, and its files: `variety.json`, its table in Markdown, and the pictures.

The figures are repeats, four numbers about the wording, and the use of tools and links. The four numbers are
distinct-2, the moving-average type-token ratio, ROUGE-L with the most similar request, and the share of
requests above 0.7 of it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolassay.console.tables import Table, Value, markdown_escaped, number, percent
from toolassay.files.data_files import LineRange, write_json, write_text
from toolassay.graph import ToolGraph
from toolassay.metrics.confidence_interval import mean_intervals
from toolassay.plans.gold import Gold
from toolassay.records.dataset import SHAPES, read_labels, shape_of
from toolassay.reports.pictures import PICTURES, draw_variety
from toolassay.tools.library import ToolLibrary
from toolassay.variety.near_duplicates import Item, Thresholds, find_repeats, words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SAMPLE = 1_000
"""Default number of sampled requests; ROUGE-L compares every pair of them."""
WINDOW = 50
"""Words in a window of the type-token ratio. Most requests are shorter, so texts are concatenated."""
SELF_INSTRUCT_LIMIT = 0.7
"""ROUGE-L above which Self-Instruct drops an instruction as a copy (Wang and others, ACL 2023)."""
PART = 1_000
"""Labels in a part."""


def distinct_2(texts: Iterable[Sequence[str]]) -> float | None:
    """The number of different pairs of words divided by the number of all pairs; None without a pair.

    Distinct-n of Li et al., A Diversity-Promoting Objective Function, NAACL 2016. It falls with the amount of
    text: compare only samples of one size.

    >>> distinct_2([["crop", "it"], ["crop", "it"]])
    0.5
    """
    pairs = [pair for text in texts for pair in pairwise(text)]
    return len(set(pairs)) / len(pairs) if pairs else None


def moving_type_token_ratio(texts: Iterable[Sequence[str]], window: int = WINDOW) -> float | None:
    """The mean share of different words in a window of words; None without words.

    Covington and McFall, The Moving-Average Type-Token Ratio, Journal of Quantitative Linguistics, 2010. It
    hardly depends on the amount of text. If there are fewer words, all of them are one window.

    >>> moving_type_token_ratio([["crop", "it"], ["crop", "now"]], window=2)
    1.0
    """
    run = list(chain.from_iterable(texts))
    starts = range(max(1, len(run) - window + 1)) if run else ()
    shares = [len(set(words := run[start : start + window])) / len(words) for start in starts]
    return sum(shares) / len(shares) if shares else None


def nearest_rouge(texts: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """For each text, the highest ROUGE-L (F1 over words) with any other text; 0 for a single text.

    Self-Instruct measures the novelty of an instruction so. It rises with the number of texts: compare only
    samples of one size.

    >>> nearest_rouge([["crop", "the", "photo"], ["crop", "the", "picture"], ["pay", "it"]]).round(2).tolist()
    [0.67, 0.67, 0.0]
    """
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    best = np.zeros(len(texts))
    for start in range(0, len(texts), 250):  # rows of the matrix in memory
        # 1 - (insertions + deletions) / (words of both) = 2 · common / (words of both): ROUGE-L's F1.
        rows = cdist(texts[start : start + 250], texts, scorer=Indel.normalized_similarity, dtype=np.float64)
        rows[np.arange(len(rows)), start + np.arange(len(rows))] = 0
        best[start : start + len(rows)] = rows.max(axis=1)
    return best


class VarietyPart:
    """What is measured of a part of a set without the rest of it.

    Attributes:
        plans: number of labels with a plan.
        requests: the requests with words.
        items: every request, for the search of repeats.
        sizes: number of plans by (shape, number of nodes).
        tools: number of plans that use each tool.
        links: number of plans that use each link.
        motifs: number of plans with each sequence of tools.
    """

    def __init__(self, golds: Iterable[Gold] = ()) -> None:
        self.plans = 0
        self.requests: list[str] = []
        self.items: list[Item] = []
        self.sizes: Counter[tuple[str, int]] = Counter()
        self.tools: Counter[str] = Counter()
        self.links: Counter[tuple[str, str]] = Counter()
        self.motifs: Counter[tuple[str, ...]] = Counter()
        for gold in golds:
            self.items.append(Item.of(gold))
            if words(gold.request):
                self.requests.append(gold.request)
            if gold.nodes:
                tools = [node.tool for node in gold.nodes]
                self.plans += 1
                self.motifs[tuple(tools)] += 1
                self.sizes[shape_of(len(tools), gold.links, tools=tools), len(tools)] += 1
                self.tools.update(dict.fromkeys(tools, 1))
                self.links.update(dict.fromkeys(gold.links, 1))


@dataclass(frozen=True)
class VarietyTask:
    """Measures the parts of a file of labels, for an engine."""

    path: Path

    def start(self) -> Callable[[LineRange], VarietyPart]:
        """The function that measures a part."""
        return lambda lines: VarietyPart(
            Gold.of(record, number) for number, record in read_labels(self.path, lines)
        )


def measure_variety(
    parts: Iterable[VarietyPart],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    thresholds: Thresholds | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure a data set.

    Args:
        parts: its parts, in order, iterated over once. Requests without plans are accepted.
        library: all tools; None leaves out the use of tools.
        graph: the tool graph; None leaves out the use of links.
        thresholds: minimum similarity of near duplicates. Default: `Thresholds()`.
        sample: number of sampled requests for the four numbers (reservoir sampling, Vitter 1985).
        seed: seed of the sample.

    Returns:
        The object of `variety.json`. A part that cannot be measured is `{"not_applicable": reason}`.
    """
    thresholds = thresholds or Thresholds()
    totals = VarietyPart()
    drawn_texts = list[str]()
    chance = random.Random(seed)
    count = 0

    def items() -> Iterator[Item]:
        nonlocal count
        for part in parts:
            totals.plans += part.plans
            totals.tools.update(part.tools)
            totals.links.update(part.links)
            totals.sizes.update(part.sizes)
            totals.motifs.update(part.motifs)
            for text in part.requests:
                count += 1
                position = len(drawn_texts) if len(drawn_texts) < sample else chance.randrange(count)
                drawn_texts[position : position + 1] = [text] if position < sample else []
            yield from part.items

    repeats = find_repeats(items(), thresholds=thresholds)
    repeats_held_back = repeats.held_back.values()
    texts = [words(text) for text in drawn_texts]
    shapes = dict.fromkeys([*SHAPES, *(shape for shape, _ in totals.sizes)])
    return {
        "requests": count,
        "plans": totals.plans,
        "sample": {"requests": len(texts), "seed": seed},
        "repeats": {
            "threshold": thresholds.threshold,
            "exact": sum(match.exact for match in repeats_held_back),
            "near": sum(not match.exact for match in repeats_held_back),
            "share": len(repeats_held_back) / count if count else None,
            "clusters": len(repeats.clusters()),
        },
        **_wording(texts, seed),
        "sizes": {
            shape: {
                str(size): totals.sizes[shape, size]
                for shape_of_size, size in sorted(totals.sizes)
                if shape_of_size == shape
            }
            for shape in shapes
            if any(shape_of_size == shape for shape_of_size, _ in totals.sizes)
        }
        or {"not_applicable": "the labels have no plans"},
        "motifs": _motifs(totals),
        **_used(totals, library, graph),
    }


def _motifs(totals: VarietyPart) -> dict[str, Any]:
    """How many sequences of tools the plans have, and the most frequent one."""
    if not totals.motifs:
        return {"not_applicable": "the labels have no plans"}
    ((tools, count),) = totals.motifs.most_common(1)
    return {"different": len(totals.motifs), "most_frequent": list(tools), "share": count / totals.plans}


def _wording(texts: Sequence[Sequence[str]], seed: int) -> dict[str, Any]:
    best = nearest_rouge(texts)
    likeness: dict[str, Any] = {"not_applicable": "there are fewer than two requests to compare"}
    if len(texts) > 1:
        (interval,) = mean_intervals([best], seed=seed)
        share = float((best > SELF_INSTRUCT_LIMIT).mean())
        likeness = {"nearest": interval.to_json(), "above": SELF_INSTRUCT_LIMIT, "share_above": share}
    openings = Counter(" ".join(text[:_OPENING]) for text in texts).most_common(_MOST_OPENINGS)
    wording = {
        "openings": [{"words": opening, "share": count / len(texts)} for opening, count in openings],
        "words": sum(map(len, texts)),
        "different_words": len(set(chain.from_iterable(texts))),
        "distinct_2": distinct_2(texts),
        f"moving_type_token_ratio_{WINDOW}": moving_type_token_ratio(texts),
    }
    return {
        "likeness": likeness,
        "wording": wording if texts else {"not_applicable": "no request has words"},
    }


def _used(totals: VarietyPart, library: ToolLibrary | None, graph: ToolGraph | None) -> dict[str, Any]:
    """Which tools and links the plans use."""
    tools: dict[str, Any] = {"not_applicable": "the labels have no plans"}
    links = tools
    if library is None:
        tools = {"not_applicable": "there is no tool_desc.json"}
    elif totals.plans:
        uses = Counter({tool: totals.tools[tool] for tool in library.ids})
        n_used = sum(map(bool, uses.values()))
        tools = {
            "tools": len(uses),
            "used": n_used,
            "share": n_used / len(uses),
            "never_used": [tool for tool, count in uses.items() if not count],
            "uses": dict(uses.most_common()),
        }
    if graph is None:
        links = {"not_applicable": "there is no graph_desc.json"}
    elif totals.plans:
        n_used = sum(bool(graph.link_types(*ends)) for ends in totals.links)
        possible = sum(len(graph.numbered.successors(position)) for position in range(len(graph)))
        share = n_used / possible if possible else None
        unknown = len(totals.links) - n_used
        links = {"possible": possible, "used": n_used, "share": share, "not_in_graph": unknown}
    return {"tools": tools, "links": links}


_OPENING = 4  # words
_MOST_OPENINGS = 5
_NAMED = 100  # unused tools that the report names
REPORT_FILES = ("variety.json", "variety.md", *(f"{name}.png" for name in PICTURES))


class VarietyReport(NamedTuple):
    """The figures, and the files of the report: `variety.json`, `variety.md` and the pictures."""

    figures: dict[str, Any]
    files: list[Path]


def write_variety(out: Path, figures: dict[str, Any]) -> VarietyReport:
    """Write `variety.json`, `variety.md` and the pictures into a folder.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    write_json(out / "variety.json", figures)  # first: it marks the folder as one of a report
    pictures = draw_variety(figures, out)
    write_text(out / "variety.md", variety_page(figures, [picture.name for picture in pictures]))
    return VarietyReport(figures, [out / "variety.json", out / "variety.md", *pictures])


def variety_page(figures: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """The text of `variety.md`.

    Args:
        figures: the result of `measure_variety`.
        pictures: names of the picture files in the same folder.
    """
    repeats, likeness, wording, tools, links = (
        figures[name] for name in ("repeats", "likeness", "wording", "tools", "links")
    )
    near = likeness.get("nearest", {})
    rows: list[tuple[str, Value]] = [
        ("requests", figures["requests"]),
        ("plans", figures["plans"]),
        ("exact duplicates", repeats["exact"]),
        (f"near duplicates (similar from {repeats['threshold']:g}, by plan)", repeats["near"]),
        ("groups of duplicates", repeats["clusters"]),
        ("distinct-2", number(wording.get("distinct_2"), 3, unknown="")),
        *_opening_rows(wording),
        (f"different words in {WINDOW}", _share(wording, f"moving_type_token_ratio_{WINDOW}")),
        ("ROUGE-L with the most similar request", number(near.get("value"), 3, unknown="")),
        (f"requests above {likeness.get('above', 0):g} of it", _share(likeness, "share_above")),
        ("requests with the most frequent sequence of tools", _share(figures["motifs"], "share")),
        ("tools used", _share(tools, "share")),
        ("possible links used", _share(links, "share")),
    ]
    parts = ["# Variety", Table(("", "value"), rows).markdown()]
    sample = f"{figures['sample']['requests']:,} requests"
    parts.append(f"The rows from distinct-2 to ROUGE-L are of {sample}: compare only samples of one size.")
    parts += [
        f"{name}: not applicable, {figures[name]['not_applicable']}."
        for name in ("likeness", "wording", "sizes", "tools", "links")
        if "not_applicable" in figures[name]
    ]
    if names := tools.get("never_used"):
        listed = ", ".join(markdown_escaped(name, keep_markup=True) for name in names[:_NAMED])
        more = f" and {len(names) - _NAMED:,} more (in variety.json)" if len(names) > _NAMED else ""
        parts.append(f"Never used: {listed}{more}.")
    return "\n\n".join([*parts, *(f"![]({name})" for name in pictures)]) + "\n"


def _opening_rows(wording: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    for opening in wording.get("openings", ())[:1]:
        yield f"requests that begin '{opening['words']}', most frequent", percent(opening["share"])


def _share(part: Mapping[str, Any], name: str) -> str:
    return percent(part.get(name), sign="%", unknown="")
