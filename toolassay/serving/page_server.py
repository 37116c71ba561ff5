"""Serves one page on loopback, e.g. the report of a run in progress."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from toolassay.errors import ToolassayError
from toolassay.serving.loopback import HEADERS, Loopback


class PageServer(Loopback):
    """A server with one page, which only programs of this machine reach. It reads nothing from requests.

    Args:
        page: Returns the file of the current page; called in a thread, one call at a time.
    """

    def __init__(self, page: Callable[[], Path]) -> None:
        super().__init__(headers=HEADERS)
        self._page = page
        self._one = asyncio.Lock()
        self.application.router.add_get("/", self._answer)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        async with self._one:
            try:
                path = await asyncio.to_thread(self._page)
                content = await asyncio.to_thread(path.read_bytes)
            except (ToolassayError, OSError) as error:
                return web.Response(status=500, text=str(error))
        return web.Response(body=content, content_type="text/html", charset="utf-8")
