"""The files of a variety report: `variety.json`, its tables in Markdown, and the pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.files import write_json, write_text
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.report.variety_pictures import PICTURES, draw_variety
from toolassay.text_formatting import cell_of, count_of
from toolassay.tools import ToolLibrary
from toolassay.variety.diversity import WINDOW
from toolassay.variety.measures import SAMPLE, measure_variety
from toolassay.variety.near_duplicates import Repeats, Thresholds

# Rows of the table of openings, and tools named in a sentence.
_OPENINGS = 10
_NAMED = 100


def variety_page(figures: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """The text of `variety.md`.

    Args:
        figures: as `measure_variety` returns them.
        pictures: file names of the pictures in the same folder.
    """
    sample = figures["sample"]["requests"]
    parts = [
        "# Variety",
        f"{count_of(figures['requests'], 'request')}, {figures['plans']:,} of them with a plan.",
        *_repeats(figures["repeats"]),
        "## Similarity",
        *_part(figures["likeness"], lambda part: _likeness(part, sample)),
        *_picture("likeness", "ROUGE-L of each request with the most similar one", pictures),
        "## Wording",
        *_part(figures["wording"], lambda part: _wording(part, sample)),
        "## Length",
        *_part(figures["lengths"], _lengths),
        *_picture("lengths", "Words per request", pictures),
        "## First words",
        *_part(figures["first_words"], lambda part: _first_words(part, figures["requests"])),
        *_picture("first_words", "The first two words of requests", pictures),
        "## Shapes and sizes",
        *_part(figures["shapes"], _shapes),
        *_picture("sizes_and_shapes", "Plans by shape and size", pictures),
        "## Tools",
        *_part(figures["tools"], _tools),
        *_picture("tools", "Plans that use each tool", pictures),
        "## Links",
        *_part(figures["links"], _links),
    ]
    return "\n\n".join(parts) + "\n"


def _part(part: Mapping[str, Any], render: Any) -> Iterable[str]:
    if "not_applicable" in part:
        return [f"Not applicable: {part['not_applicable']}."]
    rendered: Iterable[str] = render(part)
    return rendered


def _picture(name: str, title: str, pictures: Sequence[str]) -> list[str]:
    return [f"![{title}]({name}.png)"] if f"{name}.png" in pictures else []


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell_of(cell) for cell in line) + " |" for line in lines)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _repeats(part: Mapping[str, Any]) -> list[str]:
    rows = [
        ("exact duplicates (the words of an earlier request)", f"{part['exact']:,}"),
        (f"near duplicates (threshold {part['threshold']:g}, adjusted by plan)", f"{part['near']:,}"),
        ("share of the requests", _share(part["share"])),
        ("groups of duplicates", f"{part['clusters']:,}"),
        ("requests in the largest group", f"{part['largest_cluster']:,}"),
    ]
    if part["plans_said_before"] is not None:
        again = "plans with the tools, links and values of an earlier plan"
        rows.append((again, f"{part['plans_said_before']:,}"))
    return ["## Repeated requests", _table(("", "requests"), rows)]


def _likeness(part: Mapping[str, Any], sample: int) -> list[str]:
    near = part["nearest"]
    return [
        f"ROUGE-L of each request with the most similar one is {near['value']:.3f} on average (95 % interval "
        f"{near['low']:.3f} to {near['high']:.3f}). {_share(part['share_above'])} are above "
        f"{part['above']:g}, where Self-Instruct drops an instruction. Measured on "
        f"{count_of(sample, 'request')}; the mean rises with their number."
    ]


def _wording(part: Mapping[str, Any], sample: int) -> list[str]:
    rows = [
        ("words", f"{part['words']:,}"),
        ("different words", f"{part['different_words']:,}"),
        *((f"distinct-{length}", _number(part[f"distinct_{length}"], 3)) for length in (1, 2, 3, 4)),
        (f"different words in a window of {WINDOW}", _share(part[f"moving_type_token_ratio_{WINDOW}"])),
    ]
    note = (
        f"Measured on {count_of(sample, 'request')}. Distinct-n falls with the number of words: "
        "compare only with samples of this size. The last row hardly depends on it."
    )
    return [_table(("", "value"), rows), note]


def _lengths(part: Mapping[str, Any]) -> list[str]:
    return [
        f"{part['mean']:.1f} words on average; half have {part['median']:.0f} or fewer, nine in ten between "
        f"{part['percentile_5']:.0f} and {part['percentile_95']:.0f}, the longest {part['longest']:,}."
    ]


def _first_words(part: Mapping[str, Any], requests: int) -> list[str]:
    rows = [
        (f"{first} {second}".strip(), f"{count:,}", _share(count / requests))
        for first, second, count in part["openings"][:_OPENINGS]
    ]
    return [
        f"{part['different_openings']:,} different pairs of first words, "
        f"{part['different_first_words']:,} different first words.",
        _table(("request begins", "requests", "share"), rows),
    ]


def _shapes(part: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            shape,
            f"{row['plans']:,}",
            _number(row["mean_words"], 1),
            _number(row["distinct_2"], 3),
            _number(row["nearest"], 3),
        )
        for shape, row in part.items()
    ]
    heads = ("shape", "plans", "words in a request", "distinct-2", "ROUGE-L with the nearest")
    return [_table(heads, rows)]


def _tools(part: Mapping[str, Any]) -> list[str]:
    told = f"{part['used']:,} of {part['tools']:,} tools are used ({_share(part['share'])})"
    if part["evenness"] is not None:
        told += f"; evenness {part['evenness']:.2f} (1: all equally often)"
    paragraphs = [told + "."]
    if part["never_used"]:
        paragraphs.append(f"Never used: {_names(part['never_used'])}.")
    if part["unknown"]:
        paragraphs.append(f"Not in the library: {_names(list(part['unknown']))}.")
    return paragraphs


def _names(names: Sequence[str]) -> str:
    told = ", ".join(cell_of(name) for name in names[:_NAMED])
    rest = len(names) - _NAMED
    return f"{told} and {rest:,} more (all are in variety.json)" if rest > 0 else told


def _links(part: Mapping[str, Any]) -> list[str]:
    possible = count_of(part["possible"], "possible link")
    told = [f"{part['used']:,} of {possible} are used ({_share(part['share'])})"]
    told.append(f"{part['used_once']:,} of them once")
    if part["not_in_graph"]:
        told.append(f"{count_of(part['not_in_graph'], 'link')} of the plans are not in the graph")
    rows = [(f"{source} → {target}", f"{count:,}") for source, target, count in part["most_used"]]
    return ["; ".join(told) + ".", *([_table(("most used", "plans"), rows)] if rows else [])]


REPORT_FILES = ("variety.json", "variety.md", *(f"{name}.png" for name in PICTURES))


class VarietyReport(NamedTuple):
    """The figures of `measure_variety` and the files written: `variety.json`, `variety.md`, the pictures."""

    figures: dict[str, Any]
    files: list[Path]


def write_variety(
    out: Path,
    golds: Iterable[Gold],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    repeats: Repeats | None = None,
    thresholds: Thresholds | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> VarietyReport:
    """Measure a data set, and write `variety.json`, `variety.md` and pictures into a folder.

    Args:
        out: the folder.
        golds: as for `toolassay.variety.measures.measure_variety`, like the other arguments.
        library: all tools.
        graph: the tool graph.
        repeats: the repeated requests, if `DuplicateGate.repeats` has them already.
        thresholds: minimum similarity of near duplicates.
        sample: number of sampled requests.
        seed: seed of the sample.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    figures = measure_variety(
        golds, library=library, graph=graph, repeats=repeats, thresholds=thresholds, sample=sample, seed=seed
    )
    write_json(out / "variety.json", figures)  # first, because it marks the folder as that of a report
    pictures = draw_variety(figures, out)
    write_text(out / "variety.md", variety_page(figures, [picture.name for picture in pictures]))
    return VarietyReport(figures, [out / "variety.json", out / "variety.md", *pictures])
