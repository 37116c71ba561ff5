"""What is written of the axes: CSV, pictures, the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.benchmarks.registry import benchmark_named
from toolassay.console.tables import Cell
from toolassay.metrics.confidence_interval import Interval
from toolassay.reports.axes import Axes, Cost, Latency, Security, Stability, csv_table, mark_lines
from toolassay.reports.decision import FolderReport, Verdict
from toolassay.reports.pictures import draw_scoreboard
from toolassay.reports.requirements import quantities
from toolassay.reports.scoreboard import ModelReport, cells, scoreboard_table
from toolassay.runs.outcomes import BASELINE, BUILT_IN_PROGRAM, LOCAL, RULES_AT_HAND

HALF = Interval(0.5, 0.25, 0.75)
HOSTILE = "<script>alert(1)</script>\"'$x"


def run(model: str, benchmark: str = "taskbench", *, measured: bool = True) -> Axes:
    return Axes(
        benchmark_named(benchmark).about,
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
    assert (rows[0]["cost_usd_per_1000_items"], rows[0]["cost_usd_per_right_item"]) == ("1.25", "")
    assert [rows[2][name] for name in ("stability_pass^k", "latency_seconds_p50", "security_excluded")] == [
        ""
    ] * 3
    assert rows[2]["notes_cost"] == f"no price of {HOSTILE}"


def report(axes: Axes) -> ModelReport:
    return ModelReport(axes, None, quantities(axes, [], []))


def drawn(path: Path, *runs: Axes) -> bytes:
    folder = FolderReport("d", "Data", "request", Verdict("correct", ()), [report(one) for one in runs])
    return draw_scoreboard([folder], path).read_bytes()


def shown(runs: Sequence[Axes]) -> str:
    """The table on a wide screen."""
    from rich.console import Console

    console = Console(width=250, color_system=None)
    with console.capture() as captured:
        console.print(scoreboard_table([(one.title, report(one)) for one in runs]).terminal())
    return captured.get()


LOCAL_TIME = Latency(0.0041, 0.02, is_local=True)
MARKED = [
    replace(run("offline", "workbench"), mark=RULES_AT_HAND, latency=LOCAL_TIME),
    replace(run("offline"), mark=BUILT_IN_PROGRAM, latency=LOCAL_TIME),
    replace(run("random"), mark=BASELINE, latency=LOCAL_TIME),
    run("served"),
]


def test_the_table_and_the_picture_mark_rows_and_call_times_local(tmp_path: Path) -> None:
    text = shown(MARKED)
    assert "offline †" in text and "random (baseline)" in text and "offline (built in)" in text
    assert text.count("local") == 3 and text.count("0.0041") == 3 and "0.50" in text
    assert mark_lines(MARKED) == [RULES_AT_HAND.line, BUILT_IN_PROGRAM.line, BASELINE.line, LOCAL]
    # matplotlib writes each text of a picture into a comment beside its outline
    marked = drawn(tmp_path / "a.svg", *MARKED).decode()
    for name in ("offline †", "random (baseline)", "served"):
        assert f"<!-- {name} -->" in marked, name
    assert RULES_AT_HAND.line in marked and LOCAL in marked
    plain = drawn(tmp_path / "b.svg", *RUNS).decode()
    assert mark_lines(RUNS) == [] and "†" not in plain and "local" not in plain
    assert "<script" not in plain


def test_csv_and_json_keep_names_and_say_marks_beside_them() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_table(MARKED))))
    assert [row["model"] for row in rows] == ["offline", "offline", "random", "served"]
    assert [row["latency_is_local"] for row in rows] == ["True", "True", "True", "False"]
    assert [row["is_baseline"] for row in rows] == ["True", "True", "True", "False"]
    assert [row["mark_note"] for row in rows] == [
        RULES_AT_HAND.note,
        BUILT_IN_PROGRAM.note,
        BASELINE.note,
        "",
    ]
    first, _, random, served = (one.to_json() for one in MARKED)
    assert first["mark"] == {"sign": "†", "note": RULES_AT_HAND.note} and first["is_baseline"] is True
    assert random["is_baseline"] is True and random["latency"]["is_local"] is True
    assert served["mark"] is None and served["latency"]["is_local"] is False


def test_the_parts_of_a_latency_and_the_share_of_thinking_are_shown(tmp_path: Path) -> None:
    parts = Latency(1.0, 2.0, first_token=(0.3, 0.4), per_token=(0.01, 0.02), queued=(5.0, 6.0))
    one = replace(run("m"), latency=parts, cost=Cost(1.0, 2.0, thinking=0.625))
    row = cells(report(one))
    assert row["USD per 1,000"] == Cell("1.00", "2.00 a right one\n62.5 % thinking")
    note = "first token 0.30, 0.40\n0.0100, 0.0200 a token\n+ 5.00, 6.00 queued"
    assert row["seconds p50, p95"] == Cell("1.00, 2.00", note)
    assert cells(report(run("m")))["seconds p50, p95"] == Cell("0.50, 2.00")
    (streamed, plain) = csv.DictReader(io.StringIO(csv_table([one, run("m")])))
    assert streamed["latency_queued_seconds_p95"] == "6.0"
    assert streamed["cost_thinking_share_of_tokens_written"] == "0.625"
    assert (plain["latency_queued_seconds_p95"], plain["latency_first_token_seconds_p50"]) == ("", "")
    assert one.to_json()["latency"]["seconds_per_output_token_p50"] == 0.01
    assert run("m").to_json()["latency"]["queued_seconds_p50"] is None
