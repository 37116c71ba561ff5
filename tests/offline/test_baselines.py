from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.support.builders import API_TOOLS, TOOLS, links_of
from toolassay.benchmarks.taskbench.inference import read_plan
from toolassay.benchmarks.workbench.tools import PUBLISHED
from toolassay.errors import ToolassayError
from toolassay.graph import DependencyType, ToolGraph
from toolassay.models import ChatRequest, ChatResponse, ModelOptions, create_model
from toolassay.models.registry import BASELINES, BUILT_IN, is_served
from toolassay.offline.baselines import MOST_TOOLS, Baseline
from toolassay.offline.model_tasks import AgentTask, ChoiceTask, PlanTask, ReformatTask
from toolassay.tools.library import Parameter, Tool, ToolLibrary

NOW = datetime(2023, 11, 30)
REQUEST = 'Please paint "a red fox", then send menu.jpg to kim@desk.example at 5pm.'
CANDIDATES = tuple((name, "") for name in ("Return Goods", "Track Parcel", "Book a Desk"))
CHAT = (("user", "where is it"), ("bot", "hello"), ("user", "my parcel"))


def graph(kind: DependencyType) -> ToolGraph:
    resource = [Tool(name, "", tuple(takes), tuple(gives)) for name, takes, gives in TOOLS]
    named = [Tool(name, "", parameters=tuple(map(Parameter, names))) for name, names in API_TOOLS]
    return ToolGraph.build(ToolLibrary(resource if kind == "resource" else named), kind)


def answer(name: str, task: Any, item: str = "1", seed: int | None = None) -> ChatResponse:
    options = ModelOptions(extra_body={} if seed is None else {"seed": seed})
    return asyncio.run(create_model(name, options).complete(ChatRequest([], task=task, item=item)))


def plan(name: str, kind: DependencyType, item: str = "1", seed: int | None = None) -> Mapping[str, Any]:
    text = answer(name, PlanTask(REQUEST, graph(kind)), item, seed).text
    found, read = read_plan(text, kind)
    assert found is not None and read.problem is None
    return found


def calls(name: str, item: str, *, react: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """What an agent calls until it ends; every call is told the same."""
    told: list[str] = []
    made: list[tuple[str, dict[str, Any]]] = []
    while True:
        task = AgentTask(REQUEST, NOW, tuple(told), react, PUBLISHED.of_domains(None))
        response = answer(name, task, item)
        if react:
            action = json.loads(response.text.split("```")[1])
            if action["action"] == "Final Answer":
                return made
            made.append((action["action"], action["action_input"]))
        elif response.tool_calls:
            (call,) = response.tool_calls
            made.append((call.name.replace("__", "."), json.loads(call.arguments)))
        else:
            assert response.text
            return made
        told.append("fine")


def test_they_are_built_in_and_no_server_is_asked() -> None:
    assert {"nothing", "random"} == BASELINES and BASELINES < BUILT_IN
    assert not any(map(is_served, BUILT_IN))


@pytest.mark.parametrize("kind", ["resource", "temporal"])
def test_nothing_plans_nothing(kind: DependencyType) -> None:
    assert plan("nothing", kind) == {"task_steps": [], "task_nodes": [], "task_links": []}


def test_a_random_plan_of_resources_fills_every_slot_and_links_what_it_refers_to() -> None:
    slots = {name: len(takes) for name, takes, _ in TOOLS}
    sizes, words, linked = set(), set(), 0
    for item in range(60):
        found = plan("random", "resource", str(item))
        names = [node["task"] for node in found["task_nodes"]]
        assert len(names) == len(set(names)) == len(found["task_steps"])
        sizes.add(len(names))
        links = []
        for place, node in enumerate(found["task_nodes"]):
            assert len(node["arguments"]) == slots[node["task"]]
            for value in node["arguments"]:
                if value.startswith("<node-"):
                    source = int(value[len("<node-") : -1])
                    assert source < place
                    links.append({"source": names[source], "target": node["task"]})
                else:
                    words.add(value)
        assert found["task_links"] == links
        linked += len(links)
    assert sizes == set(range(1, MOST_TOOLS + 1)) and linked
    assert {"menu.jpg", "kim@desk.example", "5pm.", "red"} <= words
    assert all(word in REQUEST for word in words)


def test_a_random_plan_of_calls_names_every_parameter_and_is_a_chain() -> None:
    parameters = dict(API_TOOLS)
    for item in range(30):
        found = plan("random", "temporal", str(item))
        names = [node["task"] for node in found["task_nodes"]]
        for node in found["task_nodes"]:
            assert [given["name"] for given in node["arguments"]] == parameters[node["task"]]
        assert found["task_links"] == links_of(pairwise(names))


def test_the_same_seed_gives_the_same_answer_in_any_order_and_another_seed_another() -> None:
    items = [str(number) for number in range(20)]
    forwards = {item: plan("random", "resource", item) for item in items}
    backwards = {item: plan("random", "resource", item) for item in reversed(items)}
    assert forwards == backwards
    assert forwards == {item: plan("random", "resource", item, seed=0) for item in items}
    assert forwards != {item: plan("random", "resource", item, seed=1) for item in items}
    assert len({json.dumps(found) for found in forwards.values()}) > 10


@pytest.mark.parametrize("react", [False, True])
def test_an_agent_of_nothing_ends_at_once(react: bool) -> None:
    assert calls("nothing", "1", react=react) == []


def test_a_random_agent_ends_and_gives_each_tool_what_it_requires() -> None:
    numbers = set()
    for item in map(str, range(60)):
        made = calls("random", item)
        assert made == calls("random", item, react=True)
        numbers.add(len(made))
        for name, given in made:
            tool = PUBLISHED.tools[name]
            assert {one for one, about in tool.arguments.items() if about.required} <= given.keys()
            for argument, value in given.items():
                choices = tool.arguments[argument].choices
                assert value in choices if choices else value in REQUEST
    assert numbers == set(range(1, MOST_TOOLS + 1))


@pytest.mark.parametrize("as_call", [False, True])
def test_a_workflow_is_chosen_at_random_or_none(as_call: bool) -> None:
    def chosen(name: str, item: str) -> str:
        found = answer(name, ChoiceTask(CHAT, CANDIDATES, "none", as_call), item)
        return found.tool_calls[0].name if as_call else str(json.loads(found.text)["workflow"])

    items = list(map(str, range(40)))
    assert {chosen("nothing", item) for item in items} == {"none"}
    assert {chosen("random", item) for item in items} == {name for name, _ in CANDIDATES}


def test_a_baseline_plays_no_other_role() -> None:
    request = ChatRequest([], task=ReformatTask("{"), role="reformat")
    with pytest.raises(ToolassayError, match="'nothing' is a baseline and cannot be the reformat"):
        asyncio.run(Baseline("nothing").complete(request))
