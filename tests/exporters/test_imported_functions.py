"""Functions and chats of imported tools."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tests.support.builders import imported_tool, label_of, node
from tests.support.executions import calls_of
from toolassay.exporters.export_format import Chats
from toolassay.exporters.openai_chats import FORMAT
from toolassay.plans.call_plan import FunctionSchema, Names, call_plan_of, function_of
from toolassay.plans.gold import Gold
from toolassay.tools.library import ToolLibrary


def label(**values: Any) -> dict[str, Any]:
    return label_of(1, node("add_member", **values), user_request="Add Ann", task_steps=[])


def function(tool: dict[str, Any]) -> FunctionSchema:
    library = ToolLibrary.from_json([tool])
    return function_of(library.tools[0], "temporal", Names.of(library, "temporal"))


def test_arguments_keep_their_names_in_the_function_and_in_calls() -> None:
    properties = {"城市": {"type": "string"}, "per page": {"type": "integer"}, "ID": {}, "id": {}}
    tool = imported_tool("find", "Finds.", properties, ["城市"], dependentRequired={"ID": ["per page"]})
    assert function(tool).parameters == tool["input_schema"]
    library = ToolLibrary.from_json([tool])
    gold = label(**{"城市": "北京", "per page": 3})
    gold["task_nodes"][0]["task"] = "find"
    plan = call_plan_of(Gold.of(gold), library, "temporal")
    chats = Chats(library, "temporal")
    chat = msgspec.to_builtins(FORMAT.line(plan, chats, None))
    (call,) = chat["messages"][1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"城市": "北京", "per page": 3}
    assert calls_of(chat["messages"], chats.names) == plan.calls
    names = Names.of(library, "temporal", strict=True)
    asked = function_of(library.tools[0], "temporal", names).parameters
    assert [*asked["properties"]] == ["argument", "per_page", "ID", "id"]
    assert asked["required"] == ["argument"]
    assert [*names.by_function["find"].parameters.values()] == [*properties]
