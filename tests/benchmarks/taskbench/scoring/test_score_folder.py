from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import plan, scored_folder, text_tools
from toolassay import evaluate
from toolassay.benchmarks.taskbench.evaluation import aligned_ids, evaluate_folder
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.errors import UsageError
from toolassay.evaluation.evaluation import FolderEvaluation, ScoringSettings
from toolassay.evaluation.items import items_path
from toolassay.evaluation.places import metrics_folder, models_of
from toolassay.files.data_files import write_json
from toolassay.records.data_folder import DataFolder

PLAN = plan("a")
ALIGNMENT = {"node_alignment_id": {"single": ["1"], "chain": [], "dag": []}}


def build_folder(path: Path) -> Path:
    """Two requests, of which the model `acme/m-1` answers the first, in `predictions` and in `outputs`."""
    scored_folder(path, {"1": PLAN, "2": PLAN}, {"acme__m-1": {"1": PLAN}}, tools="a")
    write_json(path / "alignment_ids.json", ALIGNMENT)
    shutil.copytree(path / "predictions", path / "outputs")
    return path


def _evaluate(folder: Path, llm: str = "all", **options: Any) -> FolderEvaluation:
    scoring = ScoringSettings((llm,))
    result = evaluate_folder(DataFolder(folder), "acme/m-1", PlanScoring(resamples=0, **options), scoring)
    written = json.loads(result.path.read_text())
    assert written == {key: group.numbers for key, group in result.evaluation.groups.items()}
    return result


def test_metrics_go_beside_the_predictions(folder: Path) -> None:
    result = _evaluate(folder)
    assert result.path == folder / "metrics" / "acme__m-1.json"
    assert result.path.read_text().startswith('{\n  "overall_overall": {\n    "all_samples": 1')


@pytest.mark.parametrize("way", ["below", "relative", "absolute"])
def test_a_prediction_folder_may_be_given_as_a_path(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is named from, demonstrations are known and metrics lie beside it."""
    monkeypatch.chdir(folder.parent)
    name = "predictions_use_demos_2"
    (folder / "predictions").rename(folder / name)
    manifest = folder / name / "runs" / "acme__m-1" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"settings": {"demo_ids": ["2"]}}))
    given = {"below": Path(name), "relative": Path(folder.name, name), "absolute": folder / name}[way]
    result = evaluate_folder(
        DataFolder(Path(folder.name)),
        "acme/m-1",
        PlanScoring(resamples=0),
        ScoringSettings(prediction_dir=given),
    )
    assert result.path.resolve() == (folder / "metrics_use_demos_2" / "acme__m-1.json").resolve()
    assert result.evaluation.groups["overall_overall"].strict["n_expected"] == 1
    assert not (folder / folder.name).exists()


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_the_graph_may_hold_the_tools(folder: Path, kind: str) -> None:
    expected = _evaluate(folder, dependency_type=kind).evaluation.groups
    tools = json.loads((folder / "tool_desc.json").read_text())
    (folder / "tool_desc.json").unlink()
    (folder / "graph_desc.json").write_text(json.dumps({**tools, "links": [], "dependency_type": kind}))
    for flag in (None, kind):
        assert _evaluate(folder, dependency_type=flag).evaluation.groups == expected
    (folder / "graph_desc.json").unlink()
    with pytest.raises(UsageError, match=r"tool_desc\.json: no such file"):
        _evaluate(folder)


@pytest.mark.parametrize(
    ("prediction_dir", "options", "expected"),
    [
        ("predictions_x/", {}, "metrics_x"),
        ("predictions/run", {}, "metrics/run"),
        ("predictions", {"save_dir": "s", "alignment": "node"}, "s"),
        ("../outputs", {}, "metrics_outputs"),
    ],
)
def test_metrics_folder(prediction_dir: str, options: dict[str, str], expected: str, tmp_path: Path) -> None:
    assert metrics_folder(tmp_path, prediction_dir, **options) == tmp_path / expected


def test_alignment(folder: Path) -> None:
    result = _evaluate(folder, alignment="node")
    assert result.path.parent.name == "metrics_alignment_node"
    assert result.evaluation.groups["overall_overall"].strict["n_expected"] == 1
    assert aligned_ids(folder / "alignment_ids.json", "human") is None
    with pytest.raises(UsageError, match="human, node"):
        aligned_ids(folder / "alignment_ids.json", "foo")


def test_missing_predictions_name_what_is_there(folder: Path) -> None:
    with pytest.raises(UsageError, match="acme__m-1"):
        evaluate(folder, llm="other")
    with pytest.raises(UsageError, match="no prediction folder"):
        evaluate(folder, llm="acme/m-1", prediction_dir="nowhere")


def test_items_lie_beside_the_metrics(folder: Path) -> None:
    result = _evaluate(folder)
    items = [json.loads(line) for line in items_path(result.path).read_text().splitlines()]
    assert [(item["id"], item["outcome"], item["counts"]["nodes"]) for item in items] == [
        ("1", "answered", [1, 0, 0]),
        ("2", "missing", [0, 0, 1]),
    ]


def _graph_without_links(folder: Path) -> None:
    tools = json.loads((folder / "tool_desc.json").read_text())
    (folder / "graph_desc.json").write_text(json.dumps({**tools, "links": []}))


def _other_alignment(folder: Path) -> None:
    (folder / "alignment_ids.json").write_text(json.dumps({"node_alignment_id": {"single": ["1", "2"]}}))


@pytest.mark.parametrize("change", [_graph_without_links, _other_alignment])
def test_whatever_the_scores_come_from_is_in_their_signature(
    folder: Path, change: Callable[[Path], None]
) -> None:
    (folder / "tool_desc.json").write_text(json.dumps(text_tools("ab")))
    before = _evaluate(folder, alignment="node").evaluation.signature
    assert _evaluate(folder, alignment="node").evaluation.signature == before
    change(folder)
    assert _evaluate(folder, alignment="node").evaluation.signature != before


def test_metrics_never_replace_the_data(folder: Path) -> None:
    (folder / "predictions" / "data.json").write_text("")
    before = (folder / "data.json").read_bytes()
    with pytest.raises(UsageError, match="would replace a file of the data"):
        evaluate(folder, llm="data", save_dir=".")
    assert (folder / "data.json").read_bytes() == before


def test_every_model_of_a_folder(folder: Path) -> None:
    (folder / "predictions" / "b.json").write_text("")
    run = folder / "predictions" / "runs" / "acme__m-1"
    run.mkdir(parents=True)
    (run / "manifest.json").write_text(json.dumps({"settings": {"llm": "acme/m-1"}}))
    assert models_of(folder) == ["acme/m-1", "b"]
    with pytest.raises(UsageError, match="no prediction folder"):
        models_of(folder, "elsewhere")
