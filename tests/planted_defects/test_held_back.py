"""The samples held back while the gates were written are clean, read by code that the gates do not share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from measurements.planted_defects.clean import faults, faults_of
from measurements.planted_defects.plans import bare, tools_of
from measurements.planted_defects.samples import read_data_set
from toolassay.graph import ToolGraph
from toolassay.tools.library import ToolLibrary

FOLDERS = ("office", "errands", "errands_hub", "media", "travel", "studio", "household", "newsroom")


@pytest.fixture(scope="module")
def held_back(root: Path) -> Path:
    return root / "measurements" / "held_back"


@pytest.mark.parametrize("name", FOLDERS)
def test_held_back_samples_are_clean(held_back: Path, name: str) -> None:
    data = read_data_set(held_back / name)
    assert faults(data) == {}
    named = [
        (tool, r["id"]) for r in data.records for tool in data.tools if bare(tool) in bare(r["user_request"])
    ]
    assert not named


@pytest.mark.parametrize("name", FOLDERS)
def test_plans_are_parts_of_the_tool_graph(held_back: Path, name: str) -> None:
    data = read_data_set(held_back / name)
    written = json.loads((held_back / name / "graph_desc.json").read_text("utf-8"))["links"]
    links = {(link["source"], link["target"]) for link in written}
    ToolLibrary.load(held_back / name / "tool_desc.json")
    ToolGraph.load(held_back / name / "graph_desc.json")
    assert all((link["source"], link["target"]) in links for r in data.records for link in r["task_links"])


def test_held_back_samples_are_many_and_varied(held_back: Path) -> None:
    sizes = {name: [len(tools_of(r)) for r in read_data_set(held_back / name).records] for name in FOLDERS}
    assert [len(sizes[name]) for name in FOLDERS] == [71, 72, 36, 40, 63, 51, 82, 50]
    assert {size for those in sizes.values() for size in those} == {1, 2, 3, 4, 5, 6}


def test_a_fault_is_seen(held_back: Path) -> None:
    data = read_data_set(held_back / "office")
    record = next(r for r in data.records if len(tools_of(r)) == 1)
    assert list(faults_of({**record, "user_request": "Do it."}, data))
    assert list(faults_of({**record, "sampled_nodes": []}, data)) == ["other tools than sampled"]
