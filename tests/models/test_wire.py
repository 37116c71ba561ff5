"""Answers as servers send them: texts, calls, thoughts, counts and errors."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions, ToolCall
from toolassay.models.dialects.chat import CHAT
from toolassay.models.protocol import OfferedTools
from toolassay.models.transports import encoded_body
from toolassay.runs.budget import size_of


def body_of(request: ChatRequest, options: ModelOptions) -> Any:
    return json.loads(encoded_body("m", request, options))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "refusal", "delta"]), inner, max_size=3
        )
    ),
)


def completion(
    message: Mapping[str, Any], reason: str | None = "stop", usage: Mapping[str, Any] | None = None
) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": reason}], "usage": usage})


@pytest.mark.parametrize(
    ("message", "reason", "text", "refused"),
    [
        ({"content": ""}, "stop", "", False),
        ({"content": None, "refusal": "no"}, "stop", "no", True),
        ({"content": "so", "refusal": None}, "length", "so", False),
        ({"content": None}, "length", "", False),
        ({"content": "half a"}, "content_filter", "half a", True),
        ({"content": None}, "content_filter: RECITATION", "", True),
        ({"content": None}, "SAFETY", "", True),
        ({"content": {"a": 1}}, "stop", '{"a": 1}', False),
        ({"content": [{"type": "output_text", "text": "so"}]}, "stop", "so", False),
    ],
)
def test_answers_that_are_kept(message: dict[str, Any], reason: str, text: str, refused: bool) -> None:
    answer = CHAT.read(completion(message, reason))
    assert (answer.text, answer.finish_reason, answer.refused) == (text, reason, refused)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"choices": [{"mess', "unreadable"),
        ("[" * 100_000, "unreadable"),
        ('{"choices": []}', "empty choices"),
        ('{"choices": [7]}', "unreadable"),
        (completion({"content": None}), "null content"),
    ],
)
def test_bodies_that_are_asked_for_again(text: str, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        CHAT.read(text)
    assert caught.value.transient
    assert caught.value.kind == kind


@given(JSON)
def test_any_json_is_an_answer_or_a_typed_error(value: Any) -> None:
    try:
        CHAT.read(json.dumps(value))
    except ModelError as error:
        assert error.transient


@given(st.lists(JSON, max_size=4))
def test_any_stream_is_an_answer_or_a_typed_error(events: list[Any]) -> None:
    answer = CHAT.stream(time.perf_counter())
    try:
        for event in events:
            answer.line(f"data: {json.dumps(event)}")
        answer.line("data: [DONE]")
        answer.response()
    except ModelError as error:
        assert error.transient


def test_the_extra_fields_have_the_last_word() -> None:
    options = ModelOptions(stream=True, extra_body={"max_tokens": 9, "stream_options": None})
    body = body_of(ChatRequest([], {"max_tokens": 7, "top_p": 1}), options)
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
        (-7, None),
        (7.5, None),
        (True, None),
        (float("nan"), None),
    ],
)
def test_a_count_of_tokens_is_one_or_unknown(count: Any, read: int | None) -> None:
    body = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": count}}
    answer = CHAT.read(json.dumps(body))
    assert (answer.prompt_tokens, answer.completion_tokens) == (read, None)


def test_a_text_may_come_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": "ye"},
        {"type": "text", "text": "s"},
    ]
    assert CHAT.read(completion({"content": parts})).text == "yes"
    answer = CHAT.stream(time.perf_counter())
    answer.line(f"data: {json.dumps({'choices': [{'delta': {'content': parts}, 'finish_reason': 'stop'}]})}")
    assert answer.response().text == "yes"
    for nothing in ([], [{"type": "image_url"}], [7]):
        with pytest.raises(ModelError, match="no content"):
            CHAT.read(completion({"content": nothing}))


@pytest.mark.parametrize("reason", ["network_error", "abort", "insufficient_system_resource"])
def test_an_answer_the_server_broke_off_is_asked_for_again(reason: str) -> None:
    with pytest.raises(ModelError, match="broke off") as caught:
        CHAT.read(completion({"content": "half an"}, reason))
    assert caught.value.transient


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}}, 8),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 7}, 7),
        ({"prompt_tokens": 9, "cached_tokens": 6}, 6),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "8"}}, None),
        (None, None),
    ],
)
def test_cached_tokens_are_read_as_servers_write_them(usage: object, cached: int | None) -> None:
    body = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}], "usage": usage}
    assert CHAT.read(json.dumps(body)).cached_tokens == cached


def streamed(*deltas: dict[str, Any], reason: str = "tool_calls", usage: Any = None) -> ChatResponse:
    answer = CHAT.stream(time.perf_counter())
    for delta in (*deltas, {}):
        answer.line(f"data: {json.dumps({'choices': [{'delta': delta}]})}")
    answer.line(f"data: {json.dumps({'choices': [{'delta': {}, 'finish_reason': reason}]})}")
    answer.line(f"data: {json.dumps({'choices': [], 'usage': usage})}")
    return answer.response()


def piece(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


PAIRS = [("find", '{"q": 1}'), ("find", '{"q": 2}'), ("stop", "{}")]


@pytest.mark.parametrize(
    "index",
    [lambda n: {"index": n}, lambda n: {"index": 0}, lambda n: {"index": None}, lambda n: {}],
)
@pytest.mark.parametrize("ids", ["abc", ("", "", "")])
@pytest.mark.parametrize("cut", [None, 4])
def test_a_new_id_or_a_name_after_whole_arguments_begins_a_call(
    index: Any, ids: str, cut: int | None
) -> None:
    pieces = []
    for number, (name, arguments) in enumerate(PAIRS):
        place = index(number)
        pieces.append(piece(name, arguments[:cut], **place, **({"id": ids[number]} if ids[number] else {})))
        if arguments[:cut] != arguments:
            pieces.append(piece(None, arguments[cut:], **place))
    wanted = [ToolCall(id, *pair) for id, pair in zip(ids, PAIRS, strict=True)]
    assert list(streamed(*({"tool_calls": [one]} for one in pieces)).tool_calls) == wanted
    assert list(streamed({"tool_calls": pieces}).tool_calls) == wanted


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        # A new id and the name in each fragment, the last of them empty.
        (
            [("find", '{"q"', "a1"), ("find", ": 1}", "a2"), ("find", "", "a3")],
            [ToolCall("a1", "find", '{"q": 1}')],
        ),
        # All calls again at the end.
        (
            [("find", '{"q": 1}', "a"), ("stop", "{}", "b"), ("find", '{"q": 1}', "a"), ("stop", "{}", "b")],
            [ToolCall("a", "find", '{"q": 1}'), ToolCall("b", "stop", "{}")],
        ),
        # Two calls of one tool, whose first fragments have no arguments.
        (
            [("find", "", "a"), (None, '{"q": 1}', None), ("find", "", "b"), (None, '{"q": 2}', None)],
            [ToolCall("a", "find", '{"q": 1}'), ToolCall("b", "find", '{"q": 2}')],
        ),
    ],
)
def test_fragments_that_share_an_index(pieces: list[tuple[Any, Any, Any]], calls: list[ToolCall]) -> None:
    deltas = ({"tool_calls": [piece(name, given, id=id, index=0)]} for name, given, id in pieces)
    assert list(streamed(*deltas).tool_calls) == calls


def test_fragments_without_an_index_may_alternate_between_calls() -> None:
    begun = [piece("find", "", id="a"), piece("find", "", id="b")]
    ended = [piece(None, '{"q": 1}', id="a"), piece(None, '{"q": 2}', id="b")]
    wanted = [ToolCall("a", "find", '{"q": 1}'), ToolCall("b", "find", '{"q": 2}')]
    assert list(streamed(*({"tool_calls": [one]} for one in begun + ended)).tool_calls) == wanted


def test_an_error_beside_half_an_answer_is_a_failure_of_the_server() -> None:
    choice, usage = {"message": {"content": "half"}, "finish_reason": "stop"}, {"prompt_tokens": 3}
    error = {"message": "no memory", "code": 400}
    for body in ({"choices": [{**choice, "error": error}]}, {"choices": [choice], "error": error}):
        with pytest.raises(ModelError, match="no memory") as caught:
            CHAT.read(json.dumps({**body, "usage": usage}))
        assert caught.value.transient and caught.value.prompt_tokens == 3


def test_a_request_that_an_answer_calls_invalid_is_refused() -> None:
    said = {
        "type": "invalid_request_error",
        "code": "unsupported_parameter",
        "param": "top_p",
        "message": "no",
    }
    with pytest.raises(ModelError) as caught:
        CHAT.read(json.dumps({"error": said}))
    assert caught.value.refuses_request


@pytest.mark.parametrize(
    "message",
    [
        {"function_call": {"name": "find", "arguments": '{"a": 1}'}},
        {"tool_calls": [{"id": "", "type": "function", "name": "find", "arguments": {"a": 1}}]},
        {"tool_calls": [{"function": {"name": "find", "parameters": {"a": 1}}, "index": 0}]},
    ],
)
def test_calls_in_other_forms(message: dict[str, Any]) -> None:
    answer = CHAT.read(completion({"content": None, **message}))
    assert answer.tool_calls == (ToolCall("", "find", '{"a": 1}'),) and answer.extra == {}


def test_a_streamed_call_may_have_the_old_form() -> None:
    pieces = [{"name": "find", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
    answer = streamed(*({"function_call": one} for one in pieces))
    assert answer.tool_calls == (ToolCall("", "find", '{"a": 1}'),) and answer.extra == {}


MORE = {"signed": {"key": "c2ln"}, "notes": [1, 2]}


def test_what_a_server_sends_beside_the_known_fields_is_kept() -> None:
    call = {"id": "a", "function": {"name": "find", "arguments": "{}", "mark": 1}, **MORE}
    message = {"role": "assistant", "thoughts": "so", "none": None, "tool_calls": [call], **MORE}
    whole = CHAT.read(completion(message, "tool_calls"))
    parts: list[dict[str, Any]] = [
        {"role": "assistant", "thoughts": "s", "notes": [1], "none": None},
        {"role": "assistant", "thoughts": "o", "notes": [2], "signed": {"key": "?"}, "tool_calls": [call]},
        {"signed": {"key": "c2ln"}},
    ]
    for answer in (whole, streamed(*parts)):
        assert answer.extra == {"thoughts": "so", **MORE}
        assert answer.tool_calls[0].extra == {"function": {"mark": 1}, **MORE}
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    assert streamed({"content": [thought]}, {"content": "yes"}, reason="stop").extra == {
        "content": [thought, {"type": "text", "text": "yes"}]
    }
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    with pytest.raises(ModelError, match="cannot be read"):
        CHAT.read(completion({"content": "yes", "deep": deep}))


BEGUN = 'data: {"choices": [{"delta": {"content": "hal"}}]}'
FINISHED = 'data: {"choices": [{"delta": {"content": "f"}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (['data: {"text": "no memory", "error_code": 50004}', FINISHED], "error in the answer"),
        (["event: error", 'data: {"message": "no memory", "code": 503}', "", FINISHED], "HTTP 503"),
        (["event: error", "data: no memory", "", FINISHED], "unreadable"),
        (['error: {"code": 500, "message": "no memory"}', FINISHED], "HTTP 500"),
        (["no memory"], "error in the answer"),
        (['data: {"choices": [{"delta": {}, "error": {"message": "no memory"}}]}'], "error in the answer"),
        (['data: {"error": {"message": "no memory", "code": 400}}', FINISHED], "HTTP 400"),
    ],
)
@pytest.mark.parametrize("end", [[], ["data: [DONE]"]])
def test_an_event_that_is_no_chunk_is_a_failure_of_the_server(
    lines: list[str], kind: str, end: list[str]
) -> None:
    answer = CHAT.stream(time.perf_counter())
    with pytest.raises(ModelError, match="no memory") as caught:
        for line in (BEGUN, *lines, *end):
            answer.line(line)
        answer.response()
    assert (caught.value.transient, caught.value.kind) == (True, kind)
    assert not caught.value.refuses_request


@pytest.mark.parametrize(
    "line",
    [
        *(": working", "", "id: 7", "retry: 3", "data:", "event: ping", 'data: {"type": "ping"}', "data: {}"),
        *('data: {"choices": [], "prompt_filter_results": [{}]}', 'data: {"usage": {"prompt_tokens": 3}}'),
        *('data: {"choices": null, "error": null, "error_code": 0}', 'data: {"trace": "x"}', "working"),
    ],
)
def test_an_event_that_is_no_chunk_does_no_harm_before_the_finish_reason(line: str) -> None:
    answer = CHAT.stream(time.perf_counter())
    for one in (BEGUN, line, FINISHED, line):
        answer.line(one)
    assert answer.response().text == "half"


def test_an_event_may_hold_the_message_so_far() -> None:
    answer = CHAT.stream(time.perf_counter())
    answer.line(BEGUN)
    for text, reason in (("hal", None), ("half", "stop"), ("", None)):
        choice = {"delta": {}, "message": {"content": text}, "finish_reason": reason}
        answer.line(f"data: {json.dumps({'choices': [choice]})}")
    assert answer.response().text == "half"


@pytest.mark.parametrize("name", [None, "find"])
def test_arguments_in_many_fragments_take_linear_time(name: str | None) -> None:
    def seconds(count: int) -> float:
        pieces = [piece(name, '"}' if number else '{"q": "', index=0) for number in range(count)]
        began = time.process_time()
        streamed(*({"tool_calls": [one]} for one in pieces))
        return time.process_time() - began

    # The best of three: a collection of garbage counts as well.
    assert min(seconds(16_000) for _ in range(3)) < 12 * min(seconds(4_000) for _ in range(3))


TOOLS = [{"type": "function", "function": {"name": "café", "parameters": {}}}]


def test_the_body_and_the_estimate_are_those_of_a_plain_list() -> None:
    message = {"role": "user", "content": "Grüße"}
    plain = ChatRequest([message], {"tools": TOOLS, "temperature": 0.2})
    shared = ChatRequest([message], {"tools": OfferedTools(TOOLS), "temperature": 0.2})
    options = ModelOptions(extra_body={"top_k": 5})
    assert json.loads(encoded_body("m", shared, options)) == body_of(plain, options)
    assert json.loads(encoded_body("m", plain, options)) == body_of(plain, options)
    assert size_of(shared) == size_of(plain)


DETAILS = {"completion_tokens_details": {"reasoning_tokens": 64}}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        # vLLM 0.10 with --reasoning-parser, DeepSeek, llama.cpp with --reasoning-format deepseek
        ({"content": "4", "reasoning_content": "2 + 2", "tool_calls": []}, "4", "2 + 2"),
        # Anthropic's parts, through proxies
        ({"content": [{"type": "thinking", "thinking": "2 +"}, {"type": "text", "text": "4"}]}, "4", "2 +"),
        # Mistral nests texts
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "2 + 2"}]},
                    {"type": "text", "text": "4"},
                ]
            },
            "4",
            "2 + 2",
        ),
        # OpenAI's o-series keeps it back
        ({"content": "4", "refusal": None, "annotations": []}, "4", ""),
    ],
)
def test_thoughts_are_kept_apart_from_the_text(message: Mapping[str, Any], text: str, reasoning: str) -> None:
    answer = CHAT.read(completion(message))
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("usage", "written", "reasoning"),
    [
        # OpenAI, DeepSeek, OpenRouter: among the completion tokens
        ({"prompt_tokens": 10, "completion_tokens": 84, "total_tokens": 94, **DETAILS}, 84, 64),
        # xAI: beside them
        ({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 94, **DETAILS}, 84, 64),
        # no total, or another one: more thinking than was written is beside it
        ({"prompt_tokens": 10, "completion_tokens": 20, **DETAILS}, 84, 64),
        ({"prompt_tokens": 10, "completion_tokens": 70, "total_tokens": 95, **DETAILS}, 70, 64),
        ({"prompt_tokens": 10, "completion_tokens": 20, "reasoning_tokens": 5}, 20, 5),
        (None, None, None),
    ],
)
def test_tokens_of_thinking_are_part_of_what_was_written(
    usage: Mapping[str, Any] | None, written: int | None, reasoning: int | None
) -> None:
    answer = CHAT.read(completion({"content": "4"}, usage=usage))
    assert (answer.completion_tokens, answer.reasoning_tokens) == (written, reasoning)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_collected_from_a_stream(name: str) -> None:
    answer = streamed(
        {"role": "assistant", "content": ""},
        *({name: "2 "}, {name: "+ 2"}, {name: None, "content": "4"}),
        reason="stop",
        usage={"completion_tokens": 9, **DETAILS},
    )
    assert (answer.text, answer.reasoning, answer.reasoning_tokens) == ("4", "2 + 2", 64)


@pytest.mark.parametrize("content", [None, "", [{"type": "thinking", "thinking": "hm"}]])
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_an_answer_that_is_only_thinking_is_an_answer_without_text(content: Any, reason: str) -> None:
    spent = CHAT.read(completion({"content": content, "reasoning_content": "hm"}, reason))
    assert (spent.text, spent.reasoning, spent.is_only_thinking) == ("", "hm", True)
    assert spent.is_cut_off == (reason == "length")


def test_thoughts_that_are_kept_back_are_known_by_their_number() -> None:
    # o-series: the thoughts are kept back, only their number is known
    hidden = CHAT.read(completion({"content": ""}, "length", {"completion_tokens": 64, **DETAILS}))
    assert hidden.is_only_thinking
    assert not CHAT.read(completion({"content": ""}, "length")).is_only_thinking


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_token_limit_has_several_names(reason: str) -> None:
    assert CHAT.read(completion({"content": None}, reason)).is_cut_off
    assert not ChatResponse("x", None).is_cut_off
