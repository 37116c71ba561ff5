"""The stage that makes a workplace: the command, the seed, what judges make of the ground truth."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.generate.company import Tables, draw_tables
from toolassay.benchmarks.workbench.generate.generated_tasks import NoRoom, draw_tasks
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.workplace_stages import evaluate_results, generate_workbench
from toolassay.console.screen import Screen


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let seed 1 have no room, and other seeds only twenty tasks."""

    def draw(tables: Tables, seed: int) -> list[Task]:
        if seed == 1:
            raise NoRoom("the tables of seed 1 do not allow a template", fix="choose another seed")
        return bundled[:20]

    bundled = draw_tasks(draw_tables(3), 3)
    monkeypatch.setattr("toolassay.benchmarks.workbench.workplace_stages.draw_tasks", draw)


@pytest.mark.usefixtures("no_room")
def test_a_seed_without_room_is_an_error_and_a_seed_may_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoRoom, match="seed 1 do not allow"):
        generate_workbench(tmp_path, seed=1)
    assert not list(tmp_path.iterdir())
    said = list[str]()
    monkeypatch.setattr("secrets.randbelow", lambda most: 3)
    generate_workbench(tmp_path, seed=-1, screen=Screen(say=said.append))
    assert said[0] == "seed 3"
    assert json.loads((tmp_path / "benchmark.json").read_text())["generation"]["seed"] == 3


@pytest.mark.parametrize("mode", ["compat", "strict"])
def test_the_ground_truth_is_judged_correct(root: Path, tmp_path: Path, mode: str) -> None:
    """What a run that made no mistake would get."""
    results = tmp_path / "model_all_2024-01-01_00-00-00.csv"
    tasks = [json.loads(line) for line in (root / "data_workbench/tasks.jsonl").read_text().splitlines()]
    with results.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_ALL)
        rows.writerow(["query", "function_calls", "full_response", "error"])
        rows.writerows([task["query"], str(task["answer"]), "", ""] for task in tasks)
    (found,) = evaluate_results(root / "data_workbench", results, out=tmp_path / "out", mode=mode).values()
    assert (found["n"], found["correct"], found["side_effects"]) == (690, 690, 0)
