from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models.refused_parameters import Refusals, refused_parameter

SENT = ["temperature", "top_p", "presence_penalty", "max_tokens", "stream", "stream_options", "seed"]


def openai(message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


MAX_TOKENS = openai(
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead.",
    "max_tokens",
    "unsupported_parameter",
)
TEMPERATURE = openai(
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is"
    " supported.",
    "temperature",
    "unsupported_value",
)
EXTRA = {"loc": ["body", "presence_penalty"], "msg": "Extra inputs are not permitted", "input": 1.05}
VLLM = "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted'}]"


@pytest.mark.parametrize(
    ("complaint", "name", "instead"),
    [
        (MAX_TOKENS, "max_tokens", "max_completion_tokens"),
        (TEMPERATURE, "temperature", None),
        (openai("Unrecognized request argument supplied: presence_penalty"), "presence_penalty", None),
        (openai("Unknown parameter: 'stream_options.include_usage'."), "stream_options", None),
        (openai("No.", "stream_options.include_usage", "unsupported_parameter"), "stream_options", None),
        ({"detail": [{"type": "extra_forbidden", **EXTRA}]}, "presence_penalty", None),
        ({"detail": [EXTRA]}, "presence_penalty", None),
        ({"object": "error", "message": VLLM, "param": None, "code": 400}, "seed", None),
        (openai("`temperature` and `top_p` cannot both be specified for this model."), "top_p", None),
        ([{"error": {"message": 'Unknown name "seed": Cannot find field.'}}], "seed", None),
        ("temperature is not supported", "temperature", None),
        ("max_tokens is deprecated in favour of max_output_tokens", "max_tokens", "max_output_tokens"),
        ("max_tokens is not supported, use this instead", "max_tokens", None),
        ("max_tokens is not supported, use top_p instead", "max_tokens", None),
    ],
)
def test_complaints_about_a_parameter(complaint: Any, name: str, instead: str | None) -> None:
    text = complaint if isinstance(complaint, str) else json.dumps(complaint)
    assert refused_parameter(text, SENT) == (name, instead)


@pytest.mark.parametrize(
    "complaint",
    [
        openai("max_tokens is too large: 90000. This model supports at most 4096.", "max_tokens"),
        openai(
            "Invalid 'temperature': 3 is above the maximum of 2.", "temperature", "decimal_above_max_value"
        ),
        openai("This model's maximum context length is 4096 tokens"),
        openai("Unsupported parameter: 'top_k' is not supported.", "top_k"),
        openai("'messages' with role 'system' are not supported with this model.", "messages"),
        openai("The model 'gpt-9' is not supported.", "model"),
        openai("Your stream of requests is not permitted to seed doubt"),
        "",
        "[]",
        "null",
        "[" * 100_000,
    ],
)
def test_complaints_about_something_else(complaint: Any) -> None:
    text = complaint if isinstance(complaint, str) else json.dumps(complaint)
    assert refused_parameter(text, [*SENT, "messages", "model"]) is None


def test_each_refusal_is_reported_once_and_other_requests_that_met_it_may_be_retried() -> None:
    told: list[Any] = []
    refusals = Refusals(on_change=lambda name, instead: told.append((name, instead)))
    complaint = json.dumps(MAX_TOKENS)
    assert refusals.fit({"max_tokens": 7}) == {"max_tokens": 7}
    assert refusals.learn(complaint, SENT) and refusals.learn(complaint, SENT)
    assert told == [("max_tokens", "max_completion_tokens")]
    assert refusals.known == {"max_tokens": "max_completion_tokens"}
    assert refusals.fit({"max_tokens": 7, "seed": 1}) == {"max_completion_tokens": 7, "seed": 1}
    assert refusals.fit({"max_tokens": 7, "max_completion_tokens": 9}) == {"max_completion_tokens": 9}


def test_a_complaint_about_what_was_not_sent_is_no_reason_to_go_again() -> None:
    refusals = Refusals({"temperature": None})
    assert not refusals.learn("temperature is not supported", ["top_p"])


def test_two_names_that_refuse_each_other_end() -> None:
    refusals = Refusals()
    assert refusals.learn("'a_b' is not supported. Use 'c_d' instead.", ["a_b"])
    assert refusals.learn("'c_d' is not supported. Use 'a_b' instead.", ["c_d"])
    assert refusals.fit({"a_b": 1, "top_p": 1}) == {"top_p": 1}
    assert not refusals.learn("'c_d' is not supported.", ["top_p"])


@given(
    st.text()
    | st.recursive(st.none() | st.text() | st.floats(), lambda inner: st.lists(inner)).map(json.dumps)
)
def test_whatever_a_server_says_is_read(complaint: str) -> None:
    refused = refused_parameter(complaint, SENT)
    assert refused is None or refused[0] in SENT


def failing(message: str, param: str | None = None) -> str:
    return json.dumps(openai(message, param))


@pytest.mark.parametrize(
    "complaint",
    [
        failing("create_chat_completion() got an unexpected keyword argument 'top_p'"),
        failing(
            "1 validation error:\n  {'type': 'extra_forbidden', 'loc': ('body', 'top_p'), 'msg': 'Extra'}"
        ),
        failing("No.", "top_p").replace("No.", "Not supported."),
        "Failed. 'top_p' is not supported with this model. Try again.",
    ],
)
def test_a_failing_server_that_refuses_a_parameter_is_believed(complaint: str) -> None:
    assert refused_parameter(complaint, SENT, 500) == ("top_p", None)
    assert refused_parameter(complaint, SENT, None) == ("top_p", None)


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        (500, failing("Operation not supported on this device. Sampling with top_p=0.1 failed")),
        (503, failing("max_tokens of all requests is too large now")),
        (429, failing("Your tier does not support max_tokens above 100 a minute")),
        (500, failing("{'loc': ('body',), 'msg': 'extra fields not permitted', 'input': {'top_p': 1}}")),
    ],
)
def test_a_failing_server_that_mentions_a_parameter_does_not_refuse_it(status: int, complaint: str) -> None:
    assert refused_parameter(complaint, SENT, status) is None


def test_a_busy_server_refuses_a_parameter_only_by_its_field() -> None:
    assert refused_parameter(failing("top_p is not supported", "top_p"), SENT, 429) == ("top_p", None)
