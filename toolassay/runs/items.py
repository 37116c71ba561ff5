"""An item of a run is a function of its answers: `ItemWork`, the answers that it gets, the loop over items.

Each answer is in the journal before the item sees it. An item that is run again gets the recorded answers,
and goes on where it stopped. Runs, dry runs and `verify` differ only in where further answers come from.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Generic, Literal, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, structs

from toolassay.errors import Unsent
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.models.concurrency import waiting
from toolassay.runs.budget import Estimate, size_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import ASKED, TOOL, AnswerLine, CallLine, ItemEntry, Journal, LineAddress
from toolassay.runs.manifest import RetryPlan
from toolassay.runs.runner import AT_A_LIMIT, Loop, run_items
from toolassay.runs.wording import Wording

Item = TypeVar("Item")
OVERFLOW: Literal["context overflow"] = "context overflow"
IN_DOUBT: Literal["in doubt"] = "in doubt"
"""Outcome of an item with a call that may have taken effect, whose result is not known, and that must not be
repeated."""
ENDED = ("answered", "malformed", "refused")
"""Outcomes of items that ended with an answer of their model."""
FINAL = (*ENDED, OVERFLOW)
MEASURED = 500
"""Number of items whose requests are rendered to estimate the length of all."""
Recorded = Mapping[str, Sequence[AnswerLine] | Sequence[CallLine]]
"""Answers and results of calls by role, of entries of earlier versions."""


Send = Callable[[ChatRequest, str | None], Awaitable[ChatResponse]]
"""Where an answer comes from that the journal does not have: the request, and the name of the model if it is
not the one under test."""


async def no_model(request: ChatRequest, by: str | None) -> NoReturn:
    """Where answers come from for work that asks no model."""
    raise AssertionError("this work asks no model")


class InDoubt(Exception):
    """A call may have taken effect, its result is unknown, and it must not be repeated."""


class Ask:
    """What an item is given to send its requests with.

    Args:
        key: Of the item in the journal.
        journal: Has the answers of earlier starts, and gets new ones.
        send: Source of further answers.
        again: How often the item has ended before.
        earlier: Answers and results by role, as an earlier version recorded them.
        replayed: Called with each request whose answer was recorded, and that answer.

    Attributes:
        answers: The answers so far.
        changed: Number of recorded answers that were not used, because the request is another one now.
        unlike: Number of recorded results that a call does not give again.
        call_numbers: Numbers of the calls so far (`perform`), in the order in which they were made.
        unclaimed: After `by_content`, the recorded calls that have not been made again.
    """

    def __init__(
        self,
        key: str,
        journal: Journal,
        send: Send,
        *,
        again: int = 0,
        earlier: Recorded | None = None,
        replayed: Callable[[ChatRequest, AnswerLine], None] = lambda request, line: None,
    ) -> None:
        self._key = key
        self._journal = journal
        self._send = send
        self._again = again
        self._earlier = earlier or {}
        self._replayed = replayed
        self._numbers = Counter[str]()
        self._forgets = False
        self._unused: list[AnswerLine] | None = None
        self._is_by_content = self._is_isolated = False
        self.unclaimed: dict[int, CallLine] = {}
        self.call_numbers: list[int] = []
        self.answers: list[ChatResponse] = []
        self.changed = self.unlike = 0

    async def __call__(self, request: ChatRequest, by: str | None = None) -> ChatResponse:
        """The answer to a request, from the journal if it has it.

        Args:
            request: The request; its item is set here.
            by: Name of a model that the work named (`WorkFacts.helpers`); None for the model under test.

        Raises:
            ModelError: There is no answer.
        """
        address = self._next(request.role if by is None else f"{request.role} {by}")
        request_digest = _digest(request)
        line = self._journal.answer(address) or self._of_earlier(address)
        if line is not None:
            if line.asked in ("", request_digest):
                self._replayed(request, line)
                self.answers.append(line)
                return line
            self.changed += 1
        ASKED.set(address)
        response = await self._send(replace(request, item=self._key), by)
        self._journal.add_answer(address, AnswerLine.of(response, request_digest))
        self.answers.append(response)
        return response

    async def in_any_order(self, request: ChatRequest, by: str) -> ChatResponse:
        """The answer to a request of work that may send its requests in another order when it is run again.

        Equal requests take the recorded answers in their order. Arguments and errors are those of a call.
        """
        request_digest = _digest(request)
        if self._unused is None:
            self._unused = [*self._journal.answers(self._key, request.role, self._again)]
            self._numbers[request.role] = len(self._unused)
        position = next((n for n, line in enumerate(self._unused) if line.asked == request_digest), None)
        if position is not None:
            response: ChatResponse = self._unused.pop(position)
        else:
            response = await self._send(replace(request, item=self._key), by)
            self._journal.add_answer(self._next(request.role), AnswerLine.of(response, request_digest))
        self.answers.append(response)
        return response

    def result(self, call: Callable[[], str]) -> str:
        """The result of a tool call. It always runs, for its effect; a recorded result counts."""
        address = self._next(TOOL)
        result = call()
        line = self._call(address)
        if line is None:
            if not self._journal.read_only:
                self._journal.add_answer(address, CallLine(result=result))
            return result
        self.unlike += line.result != result
        return str(line.result)

    async def once(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a call outside the run (JSON), which is not made again where it is recorded."""
        address = self._next(TOOL)
        line = self._call(address)
        if line is None:
            line = CallLine(result=await call())
            if not self._journal.read_only:
                self._journal.add_answer(address, line)
        return line.result

    async def perform(
        self,
        call: Any,
        make: Callable[[], Awaitable[Any]],
        ready: Callable[[], Awaitable[None]],
        *,
        repeatable: bool,
        is_of: Callable[[Any], bool] = lambda result: True,
    ) -> Any:
        """The result of a call that may change something (JSON); a recorded one is not made again.

        The journal has the call before it is made.

        Args:
            call: What is called (JSON).
            make: Makes it.
            ready: Called before that, e.g. to connect; until it returns, nothing is written down.
            repeatable: Whether it may be made again when its result is not known. Ctrl-C ends such a call at
                once; another one has some seconds to return.
            is_of: Whether a recorded result is that of this call. If not, the caller goes another way than
                before, and no later result of that way counts.

        Raises:
            InDoubt: It was made before, its result is not known, and it must not be repeated.
            Unsent: As `make` raises it; the call counts as not made.
            ModelError: The run is ending; the call was not made.
        """
        address = self._claimed(is_of) if self._is_by_content else self._next(TOOL)
        line = None if self._forgets else self._call(address)
        if line is not None and line.result is not UNSET:
            if is_of(line.result):
                self.call_numbers.append(address.number)
                return line.result
            self._forgets = True
            line = None
        if line is not None and line.call is not UNSET and not repeatable:
            raise InDoubt
        if self._is_isolated:
            self.unclaimed.clear()
        await ready()
        with waiting():
            self._journal.add_answer(address, CallLine(call))
            if not repeatable:
                self._journal.force()
        try:
            with waiting() if repeatable else nullcontext():
                result = await make()
        except Unsent:
            self._journal.add_answer(address, CallLine())
            raise
        self._journal.add_answer(address, CallLine(result=result))
        self.call_numbers.append(address.number)
        return result

    def by_content(self, *, is_isolated: bool) -> None:
        """Let calls take recorded results by their content, in any order.

        Args:
            is_isolated: Whether what calls change does not last. Then results that are still unclaimed when a
                call has no recorded result do not count: they are of another state.
        """
        self._is_by_content = True
        self._is_isolated = is_isolated
        self.unclaimed = dict(enumerate(self._journal.calls(self._key, self._again)))
        self._numbers[TOOL] = len(self.unclaimed)

    @property
    def order(self) -> list[int] | None:
        """See `ItemEntry.order`."""
        return None if self.call_numbers == list(range(self._numbers[TOOL])) else self.call_numbers

    def _claimed(self, is_of: Callable[[Any], bool]) -> LineAddress:
        """The address of the first unclaimed call that is the wanted one; a new one without any."""
        for number, line in self.unclaimed.items():
            if line.content is not UNSET and is_of(line.content):
                del self.unclaimed[number]
                return LineAddress(self._key, TOOL, number, self._again)
        return self._next(TOOL)

    def restart(self, *, forget: bool) -> None:
        """Go through the calls from the first one again.

        Args:
            forget: Whether recorded results do not count, because what the calls changed is gone.
        """
        self._numbers.clear()
        self._forgets = forget

    def _call(self, address: LineAddress) -> CallLine | None:
        return self._journal.call(address) or self._of_earlier(address)

    def _of_earlier(self, address: LineAddress) -> Any:
        lines: Sequence[Any] = self._earlier.get(address.role.partition(" ")[0], ())
        return lines[address.number] if address.number < len(lines) else None

    def _next(self, role: str) -> LineAddress:
        address = LineAddress(self._key, role, self._numbers[role], self._again)
        self._numbers[role] += 1
        return address


