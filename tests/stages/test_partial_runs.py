"""A question that was never asked is no wrong answer: partial runs of all three benchmarks."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.bundled_folders import first_items
from tests.support.evaluating import metrics_of
from tests.support.running import infer, inside, lines_of, write_lines
from toolassay.testkit import FakeServer

WHOLE = "overall_overall"
COUNT = 12


@pytest.fixture
def folders(root: Path, tmp_path: Path) -> dict[str, Path]:
    """A folder of each benchmark with twelve items."""
    names = {"taskbench": "data_multimedia", "workbench": "data_workbench", "classic": "data_classic"}
    return {key: first_items(root, name, tmp_path / key, COUNT) for key, name in names.items()}


@pytest.fixture
def plans(folders: dict[str, Path]) -> Path:
    return folders["taskbench"]


def counts_of(strict: dict[str, Any]) -> tuple[int, int, int, bool]:
    return strict["n_labels"], strict["n_asked"], strict["n_scored"], strict["partial"]


def score_of(folder: Path, place: str = "metrics") -> float:
    """The headline: the strict score that the table shows first."""
    strict = metrics_of(folder, "offline", place)["strict"]
    if "node_f1" in strict:
        return float(strict["node_f1"]["value"])
    if "intervals" in strict:
        return float(strict["intervals"]["accuracy"]["value"])
    return float(strict["accuracy"]["domain:all"]["messages"]["value"])


@pytest.mark.parametrize("name", ["taskbench", "workbench", "classic"])
def test_a_run_with_a_limit_is_scored_on_what_was_asked(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    one = ("--data_dir", folder, "--llm", "offline")
    assert inside("infer", *one).code == 0
    assert inside("evaluate", *one).code == 0
    assert counts_of(metrics_of(folder, "offline")["strict"]) == (COUNT, COUNT, COUNT, False)

    part = ("--prediction_dir", "predictions_part")
    assert inside("infer", *one, "--limit", "5", *part).code == 0
    done = inside("evaluate", *one, *part)
    assert done.code == 3
    assert "warning: offline: 5 of 12 asked (excluded: 7 not run)" in done.err
    assert "5 of 12" in done.out
    strict = metrics_of(folder, "offline", "metrics_part")["strict"]
    assert counts_of(strict) == (COUNT, 5, 5, True)
    assert strict["coverage"] == 5 / 12
    by_items = lines_of(folder / "metrics_part/offline.items.jsonl")
    assert len(by_items) == COUNT
    unasked = [item for item in by_items if item["outcome"] == "not run"]
    assert len(unasked) == 7
    assert {score for item in unasked for score in item["scores"].values()} == {None}

    # What was asked scores as the same items of the whole run do; and a chosen part is no partial run.
    partial = score_of(folder, "metrics_part")
    done = inside("evaluate", *one, "--limit", "5", "--save_dir", "metrics_five")
    assert done.code == 0
    assert counts_of(metrics_of(folder, "offline", "metrics_five")["strict"]) == (5, 5, 5, False)
    assert score_of(folder, "metrics_five") == partial
    assert inside("verify", *one, *part).code == 0

    done = inside("evaluate", *one, *part, "--min_coverage", "0.9")
    assert "only 41.7% of the labels were scored" in done.err


@pytest.mark.parametrize("name", ["taskbench", "workbench", "classic"])
def test_evaluate_takes_ids_as_infer_does(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    one = ("--data_dir", folder, "--llm", "offline")
    assert inside("infer", *one).code == 0
    assert inside("evaluate", *one).code == 0
    chosen = [item["id"] for item in lines_of(folder / "metrics/offline.items.jsonl")][3:6]
    (folder / "chosen.txt").write_text("\n".join(chosen), encoding="utf-8")
    done = inside("evaluate", *one, "--ids", folder / "chosen.txt")
    assert done.code == 0
    assert [item["id"] for item in lines_of(folder / "metrics/offline.items.jsonl")] == chosen
    assert metrics_of(folder, "offline")["strict"]["n_labels"] == 3
    assert "|chosen:" in metrics_of(folder, "offline")["strict"]["signature"]
    assert inside("verify", *one).code == 0
    (folder / "chosen.txt").write_text("no such id", encoding="utf-8")
    done = inside("evaluate", *one, "--ids", folder / "chosen.txt")
    assert (done.code, "no such id" in done.error) == (2, True)


def test_a_partial_run_has_no_rank_and_says_so_everywhere(plans: Path, tmp_path: Path) -> None:
    one = ("--data_dir", plans, "--llm", "offline")
    inside("infer", *one)
    predictions = plans / "predictions"
    worse = [
        {**line, "result": {**line["result"], "task_nodes": []}}
        for line in lines_of(predictions / "offline.json")
    ]
    write_lines(predictions / "worse.json", worse)
    inside("infer", *one, "--limit", "4", "--prediction_dir", "part")
    (plans / "part/offline.json").rename(predictions / "few.json")
    (plans / "part/runs/offline").rename(predictions / "runs/few")
    manifest = predictions / "runs/few/manifest.json"  # of a model: built-in programs have no rank
    manifest.write_text(manifest.read_text().replace('"offline"', '"few"'))
    assert inside("evaluate", "--data_dir", plans, "--llm", "all").code == 3
    board = (plans / "metrics/leaderboard.md").read_text(encoding="utf-8")
    models = [line.split("|")[1].strip() for line in board.splitlines() if line.startswith("| ")]
    # Although its score is that of the best, it is below the worst complete run.
    assert [name for name in dict.fromkeys(models) if name in ("worse", "few")] == ["worse", "few"]
    assert "4 of 12 asked" in board
    done = inside("report", "--data_dir", plans, "--out", tmp_path / "report")
    runs = json.loads((tmp_path / "report/axes.json").read_text())["runs"]
    (few,) = (run for run in runs if run["n_asked"] == 4)
    assert (few["n_labels"], few["n_scored"], few["partial"]) == (12, 4, True)
    assert "4 of 12 asked" in done.out
    assert "4 of 12 asked" in (tmp_path / "report/index.html").read_text(encoding="utf-8")


def test_what_the_model_did_is_wrong_and_what_happened_to_it_is_excluded(
    plans: Path, fake_server: FakeServer
) -> None:
    requests = [line["user_request"] for line in lines_of(plans / "user_requests.json")]
    faults = dict(zip(requests, ["500", "overflow", "null-content"], strict=False))

    def behaviour(prompt: str, number: int) -> str:
        return next((fault for text, fault in faults.items() if text in prompt), "whole")

    fake_server.behaviour = behaviour
    assert infer(fake_server, plans, "--llm", "acme", "--max_tries", "1").code == 3
    done = inside("evaluate", "--data_dir", plans, "--llm", "acme")
    assert done.code == 3
    assert "warning: acme: 10 of 12 scored (excluded: 2 provider error)" in done.err
    strict = metrics_of(plans, "acme")["strict"]
    assert counts_of(strict) == (12, 12, 10, True)
    assert strict["outcomes"]["context overflow"] == 1  # counts, as wrong
    assert strict["n_expected"] == 10


def test_answers_of_a_run_that_was_killed_before_it_wrote_them_are_not_wrong(plans: Path) -> None:
    one = ("--data_dir", plans, "--llm", "offline")
    inside("infer", *one)
    path = plans / "predictions/offline.json"
    write_lines(path, lines_of(path)[:4])
    done = inside("evaluate", *one)
    assert done.code == 3
    assert "8 answer(s) of the journal are not in the prediction file" in done.err
    assert counts_of(metrics_of(plans, "offline")["strict"]) == (12, 12, 4, True)
    inside("infer", *one)
    assert inside("evaluate", *one).code == 0
    assert counts_of(metrics_of(plans, "offline")["strict"]) == (12, 12, 12, False)


@pytest.mark.parametrize("name", ["taskbench", "workbench", "classic"])
def test_without_a_manifest_every_label_is_expected(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    one = ("--data_dir", folder, "--llm", "offline")
    inside("infer", *one, "--limit", "5")
    inside("evaluate", *one)
    asked = score_of(folder)
    shutil.rmtree(folder / "predictions/runs")
    done = inside("evaluate", *one)
    assert done.code == 0
    assert counts_of(metrics_of(folder, "offline")["strict"]) == (12, 12, 5, False)
    assert score_of(folder) == pytest.approx(asked * 5 / 12)
    assert inside("evaluate", *one, "--min_coverage", "0.9").code == 3


@pytest.mark.parametrize("name", ["taskbench", "workbench", "classic"])
def test_scores_of_chosen_items_have_no_rank_and_say_so(
    folders: dict[str, Path], name: str, tmp_path: Path
) -> None:
    folder = folders[name]
    one = ("--data_dir", folder)
    for llm in ("nothing", "offline"):
        inside("infer", *one, "--llm", llm)
        inside("evaluate", *one, "--llm", llm, *(("--limit", "5") if llm == "offline" else ()))
    done = inside("report", "--only", "leaderboard", *one, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["asked"] for row in rows if row["model"] == "offline"} == {"5 chosen"}
    assert "warning: warning:" not in done.err
    done = inside("report", *one, "--out", tmp_path / "report")
    assert "5 chosen" in done.out and "not comparable" in done.out
