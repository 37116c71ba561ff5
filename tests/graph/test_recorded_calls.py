"""Reading files of recorded calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import DATA

from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.graph.recorded_calls import RecordedCall, RecordedTurn, read_traces

# One recording in many forms: a search for a film, then its details by the id that was found.
FORMS = read_json(DATA / "recorded_calls.json")
OPENAI = FORMS["openai"][0]["messages"]
CALLS = (("search", {"query": "heat"}, {"ids": [60312]}), ("details", {"id": 60312}, {"title": "Heat"}))
NAMES = {"search", "details", "clock"}
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
READ = [RecordedTurn("Find heat.", [RecordedCall(*CALLS[0])]), RecordedTurn("", [RecordedCall(*CALLS[1])])]


def trace_file(path: Path, *lines: Any) -> Path:
    file = path / "calls.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return file


def calls(path: Path) -> list[list[RecordedCall]]:
    return [[call for turn in turns for call in turn.calls] for turns in read_traces(path, NAMES)]


def call_of(**result: Any) -> list[dict[str, Any]]:
    """A chat with one call, and a message that has its result."""
    function = {"name": "search", "arguments": "{}"}
    return [{"role": "assistant", "tool_calls": [{"id": "a", "function": function}]}, result]


@pytest.mark.parametrize(
    "form", ["openai", "anthropic", "tau2", "inspect", "sharegpt", "own", "langchain", "gemini", "atif"]
)
def test_each_chat_is_a_sequence_on_lines_and_in_a_list(form: str, tmp_path: Path) -> None:
    lines = FORMS[form] * 3
    assert list(read_traces(trace_file(tmp_path, *lines), NAMES)) == [READ] * 3
    path = tmp_path / "calls.json"
    path.write_text(json.dumps(lines, indent=2))
    assert list(read_traces(path, NAMES)) == [READ] * 3


def test_lines_of_messages_are_a_sequence_for_each_session(tmp_path: Path) -> None:
    assert list(read_traces(trace_file(tmp_path, *FORMS["mcp"] * 2), NAMES)) == [READ] * 2
    (turns,) = read_traces(trace_file(tmp_path, *FORMS["langsmith"]), NAMES)
    assert [call for turn in turns for call in turn.calls] == [RecordedCall(*one) for one in CALLS]
    lines = [{"session_id": name, **one} for one in OPENAI for name in "xy"]
    assert list(read_traces(trace_file(tmp_path, *lines), NAMES)) == [READ] * 2


@pytest.mark.parametrize(
    "call",
    [
        SEARCH,
        {"name": "search", "arguments": [{"name": "query", "value": "heat"}], "result": '{"ids": [7]}'},
        {**SEARCH, "result": {"content": [], "structuredContent": {"ids": [7]}}},
        {**SEARCH, "tool": "mcp__films__search"},
        {**SEARCH, "tool": "films.search"},
    ],
)
def test_every_form_of_a_call_is_the_same_call(call: dict[str, Any], tmp_path: Path) -> None:
    wanted = [[RecordedCall("search", {"query": "heat"}, {"ids": [7]})]]
    assert calls(trace_file(tmp_path, {"id": 3, "calls": [call]})) == wanted
    assert calls(trace_file(tmp_path, [call])) == wanted


def test_a_call_of_another_tool_keeps_its_name_and_its_result(tmp_path: Path) -> None:
    made = [
        {"from": "function_call", "value": '{"name": "my_search", "arguments": {}}'},
        {"from": "observation", "value": "7"},
    ]
    assert calls(trace_file(tmp_path, [*made, *FORMS["sharegpt"][0]["conversations"]]))[0] == [
        RecordedCall("my_search", {}, "7"),
        *(RecordedCall(*one) for one in CALLS),
    ]


@pytest.mark.parametrize(
    "result",
    [
        {"role": "tool", "tool_call_id": "a", "content": "Error: no film"},
        {"role": "tool", "tool_call_id": "a", "content": "gone", "error": {"type": "timeout"}},
        {"type": "tool", "data": {"tool_call_id": "a", "content": "gone", "status": "error"}},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": "gone", "is_error": True}],
        },
        {"id": "a", "result": {"content": [{"type": "text", "text": "gone"}], "isError": True}},
        {"role": "user", "content": "Well?"},  # no result
    ],
)
def test_a_failed_result_fails_its_call(result: dict[str, Any], tmp_path: Path) -> None:
    assert [call.failed for call in calls(trace_file(tmp_path, call_of(**result)))[0]] == [True]


@pytest.mark.parametrize("key", ["messages", "traj"])
def test_a_chat_has_the_calls_of_each_message_with_their_results(key: str, tmp_path: Path) -> None:
    first, second = next(read_traces(trace_file(tmp_path, {key: CHAT}), NAMES))
    assert first == RecordedTurn(
        "Be kind.\nFind heat.",
        [
            RecordedCall("search", {"query": "heat"}, {"ids": [7]}),
            RecordedCall("clock", {}, "Error: no clock", True),
        ],
    )
    assert second == RecordedTurn(
        "", [RecordedCall("details", {"id": 7}, "A film.")]
    )  # the id "a" is used twice


def test_lines_are_read_one_at_a_time(tmp_path: Path) -> None:
    sequences = read_traces(trace_file(tmp_path, [SEARCH], [SEARCH], "{broken"), NAMES)
    assert [len(next(sequences)), len(next(sequences))] == [1, 1]
    with pytest.raises(UsageError, match=r"calls\.jsonl:3: not valid JSON"):
        next(sequences)


def test_a_file_without_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        calls(tmp_path / "none.jsonl")
    tools = {"tools": [{"name": "search", "description": "Finds.", "parameters": {}}]}
    for lines in ([], [3, {"steps": []}, [7]], [tools], [{"messages": CHAT[:2]}]):
        with pytest.raises(UsageError, match=r"no recorded call .*Fix: give chats"):
            calls(trace_file(tmp_path, *lines))
