from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import chain, scored_folder

from toolassay.benchmarks.taskbench.commands import print_scores
from toolassay.benchmarks.taskbench.evaluation import evaluate_folder
from toolassay.benchmarks.taskbench.scoring.evaluation import ScoringChoices
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.files import write_json

COLUMNS = ("R1", "R2", "RL", "BsF", "n-F1", "e-F1", "t-F1", "v-F1", "ED")


def build_folder(path: Path) -> Path:
    """Three requests; the model `m` answers two of them, both right."""
    gold = {"1": chain("a"), "2": chain("b"), "3": chain("a", "b")}
    return scored_folder(path, gold, {"m": {key: gold[key] for key in "13"}}, tools="ab")


def _scores(folder: Path, demos: Sequence[str] = (), **options: Any) -> FolderEvaluation:
    if demos:
        write_json(folder / "predictions" / "runs" / "m" / "manifest.json", {"settings": {"demo_ids": demos}})
    return evaluate_folder(folder, "m", ScoringChoices(resamples=0, **options))


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


def test_one_model_has_one_table_and_one_caption(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    for options, title in (
        ({}, "Scores: overall_overall"),
        ({"splits": ["all"], "n_tools": ["all"]}, "Scores of m"),
        ({"splits": ["chain"], "mode": "mul"}, "Scores of m"),
    ):
        lines = _screen(capsys, monkeypatch, [_scores(folder, **options)])
        assert [line for line in lines if line.startswith("Scores")] == [title]
        assert sum("Percent;" in line for line in lines) == 1


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_nothing_is_wrapped_cut_off_or_padded(
    folder: Path, width: int, capsys: Any, monkeypatch: Any
) -> None:
    scores = _scores(folder, splits=["all"], n_tools=["all"])
    lines = _screen(capsys, monkeypatch, [scores], width)
    assert all(line == line.rstrip() for line in lines)
    assert "…" not in "".join(lines)
    assert [line.split()[0] for line in lines if " strict " in line] == [
        "overall_overall",
        "single_overall",
        "chain_overall",
        "overall_1",
        "overall_2",
    ]
    assert max(map(len, lines)) <= max(width, 80)
    assert ("ED" in _headings(lines)) == (width >= 96)
    assert ("ED:" in "".join(lines)) == (width >= 96)


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


def test_items_left_out_of_strict_still_have_their_compat_row(
    folder: Path, capsys: Any, monkeypatch: Any
) -> None:
    lines = _screen(capsys, monkeypatch, [_scores(folder, metrics=["f1"], demos=["1", "2", "3"])])
    assert _headings(lines) == ["n-F1", "t-F1", "v-F1"]
    assert next(line for line in lines if " compat " in line).split()[-1] == "100.00"
