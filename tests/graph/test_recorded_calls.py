"""Reading files of recorded calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolassay.errors import UsageError
from toolassay.graph.recorded_calls import Call, Turn, read_traces

SEARCH = {"tool": "search", "arguments": {"query": "heat"}, "result": {"ids": [7]}}
CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Find heat."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "function": {"name": "search", "arguments": '{"query": "heat"}'}},
            {"id": "b", "function": {"name": "clock", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "Error: no clock"},
    {"role": "tool", "tool_call_id": "a", "content": '{"ids": [7]}'},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "details", "arguments": '{"id": 7}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "A film."},
]


def trace_file(path: Path, *lines: Any) -> Path:
    file = path / "calls.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return file


def calls(path: Path) -> list[list[Call]]:
    return [[call for turn in turns for call in turn.calls] for turns in read_traces(path)]


@pytest.mark.parametrize(
    "call",
    [
        SEARCH,
        {"name": "search", "arguments": [{"name": "query", "value": "heat"}], "result": '{"ids": [7]}'},
        {"task": "search", "arguments": '{"query": "heat"}', "result": {"ids": [7]}, "error": None},
        {**SEARCH, "result": {"content": [], "structuredContent": {"ids": [7]}}},
        {**SEARCH, "result": {"content": [{"type": "text", "text": '{"ids": [7]}'}]}},
    ],
)
def test_every_form_of_a_call_is_the_same_call(call: dict[str, Any], tmp_path: Path) -> None:
    wanted = [[Call("search", {"query": "heat"}, {"ids": [7]})]]
    assert calls(trace_file(tmp_path, {"id": 3, "calls": [call]})) == wanted
    assert calls(trace_file(tmp_path, [call])) == wanted


def test_a_call_with_an_error_failed(tmp_path: Path) -> None:
    assert calls(trace_file(tmp_path, [{**SEARCH, "error": "timeout"}]))[0][0].failed


def test_a_result_that_is_no_json_stays_text(tmp_path: Path) -> None:
    assert calls(trace_file(tmp_path, [{**SEARCH, "result": "no films"}]))[0][0].result == "no films"


@pytest.mark.parametrize("key", ["messages", "traj"])
def test_a_chat_has_the_calls_of_each_message_with_their_results(key: str, tmp_path: Path) -> None:
    first, second = next(read_traces(trace_file(tmp_path, {key: CHAT})))
    assert first == Turn(
        "Be kind.\nFind heat.",
        [Call("search", {"query": "heat"}, {"ids": [7]}), Call("clock", {}, "Error: no clock", True)],
    )
    assert second == Turn("", [Call("details", {"id": 7}, "A film.")])  # the id "a" is used twice


def test_a_bare_list_of_messages_is_a_chat(tmp_path: Path) -> None:
    assert [call.tool for call in calls(trace_file(tmp_path, CHAT))[0]] == ["search", "clock", "details"]


def test_a_call_of_a_chat_without_result_or_with_broken_arguments_failed(tmp_path: Path) -> None:
    made = [{"id": "a", "function": {"name": "search", "arguments": '{"query": '}}, CHAT[2]["tool_calls"][0]]  # type: ignore[index]
    chat = [{"role": "assistant", "tool_calls": made}, {"role": "user", "content": "Well?"}]
    assert [call.failed for call in calls(trace_file(tmp_path, {"messages": chat}))[0]] == [True, True]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_list_of_sequences_is_read_like_lines(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([{"calls": [SEARCH]}, {"traj": CHAT}], indent=indent))
    assert [len(one) for one in calls(path)] == [1, 3]


def test_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    sequences = read_traces(trace_file(tmp_path, [SEARCH], [SEARCH], "{broken"))
    assert [len(next(sequences)), len(next(sequences))] == [1, 1]
    with pytest.raises(UsageError, match=r"calls\.jsonl:3: not valid JSON"):
        next(sequences)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (3, "is no sequence of calls"),
        ({"steps": []}, "is no sequence of calls"),
        ({"calls": {}}, "is no sequence of calls"),
        ([7], "call 1 is not an object"),
        ([SEARCH, {"arguments": {}}], "call 2 names no tool"),
        ([{"tool": ""}], "call 1 names no tool"),
        ([{**SEARCH, "arguments": "{"}], "the arguments of call 1 are no object"),
        ([{**SEARCH, "arguments": [{"value": 1}]}], "the arguments of call 1 are no object"),
        ({"messages": [1]}, "the messages are no list of objects"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "tool call 1 of a message names no"),
    ],
)
def test_a_malformed_line_is_named(line: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"calls\.jsonl:3: {message}.*Fix: write"):
        calls(trace_file(tmp_path, [SEARCH], "", line))


def test_a_malformed_sequence_of_a_json_list_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    path.write_text('[\n  {"calls": []},\n  {"calls": [1]}\n]')
    with pytest.raises(UsageError, match=r"calls\.json:3: call 1 is not an object"):
        calls(path)


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        calls(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="has no recorded calls"):
        calls(trace_file(tmp_path))
