from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.builders import ROOM_TOOLS, imported_tool, typed_tool
from tests.support.running import inside, lines_of
from toolassay import build_graph, generate, pipeline
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import write_json
from toolassay.models import ModelOptions
from toolassay.runs.budget import Budget
from toolassay.worlds.world import read_world

NOBODY = ModelOptions(api_addr="127.0.0.1", api_port=1)


def build_folder(path: Path) -> Path:
    types = [("text", "text"), ("text", "audio"), ("audio", "text"), ("text", "image")]
    tools = [typed_tool(f"Tool {number}", [a], [b]) for number, (a, b) in enumerate(types)]
    write_json(path / "tool_desc.json", {"nodes": tools})
    return path


def test_a_graph_edited_by_hand_is_used_as_it_is(folder: Path) -> None:
    build_graph(folder)
    graph = json.loads((folder / "graph_desc.json").read_text())
    graph["links"] = [link for link in graph["links"] if link["target"] != "Tool 3"]
    write_json(folder / "graph_desc.json", graph)
    pipeline(folder, number_of_samples=12)
    assert json.loads((folder / "graph_desc.json").read_text()) == graph
    assert '"target": "Tool 3"' not in (folder / "data.json").read_text()


def test_every_command_it_names_is_the_one_it_runs(folder: Path) -> None:
    told: list[str] = []
    pipeline(folder, number_of_samples=12, seed=5, multiworker=3, screen=Screen(say=told.append))
    (engine,) = [line for line in told if "toolassay generate" in line]
    assert "--seed 5 --number_of_samples 12 --multiworker 3" in engine


def test_plans_for_tools_with_schemas_run_in_a_world(tmp_path: Path) -> None:
    write_json(tmp_path / "tool_desc.json", {"nodes": ROOM_TOOLS})
    assert pipeline(tmp_path, number_of_samples=6).complete
    assert read_world(tmp_path) is not None
    ran = {line["id"] for line in lines_of(tmp_path / "executions.jsonl") if line["outcome"] == "ran"}
    labels = lines_of(tmp_path / "data.json")
    assert labels and {label["id"] for label in labels} <= ran


@pytest.mark.parametrize("arguments", [(), ("--values_from", "world")])
def test_a_world_has_the_date_of_the_set(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write_json(tmp_path / "tool_desc.json", {"nodes": ROOM_TOOLS})
    few = ("--number_of_samples", "2", "--today", "2027-01-03")
    done = inside("pipeline", "--data_dir", tmp_path, *few, *arguments)
    assert done.code == 0, done.err
    world = read_world(tmp_path)
    assert world is not None and world.now == "2027-01-03T09:00:00+00:00"


def test_without_an_operation_in_a_world_plans_are_not_executed(tmp_path: Path) -> None:
    tool = imported_tool("solve_quadratic", "Solves it.", {"a": {"type": "number"}}, ["a"])
    write_json(tmp_path / "tool_desc.json", {"nodes": [tool]})
    assert pipeline(tmp_path, number_of_samples=3, method="single").evaluations
    assert not (tmp_path / "executions.jsonl").exists()


def test_samples_that_began_without_a_world_go_on_without_one(tmp_path: Path) -> None:
    write_json(tmp_path / "tool_desc.json", {"nodes": ROOM_TOOLS})
    build_graph(tmp_path)
    generate(tmp_path, llm="offline", seed=0, number_of_samples=4, check=True)
    assert pipeline(tmp_path, number_of_samples=6).complete
    assert read_world(tmp_path) is None


def test_one_model_that_cannot_be_asked_does_not_cost_the_others_their_scores(folder: Path) -> None:
    told: list[str] = []
    screen = Screen(say=told.append)
    piped = pipeline(folder, llm=["gpt-4", "offline"], options=NOBODY, number_of_samples=12, screen=screen)
    (result,) = piped.evaluations
    assert piped.complete
    assert result.llm == "offline"
    assert any(line.startswith("warning: gpt-4 is left out") for line in told)
    with pytest.raises(ToolassayError, match="cannot reach"):
        pipeline(folder, llm=["gpt-4"], options=NOBODY, number_of_samples=12)


def test_samples_of_one_model_are_not_passed_off_as_those_of_another(folder: Path) -> None:
    build_graph(folder)
    generate(folder, llm="offline", seed=0, number_of_samples=5)
    shutil.rmtree(folder / "runs")
    with pytest.raises(UsageError, match="llm: 'offline' -> 'gpt-4'"):
        generate(folder, llm="gpt-4", options=NOBODY, seed=0, number_of_samples=5)
    with pytest.raises(UsageError, match="check: False -> True"):
        generate(folder, llm="offline", seed=0, number_of_samples=5, check=True)
    assert generate(folder, llm="offline", seed=0, number_of_samples=7)[1]


def test_a_budget_holds_for_each_run_and_what_it_left_is_said(folder: Path) -> None:
    told: list[str] = []
    screen = Screen(say=told.append)
    budget = Budget(requests=8)
    piped = pipeline(folder, number_of_samples=12, budget=budget, screen=screen)
    assert not piped.complete and piped.evaluations
    stops = [line for line in told if line.startswith("warning: stopped: --max_requests 8")]
    assert len(stops) == 1  # eight samples make at most eight requests
    assert any("toolassay generate" in line and line.endswith("--max_requests 8") for line in told)
    assert pipeline(folder, number_of_samples=12).complete
