"""How requests reach a server: over aiohttp, the default, or over the `openai` SDK for hosted services and
Azure.

The SDK is imported when its transport is created: its import takes most of a second.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from toolassay.errors import UsageError
from toolassay.models.address import without_addresses
from toolassay.models.dialects import DIALECTS
from toolassay.models.errors import ModelError
from toolassay.models.options import PATHS, ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse
from toolassay.models.refused_parameters import EXTRA, plain_messages
from toolassay.models.response_body import read_error, read_response
from toolassay.models.retry import (
    connection_broken,
    failed_answer,
    moved,
    timed_out,
    unreachable,
    wrong_address,
)
from toolassay.models.wire_format import encoded, parameters_of

_NETWORK = (aiohttp.ClientError, OSError)
CONNECT = 30.0
"""Seconds to establish a connection; a server that does not accept within them is unreachable."""
_KEEP = 4.0
"""Seconds that an idle connection is kept. Many servers close it after 5, and a request sent at that moment
is lost."""


def encoded_body(name: str, request: ChatRequest, options: ModelOptions) -> bytes:
    """The body of a request in the endpoint's dialect."""
    changes = {**(options.refusals.known if options.refusals else {}), **(request.change or {})}
    messages = plain_messages(request.messages) if EXTRA in changes else list(request.messages)
    body = {"model": name, "messages": messages, **parameters_of(request, options)}
    return encoded(DIALECTS[options.dialect].body(body))


