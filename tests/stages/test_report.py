"""Five axes of models on all three benchmarks, as people run them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.bundled_folders import first_items
from tests.support.running import inside
from toolassay import write_report
from toolassay.errors import UsageError
from toolassay.files.data_files import safe_name
from toolassay.runs.outcomes import LOCAL, RULES_AT_HAND
from toolassay.stages.report import FILES

NAMES = ("data_huggingface", "data_workbench", "data_classic")


@pytest.fixture(scope="module")
def folders(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first items of the bundled folders."""
    place = tmp_path_factory.mktemp("folders")
    for name in NAMES:
        first_items(root, name, place / name, 3)
    return place


def strict(text: str) -> Any:
    """JSON without NaN."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(name))


def test_five_axes_of_the_offline_models_on_three_benchmarks(folders: Path, tmp_path: Path) -> None:
    places = [folders / name for name in NAMES]
    for place in places:
        given = ("--data_dir", place, "--llm", "offline")
        assert inside("infer", *given, "--trials", "2").code == 0
        assert inside("infer", *given, "--security", "2").code == 0
        assert inside("evaluate", *given).code == 0
    done = inside("report", "--data_dir", *places, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert set(before) == {*FILES}
    runs = strict((tmp_path / "out/axes.json").read_text())["runs"]
    assert [run["benchmark"] for run in runs] == ["taskbench", "workbench", "classic"]
    assert [run["items"] for run in runs] == [3, 3, 3]
    for run, place in zip(runs, places, strict=True):
        metrics = strict((place / "metrics/offline.json").read_text())["overall_overall"]
        assert run["accuracy"]["low"] <= run["accuracy"]["value"] <= run["accuracy"]["high"]
        assert run["stability"]["k"] == 2 and run["stability"]["answer_agreement"]["value"] == 1.0
        assert (run["cost"]["usd_per_1000_items"], run["cost"]["is_at_least"]) == (0.0, False)
        assert run["latency"]["is_local"] is True and 0 <= run["latency"]["seconds_p50"] < 30
        assert run["security"]["attempts"] == metrics["security"]["attempts"] > 0
        assert run["security"]["score"] == metrics["security"]["score"]
        assert run["signature"] == metrics["strict"]["signature"]
    assert [run["title"] for run in runs] == ["TaskBench (huggingface)", "WorkBench", "CLASSic"]
    assert [run["mark"] and run["mark"]["sign"] for run in runs] == ["(built in)", "†", "(built in)"]
    assert "offline †" in done.out and RULES_AT_HAND.line in done.out and LOCAL in done.out
    assert inside("report", "--data_dir", *places, "--out", tmp_path / "out").code == 0
    assert before == {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}


def scored(folder: Path, name: str, **numbers: Any) -> Path:
    """A metrics file as evaluate.py writes it for TaskBench, as far as the report reads it."""
    share: Mapping[str, float] = {"value": 0.5, "low": 0.0, "high": 1.0}
    (folder / "metrics").mkdir(parents=True, exist_ok=True)
    whole = {"strict": {"n_expected": 2, "exact_match": share, "signature": "s"}, **numbers}
    file = folder / f"metrics/{name}.json"
    file.write_text(json.dumps({"overall_overall": whole}))
    return file


def test_metrics_that_are_missing_are_named_with_what_makes_them(tmp_path: Path) -> None:
    folder, other = tmp_path / "one", tmp_path / "a b"
    scored(folder, "m")
    (other / "predictions").mkdir(parents=True)
    (other / "predictions/m.json").write_text("{}\n")
    done = inside("report", "--data_dir", folder, other, "--llm", "m", "--llm", "n", "--out", tmp_path / "o")
    assert done.code == 3
    assert f"no metrics of m. Fix: run evaluate.py --data_dir '{other}' --llm m" in done.err
    assert f"run inference.py --data_dir {folder} --llm n, then evaluate.py likewise" in done.err
    page = (tmp_path / "o/index.html").read_text()
    assert "Left out: " in page
    assert '<span class="mark">--trials</span> 2' in page, "a line does not break inside an option"
    with pytest.raises(UsageError, match=r"run evaluate\(data_dir="):
        write_report(other, out=tmp_path / "p")
    assert not (tmp_path / "p").exists()
    with pytest.raises(UsageError, match=r"no metrics in .*Fix: make them with infer\(\)"):
        write_report(tmp_path, out=tmp_path / "p")


def test_names_of_models_are_text_and_folders_of_one_name_are_distinguished(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    first, second = tmp_path / "x/data", tmp_path / "y/data"
    name = scored(first, safe_name(hostile)).stem
    scored(second, "m")
    manifest = first / f"predictions/runs/{name}/manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"settings": {"llm": hostile}}))
    found = write_report([first, second], out=tmp_path / "out")
    assert [run.model for run in found.runs] == [hostile, "m"]
    assert {run.data for run in found.runs} == {first.as_posix(), second.as_posix()}
    page = (tmp_path / "out/index.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert [row["model"] for row in csv.DictReader((tmp_path / "out/axes.csv").open())] == [hostile, "m"]


def test_metrics_of_the_published_evaluator_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    scored(folder, "m")
    (folder / "metrics/old.json").write_text('{"overall_overall": {"link_binary_f1": 0.5}}')
    found = write_report(folder, out=tmp_path / "out")
    assert [run.model for run in found.runs] == ["m"]
    assert "old.json: holds no strict scores" in found.missing[0]
