"""Chat Completions, Responses and Messages: what is sent, and answers as servers send them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.builders import DATA
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.dialects import DIALECTS
from toolassay.models.dialects.dialect import Dialect
from toolassay.models.options import PATHS, Api
from toolassay.models.protocol import OfferedTools, sent_back
from toolassay.models.structured_output import SchemaForms, json_schema
from toolassay.models.transports import OpenAITransport, encoded_body

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}
ARGUMENTS = '{"city": "Rome"}'
CALLS = [
    {"id": f"call_{n}", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
    for n in (1, 2)
]
DIALOGUE: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Rome and Rome?"},
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "call_1", "content": "31"},
    {"role": "tool", "tool_call_id": "call_2", "content": ""},
]
"""A conversation with two calls in one turn."""


def body_of(api: Api, request: ChatRequest, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(encoded_body("m", request, ModelOptions(api=api, **options)))
    return body


PARAMETERS = {
    "max_tokens": 7,
    "temperature": 0.5,
    "stop": "END",
    "tools": OfferedTools([{"type": "function", "function": FUNCTION}]),
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
}


def test_a_conversation_with_tools_in_responses() -> None:
    body = body_of("responses", ChatRequest(DIALOGUE, PARAMETERS), stream=True)
    call = {"type": "function_call", "name": "weather", "arguments": ARGUMENTS}
    assert body == {
        "model": "m",
        "input": [
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Rome and Rome?"}],
            },
            {**call, "call_id": "call_1"},
            {**call, "call_id": "call_2"},
            {"type": "function_call_output", "call_id": "call_1", "output": "31"},
            {"type": "function_call_output", "call_id": "call_2", "output": ""},
        ],
        "max_output_tokens": 7,
        "temperature": 0.5,
        "stop": "END",
        "tools": [{"type": "function", "strict": False, **FUNCTION}],
        "tool_choice": {"type": "function", "name": "weather"},
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


def test_a_conversation_with_tools_in_messages() -> None:
    body = body_of("messages", ChatRequest(DIALOGUE, PARAMETERS), stream=True)
    used = {"type": "tool_use", "name": "weather", "input": {"city": "Rome"}}
    result = {"type": "tool_result"}
    assert body == {
        "model": "m",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Rome and Rome?"}]},
            {"role": "assistant", "content": [{**used, "id": "call_1"}, {**used, "id": "call_2"}]},
            {
                "role": "user",
                "content": [
                    {**result, "tool_use_id": "call_1", "content": "31"},
                    {**result, "tool_use_id": "call_2", "content": ""},
                ],
            },
        ],
        "max_tokens": 7,
        "temperature": 0.5,
        "stop_sequences": ["END"],
        "tools": [{"name": "weather", "description": "Of a city.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "weather"},
        "stream": True,
    }


@pytest.mark.parametrize("api", PATHS)
def test_a_request_is_not_changed(api: Api) -> None:
    parameters = {**PARAMETERS, **json_schema("answer", SCHEMA)}
    before = json.dumps([DIALOGUE, parameters])
    body_of(api, ChatRequest(DIALOGUE, parameters))
    assert json.dumps([DIALOGUE, parameters]) == before


def test_fields_of_the_user_are_sent_in_the_words_of_the_api() -> None:
    asked = ChatRequest([], {"max_tokens": 7})
    assert body_of("responses", asked, extra_body={"max_output_tokens": 9})["max_output_tokens"] == 9
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert body_of("messages", asked, extra_body=thinking).items() >= thinking.items()
    assert body_of("messages", ChatRequest([]))["max_tokens"] > 0  # the API requires it
    tool = {"type": "function", "name": "weather"}
    own: dict[str, Any] = {"tools": [{**tool, "parameters": SCHEMA}], "tool_choice": tool}
    assert body_of("responses", asked, extra_body=own).items() >= own.items()
    own = {"tools": [{"name": "weather", "input_schema": SCHEMA}], "tool_choice": {"type": "any"}}
    assert body_of("messages", asked, extra_body=own).items() >= own.items()


def test_a_schema_in_each_form() -> None:
    asked = ChatRequest([], json_schema("answer", SCHEMA))
    own = {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA}
    assert body_of("responses", asked)["text"] == {"format": own}
    body = body_of("messages", asked)
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    body = body_of("messages", asked, schemas=SchemaForms("json_object"))  # the next form: a forced tool
    (tool,) = body["tools"]
    assert tool["input_schema"] == SCHEMA and body["tool_choice"] == {"type": "tool", "name": tool["name"]}
    block = {"type": "tool_use", "id": "1", "name": tool["name"], "input": {"city": "Rome"}}
    answer = read("messages", {"content": [block], "stop_reason": "tool_use"})
    assert (answer.text, answer.tool_calls, answer.finish_reason) == (ARGUMENTS, (), "stop")


def read(api: Api, body: Any) -> ChatResponse:
    return DIALECTS[api].read(json.dumps(body))


RECORDED: dict[Api, Any] = read_json(DATA / "recorded_answers.json")
RESPONSE, MESSAGE = RECORDED["responses"]["whole"], RECORDED["messages"]["whole"]
EVENTS_OF_MESSAGE = RECORDED["messages"]["events"]


def streamed(dialect: Dialect, events: list[dict[str, Any]]) -> ChatResponse:
    stream = dialect.stream(time.perf_counter())
    for event in json.loads(json.dumps(events)):
        stream.line(f"event: {event['type']}")
        stream.line(f"data: {json.dumps(event)}")
        stream.line("")
    return stream.response()


def in_conversation(answer: ChatResponse) -> dict[str, Any]:
    """An answer as a message of the conversation that goes on."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    return {"role": "assistant", "content": answer.text, "tool_calls": calls, "extra": answer.extra}


