"""Prompts of schema graphs, the answers to them, and their structured output."""

from __future__ import annotations

import json
from typing import Any, get_args

import jsonschema
import pytest
from bench_bookings import GRAPH, LIBRARY, PLANS, TOOLS
from builders import imported_tool

from toolassay.answers import ECHO
from toolassay.benchmarks.taskbench.inference import read_plan
from toolassay.benchmarks.taskbench.prompt import PlanPrompt, built_in
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.prompt_templates import Wording, turns_of
from toolassay.schemas import plan_schema
from toolassay.serving.prompt_reader import PromptReader
from toolassay.tools import ToolLibrary

GOLD = list(PLANS.values())[-1]
WORDINGS: list[Wording] = list(get_args(Wording))
wordings = pytest.mark.parametrize("wording", WORDINGS)


@wordings
def test_a_prompt_shows_what_tools_return_and_how_to_refer_to_it(wording: Wording) -> None:
    text = "\n".join(
        message["content"] for message in PlanPrompt(LIBRARY, "schema", wording=wording).messages("Do it.")
    )
    assert "{benches?: {id?: string, price?: number}[]}" in text
    for part in ("[0].id", "[*].id", "task_links", "<node-0>", "A parameter marked with ? is optional"):
        assert part in text
    assert not [word for word in ("input_schema", "$typed", "$demos") if word in text]


@wordings
def test_a_prompt_shows_the_parts_of_a_large_result(wording: Wording) -> None:
    parts = {f"measurement_{number}": {"type": "number"} for number in range(30)}
    listed = {"type": "array", "items": {"type": "object", "properties": parts}}
    result = {"type": "object", "properties": {"readings": listed}}
    library = ToolLibrary.from_json([imported_tool("measure", "Measures.", {}, output=result)])
    assert "measurement_29" in PlanPrompt(library, "schema", wording=wording).render("Do it.")
    assert "measurement_29" not in PlanPrompt(library, "temporal", wording=wording).render("Do it.")


def test_demonstrations_have_links() -> None:
    demo = {"user_request": "Go.", **GOLD}
    (text,) = [m["content"] for m in PlanPrompt(LIBRARY, "schema", demos=[demo]).messages("Do it.")]
    assert json.dumps(GOLD) in text


@wordings
def test_a_prompt_is_read_back_with_the_kind_of_its_graph(wording: Wording) -> None:
    prompt = PlanPrompt(LIBRARY, "schema", wording=wording).render("Book {it}.")
    known = PromptReader([GRAPH]).task(prompt)
    assert isinstance(known, PlanTask) and (known.request, known.graph) == ("Book {it}.", GRAPH)
    shown = PromptReader().task(prompt)
    assert isinstance(shown, PlanTask) and shown.graph.dependency_type == "schema"
    find = shown.graph.library["find_benches"]
    assert find.output_schema == TOOLS["nodes"][0]["output_schema"]


def test_a_rewriting_is_read_back() -> None:
    prompt = PlanPrompt(LIBRARY, "schema").reformat("Book <node-0>.")
    assert PromptReader().task(prompt) == ReformatTask("Book <node-0>.")


@pytest.mark.parametrize("gold", PLANS.values())
def test_an_answer_in_the_form_is_kept(gold: dict[str, Any]) -> None:
    found, answer = read_plan(f"Here it is:\n{json.dumps(gold)}", "schema")
    assert (found, answer.problem) == (gold, None)


def test_arguments_as_an_object_and_other_names_of_keys_are_read() -> None:
    nodes = [
        {"tool": node["task"], "args": {one["name"]: one["value"] for one in node["arguments"]}}
        for node in GOLD["task_nodes"]
    ]
    links = [{"from": link["source"], "to": link["target"]} for link in GOLD["task_links"]]
    answered = {"steps": GOLD["task_steps"], "nodes": nodes, "edges": links}
    assert read_plan(json.dumps(answered), "schema")[0] == GOLD


@pytest.mark.parametrize("name", ["schema", "reformat_schema", "example_schema"])
def test_the_form_of_a_prompt_is_no_answer(name: str) -> None:
    turns = turns_of(built_in(name))
    text = turns[1]["content"] if len(turns) > 1 else turns[0]["content"]
    form = next(line for line in text.splitlines() if line.startswith('{"task_steps"'))
    assert read_plan(form.replace(", …", ""), "schema")[1].problem == ECHO


def test_structured_output_takes_references_in_place_of_every_value_and_requires_links() -> None:
    schema = plan_schema(LIBRARY, "schema")
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(GOLD)
    assert not validator.is_valid({key: value for key, value in GOLD.items() if key != "task_links"})
    hours = {"name": "hours", "value": "<node-0>.benches[0].price"}
    node = {"task": "book_bench", "arguments": [hours]}
    assert validator.is_valid({**GOLD, "task_nodes": [node]})
