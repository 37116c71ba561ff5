"""The ready sets: their gold belongs to the server and the world that ship with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from measurements.ready_sets import of_strength
from measurements.told_apart import Programs
from tests.support.running import lines_of
from toolassay import SILENT, evaluate, execute, infer
from toolassay.files.data_files import read_json, sha256_of, write_json_lines
from toolassay.plans.execution_record import read_executions
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.worlds.checks import world_flaws
from toolassay.worlds.world import read_world

SETS = {"data_desk": 120, "data_allotment": 60}


@pytest.mark.parametrize("name", SETS)
def test_all_gold_ran_and_alternatives_do_the_same(root: Path, name: str) -> None:
    labels = {label["id"]: label for label in lines_of(root / name / "data.json")}
    executions = list(read_executions(root / name / "executions.jsonl"))
    assert len(labels) >= SETS[name] and [one.id for one in executions] == [*labels]
    assert {one.outcome for one in executions} == {"ran"}
    for one in executions:
        written = labels[one.id].get("alternatives", ())
        assert [verdict.outcome for verdict in one.alternatives or ()] == ["same"] * len(written)


def test_the_server_is_the_one_on_which_gold_ran(root: Path) -> None:
    settings = read_json(root / "data_desk/execution/manifest.json")["settings"]
    assert settings["program booking_desk.py_sha256"] == sha256_of(root / "examples/booking_desk.py")
    assert settings["fresh"] == "plan", "what a newcomer's command does"


def test_the_world_is_the_one_in_which_gold_ran_and_works(root: Path) -> None:
    world = read_world(root / "data_allotment")
    assert world is not None and world_flaws(world, DataFolder(root / "data_allotment").library()) == []
    settings = read_json(root / "data_allotment/execution/manifest.json")["settings"]
    assert settings["world"] == world.digest and settings["today"] == world.now[:10]
    tools = read_json(root / "examples/allotment_tools.json")["tools"]
    assert {tool["function"]["name"] for tool in tools} == {*world.tools}


def test_a_program_that_knows_the_gold_is_right_and_one_that_takes_the_first_is_not(
    root: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(root / "data_allotment", folder)
    labels = lines_of(folder / "data.json")[:12]
    write_json_lines(folder / "data.json", labels)
    requests = [{"id": label["id"], "user_request": label["user_request"]} for label in labels]
    write_json_lines(folder / "user_requests.json", requests)
    execute(folder, executor="world", force=True, screen=SILENT)
    golds = {label["user_request"]: Gold.of(label) for label in labels}
    programs = Programs(golds, {one.id: one for one in read_executions(folder / "executions.jsonl")})
    right = []
    for name, strength in (("right", 1.0), ("first", 0.0)):
        infer(folder, llm=name, agent=of_strength(programs, strength), executor="world", screen=SILENT)
        evaluate(folder, llm=name, prediction_dir="predictions_agents", screen=SILENT)
        items = lines_of(folder / f"metrics_agents/outcomes/{name}.items.jsonl")
        right.append(sum(item["correct"] is True for item in items))
    assert right[0] == 12 > right[1], json.dumps(right)
