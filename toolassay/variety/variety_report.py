"""The files of a variety report: `variety.json`, its tables in Markdown, and the pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.files import write_json, write_text
from toolassay.report.variety_pictures import PICTURES, draw_variety
from toolassay.tables import Table, Value, markdown_escaped, number, percent
from toolassay.text_formatting import count_of
from toolassay.variety.diversity import WINDOW

_OPENINGS = 10  # pairs of first words in the table
_NAMED = 100  # unused tools that the report names


def variety_page(figures: Mapping[str, Any], pictures: Sequence[str]) -> str:
    """The text of `variety.md`.

    Args:
        figures: the result of `measure_variety`.
        pictures: names of the picture files in the same folder.
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


def _part(part: Mapping[str, Any], paragraphs: Callable[[Mapping[str, Any]], list[str]]) -> list[str]:
    if "not_applicable" in part:
        return [f"Not applicable: {part['not_applicable']}."]
    return paragraphs(part)


def _picture(name: str, title: str, pictures: Sequence[str]) -> list[str]:
    return [f"![{title}]({name}.png)"] if f"{name}.png" in pictures else []


def _table(headings: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    return Table(headings, rows).markdown()


def _share(value: float | None) -> str:
    return percent(value, sign="%", unknown="")


def _number(value: float | None, digits: int) -> str:
    return number(value, digits, unknown="")


def _repeats(part: Mapping[str, Any]) -> list[str]:
    rows = [
        ("exact: the words of an earlier request", part["exact"]),
        (f"near: alike from {part['threshold']:g}, by plan", part["near"]),
        ("share of the requests", _share(part["share"])),
        ("groups that belong together", part["clusters"]),
        ("requests in the largest", part["largest_cluster"]),
    ]
    if part["plans_said_before"] is not None:
        again = "plans with the tools, links and values of an earlier one"
        rows.append((again, part["plans_said_before"]))
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
        ("words", part["words"]),
        ("different words", part["different_words"]),
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
        (f"{first} {second}".strip(), count, _share(count / requests))
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
            row["plans"],
            _number(row["mean_words"], 1),
            _number(row["distinct_2"], 3),
            _number(row["nearest"], 3),
        )
        for shape, row in part.items()
    ]
    heads = ("shape", "plans", "words in a request", "distinct-2", "ROUGE-L with the nearest")
    return [_table(heads, rows)]


def _tools(part: Mapping[str, Any]) -> list[str]:
    used = f"{part['used']:,} of {part['tools']:,} tools are used ({_share(part['share'])})"
    if part["evenness"] is not None:
        used += f"; evenness {part['evenness']:.2f} (1: all alike)"
    paragraphs = [used + "."]
    if part["never_used"]:
        paragraphs.append(f"Never used: {_names(part['never_used'])}.")
    if part["unknown"]:
        paragraphs.append(f"Not in the library: {_names(list(part['unknown']))}.")
    return paragraphs


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(markdown_escaped(name, keep_markup=True) for name in names[:_NAMED])
    rest = len(names) - _NAMED
    return f"{listed} and {rest:,} more (all are in variety.json)" if rest > 0 else listed


def _links(part: Mapping[str, Any]) -> list[str]:
    possible = count_of(part["possible"], "possible link")
    facts = [f"{part['used']:,} of {possible} are used ({_share(part['share'])})"]
    facts.append(f"{part['used_once']:,} of them once")
    if part["not_in_graph"]:
        facts.append(f"{count_of(part['not_in_graph'], 'link')} of the plans are not in the graph")
    rows = [(f"{source} → {target}", count) for source, target, count in part["most_used"]]
    return ["; ".join(facts) + ".", *([_table(("most used", "plans"), rows)] if rows else [])]


REPORT_FILES = ("variety.json", "variety.md", *(f"{name}.png" for name in PICTURES))


class VarietyReport(NamedTuple):
    """The figures, and the files of the report: `variety.json`, `variety.md` and the pictures."""

    figures: dict[str, Any]
    files: list[Path]


def write_variety(out: Path, figures: dict[str, Any]) -> VarietyReport:
    """Write `variety.json`, `variety.md` and the pictures into a folder.

    Args:
        out: the folder.
        figures: the result of `measure_variety`.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    write_json(out / "variety.json", figures)  # first: it marks the folder as one of a report
    pictures = draw_variety(figures, out)
    write_text(out / "variety.md", variety_page(figures, [picture.name for picture in pictures]))
    return VarietyReport(figures, [out / "variety.json", out / "variety.md", *pictures])
