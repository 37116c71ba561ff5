from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolgraph import evaluate
from toolgraph.errors import UsageError
from toolgraph.files import write_json, write_json_lines
from toolgraph.stages.screen import Screen

TOOLS = {
    "nodes": [{"id": name, "desc": "", "input-type": ["text"], "output-type": ["text"]} for name in "ab"]
}


def plan(tool: str) -> dict[str, Any]:
    return {
        "task_steps": [f"Use {tool}"],
        "task_nodes": [{"task": tool, "arguments": ["text"]}],
        "task_links": [],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    labels = [
        {"id": str(n), "type": "single", "n_tools": 1, "user_request": "r", **plan("a")} for n in range(4)
    ]
    write_json(tmp_path / "tool_desc.json", TOOLS)
    write_json_lines(tmp_path / "data.json", labels)
    for name, tool in (("good", "a"), ("bad", "b")):
        lines = [{"id": label["id"], "user_request": "r", "result": plan(tool)} for label in labels]
        write_json_lines(tmp_path / "predictions" / f"{name}.json", lines)
    return tmp_path


def test_several_models_are_scored_in_one_go(folder: Path) -> None:
    good, bad = evaluate(folder, llm=["good", "bad"])
    strict = [result.evaluation.groups["overall_overall"]["strict"] for result in (good, bad)]
    assert [numbers["node_f1"]["value"] for numbers in strict] == [1.0, 0.0]
    written = json.loads((folder / "metrics" / "good.json").read_text())
    assert written["overall_overall"]["node_micro_f1_no_matching"] == 1.0


def test_demonstrations_shown_to_the_model_are_no_test_of_it(folder: Path) -> None:
    write_json(
        folder / "predictions" / "runs" / "good" / "manifest.json", {"settings": {"demo_ids": ["0", "3"]}}
    )
    (result,) = evaluate(folder, llm="good")
    numbers = result.evaluation.groups["overall_overall"]
    assert numbers["strict"]["n_expected"] == 2
    assert numbers["all_samples"] == 4


def test_missing_predictions_cost_something_and_are_named(folder: Path) -> None:
    path = folder / "predictions" / "good.json"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    told: list[str] = []
    (result,) = evaluate(folder, llm="good", screen=Screen(say=told.append))
    numbers = result.evaluation.groups["overall_overall"]
    assert numbers["node_micro_f1_no_matching"] == 1.0
    assert numbers["strict"]["node_f1"]["value"] == 0.25
    assert any("'1'" in line for line in told)


def test_a_model_without_predictions_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match="nobody"):
        evaluate(folder, llm="nobody")
