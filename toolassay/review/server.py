"""The HTTP server of the review page: its routes, and which requests it accepts.

`toolassay.review.session` does the work of the routes. Beside the checks of `Loopback`, the secret of the
printed address must be in a cookie. A request that changes anything must be JSON, which forms cannot send,
and scripts of other sites only after a preflight request, which is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import msgspec
from aiohttp import web

from toolassay.errors import ToolassayError, UsageError
from toolassay.review.decision import (
    ChangedSample,
    RejectedEdit,
    RequestedDecision,
    RequestedEdit,
    checked_name,
)
from toolassay.review.session import Queue, Session
from toolassay.serving.loopback import HEADERS, Handler, Loopback, json_object, refused

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    **HEADERS,
}


BIGGEST = 2**24  # bytes of a request; a sample of megabytes can be edited
_KINDS = {".css": "text/css", ".js": "text/javascript"}
_LIBRARIES = ("cytoscape.min.js", "cytoscape-dagre.min.js")

Wanted = TypeVar("Wanted")


class ReviewServer(Loopback):
    """The page on `http://127.0.0.1:<port>/` and the routes it uses.

    `GET /api/overview`, `/api/samples/<number>`, `/api/search`, `/api/summary`; `POST /api/check`,
    `/api/decide`, `/api/undo`. Answers are JSON objects; a refusal has an `error` for people.

    Args:
        session: the review.
        reviewer: the reviewer's name; if empty, the page asks for it.
        queue: the queue that the page opens with.

    Attributes:
        token: the secret, new at each start.
    """

    def __init__(self, session: Session, *, reviewer: str = "", queue: Queue = "all") -> None:
        super().__init__(biggest=BIGGEST, headers=_HEADERS, shutdown_timeout=1.0)
        self.token = secrets.token_urlsafe(24)
        self.session = session
        self._start = {"reviewer": reviewer, "queue": queue}
        # One action at a time: each waits for the disk, in a thread.
        self._lock = asyncio.Lock()
        router = self.application.router
        router.add_get("/", self._page)
        router.add_get(r"/page/{name:[a-z.-]+}", self._asset)
        router.add_get("/api/start", self._answer(lambda request: self._start))
        overview = self._answer(lambda request: session.overview(*_who(dict(request.query))))
        router.add_get("/api/overview", overview)
        shown = self._answer(
            lambda request: session.show(int(request.match_info["number"]), *_who(dict(request.query)))
        )
        router.add_get(r"/api/samples/{number:\d{1,9}}", shown)
        search_handler = self._answer(
            lambda request: {"numbers": session.search(request.query.get("text", ""))}
        )
        router.add_get("/api/search", search_handler)
        router.add_get("/api/summary", self._answer(lambda request: session.summary()))
        router.add_post(
            "/api/check", self._posted(lambda body: session.check(_converted(body, RequestedEdit)))
        )
        router.add_post(
            "/api/decide",
            self._posted(lambda body: session.decide(*_who(body), _converted(body, RequestedDecision))),
        )
        router.add_post("/api/undo", self._posted(lambda body: session.undo(*_who(body))))

    @property
    def address(self) -> str:
        """Where the page is, with the secret that opens it."""
        return f"{self.base}?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie. Cookies are shared by all ports of a host, so the port is in the name."""
        return f"toolassay_review_{self.port}"

    def refusal(self, request: web.Request) -> web.StreamResponse | None:
        """The response to a request that is refused or redirected; None if it is accepted."""
        if (response := super().refusal(request)) is not None:
            return response
        if request.method == "GET" and request.path == "/" and "token" in request.query:
            if not self._is_secret(request.query["token"]):
                return refused(
                    403, "this address is from an earlier start: open the one that was printed last"
                )
            answer = web.Response(status=303, headers={"Location": "/"})
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict", path="/")
            return answer
        if not self._is_secret(request.cookies.get(self.cookie, "")):
            return refused(403, "open the address that was printed: it has the key to this server")
        if request.method != "GET" and request.content_type != "application/json":
            return refused(415, "send JSON")
        return None

    def _is_secret(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    async def _page(self, request: web.Request) -> web.Response:
        return web.Response(text=_resource("toolassay.review", "page/review.html"), content_type="text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        folder = ("toolassay.reports", "vendor") if name in _LIBRARIES else ("toolassay.review", "page")
        if (kind := _KINDS.get(Path(name).suffix)) is None:
            raise web.HTTPNotFound
        try:
            return web.Response(text=_resource(folder[0], f"{folder[1]}/{name}"), content_type=kind)
        except FileNotFoundError:
            raise web.HTTPNotFound from None

    def _answer(self, work: Callable[[web.Request], object]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            return await self._response_of(lambda: work(request))

        return handler

    def _posted(self, work: Callable[[object], object]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            body = await json_object(request)
            return await self._response_of(lambda: work(body))

        return handler

    async def _response_of(self, work: Callable[[], object]) -> web.Response:
        """Run `work` in a thread; the response is its result, or the error as JSON."""
        async with self._lock:
            try:
                return web.json_response(msgspec.to_builtins(await asyncio.to_thread(work)))
            except RejectedEdit as error:
                problems = msgspec.structs.replace(error.checked, error=str(error))
                return web.json_response(msgspec.to_builtins(problems), status=409)
            except ChangedSample as error:
                return web.json_response({"error": str(error), "changed": True}, status=409)
            except UsageError as error:
                return web.json_response({"error": str(error)}, status=400)
            except (ToolassayError, OSError) as error:
                return web.json_response({"error": str(error)}, status=500)


def _resource(package: str, path: str) -> str:
    return files(package).joinpath(path).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Viewer:
    """Who sends a request, from which queue."""

    reviewer: str = ""
    queue: Queue = "all"


def _who(query: object) -> tuple[str, Queue]:
    viewer = _converted(query, Viewer)
    return checked_name(viewer.reviewer), viewer.queue


def _converted(body: object, kind: type[Wanted]) -> Wanted:
    try:
        return msgspec.convert(body, kind)
    except (ValueError, OverflowError) as error:
        raise UsageError(str(error), fix="use the page") from None
