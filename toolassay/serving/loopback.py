"""What the servers of this package share: they listen on loopback, and refuse requests from elsewhere.

Every page in a browser of this machine can send requests to 127.0.0.1. `Host` must be a loopback name with
the server's port, against DNS rebinding. `Origin`, which browsers send, must be the server's own.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from toolassay.console.screen import Screen
from toolassay.episodes.agent_tools import HOST, bound
from toolassay.errors import ToolassayError

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Of the responses of servers whose pages a browser shows."""
_NAMES = (HOST, "localhost", "[::1]")
_MOST_REQUESTS = 4096  # at the same time
_MOST_BYTES = 2**30  # of the requests in progress

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def refused(status: int, reason: str) -> web.Response:
    """The response to a refused request: a JSON object with `error`."""
    return web.json_response({"error": reason}, status=status)


class Loopback:
    """An application on 127.0.0.1 that refuses requests from other sites, and more than it can hold.

    Args:
        refused: Makes the response to a refused request, of a status and a reason.
        biggest: Bytes of a request.
        headers: Added to each response.
        settings: Of `web.AppRunner`.

    Attributes:
        application: The application.
        runner: Its runner.
        port: The port, once it listens.
    """

    def __init__(
        self,
        refused: Callable[[int, str], web.Response] = refused,
        *,
        biggest: int = 2**16,
        headers: Mapping[str, str] = {},
        **settings: Any,
    ) -> None:
        self._refused = refused
        self._biggest = biggest
        self._headers = headers
        self._requests = self._bytes = 0
        self.port = 0
        self.application = web.Application(client_max_size=biggest, middlewares=[self._guard])
        self.runner = web.AppRunner(self.application, access_log=None, **settings)

    @property
    def base(self) -> str:
        """The address."""
        return f"http://{HOST}:{self.port}/"

    async def open(self, port: int = 0) -> None:
        """Start to listen; 0 takes a free port.

        Raises:
            UsageError: The port is in use.
        """
        listening = bound(port)
        self.port = listening.getsockname()[1]
        await self.runner.setup()
        await web.SockSite(self.runner, listening).start()

    async def close(self) -> None:
        """Stop the server."""
        await self.runner.cleanup()

    @property
    def address(self) -> str:
        """Where a person finds the page."""
        return self.base

    async def show(self, port: int, screen: Screen, advice: str, *, open_browser: bool) -> None:
        """Serve a page until interrupted.

        Args:
            port: As for `open`.
            screen: Receives the address, and then the advice.
            advice: What to do with the address.
            open_browser: Open the page in the browser.
        """
        await self.open(port)
        screen.show(self.address)
        screen.say(advice)
        if open_browser:
            import webbrowser

            await asyncio.to_thread(webbrowser.open, self.address)
        try:
            await asyncio.Event().wait()
        finally:
            await self.close()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        size = request.content_length or 0
        self._requests += 1
        self._bytes += size
        try:
            response = self.refusal(request)
            if response is None:
                response = await handler(request)
        except web.HTTPException as error:
            response = self._refused(error.status, error.reason)
        finally:
            self._requests -= 1
            self._bytes -= size
        response.headers.update(self._headers)
        return response

    def refusal(self, request: web.Request) -> web.StreamResponse | None:
        """The response to a request that is refused; None if it is accepted."""
        own_hosts = [f"{name}:{self.port}" for name in _NAMES]
        size = request.content_length
        origin = request.headers.get("Origin")
        if request.headers.get("Host", "").lower() not in own_hosts:
            return self._refused(403, "this server answers only under its own address")
        if origin is not None and origin.removeprefix("http://") not in own_hosts:
            return self._refused(403, "only the page of this server may send this request")
        if (size is None and request.body_exists) or "Content-Encoding" in request.headers:
            return self._refused(411, "send the body as it is, with its Content-Length")
        if size is not None and size > self._biggest:
            return self._refused(413, f"the body is larger than {self._biggest:,} bytes")
        if self._requests > _MOST_REQUESTS or self._bytes > max(_MOST_BYTES, self._biggest):
            return self._refused(429, "too many requests at a time: try again later")
        return None


class PageServer(Loopback):
    """A server with one page, which only programs of this machine reach. It reads nothing from requests.

    Args:
        page: Returns the file of the current page; called in a thread, one call at a time.
    """

    def __init__(self, page: Callable[[], Path]) -> None:
        super().__init__(headers=HEADERS)
        self._page = page
        self._lock = asyncio.Lock()
        self.application.router.add_get("/", self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        async with self._lock:
            try:
                path = await asyncio.to_thread(self._page)
                content = await asyncio.to_thread(path.read_bytes)
            except (ToolassayError, OSError) as error:
                return web.Response(status=500, text=str(error))
        return web.Response(body=content, content_type="text/html", charset="utf-8")


async def json_object(request: web.Request) -> dict[str, Any]:
    """The JSON object in the body of a request.

    Raises:
        web.HTTPBadRequest: It is none, or has a number that is not finite.
    """
    try:
        body = json.loads(
            await request.read(), parse_constant=_number, parse_float=_number, parse_int=_number
        )
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(reason="the body is not a JSON object, or has a number that is not finite")
    return body


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):  # also "1e999", and an integer of 400 digits
        raise ValueError
    return int(text) if text.lstrip("-").isdigit() else value
