from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.inference import read_plan
from toolassay.benchmarks.taskbench.prompt import PlanPrompt, built_in
from toolassay.graph import DependencyType
from toolassay.models.json_answers import ECHO
from toolassay.plans.normalised_plan import PlanReader
from toolassay.tools.library import Tool, ToolLibrary

RESOURCE: dict[str, Any] = {
    "task_steps": ["Read the text", "Speak it"],
    "task_nodes": [
        {"task": "Reader", "arguments": ["example.txt"]},
        {"task": "Speaker", "arguments": ["<node-0>"]},
    ],
    "task_links": [{"source": "Reader", "target": "Speaker"}],
}
TEMPORAL: dict[str, Any] = {
    "task_steps": ["Step 1: Call book_hotel with city: 'Rome'"],
    "task_nodes": [{"task": "book_hotel", "arguments": [{"name": "city", "value": "Rome"}]}],
    "task_links": [],
}


def plan_of(value: Any, dependency_type: DependencyType = "resource") -> dict[str, Any] | None:
    return read_plan(json.dumps(value), dependency_type)[0]


@pytest.mark.parametrize("dependency_type", ["resource", "temporal", "schema"])
def test_published_form_is_kept(dependency_type: DependencyType) -> None:
    plan = RESOURCE if dependency_type == "resource" else TEMPORAL
    found, answer = read_plan(f"```json\n{json.dumps(plan)}\n```", dependency_type)
    assert found == plan
    assert answer.problem is None


def test_wrong_content_is_kept() -> None:
    plan = {
        "task_steps": "one step",
        "task_nodes": [{"task": 7, "arguments": {"a": 1}, "id": "x"}, "Reader", None],
        "task_links": [["Reader", "Speaker"], {"source": "Nobody"}],
    }
    assert plan_of(plan) == plan


@pytest.mark.parametrize(
    "variant",
    [
        {"steps": RESOURCE["task_steps"], "nodes": RESOURCE["task_nodes"], "links": RESOURCE["task_links"]},
        {key: json.dumps(item) for key, item in RESOURCE.items()},
        {"id": "5", "user_request": "Speak!", "result": RESOURCE},
        {**RESOURCE, "steps": ["other"], "nodes": [], "links": []},
        {
            **RESOURCE,
            "task_nodes": [
                {"id": n, "name": node["task"], "args": node["arguments"]}
                for n, node in enumerate(RESOURCE["task_nodes"])
            ],
        },
        {
            **RESOURCE,
            "task_nodes": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": n["task"], "arguments": n["arguments"]},
                }
                for n in RESOURCE["task_nodes"]
            ],
        },
    ],
)
def test_harmless_variants_are_recognised(variant: Any) -> None:
    found = plan_of(variant)
    assert found is not None
    for node in found["task_nodes"]:
        node.pop("id", None)
    assert found == RESOURCE
    assert list(found) == list(RESOURCE)


def test_published_key_wins_over_its_variant() -> None:
    node = {"task": "Reader", "id": "Speaker", "arguments": [], "parameters": ["x"]}
    assert plan_of({"task_nodes": [node]}) == {"task_nodes": [node]}


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"task_steps": ["a"]}, "the plan has no list task_nodes"),
        ({"task_steps": ["a"], "task_nodes": {"task": "Reader"}}, "the plan has no list task_nodes"),
        ({"task_steps": ["a"], "task_nodes": [{"task": 7}]}, "a node of the plan names no tool"),
        ({"task_steps": [], "task_nodes": []}, None),
    ],
)
def test_a_plan_needs_nodes_that_name_tools(plan: dict[str, Any], problem: str | None) -> None:
    found, answer = read_plan(json.dumps(plan), "resource")
    assert (found, answer.problem) == (plan, problem)