@pytest.mark.parametrize(("api", "reasoning_tokens"), [("responses", 12), ("messages", None)])
def test_an_answer_whole_and_streamed_goes_back_as_it_came(api: Api, reasoning_tokens: int | None) -> None:
    answers = [read(api, RECORDED[api]["whole"]), streamed(DIALECTS[api], RECORDED[api]["events"])]
    for answer in answers:
        assert (answer.text, answer.reasoning, answer.finish_reason) == ("I look.", "Both.", "tool_calls")
        assert [(call.id, call.name) for call in answer.tool_calls] == [("c1", "weather"), ("c2", "weather")]
        assert [json.loads(call.arguments) for call in answer.tool_calls] == [{"city": "Rome"}, {}]
        assert (answer.prompt_tokens, answer.cached_tokens, answer.completion_tokens) == (40, 30, 20)
        assert answer.reasoning_tokens == reasoning_tokens
        body = body_of(api, ChatRequest([sent_back(in_conversation(answer))]))
        if api == "messages":
            assert body["messages"] == [{"role": "assistant", "content": MESSAGE["content"]}]
        else:
            sent = [{name: item[name] for name in item if name != "id"} for item in body["input"]]
            kept = [
                {name: item[name] for name in item if name not in ("id", "status")}
                for item in RESPONSE["output"]
            ]
            kept[1]["content"] = [{"type": "output_text", "text": "I look."}]
            assert sent == kept
            assert body["input"][0] == RESPONSE["output"][0]
    assert answers[0].first_token_seconds is None and answers[1].first_token_seconds is not None


@pytest.mark.parametrize(
    ("api", "body", "reason", "refused", "cut"),
    [
        (
            "messages",
            {"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"},
            "stop",
            False,
            False,
        ),
        ("messages", {"content": [], "stop_reason": "stop_sequence"}, "stop", False, False),
        ("messages", {"content": [], "stop_reason": "refusal"}, "content_filter", True, False),
        (
            "messages",
            {"content": [{"type": "text", "text": "a"}], "stop_reason": "max_tokens"},
            "length",
            False,
            True,
        ),
        ("messages", {"content": [], "stop_reason": "model_context_window_exceeded"}, "length", False, True),
        (
            "responses",
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []},
            "length",
            False,
            True,
        ),
        (
            "responses",
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
            "content_filter",
            True,
            False,
        ),
        (
            "responses",
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
            "stop",
            True,
            False,
        ),
    ],
)
def test_how_an_answer_ended(api: Api, body: dict[str, Any], reason: str, refused: bool, cut: bool) -> None:
    answer = read(api, body)
    assert (answer.finish_reason, answer.refused, answer.is_cut_off) == (reason, refused, cut)
    assert answer.prompt_tokens is None


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("body", [[], 7, {}, {"output": 3, "content": 3, "choices": 3}, {"content": [{}]}])
def test_a_body_of_another_kind_is_tried_again(api: Api, body: Any) -> None:
    with pytest.raises(ModelError) as caught:
        read(api, body)
    assert caught.value.transient


