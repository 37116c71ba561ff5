"""Failed attempts: classification of errors (HTTP status, `Retry-After`, context overflow) and retries.

`retry_delay` is the wait before a retry, `Tries` limits the attempts of a request, `Breaker` detects a dead
server.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from toolassay.models.address import Address
from toolassay.models.errors import RESET, TIME_LIMIT, UNREACHABLE, ModelError
from toolassay.models.options import MAX_TRIES

# Phrases of context-overflow errors of OpenAI, vLLM, llama.cpp, TGI, Anthropic and others.
_OVERFLOW = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "maximum model length",
    "maximum input length",
    "maximum number of tokens",
    "max_new_tokens` must be <=",
    "input is too long",
    "prompt is too long",
    "too many tokens",
)
_PASSING = (408, 409, 425, 429)  # time-out, conflict, too early, too many requests
_FILTERED = {"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"}
_NO_CREDIT = ("insufficient_quota", "exceeded your current quota")


def failed_answer(status: int, text: str, retry_after: str | None, endpoint: str) -> ModelError:
    """The error of a response with an HTTP status of 400 or more.

    Args:
        status: HTTP status.
        text: Body of the response.
        retry_after: `Retry-After` header.
        endpoint: Redacted address, for the message.
    """
    detail = _detail(text)
    kind = f"HTTP {status}"
    problem = f"{kind}: {detail}"
    if status in (401, 403):
        return ModelError(
            f"{endpoint} refused the key ({kind}): {detail}",
            stops_run=status == 401,
            kind=kind,
            status=status,
            body=text if status == 403 else "",
        )
    if status == 402 or (status == 429 and any(phrase in text.lower() for phrase in _NO_CREDIT)):
        return ModelError(
            f"{endpoint} requires payment ({problem})", stops_run=True, kind=kind, status=status
        )
    if status in _PASSING or status >= 500:
        wait = retry_after_seconds(retry_after)
        return ModelError(problem, transient=True, retry_after=wait, kind=kind, status=status, body=text)
    if status == 400 and _is_filtered(text):
        return ModelError(problem, outcome="refused", kind=kind, status=status)
    if status == 400 and (excess := _excess(detail)) is not None:
        error = ModelError(
            f"an answer of {excess[0]} tokens does not fit into the context of {excess[1]} ({problem})",
            stops_run=True,
            kind=kind,
            status=status,
        )
        error.fix = "lower --max_tokens"
        return error
    if status == 413 or _is_overflow(detail):
        return ModelError(problem, outcome="context overflow", kind=kind, status=status)
    return ModelError(
        f"{kind} from {endpoint}: {detail}", stops_run=status == 404, kind=kind, status=status, body=text
    )


def failure_inside(error: Any) -> ModelError:
    """The error of an `error` field in a response with status 200 (some proxies) or in a stream.

    >>> failure_inside({"message": "slow down", "code": 429}).kind, failure_inside("no memory").transient
    ('HTTP 429', True)
    """
    code, kind = (str(error.get(key)) if isinstance(error, dict) else "" for key in ("code", "type"))
    if kind == "invalid_request_error" and not code.isdecimal():  # by OpenAI "unsupported_parameter"
        code = "400"
    text = json.dumps({"error": error})
    if re.fullmatch("[45][0-9][0-9]", code):
        failure = failed_answer(int(code), text, None, "the server")
        failure.may_cost = True
        return failure
    problem = f"the server answered with an error: {_detail(text)}"
    if _is_filtered(text):
        return ModelError(problem, outcome="refused", kind="error in the answer")
    if _is_overflow(_detail(text)):
        return ModelError(problem, outcome="context overflow", kind="error in the answer")
    return ModelError(problem, transient=True, kind="error in the answer", body=text)


def moved(endpoint: str, status: int, to: str | None) -> ModelError:
    """The error of a redirect, which is not followed: a POST would become a GET, and the key would leak."""
    kind = f"HTTP {status}"
    where = f"{endpoint} has moved to {Address.of(to).shown}" if to else f"{endpoint} has moved"
    return ModelError(f"{where} ({kind}): use that address", stops_run=True, kind=kind, status=status)


def unreachable(endpoint: str, reason: object) -> ModelError:
    """The error of a connection that cannot be made: no server, wrong host name or certificate."""
    return ModelError(f"cannot reach {endpoint}: {reason}", transient=True, kind=UNREACHABLE)


def timed_out(seconds: float, *, silent: bool = False) -> ModelError:
    """The error of a time-out of `--total_timeout` or, if `silent`, of `--timeout`."""
    limit = f"no byte for {seconds:g} s (--timeout)"
    if not silent:
        limit = f"no answer within {seconds:g} s (--total_timeout)"
    return ModelError(f"timed out: {limit}", transient=True, kind="timeout")


def over_time_limit(seconds: float) -> ModelError:
    """The error of an attempt that exceeded `ChatRequest.timeout`; it is not retried."""
    return ModelError(f"timed out: no answer within its limit of {seconds:g} s", kind=TIME_LIMIT)


def connection_broken(reason: object, *, kind: str = RESET) -> ModelError:
    """The error of a connection that broke after it was made."""
    return ModelError(f"the connection broke: {reason}", transient=True, kind=kind)


def wrong_address(endpoint: str, reason: object) -> ModelError:
    """The error of an address that is not a valid HTTP URL."""
    if not str(reason).startswith("it "):  # words of a library, which may repeat the address
        reason = "it has to be http(s)://HOST:PORT/PATH"
    return ModelError(f"'{endpoint}' is not a valid address: {reason}", stops_run=True, kind="wrong address")


def retry_after_seconds(value: str | None) -> float | None:
    """Parse `Retry-After`, a number of seconds or a date, to seconds; None if it is missing or invalid.

    >>> retry_after_seconds("3"), retry_after_seconds(None), retry_after_seconds("soon")
    (3.0, None, None)
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if seconds < float("inf") else None
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _is_filtered(text: str) -> bool:
    """Whether a content filter stopped the prompt, by the error codes of Azure and LiteLLM.

    The message is not searched, because it may repeat the prompt.

    >>> _is_filtered('{"error": {"code": "content_filter"}}'), _is_filtered('{"error": "content_filter"}')
    (True, False)
    """
    try:
        error = json.loads(text)["error"]
        inner = error.get("innererror") or {}
        return bool({error.get("code"), error.get("type"), inner.get("code")} & _FILTERED)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def _is_overflow(message: str) -> bool:
    lower = message.lower()
    return any(phrase in lower for phrase in _OVERFLOW)


