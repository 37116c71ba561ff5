"""What is rendered is read back."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.graph import DependencyType, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, PlanTask
from toolassay.offline.offline_model import OfflineModel
from toolassay.prompts.templates import Wording
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.serving.offline_answers import PromptReader
from toolassay.tools.library import Tool, ToolLibrary

KINDS: dict[str, DependencyType] = {
    "data_huggingface": "resource",
    "data_multimedia": "resource",
    "data_dailylifeapis": "temporal",
}
WORDINGS: list[Wording] = ["default", "example"]
AWKWARD = [
    "Paint a café for $5.",
    "# REQUEST #\nplan\n\nNow the JSON object:\nthat says so",
    '# TOOLS #\n{"id": "none"}',
    "line\u2028separator and \\d+ and $request ${tools}",
]
DEMO = {
    "user_request": "Show me.",
    "task_steps": ["Step 1"],
    "task_nodes": [{"task": "a", "arguments": ["<node-0>"]}],
    "task_links": [],
}


@pytest.fixture(params=KINDS)
def graph(request: pytest.FixtureRequest, root: Path) -> ToolGraph:
    folder = DataFolder(root / str(request.param))
    return ToolGraph.load(folder.graph_desc, dependency_type=KINDS[request.param])


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("demos", [[], [DEMO, DEMO]])
@pytest.mark.parametrize("request_text", AWKWARD)
def test_an_inference_prompt(
    graph: ToolGraph, request_text: str, demos: list[dict[str, object]], wording: Wording
) -> None:
    prompt = PlanPrompt(graph.library, graph.dependency_type, demos=demos, wording=wording)
    reader = PromptReader()
    task = reader.task(prompt.render(request_text))
    assert isinstance(task, PlanTask)
    assert task.request == request_text
    assert task.graph.library.ids == graph.library.ids
    assert task.graph.dependency_type == graph.dependency_type
    if graph.dependency_type == "resource":
        assert list(task.graph.links()) == list(graph.links())
    again = reader.task(prompt.render("another request"))
    assert isinstance(again, PlanTask)
    assert again.graph is task.graph, "a library is read once"


@pytest.mark.parametrize("wording", WORDINGS)
def test_prompts_that_say_the_date(graph: ToolGraph, wording: Wording) -> None:
    kind = graph.dependency_type
    day = date(2026, 11, 30)
    plain = PlanPrompt(graph.library, kind, wording=wording)
    prompt = PlanPrompt(graph.library, kind, wording=wording, today=day)
    first, last = plain.messages("Go.")[:-1], prompt.render("Go.")
    assert prompt.messages("Go.")[:-1] == first
    assert last == f"Today is Monday, 30 November 2026.\n\n{plain.render('Go.')}"
    assert plain.text != prompt.text
    assert prompt.of_tools(graph.library.ids[:1]).render("Go.").startswith("Today is Monday")
    task = PromptReader().task(last)
    assert isinstance(task, PlanTask) and task.request == "Go."
    sample = Sampler(graph, 5).sample(0)
    undated = BackInstructPrompt(graph.library, kind, wording=wording)
    written = BackInstructPrompt(graph.library, kind, wording=wording, today=day)
    assert written.messages(sample)[0]["content"].startswith("Today is Monday, 30 November 2026.\n\n")
    assert undated.text != written.text
    task = PromptReader().task(written.render(sample))
    assert isinstance(task, BackInstructTask) and task.sample.nodes == sample.nodes


@pytest.mark.parametrize("check", [False, True])
def test_a_back_instruct_prompt(graph: ToolGraph, check: bool) -> None:
    sampler = Sampler(graph, 5)
    prompt = BackInstructPrompt(graph.library, graph.dependency_type, check=check)
    for index in range(40):
        sample = sampler.sample(index)
        task = PromptReader().task(prompt.render(sample))
        assert isinstance(task, BackInstructTask)
        assert task.check is check
        assert task.dependency_type == graph.dependency_type
        assert (task.sample.index, task.sample.seed) == (index, 5)
        assert task.sample.nodes == sample.nodes
        assert task.sample.links == sample.links
        assert [task.library[name] for name in sample.nodes] == [graph.library[name] for name in sample.nodes]


def test_a_back_instruct_prompt_with_a_worked_example_shows_names_types_and_links(graph: ToolGraph) -> None:
    sampler = Sampler(graph, 5)
    prompt = BackInstructPrompt(graph.library, graph.dependency_type, wording="example")
    for known in ([], [graph]):
        for index in range(20):
            sample = sampler.sample(index)
            task = PromptReader(known).task(prompt.render(sample))
            assert isinstance(task, BackInstructTask)
            assert (task.sample.nodes, task.sample.links) == (sample.nodes, sample.links)
            for name in sample.nodes:
                shown, tool = task.library[name], graph.library[name]
                assert (shown.inputs, shown.outputs) == (tool.inputs, tool.outputs)
                assert [one.name for one in shown.parameters] == [one.name for one in tool.parameters]
                assert not known or shown == tool


def test_what_a_prompt_does_not_show_comes_from_a_known_library(graph: ToolGraph) -> None:
    reader = PromptReader([graph])
    plan = reader.task(PlanPrompt(graph.library, graph.dependency_type).render("Go."))
    assert isinstance(plan, PlanTask)
    assert plan.graph is graph
    sample = Sampler(graph, 1).sample(0)
    written = reader.task(BackInstructPrompt(graph.library, graph.dependency_type).render(sample))
    assert isinstance(written, BackInstructTask)
    assert written.library is graph.library
    fewer = ToolLibrary(graph.library.tools[:3])
    other = reader.task(PlanPrompt(fewer, graph.dependency_type).render("Go."))
    assert isinstance(other, PlanTask)
    assert other.graph.library.ids == fewer.ids, "only tools that are shown are planned with"


@pytest.mark.parametrize(
    "prompt",
    [
        "Hello!",
        PlanPrompt(ToolLibrary([Tool("a")]), "resource").render("A resource tool without types."),
        PlanPrompt(ToolLibrary([Tool("a")]), "temporal").render("x").replace('{"id"', '{"name"'),
        BackInstructPrompt(ToolLibrary([Tool("a")]), "temporal")
        .render(Sample(0, 0, "single", ("a",), ()))
        .replace("(none)", "Link: a -> b"),
        PlanPrompt(ToolLibrary([Tool("a")]), "temporal", wording="example")
        .render("x")
        .replace("- a:", "* a:"),
    ],
)
def test_what_is_not_ours_is_not_guessed(prompt: str) -> None:
    assert PromptReader().task(prompt) is None


@pytest.mark.parametrize("wording", WORDINGS)
async def test_plans_over_the_prompt_are_those_of_the_offline_model(
    graph: ToolGraph, root: Path, wording: Wording
) -> None:
    """Of temporal tools a prompt shows no types of parameters: only the values may differ."""
    from toolassay.models import ChatRequest

    name = next(name for name, kind in KINDS.items() if graph.library.path == root / name / "graph_desc.json")
    lines = (root / name / "user_requests.json").read_text(encoding="utf-8").splitlines()[:25]
    model, reader = OfflineModel(), PromptReader()
    prompt = PlanPrompt(graph.library, graph.dependency_type, wording=wording)
    for line in lines:
        text = json.loads(line)["user_request"]
        there = await model.complete(ChatRequest([], task=PlanTask(text, graph)))
        here = await model.complete(ChatRequest([], task=reader.task(prompt.render(text))))
        if graph.dependency_type == "resource":
            assert here.text == there.text
        tools = [[node["task"] for node in json.loads(answer.text)["task_nodes"]] for answer in (here, there)]
        assert tools[0] == tools[1]
