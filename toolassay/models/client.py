"""A model as a run asks it: one attempt after the other, within the limit it bears, all in the books."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolassay.models import retry
from toolassay.models.adaptive_concurrency import Permit
from toolassay.models.address import VersionPath
from toolassay.models.concurrency_limiter import Limiter, limiter_of, waiting
from toolassay.models.errors import RESET, UNREACHABLE, ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import Attempt, ChatModel, ChatRequest, ChatResponse, Meter, NoMeter, Transport
from toolassay.models.redaction import without
from toolassay.models.refused_parameters import Refusals
from toolassay.models.retry import over_time_limit, timed_out
from toolassay.models.structured_output import PARAMETER, SchemaForms, schema_of
from toolassay.models.wire_format import parameters_of

_LONG_WAIT = 5.0  # seconds; a shorter one needs no words
_IGNORED = (
    "none of the first 10 answers fits the schema that was sent: the server may ignore response_format "
    "(see docs/servers.md, Structured output)"
)
_SURELY_NO_WORD = 16
"""Characters of a credential that no answer holds by chance; a key such as EMPTY may be a word of it."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """One attempt on its way.

    Attributes:
        request: what was sent.
        number: of the attempt, from 1.
        parameters: the request's as they were sent.
        path: the version path it went to.
        permit: the limiter's.
        queued: seconds it waited for that.
        time: when it was sent, by `time.monotonic`.
    """

    request: ChatRequest
    number: int
    parameters: Mapping[str, Any]
    path: str
    permit: Permit
    queued: float
    time: float


class Client:
    """The model `name` at the endpoint of `options`.

    Transient failures are tried again (see `toolassay.models.retry`); while a request waits for its next
    try it takes no room from others. A parameter that the endpoint refuses is left out, or renamed, from then
    on (see `toolassay.models.refused_parameters`); a schema for the answer is sent in the form that it takes
    (see `toolassay.models.structured_output`). `meter` is called before and after every attempt.

    Args:
        name: the model, as the endpoint calls it.
        options: where it is and how to talk to it.
        meter: keeps the books; may forbid an attempt.
        transport: who sends; by default what `options.client` says.
        limiter: who limits; by default the one of the endpoint.
        sleep: how to wait between tries.
    """

    def __init__(
        self,
        name: str,
        options: ModelOptions,
        meter: Meter | None = None,
        *,
        transport: Transport | None = None,
        limiter: Limiter | None = None,
        breaker: retry.Breaker | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = name
        self.limiter = limiter or limiter_of(options.base_url, options.connections, options.timeout)
        self._refusals = options.refusals or Refusals()
        self._schemas = options.schemas or SchemaForms()
        self._paths = options.version_path
        if transport is None and self._paths is None and not options.is_azure:
            self._paths = VersionPath(options.address)
        options = replace(options, refusals=self._refusals, version_path=self._paths, schemas=self._schemas)
        self._options = options
        self._secrets = options.secrets
        pairs = options.pairs
        keys = (text for text in options.credentials if text not in pairs)
        self._credentials = [*(text for text in keys if len(text) >= _SURELY_NO_WORD), *pairs]
        self._meter = meter or NoMeter()
        self._transport = transport or _transport(name, options)
        self._breaker = breaker or retry.Breaker()
        self._sleep = sleep
        self._heard = False
        self._answers = 0
        self._tell = options.tell
        self._told_wait = 0.0

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request.

        Raises:
            ModelError: no answer after all tries, a failure that trying again cannot mend, a meter that
                forbids the attempt, or a run that ended while this waited for its turn.
        """
        tries = retry.Tries(self._options.max_tries)
        answers = self._answers
        mended = 0  # attempts that failed for a parameter: they are no tries
        while True:
            number = tries.number + mended
            try:
                response = await self._attempt(request, number)
            except ModelError as error:
                if error.mended:
                    mended += 1
                    continue
                tried = tries.number
                if not tries.again(error, others_answered=self._answers > answers):
                    raise
                answers = self._answers
                self._tell_wait(error)
                with waiting(error):
                    await self._sleep(retry.wait_before(tried, error))
            else:
                return response if number == 1 else replace(response, attempts=number)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._transport.close()

    def facts(self) -> Mapping[str, Any]:
        """For the manifest: how many requests were in flight at most, and how that number changed."""
        limiter = self.limiter
        return {
            "concurrency": "adaptive" if limiter.adaptive else limiter.limit,
            "limits": [list(change) for change in limiter.history],
            **({"structured_output": facts} if (facts := self._schemas.facts)["answers"] else {}),
        }

    async def _attempt(self, request: ChatRequest, number: int) -> ChatResponse:
        asked = time.monotonic()
        with waiting():
            permit = await self.limiter.acquire()
        queued = time.monotonic() - asked
        parameters = parameters_of(request, self._options)
        try:
            self._meter.before(self.name, replace(request, parameters=parameters))
        except BaseException:
            self.limiter.release(permit, unknown=True)
            raise
        path = self._paths.path if self._paths else ""
        sent = _Sent(request, number, parameters, path, permit, queued, time.monotonic())
        try:
            response = await self._send(request)
        except ModelError as error:
            error.hide(self._secrets)  # servers repeat a wrong key in their complaint
            if error.outcome == "refused":  # a content filter stopped the prompt: that is an answer
                refusal = ChatResponse(str(error), "content_filter", refused=True)
                return self._answered(sent, refusal, error.status)
            repeat = self._paths is not None and self._paths.learn(path, error.status)
            if path and error.status == 404 and self._paths and not self._paths.found:
                error.args = (f"{error} (nor is there an answer under {path})",)
            error.mended = repeat or self._learn(error, parameters)
            try:
                self._judge(error, sent.time)
            finally:
                self.limiter.release(permit, error)
                self._book(sent, error.kind, error.status, error)
            raise
        except BaseException as error:
            self.limiter.release(permit, unknown=True)
            self._book(sent, "cancelled" if isinstance(error, asyncio.CancelledError) else "failed")
            raise
        return self._answered(sent, response, 200)

    def _learn(self, error: ModelError, sent: Mapping[str, Any]) -> bool:
        """Whether a failure is about a parameter, or the form of a schema, that is now out of the way.

        It says nothing about the load of the server, whatever its status. Where a schema is required and no
        form is left, it ends the run.
        """
        complaint = without(self._credentials, error.body)
        is_schema = self._schemas.learn(complaint, sent, error.status)
        if is_schema and self._schemas.missing:
            error.args = (
                f"--structured true: the server takes no JSON schema for answers ({error.kind}); "
                "use --structured auto or false",
            )
            error.transient, error.stops_run = False, True
            return False
        names = [name for name in sent if name != PARAMETER or schema_of(sent[name]) is None]
        learnt = is_schema or self._refusals.learn(complaint, names, error.status)
        error.transient = error.transient and not learnt
        return learnt

    async def _send(self, request: ChatRequest) -> ChatResponse:
        """One attempt, within its time."""
        own, total = request.timeout, self._options.total_timeout
        is_own = own is not None and own <= total
        timer = asyncio.timeout(own if is_own else total)
        try:
            async with timer:
                return await self._transport.send(request)
        except TimeoutError:
            if not timer.expired():
                raise
            raise (over_time_limit(own) if own is not None and is_own else timed_out(total)) from None

    def _answered(self, sent: _Sent, response: ChatResponse, status: int | None) -> ChatResponse:
        """Learn from an answer, and write it into the books."""
        response = self._without_credentials(response)
        self.limiter.release(sent.permit)
        self._heard = True
        self._answers += 1
        self._breaker.heard()
        # One that only thought says nothing of whether the server holds answers to the schema.
        silent = response.refused or response.is_only_thinking
        if not silent and not isinstance(self._transport, Registered):
            self._schemas.answered(sent.parameters, response.text, response.finish_reason)
            if self._tell is not None and self._schemas.ignored:
                self._tell(_IGNORED)
        if self._paths is not None:
            self._paths.learn(sent.path, status or 200)
        self._book(sent, "refused" if response.refused else "answered", status, response)
        return response

    def _tell_wait(self, error: ModelError) -> None:
        """Say that the server asks for a long wait; again only where it asks for a longer one."""
        asked = error.retry_after or 0.0
        if self._tell is None or asked < _LONG_WAIT or asked < 1.5 * self._told_wait:
            return
        self._told_wait = asked
        longest = retry.LONGEST_RETRY_AFTER
        most = f"; {longest:.0f} s are waited" if asked > longest else ""
        self._tell(f"the server asks to wait {asked:.0f} s before the next try ({error.kind}){most}")

    def _without_credentials(self, response: ChatResponse) -> ChatResponse:
        """The answer as it may be written down: a server that echoes requests may have put a key into it."""
        hidden = self._credentials
        calls = tuple(
            replace(call, name=without(hidden, call.name), arguments=without(hidden, call.arguments))
            for call in response.tool_calls
        )
        text, reasoning = without(hidden, response.text), without(hidden, response.reasoning)
        return replace(response, text=text, reasoning=reasoning, tool_calls=calls)

    def _book(
        self,
        sent: _Sent,
        outcome: str,
        status: int | None = None,
        used: ChatResponse | ModelError | None = None,
    ) -> None:
        seconds = time.monotonic() - sent.time
        answer = used if isinstance(used, ChatResponse) else None
        if answer is not None and answer.seconds is not None:
            seconds = answer.seconds  # a stream's connection may stay open after the last byte
        self._meter.after(
            Attempt(
                self.name,
                sent.request.role,
                sent.request.item,
                sent.number,
                outcome,
                status,
                used.prompt_tokens if used else None,
                used.completion_tokens if used else None,
                seconds,
                answer.first_token_seconds if answer else None,
                answer.cached_tokens if answer else None,
                answer.reasoning_tokens if answer else None,
                sent.queued,
                cut_off=bool(answer and answer.is_cut_off),
                only_thinking=bool(answer and answer.is_only_thinking),
            )
        )

    def _judge(self, error: ModelError, sent: float) -> None:
        """See in one failure what it means for the run."""
        if error.kind == UNREACHABLE and not self._heard:
            # Nobody has answered yet and nobody is listening: the address is wrong, not the weather.
            error.transient, error.stops_run = False, True
            return
        if error.kind not in (UNREACHABLE, RESET) and not error.stops_run:
            self._heard = True
            self._breaker.heard()
        if error.status == 403 and not self._answers:
            error.stops_run = True  # later on it is about one request: moderation, a region, a tool
        if self._breaker.failed(error, sent):
            raise ModelError(
                f"the server is gone ({error}); all answers are kept, the same command continues",
                kind=error.kind,
                stops_run=True,
            ) from error


class Registered:
    """A registered model in the place of a transport: each of its answers is an attempt."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Ask the model."""
        return await self._model.complete(request)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _transport(name: str, options: ModelOptions) -> Transport:
    if options.client == "openai":
        from toolassay.models.openai_transport import OpenAITransport

        return OpenAITransport(name, options)
    from toolassay.models.aiohttp_transport import AiohttpTransport

    return AiohttpTransport(name, options)
