"""From imported tools to scores, checked samples and exports, with the offline model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import difficult_tools, imported_folder, workshop_tools
from running import Capture, inside, lines_of


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_every_stage_takes_imported_tools(capsys: Capture, tmp_path: Path, tools: dict[str, Any]) -> None:
    def ran(stage: str, *arguments: str | Path) -> None:
        done = inside(capsys, stage, *arguments)
        assert done.code == 0, done.err

    folder = imported_folder(tmp_path / "d", tools)
    ran("pipeline", "--data_dir", folder, "--dependency_type", "temporal", "--number_of_samples", "30")
    labels = lines_of(folder / "data.json")
    assert len(labels) == 30
    values = [item["value"] for label in labels for node in label["task_nodes"] for item in node["arguments"]]
    assert {int, str, list} <= set(map(type, values))
    ran("check", "--data_dir", folder, "--out", tmp_path / "checked")
    found = lines_of(tmp_path / "checked" / "gates.jsonl")
    assert [line["level"] for line in found] == ["pass"] * 30
    for form in ("openai", "sharegpt", "jsonl"):
        ran("export", "--data_dir", folder, "--to", form, "--out", tmp_path / form)
    chat = json.loads((tmp_path / "openai" / "train.jsonl").read_text().splitlines()[0])
    schemas = [item["function"]["parameters"] for item in chat["tools"]]
    if tools == workshop_tools():
        assert schemas == [tool["input_schema"] for tool in tools["nodes"]]
    scores = json.loads((folder / "metrics" / "offline.json").read_text())
    assert scores
    ran("report", "--data_dir", folder, "--out", tmp_path / "report")
    ran("variety", "--data_dir", folder, "--out", tmp_path / "variety")
    ran("infer", "--llm", "random", "--data_dir", folder)
    ran("evaluate", "--llm", "random", "--data_dir", folder)
