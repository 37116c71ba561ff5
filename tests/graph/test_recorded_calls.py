"""Reading files of recorded calls."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import DATA
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json
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


# Spans, of the two calls, as exporters and frameworks write them.


def typed(value: Any) -> dict[str, Any]:
    """A value of OTLP."""
    if isinstance(value, dict):
        pairs = [{"key": key, "value": typed(item)} for key, item in value.items()]
        return {"kvlistValue": {"values": pairs}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]} if value else {}}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def otlp(*spans: dict[str, Any], start: Callable[[int], Any] = str) -> dict[str, Any]:
    """Spans with these attributes, a second apart, in one trace."""
    made = [
        {
            "traceId": "t1",
            "spanId": f"s{number}",
            "name": attributes.pop("name", "tool"),
            "startTimeUnixNano": start(1_700_000_000_000_000_000 + number),
            "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
            "status": {"code": 1},
        }
        for number, attributes in enumerate(spans)
    ]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": made}]}]}


def spans(
    name: str, arguments: str, result: str, *, as_json: bool = True, more: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    """The attributes of both calls under these names."""
    made = json.dumps if as_json else (lambda value: value)
    return [
        {name: tool, arguments: made(given), result: made(found), **(more or {})}
        for tool, given, found in CALLS
    ]


MESSAGES = [
    {"role": "user", "content": "Find heat."},
    *(
        message
        for number, (tool, given, found) in enumerate(CALLS)
        for message in (
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": f"c{number}", "function": {"name": tool, "arguments": json.dumps(given)}}
                ],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(found)},
        )
    ),
]


def flat(value: Any, prefix: str) -> dict[str, Any]:
    """A value as attributes with numbers in their names, as OpenInference writes messages."""
    if not isinstance(value, dict | list):
        return {prefix: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {name: item for key, inner in items for name, item in flat(inner, f"{prefix}.{key}").items()}


WRAPPED = [
    {
        "message": {
            **{key: item for key, item in message.items() if key != "tool_calls"},
            **(
                {"tool_calls": [{"tool_call": one} for one in message["tool_calls"]]}
                if "tool_calls" in message
                else {}
            ),
        }
    }
    for message in MESSAGES
]
GEN_AI = ("gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
SPANS: dict[str, Any] = {
    "otlp": otlp(*spans(*GEN_AI)),
    "otlp kvlist": otlp(*spans(*GEN_AI, as_json=False)),
    "otlp bytes": otlp(*({key: item.encode() for key, item in one.items()} for one in spans(*GEN_AI))),
    "name of the span": otlp(*spans("name", *GEN_AI[1:])),
    "name of the operation": otlp(
        *({**one, "name": f"execute_tool {one['name']}"} for one in spans("name", *GEN_AI[1:]))
    ),
    "pydantic-ai": otlp(*spans("gen_ai.tool.name", "tool_arguments", "tool_response")),
    "vercel": otlp(*spans("ai.toolCall.name", "ai.toolCall.args", "ai.toolCall.result")),
    "vercel model": otlp(
        {"ai.prompt": "{}", "ai.prompt.messages": json.dumps(MESSAGES), "ai.response.text": "Heat"}
    ),
    "openinference tool": otlp(
        *spans("tool.name", "input.value", "output.value", more={"input.mime_type": "application/json"})
    ),
    "openinference model": otlp(flat(WRAPPED, "llm.input_messages")),
    "langsmith": otlp(
        *(
            {
                "name": tool,
                "langsmith.span.kind": "tool",
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.prompt": json.dumps({"input": str(given)}),
                "gen_ai.completion": json.dumps({"output": found}),
            }
            for tool, given, found in CALLS
        )
    ),
    "openllmetry model": otlp(flat(MESSAGES, "gen_ai.prompt")),
    "openllmetry tool": otlp(
        *(
            {
                "name": f"{tool}.tool",
                "traceloop.entity.name": tool,
                "traceloop.entity.input": json.dumps({"args": [], "kwargs": given}),
                "traceloop.entity.output": json.dumps(found),
            }
            for tool, given, found in CALLS
        )
    ),
    "langfuse": otlp(
        *spans(
            "name",
            "langfuse.observation.input",
            "langfuse.observation.output",
            more={"langfuse.observation.type": "tool"},
        )
    ),
    "adk": otlp(
        *spans("gen_ai.tool.name", "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response")
    ),
    "mlflow": otlp(
        *spans("name", "mlflow.spanInputs", "mlflow.spanOutputs", more={"mlflow.spanType": '"TOOL"'})
    ),
    "logfire": [
        {
            "trace_id": "t",
            "span_name": "running tool",
            "start_timestamp": f"2026-01-01T00:00:0{n}Z",
            "attributes": one,
        }
        for n, one in enumerate(spans("gen_ai.tool.name", "tool_arguments", "tool_response", as_json=False))
    ],
    "logfire model": [{"trace_id": "t", "attributes": {"all_messages_events": json.dumps(MESSAGES)}}],
    "phoenix": [
        {
            "name": tool,
            "context": {"trace_id": "t", "span_id": str(n)},
            "start_time": f"2026-01-01T00:00:0{n}+00:00",
            "status_code": "OK",
            "attributes": {
                "openinference": {"span": {"kind": "TOOL"}},
                "tool": {"name": tool, "description": "Finds."},
                "input": {"value": json.dumps(given), "mime_type": "application/json"},
                "output": {"value": json.dumps(found)},
            },
        }
        for n, (tool, given, found) in enumerate(CALLS)
    ],
    "phoenix model": [
        {"context": {"trace_id": "t"}, "attributes": {"llm": {"input_messages": WRAPPED, "model_name": "m"}}}
    ],
    "phoenix table of models": [
        {
            "context.trace_id": "t",
            "attributes.llm.input_messages": [
                {
                    f"message.{key}": [
                        {
                            "tool_call.id": one["id"],
                            "tool_call.function.name": one["function"]["name"],
                            "tool_call.function.arguments": one["function"]["arguments"],
                        }
                        for one in item
                    ]
                    if isinstance(item, list)
                    else item
                    for key, item in message.items()
                }
                for message in MESSAGES
            ],
        }
    ],
    "otlp logs": {
        "resourceLogs": [
            {
                "scopeLogs": [
                    {
                        "logRecords": [
                            {"traceId": "t", "timeUnixNano": str(9 - n), "body": typed(message)}
                            for n, message in enumerate(MESSAGES[::-1])
                        ]
                    }
                ]
            }
        ]
    },
    "pydantic-ai history": [
        [
            {
                "kind": "response",
                "parts": [
                    {"part_kind": "tool-call", "tool_name": tool, "args": given, "tool_call_id": f"c{n}"}
                ],
            }
            if kind == "call"
            else {
                "kind": "request",
                "parts": [
                    {
                        "part_kind": "tool-return",
                        "tool_name": tool,
                        "content": found,
                        "tool_call_id": f"c{n}",
                        "timestamp": f"2026-01-01T00:00:0{n}Z",
                    }
                ],
            }
            for n, (tool, given, found) in enumerate(CALLS)
            for kind in ("call", "return")
        ]
    ],
    "phoenix table": [
        {
            "context.trace_id": "t",
            "attributes.tool.name": tool,
            "attributes.input.value": json.dumps(given),
            "attributes.output.value": json.dumps(found),
        }
        for tool, given, found in CALLS
    ],
    "jaeger": {
        "data": [
            {
                "traceID": "t",
                "spans": [
                    {
                        "traceID": "t",
                        "operationName": "tool",
                        "startTime": 1_700_000_000_000_000 + n,
                        "tags": [{"key": key, "type": "string", "value": item} for key, item in one.items()],
                    }
                    for n, one in enumerate(spans(*GEN_AI))
                ],
            }
        ]
    },
    "langfuse export": [
        {
            "id": str(n),
            "traceId": "t",
            "type": "TOOL",
            "name": tool,
            "startTime": f"2026-01-01T00:00:0{n}.000Z",
            "input": given,
            "output": found,
            "level": "DEFAULT",
        }
        for n, (tool, given, found) in enumerate(CALLS)
    ],
}


def as_calls(read: list[list[RecordedCall]]) -> list[tuple[Any, ...]]:
    return [(call.tool, call.arguments, call.result, call.failed) for sequence in read for call in sequence]


@pytest.mark.parametrize("form", SPANS)
def test_spans_are_read_in_the_words_of_their_frameworks(form: str, tmp_path: Path) -> None:
    given = SPANS[form]
    read = as_calls(calls(trace_file(tmp_path, *(given if isinstance(given, list) else [given]))))
    if form == "openllmetry tool":  # what is around the arguments is opened where the tool is known
        read = [(tool, given["kwargs"], *more) for tool, given, *more in read]
    assert read == [(*one, False) for one in CALLS]


def test_a_span_with_an_error_is_a_failed_call(tmp_path: Path) -> None:
    for status in ({"code": 2}, {"code": "STATUS_CODE_ERROR"}, {"status_code": "ERROR"}):
        trace = otlp(*spans(*GEN_AI))
        trace["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["status"] = status
        assert [call[-1] for call in as_calls(calls(trace_file(tmp_path, trace)))] == [True, False]


def iso(second: float) -> str:
    return datetime.fromtimestamp(1_700_000_000 + second, UTC).isoformat()


TIMES: dict[str, Callable[[int], dict[str, Any]]] = {
    "iso": lambda n: {"start_time": iso(n)},
    "iso with zones": lambda n: {"startTime": f"2026-01-01T0{n + 3 * (n % 2)}:00:00+0{3 * (n % 2)}:00"},
    "naive": lambda n: {"timestamp": f"2026-01-01 00:00:0{n}.250"},
    "seconds": lambda n: {"timestamp": 1_700_000_000.25 + n},
    "nanoseconds": lambda n: {"startTimeUnixNano": 1_700_000_000_000_000_000 + n},
    "nanoseconds as text": lambda n: {"start_time_unix_nano": str(1_700_000_000_000_000_000 + n)},
    "equal but for the end": lambda n: {"started_at": iso(0), "ended_at": iso(n + 1)},
    "equal in pairs": lambda n: {"start_time": iso(n // 2)},
}


@pytest.mark.parametrize("form", TIMES)
@pytest.mark.parametrize("session", [{"trace_id": "t"}, {}])
def test_calls_are_in_the_order_of_their_times(form: str, session: dict[str, str], tmp_path: Path) -> None:
    one = [
        {**session, "name": "search", "input": {"query": str(n)}, "output": str(n), **TIMES[form](n)}
        for n in range(5)
    ]
    wanted = [[{"query": str(n)} for n in range(5)]]
    orders = (
        [one, one[::-1]]
        if "equal" in form
        else [one, one[::-1], one[3:] + one[:3], [one[n] for n in (2, 4, 0, 3, 1)]]
    )
    for records in orders:
        path = trace_file(tmp_path, *records)
        assert [[call.arguments for call in sequence] for sequence in calls(path)] == wanted
        path.write_text(json.dumps(records, indent=1))
        assert [[call.arguments for call in sequence] for sequence in calls(path)] == wanted


def test_what_has_no_time_stays_behind_what_is_before_it(tmp_path: Path) -> None:
    chat = [{**message, **({"timestamp": iso(n)} if n % 2 else {})} for n, message in enumerate(MESSAGES)]
    assert as_calls(calls(trace_file(tmp_path, {"messages": chat}))) == [(*one, False) for one in CALLS]
    # Spans of the tools, and that of a model whose messages have the same calls, the newest first.
    tools = otlp(*spans(*GEN_AI))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for number, span in enumerate(tools):
        span["attributes"].append({"key": "gen_ai.tool.call.id", "value": {"stringValue": f"c{number}"}})
    last = {"traceId": "t1", "startTimeUnixNano": "1700000000000000009", "messages": MESSAGES}
    read = calls(trace_file(tmp_path, last, *tools[::-1]))
    assert as_calls(read) == [(*one, False) for one in CALLS]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        (otlp(*spans("gen_ai.tool.name", "vendor.given", "vendor.back")), "vendor.given"),
        (
            otlp(
                *spans("gen_ai.tool.name", "vendor.given", "vendor.back", more={"gen_ai.tool.call.id": "c1"})
            ),
            "vendor.back",
        ),
        (otlp(*spans("vendor.tool_used", "vendor.given", "vendor.back")), "vendor.tool_used"),
        (otlp(*spans("gen_ai.tool.name", "tool_arguments", "vendor.back")), "vendor.back"),
        (
            {"calls": [{"called": "search", "sent": {"query": "heat"}, "got": {"ids": [7]}}]},
            "called, sent, got",
        ),
        (
            {"steps": [{"tool": "search", "arguments": "query=heat", "result": "7"}]},
            "tool, arguments, result",
        ),
    ],
)
def test_what_is_not_read_is_named_by_its_keys_and_is_no_failed_call(
    line: dict[str, Any], keys: str, tmp_path: Path
) -> None:
    unread = Counter[str]()
    path = trace_file(tmp_path, line, [SEARCH])
    read = [call for turns in read_traces(path, NAMES, unread) for turn in turns for call in turn.calls]
    unread.update(call.unread for call in read if call.unread)
    assert not any(call.failed and not call.unread for call in read)
    assert any(keys in one for one in unread)
    # Alone, the file has no call.
    with pytest.raises(UsageError, match=keys):
        for turns in read_traces(trace_file(tmp_path, line), NAMES):
            for call in (call for turn in turns for call in turn.calls):
                raise UsageError(call.unread)


def test_tools_that_are_offered_or_planned_are_no_calls_that_were_not_read(tmp_path: Path) -> None:
    unread = Counter[str]()
    for form in FORMS:
        list(read_traces(trace_file(tmp_path, *FORMS[form]), NAMES, unread))
    for form, given in SPANS.items():
        list(
            read_traces(trace_file(tmp_path, *(given if isinstance(given, list) else [given])), NAMES, unread)
        )
        assert not unread, form


def test_keys_are_shown_without_controls_and_in_bounds(tmp_path: Path) -> None:
    call = {"used": "search", "\x1b[2Jkey": 1, "k" * 500: 2, **{f"key {n}": n for n in range(99)}}
    with pytest.raises(UsageError) as caught:
        calls(trace_file(tmp_path, {"steps": [call]}))
    text = str(caught.value)
    assert "used" in text and "\x1b" not in text and len(text) < 1_000


@pytest.mark.parametrize("part", ["arguments", "result"])
def test_attachments_are_the_texts_that_they_name(part: str, tmp_path: Path) -> None:
    events = [
        {"event": "tool", "id": f"c{n}", "function": tool, "arguments": given, "result": json.dumps(found)}
        for n, (tool, given, found) in enumerate(CALLS)
    ]
    texts = {}
    for number, event in enumerate(events):
        texts[f"0f{number}"] = event[part] if isinstance(event[part], str) else "heat"
        event[part] = f"attachment://0f{number}" if part == "result" else event[part]
    if part == "arguments":
        events[0]["arguments"] = {"query": "attachment://0f0"}
    log = {"samples": [{"id": 1, "messages": [], "events": events, "attachments": texts}]}
    assert as_calls(calls(trace_file(tmp_path, log))) == [(*one, False) for one in CALLS]
