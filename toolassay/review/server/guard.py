"""Who may talk to the server of a review: the page it gave out, in the browser of whoever started it.

The server listens on loopback, which every page in the same browser can reach too. So: the `Host` must be a
loopback name with our port (a page that rebinds its name is stopped), a secret that only the printed address
holds must come back as a cookie, and what changes anything must come from our own page (`Origin`) as JSON,
which no form and no foreign script can send without asking first.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Guard:
    """Lets through who knows the secret.

    Attributes:
        port: of the server; set once it listens.
        token: the secret, another one each time.
    """

    def __init__(self) -> None:
        self.port = 0
        self.token = secrets.token_urlsafe(24)

    @property
    def base(self) -> str:
        """The address, without the secret."""
        return f"http://{HOST}:{self.port}/"

    @property
    def cookie(self) -> str:
        """Its name; cookies know no ports, so the port is in it."""
        return f"toolassay_review_{self.port}"

    def middleware(self) -> Middleware:
        """For the application."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            response = self._refusal(request)
            if response is None:
                try:
                    response = await handler(request)
                except web.HTTPException as error:
                    response = web.json_response({"error": error.reason}, status=error.status)
            response.headers.update(_HEADERS)
            return response

        return guard

    def _refusal(self, request: web.Request) -> web.StreamResponse | None:
        """The answer to whoever must not be let through."""
        if request.headers.get("Host", "") not in {f"{name}:{self.port}" for name in _NAMES}:
            return _no("this server answers under its own address only")
        if request.method == "GET" and request.path == "/" and "token" in request.query:
            if not self._is_secret(request.query["token"]):
                return _no("this address is of an earlier start: open the one that was printed last")
            answer = web.Response(status=303, headers={"Location": "/"})
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict", path="/")
            return answer
        if not self._is_secret(request.cookies.get(self.cookie, "")):
            return _no("open the address that was printed: it holds the key to this server")
        if request.method != "GET":
            origin = request.headers.get("Origin")
            if origin is not None and origin not in {f"http://{name}:{self.port}" for name in _NAMES}:
                return _no("only the page of this server may do that")
            if request.content_type != "application/json":
                return web.json_response({"error": "send JSON"}, status=415)
        return None

    def _is_secret(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


def _no(reason: str) -> web.Response:
    return web.json_response({"error": reason}, status=403)
