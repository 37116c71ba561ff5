"""Prompts of all kinds of graphs, the answers to them, structured output and probes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from tests.support.bench_bookings import GRAPH, LIBRARY, PLANS, TOOLS
from tests.support.builders import difficult_tools, imported_tool, node, plan_of, text_tools, workshop_tools
from tests.support.result_schemas import fits
from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.benchmarks.taskbench.inference import read_plan
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.benchmarks.taskbench.security import plan_probes
from toolassay.graph import DependencyType, Link, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask, PlanTask
from toolassay.prompts.plan_schemas import plan_schema
from toolassay.prompts.templates import Wording
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Request, Sample
from toolassay.serving.offline_answers import PromptReader
from toolassay.tools.library import ToolLibrary

WORKSHOP = ToolLibrary.from_json(workshop_tools())
WORKSHOP_GRAPH = ToolGraph.build(WORKSHOP, "temporal")
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
@pytest.mark.parametrize("check", [False, True])
def test_a_back_instruct_prompt_is_read_back(wording: Wording, check: bool) -> None:
    prompt = BackInstructPrompt(WORKSHOP, "temporal", check=check, wording=wording).render(SAMPLE)
    assert "input_schema" not in prompt and "A parameter marked with ? is optional" in prompt
    task = PromptReader().task(prompt)
    assert isinstance(task, BackInstructTask)
    assert (task.sample.nodes, task.check) == (SAMPLE.nodes, check)
    assert task.library["order_material"].parameters[1].type == "list[object]"


def test_a_critics_prompt_is_read_back() -> None:
    from toolassay.gates.critic import critic_prompt
    from toolassay.gates.gate import Background
    from toolassay.plans.gold import Gold

    order = node("order_material", lines=LINES)
    gold = Gold.of({"id": 1, "user_request": "Order 2 metre oak", "task_steps": [], "task_nodes": [order]})
    task = PromptReader().task(critic_prompt(gold, Background(WORKSHOP, "temporal")))
    assert isinstance(task, CritiqueTask)
    assert task.library["order_material"].parameters[0].required


def plan(tool: str = "order_material", /, **arguments: Any) -> dict[str, Any]:
    return plan_of(node(tool, **arguments))


PHONELESS = {"name": "Ann", "email": "a@b.org", "phone": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (plan(project="shelf", lines=LINES), True),
        (plan(lines=[{**LINES[0], "amount": "<node-0>"}, "<node-0>"]), True),
        (plan(lines=[{"material": "oak"}]), False),
        (plan(lines=4), False),
        (plan("book_bench", hours=4), True),
        (plan("book_bench", hours=4.5), False),
        (plan("add_member", newsletter=True, member=PHONELESS), True),
        (plan(hours=4), False),
    ],
)
def test_structured_output_has_the_types_of_the_parameters(value: Any, expected: bool) -> None:
    assert fits(value, plan_schema(WORKSHOP, "temporal")) is expected


def test_a_schema_of_published_tools_takes_text_only() -> None:
    published = ToolLibrary.from_json(
        [*text_tools("ab")["nodes"], {"id": "c", "parameters": [{"name": "n", "type": "integer"}]}]
    )
    schema = plan_schema(published, "temporal")
    assert not fits(plan("c", n=4), schema) and fits(plan("c", n="4"), schema)


def test_a_planted_text_is_shown_even_after_a_very_long_description() -> None:
    tool = imported_tool("t", "word " * 2_000, {})
    graph = ToolGraph.build(ToolLibrary.from_json([tool]), "temporal")
    (probe, *_) = [p for p in plan_probes([Request("1", "Do it.", 1)], graph, (), 1) if p.carrier]
    assert probe.canary in PlanPrompt(probe.graph(graph).library, "temporal").render("Do it.")


GOLD = list(PLANS.values())[-1]
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


def test_structured_output_takes_references_in_place_of_every_value_and_requires_links() -> None:
    schema = plan_schema(LIBRARY, "schema")
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(GOLD)
    assert not validator.is_valid({key: value for key, value in GOLD.items() if key != "task_links"})
    booking = node("book_bench", hours="<node-0>.benches[0].price")
    assert validator.is_valid({**GOLD, "task_nodes": [booking]})


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
