"""Lines of output and error files, as OpenAI and vLLM 0.32 write them."""

from __future__ import annotations

from typing import Any

import pytest

from toolassay.models import ModelError
from toolassay.runs.batches.state import is_answer, missing_line, parse_line, read_result, was_run

BODY = {
    "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1},
}
VLLM_OVERFLOW = {
    "id": "vllm-952071d527f88526",
    "custom_id": "a-1",
    "response": {"status_code": 400, "request_id": "vllm-batch-81cf9c145c271e9c", "body": None},
    "error": {
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your prompt contains at "
            "least 8193 input tokens.",
            "type": "BadRequestError",
            "param": "input_tokens",
            "code": 400,
        }
    },
}


def line(status: int | None, body: Any = None, error: Any = None) -> dict[str, Any]:
    response = None if status is None else {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": "a-1", "response": response, "error": error}


def test_an_answer() -> None:
    answer = read_result(line(200, BODY), "here")
    assert (answer.text, answer.prompt_tokens, answer.seconds) == ("yes", 7, None)
    assert is_answer(line(200, BODY)) and not is_answer(line(500, {}))


@pytest.mark.parametrize(
    ("found", "kind", "status", "transient", "outcome"),
    [
        (line(500, {"error": {"message": "oops"}}), "HTTP 500", 500, True, "provider error"),
        (line(429, {"error": {"message": "slow down"}}), "HTTP 429", 429, True, "provider error"),
        (line(400, {"error": {"message": "no top_k"}}), "HTTP 400", 400, False, "provider error"),
        (line(400, {"error": {"code": "content_filter"}}), "HTTP 400", 400, False, "refused"),
        (VLLM_OVERFLOW, "HTTP 400", 400, False, "context overflow"),
        (line(400, None, "not in stream mode"), "HTTP 400", 400, False, "provider error"),
        (line(200, None), "batch: no answer", None, True, "provider error"),
        (
            line(None, error={"code": "request_timeout"}),
            "batch: request_timeout",
            None,
            True,
            "provider error",
        ),
        (missing_line("a-1"), "batch: missing", None, True, "provider error"),
        (line(None), "batch: no answer", None, True, "provider error"),
        (line(200, {"choices": []}), "empty choices", None, True, "provider error"),
    ],
)
def test_an_error_is_that_of_a_single_request(
    found: dict[str, Any], kind: str, status: int | None, transient: bool, outcome: str
) -> None:
    with pytest.raises(ModelError) as raised:
        read_result(found, "here")
    error = raised.value
    assert (error.kind, error.status, error.transient, error.outcome) == (kind, status, transient, outcome)
    assert was_run(found)


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_a_request_that_was_never_run(code: str) -> None:
    assert not was_run(line(None, error={"code": code, "message": "…"}))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"custom_id": 7}', b'{"custom_id": "a"', b"\xff"])
def test_what_is_no_line(text: bytes) -> None:
    assert parse_line(text) is None
