"""The stage that makes a workplace: the command, the seed, what judges make of the ground truth."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.generate.generated_tasks import NoRoom
from toolassay.benchmarks.workbench.workplace_stages import evaluate_results, generate_workbench
from toolassay.cli.main import load, run
from toolassay.screen import Screen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "data"
    assert run(load("workbench"), ["generate", "--data_dir", str(path), "--seed", "7"], "workbench") == 0
    return path


def test_a_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate_workbench(tmp_path / "again", seed=7)
    for name in ("sandbox.sqlite", "tasks.jsonl", "benchmark.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_drawn_seed_is_shown_and_recorded(tmp_path: Path) -> None:
    said: list[str] = []
    generate_workbench(tmp_path, seed=-1, screen=Screen(say=said.append))
    seed = json.loads((tmp_path / "benchmark.json").read_text())["generation"]["seed"]
    assert said[0] == f"seed {seed}"


def test_a_given_seed_that_leaves_no_room_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoRoom, match="seed 212320 do not allow"):
        generate_workbench(tmp_path, seed=212320)


def test_another_seed_is_drawn_where_one_leaves_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = iter([212320, 3])
    monkeypatch.setattr("secrets.randbelow", lambda most: next(seeds))
    generate_workbench(tmp_path, seed=-1)
    assert json.loads((tmp_path / "benchmark.json").read_text())["generation"]["seed"] == 3


def test_a_folder_of_another_benchmark_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmark.json").write_text('{"benchmark": "classic"}')
    assert run(load("workbench"), ["generate", "--data_dir", str(tmp_path)], "workbench") == 2
    assert "is a classic folder. Fix: choose another --data_dir" in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["compat", "strict"])
def test_the_ground_truth_is_judged_correct(folder: Path, tmp_path: Path, mode: str) -> None:
    """What a run that made no mistake would get."""
    results = tmp_path / "model_all_2024-01-01_00-00-00.csv"
    tasks = [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]
    with results.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_ALL)
        rows.writerow(["query", "function_calls", "full_response", "error"])
        rows.writerows([task["query"], str(task["answer"]), "", ""] for task in tasks)
    (found,) = evaluate_results(folder, results, out=tmp_path / "out", mode=mode).values()
    assert (found["n"], found["correct"], found["side_effects"]) == (690, 690, 0)
