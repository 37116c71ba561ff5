"""What is written of the axes: CSV, pictures, the page."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from toolassay.metrics.intervals import NOTHING, Interval
from toolassay.report.axes import Axes, csv_table, draw_axes, write_page
from toolassay.report.axes.axes import Cost, Latency, Security, Stability
from toolassay.report.axes.terminal import terminal_table

HALF = Interval(0.5, 0.25, 0.75)
HOSTILE = "<script>alert(1)</script>\"'$x"


def run(model: str, benchmark: str = "taskbench", *, measured: bool = True) -> Axes:
    return Axes(
        benchmark,
        f"data_{benchmark}",
        model,
        9,
        HALF,
        stability=Stability(2, HALF, HALF, 2) if measured else None,
        cost=Cost(1.25, None, is_at_least=True) if measured else None,
        latency=Latency(0.5, 2.0) if measured else None,
        security=Security(HALF, 30, 1, HALF) if measured else None,
        notes={} if measured else {"cost": f"no price of {model}"},
        signature="toolassay:1",
        file="metrics/m.json",
    )


RUNS = [
    *(run(HOSTILE, name, measured=name != "classic") for name in ("taskbench", "workbench", "classic")),
    run("other", "classic"),
]


def test_csv_has_a_column_a_number_and_nothing_where_nothing_is_known() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_table(RUNS))))
    assert len(rows) == 4 and rows[0]["model"] == HOSTILE
    assert (rows[0]["usd_per_1000_items"], rows[0]["usd_per_right_item"]) == ("1.25", "")
    assert (rows[2]["stability"], rows[2]["seconds_p50"], rows[2]["excluded"]) == ("", "", "")
    assert rows[2]["cost_note"] == f"no price of {HOSTILE}"


def test_security_without_a_score_keeps_its_counts(tmp_path: Path) -> None:
    unread = replace(run("m"), security=Security(NOTHING, 60, 2, NOTHING, 50))
    (row,) = csv.DictReader(io.StringIO(csv_table([unread])))
    assert (row["security"], row["security_low"], row["harmless_served"]) == ("", "", "")
    assert (row["attempts"], row["excluded"], row["unreadable"]) == ("60", "2", "50")
    unmeasured = replace(unread, security=None)
    drawn = [draw_axes([one], tmp_path / "a.svg").read_bytes() for one in (unread, unmeasured, run("m"))]
    assert drawn[0] == drawn[1] != drawn[2]
    page = write_page([unread], tmp_path / "a.svg", [], tmp_path / "index.html").read_text()
    assert '<td class="number unknown">–<small>50 of 58 attacks unreadable, 2 more failed</small>' in page


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_axes_give_the_same_picture(tmp_path: Path, suffix: str) -> None:
    first, again = (draw_axes(RUNS, tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == again and (b"PNG" in first[:8] if suffix == ".png" else b"<svg" in first)
    if suffix == ".svg":
        assert b"<script" not in first


def test_models_that_share_nothing_measured_are_drawn_too(tmp_path: Path) -> None:
    nothing = Axes("classic", "d", "m", 0, NOTHING)
    assert draw_axes([nothing], tmp_path / "a.png").stat().st_size
    many = [run(f"model {n}", measured=bool(n % 2)) for n in range(5)]
    assert draw_axes(many, tmp_path / "b.svg").stat().st_size


def test_every_text_of_the_page_is_escaped(tmp_path: Path) -> None:
    picture = draw_axes(RUNS, tmp_path / "axes.svg")
    page = write_page(RUNS, picture, [f"Left out: {HOSTILE}"], tmp_path / "index.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;$x" in page
    assert page.count("<tr") == 5 and "http://" not in page and "https://" not in page
    assert "default-src 'none'" in page and "pass^2 50.0 %" in page
    again = write_page(RUNS, picture, [f"Left out: {HOSTILE}"], tmp_path / "b.html").read_text()
    assert again == page


def test_the_table_shows_names_as_they_are() -> None:
    from rich.console import Console

    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(terminal_table([run("[red]x[/red]\n")]))
    assert "harmless served 50.0 %" in captured.get()
    assert "[red]x[/red]?" in captured.get() and "≥ 1.25" in captured.get()
