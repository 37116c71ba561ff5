"""`Batches`: gathers the requests of all items in progress and sends them as batches.

It is between the clients of a run and its ledger. A client asks it for the answer to one request, as it
would ask a server, and waits. When every item in progress waits, the requests are submitted. What comes back
is handed to the clients; their retries, and items with a further request, make the next batch.

With `--batch vllm` the user runs vLLM's `run_batch`, on whatever machine has the GPU; the next start of the
run reads the output file.
"""

from __future__ import annotations

import asyncio
import hashlib
import shlex
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from toolassay.console.screen import WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import HALF_PAIRS, atomic_target
from toolassay.models import Attempt, ChatRequest, ChatResponse, ModelError, ModelOptions
from toolassay.models.concurrency import QUEUE_TURN, QueueTurn, waiting
from toolassay.models.errors import UNREACHABLE
from toolassay.models.redaction import without
from toolassay.models.wire_format import encoded, parameters_of
from toolassay.runs.batches import MOST_REQUESTS
from toolassay.runs.batches.openai_batches import TOO_MANY_TOKENS, BatchProgress, OpenAIBatches
from toolassay.runs.batches.state import (
    DROPPED,
    STATE,
    Batch,
    BatchRequest,
    BatchState,
    Endpoint,
    ResultLine,
    parse_line,
    request_line,
)
from toolassay.runs.budget import completion_limit, size_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import ASKED, Journal, LineAddress
from toolassay.runs.ledger import Ledger, booked
from toolassay.runs.manifest import LEDGER

MOST_BYTES = 200_000_000
"""Bytes of an input file, by OpenAI's documentation."""
UNLIMITED = 10**9
"""Concurrent requests of a client: those of a batch do not wait for each other."""
# Seconds between checks of a batch: the first and the longest pause. Each is 1.5 times the last.
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 60.0
_REPORT = 30.0  # seconds between two lines about the progress of a batch
_AT_ONCE = 256  # answers returned before the event loop may do something else, e.g. handle Ctrl-C
_SHORTEST_SECRET = 16  # characters; a shorter one, such as EMPTY, may be a word of an answer
_REFUSED = (400, 404)  # statuses of a batch that the server will never create, e.g. because its file is gone


@dataclass(frozen=True)
class BatchLimits:
    """Limits of one batch.

    Attributes:
        requests: Maximum number of requests.
        size: Maximum bytes of its input file.
    """

    requests: int = MOST_REQUESTS
    size: int = MOST_BYTES


