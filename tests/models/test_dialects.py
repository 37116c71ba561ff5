"""Chat Completions, Responses and Messages: what is sent, and answers as servers send them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from builders import DATA
from msgspec.structs import replace

from toolassay.errors import UsageError
from toolassay.files import read_json
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


@pytest.mark.parametrize(("api", "reasoning_tokens"), [("responses", 12), ("messages", None)])
def test_an_answer_whole_and_streamed_goes_back_as_it_came(api: Api, reasoning_tokens: int | None) -> None:
    answers = [read(api, RECORDED[api]["whole"]), streamed(DIALECTS[api], RECORDED[api]["events"])]
    for answer in answers:
        assert (answer.text, answer.reasoning, answer.finish_reason) == ("I look.", "Both.", "tool_calls")
        assert [(call.id, call.name) for call in answer.tool_calls] == [("c1", "weather"), ("c2", "weather")]
        assert [json.loads(call.arguments) for call in answer.tool_calls] == [{"city": "Rome"}, {}]
        assert (answer.prompt_tokens, answer.cached_tokens, answer.completion_tokens) == (40, 30, 20)
        assert answer.reasoning_tokens == reasoning_tokens
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.tool_calls
        ]
        message = {"role": "assistant", "content": answer.text, "tool_calls": calls, "extra": answer.extra}
        body = body_of(api, ChatRequest([sent_back(message)]))
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
    assert options.place == f"{shown}{PATHS[api]}"


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
