"""`Client`: sends requests to a model with retries, a concurrency limit and a meter."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Any

from msgspec import structs

from toolassay.models import retry
from toolassay.models.address import VersionPath
from toolassay.models.concurrency import Limiter, Permit, limiter_of, waiting
from toolassay.models.dialects import DIALECTS
from toolassay.models.errors import RESET, UNREACHABLE, ModelError
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import Attempt, ChatModel, ChatRequest, ChatResponse, Meter, NoMeter, Transport
from toolassay.models.redaction import without
from toolassay.models.refused_parameters import EXTRA, Change, Refusals, named_by, plain_messages
from toolassay.models.retry import over_time_limit, timed_out
from toolassay.models.structured_output import PARAMETER, SchemaForms
from toolassay.models.wire_format import change_texts, parameters_of

_LONG_WAIT = 5.0  # seconds; shorter waits are not reported
_IGNORED = (
    "none of the first 10 answers fits the schema that was sent: the server may ignore response_format "
    "(see docs/servers.md, Structured output)"
)
_FIGURES = ("prompt_tokens", "completion_tokens", "first_token_seconds", "cached_tokens", "reasoning_tokens")
"""What an attempt reports of its answer or error."""
_SURELY_NO_WORD = 16
"""Minimum length of a credential to redact in answers: a short key such as EMPTY may be a word of one."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """One attempt in flight.

    Attributes:
        request: The request.
        number: Number of the attempt, from 1.
        parameters: Parameters as they were sent.
        path: Version path of the URL.
        permit: Permit of the limiter.
        queued: Seconds it waited for the permit.
        time: When it was sent, by `time.monotonic`.
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

    Retries transient failures (`toolassay.models.retry`); a request that waits for its next attempt does not
    count against the concurrency limit. A default that the endpoint refuses is omitted or renamed from then
    on (`toolassay.models.refused_parameters`), and a JSON schema is sent in the form that the endpoint
    accepts (`toolassay.models.structured_output`).

    Args:
        name: Name of the model at the endpoint.
        options: Address, credentials and time-outs.
        meter: Called before and after every attempt; may forbid one [default: no limits].
        transport: Sends a request [default: by `options.client`].
        limiter: Limits concurrency [default: the shared limiter of the endpoint].
        breaker: Detects a dead server [default: a new `Breaker`].
        sleep: Waits between attempts, in seconds.

    Attributes:
        limiter: Limits concurrency.
        answers: Number of answers so far.
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
        self.limiter = limiter or limiter_of(options.base_url, options.connections)
        self._refusals = options.refusals or Refusals()
        self._schemas = options.schemas or SchemaForms()
        self._paths = options.version_path
        if transport is None and self._paths is None and not options.is_azure:
            self._paths = VersionPath(options.address)
        options = replace(options, refusals=self._refusals, version_path=self._paths, schemas=self._schemas)
        options = replace(options, api=options.dialect)
        self._options = options
        self._secrets = options.secrets
        pairs = options.pairs
        keys = (text for text in options.credentials if text not in pairs)
        self._credentials = [*(text for text in keys if len(text) >= _SURELY_NO_WORD), *pairs]
        self._meter = meter or NoMeter()
        if transport is None and options.make_transport is not None:
            transport = options.make_transport(name, options)
        elif transport is None:
            from toolassay.models.transports import AiohttpTransport, OpenAITransport

            over_http = OpenAITransport if options.client == "openai" else AiohttpTransport
            transport = over_http(name, options)
        self._transport: Transport = transport
        self._breaker = breaker or retry.Breaker()
        self._sleep = sleep
        # One request finds out what the endpoint refuses; those of a batch, which wait for each other, do so
        # together.
        self._search = asyncio.Semaphore(sys.maxsize if options.batch else 1)
        self.answers = 0
        self._tell = options.tell
        self._reported_wait = 0.0

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request.

        If the endpoint refuses the request, it is sent again without optional parameters; other requests that
        it refuses wait for what is found.

        Raises:
            ModelError: All attempts failed, the failure is permanent, the meter forbids the attempt, or the
                run ended while the request waited.
        """
        tries = retry.Tries(self._options.max_tries)
        answers = self.answers
        numbers = count(1)
        lacks = DIALECTS[self._options.dialect].lacks & request.parameters.keys()
        self._refusals.learn(dict.fromkeys(lacks - self._options.chosen(request.parameters)))
        while True:
            parameters = dict[str, Any]()
            is_plain = False
            request_time = time.monotonic()
            try:
                with waiting():
                    permit = await self.limiter.acquire()
                parameters = parameters_of(request, self._options)
                is_plain = EXTRA in self._refusals.known
                queued = time.monotonic() - request_time
                return await self._attempt(request, parameters, next(numbers), permit, queued)
            except ModelError as error:
                failure = error
            if failure.refuses_request:
                with waiting(failure):
                    await self._search.acquire()
                try:
                    is_known = is_plain is not (EXTRA in self._refusals.known)
                    if is_known or parameters_of(request, self._options) != parameters:
                        continue
                    return await self._without_refused(request, parameters, numbers, failure)
                except ModelError as error:
                    failure = error
                finally:
                    self._search.release()
            if failure.is_resolved:
                continue
            tries_made = tries.number
            if not tries.again(failure, others_answered=self.answers > answers):
                raise failure
            answers = self.answers
            self._report_wait(failure)
            with waiting(failure):
                await self._sleep(retry.retry_delay(tries_made, failure))

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    def facts(self) -> Mapping[str, Any]:
        """For the manifest: the concurrency limit, its changes, and the form of structured output."""
        limiter = self.limiter
        schemas = self._schemas.facts
        schema_facts = {"structured_output": schemas} if schemas["answers"] else {}
        if self._options.batch:
            return {"concurrency": f"batch ({self._options.batch})", **schema_facts}
        return {
            "concurrency": "adaptive" if limiter.adaptive else limiter.limit,
            "limits": [list(change) for change in limiter.history],
            **schema_facts,
        }

    async def _without_refused(
        self, request: ChatRequest, sent: Mapping[str, Any], numbers: Iterator[int], refusal: ModelError
    ) -> ChatResponse:
        """Find out what the endpoint refuses, by trying.

        Raises:
            ModelError: The refusal, if no form of the request is accepted, or a failure of another kind.
        """
        own_parameters = self._options.chosen(sent) | ({PARAMETER} if self._schemas.required else set())
        named_parameters = named_by(refusal.body, sent)
        changes: Iterable[Change] = ()
        is_in_messages = frozenset(sent) in self._refusals.accepted and not named_parameters
        if not is_in_messages:
            changes = self._refusals.search(sent, own_parameters, named_parameters)
        if plain_messages(request.messages) != [*request.messages] and EXTRA not in self._refusals.known:
            changes = chain([{EXTRA: None}], changes)
        for change in changes:
            changed_request = replace(request, change=change)
            with waiting(refusal):
                permit = await self.limiter.acquire()
            try:
                parameters = parameters_of(changed_request, self._options)
                response = await self._attempt(changed_request, parameters, next(numbers), permit, 0.0)
            except ModelError as error:
                if not error.refuses_request:
                    raise
                named_parameters |= (news := named_by(error.body, sent))
                refusal = error if news & own_parameters else refusal
            else:
                self._refusals.learn(change)
                return response
        if not is_in_messages and (
            fixed := ", ".join(sorted(own_parameters & named_parameters or own_parameters))
        ):
            refusal.args = (f"{refusal} (never omitted, because you set it: {fixed})",)
        raise refusal

    async def _attempt(
        self, request: ChatRequest, parameters: dict[str, Any], number: int, permit: Permit, queued: float
    ) -> ChatResponse:
        try:
            self._meter.before(self.name, replace(request, parameters=parameters))
        except BaseException:
            # A permit that is not released lowers the limit for the rest of the run.
            self.limiter.release(permit, unknown=True)
            raise
        path = self._paths.path if self._paths else ""
        sent = _Sent(request, number, parameters, path, permit, queued, time.monotonic())
        own_timeout = request.timeout
        total = self._options.total_timeout
        timer = asyncio.timeout(total if own_timeout is None else min(own_timeout, total))
        try:
            try:
                async with timer:
                    response = await self._transport.send(request)
            except TimeoutError:
                if not timer.expired():
                    raise
                if own_timeout is None or own_timeout > total:
                    raise timed_out(total) from None
                raise over_time_limit(own_timeout) from None
        except ModelError as error:
            error.hide(self._secrets)  # servers repeat a wrong key in their error message
            if error.outcome == "refused":  # a prompt that a content filter stopped counts as answered
                refusal = ChatResponse(str(error), "content_filter", refused=True)
                return self._answered(sent, refusal, error.status)
            repeat = self._paths is not None and self._paths.learn(path, error.status)
            if path and error.status == 404 and self._paths and not self._paths.is_found:
                error.args = (f"{error} (also tried under {path})",)
            error.is_resolved = repeat or self._learn(error, parameters)
            try:
                self._judge(error, sent.time)
            finally:
                self.limiter.release(permit, error)
                self._book(sent, error.kind, None if error.may_cost else error.status, error)
            raise
        except BaseException as error:
            # A cancelled request also gives its permit back, and is booked: the server may charge for it.
            self.limiter.release(permit, unknown=True)
            self._book(sent, "cancelled" if isinstance(error, asyncio.CancelledError) else "failed")
            raise
        return self._answered(sent, response, 200)

    def _learn(self, error: ModelError, sent: Mapping[str, Any]) -> bool:
        """Learn from an error about the form of a schema; whether to send the request again.

        Such an error says nothing about the server's load, whatever its status, so it is not transient. If a
        schema is required and no form is left, the error ends the run.
        """
        complaint = without(self._credentials, error.body)
        is_schema = self._schemas.learn(complaint, sent, error.status)
        if is_schema and self._schemas.missing:
            error.args = (
                f"--structured true: the server accepts no JSON schema for answers ({error.kind}); "
                "use --structured auto or false",
            )
            error.transient = False
            error.stops_run = True
            return False
        error.transient = error.transient and not is_schema
        return is_schema

    def _answered(self, sent: _Sent, response: ChatResponse, status: int | None) -> ChatResponse:
        """Redact an answer, learn from it and report it to the meter."""
        # A server that echoes requests may have put a key into its answer.
        response = change_texts(response, partial(without, self._credentials))
        if sent.number > 1:
            response = structs.replace(response, attempts=sent.number)
        if status == 200:
            self._refusals.accepted.add(frozenset(sent.parameters))
        self.limiter.release(sent.permit)
        self.answers += 1
        self._breaker.answered()
        # An answer of reasoning alone does not show whether the server enforces the schema.
        silent = response.refused or response.is_only_thinking
        if not silent and not isinstance(self._transport, Registered):
            self._schemas.answered(sent.parameters, response.text, response.finish_reason)
            if self._tell is not None and self._schemas.ignored:
                self._tell(_IGNORED)
        if self._paths is not None:
            self._paths.learn(sent.path, status or 200)
        self._book(sent, "refused" if response.refused else "answered", status, response)
        return response

    def _report_wait(self, error: ModelError) -> None:
        """Report a long `Retry-After`; again only if a later one is at least half as long again."""
        wait_asked = error.retry_after or 0.0
        if self._tell is None or wait_asked < _LONG_WAIT or wait_asked < 1.5 * self._reported_wait:
            return
        self._reported_wait = wait_asked
        longest = retry.LONGEST_RETRY_AFTER
        most = f"; waiting {longest:.0f} s" if wait_asked > longest else ""
        self._tell(f"the server asks to wait {wait_asked:.0f} s before the next attempt ({error.kind}){most}")

    def _book(
        self,
        sent: _Sent,
        outcome: str,
        status: int | None = None,
        result: ChatResponse | ModelError | None = None,
    ) -> None:
        seconds = time.monotonic() - sent.time
        if isinstance(result, ChatResponse) and result.seconds is not None:
            seconds = result.seconds  # a stream's connection may stay open after the last byte
        figures: dict[str, Any] = {name: getattr(result, name, None) for name in _FIGURES}
        flags = {"cut_off": "is_cut_off", "only_thinking": "is_only_thinking"}
        figures |= {flag: getattr(result, name, False) for flag, name in flags.items()}
        request = sent.request
        queued = sent.queued
        self._meter.after(
            Attempt(
                self.name,
                request.role,
                request.item,
                sent.number,
                outcome,
                status,
                seconds=seconds,
                queued_seconds=queued,
                **figures,
            )
        )

    def _judge(self, error: ModelError, sent_at: float) -> None:
        """Decide whether a failure ends the run; sets `stops_run` and `transient`.

        Raises:
            ModelError: The breaker found that the server is down.
        """
        if error.kind == UNREACHABLE and not self._breaker.responded:
            # Unreachable from the first request on: the address is probably wrong, so a retry will not help.
            error.transient = False
            error.stops_run = True
            return
        if error.kind not in (UNREACHABLE, RESET) and not error.stops_run:
            self._breaker.answered()
        if error.status == 403 and not self.answers:
            # Before the first answer a 403 means the key. After one it concerns a single request: moderation,
            # a region, a tool.
            error.stops_run = True
        if self._breaker.failed(error, sent_at):
            raise ModelError(
                f"the server is down ({error}); all answers are kept, and the same command continues the run",
                kind=error.kind,
                stops_run=True,
            ) from error


class Registered:
    """A registered model as a transport: each call of `complete` is one attempt."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Call the model once."""
        return await self._model.complete(request)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()
