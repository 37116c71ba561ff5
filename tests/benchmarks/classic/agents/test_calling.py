"""The agent that calls a function a workflow."""

from __future__ import annotations

import re

import pytest
from builders import question
from hypothesis import given, settings
from hypothesis import strategies as some
from scripted import calls, choose

from toolassay.benchmarks.classic.agents.json_agent import (
    MAX_WORKFLOWS,
    FunctionCallingAgent,
    function_list,
    named_functions,
    split_into_groups,
)
from toolassay.models import ChatResponse

AGENT = FunctionCallingAgent(512)
MANY = [f"Do thing {number}" for number in range(300)]


@settings(max_examples=50, deadline=None)
@given(some.lists(some.text(min_size=1, max_size=90), min_size=1, max_size=40))
def test_every_function_has_a_name_of_its_own_that_interfaces_take(names: list[str]) -> None:
    named, nothing = named_functions(question("x", names=names).candidates)
    functions = [function["function"]["name"] for function in function_list(named, nothing)]
    assert functions == [*(name for name, _ in named), nothing]
    assert len({name.lower() for name in functions}) == len(names) + 1
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in functions)


def test_the_chat_goes_as_messages_and_each_workflow_as_a_function() -> None:
    asked = question("hello", "anybody?", "bot: Yes?", "where is my parcel")
    choice, model = choose(AGENT, asked, calls("Track_Parcel"))
    assert (choice.workflow, choice.note) == ("w1", "")
    (request,) = model.asked
    assert [message["role"] for message in request.messages] == ["system", "user", "assistant", "user"]
    assert request.messages[1]["content"] == "hello\n\nanybody?"
    names = [tool["function"]["name"] for tool in request.parameters["tools"]]
    assert names == ["Return_Goods", "Track_Parcel", "no_workflow"]
    assert "call no_workflow" in request.messages[0]["content"]
    assert request.parameters["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("response", "workflow", "outcome"),
    [
        (calls("no_workflow"), None, "answered"),
        (calls("fly", "Track_Parcel", "Return_Goods"), "w1", "answered"),
        (calls("fly"), None, "malformed"),
        (ChatResponse("Track Parcel"), None, "malformed"),
        (ChatResponse("", "length"), None, "malformed"),
        (ChatResponse("No.", refused=True), None, "refused"),
    ],
)
def test_the_first_call_of_a_known_function_counts(
    response: ChatResponse, workflow: str | None, outcome: str
) -> None:
    choice, _ = choose(AGENT, question("x"), response)
    assert (choice.workflow, choice.outcome) == (workflow, outcome)
    assert bool(choice.error) == (outcome != "answered")
    assert bool(choice.note) == (len(response.tool_calls) > 1)


def test_more_than_an_interface_takes_are_offered_in_groups() -> None:
    asked = question("x", names=MANY)
    sizes = [len(group) for group in split_into_groups(asked.candidates)]
    assert sizes == [100, 100, 100] and MAX_WORKFLOWS == 127
    says = (calls("Do_thing_7"), calls("no_workflow"), calls("Do_thing_250"), calls("Do_thing_250"))
    choice, model = choose(AGENT, asked, *says)
    assert (choice.workflow, choice.note) == ("w250", "offered in 3 groups")
    assert [len(request.parameters["tools"]) for request in model.asked] == [101, 101, 101, 3]
