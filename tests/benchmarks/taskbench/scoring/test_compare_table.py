"""Tables of scores and of comparisons on the screen."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.support.builders import chain, scored_folder
from toolassay.benchmarks.taskbench.commands import print_scores
from toolassay.benchmarks.taskbench.evaluation import evaluate_folder
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.cli.score_tables import print_table
from toolassay.console.tables import Cell
from toolassay.evaluation.comparison import (
    Comparison,
    ModelComparison,
    ScoreComparison,
)
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.files.data_files import write_json
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.records.data_folder import DataFolder
from toolassay.runs.outcomes import RULES_AT_HAND

SCORE = ScoreComparison(
    300,
    276,
    0.25,
    0.50,
    Interval(0.25, 0.1004, 0.3996),
    0.00005,
    "randomisation",
    0.2123,
    metric="argument_value_f1",
    p_holm=0.0004,
)
NONE = replace(
    SCORE,
    metric="exact_match",
    difference=Interval(-0.00001, -0.125, 0.1),
    p=0.0501,
    p_holm=0.6,
    test="mcnemar",
)
EMPTY = ScoreComparison(0, 0, None, None, NOTHING, None, None, None, metric="edge_f1")


def comparison(*scores: ScoreComparison, model: str = "acme/[new]") -> Comparison:
    one = ModelComparison("old", model, 300, 300, 0, 0, scores)
    return Comparison("overall_overall", 1000, 7, (one, replace(one, model="third")))


def screen(comparison: Comparison, width: int, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[str]]:
    """The first title, and the lines below it."""
    console = Console(width=width)
    for table in comparison.tables:
        print_table(table.terminal(padding=0), console)
    title, _, below = capsys.readouterr().out.partition("\n\n")
    return " ".join(title.split()), below.splitlines()


def test_what_a_row_says(capsys: pytest.CaptureFixture[str]) -> None:
    title, lines = screen(comparison(SCORE, NONE), 100, capsys)
    assert title == "acme/[new] (B) against old (A): overall_overall, 300 items in 276 clusters"
    assert lines[2].split() == ["argument_value_f1", "25.00", "50.00", "+25.00", "<0.001", "better", "21.23"]
    assert re.split(" {2,}|(?<=]) ", lines[3].strip()) == ["[10.04, 39.96]", "p <0.001"]
    assert lines[4].split() == ["exact_match", "25.00", "50.00", "0.00", "0.600", "none", "found", "21.23"]
    assert "[-12.50, 10.00] p 0.0501" in lines[5]
    text = " ".join(lines)
    assert text.count("Percent;") == 1
    assert "exact McNemar: exact_match" in text
    assert "corrected for the 4 test(s)" in text


def test_a_notebook_shows_a_table() -> None:
    marked = replace(comparison(SCORE), marks={"old": RULES_AT_HAND})
    table = marked.table()
    figures = ["25.00", "50.00", Cell("+25.00", "[10.04, 39.96]"), Cell("<0.001", "p <0.001")]
    assert table.title == "each model (B) against old † (A)"
    assert [list(row) for row in table.rows] == [
        [name, "argument_value_f1", *figures, Cell("better", colour="green"), "21.23"]
        for name in ("acme/[new]", "third")
    ]
    assert table.captions[0].startswith("Percent;") and table.captions[-1] == RULES_AT_HAND.line
    assert "<td>&lt;0.001 (p &lt;0.001)</td>" in marked._repr_html_()


def test_a_score_that_no_item_has(capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = screen(comparison(SCORE, EMPTY), 100, capsys)
    assert lines[0].split()[:2] == ["score", "n"]
    assert lines[4].split() == ["edge_f1", "0", *["–"] * 4, "none", "found", "–"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_nothing_is_cut_off(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = screen(comparison(SCORE, NONE), width, capsys)
    assert "…" not in "".join(lines)
    assert max(map(len, lines)) <= max(width, 80)
    assert all(line == line.rstrip() for line in lines)


COLUMNS = ("R1", "R2", "RL", "BsF", "n-F1", "e-F1", "t-F1", "v-F1", "ED")


def build_folder(path: Path) -> Path:
    """Three requests; the model `m` answers two of them, both right."""
    gold = {"1": chain("a"), "2": chain("b"), "3": chain("a", "b")}
    return scored_folder(path, gold, {"m": {key: gold[key] for key in "13"}}, tools="ab")


def _scores(folder: Path, demos: Sequence[str] = (), **options: Any) -> FolderEvaluation:
    if demos:
        write_json(folder / "predictions" / "runs" / "m" / "manifest.json", {"settings": {"demo_ids": demos}})
    return evaluate_folder(DataFolder(folder), "m", PlanScoring(resamples=0, **options))


def _screen(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    scores: Sequence[FolderEvaluation],
    width: int = 80,
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    print_scores(scores)
    return capsys.readouterr().out.splitlines()


def _headings(lines: Sequence[str]) -> list[str]:
    (line,) = (
        line for line in lines if line.split()[:3] in (["group", "scores", "n"], ["model", "scores", "n"])
    )
    return [word for word in line.split() if word in COLUMNS]


def test_strict_stands_beside_compat(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    lines = _screen(capsys, monkeypatch, [_scores(folder)], 110)
    assert _headings(lines) == ["R1", "R2", "RL", "n-F1", "e-F1", "t-F1", "v-F1", "ED"], "BsF has no number"
    strict, compat = (next(line for line in lines if word in line) for word in (" strict ", " compat "))
    assert strict.split()[-10:] == ["3", "66", *["66.67"] * 7, "33.33"]
    assert compat.split()[-10:] == ["2", "100", *["100.00"] * 7, "0.00"]


def test_only_what_was_asked_for_has_a_column(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    for metrics, headings in (
        (["link", "ed"], ["e-F1", "ED"]),
        (["rouge"], ["R1", "R2", "RL"]),
        (["f1"], ["n-F1", "t-F1", "v-F1"]),
        (["f1", "ed", "link", "argument", "rouge"], [name for name in COLUMNS if name != "BsF"]),
        (["all", "ed"], ["R1", "R2", "n-F1", "e-F1", "t-F1", "v-F1", "ED"]),
    ):
        for splits in (["overall"], ["all"]):
            lines = _screen(capsys, monkeypatch, [_scores(folder, metrics=metrics, splits=splits)])
            assert _headings(lines) == headings
            assert ("ED:" in "".join(lines)) == ("ED" in headings)
            assert "…" not in "".join(lines)


def test_no_link_on_either_side_is_no_score_on_the_screen(
    folder: Path, capsys: Any, monkeypatch: Any
) -> None:
    scores = _scores(folder, metrics=["link"], splits=["all"])
    written = json.loads(scores.path.read_text())
    assert written["single_overall"]["link_binary_f1"] == 0.0
    lines = _screen(capsys, monkeypatch, [scores])
    compat = [line.split()[-1] for line in lines if " compat " in line]
    assert compat == ["100.00", "–", "100.00"]
