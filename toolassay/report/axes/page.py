"""The page of the axes: one `index.html` that opens from disk, runs no script and asks for nothing."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from toolassay.files import write_text
from toolassay.report.axes.axes import Axes
from toolassay.report.axes.tables import HEADINGS, UNKNOWN, cells, mark_lines
from toolassay.report.graph_page import content_policy
from toolassay.report.leaderboard.tables import printable


def write_page(runs: Sequence[Axes], picture: Path, remarks: Sequence[str], path: Path) -> Path:
    """Write the page: the table, the picture, what was not measured, what each axis means, signatures.

    Args:
        runs: a row each, those of a model together.
        picture: an SVG file, which the page holds.
        remarks: what else is to be said, a sentence each.
        path: the file to write.

    Returns:
        The file.

    Raises:
        ToolassayError: it cannot be written.
    """
    folder = files("toolassay.report").joinpath("pages")
    style = folder.joinpath("axes_page.css").read_text(encoding="utf-8")
    page = Template(folder.joinpath("axes_page.html").read_text(encoding="utf-8")).substitute(
        policy=content_policy(scripts=[], styles=[style]),
        style=style,
        models=_text(_models(runs)),
        headings="".join(f'<th scope="col" class="number">{_text(name)}</th>' for name in HEADINGS),
        rows="\n".join(_rows(runs)),
        remarks="".join(f"<p>{_text(remark)}</p>" for remark in (*mark_lines(runs), *remarks)),
        picture=base64.b64encode(picture.read_bytes()).decode(),
        alternative=_text(f"Five axes of {_models(runs)}; the numbers are those of the table."),
        notes="\n".join(_notes(runs)) or "<li>Everything was measured in full.</li>",
        right="".join(
            f"<li>{_text(', '.join(titles))}, a {_text(about.item)}: {_text(about.right)}</li>"
            for about in dict.fromkeys(run.about for run in runs)
            if (titles := dict.fromkeys(run.title for run in runs if run.about == about))
        ),
        signatures="\n".join(_signatures(runs)),
    )
    write_text(path, page)
    return path


def _models(runs: Sequence[Axes]) -> str:
    models = list(dict.fromkeys(one.model for one in runs))
    return f"{len(models)} models" if len(models) > 4 else ", ".join(models)


def _rows(runs: Sequence[Axes]) -> list[str]:
    rows = []
    for number, one in enumerate(runs):
        is_first = not number or runs[number - 1].model != one.model
        numbers = (
            f'<td class="number{" unknown" if first == UNKNOWN else ""}">{_text(first)}'
            f"{''.join(f'<small>{_text(line)}</small>' for line in more)}</td>"
            for first, *more in cells(one)
        )
        rows.append(
            f"<tr{' class=first' if is_first else ''}>"
            f'<th scope="row">{_text(one.name) if is_first else ""}</th>'
            f'<td>{_text(one.marked_title)}</td><td class="number">{_text(one.n)}</td>{"".join(numbers)}</tr>'
        )
    return rows


def _notes(runs: Sequence[Axes]) -> list[str]:
    return [
        f"<li><b>{_text(one.model)}</b>, {_text(one.title)}, {_text(axis)}: {_text(note)}</li>"
        for one in runs
        for axis, note in one.notes.items()
    ]


def _signatures(runs: Sequence[Axes]) -> list[str]:
    return [
        f"<dt>{_text(one.model)}, {_text(one.title)}</dt>"
        f"<dd>{_text(one.file)}<br><code>{_text(one.signature)}</code></dd>"
        for one in runs
    ]


def _text(text: str) -> str:
    """Text as it may stand anywhere in the page, also between quotes."""
    return escape(printable(text), quote=True)
