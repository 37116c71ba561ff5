"""The page of a report: verdict, where models fail, every item; one file that opens from disk."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.evaluation.axis import About
from toolassay.files import atomic_writer
from toolassay.report.axes.tables import cells, mark_lines
from toolassay.report.decision import Decision, FolderReport, ModelReport, folder_table
from toolassay.report.decision.verdict import p_value
from toolassay.report.graph_page import content_policy, json_for_script, page_resource, render_page
from toolassay.runs.marks import marked
from toolassay.tables import UNKNOWN, Cell, percent, percent_interval, printable
from toolassay.version import __version__

_SCRIPTS = ("tabulator.min.js", "chart.umd.min.js", "cytoscape.min.js", "cytoscape-dagre.min.js")
_HEADINGS = (
    "gold plan",
    "side effects",
    "pass^k",
    "attacks that succeed",
    "USD per 1,000",
    "seconds p50, p95",
    "asked",
)
_BAR = 200  # pixels of the bar of an accuracy


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


class _Row(NamedTuple):
    """A model on the first screen."""

    name: str
    rank: str
    is_baseline: bool
    accuracy: str
    span: tuple[float, float, float] | None
    gap: Cell
    cells: Sequence[Cell]


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
    data = json_for_script({"folders": [folder.summary for folder in folders]})
    token = f"chunks-{hashlib.sha256(data.encode()).hexdigest()}"
    models = list(dict.fromkeys(model.name for folder in decision.folders for model in folder.models))
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
        folders=[_folder(folder) for folder in folders],
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


def _folder(folder: PageFolder) -> dict[str, Any]:
    report = folder.report
    unmeasured = [
        f"{model.name}: {axis}: {note}"
        for model in report.models
        for axis, note in model.axes.notes.items()
        if axis != "accuracy"
    ]
    rows = [_row(model) for model in report.models]
    measured = [
        place for place in range(len(_HEADINGS)) if any(row.cells[place].text != UNKNOWN for row in rows)
    ]
    return {
        "title": report.title,
        "has_data": folder.summary.get("data") is not None,
        "headings": [_HEADINGS[place] for place in measured],
        "by": f" ({report.verdict.instead})" if report.verdict.instead else "",
        "accuracy": "right outcome" if report.verdict.is_by_outcome else "accuracy",
        "noun": report.noun,
        "right": folder.about.right,
        "sentences": report.verdict.sentences,
        "rows": [row._replace(cells=[row.cells[place] for place in measured]) for row in rows],
        "checks": [
            {"model": model.name, "rule": one.rule, "status": one.status, "text": one.text}
            for model in report.models
            for one in model.checks
        ],
        "warnings": [
            *report.warnings,
            *(f"{model.name}: {line}" for model in report.models for line in model.warnings),
        ],
        "unmeasured": unmeasured,
        "marks": mark_lines([model.axes for model in report.models]),
    }


def _row(model: ModelReport) -> _Row:
    place, axes = model.place, model.axes
    value, low, high = model.measured["accuracy"].interval
    span = None
    if value is not None and low is not None and high is not None:
        span = (round(_BAR * low, 1), round(_BAR * value, 1), round(_BAR * high, 1))
    gap = Cell(UNKNOWN)
    if place is not None and place.difference.value is not None:
        interval = percent_interval(place.difference.low, place.difference.high)
        meaning = "significant" if place.differs else "may be chance"
        p = "" if place.p is None else f"{meaning}, p {p_value(place.p, sign=True)}"
        gap = Cell(f"{100 * place.difference.value:+.1f} {interval}", p)
    _, stability, cost, _, p50, p95, security = cells(axes)
    attacks = model.measured["attack_success"].interval
    notes = security.note.splitlines()
    if attacks.value is not None:  # the first note is the interval of the attacks resisted
        notes[0] = percent_interval(attacks.low, attacks.high)
    plan, harm = axes.plan_accuracy, model.measured["side_effects"].interval
    return _Row(
        marked(axes.model, axes.mark),
        str(place.rank) if place is not None and place.rank else UNKNOWN,
        axes.is_baseline,
        f"{percent(value)} {percent_interval(low, high)}",
        span,
        gap,
        [
            Cell(percent(plan.value), percent_interval(plan.low, plan.high)),
            Cell(percent(harm.value), percent_interval(harm.low, harm.high)),
            stability,
            Cell(percent(attacks.value), "\n".join(notes)),
            cost,
            _times(model, p50.text, p95.text),
            Cell(axes.n, "\n".join(axes.n_notes)),
        ],
    )


def _times(model: ModelReport, median: str, high: str) -> Cell:
    latency = model.axes.latency
    if latency is None:
        return Cell(UNKNOWN)
    return Cell(f"{median}, {high}", "local" if latency.is_local else "")
