"""The data sets in the box: sound, and what the offline back-instructor writes today."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import lines_of
from toolassay import format_data, generate
from toolassay.benchmarks.workbench.workplace_stages import generate_workbench
from toolassay.graph import ToolGraph
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import read_labels, reference_index, shape_of

NAMES = ("huggingface", "multimedia", "dailylifeapis")


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest, root: Path) -> DataFolder:
    return DataFolder(root / f"data_{request.param}")


def labels(folder: DataFolder) -> list[dict[str, Any]]:
    return [label for _, label in read_labels(folder.data)]


def test_there_are_300_requests_of_every_shape_and_no_two_are_alike(folder: DataFolder) -> None:
    made = labels(folder)
    assert len(made) >= 300
    assert {label["type"] for label in made} == {"single", "chain", "dag"}
    assert len({label["user_request"] for label in made}) == len({label["id"] for label in made}) == len(made)
    assert folder.data_error.read_text() == ""


def test_every_literal_of_the_gold_stands_in_the_request(folder: DataFolder) -> None:
    for label in labels(folder):
        for node in label["task_nodes"]:
            for argument in node["arguments"]:
                value = argument["value"] if isinstance(argument, dict) else argument
                if reference_index(value) is None:
                    assert str(value) in label["user_request"], label["id"]


def test_gold_follows_the_graph(folder: DataFolder) -> None:
    graph = ToolGraph.load(folder.graph_desc, dependency_type=folder.benchmark.dependency_type)
    for label in labels(folder):
        tools = [node["task"] for node in label["task_nodes"]]
        links = [(link["source"], link["target"]) for link in label["task_links"]]
        assert all(graph.link_types(*link) for link in links)
        assert shape_of(len(tools), links, tools=tools) == label["type"]
        if graph.dependency_type == "temporal":
            continue
        references = [
            (tools[source], tool)
            for place, (tool, node) in enumerate(zip(tools, label["task_nodes"], strict=True))
            for argument in node["arguments"]
            if (source := reference_index(argument)) is not None
            if source < place
        ]
        assert sorted(references) == sorted(links), label["id"]
        assert all(
            len(node["arguments"]) == len(graph.library[node["task"]].inputs) for node in label["task_nodes"]
        )


def test_it_is_what_the_offline_model_writes(folder: DataFolder, tmp_path: Path) -> None:
    for path in (folder.tool_desc, folder.graph_desc):
        shutil.copy(path, tmp_path)
    DataFolder(tmp_path).update_benchmark(dependency_type=folder.benchmark.dependency_type)
    generate(tmp_path, llm="offline", check=True, seed=0, number_of_samples=300, multiworker=7)
    format_data(tmp_path)
    written = ("data_raw.json", "data.json", "user_requests.json", "data_error.json")
    for name in (*written, "alignment_ids.json", "alignment_tables.md"):
        assert (tmp_path / name).read_bytes() == (folder.path / name).read_bytes(), name


def test_the_workplace_is_what_the_generator_writes(root: Path, tmp_path: Path) -> None:
    generate_workbench(tmp_path, seed=0)
    for name in ("sandbox.sqlite", "tasks.jsonl", "benchmark.json"):
        assert (tmp_path / name).read_bytes() == (root / "data_workbench" / name).read_bytes(), name


def test_the_reworded_requests_fit_the_tasks(root: Path) -> None:
    tasks = {task["id"]: task for task in lines_of(root / "data_workbench/tasks.jsonl")}
    reworded = {row["id"]: row["request"] for row in lines_of(root / "data_workbench/reworded.jsonl")}
    bundled = {" ".join(task["query"].casefold().split()) for task in tasks.values()}
    assert set(reworded) <= set(tasks)
    assert {tasks[name]["base_template"] for name in reworded} == {
        task["base_template"] for task in tasks.values()
    }
    assert len(set(reworded.values())) == len(reworded) == 100
    assert not bundled & {" ".join(request.casefold().split()) for request in reworded.values()}