FAILED: dict[str, Any] = {
    "status": "failed",
    "error": {"code": "server_error", "message": "sorry"},
    "output": [],
}


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("responses", FAILED),
        ("messages", {"type": "error", "error": {"type": "overloaded_error", "message": "sorry"}}),
    ],
)
def test_an_error_inside_an_answer(api: Api, body: dict[str, Any]) -> None:
    events = [{"type": "response.failed", "response": body}] if api == "responses" else [body]
    with pytest.raises(ModelError, match="sorry") as whole:
        read(api, body)
    with pytest.raises(ModelError, match="sorry") as in_stream:
        streamed(DIALECTS[api], events)
    assert whole.value.transient and in_stream.value.transient


@pytest.mark.parametrize("api", RECORDED)
def test_a_stream_that_ends_early(api: Api) -> None:
    lost = ("response.completed", "message_delta")
    events = [event for event in RECORDED[api]["events"] if event["type"] not in lost]
    with pytest.raises(ModelError) as caught:
        streamed(DIALECTS[api], events)
    assert caught.value.kind == "truncated" and caught.value.transient


def test_the_last_event_of_a_response_may_lack_its_items() -> None:
    whole = {**RESPONSE, "output": []}
    items = [{"type": "response.output_item.done", "item": item} for item in RESPONSE["output"]]
    answer = streamed(DIALECTS["responses"], [*items, {"type": "response.completed", "response": whole}])
    assert answer == replace(read("responses", RESPONSE), seconds=answer.seconds)


TEXT = {"type": "message", "content": [{"type": "output_text", "text": "I look."}]}
CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "weather", "arguments": ARGUMENTS}
EMPTY_TEXT = {"type": "message", "content": []}
EMPTY_CALL = {**CALL, "arguments": ""}
TEXT_DELTAS = [{"type": "response.output_text.delta", "delta": piece} for piece in ("I ", "look.")]
CALL_DELTAS = [
    {"type": "response.output_item.added", "output_index": 1, "item": EMPTY_CALL},
    *(
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": piece}
        for piece in (ARGUMENTS[:5], ARGUMENTS[5:])
    ),
]


def done(*items: Any) -> list[dict[str, Any]]:
    return [{"type": "response.output_item.done", "item": item} for item in items]


@pytest.mark.parametrize("output", [[], None, ..., [EMPTY_TEXT], [EMPTY_TEXT, EMPTY_CALL]])
@pytest.mark.parametrize(
    "events",
    [
        [*TEXT_DELTAS, *CALL_DELTAS],
        [*TEXT_DELTAS, *CALL_DELTAS, *done(EMPTY_TEXT, EMPTY_CALL)],
        [*TEXT_DELTAS, *done(EMPTY_TEXT, CALL)],
        [*CALL_DELTAS, *done(TEXT)],
        [
            {"type": "response.output_text.done", "text": "I look."},
            CALL_DELTAS[0],
            {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": ARGUMENTS},
        ],
        [
            *TEXT_DELTAS,
            {"type": "response.output_text.done", "text": "I look."},
            *CALL_DELTAS,
            *done(TEXT, CALL),
        ],
    ],
)
def test_what_the_last_event_lacks_is_in_the_items_or_the_deltas(
    events: list[dict[str, Any]], output: Any
) -> None:
    end = {"status": "completed", **({} if output is ... else {"output": output})}
    answer = streamed(DIALECTS["responses"], [*events, {"type": "response.completed", "response": end}])
    assert (answer.text, answer.finish_reason) == ("I look.", "tool_calls")
    (call,) = answer.tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "weather", ARGUMENTS)


