"""Prompts, structured output and probes over imported tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from builders import difficult_tools, imported_tool, text_tools, workshop_tools

from toolassay.backinstruct.labels import temporal_arguments
from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.benchmarks.taskbench.security import plan_probes
from toolassay.dataset import Request, Sample
from toolassay.graph import Link, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask, PlanTask
from toolassay.prompt_templates import Wording
from toolassay.schemas import plan_schema, sample_schema
from toolassay.serving.offline_answers import PromptReader
from toolassay.tools import ToolLibrary

WORKSHOP = ToolLibrary.from_json(workshop_tools())
GRAPH = ToolGraph.build(WORKSHOP, "temporal")
SAMPLE = Sample(
    3, 7, "chain", ("find_benches", "order_material"), (Link("find_benches", "order_material", "complete"),)
)
LINES = [{"material": "oak", "amount": 2, "unit": "metre"}]
WORDINGS: list[Wording] = list(get_args(Wording))


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_planning_prompt_shows_one_line_for_each_tool(wording: Wording) -> None:
    text = PlanPrompt(WORKSHOP, "temporal", wording=wording).render("Do it.")
    assert text.count("{material: string, amount: number, unit: 'piece' | 'metre' | 'litre'}[1..]") == 1
    assert text.count("A parameter marked with ? is optional") == 1
    assert not [word for word in ("input_schema", "$defs", '"server"', '"tags"', "\\\\") if word in text]
    assert len(text) < 6_000


@pytest.mark.parametrize("wording", WORDINGS)
def test_prompts_of_published_libraries_say_nothing_of_types(wording: Wording, root: Path) -> None:
    published = ToolLibrary.load(root / "data_dailylifeapis/tool_desc.json")
    plan = PlanPrompt(published, "temporal", wording=wording).render("Do it.")
    written = BackInstructPrompt(published, "temporal", wording=wording)
    for text in (plan, written.text):
        assert "marked with ?" not in text and "$typed" not in text


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_a_planning_prompt_is_read_back_with_typed_parameters(
    tools: dict[str, Any], wording: Wording
) -> None:
    library = ToolLibrary.from_json(tools)
    task = PromptReader().task(PlanPrompt(library, "temporal", wording=wording).render("Do {it}."))
    assert isinstance(task, PlanTask) and task.request == "Do {it}."
    assert task.graph.library.ids == library.ids
    for tool in library:
        read = task.graph.library[tool.id]
        assert [(one.name, one.required) for one in read.parameters] == [
            (one.name, one.required) for one in tool.parameters
        ]


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_known_graph_gives_the_whole_schemas(wording: Wording) -> None:
    task = PromptReader([GRAPH]).task(PlanPrompt(WORKSHOP, "temporal", wording=wording).render("Do it."))
    assert task.graph is GRAPH


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("check", [False, True])
def test_a_back_instruct_prompt_is_read_back(wording: Wording, check: bool) -> None:
    prompt = BackInstructPrompt(WORKSHOP, "temporal", check=check, wording=wording).render(SAMPLE)
    assert "input_schema" not in prompt and "A parameter marked with ? is optional" in prompt
    task = PromptReader().task(prompt)
    assert isinstance(task, BackInstructTask)
    assert (task.sample.nodes, task.check) == (SAMPLE.nodes, check)
    assert task.library["order_material"].parameters[1].type == "list[object]"


def test_a_critics_prompt_is_read_back() -> None:
    from toolassay.gates.critic.prompt import critic_prompt
    from toolassay.gold import Gold

    node = {"task": "order_material", "arguments": [{"name": "lines", "value": LINES}]}
    gold = Gold.of({"id": 1, "user_request": "Order 2 metre oak", "task_steps": [], "task_nodes": [node]})
    task = PromptReader().task(critic_prompt(gold, WORKSHOP))
    assert isinstance(task, CritiqueTask)
    assert task.library["order_material"].parameters[0].required


def plan(*arguments: tuple[str, Any], tool: str = "order_material") -> dict[str, Any]:
    given = [{"name": name, "value": value} for name, value in arguments]
    return {"task_steps": [], "task_nodes": [{"task": tool, "arguments": given}], "task_links": []}


def fitting(value: Any, schema: Any) -> bool:
    valid: bool = jsonschema.Draft202012Validator(schema).is_valid(value)
    return valid


PHONELESS = {"name": "Ann", "email": "a@b.org", "phone": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (plan(("project", "shelf"), ("lines", LINES)), True),
        (plan(("lines", "<node-0>")), True),
        (plan(("lines", [{**LINES[0], "amount": "<node-0>"}, "<node-0>"])), True),
        (plan(("lines", [{"material": "oak"}])), False),
        (plan(("lines", 4)), False),
        (plan(("hours", 4), tool="book_bench"), True),
        (plan(("hours", 4.5), tool="book_bench"), False),
        (plan(("hours", True), tool="book_bench"), False),
        (plan(("newsletter", True), ("member", PHONELESS), tool="add_member"), True),
        (plan(("member", {"name": "Ann", "email": "a@b.org"}), tool="add_member"), False),
        (plan(("hours", 4), tool="order_material"), False),
        (plan(("guests", ["Ann"]), tool="book_bench"), True),
        (plan(tool="close_day"), True),
    ],
)
def test_structured_output_has_the_types_of_the_parameters(value: Any, expected: bool) -> None:
    assert fitting(value, plan_schema(WORKSHOP, "temporal")) is expected


ALLOWED = {"type", "properties", "required", "additionalProperties", "items", "maxItems", "enum", "anyOf"}


def objects(schema: Any) -> Any:
    if isinstance(schema, dict):
        yield schema
        for name, part in schema.items():
            yield from objects(list(part.values()) if name == "properties" else part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()])
def test_structured_output_uses_only_what_strict_mode_allows(tools: dict[str, Any]) -> None:
    library = ToolLibrary.from_json(tools)
    for schema in (
        plan_schema(library, "temporal"),
        sample_schema(library.tools[:2], 1, "temporal", check=True),
    ):
        for part in objects(schema):
            assert part.keys() <= ALLOWED
            assert "type" in part or "anyOf" in part
            if part.get("type") == "object":
                assert part["additionalProperties"] is False and part["required"] == list(part["properties"])


def test_many_imported_tools_share_one_form_with_untyped_values() -> None:
    tools = [imported_tool(f"t{n}", "T.", {f"p{n}": {"type": "integer"}}) for n in range(100)]
    schema = plan_schema(ToolLibrary.from_json(tools), "temporal")
    assert "anyOf" not in schema["properties"]["task_nodes"]["items"]
    assert fitting(plan(("p1", 4), ("p2", ["a", True]), ("p3", None), tool="t1"), schema)
    assert len(json.dumps(schema)) < 10_000


def test_a_schema_of_published_tools_takes_text_only() -> None:
    published = ToolLibrary.from_json(
        [*text_tools("ab")["nodes"], {"id": "c", "parameters": [{"name": "n", "type": "integer"}]}]
    )
    schema = plan_schema(published, "temporal")
    assert not fitting(plan(("n", 4), tool="c"), schema) and fitting(plan(("n", "4"), tool="c"), schema)


def test_what_structured_output_must_write_is_read_back_in_labels() -> None:
    problems: list[str] = []
    values = [{"name": "member", "value": PHONELESS | {"more": None}}, {"name": "newsletter", "value": None}]
    member = WORKSHOP["add_member"].input_schema
    found = temporal_arguments("add_member", values, problems, member)
    assert found == [{"name": "member", "value": PHONELESS | {"more": None}}]
    damage = WORKSHOP["report_damage"].input_schema
    found = temporal_arguments("report_damage", {"photo": '{"path": null}', "parts": "[1]"}, problems, damage)
    assert found == [{"name": "photo", "value": {}}, {"name": "parts", "value": "[1]"}]
    assert temporal_arguments("t", [{"name": ["x"], "value": None}, 3], problems, damage)[1] == 3
    assert problems == ["an argument of 't' lacks a name or a value"]


def test_probes_name_a_parameter_that_takes_text() -> None:
    typed = imported_tool(
        "set_power",
        "Sets.",
        {"level": {"type": "integer"}, "mode": {"enum": ["on"]}, "note": {"type": "string"}},
    )
    graph = ToolGraph.build(ToolLibrary.from_json([typed]), "temporal")
    probes = plan_probes([Request("1", "Do it.", 1)], graph, (), 4)
    goals = {probe.probe.goal for probe in probes if not probe.probe.harmless}
    assert goals and all("as its note to the plan" in goal for goal in goals)


def test_a_planted_text_is_shown_even_after_a_very_long_description() -> None:
    tool = imported_tool("t", "word " * 2_000, {})
    graph = ToolGraph.build(ToolLibrary.from_json([tool]), "temporal")
    (probe, *_) = [p for p in plan_probes([Request("1", "Do it.", 1)], graph, (), 1) if p.carrier]
    assert probe.canary in PlanPrompt(probe.graph(graph).library, "temporal").render("Do it.")
