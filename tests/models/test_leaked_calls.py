from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models import ChatRequest, ChatResponse, ToolCall
from toolassay.runs.tool_arrival import calls_in, decoded, offered_name, repaired

TYPED = {"properties": {"text": {"type": "string"}, "n": {"type": "integer"}}}
OFFERED = dict.fromkeys(("add_note", "find_note", "json_note"), TYPED)
BOOK = {"name": "add_note", "arguments": {"text": "Milk {2}"}}
FOUND = ("add_note", {"text": "Milk {2}"})
TEXT, ARGUMENTS = json.dumps(BOOK), json.dumps(BOOK["arguments"])


@pytest.mark.parametrize(
    "name",
    [
        "add_note<|channel|>commentary",
        " add_note\n",
        "functions.add_note:0",
        "tool/add_note",
        "<|channel|>commentary to=functions.add_note",
        "[TOOL_CALLS]add_note[ARGS]",
        "<|tool_call_begin|>functions.add_note:0<|tool_call_argument_begin|>",
    ],
)
def test_marks_around_an_offered_name_are_removed(name: str) -> None:
    assert offered_name(name, OFFERED) == "add_note"


@pytest.mark.parametrize(
    "name",
    [
        "add_note2",
        "add-note",
        "do not add_note",
        "x" * 999,
    ],
)
def test_a_wrong_name_stays_wrong(name: str) -> None:
    assert offered_name(name, OFFERED) == name


def test_arguments_are_decoded_to_an_object_or_left() -> None:
    once = '{"a": "\\"b\\""}'
    assert [decoded(text) for text in (once, json.dumps(once), json.dumps(json.dumps(once)))] == [once] * 3
    assert [decoded(text.format(once)) for text in ("{}<|call|>", "```json\n{}\n```")] == [once] * 2
    assert decoded(f"Sure: {once}") == f"Sure: {once}"
    for text in ("", '"plain"', "[1]", '"[1]"', '"{"', "[" * 100_000):
        assert decoded(text) == text


def test_arguments_inside_another_object_are_taken_out_unless_the_tool_has_such_names() -> None:
    wrapped = [
        json.dumps({key: BOOK["arguments"], "name": "add_note"}) for key in ("arguments", "parameters")
    ]
    assert [decoded(text, TYPED) for text in (*wrapped, "{}" + ARGUMENTS)] == [ARGUMENTS] * 3
    assert decoded(wrapped[0], {"properties": {"name": {}, "text": {}}}) == wrapped[0]
    assert decoded('{"parameters": {"n": 1}, "n": 2}', TYPED) == '{"parameters": {"n": 1}, "n": 2}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{TEXT}\n</tool_call>",
        f"Let me write it down.\n```json\n{json.dumps(BOOK, indent=2)}\n```\nThen I am done.",
        json.dumps([{"type": "function", "function": {**BOOK, "arguments": ARGUMENTS}}]),
        f"[TOOL_CALLS]add_note[ARGS]{ARGUMENTS}",
        f"<|call|>function<|sep|>add_note\n```json\n{ARGUMENTS}\n```<|end|>",
        f"<|channel|>commentary to=functions.add_note <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
        f"<|begin|>functions.add_note:0<|argument|>{ARGUMENTS}<|end|>",
        f"functools[{TEXT}]",
        f"<tool_call>{TEXT}}}</tool_call>",
        json.dumps({"tool_calls": [{"function": BOOK}]}),
        json.dumps([{"tool_call_id": "0", "tool_name": "add_note", "parameters": BOOK["arguments"]}]),
        "<tool_call>\n<function=add_note>\n<parameter=text>\nMilk {2}\n</parameter>\n</function></tool_call>",
        '<|x|invoke name="add_note">\n<|x|parameter name="text" string="true">Milk {2}</|x|parameter>',
        "<tool_call>add_note\n<arg_key>text</arg_key>\n<arg_value>Milk {2}</arg_value>\n</tool_call>",
    ],
)
def test_calls_in_a_text_are_found_once_or_in_a_row(text: str) -> None:
    assert list(calls_in(text, OFFERED)) == [FOUND]
    assert list(calls_in(f"{text}\n{text}", OFFERED)) == [FOUND, FOUND]