def _digest(request: ChatRequest) -> str:
    """A hash of the messages, which shows whether a recorded answer is to the same request."""
    code = hashlib.blake2b(digest_size=8)
    for message in request.messages:
        content = message.get("content")
        if not isinstance(content, str) or len(message) > 2:
            content = json.dumps(message, sort_keys=True, default=str)
        code.update(f"\x1e{message.get('role')}\x1f{content}".encode(errors="surrogatepass"))
    return code.hexdigest()


class ItemWork(ABC, Generic[Item]):
    """What a run does with one item. It is pickled for an engine, so it holds no model, key or open file.

    Attributes:
        final: Outcomes after which a continued run leaves an item alone.
        record: Type of its entries.
    """

    final: Collection[str] = ENDED
    record: type[ItemEntry] = ItemEntry

    def around(self) -> AbstractAsyncContextManager[Any]:
        """What is open, in the event loop of the items, while they are worked on; not for dry runs."""
        return nullcontext()

    @abstractmethod
    def key_of(self, item: Item) -> str:
        """The key of an item in the journal."""

    @abstractmethod
    async def answer(self, item: Item, ask: Ask) -> ItemEntry:
        """Work on an item: a function only of the answers that `ask` gives.

        Returns:
            Its entry for the journal, a `record` with `outcome`; `limit` if a limit of the item ended it.

        Raises:
            ModelError: A request got no answer.
        """

    def identity(self, item: Item) -> Mapping[str, Any]:
        """Fields of the entry that say what the item was; an entry with others is of an earlier wording."""
        return {}

    def entry_of(self, journal: Journal, item: Item) -> Any:
        """The entry of an item as it is now; one without values if there is none."""
        return journal.entry(self.key_of(item), self.record, **self.identity(item))

    def is_settled(self, entry: Any) -> bool:
        """Whether a continued run leaves an item with this entry alone."""
        return entry.outcome in self.final

    def has_ended(self, entry: Any) -> bool:
        """Whether an item, run again, asks for new answers; else it goes on with the recorded ones."""
        return entry.outcome in ENDED

    def is_unusable(self, entry: Any, journal: Journal) -> bool:
        """Whether `--retry_malformed` asks a settled item again."""
        return bool(entry.outcome == "malformed" or entry.cut_off)

    def recorded(self, entry: Any) -> Recorded:
        """The answers in an entry of an earlier version, which had no lines of their own."""
        return {}

    def skips(self, entry: Any, journal: Journal, retry: RetryPlan) -> bool:
        """Whether this start leaves an item alone."""
        settled = self.is_settled(entry)
        unusable = settled and retry.wanted and self.is_unusable(entry, journal)
        return retry.skips(settled=settled, unusable=unusable)

    def ask(
        self, item: Item, journal: Journal, entry: Any, send: Send, *, retried: bool = False, **more: Any
    ) -> Ask:
        """What an item with this entry sends its requests with; `retried` after it has ended."""
        earlier = self.recorded(msgspec.convert(entry.again, self.record) if retried else entry)
        again = entry.asked_again + retried
        return Ask(self.key_of(item), journal, send, again=again, earlier=earlier, **more)


