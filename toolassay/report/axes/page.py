"""The page of the axes: one `index.html` that opens from disk, runs no script and needs no network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from toolassay.files import write_text
from toolassay.report.axes.axes import Axes
from toolassay.report.axes.tables import HEADINGS, cells, mark_lines
from toolassay.report.graph_page import content_policy, render_page
from toolassay.tables import UNKNOWN, Cell, printable


def write_page(runs: Sequence[Axes], picture: Path, remarks: Sequence[str], path: Path) -> Path:
    """Write the page: the table, the picture, what was not measured, what each axis means, signatures.

    Args:
        runs: a row each, those of a model together.
        picture: an SVG file, which is embedded.
        remarks: paragraphs below the table.
        path: the file to write.

    Returns:
        The file.

    Raises:
        ToolassayError: it cannot be written.
    """
    style = files("toolassay.report").joinpath("pages", "axes_page.css").read_text(encoding="utf-8")
    abouts = dict.fromkeys(run.about for run in runs)
    page = render_page(
        "axes_page.html",
        policy=content_policy(scripts=[], styles=[style]),
        style=style,
        models=_models(runs),
        headings=HEADINGS,
        rows=[_Row(run, not n or runs[n - 1].model != run.model, cells(run)) for n, run in enumerate(runs)],
        remarks=[*mark_lines(runs), *remarks],
        picture=base64.b64encode(picture.read_bytes()).decode(),
        titles={
            about: list(dict.fromkeys(run.title for run in runs if run.about == about)) for about in abouts
        },
        unknown=UNKNOWN,
        printable=printable,
    )
    write_text(path, page)
    return path


class _Row(NamedTuple):
    run: Axes
    is_first: bool
    """Whether the row above is of another model."""
    cells: Sequence[Cell]


def _models(runs: Sequence[Axes]) -> str:
    models = list(dict.fromkeys(one.model for one in runs))
    return f"{len(models)} models" if len(models) > 4 else ", ".join(models)
