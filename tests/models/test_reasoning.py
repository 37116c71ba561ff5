"""Answers of models that think first, as servers send them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.client import Client
from toolassay.models.structured_output import json_schema
from toolassay.models.wire_format import StreamedAnswer, read_completion

DETAILS = {"completion_tokens_details": {"reasoning_tokens": 64}}


def body(message: Mapping[str, Any], usage: Mapping[str, Any] | None = None, reason: str = "stop") -> str:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage})


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
    answer = read_completion(body(message))
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("usage", "completion", "reasoning"),
    [
        # OpenAI, DeepSeek, OpenRouter: among the completion tokens
        ({"prompt_tokens": 10, "completion_tokens": 84, "total_tokens": 94, **DETAILS}, 84, 64),
        # xAI: beside them
        ({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 94, **DETAILS}, 84, 64),
        # no total, or another one: more thinking than was written is beside it
        ({"prompt_tokens": 10, "completion_tokens": 20, **DETAILS}, 84, 64),
        ({"prompt_tokens": 10, "completion_tokens": 70, "total_tokens": 95, **DETAILS}, 70, 64),
        ({"prompt_tokens": 10, "completion_tokens": 20, "reasoning_tokens": 5}, 20, 5),
        ({"prompt_tokens": 10, "completion_tokens": 20, "completion_tokens_details": None}, 20, None),
        (None, None, None),
    ],
)
def test_tokens_of_thinking_are_part_of_what_was_written(
    usage: Mapping[str, Any] | None, completion: int | None, reasoning: int | None
) -> None:
    answer = read_completion(body({"content": "4"}, usage))
    assert (answer.completion_tokens, answer.reasoning_tokens) == (completion, reasoning)


def streamed(*deltas: Mapping[str, Any], reason: str = "stop", usage: Any = None) -> ChatResponse:
    answer = StreamedAnswer(time.perf_counter())
    for delta in deltas:
        answer.line(f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': None}]})}")
    answer.line(f"data: {json.dumps({'choices': [{'delta': {}, 'finish_reason': reason}]})}")
    answer.line(f"data: {json.dumps({'choices': [], 'usage': usage})}")
    answer.line("data: [DONE]")
    return answer.response()


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_collected_from_a_stream(name: str) -> None:
    answer = streamed(
        {"role": "assistant", "content": ""},
        *({name: "2 "}, {name: "+ 2"}, {name: None, "content": "4"}),
        usage={"completion_tokens": 9, **DETAILS},
    )
    assert (answer.text, answer.reasoning, answer.reasoning_tokens) == ("4", "2 + 2", 64)


@pytest.mark.parametrize("content", [None, "", [{"type": "thinking", "thinking": "hm"}]])
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_an_answer_that_is_only_thinking_is_an_answer_without_text(content: Any, reason: str) -> None:
    spent = read_completion(body({"content": content, "reasoning_content": "hm"}, reason=reason))
    assert (spent.text, spent.reasoning, spent.is_only_thinking) == ("", "hm", True)
    assert spent.is_cut_off == (reason == "length")


def test_an_answer_without_text_or_thoughts_is_asked_for_again_unless_it_is_cut_off() -> None:
    with pytest.raises(ModelError, match="no content") as caught:
        read_completion(body({"content": None}))
    assert caught.value.transient and caught.value.kind == "null content"
    # o-series: the thoughts are kept back, only their number is known
    hidden = read_completion(body({"content": ""}, {"completion_tokens": 64, **DETAILS}, "length"))
    assert hidden.is_only_thinking
    assert not read_completion(body({"content": ""}, reason="length")).is_only_thinking


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_token_limit_has_several_names(reason: str) -> None:
    assert read_completion(body({"content": None}, reason=reason)).is_cut_off
    assert not ChatResponse("x", None).is_cut_off


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        (ChatResponse("", "stop", reasoning="hm"), None),
        (ChatResponse('{"a', "max_tokens"), {"answers": 10, "misfits": 0}),
        (ChatResponse("no", "stop", reasoning="hm"), {"answers": 10, "misfits": 10}),
    ],
)
def test_thoughts_and_half_answers_do_not_mean_that_a_schema_is_ignored(
    answer: ChatResponse, counted: Mapping[str, int] | None
) -> None:
    class Says:
        async def send(self, request: ChatRequest) -> ChatResponse:
            return answer

        async def close(self) -> None: ...

    told: list[str] = []
    model = Client("m", ModelOptions(tell=told.append), transport=Says())
    form = json_schema("plan", {"type": "object"})

    async def run() -> None:
        for _ in range(10):
            await model.complete(ChatRequest([], form))

    asyncio.run(run())
    found = model.facts().get("structured_output")
    assert (found and {name: found[name] for name in ("answers", "misfits")}) == counted
    assert bool(told) == bool(counted and counted["misfits"])
