"""The two built-in wordings of the inference prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.benchmarks.taskbench.inference import read_plan
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.data_folder import DataFolder
from toolassay.graph import DependencyType

KINDS: list[DependencyType] = ["resource", "temporal"]
FOLDERS: list[tuple[str, DependencyType]] = [
    ("data_huggingface", "resource"),
    ("data_multimedia", "resource"),
    ("data_dailylifeapis", "temporal"),
]
DEMO = {
    "user_request": "Show me.",
    "task_steps": ["Step 1"],
    "task_nodes": [{"task": "a", "arguments": []}],
    "task_links": [],
}


@pytest.mark.parametrize(("name", "kind"), FOLDERS)
def test_the_worked_example_is_shorter_than_the_published_prompt(
    root: Path, name: str, kind: DependencyType
) -> None:
    library = DataFolder(root / name).library()
    published, example = (
        PlanPrompt(library, kind, wording=wording).text for wording in ("default", "example")
    )
    assert len(example) < len(published)
    assert "…" in published and "…" not in example
    assert '{"id"' in published and '{"id"' not in example
    assert all(f"- {tool.id}: " in example for tool in library)


@pytest.mark.parametrize(("name", "kind"), FOLDERS)
def test_its_answer_is_a_plan_for_tools_that_the_user_does_not_have(
    root: Path, name: str, kind: DependencyType
) -> None:
    library = DataFolder(root / name).library()
    asked, answered, prompt = PlanPrompt(library, kind, wording="example").messages("Go.")
    assert [turn["role"] for turn in (asked, answered, prompt)] == ["user", "assistant", "user"]
    assert "$" not in asked["content"] and "Go." in prompt["content"]
    answer = answered["content"]
    plan = json.loads(answer)
    assert len(plan["task_nodes"]) == len(plan["task_steps"]) == 2
    assert all(node["task"] not in library for node in plan["task_nodes"])
    assert ("task_links" in plan) == (kind == "temporal")
    assert read_plan(answer, kind, "stop")[0] is None, "a model that repeats it has not answered"
    other = {**plan, "task_steps": ["Another"]}
    assert read_plan(json.dumps(other), kind, "stop")[0] == other


@pytest.mark.parametrize("kind", KINDS)
def test_demonstrations_stand_between_the_tools_and_the_request(root: Path, kind: DependencyType) -> None:
    library = DataFolder(root / "data_huggingface").library()
    prompt = PlanPrompt(library, kind, wording="example", demos=[DEMO]).render("Go.")
    parts = ["- Token Classification", "Use only", "Show me.", "Go."]
    places = [prompt.index(part) for part in parts]
    assert places == sorted(places)
    assert "$" not in prompt
