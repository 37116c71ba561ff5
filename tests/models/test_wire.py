from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models import ChatRequest, ModelError, ModelOptions
from toolassay.models.wire_format import StreamedAnswer, read_completion, request_body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "refusal", "delta"]), inner, max_size=3
        )
    ),
)


def completion(message: dict[str, Any], reason: str | None = "stop") -> str:
    return json.dumps(
        {"choices": [{"message": message, "finish_reason": reason}], "usage": {"prompt_tokens": 3}}
    )


@pytest.mark.parametrize(
    ("message", "reason", "text", "refused"),
    [
        ({"content": "yes"}, "stop", "yes", False),
        ({"content": ""}, "stop", "", False),
        ({"content": None, "refusal": "no"}, "stop", "no", True),
        ({"content": "so", "refusal": None}, "length", "so", False),
        ({"content": None}, "length", "", False),
        ({"content": None}, "content_filter", "", True),
        ({"content": "half a"}, "content_filter", "half a", True),
    ],
)
def test_answers_that_are_kept(message: dict[str, Any], reason: str, text: str, refused: bool) -> None:
    answer = read_completion(completion(message, reason))
    assert (answer.text, answer.finish_reason, answer.refused, answer.prompt_tokens) == (
        text,
        reason,
        refused,
        3,
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<html>", "unreadable"),
        ('{"choices": [{"mess', "unreadable"),
        ("[]", "unreadable"),
        ("[" * 100_000, "unreadable"),
        ("{}", "unreadable"),
        ('{"choices": []}', "empty choices"),
        ('{"choices": null}', "empty choices"),
        ('{"choices": [7]}', "unreadable"),
        (completion({"content": None}), "null content"),
        (completion({}), "null content"),
    ],
)
def test_bodies_that_are_asked_for_again(text: str, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_completion(text)
    assert caught.value.transient
    assert caught.value.kind == kind


def test_a_useless_answer_is_paid_for() -> None:
    with pytest.raises(ModelError) as caught:
        read_completion(completion({"content": None}))
    assert caught.value.prompt_tokens == 3


@given(JSON)
def test_any_json_is_an_answer_or_a_typed_error(value: Any) -> None:
    try:
        read_completion(json.dumps(value))
    except ModelError as error:
        assert error.transient


@given(st.lists(JSON, max_size=4))
def test_any_stream_is_an_answer_or_a_typed_error(events: list[Any]) -> None:
    answer = StreamedAnswer(time.perf_counter())
    try:
        for event in events:
            answer.line(f"data: {json.dumps(event)}")
        answer.line("data: [DONE]")
        answer.response()
    except ModelError as error:
        assert error.transient


def test_a_stream_without_its_end_mark_is_whole_when_it_named_its_reason() -> None:
    answer = StreamedAnswer(time.perf_counter())
    answer.line('data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": null}]}')
    answer.line('data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}')
    assert answer.response().text == "yes"


def test_the_extra_fields_have_the_last_word() -> None:
    options = ModelOptions(stream=True, extra_body={"max_tokens": 9, "stream_options": None})
    body = request_body("m", ChatRequest([], {"max_tokens": 7, "top_p": 1}), options)
    assert body == {
        "model": "m",
        "messages": [],
        "max_tokens": 9,
        "top_p": 1,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("count", "read"),
    [
        (7, 7),
        (7.0, 7),
        (0, 0),
        (-7, None),
        (7.5, None),
        ("7", None),
        (True, None),
        (None, None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_a_count_of_tokens_is_one_or_unknown(count: Any, read: int | None) -> None:
    body = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": count}}
    answer = read_completion(json.dumps(body))
    assert (answer.prompt_tokens, answer.completion_tokens) == (read, None)


def test_a_text_may_come_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": "ye"},
        {"type": "text", "text": "s"},
    ]
    assert read_completion(completion({"content": parts})).text == "yes"
    answer = StreamedAnswer(time.perf_counter())
    answer.line(f"data: {json.dumps({'choices': [{'delta': {'content': parts}, 'finish_reason': 'stop'}]})}")
    assert answer.response().text == "yes"
    for nothing in ([], [{"type": "image_url"}], [7]):
        with pytest.raises(ModelError, match="no content"):
            read_completion(completion({"content": nothing}))


@pytest.mark.parametrize("reason", ["error", "abort"])
def test_an_answer_the_server_broke_off_is_asked_for_again(reason: str) -> None:
    with pytest.raises(ModelError, match="broke off") as caught:
        read_completion(completion({"content": "half an"}, reason))
    assert caught.value.transient


def test_thoughts_are_tokens_too() -> None:
    answer = StreamedAnswer(time.perf_counter())
    answer.line('data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}')
    answer.line('data: {"choices": [{"delta": {"reasoning_content": "hm"}}]}')
    answer.line('data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}')
    first = answer.response().first_token_seconds
    assert first is not None
    assert answer.response().text == "yes"


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}, 8),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 7}, 7),
        ({"prompt_tokens": 9, "cached_tokens": 6}, 6),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, None),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "8"}}, None),
        (None, None),
    ],
)
def test_cached_tokens_are_read_as_servers_write_them(usage: object, cached: int | None) -> None:
    body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": usage}
    assert read_completion(json.dumps(body)).cached_tokens == cached