def answer_items(
    work: ItemWork[Item],
    items: Iterable[Item],
    model: ChatModel,
    helpers: Mapping[str, ChatModel],
    journal: Journal,
    loop: Loop,
    *,
    skip: Callable[[str], bool] = lambda key: False,
) -> int:
    """Run the items that are not settled, then close the models.

    Args:
        work: What is done with an item.
        items: The items; taken only when one can start.
        model: The model under test.
        helpers: Further models by name.
        journal: Of the run.
        loop: Concurrency and callbacks.
        skip: Whether the item of a key is settled elsewhere.

    Returns:
        Number of items that were settled before.

    Raises:
        ToolassayError: The run cannot continue.
        KeyboardInterrupt: At Ctrl-C, when the items in flight have ended.
    """

    def send(request: ChatRequest, by: str | None) -> Awaitable[ChatResponse]:
        return (model if by is None else helpers[by]).complete(request)

    def stopped(item: Item, error: ModelError) -> None:
        if not work.entry_of(journal, item).outcome:
            _append_failure(work, item, journal, error)

    already = 0

    def missing() -> Iterator[Item]:
        nonlocal already
        for item in items:
            entry = work.entry_of(journal, item)
            if skip(work.key_of(item)) or work.skips(entry, journal, loop.retry):
                if entry.outcome == IN_DOUBT:
                    loop.summary.outcomes[IN_DOUBT] += 1
                else:
                    already += 1
                loop.done()
            else:
                yield item

    async def run() -> None:
        answer = partial(answer_item, work, journal=journal, loop=loop, send=send)
        try:
            async with work.around():
                await run_items(missing(), answer, loop, stopped=stopped, has_answers=lambda: already > 0)
        finally:
            for client in {id(model): model for model in (model, *helpers.values())}.values():
                await client.close()

    if loop.spread is not None:
        loop.spread(missing(), loop)
    else:
        run_coroutine(run())
    if loop.summary.interrupted:
        raise KeyboardInterrupt
    return already - loop.retry.left


