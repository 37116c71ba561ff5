"""Relays the model requests of an agent: the bytes pass unchanged, the key is ours, each answer is recorded.

An agent speaks Chat Completions, Responses or Messages. Its requests have the same retries, concurrency
limit, budget and ledger as those of any run. An answer is in the journal, whole, before the agent has its
first byte; a run that goes on gives an equal request the recorded answer, in whatever order they come.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from toolassay.episodes.call_formats import CallFormat, Message
from toolassay.episodes.episode import training_messages
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.dialects import DIALECTS
from toolassay.models.errors import TIME_LIMIT
from toolassay.models.options import PATHS, Api
from toolassay.models.refused_parameters import Refusals
from toolassay.models.response_body import read_error, read_response
from toolassay.models.retry import failed_answer
from toolassay.models.transports import AiohttpTransport
from toolassay.runs.items import Ask

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

WIRE = "wire"
"""Field of a recorded answer's `extra` with the exchange as it was on the wire (`WireExchange`)."""
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
# Headers of an agent that go on to the model; not its token, which replaces the key.
_PASSED = ("accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta")
_AGENTS_OWN = (400, 404, 405, 409, 413, 422)
"""Statuses that are an answer to what the agent sent; every other failure has another cause."""


class WireRequest(msgspec.Struct, frozen=True):
    """A request as an agent sent it: its API, body and headers."""

    api: Api
    body: str
    headers: Mapping[str, str]


class WireExchange(msgspec.Struct, frozen=True):
    """A request and its answer as they were on the wire, without credentials.

    Attributes:
        api: The API.
        request: Body of the request.
        type: Content-Type of the answer.
        answer: Its body, of a stream with all events.
    """

    api: Api
    request: str
    type: str
    answer: str


def relayed_conversation(
    answers: Iterable[ChatResponse], form: CallFormat
) -> tuple[list[Message], list[Any]]:
    """The longest conversation of an agent with its models, and the tools that it offered.

    Both are as in OpenAI's chat requests; empty if there is none that can be read.

    Args:
        answers: The recorded answers.
        form: How calls are written.
    """
    longest = list[Message]()
    offered = list[Any]()
    for answer in answers:
        with suppress(LookupError, TypeError, ValueError, AttributeError):  # a body may be anything
            wire = msgspec.convert(answer.extra[WIRE], WireExchange)
            chat = DIALECTS[wire.api].received(json.loads(wire.request))
            if len(chat["messages"]) >= len(longest):
                whole = [*chat["messages"], form.read(answer, 0).message]
                longest = training_messages(whole, form)
                offered = chat.get("tools") or []
    return longest, offered


class _Unchanged(Refusals):
    """What a server refuses of an agent's request, which is not sent again in another form."""

    def search(self, *arguments: Any, **more: Any) -> Any:
        return ()


def relay_options(options: ModelOptions) -> ModelOptions:
    """The options of a client that sends what an agent wrote (`ChatRequest.task`, a `WireRequest`)."""
    return replace(options, make_transport=_WireTransport, refusals=_Unchanged())


