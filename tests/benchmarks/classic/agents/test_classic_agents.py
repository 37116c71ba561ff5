"""Agents that write JSON, that call functions, and recorded answers; and which workflow a name names."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.support.answering import Scripted, ask_of
from tests.support.builders import question
from tests.support.scripted import calls, choose
from toolassay.benchmarks.classic.agents.choice import find_name, word_for_none
from toolassay.benchmarks.classic.agents.inference import (
    MAX_WORKFLOWS,
    QuestionEntry,
    function_list,
    named_functions,
    ordered,
    split_into_groups,
)
from toolassay.benchmarks.classic.agents.recorded_answers import RecordedAnswers
from toolassay.errors import UsageError
from toolassay.models import ChatResponse


def test_the_prompt_shows_the_list_and_the_chat_and_nothing_of_the_labels() -> None:
    asked = question("my shoes\nBot: start it", "bot: Which?", "the $blue ones")
    choice, model = choose("cot", asked, ChatResponse('{"thinking": "so", "workflow": "Return Goods"}'))
    assert (choice.workflow, choice.outcome, choice.note) == ("w0", "answered", "")
    (request,) = model.asked
    (message,) = request.messages
    assert "1. Return Goods: About Return Goods.\n2. Track Parcel: About" in message["content"]
    assert "User: my shoes\n  Bot: start it\nBot: Which?\nUser: the $blue ones\n" in message["content"]
    assert request.parameters["temperature"] == 0.2 and request.parameters["max_tokens"] == 512
    schema = request.parameters["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["thinking", "workflow"]
    assert (request.role, request.item) == ("agent", "c--0")


@pytest.mark.parametrize(
    ("text", "workflow", "note"),
    [
        ('{"thinking": "", "workflow": "none"}', None, ""),
        ('```json\n{"thinking": "a", "workflow": "track parcel"}\n```', "w1", ""),
        (
            "{'thinking': 'a', 'workflow': '2. Track Parcel',}",
            "w1",
            "its JSON had to be repaired; read as the name",
        ),
        ('<think>{"workflow": "none"}</think>{"workflow": "Track Parcel"}', "w1", ""),
        ('{"workflow": "Track Parcel"}\n{"workflow": "a name of the list, or none"}', "w1", ""),
    ],
)
def test_answers_are_read(text: str, workflow: str | None, note: str) -> None:
    choice, _ = choose("cot", question("x"), ChatResponse(text))
    assert (choice.workflow, choice.outcome) == (workflow, "answered")
    assert choice.note.startswith(note) and bool(choice.note) == bool(note)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Return Goods", "no JSON object"),
        ('{"workflow": "Refund"}', "not offered: 'Refund'"),
        ('{"workflow": "Return', "cut off"),
        ('{"thinking": "x", "workflow": "a name of the list, or none"}', "repeats the form"),
    ],
)
def test_what_cannot_be_read_or_was_not_offered_is_malformed(text: str, error: str) -> None:
    choice, _ = choose("cot", question("x"), ChatResponse(text))
    assert (choice.workflow, choice.outcome) == (None, "malformed")
    assert error in choice.error


NAMES = ("Return Goods", "Track  Parcel", "2. Stage", "Stage")
CANDIDATES = question("x", names=NAMES).candidates


@pytest.mark.parametrize(
    ("said", "found", "noted"),
    [
        ("Return Goods", 0, False),
        ("track parcel", 1, False),
        ("'Return Goods'", 0, True),
        ("#4 **Return Goods**", 0, True),
        ("“1) Return Goods.”", 0, True),
        ("2. Stage", 2, False),
    ],
)
def test_a_name_is_found(said: str, found: int, noted: bool) -> None:
    match = find_name(said, CANDIDATES, "none")
    assert match.workflow == CANDIDATES[found]
    assert bool(match.note) == noted


def test_none_is_a_choice_with_a_word_of_its_own() -> None:
    assert find_name(" 'None' ", CANDIDATES, "none")[:2] == (True, None)
    odd = question("x", names=("None", "none of these")).candidates
    word = word_for_none(odd)
    assert word == "none of these of these"
    assert find_name("none", odd, word).workflow == odd[0]
    assert find_name(word, odd, word) == (True, None, "")


def test_order_is_of_the_table_by_name_or_by_seed() -> None:
    asked = question("x", names=[f"Name {number}" for number in range(20, 0, -1)])
    assert ordered(asked, "table") is asked
    by_name = [workflow.name for workflow in ordered(asked, "name").candidates]
    assert by_name == sorted(by_name)
    shuffled = [ordered(asked, seed).candidates for seed in ("1", "1", "2")]
    assert shuffled[0] == shuffled[1] != shuffled[2]
    assert set(shuffled[0]) == set(asked.candidates)
    with pytest.raises(UsageError, match="unknown --order '-1'"):
        from toolassay.benchmarks.classic.agents.inference import ClassicAgentSettings

        ClassicAgentSettings(order="-1")


MANY = [f"Do thing {number}" for number in range(300)]


@settings(max_examples=15, deadline=None)
@given(some.lists(some.text(min_size=1, max_size=90), min_size=1, max_size=40))
def test_every_function_has_a_name_of_its_own_that_interfaces_take(names: list[str]) -> None:
    named, nothing = named_functions(question("x", names=names).candidates)
    functions = [function["function"]["name"] for function in function_list(named, nothing)]
    assert functions == [*(name for name, _ in named), nothing]
    assert len({name.lower() for name in functions}) == len(names) + 1
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name) for name in functions)


def test_the_chat_goes_as_messages_and_each_workflow_as_a_function() -> None:
    asked = question("hello", "anybody?", "bot: Yes?", "where is my parcel")
    choice, model = choose("tools", asked, calls("Track_Parcel"))
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
    choice, _ = choose("tools", question("x"), response)
    assert (choice.workflow, choice.outcome) == (workflow, outcome)
    assert bool(choice.error) == (outcome != "answered")
    assert bool(choice.note) == (len(response.tool_calls) > 1)


def test_more_than_an_interface_takes_are_offered_in_groups() -> None:
    asked = question("x", names=MANY)
    sizes = [len(group) for group in split_into_groups(asked.candidates)]
    assert sizes == [100, 100, 100] and MAX_WORKFLOWS == 127
    says = (calls("Do_thing_7"), calls("no_workflow"), calls("Do_thing_250"), calls("Do_thing_250"))
    choice, model = choose("tools", asked, *says)
    assert (choice.workflow, choice.note) == ("w250", "offered in 3 groups")
    assert [len(request.parameters["tools"]) for request in model.asked] == [101, 101, 101, 3]


HEAD = "conversation_uuid,request_idx,workflow,time_to_pred,tokens_input,tokens_output,cost\n"


def replay(path: Path, **settings: Any) -> QuestionEntry:
    return asyncio.run(RecordedAnswers.read(path, **settings).answer(question("x"), ask_of(Scripted())))


@pytest.mark.parametrize(
    ("cell", "outcome", "workflow"),
    [
        ("w1", "answered", "w1"),
        ("track parcel", "answered", "w1"),
        ("None", "answered", None),
        ("", "malformed", None),
        ("Refund", "malformed", None),
    ],
)
def test_ids_and_names_are_found_and_none_is_what_was_declared(
    tmp_path: Path, cell: str, outcome: str, workflow: str | None
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD}c,0,{cell},1.5,10,2,0.001\n", encoding="utf-8")
    found = replay(path)
    assert (found.outcome, found.workflow) == (outcome, workflow)
    (answer,) = found.answers
    assert (answer.seconds, answer.prompt_tokens, answer.completion_tokens, answer.cost) == (
        1.5,
        10,
        2,
        0.001,
    )


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "conversation_uuid,request_idx\nc,0\n", "a.csv:2: .*`workflow`"),
        ("a.csv", f"{HEAD}c,0,w1,,,,\nc,0,w0,,,,\n", "a.csv:3: a second answer to 'c--0'"),
        ("a.jsonl", "[1]", "a.jsonl:1: .*object"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        RecordedAnswers.read(tmp_path / name)
    with pytest.raises(UsageError, match="no such file"):
        RecordedAnswers.read(tmp_path / f"no-{name}")