@dataclass(frozen=True)
class _Waiter:
    """A request that an item waits for.

    Attributes:
        turn: Its item.
        model: Name of the model.
        request: The request, with its parameters as they are sent.
        address: Of its answer in the journal.
        answered: Resolved when there is a result.
    """

    turn: QueueTurn | None
    model: str
    request: ChatRequest
    address: LineAddress
    answered: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batches:
    """The batches of one run: transport of its models, meter of their clients, and counter of its items.

    Args:
        run_folder: Folder of the run; its state is opened by `open`.
        options: Endpoint and kind of batch.
        meter: The ledger of the run.
        screen: Shows what is submitted and how far it is.
        cancel: Cancel open batches, keep what they have answered, and submit nothing.
        limits: Limits of one batch.
        quiet: Seconds without a change after which requests are submitted although some items do something
            else, such as waiting for one of the others.

    Raises:
        UsageError: The options do not go with this kind of batch.
    """

    def __init__(
        self,
        run_folder: Path,
        options: ModelOptions,
        meter: Ledger,
        screen: Screen,
        *,
        cancel: bool = False,
        limits: BatchLimits | None = None,
        quiet: float = 30.0,
    ) -> None:
        assert options.batch is not None
        if options.batch == "vllm" and options.secret_fields:
            raise UsageError(
                f"--batch vllm would write the field {options.secret_fields[0]} of --extra_body to a file",
                fix="remove it: run_batch needs no key",
            )
        self._folder = run_folder
        self._options = options
        self._kind = options.batch
        self._meter = meter
        self._say = screen.say
        self._cancel = cancel
        self._limits = limits or BatchLimits()
        self._quiet = quiet
        self._endpoint = Endpoint.of(options)
        keys = [text for text in options.credentials if len(text) >= _SHORTEST_SECRET]
        self._secrets = [*keys, *options.pairs]
        self._booked: set[str] = set()
        self._waiting: dict[str, _Waiter] = {}
        self._pending: dict[str, int] = {}  # bytes of those of `_waiting` that no open batch has, in order
        self._turns: Counter[QueueTurn | None] = Counter()  # items that wait, with their requests
        self._busy = 0
        self._is_held = False
        self._driver: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._service: OpenAIBatches | None = None
        self._reported: dict[int, tuple[float, BatchProgress]] = {}

    def options(self, model_options: ModelOptions) -> ModelOptions:
        """The options for the client of a model: it asks this object, without a limit or time-out."""
        transport = partial(_BatchTransport, self)
        return replace(
            model_options, make_transport=transport, connections=UNLIMITED, total_timeout=float("inf")
        )

    @contextmanager
    def open(self, journal: Journal, beside: Iterable[Path] = ()) -> Iterator[None]:
        """Open the state of the run, and look at the batches of earlier starts.

        What these may still answer is reserved in the ledger, which must be open.

        Args:
            journal: Of the run; it has the answers that were read.
            beside: Folders of other trials, whose batches count in the budget, too.

        Raises:
            UsageError: An open batch was sent elsewhere, or is of another kind.
            ToolassayError: The state cannot be written, or the server cannot be reached.
        """
        state = self._state = BatchState(self._folder)
        try:
            for batch in state.open_batches:
                self._check(batch)
            if state.open_batches:
                run_coroutine(self._resume())
            elif self._cancel:
                self._say(f"{WARNING}this run has no open batch")
            self._booked = _booked_ids(self._folder)
            self._commit(state, self._booked)
            for folder in beside:
                with BatchState(folder, read_only=True) as other:
                    self._commit(other, _booked_ids(folder))
            earlier = state.failures(self._booked)
            yield
            # No item waits for these: the request's body changed once the refused parameters were known.
            for custom_id in set(earlier) - self._booked:
                self._book_failure(custom_id)
            state.prune(journal, self._booked)
        finally:
            self._report_open()
            state.close()

    def count(self, change: int) -> None:
        """Change the number of items in progress; see `Loop.in_progress`."""
        self._busy += change
        self._changed.set()

    def before(self, model: str, request: ChatRequest) -> None:
        """Called by a client before every attempt; `ask` reserves the budget of new requests."""

    def after(self, attempt: Attempt) -> None:
        """Called by a client after every attempt: each result is booked once, over all starts.

        An attempt without a result (the run ends before it) is not booked: it may still come.
        """
        custom_id = _DELIVERED.get()
        _DELIVERED.set(None)
        if custom_id is None or custom_id in self._booked:
            return
        self._booked.add(custom_id)
        untimed = structs.replace(attempt, seconds=None, queued_seconds=None, custom_id=custom_id)
        self._meter.after(untimed)

    async def ask(self, model: str, request: ChatRequest, options: ModelOptions) -> ChatResponse:
        """The answer to a request, from an earlier start or from the next batch.

        Raises:
            ModelError: There is none: an error of the server, or the run ends before (outcome "not run").
        """
        state = self._state
        turn = QUEUE_TURN.get()
        sent = replace(request, parameters=parameters_of(request, options))
        body = _body(model, sent)
        address = ASKED.get()
        base = hashlib.sha256(f"{address.name}\x1f{model}".encode(errors=HALF_PAIRS) + body).hexdigest()[:32]
        custom_id = state.next_id(base, self._booked)
        # The failure of an earlier start may be that of a key that is now another one.
        while (error := self._failure(custom_id)) is not None and error.stops_run:
            self._book_failure(custom_id)
            custom_id = state.next_id(base, self._booked)
        if not state.has_result(custom_id):
            if not state.is_submitted(custom_id):
                if self._cancel:
                    raise _not_run("nothing is submitted with --batch_cancel")
                self._meter.before(model, sent)
                self._pending[custom_id] = len(request_line(custom_id, body))
            elif self._kind == "vllm":
                raise _not_run("the output file of the batch is not there")
            del body  # it would be kept as long as the item waits
            await self._answered(custom_id, _Waiter(turn, model, sent, address))
        line = state.result(custom_id)
        assert line is not None
        _DELIVERED.set(custom_id)
        return line.answer(options.shown_url)

    async def close(self) -> None:
        """Stop to follow the batches; they go on at the server."""
        if self._driver is not None:
            self._driver.cancel()
            # Waiting for a cancelled task raises this.
            with suppress(asyncio.CancelledError):
                await self._driver
            self._driver = None
        if self._service is not None:
            await self._service.close()
            self._service = None

    @property
    def _server(self) -> OpenAIBatches:
        if self._service is None:
            self._service = OpenAIBatches(self._options)
        return self._service

    def _commit(self, state: BatchState, booked_ids: Collection[str]) -> None:
        for batch, custom_id in state.unread(booked_ids):
            self._meter.commit(batch.model, batch.requests[custom_id].outstanding)

    def _book_failure(self, custom_id: str) -> None:
        """Book a failure that is not handed over."""
        batch = self._state.owner(custom_id)
        error = self._failure(custom_id)
        if error is not None:
            outstanding = batch.requests[custom_id].outstanding
            tokens = error.prompt_tokens, error.completion_tokens
            _DELIVERED.set(custom_id)
            self.after(
                Attempt(batch.model, outstanding.role, outstanding.item, 1, error.kind, error.status, *tokens)
            )

    def _failure(self, custom_id: str) -> ModelError | None:
        """The error that a request ended with."""
        if (line := self._state.result(custom_id)) is not None:
            try:
                line.answer(self._options.shown_url)
            except ModelError as error:
                return error
        return None

    def _check(self, batch: Batch) -> None:
        if batch.kind != self._kind:
            raise UsageError(
                f"this run has an open batch of --batch {batch.kind}",
                file=self._folder / STATE,
                fix=f"use --batch {batch.kind}, with --batch_cancel true to give the batch up",
            )
        if batch.kind == "openai" and batch.endpoint != self._endpoint:
            raise UsageError(
                f"{batch.name} of this run is at {batch.endpoint.shown}, not at {self._endpoint.shown}",
                file=self._folder / STATE,
                fix="use that address until the batch is read or cancelled",
            )

    async def _answered(self, custom_id: str, waiter: _Waiter) -> None:
        """Wait for the result of a request."""
        turn = waiter.turn
        self._waiting[custom_id] = waiter
        self._turns[turn] += 1
        if self._driver is None or self._driver.done():
            self._changed = asyncio.Event()  # the one before may be of another event loop
            self._driver = asyncio.create_task(self._drive())
        self._changed.set()
        try:
            with waiting():
                await waiter.answered
        finally:
            del self._waiting[custom_id]
            self._pending.pop(custom_id, None)
            self._turns[turn] -= 1
            if not self._turns[turn]:
                del self._turns[turn]

    async def _drive(self) -> None:
        """Submit and follow batches as long as items wait; a failure ends the run."""
        try:
            await self._follow()
        except Exception as error:
            # Whatever it is, it has to reach the items: they would wait for ever.
            if isinstance(error, ModelError):
                error.transient = False
                error.stops_run = True
            for waiter in self._waiting.values():
                if not waiter.answered.done():
                    waiter.answered.set_exception(error)

    async def _follow(self) -> None:
        clock = asyncio.get_running_loop().time
        delay = _FIRST_DELAY
        next_look = clock()
        while self._waiting:
            self._changed.clear()
            if await self._submit(len(self._turns) >= self._busy):
                delay = _FIRST_DELAY
                next_look = clock()
            if (active := self._active) and clock() >= next_look:
                has_ended = await self._look(active)
                delay = _FIRST_DELAY if has_ended else min(1.5 * delay, _LONGEST_DELAY)
                next_look = clock() + delay
            active = self._active
            try:
                async with asyncio.timeout(max(0.0, next_look - clock()) if active else self._quiet):
                    await self._changed.wait()
            except TimeoutError:
                if not active:
                    await self._submit(True)

    @property
    def _active(self) -> list[Batch]:
        """The open batches at the server that an item waits for."""
        batches = [batch for batch in self._state.open_batches if batch.kind == "openai"]
        return [batch for batch in batches if any(name in self._waiting for name in batch.requests)]

    async def _submit(self, everything: bool) -> bool:
        """Submit full batches and, with `everything`, also the rest; returns whether there were any."""
        if not self._pending or self._is_held:
            return False
        full: list[tuple[str, list[str]]] = []
        unfilled: dict[str, tuple[list[str], int]] = {}  # by model, because a batch is for one
        for custom_id, size in self._pending.items():
            model = self._waiting[custom_id].model
            names, total = unfilled.get(model, ([], 0))
            if names and (len(names) == self._limits.requests or total + size > self._limits.size):
                full.append((model, names))
                names = []
                total = 0
            names.append(custom_id)
            unfilled[model] = names, total + size
        is_full = self._limits.requests
        full += [
            (model, names) for model, (names, _) in unfilled.items() if everything or len(names) == is_full
        ]
        for model, names in full:
            await self._send(model, [name for name in names if name in self._waiting])
        return bool(full)

    async def _send(self, model: str, custom_ids: list[str]) -> None:
        state = self._state
        waiters = {name: self._waiting[name] for name in custom_ids}
        if not waiters:
            return
        planned = {}
        for name, waiter in waiters.items():
            size = size_of(waiter.request)
            limit = completion_limit(waiter.request.parameters)
            planned[name] = BatchRequest(waiter.address, size, limit)
        lines = (request_line(name, _body(model, waiter.request)) for name, waiter in waiters.items())
        batch = state.submit(self._kind, model, self._endpoint, planned)
        for name in custom_ids:
            del self._pending[name]
        if self._kind == "vllm":
            with atomic_target(state.input_file(batch)) as stream:
                stream.writelines(lines)
            self._give_up(batch, "the requests are in an input file")
            return
        with tempfile.TemporaryFile() as data:  # without a name, because the fields may hold secrets
            data.writelines(lines)
            try:
                await self._server.submit(state, batch, data, again=False)
            except ModelError as error:
                if batch.file is None or error.status in _REFUSED:  # without its file there is no batch
                    state.ended(batch, DROPPED)
                raise
        count = count_of(len(custom_ids), "request")
        self._say(f"{batch.name}: {count} submitted; if this command ends, the same one reads the answers")

    async def _look(self, batches: list[Batch]) -> bool:
        """Look at batches, and hand over what those that are over have answered; whether there was one."""
        progress_of_batches = [(batch, await self._server.progress(batch)) for batch in batches]
        for batch, progress in progress_of_batches:
            self._report(batch, progress)
        over = [batch_progress for batch_progress in progress_of_batches if batch_progress[1].is_over]
        # Failed ones first: for too many tokens they are submitted again when another one is over.
        for batch, progress in sorted(over, key=lambda batch_progress: batch_progress[1].status != "failed"):
            self._is_held = False
            await self._finish(batch, progress)
        return bool(over)

    async def _finish(self, batch: Batch, progress: BatchProgress) -> None:
        """Hand over what a batch has answered.

        Raises:
            ModelError: It failed its validation.
        """
        if progress.status == "failed":
            self._state.ended(batch, progress.status)
            if progress.code != TOO_MANY_TOKENS or not self._active:
                raise ModelError(f"{batch.name} failed: {progress.problem}", stops_run=True)
            self._is_held = True  # until another batch is over
            for name in batch.requests:
                if (waiter := self._waiting.get(name)) is not None:
                    self._pending[name] = len(request_line(name, _body(waiter.model, waiter.request)))
            return
        await self._store(batch, progress)
        for count, name in enumerate(batch.requests, start=1):
            waiter = self._waiting.get(name)
            if waiter is not None and not waiter.answered.done() and self._state.has_result(name):
                waiter.answered.set_result(None)
            if count % _AT_ONCE == 0:
                # A batch may have 50,000 requests: the items that have their answer go on meanwhile.
                await asyncio.sleep(0)
        self._give_up(batch, f"{batch.name} is {progress.status}")

    async def _store(self, batch: Batch, progress: BatchProgress) -> None:
        """Write the results of a batch that is over to its result file, without what the server never did."""
        state = self._state
        found_ids = set[str]()
        with atomic_target(state.result_file(batch)) as stream:

            def take(line: bytes) -> None:
                value = parse_line(line)
                if value is None or not value.was_run or value.custom_id in found_ids:
                    return
                if value.custom_id in batch.requests:
                    found_ids.add(value.custom_id)
                    # As the client does: only credentials in answers, every text of the options in errors.
                    secrets = self._secrets if value.is_answer else self._options.secrets
                    text = line.decode(errors="replace").rstrip("\n")
                    stream.write(f"{without(secrets, text)}\n".encode())

            await self._server.lines(progress, take)
            if progress.status == "completed":
                for name in batch.requests.keys() - found_ids:
                    stream.write(msgspec.json.encode(ResultLine.missing(name)) + b"\n")
        state.ended(batch, progress.status)
        if progress.status != "completed":
            self._say(
                f"{WARNING}{batch.name} is {progress.status}: {len(found_ids)} of "
                f"{count_of(len(batch.requests), 'request')} are answered, the same command submits the rest"
            )

    def _give_up(self, batch: Batch, reason: str) -> None:
        """End the items that wait for a batch without a result of their request as "not run"."""
        for name in batch.requests:
            waiter = self._waiting.get(name)
            if waiter is not None and not waiter.answered.done():
                waiter.answered.set_exception(_not_run(reason))

    async def _resume(self) -> None:
        """Find the batches of earlier starts at the server, cancel them if wanted, read those that are over.

        Raises:
            ToolassayError: The server does not know them, or cannot be reached.
        """
        state = self._state
        try:
            for batch in state.open_batches:
                if self._kind == "vllm":
                    # Without its input file (an earlier start ended while it was written) there is no way on.
                    if self._cancel or not state.input_file(batch).exists():
                        state.ended(batch, DROPPED)
                else:
                    await self._resume_at_server(batch)
        except ModelError as error:
            raise ToolassayError(
                f"the batches of this run cannot be looked at: {error}",
                file=self._folder / STATE,
                fix="check --api_base and OPENAI_API_KEY, then repeat the command; --batch_cancel true gives "
                "up what the server does not have",
            ) from error
        finally:
            await self.close()

    async def _resume_at_server(self, batch: Batch) -> None:
        """Find one batch of an earlier start and take it up; end it if the server does not have it.

        Raises:
            ModelError: It is not known whether the server has it, or the server lost it or its output.
        """
        try:
            if batch.id is not None or await self._is_found(batch):
                await self._take_up(batch)
            else:
                self._state.ended(batch, DROPPED)
        except ModelError as error:
            is_gone = error.status == 404 or (batch.id is None and error.kind == UNREACHABLE)
            if not (self._cancel and is_gone):
                raise
            self._state.ended(batch, DROPPED)
            self._say(f"{WARNING}{batch.name} is given up: {error}")

    async def _is_found(self, batch: Batch) -> bool:
        """Whether the server has a batch whose id is unknown, or its file, from which it is then created."""
        state = self._state
        if self._cancel:
            batch_id = await self._server.find(batch)
            if batch_id is not None:
                state.created(batch, batch_id)
            return batch_id is not None
        try:
            is_found = await self._server.submit(state, batch, None, again=True)
        except ModelError as error:
            if error.status not in _REFUSED:
                raise
            is_found = False
        if is_found:
            self._say(f"{batch.name}: found again, an earlier start ended while it was submitted")
        return is_found

    async def _take_up(self, batch: Batch) -> None:
        progress = await self._server.progress(batch)
        if self._cancel and not progress.is_over:
            try:
                await self._server.cancel(batch)
                self._say(f"{batch.name}: cancelled; the server needs up to ten minutes for it")
            except ModelError:
                progress = await self._server.progress(batch)
                if not progress.is_over:  # else it was over before it was cancelled
                    raise
        if progress.status == "failed":
            self._say(f"{WARNING}{batch.name} failed: {progress.problem}")
            self._state.ended(batch, progress.status)
        elif progress.is_over:
            await self._store(batch, progress)
        self._report(batch, progress)

    def _report(self, batch: Batch, progress: BatchProgress) -> None:
        """Show the state of a batch if its status is new, or now and then if more of it is done."""
        now = asyncio.get_running_loop().time()
        if (before := self._reported.get(batch.number)) is not None:
            then, last = before
            if last == progress or (last.status == progress.status and now - then < _REPORT):
                return
        self._reported[batch.number] = now, progress
        done = f", {progress.done} of {count_of(progress.total, 'request')} done" if progress.total else ""
        self._say(f"{batch.name}: {progress.status}{done}")

    def _report_open(self) -> None:
        """Say which batches are still open, and what to do."""
        for batch in self._state.open_batches:
            count = count_of(len(batch.requests), "request")
            if batch.kind == "vllm":
                files = (str(self._state.input_file(batch)), "-o", str(self._state.result_file(batch)))
                command = shlex.join(["python", "-m", MODULE, "-i", *files, "--model", batch.model])
                self._say(
                    f"{WARNING}{count} to answer: run\n  {command}\n"
                    "then repeat this command; it reads the output file"
                )
            else:
                where = "goes on at" if batch.id else "may have reached"
                self._say(
                    f"{WARNING}{batch.name} with {count} {where} the server: the same command reads the "
                    "answers, with --batch_cancel true it cancels the batch"
                )


class _BatchTransport:
    """The transport of one model."""

    def __init__(self, batches: Batches, name: str, options: ModelOptions) -> None:
        self._batches = batches
        self._name = name
        self._options = options

    async def send(self, request: ChatRequest) -> ChatResponse:
        """Wait for the answer to a request; raises as `Batches.ask`."""
        return await self._batches.ask(self._name, request, self._options)

    async def close(self) -> None:
        """Stop to follow the batches."""
        await self._batches.close()


_DELIVERED: ContextVar[str | None] = ContextVar("delivered", default=None)
"""The id of the request whose result the current task has just got."""


def _booked_ids(run_folder: Path) -> set[str]:
    """The ids of the requests in the ledger of a run."""
    return {line.custom_id for line in booked(run_folder / LEDGER) if line.custom_id is not None}


def _body(model: str, request: ChatRequest) -> bytes:
    return encoded({"model": model, "messages": list(request.messages), **request.parameters})


def _not_run(reason: str) -> ModelError:
    return ModelError(f"not run: {reason}", outcome="not run")


MODULE = "vllm.entrypoints.openai.run_batch"