class _WireTransport:
    """A connection for each API that the agent speaks."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        # An agent may stream, so connections are closed as those of streams are (`ModelOptions.headers`).
        self._apis = {api: _OneApi(name, replace(options, api=api, stream=True)) for api in PATHS}

    async def send(self, request: ChatRequest) -> ChatResponse:
        return await self._apis[request.task.api].send(request)

    async def close(self) -> None:
        for api in self._apis.values():
            await api.close()


class _OneApi(AiohttpTransport):
    """Sends the bytes of an agent, and keeps those of the answer."""

    def _encoded(self, request: ChatRequest) -> tuple[bytes, Mapping[str, str]]:
        return request.task.body.encode(), request.task.headers

    async def send(self, request: ChatRequest) -> ChatResponse:
        answer = await super().send(request)
        wire = WireExchange(request.task.api, request.task.body, **answer.extra[WIRE])
        return msgspec.structs.replace(answer, extra={WIRE: msgspec.to_builtins(wire)})

    async def _read(self, response: aiohttp.ClientResponse, started: float) -> ChatResponse:
        chunks = response.content.iter_any()
        charset = response.charset
        if response.status >= 400:
            text = await read_error(chunks, charset)
            wait = response.headers.get("Retry-After")
            endpoint = self._options.shown_url
            error = failed_answer(response.status, text, wait, endpoint)
            error.body = text
            if error.outcome == "refused":  # the agent has to see what a content filter says
                error.outcome = "provider error"
            error.stops_run = error.stops_run and response.status not in _AGENTS_OWN
            raise error
        if response.status >= 300:
            return await super()._read(response, started)
        raw = bytearray()

        async def recorded_chunks() -> AsyncIterator[bytes]:
            async for chunk in chunks:
                raw.extend(chunk)
                yield chunk

        dialect = DIALECTS[self._options.dialect]
        answer = await read_response(recorded_chunks(), started, response.content_type, charset, dialect)
        wire = {"type": response.headers.get("Content-Type", ""), "answer": raw.decode(errors="replace")}
        return msgspec.structs.replace(answer, extra={WIRE: wire})


class ModelRelay:
    """The model requests of one agent about one request of the folder.

    Args:
        ask: Records the answers, and sends what is not recorded; its second argument is the model's name.
        seconds: Time of the agent and its answers together; waits for the server and retries do not count.
        named: Called with the name of a model before it is asked.

    Attributes:
        answers: Number of answers.
        failure: Why a request has no answer, through no fault of the agent; None if one that was sent later
            has one, unless the failure ends the agent.
        over: Set when the agent must end, because its time is over, or nothing more is sent for its item.
    """

    def __init__(self, ask: Ask, seconds: float, named: Callable[[str], None]) -> None:
        self._ask = ask
        self._seconds = seconds
        self._named = named
        # Requests arrive in tasks of the server, and belong to the item whose task this is.
        self._context = copy_context()
        self._tasks = dict[asyncio.Task[ChatResponse], float]()
        self._waited = 0.0
        self._began = time.monotonic()
        self.answers = 0
        self.failure: Exception | None = None
        self.over = asyncio.Event()
        self._is_closed = False

    @property
    def seconds_left(self) -> float:
        """What is left of the agent's time."""
        now = time.monotonic()
        on_the_way = now - min(self._tasks.values(), default=now)
        return self._seconds - (now - self._began - self._waited - on_the_way)

    async def answer(self, request: Request) -> Response:
        """Answer an HTTP request of the agent."""
        from starlette.responses import Response

        path = f"/{request.path_params['path']}"
        api: Api | None = next((api for api in PATHS if PATHS[api] == path), None)
        if api is None:
            return _refused(404, f"there is only POST {', '.join(PATHS.values())}")
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        try:
            wire = WireRequest(api, (await request.body()).decode(), headers)
            body = json.loads(wire.body)
            model = str(body["model"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return _refused(400, "the body is not a JSON object with a model")
        limit = next((body[name] for name in _LIMITS if isinstance(body.get(name), int)), None)
        try:
            sent = await self.send(wire, model, limit)
        except ModelError as error:
            # The agent's own client need not try again: this was tried as often as any request of a run.
            headers = {"x-should-retry": "false", "Content-Type": "application/json"}
            if error.status and error.body:
                return Response(error.body, error.status, headers)
            return _refused(error.status or 502, str(error), headers)
        except Exception as error:
            # Else the agent would get a bare status 500, without the reason.
            return _refused(502, str(error))
        return Response(sent.answer, headers={"Content-Type": sent.type})

    async def send(self, wire: WireRequest, model: str, limit: int | None = None) -> WireExchange:
        """Send a request, or take its recorded answer.

        Raises:
            ModelError: There is no answer.
        """
        if self._is_closed:
            raise ModelError("the request has ended", outcome="not run")
        parameters = {} if limit is None else {"max_tokens": limit}
        message = {"role": "user", "content": wire.body}
        seconds_left = max(0.1, self.seconds_left)
        failure = self.failure
        request = ChatRequest([message], parameters, seconds_left, task=wire, role="agent")

        async def asked() -> ChatResponse:
            self._named(model)
            return await self._ask.in_any_order(request, model)

        task = asyncio.get_running_loop().create_task(asked(), context=self._context.copy())
        began = self._tasks[task] = time.monotonic()
        try:
            response = await task
        except Exception as error:
            is_own = isinstance(error, ModelError) and error.status in _AGENTS_OWN and not error.transient
            is_late = isinstance(error, ModelError) and error.kind == TIME_LIMIT
            self._seconds -= seconds_left if is_late else 0
            self._has_failed(None if is_own or is_late else error, failure)
            if is_late or not isinstance(error, ModelError) or error.stops_run or not error.settles:
                self.over.set()
            raise
        finally:
            del self._tasks[task]
            self._waited += time.monotonic() - began
        self._has_failed(None, failure)
        self.answers += 1
        self._waited -= min(response.seconds or 0.0, time.monotonic() - began)
        return msgspec.convert(response.extra[WIRE], WireExchange)

    def _has_failed(self, error: Exception | None, failure_before: Exception | None) -> None:
        """Note how a request ended that was sent when a failure was `failure_before`.

        An answer makes up for that failure only, not for one of a request that was sent at the same time.
        """
        if not self.over.is_set() and (error is not None or self.failure is failure_before):
            self.failure = error

    async def close(self) -> None:
        """Cancel what is on the way; nothing is sent any more."""
        self._is_closed = True
        for task in (left := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _refused(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"error": {"message": reason}}, status, headers)
