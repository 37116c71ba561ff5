"""The lines of a batch: requests, and their answers or errors, in the format of OpenAI's Batch API.

Source: OpenAI's guide "Batch API" and its API reference (request input and request output objects). vLLM's
`run_batch` reads and writes the same, except that it puts the body of an HTTP error under `error`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolassay.models import ChatResponse, ModelError
from toolassay.models.retry import failed_answer
from toolassay.models.wire_format import read_body

URL = "/v1/chat/completions"
NOT_RUN = ("batch_expired", "batch_cancelled")
"""Error codes of requests that the server never worked on."""
MISSING = "missing"
"""Error code that stands for a request about which a complete batch says nothing."""


def request_line(custom_id: str, body: bytes) -> bytes:
    r"""A line of an input file.

    Args:
        custom_id: Unique in the file, at most 64 characters.
        body: The body of the request, JSON in ASCII.

    >>> request_line("a-1", b'{"model": "m"}').decode()
    '{"custom_id": "a-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}\n'
    """
    head = json.dumps({"custom_id": custom_id, "method": "POST", "url": URL}).encode()
    return head[:-1] + b', "body": ' + body + b"}\n"


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The object of a line of an output or error file; None if it has no `custom_id`."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("custom_id"), str) else None


def was_run(line: Mapping[str, Any]) -> bool:
    """Whether the server has worked on the request.

    >>> was_run({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}})
    False
    """
    error = line.get("error")
    return not (isinstance(error, Mapping) and error.get("code") in NOT_RUN)


def is_answer(line: Mapping[str, Any]) -> bool:
    """Whether a line holds an answer, rather than an error."""
    response = line.get("response")
    return isinstance(response, Mapping) and response.get("status_code") == 200


def missing_line(custom_id: str) -> dict[str, Any]:
    """The line for a request that is in neither file of a complete batch."""
    error = {"code": MISSING, "message": "the batch is complete, and neither of its files has this request"}
    return {"custom_id": custom_id, "response": None, "error": error}


def read_result(line: Mapping[str, Any], place: str) -> ChatResponse:
    """The answer in a line. Its time is unknown.

    Args:
        line: The object of the line.
        place: Redacted address or file, for messages.

    Raises:
        ModelError: The line holds an error, classified as the same error of a single request would be.
    """
    response, error = line.get("response"), line.get("error")
    body: Any = None
    if isinstance(response, Mapping):
        status, body = response.get("status_code"), response.get("body")
        if status == 200 and isinstance(body, Mapping):
            return read_body(body)
        if isinstance(status, int) and status >= 400:
            text = json.dumps(body if body is not None else _as_body(error))
            raise failed_answer(status, text, None, place)
    code = error.get("code") if isinstance(error, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else error
    raise ModelError(
        f"no answer in the batch: {message or code or 'the server gives no reason'}",
        transient=True,
        kind=f"batch: {code or 'no answer'}",
    )


def _as_body(error: Any) -> Any:
    """The `error` of vLLM, an error object or a text, as the body of an HTTP error."""
    return error if isinstance(error, Mapping) and "error" in error else {"error": error}
