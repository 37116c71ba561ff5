"""Plans as chats with tool calls, and back; plans as rows, and back."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.support.executions import calls_of
from tests.support.gold_samples import RESOURCE, TEMPORAL, label, plans
from toolassay.exporters import openai_chats, sharegpt
from toolassay.exporters.export_format import Chats, ChatStyle
from toolassay.exporters.rows import plan_of_row, row_of
from toolassay.exporters.sharegpt import ConversationTurn
from toolassay.plans.call_plan import VALID_NAME, CallPlan, Names, call_plan_of, references
from toolassay.plans.gold import Gold
from toolassay.records.dataset import reference_index
from toolassay.tools.library import Parameter, Tool, ToolLibrary

styles = st.builds(
    ChatStyle,
    system=st.sampled_from(["", "Help."]),
    closing=st.sampled_from(["Done: $results", "$ ${x}", None]),
    parallel=st.booleans(),
    as_objects=st.booleans(),
)
CHATS = Chats(TEMPORAL, "temporal")
DAG = label(3, [("画", ["a"]), ("Answer", ["b", "c"]), ("Edit Image", ["<node-0>", "<node-1>"])])


def openai_line(plan: CallPlan, style: ChatStyle, chats: Chats = CHATS) -> dict[str, Any]:
    line = msgspec.to_builtins(openai_chats.FORMAT.line(plan, replace(chats, style=style), None))
    back: dict[str, Any] = json.loads(json.dumps(line, allow_nan=False))
    assert back == line
    return back


@given(plans(), styles)
def test_a_chat_is_read_back_as_the_same_plan(plan: CallPlan, style: ChatStyle) -> None:
    line = openai_line(plan, style)
    messages = line["messages"]
    request = next(message["content"] for message in messages if message["role"] == "user")

    assert CallPlan(plan.id, request, (), calls_of(messages, CHATS.names), plan.links) == plan


@given(plans(), styles)
def test_a_chat_keeps_the_rules_of_its_form(plan: CallPlan, style: ChatStyle) -> None:
    line = openai_line(plan, style)
    known: list[str] = []
    answered: list[str] = []
    results: set[int] = set()
    for message in line["messages"]:
        assert isinstance(message["content"], str)
        if message["role"] == "tool":
            answered.append(message["tool_call_id"])
            number = reference_index(message["content"])
            assert number == len(results)
            results.add(len(results))
        calls = message.get("tool_calls", [])
        assert style.parallel or len(calls) <= 1
        if calls:
            assert known == answered, "calls come after the results of all calls before"
        for call in calls:
            assert re.fullmatch("[a-zA-Z0-9]{9}", call["id"])
            arguments = call["function"]["arguments"]
            read = arguments if style.as_objects else json.loads(arguments)
            assert {number for number in references(read) if number < plan.size} <= results
            known.append(call["id"])
    assert len(set(known)) == len(known) == plan.size
    assert line["messages"][-1]["role"] == "assistant"
    assert line["parallel_tool_calls"] is style.parallel
    order = {
        call: turn
        for turn, message in enumerate(m for m in line["messages"] if m.get("tool_calls"))
        for call in (c["id"] for c in message["tool_calls"])
    }
    for source, target in plan.links:
        assert order[known[source]] < order[known[target]]


@given(plans(), st.booleans())
@settings(max_examples=30)
def test_a_chat_is_what_the_sdk_of_openai_takes(plan: CallPlan, parallel: bool) -> None:
    chat = pytest.importorskip("openai.types.chat", reason="openai is not installed")
    line = openai_line(plan, ChatStyle(system="Help.", parallel=parallel))
    for key, kind in (
        ("messages", chat.ChatCompletionMessageParam),
        ("tools", chat.ChatCompletionFunctionToolParam),
    ):
        adapter = adapter_of(kind)
        for item in line[key]:
            assert json.loads(adapter.dump_json(adapter.validate_python(item))) == item


@functools.cache
def adapter_of(kind: Any) -> Any:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    return pydantic.TypeAdapter(kind)


@given(plans(), styles)
def test_a_conversation_keeps_the_rules_of_its_form(plan: CallPlan, style: ChatStyle) -> None:
    """As LLaMA-Factory checks them: who may speak at even and at odd places, and what is JSON."""
    line = sharegpt.FORMAT.line(plan, replace(CHATS, style=style), None)
    said = line.conversations

    assert len(said) % 2 == 0
    for place, turn in enumerate(said):
        assert turn.who in (("human", "observation") if place % 2 == 0 else ("gpt", "function_call"))
    calls = [json.loads(turn.value) for turn in said if turn.who == "function_call"]
    flat = [call for turn in calls for call in (turn if isinstance(turn, list) else [turn])]
    messages = [{"tool_calls": [{"function": call}]} for call in flat]
    assert calls_of(messages, CHATS.names) == plan.calls
    for tool in json.loads(line.tools):
        assert isinstance(tool["parameters"]["properties"], dict)
    assert line.system == style.system


@given(plans())
def test_a_row_is_read_back_as_the_same_plan(plan: CallPlan) -> None:
    assert plan_of_row(json.loads(json.dumps(msgspec.to_builtins(row_of(plan)), allow_nan=False))) == plan


def test_independent_calls_together() -> None:
    plan = call_plan_of(Gold.of(DAG), RESOURCE, "resource")
    chats = Chats(RESOURCE, "resource")
    messages = openai_line(plan, ChatStyle(parallel=True), chats)["messages"]

    assert [message["role"] for message in messages] == [
        *("user", "assistant", "tool", "tool", "assistant", "tool", "assistant")
    ]
    assert len(messages[1]["tool_calls"]) == 2
    said = sharegpt.FORMAT.line(plan, replace(chats, style=ChatStyle(parallel=True)), None).conversations
    assert said[2] == ConversationTurn("observation", '["<node-0>", "<node-1>"]')
    assert said[-1] == ConversationTurn("gpt", "Done: <node-2>")


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=12, unique=True))
def test_names_are_valid_unique_and_led_back(ids: Sequence[str]) -> None:
    library = ToolLibrary([Tool(name, parameters=tuple(Parameter(other) for other in ids)) for name in ids])
    names = Names.of(library, "temporal")

    assert all(VALID_NAME.fullmatch(name) for name in names.functions.values())
    assert len({name.casefold() for name in names.functions.values()}) == len(ids)
    for name in ids:
        entry = names.by_function[names.functions[name]]
        assert (entry.tool, {*entry.parameters.values()}) == (name, {*ids})


def test_schemas_are_json_schemas_and_say_what_the_tools_do() -> None:
    source = {
        "parameters": [
            {"name": "kind", "type": "enum", "enum": ["a", "b"], "required": False},
            {"name": "when", "type": "date-time"},
            {"name": "tags", "type": "list[string]", "items": {"type": "string"}},
        ]
    }
    (tool,) = ToolLibrary.from_json({"nodes": [{"id": "t", "desc": "D.", **source}]})
    chats = Chats(ToolLibrary([*TEMPORAL, tool]), "temporal")
    functions = {item.name: item for item in chats.offered(CallPlan("1", "", (), (), ()))}

    for function in functions.values():
        Draft202012Validator.check_schema(function.parameters)
    assert functions["t"].parameters == {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "when": {"type": "string", "format": "date-time"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["when", "tags"],
    }
    assert functions["book"].parameters["properties"]["seats"] == {"type": "integer"}