def _excess(message: str) -> tuple[int, int] | None:
    """The limit of an answer and the context, if the first alone is as large: no prompt would fit.

    >>> _excess("maximum context length is 4096 tokens. However, you requested 91020 tokens (1020 in the "
    ...         "messages, 90000 in the completion)")
    (90000, 4096)
    """
    context = re.search(r"maximum context length is (\d{1,12})", message)
    # "(90000 in the completion" of OpenAI and vLLM, "'max_tokens' … is too large: 90000" of later vLLM.
    answer = re.search(
        r"(\d{1,12}) in the completion|max_(?:completion_)?tokens\W.{0,200}?is too large: (\d{1,12})", message
    )
    if context is None or answer is None:
        return None
    most = int(answer[1] or answer[2])
    return (most, int(context[1])) if most >= int(context[1]) else None


def _detail(text: str) -> str:
    """The message of an error body, on one line; the body itself if it has none."""
    message: Any = None
    try:
        body = json.loads(text)
        error = body.get("error") or body.get("message") or body.get("detail")
        message = error.get("message") if isinstance(error, dict) else error
    except (ValueError, AttributeError, RecursionError):
        pass
    return " ".join(str(message or text or "no body").split())


MAX_IDENTICAL = 4
"""Identical failures in a row after which a request is given up."""
LONGEST_BACKOFF = 60.0
"""Maximum seconds of a wait that the server did not ask for."""
LONGEST_RETRY_AFTER = 600.0
"""Maximum seconds of `Retry-After` that are honoured."""


def retry_delay(number: int, error: ModelError) -> float:
    """Seconds to wait after attempt `number` (from 1) failed with `error`.

    Exponential backoff with jitter: 0.5 to 1 s, 1 to 2 s, 2 to 4 s, … up to 60 s. If the server sent
    `Retry-After`, that time, up to 600 s and with up to 10 % added, so that requests do not return together.
    """
    backoff = random.uniform(0.5, 1.0) * min(LONGEST_BACKOFF, 2.0 ** min(number - 1, 30))
    if error.retry_after is None:
        return backoff
    return min(error.retry_after, LONGEST_RETRY_AFTER) + min(error.retry_after, backoff) * 0.1


class Tries:
    """Counts the attempts of one request: a limit on all, and one on identical failures in a row.

    Identical failures, such as a deterministic 500, end the request after four. A 429 and an unreachable
    server are also identical every time but temporary, so only the limit on all attempts applies to them.
    A 429 while the server answers other requests means that this one is queued: the count restarts.

    Args:
        most: Maximum attempts.

    >>> tries = Tries(most=8)
    >>> error = ModelError("HTTP 500: out of paper", transient=True, kind="HTTP 500", status=500)
    >>> [tries.again(error) for _ in range(4)]
    [True, True, True, False]
    """

    def __init__(self, most: int = MAX_TRIES) -> None:
        self.number = 1
        self._most = most
        self._in_line = 0  # attempts that do not count
        self._last: tuple[str, str] | None = None
        self._identical = 0

    def again(self, error: ModelError, *, others_answered: bool = False) -> bool:
        """Count a failure; whether to try again.

        Args:
            error: The failure.
            others_answered: Whether the endpoint has answered another request since the previous failure.
        """
        failure = (error.kind, str(error))
        self._identical = self._identical + 1 if failure == self._last else 1
        self._last = failure
        if not error.transient:
            return False
        if error.status == 429 and others_answered:
            self._in_line = self.number
        elif self.number - self._in_line >= self._most:
            return False
        passing = error.status == 429 or error.kind == UNREACHABLE
        if self._identical >= MAX_IDENTICAL and not passing:
            return False
        self.number += 1
        return True


class Breaker:
    """A circuit breaker that detects a server that died during a run.

    It opens after `failures` attempts in a row that could not connect or lost their connection, over at least
    `seconds`. A restart of the server breaks all connections at once and is temporary, so connections that
    break together count once.

    Args:
        failures: Number of failures in a row.
        seconds: Minimum time between the first and the last of them.
        clock: Monotonic clock, in seconds.

    Attributes:
        responded: Whether the server has responded at all.
    """

    def __init__(
        self, failures: int = 20, seconds: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._failures = failures
        self._seconds = seconds
        self._clock = clock
        self.responded = False
        self._count = 0
        self._first = 0.0
        self._last = float("-inf")

    def answered(self) -> None:
        """Reset the count: the server responded, with an answer or an error."""
        self.responded = True
        self._count = 0

    def failed(self, error: ModelError, sent_at: float) -> bool:
        """Count the failure of an attempt sent at clock time `sent_at`; whether the server is down."""
        if error.kind not in (UNREACHABLE, RESET):
            return False
        now = self._clock()
        if self._count == 0:
            self._first = now
        elif sent_at < self._last:
            return False  # it was in flight at the previous failure, so both have the same cause
        self._count += 1
        self._last = now
        return self._count >= self._failures and now - self._first >= self._seconds
