"""Chats and rows with the results of executed plans."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.support.executions import calls_of, refused_call, results_of
from tests.support.gold_samples import TEMPORAL, plans
from toolassay.exporters import openai_chats, sharegpt
from toolassay.exporters.chats import chat_turns, turns_of
from toolassay.exporters.executed_results import PlanResults, grounded_answer
from toolassay.exporters.export_format import Chats, ChatStyle
from toolassay.exporters.rows import plan_of_row, row_of
from toolassay.exporters.sharegpt import ConversationTurn
from toolassay.plans.call_plan import Call, CallPlan

CHATS = Chats(TEMPORAL, "temporal")
_results = st.sampled_from([7, 2.5, True, "done", "", [1, 2], {"id": 4, "note": "späte <node-9>"}])


@st.composite
def executed(draw: st.DrawFn) -> tuple[CallPlan, PlanResults]:
    """Plans with results of every type, some with a refused call."""
    plan = draw(plans())
    results = results_of(plan, draw(st.lists(_results, min_size=plan.size, max_size=plan.size)))
    if draw(st.booleans()):
        results = refused_call(results, draw(st.integers(0, plan.size - 1)))
    return plan, results


styles = st.builds(
    ChatStyle,
    system=st.sampled_from(["", "Help."]),
    closing=st.sampled_from(["$results", "So: $results", None]),
    parallel=st.booleans(),
    as_objects=st.booleans(),
)


@given(executed(), styles)
def test_the_calls_of_a_chat_are_the_executed_ones(
    one: tuple[CallPlan, PlanResults], style: ChatStyle
) -> None:
    plan, results = one
    line = msgspec.to_builtins(openai_chats.FORMAT.line(plan, replace(CHATS, style=style), results))
    wanted = list(results.calls)
    if results.refused is not None:
        wanted.insert(results.refused.number, results.refused.call)

    assert json.loads(json.dumps(line, allow_nan=False)) == line
    assert calls_of(line["messages"], CHATS.names) == tuple(wanted)


@given(executed(), styles)
def test_each_call_is_answered_by_its_result(one: tuple[CallPlan, PlanResults], style: ChatStyle) -> None:
    plan, results = one
    messages = msgspec.to_builtins(
        openai_chats.FORMAT.line(plan, replace(CHATS, style=style), results).messages
    )
    called = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    answered = {
        message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"
    }
    texts = list(results.texts)
    if results.refused is not None:
        texts.insert(results.refused.number, results.refused.error)

    assert len(set(called)) == len(called) == len(texts)
    last = len(messages[-1].get("tool_calls", []))
    for place, (name, text) in enumerate(zip(called, texts, strict=True)):
        assert answered.get(name) == (text if place < len(texts) - last else None)
    if style.closing is not None:
        answer = grounded_answer([results.texts[call] for call in plan.results()])
        assert messages[-1] == {
            "role": "assistant",
            "content": style.closing.replace("$results", answer),
        }


@given(executed())
def test_a_row_with_results_is_read_back_as_the_same_plan(one: tuple[CallPlan, PlanResults]) -> None:
    plan, results = one
    row = json.loads(json.dumps(msgspec.to_builtins(row_of(plan, results)), allow_nan=False))

    assert plan_of_row(row) == plan
    assert [call["result"] for call in row["calls"]] == list(results.texts)
    assert row["answer"] == grounded_answer([results.texts[call] for call in plan.results()])
    assert row["results"] == "executed"


def test_a_refused_call_in_a_parallel_turn_keeps_the_order_of_execution() -> None:
    calls = (Call("pay", ()), Call("book", ()), Call("tell", ()))
    plan = CallPlan("1", "", (), calls, ())
    results = refused_call(results_of(plan, ["a", "b", "c"]), 1, "sold out")
    turns = chat_turns(plan, ChatStyle(parallel=True), results)

    assert turns_of(plan, parallel=True) == [[0, 1, 2]]
    assert [[call.result for call in turn] for turn in turns] == [["a", "sold out"], ["b", "c"]]
    said = sharegpt.FORMAT.line(plan, replace(CHATS, style=ChatStyle(parallel=True)), results).conversations
    assert said[2] == ConversationTurn("observation", '["a", "sold out"]')
