"""The plan that the calls of a model make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import imported_tool
from toolassay import build_graph, infer
from toolassay.benchmarks.taskbench.benchmark import BENCHMARK
from toolassay.benchmarks.taskbench.options import PlanOptions
from toolassay.console.screen import SILENT
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.models import ModelOptions
from toolassay.plans.called_plan import plan_of_calls
from toolassay.plans.execution_record import ExecutedCall
from toolassay.records.data_folder import DataFolder
from toolassay.runs.settings import ModelSettings, RunSettings
from toolassay.tools.library import Tool, ToolLibrary

LIBRARY = ToolLibrary([Tool(name, input_schema={"type": "object"}) for name in ("find", "show", "buy")])
FOUND = {"items": [{"id": "HAT110", "count": 3}, {"id": "HAT111", "count": 3}], "isOpen": True}


def call(tool: str, arguments: dict[str, Any], result: Any = None, error: str | None = None) -> ExecutedCall:
    return ExecutedCall(0, tool, arguments, result, error)


def value_of(given: Any, *calls: ExecutedCall, request: str = "Buy it", name: str = "item_id") -> Any:
    """The value of the argument of a last call."""
    plan = plan_of_calls([*calls, call("buy", {name: given})], request, LIBRARY)
    return plan["task_nodes"][-1]["arguments"][0]["value"]


def test_a_value_of_one_earlier_result_is_a_reference() -> None:
    find = call("find", {"q": "hat"}, FOUND)
    assert value_of("HAT111", find) == "<node-0>.items[1].id"
    assert value_of([{"id": "HAT110"}], find) == [{"id": "<node-0>.items[0].id"}]
    assert value_of(7, call("find", {}, 7)) == "<node-0>"


@pytest.mark.parametrize(
    ("given", "calls", "request_text", "name"),
    [
        ("HAT110", [call("find", {}, FOUND), call("show", {}, {"id": "HAT110"})], "Buy it", "item_id"),
        ("HAT110", [call("find", {}, FOUND)], "Buy HAT110", "item_id"),
        ("HAT110", [call("show", {"id": "HAT110"}, {"id": "HAT110"})], "Buy it", "item_id"),
        (True, [call("find", {}, FOUND)], "Buy it", "item_id"),
        (3, [call("find", {}, FOUND)], "Buy it", "amount"),
        ("HAT112", [call("find", {}, FOUND)], "Buy it", "item_id"),
    ],
    ids=["two results", "in the request", "an echo", "a boolean", "by chance", "nowhere"],
)
def test_any_other_value_stays(given: Any, calls: list[ExecutedCall], request_text: str, name: str) -> None:
    assert value_of(given, *calls, request=request_text, name=name) == given


def test_a_link_is_listed_once_and_a_corrected_call_is_left_out() -> None:
    calls = [
        call("find", {"q": "hat"}, FOUND),
        call("buy", {"item_id": "HAT"}, error="there is no HAT"),
        call("buy", {"item_id": "HAT110"}, "bought"),
        call("buy", {"item_id": "HAT111"}, "bought"),
        call("show", {"id": "HAT110"}, error="closed"),
    ]
    plan = plan_of_calls(calls, "Buy both", LIBRARY)
    assert [node["task"] for node in plan["task_nodes"]] == ["find", "buy", "buy", "show"]
    assert plan["task_links"] == [
        {"source": "find", "target": "buy"},
        {"source": "find", "target": "show"},
    ]


def test_openai_is_shown_as_many_tools_as_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [imported_tool(f"tool_{number}", "Does it.", {}, []) for number in range(129)]
    write_json(tmp_path / "tool_desc.json", {"nodes": nodes})
    build_graph(tmp_path, dependency_type="schema")
    folder = tmp_path
    (folder / "user_requests.json").write_text('{"id": "1", "user_request": "Do it.", "n_tools": 1}\n')
    said: list[str] = []
    given: dict[str, Any] = {"llm": "acme", "dry_run": True, "screen": replace(SILENT, say=said.append)}
    local, openai = (ModelOptions(base) for base in ("http://localhost:9/v1", "https://api.openai.com/v1"))
    infer(folder, ask="calls", options=local, **given)
    assert any("129" in line and "--tools_in_context" in line for line in said)
    assert infer(folder, ask="tools", options=openai, **given).expected
    run = RunSettings(ModelSettings(llm="acme", options=openai))
    work = BENCHMARK.work(DataFolder(folder), run, PlanOptions(ask="tools"), 0)
    assert work.facts.settings["tools_in_context"] == "bm25@128"
    assert any("retrieved:128" in line for line in said)
    with pytest.raises(UsageError, match="--tools_in_context"):
        infer(folder, ask="tools", options=openai, tools_in_context="retrieved:129", **given)
    with pytest.raises(UsageError, match="--tools_in_context"):
        infer(folder, ask="tools", options=openai, security=1, llm="acme")
    monkeypatch.setattr("toolassay.benchmarks.taskbench.work.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="--tools_in_context"):
        infer(folder, ask="tools", options=openai, **given)