def test_deltas_may_be_all_that_a_stream_has() -> None:
    refused = [{"type": "response.refusal.delta", "delta": "No."}, {"type": "response.completed"}]
    answer = streamed(DIALECTS["responses"], refused)
    assert (answer.text, answer.refused) == ("No.", True)
    stream = DIALECTS["responses"].stream(time.perf_counter())
    for event in TEXT_DELTAS:
        stream.line(f"data: {json.dumps(event)}")
    stream.line("data: [DONE]")
    assert stream.response().text == "I look."
    deltas = [
        event for event in EVENTS_OF_MESSAGE if event["type"] != "content_block_start" or event["index"] > 2
    ]
    answer = streamed(DIALECTS["messages"], deltas)
    assert (answer.text, answer.reasoning, len(answer.tool_calls)) == ("I look.", "Both.", 2)
    for event in deltas[-2]["delta"], deltas[-1]:
        event.pop("stop_reason", None)
    assert streamed(DIALECTS["messages"], deltas).text == "I look."


@pytest.mark.parametrize("details", [None, {}, {"reason": None}, ...])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("incomplete", "incomplete"),
        ("incomplete", "completed"),
        (None, "incomplete"),
        ("in_progress", "incomplete"),
    ],
)
def test_an_incomplete_answer_without_a_reason_was_cut_off(details: Any, status: Any, kind: str) -> None:
    body = {"status": status, "output": [TEXT], "usage": {"input_tokens": 40, "output_tokens": 20}}
    body |= {} if details is ... else {"incomplete_details": details}
    answers = [streamed(DIALECTS["responses"], [{"type": f"response.{kind}", "response": body}])]
    if status == "incomplete":
        answers.append(read("responses", body))
    for answer in answers:
        assert (answer.text, answer.is_cut_off, answer.prompt_tokens) == ("I look.", True, 40)


@pytest.mark.parametrize(("status", "kind"), [("cancelled", "broken off"), ("failed", "error in the answer")])
def test_an_answer_that_the_server_gave_up_is_none_and_was_charged(status: str, kind: str) -> None:
    body = {"status": status, "output": [TEXT], "usage": {"input_tokens": 40, "output_tokens": 20}}
    events = [{"type": f"response.{status}", "response": body}]
    for is_streamed in (False, True):
        with pytest.raises(ModelError) as caught:
            streamed(DIALECTS["responses"], events) if is_streamed else read("responses", body)
        assert (caught.value.kind, caught.value.prompt_tokens, caught.value.completion_tokens) == (
            kind,
            40,
            20,
        )


ODD: list[Any] = [None, 0, -1, "", "x", [], {}, [None], [{}], True, float("inf"), 10**30, "\ud800", ...]


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a JSON value below the value itself."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*place, key)
        yield from places(value[key], (*place, key))


def with_odd(value: Any, place: tuple[str | int, ...], odd: Any) -> Any:
    """A copy of a JSON value with something odd at a place, or nothing there."""
    copied = json.loads(json.dumps(value))
    *outer, last = place
    inner = copied
    for key in outer:
        inner = inner[key]
    if odd is ...:
        del inner[last]
    else:
        inner[last] = odd
    return copied


@pytest.mark.parametrize("api", RECORDED)
def test_no_odd_answer_raises_anything_but_a_failed_attempt(api: Api) -> None:
    answered = 0
    for form in ("whole", "events"):
        for place in places(RECORDED[api][form]):
            for odd in ODD:
                sent = with_odd(RECORDED[api][form], place, odd)
                stream = DIALECTS[api].stream(time.perf_counter())
                try:
                    if form == "whole":
                        answer = read(api, sent)
                    else:
                        for event in sent:
                            stream.line(f"data: {json.dumps(event)}")
                        answer = stream.response()
                except ModelError as error:
                    assert error.transient and not error.stops_run
                    continue
                answered += 1
                body_of(api, ChatRequest([sent_back(in_conversation(answer))]))
                is_of_counts = {*place} & {"usage", "message", "response", "type"} or len(place) == 1
                if form == "whole" and not is_of_counts:
                    assert (answer.prompt_tokens, answer.completion_tokens) == (40, 20)
    assert answered > 500


