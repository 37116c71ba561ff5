"""A model behind an OpenAI-compatible HTTP endpoint, over one aiohttp session per run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from toolgraph.models.errors import ModelError
from toolgraph.models.protocol import ChatRequest, ChatResponse
from toolgraph.models.registry import ModelOptions

TRIES = 6
LONGEST_WAIT = 60.0
_OVERFLOW = ("context_length_exceeded", "maximum context length", "context window", "too many tokens")


class HttpChatModel:
    """Chat completions of `name` at `options.base_url`.

    Transient failures (429, 5xx, timeout, broken connection, unreadable body) are tried again with
    exponential waits and jitter, at most six times, honouring `Retry-After`. The key is sent and never
    shown.
    """

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = name
        self._options = options
        self._url = f"{options.base_url}/chat/completions"
        self._session: aiohttp.ClientSession | None = None
        self._answered = False

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request.

        Raises:
            ModelError: no answer after all tries, or a failure that trying again cannot mend.
        """
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(TRIES),
            wait=_wait,
            retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.transient),
            reraise=True,
        ):
            with attempt:
                return await self._send(request)
        raise AssertionError("a retrying loop ends by return or by raise")

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()

    async def _send(self, request: ChatRequest) -> ChatResponse:
        body = {"model": self.name, "messages": list(request.messages), **request.parameters}
        body.update(self._options.extra_body)
        try:
            async with self._connected().post(
                self._url, json=body, timeout=aiohttp.ClientTimeout(total=request.timeout)
            ) as response:
                text = await response.text(errors="replace")
                if response.status >= 400:
                    raise _failure(response.status, text, response.headers.get("Retry-After"), self._url)
        except aiohttp.ClientConnectorError as error:
            # Nobody has answered yet and nobody is listening: the address is wrong, not the weather.
            raise ModelError(
                f"cannot reach {self._url}: {error.os_error.strerror or error}",
                transient=self._answered,
                stops_run=not self._answered,
            ) from error
        except TimeoutError as error:
            raise ModelError(f"no answer within {request.timeout:g} s", transient=True) from error
        except aiohttp.InvalidURL as error:
            raise ModelError(f"'{self._url}' is not an address", stops_run=True) from error
        except aiohttp.ClientError as error:
            raise ModelError(
                f"the connection broke: {str(error) or type(error).__name__}", transient=True
            ) from error
        answer = _read(text)
        self._answered = True
        return answer

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Authorization": f"Bearer {self._options.key}"} if self._options.key else {}
            connector = aiohttp.TCPConnector(limit=self._options.connections)
            self._session = aiohttp.ClientSession(connector=connector, headers=headers)
        return self._session


_backoff = wait_random_exponential(multiplier=1, max=LONGEST_WAIT)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ModelError) and error.retry_after is not None:
        return min(error.retry_after, LONGEST_WAIT)
    return _backoff(state)


def _failure(status: int, text: str, retry_after: str | None, url: str) -> ModelError:
    detail = _detail(text)
    if status in (401, 403):
        return ModelError(f"{url} refused the key (HTTP {status}): {detail}", stops_run=True)
    if status == 429 or status >= 500 or status == 408:
        return ModelError(f"HTTP {status}: {detail}", transient=True, retry_after=_seconds(retry_after))
    if any(phrase in text.lower() for phrase in _OVERFLOW):
        return ModelError(f"HTTP {status}: {detail}", outcome="context overflow")
    return ModelError(f"HTTP {status} from {url}: {detail}", stops_run=status == 404)


def _detail(text: str) -> str:
    """The server's own words, short."""
    try:
        error = json.loads(text).get("error")
        message = error.get("message") if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        message = None
    return " ".join(str(message or text or "no body").split())[:200]


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` in seconds, whether it came as a number or as a date.

    >>> _seconds("3"), _seconds(None), _seconds("soon")
    (3.0, None, None)
    """
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _read(text: str) -> ChatResponse:
    try:
        body: Any = json.loads(text)
        choice = body["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError("the server's answer is not a chat completion", transient=True) from error
    if not isinstance(content, str):
        raise ModelError("the server's answer has no content", transient=True)
    usage = body.get("usage") or {}
    return ChatResponse(
        content, choice.get("finish_reason"), usage.get("prompt_tokens"), usage.get("completion_tokens")
    )
