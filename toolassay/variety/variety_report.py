"""The files of a variety report: `variety.json`, its table in Markdown, and the pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.files import write_json, write_text
from toolassay.report.pictures import PICTURES, draw_variety
from toolassay.tables import Table, Value, markdown_escaped, number, percent
from toolassay.variety.measures import WINDOW

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
        (f"different words in {WINDOW}", _share(wording, f"moving_type_token_ratio_{WINDOW}")),
        ("ROUGE-L with the most similar request", number(near.get("value"), 3, unknown="")),
        (f"requests above {likeness.get('above', 0):g} of it", _share(likeness, "share_above")),
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


def _share(part: Mapping[str, Any], name: str) -> str:
    return percent(part.get(name), sign="%", unknown="")
