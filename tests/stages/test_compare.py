"""Two models on a bundled data set, from their predictions to the verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import bundled_plans
from tests.support.evaluating import metrics_of
from tests.support.running import inside
from toolassay import compare, evaluate, infer, leaderboard
from toolassay.console.tables import Cell
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json_lines, write_json_lines

Capture = pytest.CaptureFixture[str]
COUNT = 80
FAST = ["--resamples", "500"]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The offline planner, a copy that knows every third answer, and one that loses every second."""
    folder = bundled_plans(tmp_path_factory.mktemp("data"), "data_multimedia", COUNT)
    infer(folder, llm="offline")
    gold = {value["id"]: value for _, value in read_json_lines(folder / "data.json")}
    mine = [value for _, value in read_json_lines(folder / "predictions" / "offline.json")]
    plan = ("task_steps", "task_nodes", "task_links")
    taught = [
        {**line, "result": {part: gold[line["id"]][part] for part in plan}} if place % 3 == 0 else line
        for place, line in enumerate(mine)
    ]
    write_json_lines(folder / "predictions" / "acme__taught.json", taught)
    write_json_lines(folder / "predictions" / "lossy.json", mine[::2])
    evaluate(folder, llm=["offline", "acme/taught", "lossy"])
    return folder


@pytest.fixture
def folder(evaluated: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(evaluated, tmp_path / "data")


def items_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [value for _, value in read_json_lines(folder / "metrics" / f"{name}.items.jsonl")]


def test_models_of_several_prediction_folders_are_found_by_name(folder: Path) -> None:
    for place in ("predictions", "metrics"):
        (folder / f"{place}_agents").mkdir()
        for file in (folder / place).glob("lossy.*"):
            file.rename(folder / f"{place}_agents" / file.name)
    (worse,) = compare("offline", "lossy", data_dir=folder, resamples=500).models
    assert worse.n_compared == COUNT and worse["node_f1"].verdict == "worse"
    ways = leaderboard(folder).ways
    assert ways is not None
    rows = [[cell.text for cell in row[:2] if isinstance(cell, Cell)] for row in ways.rows]
    assert len(rows) == 3 and ["lossy", "predictions_agents"] in rows


def test_a_better_and_a_worse_model_are_distinguished_from_chance(evaluated: Path) -> None:
    result = compare("offline", "acme/taught", "lossy", data_dir=evaluated, resamples=2_000)
    better, worse = result.models
    assert (better.baseline, better.model, better.n_compared) == ("offline", "acme/taught", COUNT)
    assert {better[name].verdict for name in ("node_f1", "exact_match", "rouge1")} == {"better"}
    assert {worse[name].verdict for name in ("node_f1", "edit_similarity", "rouge1")} == {"worse"}
    assert worse["node_f1"].smallest_detectable is not None
    assert result.notes == []
    baseline = metrics_of(evaluated, "offline")["strict"]
    for model in result.models:
        own = metrics_of(evaluated, model.model.replace("/", "__"))["strict"]
        for score in model.scores:
            assert score.value == pytest.approx(own[score.metric]["value"])
            assert score.baseline == pytest.approx(baseline[score.metric]["value"])
            assert score.p is not None
            assert score.p_holm is not None
            assert 0 < score.p <= score.p_holm <= 1


def test_holm_counts_the_other_models_too(evaluated: Path) -> None:
    (alone,) = compare("offline", "lossy", data_dir=evaluated, metrics=["node_f1"], resamples=200).models
    both = compare("offline", "offline", "lossy", data_dir=evaluated, metrics=["node_f1"], resamples=200)
    p = alone["node_f1"].p
    assert p is not None
    assert alone["node_f1"].p_holm == p
    assert both.models[1]["node_f1"].p_holm == pytest.approx(2 * p)


def test_items_that_only_one_has_are_named_counted_and_left_out(folder: Path) -> None:
    items = items_of(folder, "lossy")
    write_json_lines(folder / "metrics" / "lossy.items.jsonl", items[2:])
    result = compare("offline", "lossy", data_dir=folder, resamples=100)
    (model,) = result.models
    assert (model.n_compared, model.only_baseline, model.only_model) == (COUNT - 2, 2, 0)
    first, second = (repr(item["id"]) for item in items[:2])
    assert f"2 item(s) that only offline was asked are left out: {first}, {second}" in result.notes


def test_a_group_of_items(evaluated: Path) -> None:
    chains = [
        item for item in items_of(evaluated, "offline") if (item["type"], item["n_tools"]) == ("chain", 3)
    ]
    result = compare("offline", "lossy", data_dir=evaluated, split="chain", n_tools=3, resamples=100)
    assert result.group == "chain_3"
    assert result.models[0].n_compared == len(chains) > 0
    for wrong in ({"split": "circle"}, {"n_tools": 11}, {"split": "all"}, {"n_tools": "all"}):
        with pytest.raises(UsageError):
            compare("offline", "lossy", data_dir=evaluated, **wrong)


def test_other_settings_are_a_warning(folder: Path) -> None:
    evaluate(folder, llm="lossy", metrics=["f1"])
    with (folder / "data.json").open("a") as stream:
        stream.write("\n")
    evaluate(folder, llm="acme/taught")
    few, newer = (
        compare("offline", name, data_dir=folder, resamples=50) for name in ("lossy", "acme/taught")
    )
    for found, part, same in ((few, "metrics", "data"), (newer, "data", "metrics")):
        notes = " ".join(found.notes)
        assert f"differ in {part} (" in notes and f"differ in {same} (" not in notes
    assert any(note.startswith("only offline has edge_f1, ") for note in few.notes)
    assert [score.metric for score in few.models[0].scores][:2] == ["node_f1", "argument_name_f1"]


def test_the_command(evaluated: Path, tmp_path: Path) -> None:
    saved = tmp_path / "result.json"
    asked: tuple[str | Path, ...] = (
        "offline",
        "acme/taught",
        "--data_dir",
        evaluated,
        *FAST,
        "--save",
        saved,
    )
    done = inside("compare", *asked)
    assert done.code == 0
    lines = done.out.splitlines()
    title = "acme/taught (B) against offline (built in) (A): overall_overall, 80 items"
    assert " ".join(done.out.split()).startswith(title)
    row = next(line for line in lines if line.startswith(" node_f1 ")).split()
    score = json.loads(saved.read_text())["models"][0]["scores"]["node_f1"]
    assert row[1:3] == [f"{100 * score['baseline']:.2f}", f"{100 * score['value']:.2f}"]
    assert row[-2:] == ["better", f"{100 * score['smallest_detectable']:.2f}"]
    again = tmp_path / "again.json"
    assert inside("compare", *asked[:-1], again).code == 0
    assert again.read_bytes() == saved.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["offline", "nobody"], "nobody.items.jsonl: no such file of items. Fix: run evaluate.py"),
        (["offline", "lossy", "-m", "charm"], "'charm' is no score that both offline and lossy have"),
        (["offline", "lossy", "-n", "12"], "unknown number of tools '12'"),
    ],
)
def test_what_cannot_be_compared_is_one_line(evaluated: Path, arguments: list[str], words: str) -> None:
    done = inside("compare", *arguments, "--data_dir", evaluated)
    assert (done.code, done.out) == (2, "")
    assert words in done.error and len(done.err.strip().splitlines()) == 1