async def answer_item(work: ItemWork[Item], item: Item, journal: Journal, loop: Loop, send: Send) -> str:
    """Run one item and write its entry.

    Args:
        work: What is done with it.
        item: The item.
        journal: Of the run.
        loop: Counts changed and replaced answers.
        send: Source of answers that the journal does not have.

    Returns:
        Its outcome.

    Raises:
        ModelError: A request got no answer.
    """
    kept_entry = work.entry_of(journal, item)
    ended = work.has_ended(kept_entry)
    ask = work.ask(item, journal, kept_entry, send, retried=ended)
    try:
        entry = await work.answer(item, ask)
    except ModelError as error:
        if error.settles and kept_entry.outcome not in ENDED:  # else the earlier answer stays valid
            _append_failure(work, item, journal, error)
            if error.outcome in work.final:
                return error.outcome
        raise
    finally:
        loop.summary.changed += ask.changed
    if ended and entry.outcome == OVERFLOW:  # the earlier answer stays valid
        raise ModelError(entry.problem or OVERFLOW, outcome=OVERFLOW)
    loop.retry.replaced += ended
    asked_again = kept_entry.asked_again + ended
    identity = work.identity(item)
    journal.append(work.key_of(item), structs.replace(entry, asked_again=asked_again, **identity))
    return AT_A_LIMIT if entry.limit else entry.outcome


def _append_failure(work: ItemWork[Item], item: Item, journal: Journal, error: ModelError) -> None:
    entry = work.record(outcome=error.outcome, problem=str(error), **work.identity(item))
    journal.append(work.key_of(item), entry)


def preview_items(
    work: ItemWork[Item],
    items: Iterable[Item],
    journal: Journal,
    estimate: Estimate,
    retry: RetryPlan,
    *,
    skip: Callable[[str], bool] = lambda key: False,
) -> int:
    """Add the next request of each item that is not settled to `estimate`; nothing is sent or written.

    Arguments are those of `answer_items`. The requests of helpers are not counted.

    Returns:
        Number of items that need no request to the model under test.
    """
    already = learnt = 0

    async def send(request: ChatRequest, by: str | None) -> ChatResponse:
        if by is None:
            estimate.first = estimate.first or request
            estimate.add(size_of(request))
        raise _NO_ANSWER

    def learn(request: ChatRequest, line: AnswerLine) -> NoReturn:
        estimate.answered(size_of(request), line.prompt_tokens, line.completion_tokens)
        raise _NO_ANSWER

    async def look() -> None:
        nonlocal already, learnt
        for item in items:
            entry = work.entry_of(journal, item)
            requests = estimate.requests
            settled = skip(work.key_of(item)) or work.skips(entry, journal, retry)
            if settled:
                already += 1
                learnt += 1
                if learnt > MEASURED or not entry.outcome:
                    continue
                ask = work.ask(item, journal, entry, send, replayed=learn)
            elif requests >= MEASURED:
                estimate.add()
                continue
            else:
                ask = work.ask(item, journal, entry, send, retried=work.has_ended(entry))
            # No request is sent here: the one that has no answer ends the item with this.
            with suppress(ModelError):
                await work.answer(item, ask)
            already += not settled and estimate.requests == requests

    run_coroutine(look())
    return already - retry.left


def recorded_answers(
    work: ItemWork[Item], item: Item, journal: Journal, end: ModelError | None = None
) -> Ask:
    """What gives an item its recorded answers, and no others.

    Args:
        work: What is done with an item.
        item: The item.
        journal: Of the run; may be read-only.
        end: Raised for a request without a recorded answer.
    """

    async def send(request: ChatRequest, by: str | None) -> ChatResponse:
        raise end or _NO_ANSWER

    return work.ask(item, journal, work.entry_of(journal, item), send)


def replay_item(
    work: ItemWork[Item], item: Item, journal: Journal, end: ModelError | None = None
) -> tuple[Any, Ask]:
    """The entry of a settled item, recomputed from its recorded answers, and what gave them.

    Arguments are those of `recorded_answers`.

    Raises:
        ModelError: `end`, or that the journal lacks an answer.
    """
    ask = recorded_answers(work, item, journal, end)
    with Wording.read(journal.path.parent).used():
        return run_coroutine(work.answer(item, ask)), ask


_NO_ANSWER = ModelError("the journal has no answer to this request", outcome="not run")
