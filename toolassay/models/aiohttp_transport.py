"""`AiohttpTransport`: the default client for OpenAI-compatible servers, one aiohttp session per run."""

from __future__ import annotations

import time
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from toolassay.models.address import without_addresses
from toolassay.models.options import PATH, ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse
from toolassay.models.retry import (
    connection_broken,
    failed_answer,
    moved,
    timed_out,
    unreachable,
    wrong_address,
)
from toolassay.models.wire_format import encoded_body, read_error, read_response

CONNECT = 30.0
"""Seconds to establish a connection; a server that does not accept within them is unreachable."""
_KEEP = 4.0
"""Seconds that an idle connection is kept. Many servers close it after 5, and a request sent at that moment
is lost."""


class AiohttpTransport:
    """Sends chat completions of the model `name` to `options.base_url`.

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
                self._urls[path] = URL(self._options.address.to(path + PATH))
            data = encoded_body(self.name, request, self._options)
            async with self._connected().post(
                self._urls[path], data=data, timeout=self._timeout, allow_redirects=False
            ) as response:
                return await self._read(response, started)
        except aiohttp.ClientConnectorError as error:
            reason = getattr(getattr(error, "os_error", None), "strerror", None) or error
            raise unreachable(self._options.place, f"{reason}{self._proxy_hint()}") from None
        except aiohttp.ConnectionTimeoutError:
            reason = f"no connection within {CONNECT:g} s"
            raise unreachable(self._options.place, f"{reason}{self._proxy_hint()}") from None
        except TimeoutError:
            raise timed_out(self._options.timeout, silent=True) from None
        except (ValueError, aiohttp.NonHttpUrlClientError) as error:  # ValueError: invalid URL or port
            raise wrong_address(self._options.place, error) from None
        except aiohttp.ClientPayloadError as error:
            raise connection_broken(_reason(error), kind="truncated") from None
        except (aiohttp.ClientError, OSError) as error:
            raise connection_broken(_reason(error)) from None

    async def _read(self, response: aiohttp.ClientResponse, started: float) -> ChatResponse:
        status, chunks, charset = response.status, response.content.iter_any(), response.charset
        if status >= 400:
            text = await read_error(chunks, charset)
            raise failed_answer(status, text, response.headers.get("Retry-After"), self._options.place)
        if status >= 300:
            raise moved(self._options.place, status, response.headers.get("Location"))
        return await read_response(chunks, started, response.content_type, charset)

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _proxy_hint(self) -> str:
        url = next(iter(self._urls.values()), None)
        if url is None or url.host is None or url.scheme not in getproxies() or proxy_bypass(url.host):
            return ""
        return f" ({url.scheme}_proxy is set; only --client openai uses it)"

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            authorization = self._options.authorization
            if authorization:
                headers["Authorization"] = authorization
            headers |= {name: str(value) for name, value in self._options.extra_headers.items()}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP),  # `Limiter` sets the limit
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=headers,
                read_bufsize=2**18,  # aiohttp's 64 KiB pauses reading of long answers
            )
        return self._session


def _reason(error: Exception) -> str:
    return without_addresses(str(error)) or type(error).__name__