@pytest.mark.parametrize(
    "text",
    [
        f"I could write {TEXT} now.",
        f"<tool_call>{TEXT.replace('add_note', 'add_note2')}</tool_call>",
        f"<tool_call>{TEXT[:-1]}</tool_call>",
        '{"name": "add_note", "description": "Adds a note.", "parameters": {"type": "object"}}',
        f"add_note {ARGUMENTS}",
        "I could write add_note(text='Milk') now.",
        "add_note(text='Milk')",
    ],
)
def test_what_is_no_call_of_an_offered_tool_is_left(text: str) -> None:
    assert list(calls_in(text, OFFERED)) == []


def answered(text: str, *calls: ToolCall, messages: Any = ()) -> tuple[ChatResponse, list[str]]:
    tools = [{"type": "function", "function": {"name": name, "parameters": TYPED}} for name in OFFERED]
    return repaired(ChatResponse(text, tool_calls=calls), ChatRequest(messages, {"tools": tools}))


def test_an_answer_is_repaired_and_kept_as_it_came() -> None:
    raw = f"<think>{TEXT}</think>Well.\n<tool_call>{TEXT}</tool_call>"
    response, leaks = answered(raw)
    assert (response.text, response.leaked, leaks) == ("Well.", raw, ["calls as text"])
    assert response.tool_calls == (ToolCall("", "add_note", ARGUMENTS),)

    sent = {"signature": "c2ln"}  # goes back to the server
    response, leaks = answered("", ToolCall("1", "functions.find_note", json.dumps(ARGUMENTS), sent))
    assert response.tool_calls == (ToolCall("1", "find_note", ARGUMENTS, sent),) and len(leaks) == 2
    assert "functions.find_note" in response.leaked


def test_what_is_fine_or_quoted_is_left() -> None:
    call = ToolCall("1", "find_note", "{}")
    assert answered(TEXT, call) == (ChatResponse(TEXT, tool_calls=(call,)), [])
    assert answered("Done.") == (ChatResponse("Done."), [])
    function = {"name": "add_note", "arguments": ARGUMENTS}
    assert answered(TEXT, messages=[{"role": "assistant", "tool_calls": [{"function": function}]}])[1] == []


@given(st.text(st.sampled_from('<>|[]{}`:., \n"aA_=-'), max_size=400), st.sampled_from([*OFFERED]))
def test_any_text_is_read(text: str, name: str) -> None:
    offered_name(text + name + text, OFFERED)
    list(calls_in(text + name + text, OFFERED))


@pytest.mark.parametrize("part", ["<a> ", "{}", "\n{", "a<|", "<parameter=a>", "=add_note>", "(", "\n}"])
def test_long_texts_are_read_in_linear_time(part: str) -> None:
    began = time.process_time()
    offered_name((part * 300)[:280] + "add_note x", OFFERED)
    list(calls_in("<add_note>" + part * 20_000, OFFERED))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("<tool_call>\n<function=add_note>\n<text>Milk</text>\n</function>", 1),
        ("<|call>call:add_note{text:Milk}", 1),
        ('[add_note("Milk")]', 1),
        ("```tool_code\nadd_note(text='Milk')\n```", 1),
        (f"<tool_call>{TEXT[:-1]}</tool_call>", 1),
        ("I called `add_note`, then add_note again.", 0),
    ],
)
def test_calls_in_a_text_that_cannot_be_read_are_reported(text: str, leaks: int) -> None:
    response, found = answered(text)
    assert (response.text, response.tool_calls, len(found)) == (text, (), leaks)
