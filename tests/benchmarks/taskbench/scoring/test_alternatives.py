"""Several right plans: strict scores take the best one, compat knows the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ROOM_TOOLS, agents_folder, node, plan_of
from tests.support.evaluating import metrics_of
from tests.support.running import lines_of
from toolassay import evaluate
from toolassay.files.data_files import write_json_lines

MAKE = ("create_room", {"title": "Blue"})
LOOK = ("get_room", {"room_id": "<node-0>.room_id"})
GOLD = plan_of(node(MAKE[0], **MAKE[1]), node(LOOK[0], **LOOK[1]), links=[("create_room", "get_room")])
SHORT = plan_of(node(MAKE[0], **MAKE[1]))
OTHER = plan_of(node(MAKE[0], title="Red"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = agents_folder(tmp_path / "rooms", ROOM_TOOLS, {"a": "Make Blue.", "b": "Make Blue."}, MAKE, LOOK)
    labels = lines_of(place / "data.json")
    keys = ("task_nodes", "task_links")
    labels[0]["alternatives"] = [{**{key: SHORT[key] for key in keys}, "by": "a critic"}]
    write_json_lines(place / "data.json", labels)
    return place


def scored(folder: Path, plan: Any) -> list[dict[str, Any]]:
    lines = [{"id": name, "user_request": "Make Blue.", "result": plan} for name in "ab"]
    (folder / "predictions").mkdir(exist_ok=True)
    write_json_lines(folder / "predictions/m.json", lines)
    evaluate(folder, llm="m")
    return lines_of(folder / "metrics/m.items.jsonl")


def test_a_plan_that_is_an_alternative_is_right(folder: Path) -> None:
    with_alternative, without = scored(folder, SHORT)
    assert (with_alternative["scores"]["exact_match"], with_alternative["reference"]) == (1.0, 1)
    assert without["scores"]["exact_match"] == 0.0 and "reference" not in without
    assert metrics_of(folder)["strict"]["exact_match"]["value"] == 0.5


def test_the_gold_plan_is_the_first_reference(folder: Path) -> None:
    with_alternative, without = scored(folder, GOLD)
    assert (with_alternative["scores"]["exact_match"], with_alternative["reference"]) == (1.0, 0)
    assert without["scores"]["exact_match"] == 1.0


def test_the_best_reference_is_chosen_by_values_before_nodes(folder: Path) -> None:
    with_alternative, _ = scored(folder, OTHER)
    assert with_alternative["reference"] == 1  # all its links are right, and one of two nodes was missing
    assert with_alternative["scores"]["node_f1"] == 1.0


@pytest.mark.parametrize("written", [{"task_nodes": [{"tusk": "x"}], "task_links": [], "by": "a critic"}, 7])
def test_an_alternative_that_cannot_be_read_is_none(folder: Path, written: Any) -> None:
    labels = lines_of(folder / "data.json")
    labels[0]["alternatives"] = [written]
    write_json_lines(folder / "data.json", labels)
    with_alternative, _ = scored(folder, SHORT)
    assert with_alternative["scores"]["exact_match"] == 0.0 and "reference" not in with_alternative
