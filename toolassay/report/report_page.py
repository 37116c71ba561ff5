"""The page of a report: verdict, where models fail, every item; one file that opens from disk."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.evaluation.item_detail import About
from toolassay.files import atomic_writer
from toolassay.report.axes import mark_lines
from toolassay.report.decision import Decision, FolderReport, folder_table
from toolassay.report.graph_page import content_policy, json_for_script, page_resource, render_page
from toolassay.report.scoreboard import ModelReport, cells, measured_headings
from toolassay.tables import Cell, printable
from toolassay.version import __version__

_SCRIPTS = ("tabulator.min.js", "chart.umd.min.js", "cytoscape.min.js", "cytoscape-dagre.min.js")
_BAR = 200  # pixels of the bar of an accuracy
# The first six are of Okabe and Ito; all twelve differ in the light and in the dark.
_COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#8B6BD1", "#A6761D", "#7F7F7F", "#66A61E", "#C2185B", "#A9A900"),
)


@dataclass(frozen=True)
class PageFolder:
    """The content of one data folder.

    Attributes:
        report: The decision about it.
        about: Names of its benchmark.
        summary: Result of `FolderPage.summary`.
        chunks: Result of `FolderPage.chunks`, read once.
    """

    report: FolderReport
    about: About
    summary: dict[str, Any]
    chunks: Iterable[str] = field(default=())


def write_report_page(
    decision: Decision,
    folders: Sequence[PageFolder],
    path: Path,
    *,
    refresh: int = 0,
    live: Sequence[str] = (),
) -> Path:
    """Write the page.

    The details of the items are in compressed chunks of the file, which the page decodes when an item is
    opened, so that it opens at once however many there are. Its content security policy forbids connections,
    and all scripts but its own.

    Args:
        decision: Verdict and requirements.
        folders: One entry per folder of the decision.
        path: HTML file to write.
        refresh: Seconds after which a browser loads the page again; 0 never.
        live: Lines about runs in progress, shown first.

    Returns:
        `path`.

    Raises:
        ToolassayError: The file cannot be written.
    """
    scripts = [page_resource("vendor", name) for name in _SCRIPTS] + [
        page_resource("pages", "report_page.js")
    ]
    style = page_resource("vendor", "tabulator.min.css") + page_resource("pages", "report_page.css")
    models = list(decision.models)
    colours = {name: _COLOURS[number % len(_COLOURS)] for number, name in enumerate(models)}
    data = json_for_script({"folders": [folder.summary for folder in folders], "colours": colours})
    token = f"chunks-{hashlib.sha256(data.encode()).hexdigest()}"
    page = render_page(
        "report_page.html",
        policy=content_policy(scripts=scripts, styles=[style]),
        style=style,
        scripts=scripts,
        data=data,
        chunks=token,
        title=f"Report: {', '.join(models) if len(models) < 5 else f'{len(models)} models'}",
        version=__version__,
        refresh=refresh,
        live=live,
        sentences=decision.verdict.sentences,
        folders=[_folder(folder, colours) for folder in folders],
        by_folder=folder_table(decision) if len(decision.folders) > 1 else None,
        regressions=[one.line for one in decision.regressions],
        remarks=decision.warnings,
        signatures=[
            (f"{model.name}, {folder.title}", model.axes.signature)
            for folder in decision.folders
            for model in folder.models
        ],
        printable=printable,
    )
    head, _, tail = page.partition(token)
    with atomic_writer(path) as stream:
        stream.write(head)
        for number, folder in enumerate(folders):
            for place, chunk in enumerate(folder.chunks):
                stream.write(
                    f'<script type="text/plain" id="chunk-{number}-{place}">{packed(chunk)}</script>\n'
                )
        stream.write(tail)
    return path


def packed(text: str) -> str:
    """A text as base64 of gzip, always the same bytes.

    >>> gzip.decompress(base64.b64decode(packed("</script>")))
    b'</script>'
    """
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _folder(folder: PageFolder, colours: Mapping[str, str]) -> dict[str, Any]:
    """What the template shows of a folder."""
    report = folder.report
    shown = [cells(model) for model in report.models]
    headings = measured_headings(shown)[2:] if shown else []
    return {
        "title": report.title,
        "has_data": folder.summary.get("data") is not None,
        "headings": headings,
        "by": f" ({report.verdict.instead})" if report.verdict.instead else "",
        "accuracy": "right outcome" if report.verdict.is_by_outcome else "accuracy",
        "noun": report.noun,
        "right": folder.about.right,
        "sentences": report.verdict.sentences,
        "rows": [
            _row(model, row, headings, colours) for model, row in zip(report.models, shown, strict=True)
        ],
        "checks": [(model.name, one) for model in report.models for one in model.checks],
        "warnings": [
            *report.warnings,
            *(f"{model.name}: {line}" for model in report.models for line in model.warnings),
        ],
        "unmeasured": [
            f"{model.name}: {axis}: {note}"
            for model in report.models
            for axis, note in model.axes.notes.items()
            if axis != "accuracy"
        ],
        "marks": mark_lines([model.axes for model in report.models]),
    }


def _row(
    model: ModelReport, row: Mapping[str, Cell], headings: Sequence[str], colours: Mapping[str, str]
) -> dict[str, Any]:
    value, low, high = model.measured["accuracy"].interval
    has_bar = value is not None and low is not None and high is not None
    return {
        "name": model.name,
        "mark": model.axes.mark.sign if model.axes.mark else "",
        "rank": model.rank,
        "is_baseline": model.axes.is_baseline,
        "colour": colours[model.name],
        "accuracy": row["accuracy"],
        "span": [round(_BAR * (one or 0), 1) for one in (low, value, high)] if has_bar else None,
        "gap": row["to the leader"],
        "cells": [row[heading] for heading in headings],
    }
