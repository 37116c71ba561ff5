from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import plan, scored_folder, write_predictions
from tests.support.running import each_has, inside
from toolassay import evaluate, leaderboard
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json, write_json_lines
from toolassay.reports.leaderboard import Board


def predict(folder: Path, name: str, right: int) -> None:
    """Write predictions of which `right` are right."""
    write_predictions(folder, name, {str(n): plan("a" if n < right else "b") for n in range(4)})


def build_folder(path: Path) -> Path:
    """The folder `data_mine` with four requests; `acme__m` answers all of them, `poor` one."""
    gold = dict.fromkeys("0123", plan("a"))
    folder = scored_folder(path.rename(path.with_name("data_mine")), gold, {}, tools="ab", type="single")
    for name, right in (("acme__m", 4), ("poor", 1)):
        predict(folder, name, right)
    write_json(folder / "predictions/runs/acme__m/manifest.json", {"settings": {"llm": "acme/m"}})
    return folder


def models(board: Board) -> list[tuple[str, str]]:
    return [(row.model, row.kind) for row in board.rows]


def test_models_stand_side_by_side_strict_first(folder: Path) -> None:
    evaluate(folder)
    board = leaderboard(folder)
    assert models(board) == [(name, kind) for name in ("acme/m", "poor") for kind in ("strict", "compat")]
    first, _, last, _ = board.rows
    assert list(first.score("n-F1")) == pytest.approx([100.0, 51.01, 100.0])
    assert last.score("n-F1").value == 25.0
    assert (first.counted.items, first.counted.coverage, first.cost, first.latency) == (4, 100.0, None, None)
    assert models(leaderboard(folder, mode="compat")) == [("acme/m", "compat"), ("poor", "compat")]
    assert models(leaderboard(folder, sort_by="model", mode="strict"))[-1] == ("poor", "strict")
    assert board.remarks[-1].startswith("signature: toolassay:")


def test_links_where_there_are_none_are_unknown(folder: Path) -> None:
    evaluate(folder)
    assert [row.score("e-F1").value for row in leaderboard(folder, mode="compat").rows] == [None, None]


def test_evaluating_several_models_leaves_a_board_beside_the_metrics(folder: Path) -> None:
    said: list[str] = []
    evaluate(folder, llm="poor", screen=Screen(say=said.append))
    assert not (folder / "metrics" / "leaderboard.md").exists()
    evaluate(folder, llm="acme/m", screen=Screen(say=said.append))
    path = folder / "metrics" / "leaderboard.md"
    assert f"leaderboard: {path}" in said
    assert "| acme/m | strict | 4 | 100 |" in path.read_text()
    assert models(leaderboard(folder)) == models(leaderboard(folder, metrics_dir="metrics"))


def test_metrics_of_other_data_are_shown_with_a_warning(folder: Path) -> None:
    evaluate(folder)
    predict(folder, "poor", 2)
    warnings = [line for line in leaderboard(folder).remarks if "warning" in line]
    assert each_has(warnings, "poor was scored with other predictions")
    with (folder / "data.json").open("a") as stream:
        stream.write("\n")
    assert sum("other data than data.json" in line for line in leaderboard(folder).remarks) == 2


def test_a_broken_metrics_file_is_named_and_left_out(folder: Path) -> None:
    evaluate(folder)
    (folder / "metrics" / "broken.json").write_text("{")
    write_json(folder / "metrics" / "odd.json", {"overall_overall": {"strict": {"node_f1": 3}}})
    write_json(folder / "metrics" / "list.json", [1])
    board = leaderboard(folder)
    assert {row.model for row in board.rows} == {"acme/m", "poor"}
    left_out = [line for line in board.remarks if line.startswith("left out: ")]
    assert [name in " ".join(left_out) for name in ("broken.json", "odd.json", "list.json")] == [True] * 3


def test_a_file_of_the_published_evaluator_has_compat_numbers_only(folder: Path) -> None:
    evaluate(folder)
    path = folder / "metrics" / "poor.json"
    groups = json.loads(path.read_text())
    del groups["overall_overall"]["strict"]
    write_json(path, groups)
    board = leaderboard(folder)
    assert models(board)[-1] == ("poor", "compat")
    assert "poor has no strict scores: evaluate it again" in board.remarks


def test_cost_and_time_come_from_the_run(folder: Path) -> None:
    line = {"model": "acme/m", "role": "planner", "outcome": "answered", "seconds": 2.0, "cost": 0.01}
    lines = [{**line, "item": f'"{n}"'} for n in range(4)]
    write_json_lines(folder / "predictions" / "runs" / "acme__m" / "ledger.jsonl", lines)
    evaluate(folder)
    first, second = leaderboard(folder, mode="strict", sort_by="cost").rows
    assert first.cost is not None and first.latency is not None
    assert first.cost.per_1000 == pytest.approx(10.0)
    assert (first.cost.usd, first.latency.p50) == (0.04, 2.0)
    assert (second.cost, second.latency) == (None, None)


def test_published_rows_are_marked(folder: Path, root: Path) -> None:
    evaluate(folder)
    with pytest.raises(UsageError, match="--published huggingface"):
        leaderboard(folder, with_published=True)
    named = leaderboard(folder, published="multimedia")
    assert len(named.rows) == 4 + 17
    assert models(named)[4] == ("gpt-4", "published")
    write_json(folder / "benchmark.json", {"domain": "dailylifeapis"})
    stated = leaderboard(folder, with_published=True)
    assert {row.score("R1").value for row in stated.rows} != {row.score("R1").value for row in named.rows}
    with pytest.raises(UsageError, match="unknown published domain 'x'"):
        leaderboard(folder, published="x")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"mode": "x"}, "--mode 'x' is not one of both"),
        ({"sort_by": "x"}, "unknown column"),
        ({"group": "x"}, "no group 'x'"),
        ({"metrics_dir": "none"}, "holds no metrics"),
    ],
)
def test_what_cannot_be_shown_is_one_line(folder: Path, options: dict[str, Any], told: str) -> None:
    evaluate(folder)
    with pytest.raises(UsageError, match=told):
        leaderboard(folder, **options)


def test_screen_and_suffix_choose_the_format(folder: Path, tmp_path: Path) -> None:
    evaluate(folder)
    given = ("report", "--only", "leaderboard", "--data_dir", folder)
    for name, begins in (
        ("b.md", "## "),
        ("b.csv", "model,scores,"),
        ("b.tex", "% needs"),
        ("b.txt", "data_mine:"),
    ):
        assert inside(*given, "--save", tmp_path / name).out.splitlines() == [str(tmp_path / name)]
        assert (tmp_path / name).read_text().startswith(begins)
    shown = inside(*given, "--format", "csv")
    assert len(shown.out.splitlines()) == 5 and "signature: " in shown.err
    assert "has an unknown suffix" in inside(*given, "--save", tmp_path / "b.xls").error
