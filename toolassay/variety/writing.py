"""The files of a variety report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.files import write_json, write_text
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.report.variety import PICTURES, draw_variety
from toolassay.tools import ToolLibrary
from toolassay.variety.bars import Bars
from toolassay.variety.measures import measure_variety
from toolassay.variety.page import variety_page
from toolassay.variety.repeats import Repeats
from toolassay.variety.tally import SAMPLE

REPORT_FILES = ("variety.json", "variety.md", *(f"{name}.png" for name in PICTURES))


class VarietyReport(NamedTuple):
    """What was measured, and the files that say it: `variety.json`, `variety.md`, and the pictures."""

    figures: dict[str, Any]
    files: list[Path]


def write_variety(
    out: Path,
    golds: Iterable[Gold],
    *,
    library: ToolLibrary | None = None,
    graph: ToolGraph | None = None,
    repeats: Repeats | None = None,
    bars: Bars | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
) -> VarietyReport:
    """Measure a set, and write `variety.json`, `variety.md` and its pictures into a folder.

    The arguments are those of `toolassay.variety.measures.measure_variety`; whoever has looked for repeats
    already (`DuplicateGate.repeats`) gives them.

    Raises:
        ToolassayError: the folder cannot be written.
    """
    figures = measure_variety(
        golds, library=library, graph=graph, repeats=repeats, bars=bars, sample=sample, seed=seed
    )
    write_json(out / "variety.json", figures)  # first: by it a folder is known as that of a report
    pictures = draw_variety(figures, out)
    write_text(out / "variety.md", variety_page(figures, [picture.name for picture in pictures]))
    return VarietyReport(figures, [out / "variety.json", out / "variety.md", *pictures])
