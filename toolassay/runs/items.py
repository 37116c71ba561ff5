"""An item of a run is a function of its answers: `ItemWork`, the answers that it gets, the loop over items.

Each answer is in the journal before the item sees it. An item that is run again gets the recorded answers,
and goes on where it stopped. Runs, dry runs and `verify` differ only in where further answers come from.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import fields, replace
from typing import Any, Generic, Literal, NoReturn, TypeVar

from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError, ToolCall
from toolassay.models.concurrency import waiting
from toolassay.runs.budget import Estimate, size_of
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import ASKED, TOOL, Journal, LineAddress
from toolassay.runs.manifest import BEGUN, COUNT, RetryPlan
from toolassay.runs.runner import AT_A_LIMIT, Loop, run_unsettled
from toolassay.runs.wording import Wording

Item = TypeVar("Item")
OVERFLOW: Literal["context overflow"] = "context overflow"
ENDED = ("answered", "malformed", "refused")
"""Outcomes of items that ended with an answer of their model."""
FINAL = (*ENDED, OVERFLOW)
MEASURED = 500
"""Number of items whose requests are rendered to estimate the length of all."""
_TEXT = "response"  # the key of `ChatResponse.text` in a journal
_CONTENT = {field.name: field for field in fields(ChatResponse)}


def answer_line(response: ChatResponse) -> dict[str, Any]:
    """An answer as its line of the journal has it: the text as `response`, and every figure that is known."""
    line: dict[str, Any] = {_TEXT: response.text, "finish_reason": response.finish_reason}
    for name, field in _CONTENT.items():
        value = getattr(response, name)
        if name not in (*line, "text") and value and value != field.default:
            line[name] = value
    if response.tool_calls:
        calls = ((call, {"extra": call.extra} if call.extra else {}) for call in response.tool_calls)
        line["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments, **extra} for call, extra in calls
        ]
    return line


def response_of(line: Mapping[str, Any]) -> ChatResponse:
    """The answer of a line; its other fields are ignored."""
    known = {name: line[name] for name in _CONTENT if name in line and name != "text"}
    calls = tuple(ToolCall(**call) for call in line.get("tool_calls") or ())
    return ChatResponse(line.get(_TEXT) or "", **{**known, "tool_calls": calls})


Send = Callable[[ChatRequest, str | None], Awaitable[ChatResponse]]
"""Where an answer comes from that the journal does not have: the request, and the name of the model if it is
not the one under test."""


class Unsent(Exception):
    """A call did not reach its tool, so it may be made again."""


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
        changed: Number of recorded answers that were not used, because the request is another one now.
        unlike: Number of recorded results that a call does not give again.
    """

    def __init__(
        self,
        key: str,
        journal: Journal,
        send: Send,
        *,
        again: int = 0,
        earlier: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        replayed: Callable[[ChatRequest, Mapping[str, Any]], None] = lambda request, line: None,
    ) -> None:
        self._key, self._journal, self._send, self._again = key, journal, send, again
        self._earlier, self._replayed = earlier or {}, replayed
        self._numbers = Counter[str]()
        self._forgets = False
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
        asked = _digest(request)
        line = self._line(address)
        if line and line.get("asked", asked) == asked:
            self._replayed(request, line)
            return response_of(line)
        self.changed += bool(line)
        ASKED.set(address)
        response = await self._send(replace(request, item=self._key), by)
        self._journal.add_answer(address, {"asked": asked, **answer_line(response)})
        return response

    def result(self, call: Callable[[], str]) -> str:
        """The result of a tool call. It is always carried out, for its effect; a recorded result counts."""
        address, made = self._next(TOOL), call()
        line = self._line(address)
        if not line:
            if not self._journal.read_only:
                self._journal.add_answer(address, {"result": made})
            return made
        self.unlike += line["result"] != made
        return str(line["result"])

    async def once(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a call outside the run (JSON), which is not made again where it is recorded."""
        address = self._next(TOOL)
        line = self._line(address)
        if not line:
            line = {"result": await call()}
            if not self._journal.read_only:
                self._journal.add_answer(address, line)
        return line["result"]

    async def perform(
        self,
        call: Any,
        make: Callable[[], Awaitable[Any]],
        ready: Callable[[], Awaitable[None]],
        *,
        repeatable: bool,
    ) -> Any:
        """The result of a call that may change something (JSON); a recorded one is not made again.

        The journal has the call before it is made.

        Args:
            call: What is called (JSON).
            make: Makes it.
            ready: Called before that, e.g. to connect; until it returns, nothing is written down.
            repeatable: Whether it may be made again when its result is not known. Ctrl-C ends such a call at
                once; another one has some seconds to return.

        Raises:
            InDoubt: It was made before, its result is not known, and it must not be repeated.
            Unsent: As `make` raises it; the call counts as not made.
            ModelError: The run is ending; the call was not made.
        """
        address = self._next(TOOL)
        line = {} if self._forgets else self._line(address)
        if "result" in line:
            return line["result"]
        if "call" in line and not repeatable:
            raise InDoubt
        await ready()
        with waiting():
            self._journal.add_answer(address, {"call": call})
            if not repeatable:
                self._journal.force()
        try:
            with waiting() if repeatable else nullcontext():
                result = await make()
        except Unsent:
            self._journal.add_answer(address, {})
            raise
        self._journal.add_answer(address, {"result": result})
        return result

    def restart(self, *, forget: bool) -> None:
        """Go through the calls from the first one again.

        Args:
            forget: Whether recorded results do not count, because what the calls changed is gone.
        """
        self._numbers.clear()
        self._forgets = forget

    def _line(self, address: LineAddress) -> dict[str, Any]:
        line = self._journal.answer(address)
        earlier = self._earlier.get(address.role.partition(" ")[0], ())
        return dict(earlier[address.number]) if not line and address.number < len(earlier) else line

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
    """

    final: Collection[str] = ENDED

    def ready(self) -> ItemWork[Item]:
        """The same where the work is done, with what can only be opened there."""
        return self

    def around(self) -> AbstractAsyncContextManager[Any]:
        """What is open, in the event loop of the items, while they are worked on; not for dry runs."""
        return nullcontext()

    @abstractmethod
    def key_of(self, item: Item) -> str:
        """The key of an item in the journal."""

    @abstractmethod
    async def answer(self, item: Item, ask: Ask) -> dict[str, Any]:
        """Work on an item: a function of the answers that `ask` gives, and of nothing else.

        Returns:
            Its entry for the journal, with `outcome`; `limit` if a limit of the item ended it.

        Raises:
            ModelError: A request got no answer.
        """

    def identity(self, item: Item) -> dict[str, Any]:
        """Fields of the entry that say what the item was; an entry with others is of an earlier wording."""
        return {}

    def entry_of(self, journal: Journal, item: Item) -> dict[str, Any]:
        """The entry of an item as it is now; {} without one."""
        entry = journal.get(self.key_of(item))
        return entry if all(entry.get(name) == value for name, value in self.identity(item).items()) else {}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether a continued run leaves an item with this entry alone."""
        return entry.get("outcome") in self.final

    def has_ended(self, entry: Mapping[str, Any]) -> bool:
        """Whether an item, run again, asks for new answers; else it goes on with the recorded ones."""
        return entry.get("outcome") in ENDED

    def is_unusable(self, entry: Mapping[str, Any], journal: Journal) -> bool:
        """Whether `--retry_malformed` asks a settled item again."""
        return entry["outcome"] == "malformed" or bool(entry.get("cut_off"))

    def recorded(self, entry: Mapping[str, Any]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The answers in an entry of an earlier version, which had no lines of their own, by role."""
        return {}

    def skips(self, entry: Mapping[str, Any], journal: Journal, retry: RetryPlan) -> bool:
        """Whether this start leaves an item alone."""
        settled = self.is_settled(entry)
        unusable = settled and retry.wanted and self.is_unusable(entry, journal)
        return retry.skips(settled=settled, unusable=unusable)

    def ask(self, item: Item, journal: Journal, entry: Mapping[str, Any], send: Send, **more: Any) -> Ask:
        """What an item with this entry sends its requests with, where it is run once more."""
        ended = self.has_ended(entry)
        earlier = self.recorded(entry.get(BEGUN, {}) if ended else entry)
        again = entry.get(COUNT, 0) + ended
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
        if not work.entry_of(journal, item):
            _append_failure(work, item, journal, error)

    return run_unsettled(
        items,
        lambda item: answer_item(work, item, journal, loop, send),
        settled=lambda item: (
            skip(work.key_of(item)) or work.skips(work.entry_of(journal, item), journal, loop.retry)
        ),
        models=[model, *helpers.values()],
        loop=loop,
        around=work.around,
        stopped=stopped,
    )


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
    kept = work.entry_of(journal, item)
    ended, ask = work.has_ended(kept), work.ask(item, journal, kept, send)
    try:
        entry = await work.answer(item, ask)
    except ModelError as error:
        if error.settles and kept.get("outcome") not in ENDED:  # else the earlier answer stays valid
            _append_failure(work, item, journal, error)
            if error.outcome in work.final:
                return error.outcome
        raise
    finally:
        loop.summary.changed += ask.changed
    if ended and entry["outcome"] == OVERFLOW:  # the earlier answer stays valid
        raise ModelError(str(entry["error"]), outcome=OVERFLOW)
    if ended:
        loop.retry.replaced += 1
        entry[COUNT] = kept.get(COUNT, 0) + 1
    elif COUNT in kept:
        entry[COUNT] = kept[COUNT]
    journal.append(work.key_of(item), {**entry, **work.identity(item)})
    return AT_A_LIMIT if "limit" in entry else str(entry["outcome"])


def _append_failure(work: ItemWork[Item], item: Item, journal: Journal, error: ModelError) -> None:
    entry = {"outcome": error.outcome, "problem": str(error)}
    journal.append(work.key_of(item), {**work.identity(item), **entry})


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

    def learn(request: ChatRequest, line: Mapping[str, Any]) -> NoReturn:
        estimate.answered(size_of(request), line.get("prompt_tokens"), line.get("completion_tokens"))
        raise _NO_ANSWER

    async def look() -> None:
        nonlocal already, learnt
        for item in items:
            key, entry, requests = work.key_of(item), work.entry_of(journal, item), estimate.requests
            settled = skip(key) or work.skips(entry, journal, retry)
            if settled:
                already += 1
                learnt += 1
                if learnt > MEASURED or not entry:
                    continue
                earlier = work.recorded(entry)
                ask = Ask(key, journal, send, again=entry.get(COUNT, 0), earlier=earlier, replayed=learn)
            elif requests >= MEASURED:
                estimate.add()
                continue
            else:
                ask = work.ask(item, journal, entry, send)
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
    entry = work.entry_of(journal, item)

    async def send(request: ChatRequest, by: str | None) -> ChatResponse:
        raise end or _NO_ANSWER

    again, earlier = entry.get(COUNT, 0), work.recorded(entry)
    return Ask(work.key_of(item), journal, send, again=again, earlier=earlier)


def replay_item(
    work: ItemWork[Item], item: Item, journal: Journal, end: ModelError | None = None
) -> tuple[dict[str, Any], Ask]:
    """The entry of a settled item, recomputed from its recorded answers, and what gave them.

    Arguments are those of `recorded_answers`.

    Raises:
        ModelError: `end`, or that the journal lacks an answer.
    """
    ask = recorded_answers(work, item, journal, end)
    with Wording(journal.path.parent).used():
        return run_coroutine(work.answer(item, ask)), ask


_NO_ANSWER = ModelError("the journal has no answer to this request", outcome="not run")