@pytest.mark.parametrize("later", [None, 0, ...])
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "cache_read_input_tokens"])
def test_a_count_that_was_given_stays(name: str, later: Any) -> None:
    events = json.loads(json.dumps(EVENTS_OF_MESSAGE))
    events[-2]["usage"] = {"output_tokens": 20, "input_tokens": 8}
    events[-2]["usage"] |= {} if later is ... else {name: later}
    answer = streamed(DIALECTS["messages"], events)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens) == (40, 20, 30)
    # A server that counts at the end only.
    events[0]["message"]["usage"] = dict.fromkeys(MESSAGE["usage"], None if later is ... else later)
    events[-2]["usage"] = MESSAGE["usage"]
    answer = streamed(DIALECTS["messages"], events)
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens) == (40, 20, 30)
    whole = {**RESPONSE, "usage": {**RESPONSE["usage"], "input_tokens": later, "input_tokens_details": None}}
    if later is ...:
        del whole["usage"]
    events = [{"type": "response.in_progress", "response": {"usage": RESPONSE["usage"]}}]
    answer = streamed(DIALECTS["responses"], [*events, {"type": "response.completed", "response": whole}])
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens) == (40, 20, 30)
    chunks = [
        {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 20}},
        {
            "choices": [],
            "usage": None if later is ... else {"prompt_tokens": later, "completion_tokens": later},
        },
    ]
    stream = DIALECTS["chat"].stream(time.perf_counter())
    for chunk in chunks:
        stream.line(f"data: {json.dumps(chunk)}")
    assert (stream.response().prompt_tokens, stream.response().completion_tokens) == (40, 20)


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"input_tokens": None, "output_tokens": None}])
def test_counts_that_are_missing_are_not_known(usage: Any) -> None:
    for api, body in (("responses", RESPONSE), ("messages", MESSAGE)):
        answer = DIALECTS[api].read(json.dumps({**body, "usage": usage}))
        assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("I look.", None, None)


def test_arguments_that_were_cut_off_stay_as_they_are() -> None:
    whole = [*EVENTS_OF_MESSAGE[:11], {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}]
    answer = streamed(DIALECTS["messages"], whole)
    assert answer.tool_calls[0].arguments == '{"city":' and answer.is_cut_off


@pytest.mark.parametrize(
    ("base", "given", "api", "shown"),
    [
        ("http://host/v1", None, "chat", "http://host/v1"),
        ("http://host/v1/responses", None, "responses", "http://host/v1"),
        ("http://host/v1/messages/", None, "messages", "http://host/v1"),
        ("https://api.anthropic.com/v1", None, "messages", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1", "chat", "chat", "https://api.anthropic.com/v1"),
        ("https://anthropic.com.evil.org/v1", None, "chat", "https://anthropic.com.evil.org/v1"),
    ],
)
def test_the_api_is_that_of_the_address(base: str, given: Api | None, api: Api, shown: str) -> None:
    options = ModelOptions(api_base=base, api=given)
    assert (options.dialect, options.endpoint) == (api, shown)
    assert options.shown_url == f"{shown}{PATHS[api]}"


def test_each_provider_gets_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant\n")
    base = "http://host/v1"
    openai: list[Api] = ["chat", "responses"]
    for api in openai:
        assert ModelOptions(api_base=base, api=api).key_headers == {"Authorization": "Bearer sk-openai"}
    options = ModelOptions(api_base=base, api="messages")
    assert options.key_headers == {"x-api-key": "sk-ant", "anthropic-version": "2023-06-01"}
    assert "sk-ant" in options.secrets and "sk-ant" not in repr(options)
    own = ModelOptions(api_base=base, api="messages", extra_headers={"X-Api-Key": "mine"})
    assert "x-api-key" not in own.key_headers
    with pytest.raises(UsageError, match="--client"):
        OpenAITransport("m", ModelOptions(api_base=base, api="messages", client="openai"))


def test_an_address_of_a_file_gets_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolassay.models.options.DOTENV", {"OPENAI_BASE_URL": "http://evil/messages"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://evil/messages")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        ModelOptions().check_sources()