def test_a_final_plan_replaces_a_draft_that_had_links() -> None:
    final = {"task_steps": ["Read it"], "task_nodes": [{"task": "Reader", "arguments": []}]}
    text = f"Draft: {json.dumps(RESOURCE)}\nShorter:\n{json.dumps(final)}"
    assert read_plan(text, "resource")[0] == final


LIBRARY = ToolLibrary([Tool("Reader")])
KINDS: tuple[DependencyType, ...] = ("resource", "temporal", "schema")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["", "reformat_"])
def test_the_form_in_the_prompt_is_no_plan(kind: DependencyType, name: str) -> None:
    (form,) = (line for line in built_in(f"{name}{kind}").splitlines() if line.startswith("{"))
    valid = form.replace("…]", '"…"]').replace(", …", "")
    assert json.loads(valid)
    prompt = PlanPrompt(LIBRARY, kind)
    asked = prompt.reformat("x") if name else prompt.render("x")
    for echo in (form, form.replace("…", "..."), valid, f"```json\n{form}\n```", f"Sure: {valid}", asked):
        found, answer = read_plan(echo, kind)
        assert (found, answer.problem) == (None, ECHO)
        assert read_plan(f"{echo}\n{json.dumps(RESOURCE)}", kind)[0] == RESOURCE


@pytest.mark.parametrize("kind", KINDS)
def test_the_worked_example_is_no_plan(kind: DependencyType) -> None:
    worked = PlanPrompt(LIBRARY, kind, wording="example").messages("x")[1]["content"]
    plan = json.loads(worked)
    with_links = json.dumps({"task_links": [], **plan})
    for echo in (worked, with_links, f"Sure:\n```json\n{json.dumps(plan, indent=2)}\n```"):
        found, answer = read_plan(echo, kind)
        assert (found, answer.problem) == (None, ECHO)


@pytest.mark.parametrize(
    "form",
    [
        {"city": "Rome"},
        '"{\\"city\\": \\"Rome\\"}"',
        [{"city": "Rome"}],
        '[{"name": "city", "value": "Rome"}]',
    ],
)
def test_forms_of_temporal_arguments(form: Any) -> None:
    node = {"name": "book_hotel", "parameters": form}
    assert plan_of({**TEMPORAL, "task_nodes": [node]}, "temporal") == TEMPORAL


def test_names_under_other_keys_are_left_to_the_scores_which_know_the_tools() -> None:
    plan = {**TEMPORAL, "task_nodes": [{"task": "book_hotel", "arguments": [{"of": "city", "is": "Rome"}]}]}
    assert plan_of(plan, "temporal") == plan


def test_cut_answer_is_no_whole_plan() -> None:
    text = json.dumps(RESOURCE)
    found, answer = read_plan(text[: text.index('"task_links"')], "resource")
    assert found == {key: RESOURCE[key] for key in ("task_steps", "task_nodes")}
    assert answer.truncated
    assert answer.problem
    assert read_plan(text, "resource", "length")[1].problem


@pytest.mark.parametrize("text", ["", "I cannot help.", '{"steps": ["wash", "rinse"]}', '{"error": 1}'])
def test_no_plan(text: str) -> None:
    found, answer = read_plan(text, "resource")
    assert found is None
    assert answer.value is None
    assert answer.problem


def test_hostile_list_in_a_string_is_left_alone() -> None:
    deep = "[" * 100_000
    assert plan_of({"task_nodes": deep}) == {"task_nodes": deep}


_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "task", "args", "name"]), inner)
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(st.sampled_from(["task_nodes", "task_links", "nodes", "links", "steps"]), _values),
    st.sampled_from(["resource", "temporal"]),
)
def test_any_object_is_read_without_raising(value: dict[str, Any], dependency_type: DependencyType) -> None:
    found, answer = read_plan(json.dumps(value), dependency_type)
    assert (found is None) == (answer.value is None)
    scored = PlanReader(LIBRARY, dependency_type).plan(found)
    assert (scored is None) == (answer.problem is not None)
