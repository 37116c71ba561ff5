"""`ChatServer`: a local server of chat models that answers with a given function or injects a fault."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from aiohttp import web

from toolassay.episodes.agent_tools import HOST, bound
from toolassay.errors import ToolassayError
from toolassay.models.dialects import DIALECTS
from toolassay.models.dialects.dialect import Dialect
from toolassay.models.options import PATHS, Api
from toolassay.serving.batch_service import BATCHES, FILES, BatchService
from toolassay.serving.completions import (
    Received,
    Reply,
    abort,
    apply_fault,
    completion,
    deliver,
    error_body,
    error_response,
    garbage,
    has_messages,
    refusal,
)
from toolassay.serving.faults import KINDS, WHOLE, Behaviour
from toolassay.serving.loopback import Loopback, json_object

AZURE_PATH = "/openai/deployments/{model}/chat/completions"
BIGGEST = 2**28
"""Maximum bytes of a request; a prompt can list a hundred thousand tools, a file of a batch has 200 MB."""

AnswerFunction = Callable[[Received], Awaitable[Reply]]


class ChatServer(Loopback):
    """Chat Completions, Responses, Messages, the Batch API, `GET /v1/models` and `/health`, on 127.0.0.1.

    Accepts any model name, and ignores parameters (temperature, n, max_tokens, …).

    Args:
        answer: Answers a request; a `ToolassayError` that it raises becomes a 400.
        behaviour: `behaviour(prompt, number)` decides what happens to request `number` (from 0): one of
            `toolassay.serving.faults.KINDS`, "hold" (wait for `released`, then answer) or "whole".
        prefix: Path before `/v1`, e.g. `/tenant`, as some gateways have one.

    Attributes:
        delay: Seconds before each answer.
        capacity: Maximum concurrent requests; further ones get a 429. None: no limit.
        characters_per_token: How tokens are counted.
        refused_parameters: Body of the 400 for a request with a parameter, by name of the parameter.
        dropped_parameters: Parameters that are silently ignored, like `tools` on some servers.
        complaint: `complaint(body)` returns the status and body of an error for a request, or None.
        retry_after: Seconds in the Retry-After header of the faults "429" and "500".
        pause: Seconds between the pieces of the fault "drip".
        outage: Seconds without a listener after the fault "refused".
        port: Port of the server, once it is open.
        count: Number of requests.
        faulty: Number of requests with a fault.
        whole_tokens: Tokens (prompt, completion) of the answers without a fault.
        released: Set to answer the requests on "hold".
        batches: Files and batches, whose requests count and get faults as single ones do.
    """

    def __init__(
        self, answer: AnswerFunction, behaviour: Behaviour = lambda prompt, number: WHOLE, *, prefix: str = ""
    ) -> None:
        super().__init__(
            lambda status, reason: error_response(reason, status),
            biggest=BIGGEST,
            shutdown_timeout=0.1,
            handler_cancellation=True,
        )
        self.answer = answer
        self.prefix = prefix
        self.behaviour = behaviour
        self.delay = 0.0
        self.capacity: int | None = None
        self.characters_per_token = 4
        self.refused_parameters: dict[str, Any] = {}
        self.dropped_parameters: frozenset[str] = frozenset()
        self.complaint: Callable[[Mapping[str, Any]], tuple[int, Any] | None] = lambda body: None
        self.retry_after = 0.0
        self.pause = 0.0
        self.outage = 1.0
        self.count = self.faulty = 0
        self.whole_tokens = (0, 0)
        self.released = asyncio.Event()
        self.batches = BatchService(self._in_batch)
        self._busy = 0
        self._site: web.SockSite | None = None
        self._reserved: socket.socket | None = None
        self._coming_back: asyncio.Task[None] | None = None
        router = self.application.router
        for api, path in PATHS.items():
            router.add_post(f"{prefix}/v1{path}", partial(self._chat, api))
        router.add_post(prefix + AZURE_PATH, partial(self._chat, "chat"))
        self.batches.add_routes(router, prefix)
        router.add_get("/v1/models", self._models)
        router.add_get("/health", self._health)
        router.add_route("*", "/{path:.*}", self._unknown)

    @property
    def base(self) -> str:
        """The base URL."""
        return f"http://{HOST}:{self.port}{self.prefix}/v1"

    def seen(self, received: Received, kind: str) -> None:
        """Called for each request with its behaviour; for subclasses."""

    async def open(self, port: int = 0, *, listen: bool = True) -> None:
        """Bind the port and start to listen.

        Args:
            port: Port number; 0 for any free one.
            listen: Whether to listen; without it, connections to the port are refused.

        Raises:
            UsageError: The port is in use.
        """
        await self.runner.setup()
        self._reserved = bound(port)
        self.port = self._reserved.getsockname()[1]
        if listen:
            await self.listen()

    async def listen(self) -> None:
        """Start to accept connections."""
        if self._site is None:
            listening = self._reserved or bound(self.port)
            self._reserved = None
            self._site = web.SockSite(self.runner, listening, backlog=1024)
            await self._site.start()

    async def refuse(self) -> None:
        """Break all connections and refuse new ones until `listen`; keeps the port."""
        if self._site is None:
            return
        await self._site.stop()
        self._site = None
        # A bound socket that does not listen refuses connections and keeps the port from other processes.
        self._reserved = bound(self.port)
        server = self.runner.server
        for connection in list(server.connections) if server is not None else []:
            if connection.transport is not None:
                connection.transport.abort()

    async def close(self) -> None:
        """Stop without waiting for requests in flight."""
        if self._coming_back is not None:
            self._coming_back.cancel()
        self.released.set()
        self.batches.close()
        await self.runner.cleanup()
        if self._reserved is not None:
            self._reserved.close()

    async def _chat(self, api: Api, request: web.Request) -> web.StreamResponse:
        dialect = DIALECTS[api]
        try:
            body = dialect.received(await json_object(request))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            return error_response(f"the body is not a request of the {api} API: {error!r}")
        if not has_messages(body):
            return error_response("'messages' is not a list of at least one message")
        received = Received(request.path, dict(request.headers), body, request.query_string)
        received, number, kind = self._counted(received)
        self._busy += 1
        try:
            return await self._respond(request, received, kind, number, dialect)
        finally:
            self._busy -= 1

    def _counted(self, received: Received) -> tuple[Received, int, str]:
        """Count a request; what is left of it, its number, and what happens to it."""
        kept = {name: value for name, value in received.body.items() if name not in self.dropped_parameters}
        received = replace(received, body=kept)
        number = self.count
        self.count += 1
        kind = self.behaviour(received.prompt, number)
        if self.capacity is not None and self._busy >= self.capacity:
            kind = "429-bare"
        if kind not in KINDS and kind not in (WHOLE, "hold"):
            raise ValueError(f"'{kind}' is not a fault; use one of {', '.join(KINDS)}")
        self.faulty += kind != WHOLE
        self.seen(received, kind)
        return received, number, kind

    async def _in_batch(self, received: Received) -> tuple[int, Any]:
        """Answer a request of a batch: status and body. A fault of the connection is status 0."""
        received, number, kind = self._counted(received)
        if (fault := KINDS.get(kind)) is not None and fault.of_connection:
            return 0, f"fault {kind}"
        return await self._process(received, kind, number)

    async def _process(self, received: Received, kind: str, number: int) -> tuple[int, Any]:
        """Status and body: a completion, with a fault of its content applied, or an error."""
        if kind == "hold":
            await self.released.wait()
        for name in received.body.keys() & self.refused_parameters.keys():
            return 400, self.refused_parameters[name]
        if (complaint := self.complaint(received.body)) is not None:
            return complaint
        if (refused := refusal(kind, received)) is not None:
            status, message, code = refused
            sort = "server_error" if status == 500 else "invalid_request_error"
            return status, error_body(message, sort, code)
        await asyncio.sleep(self.delay)
        try:
            reply = await self.answer(received)
        except ToolassayError as error:
            return 400, error_body(str(error))
        whole = completion(received, reply, number, self.characters_per_token)
        if kind == WHOLE:
            usage = whole["usage"]
            (prompt_tokens, completion_tokens) = self.whole_tokens
            self.whole_tokens = (
                prompt_tokens + usage["prompt_tokens"],
                completion_tokens + usage["completion_tokens"],
            )
        else:
            apply_fault(whole, kind, received)
        return 200, whole

    async def _respond(
        self, request: web.Request, received: Received, kind: str, number: int, dialect: Dialect
    ) -> web.StreamResponse:
        if kind == "hang":
            await asyncio.Event().wait()
        if kind == "refused":
            await self.refuse()
            self._coming_back = asyncio.create_task(self._come_back())
        if kind in ("reset", "refused"):
            await asyncio.sleep(self.delay)
            return abort(request)
        if kind == "garbage":
            return garbage(request)
        status, whole = await self._process(received, kind, number)
        if status != 200:
            headers = {"Retry-After": f"{self.retry_after:g}"} if kind in ("429", "500") else {}
            if kind.endswith("echo"):
                headers = {"X-Echo": received.echo, "Retry-After": received.echo}
            return web.json_response(whole, status=status, headers=headers)
        options = received.body.get("stream_options")
        return await deliver(
            request,
            whole,
            kind,
            dialect,
            stream=bool(received.body.get("stream")),
            usage=isinstance(options, dict) and bool(options.get("include_usage")),
            pause=self.pause,
        )

    async def _come_back(self) -> None:
        await asyncio.sleep(self.outage)
        await self.listen()

    async def _models(self, request: web.Request) -> web.Response:
        model = {"id": "offline", "object": "model", "created": 0, "owned_by": "toolassay"}
        return web.json_response({"object": "list", "data": [model]})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "requests": self.count, "faults": self.faulty})

    async def _unknown(self, request: web.Request) -> web.Response:
        posts = ", ".join([*(f"/v1{path}" for path in PATHS.values()), FILES, BATCHES])
        there = f"POST {posts}, GET /v1/models, GET /health"
        wrong = f"there is no {request.method} {request.path} here, only {there}"
        return error_response(wrong, 404, code="unknown_url")
