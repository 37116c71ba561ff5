"""The offline models with imported tools: valid values, all of them in the request."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.builders import difficult_tools, imported_tool, workshop_tools
from toolassay.errors import ToolassayError
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ModelOptions
from toolassay.offline.baselines import create
from toolassay.offline.critic import review
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask, PlanTask
from toolassay.offline.offline_model import OfflineModel
from toolassay.offline.planner import Planner
from toolassay.offline.work_order import unfillable
from toolassay.offline.writer.instruction import write_instruction
from toolassay.records.dataset import Sample
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import ToolLibrary

BOTH = [workshop_tools(), difficult_tools()]


def arguments_of(node: dict[str, Any]) -> dict[str, Any]:
    return {item["name"]: item["value"] for item in node["arguments"]}


@pytest.mark.parametrize("tools", BOTH)
def test_the_offline_critic_accepts_what_the_offline_writer_writes(tools: dict[str, Any]) -> None:
    library = ToolLibrary.from_json(tools)
    for tool in library:
        sample = Sample(0, 5, "single", (tool.id,), ())
        written = write_instruction(sample, library, "temporal")
        said = review(CritiqueTask(sample, written["user_request"], written, library, "temporal"))
        assert said.endswith("Executable: yes\nCorrect: yes"), said


@pytest.mark.parametrize("tools", BOTH)
def test_the_planner_plans_json_values(tools: dict[str, Any]) -> None:
    library = ToolLibrary.from_json(tools)
    planner = Planner(ToolGraph.build(library, "temporal"))
    right = total = 0
    for seed in range(4):
        for tool in library:
            written = write_instruction(Sample(0, seed, "single", (tool.id,), ()), library, "temporal")
            gold = arguments_of(written["invoking_graph"]["nodes"][0])
            plan = planner.plan(written["user_request"]).to_json()
            json.dumps(plan)
            found = {node["task"]: arguments_of(node) for node in plan["task_nodes"]}.get(tool.id, {})
            total += len(gold)
            right += sum(found.get(name) == value for name, value in gold.items())
    assert right > total / 2, (right, total)


@pytest.mark.parametrize("tools", BOTH)
def test_random_plans_have_valid_types(tools: dict[str, Any]) -> None:
    library = ToolLibrary.from_json(tools)
    graph = ToolGraph.build(library, "temporal")
    for seed in range(20):
        model = create("random", ModelOptions(extra_body={"seed": seed}))
        task = PlanTask("Paint the old door blue", graph)
        answer = asyncio.run(model.complete(ChatRequest([], task=task)))
        for node in json.loads(answer.text)["task_nodes"]:
            problems = ArgumentValidator(library[node["task"]].input_schema or {}).problems(
                arguments_of(node)
            )
            assert {problem.keyword for problem in problems} <= {
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "format",
            }


def endless(width: int, kind: str) -> dict[str, Any]:
    """A schema whose values contain themselves `width` times and so have no end."""
    itself = {"$ref": "#/$defs/part"}
    names = [f"part_{number}" for number in range(width)]
    part = (
        {"type": "object", "properties": dict.fromkeys(names, itself), "required": names}
        if kind == "object"
        else {"type": "array", "items": itself, "minItems": width}
    )
    return {"properties": {"first": itself}, "required": ["first"], "$defs": {"part": part}}


@pytest.mark.parametrize("kind", ["object", "array"])
@pytest.mark.parametrize("width", [1, 2])
def test_a_tool_without_valid_arguments_is_named_and_gets_no_gold(width: int, kind: str) -> None:
    tool = {**imported_tool("loop", "Loops.", {}), "input_schema": endless(width, kind)}
    library = ToolLibrary.from_json([tool, *workshop_tools()["nodes"]])
    assert list(unfillable(library)) == ["loop"]
    sample = Sample(0, 1, "single", ("loop",), ())
    with pytest.raises(ToolassayError, match="cannot fill 'loop'"):
        write_instruction(sample, library, "temporal")
    request = ChatRequest([], task=BackInstructTask(sample, library, "temporal"))
    assert asyncio.run(OfflineModel().complete(request)).refused
