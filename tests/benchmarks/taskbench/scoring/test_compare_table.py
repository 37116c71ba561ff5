from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.console import Console

from toolassay.cli.score_tables import print_table
from toolassay.evaluation.comparison import (
    Comparison,
    ModelComparison,
    ScoreComparison,
    comparison_tables,
)
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.runs.outcomes import RULES_AT_HAND
from toolassay.tables import Cell

SCORE = ScoreComparison(
    "argument_value_f1",
    300,
    276,
    0.25,
    0.50,
    Interval(0.25, 0.1004, 0.3996),
    0.00005,
    0.0004,
    "randomisation",
    0.2123,
)
NONE = replace(
    SCORE,
    metric="exact_match",
    difference=Interval(-0.00001, -0.125, 0.1),
    p=0.0501,
    p_holm=0.6,
    test="mcnemar",
)
EMPTY = ScoreComparison("edge_f1", 0, 0, None, None, NOTHING, None, None, None, None)


def comparison(*scores: ScoreComparison, model: str = "acme/[new]") -> Comparison:
    one = ModelComparison("old", model, 300, 300, 0, 0, scores)
    return Comparison("overall_overall", 1000, 7, (one, replace(one, model="third")))


def screen(comparison: Comparison, width: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    console = Console(width=width)
    for table in comparison_tables(comparison, width=width):
        print_table(table, console)
    return capsys.readouterr().out.splitlines()


def test_what_a_row_says(capsys: pytest.CaptureFixture[str]) -> None:
    lines = screen(comparison(SCORE, NONE), 100, capsys)
    assert lines[0] == "acme/[new] (B) against old (A): overall_overall, 300 items in 276 clusters"
    assert re.split(" {2,}", lines[4].strip()) == [
        "argument_value_f1",
        "25.00",
        "50.00",
        "+25.00 [10.04, 39.96]",
        "<0.001",
        "<0.001",
        "better",
        "21.23",
    ]
    assert "0.00 [-12.50, 10.00]  0.0501   0.600  no difference found  21.23" in lines[5]
    text = " ".join(lines)
    assert text.count("Percent;") == 1
    assert "exact McNemar: exact_match" in text
    assert "corrected for the 4 test(s)" in text


def test_a_notebook_shows_a_table() -> None:
    marked = replace(comparison(SCORE), marks={"old": RULES_AT_HAND})
    table, figures = marked.table(), ["25.00", "50.00", "+25.00 [10.04, 39.96]", "<0.001", "<0.001"]
    assert table.title == "each model (B) against old † (A)"
    assert [list(row) for row in table.rows] == [
        [name, "argument_value_f1", *figures, Cell("better", colour="green"), "21.23"]
        for name in ("acme/[new]", "third")
    ]
    assert table.captions[0].startswith("Percent;") and table.captions[-1] == RULES_AT_HAND.line
    assert "<td>&lt;0.001</td>" in marked._repr_html_()


def test_a_verdict_has_a_colour() -> None:
    first, _ = comparison_tables(comparison(SCORE, NONE), width=100)
    assert list(first.columns[6].cells) == ["[green]better[/]", "no difference found"]


def test_a_score_that_no_item_has(capsys: pytest.CaptureFixture[str]) -> None:
    lines = screen(comparison(SCORE, EMPTY), 100, capsys)
    assert lines[2].split()[:2] == ["score", "n"]
    assert lines[5].split() == ["edge_f1", "0", *["–"] * 5, *["no", "difference", "found"], "–"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_nothing_is_cut_off(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    lines = screen(comparison(SCORE, NONE), width, capsys)
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= max(width, 80)
    assert (lines[2].split().count("p") == 2) == (width >= 100)  # p and Holm p
    assert all(line == line.rstrip() for line in lines)