class AiohttpTransport:
    """Sends requests for the model `name` to `options.base_url`.

    Ignores proxies of the environment, through which a local server could not be reached; `--client openai`
    uses them.
    """

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = name
        self._options = options
        self._urls: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT, sock_read=options.timeout)

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Make one attempt.

        Raises:
            ModelError: There is no answer; `kind` and `transient` classify the failure.
        """
        started = time.perf_counter()
        # aiohttp's exceptions may repeat the query of the address, so they do not become the cause.
        try:
            path = self._options.version_path.path if self._options.version_path else ""
            if path not in self._urls:
                self._urls[path] = URL(self._options.address.to(path + PATHS[self._options.dialect]))
            data, headers = self._encoded(request)
            async with self._connected().post(
                self._urls[path], data=data, headers=headers, timeout=self._timeout, allow_redirects=False
            ) as response:
                return await self._read(response, started)
        except (*_NETWORK, ValueError) as error:
            url = next(iter(self._urls.values()), URL())
            hint = ""
            if url.host and url.scheme in getproxies() and not proxy_bypass(url.host):
                hint = f" ({url.scheme}_proxy is set; only --client openai uses it)"
            endpoint = self._options.shown_url
            timeout = self._options.timeout
            raise _connection_failure(error, endpoint, timeout, hint) from None

    def _encoded(self, request: ChatRequest) -> tuple[bytes, Mapping[str, str]]:
        """The body of a request, and its headers beside those of all requests."""
        return encoded_body(self.name, request, self._options), {}

    async def _read(self, response: aiohttp.ClientResponse, started: float) -> ChatResponse:
        status = response.status
        chunks = response.content.iter_any()
        charset = response.charset
        if status >= 400:
            text = await read_error(chunks, charset)
            raise failed_answer(status, text, response.headers.get("Retry-After"), self._options.shown_url)
        if status >= 300:
            raise moved(self._options.shown_url, status, response.headers.get("Location"))
        dialect = DIALECTS[self._options.dialect]
        return await read_response(chunks, started, response.content_type, charset, dialect)

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            options = self._options
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP),  # `Limiter` sets the limit
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json", **options.key_headers, **options.headers},
                read_bufsize=2**18,  # aiohttp's 64 KiB pauses reading of long answers
            )
        return self._session


_NO_ADDRESS = {"UnsupportedProtocol", "InvalidURL"}  # exceptions of httpx2, by name


class OpenAITransport:
    """Sends requests for the model `name` through the SDK, with its aiohttp client.

    The SDK's own retries are off. Requests go to Azure if AZURE_OPENAI_ENDPOINT is set and no other address.

    Raises:
        UsageError: A setting that Azure needs is missing.
    """

    def __init__(self, name: str, options: ModelOptions) -> None:
        import httpx2
        import openai

        self.name = name
        self._options = options
        self._sdk: Any = openai
        self._answer_type: Any = httpx2.Response
        self._azure = options.is_azure
        self._address = options.address
        if self._azure and not os.environ.get("OPENAI_API_VERSION"):
            raise UsageError("Azure needs an API version", fix="set OPENAI_API_VERSION, e.g. 2024-10-21")
        if options.dialect == "messages":
            raise UsageError("OpenAI's SDK does not send --api messages", fix="leave --client out")
        self._headers: dict[str, Any] = {}
        self._client: Any = None

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Make one attempt.

        Raises:
            ModelError: There is no answer; `kind` and `transient` classify the failure.
        """
        started = time.perf_counter()
        paths = self._options.version_path
        options = self._options
        with self.errors(self._address.shown_url() if self._azure else options.shown_url):
            client, headers, timeout = self.connection()
            response = await client.post(
                f"{'' if self._azure or paths is None else paths.path}{PATHS[options.dialect]}",
                cast_to=self._answer_type,
                content=encoded_body(self.name, request, options),
                options={"headers": {"Content-Type": "application/json", **headers}, "timeout": timeout},
                stream=True,  # the body is read here, up to a limit
                stream_cls=self._sdk.AsyncStream,
            )
            try:
                kind = response.headers.get("content-type", "")
                charset = response.charset_encoding
                dialect = DIALECTS[options.dialect]
                return await read_response(response.aiter_bytes(), started, kind, charset, dialect)
            finally:
                await response.aclose()

    def connection(self) -> tuple[Any, dict[str, Any], Any]:
        """The SDK's client, the headers of a request without a body, and its time-outs."""
        if self._client is None:
            self._client = self._connected()
        timeout = self._sdk.Timeout(self._options.timeout, connect=CONNECT)  # between two bytes
        return self._client, self._headers, timeout

    @contextlib.contextmanager
    def errors(self, endpoint: str) -> Iterator[None]:
        """Convert what the SDK raises in this block to a `ModelError`.

        Args:
            endpoint: Redacted address, for the message.
        """
        try:
            yield
        except TimeoutError:
            raise timed_out(self._options.timeout, silent=True) from None
        except _FailedResponse as error:
            status, text, headers = error.args
            if status < 400:
                raise moved(endpoint, status, headers.get("location")) from None
            raise failed_answer(status, text, headers.get("retry-after"), endpoint) from None
        except self._sdk.APIConnectionError as error:
            raise _connection_failure(error, endpoint, self._options.timeout) from None
        except (self._sdk.OpenAIError, ValueError) as error:
            raise wrong_address(endpoint, error) from None
        except Exception as error:
            # While an answer is streamed, the SDK passes on what httpx and the network raise.
            is_httpx = type(error).__module__.split(".")[0] in ("httpx2", "httpcore2")
            if isinstance(error, ModelError) or not (is_httpx or isinstance(error, _NETWORK)):
                raise
            raise _connection_failure(error, endpoint, self._options.timeout) from None

    async def close(self) -> None:
        """Close the SDK's client."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> Any:
        options = self._options
        address = self._address
        if " " in address.url:
            raise ValueError("it contains a space")  # the SDK would look up such a host
        if address.shown != address.url:
            logging.getLogger("httpx2").setLevel(logging.WARNING)  # at INFO it logs the whole address
        common: dict[str, Any] = {
            "max_retries": 0,
            "http_client": self._sdk.DefaultAioHttpClient(follow_redirects=False, event_hooks=_HOOKS),
            "default_headers": options.headers,
            "default_query": address.parameters,
        }
        authorization = address.authorization if self._azure else options.authorization
        if authorization:
            self._headers["Authorization"] = authorization
        if self._azure:
            has_own = any(map(os.environ.get, ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN")))
            return self._sdk.AsyncAzureOpenAI(
                azure_endpoint=address.url,
                azure_deployment=self.name,
                # Azure's own variables take precedence over OPENAI_API_KEY; the SDK reads them if it is
                # given no key.
                api_key=options.api_key or (None if has_own else options.key),
                **common,
            )
        if not authorization and "authorization" not in map(str.lower, options.extra_headers):
            # The SDK requires a key, and a local server has none: send no header at all.
            self._headers["Authorization"] = self._sdk.Omit()
        return self._sdk.AsyncOpenAI(base_url=address.url, api_key=options.key or "none", **common)


class _FailedResponse(Exception):
    """Status (300 or more), text and headers of a response."""


async def _fail(response: Any) -> None:
    """Raise `_FailedResponse`, because the SDK would read a body of any length."""
    if response.status_code >= 300:
        text = await read_error(response.aiter_bytes(), response.charset_encoding)
        raise _FailedResponse(response.status_code, text, response.headers)


_HOOKS = {"response": [_fail]}


def _connection_failure(error: Exception, endpoint: str, timeout: float, hint: str = "") -> ModelError:
    """Classify a connection error by its causes, because the SDK reports most as time-outs."""
    causes: list[BaseException] = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    innermost = causes[-1]
    reason = without_addresses(str(innermost)) or type(innermost).__name__

    def behind(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if behind(aiohttp.ClientPayloadError):
        return connection_broken(reason, kind="truncated")
    if (
        behind(aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)
        or {type(cause).__name__ for cause in causes} & _NO_ADDRESS
    ):
        return wrong_address(endpoint, reason)
    if behind(aiohttp.ClientConnectorError):
        return unreachable(endpoint, f"{getattr(innermost, 'strerror', None) or reason}{hint}")
    if behind(aiohttp.ConnectionTimeoutError):
        return unreachable(endpoint, f"no connection within {CONNECT:g} s{hint}")
    if behind(TimeoutError):
        return timed_out(timeout, silent=True)
    return wrong_address(endpoint, error) if isinstance(error, ValueError) else connection_broken(reason)
