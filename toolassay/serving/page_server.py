"""Serves one page on loopback, e.g. the report of a run in progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from toolassay.errors import ToolassayError, UsageError

HOST = "127.0.0.1"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageServer:
    """A server with one page, which only programs of this machine reach.

    It answers requests to a loopback name only, against DNS rebinding, and reads nothing from requests.

    Args:
        page: Returns the file of the current page; called in a thread, one call at a time.
    """

    def __init__(self, page: Callable[[], Path]) -> None:
        self._page = page
        self._one = asyncio.Lock()
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.port}/"

    async def open(self, port: int = 0) -> None:
        """Start to listen.

        Raises:
            UsageError: The port is in use.
        """
        application = web.Application()
        application.router.add_get("/", self._answer)
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, port)
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise UsageError(f"port {port} is in use", fix="choose another --port, or 0 for any") from None
        self.port = int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """Stop to listen."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Host", "") not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
            refusal = "this server answers only under its own address"
            return web.Response(status=403, text=refusal, headers=_HEADERS)
        async with self._one:
            try:
                path = await asyncio.to_thread(self._page)
                content = await asyncio.to_thread(path.read_bytes)
            except (ToolassayError, OSError) as error:
                return web.Response(status=500, text=str(error), headers=_HEADERS)
        return web.Response(body=content, content_type="text/html", charset="utf-8", headers=_HEADERS)
