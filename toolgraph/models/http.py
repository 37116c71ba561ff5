"""A model behind an OpenAI-compatible HTTP endpoint, over one aiohttp session per run."""

from __future__ import annotations

import json
import re
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
_OVERFLOW = (  # as OpenAI, vLLM, llama.cpp and others put it
    "context_length",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
    "too many tokens",
)


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
        self._place = _without_login(self._url)
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
                try:
                    return await self._send(request)
                except ModelError as error:
                    error.hide(self._options.key)  # servers repeat a wrong key in their complaint
                    raise
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
                self._answered = True
                if response.status >= 400:
                    raise _failure(response.status, text, response.headers.get("Retry-After"), self._place)
        except aiohttp.ClientConnectorError as error:
            # Nobody has answered yet and nobody is listening: the address is wrong, not the weather.
            reason = getattr(getattr(error, "os_error", None), "strerror", None) or error
            raise ModelError(
                f"cannot reach {self._place}: {reason}",
                transient=self._answered,
                stops_run=not self._answered,
            ) from error
        except TimeoutError as error:
            raise ModelError(f"no answer within {request.timeout:g} s", transient=True) from error
        except (ValueError, aiohttp.NonHttpUrlClientError) as error:  # a ValueError: no URL, no such port
            # The cause would show the login of the address in a traceback.
            reason = _without_login(str(error))
            raise ModelError(f"'{self._place}' is no address to ask: {reason}", stops_run=True) from None
        except (aiohttp.ClientError, OSError) as error:
            raise ModelError(
                f"the connection broke: {str(error) or type(error).__name__}", transient=True
            ) from error
        return _read(text)

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


def _without_login(url: str) -> str:
    """The address as it may be shown.

    >>> _without_login("https://me:secret@host/v1")
    'https://host/v1'
    """
    return re.sub(r"//[^/\s]*@", "//", url)


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
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise ModelError("the server's answer is not a chat completion", transient=True) from error
    if not isinstance(content, str):
        raise ModelError("the server's answer has no content", transient=True)
    reason = choice.get("finish_reason")
    return ChatResponse(
        content,
        reason if isinstance(reason, str) else None,
        _tokens(body, "prompt_tokens"),
        _tokens(body, "completion_tokens"),
    )


def _tokens(body: dict[str, Any], name: str) -> int | None:
    """A count of the server's `usage`; None where it says nothing usable."""
    usage = body.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) else None
