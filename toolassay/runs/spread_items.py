"""Items of a run on an engine.

A worker does the work of the run on a few items, with a journal in a scratch folder. The run appends the
lines of that journal to its own, in the order of the items. So a restart continues as usual, and what is made
of the journal has the same bytes wherever the items were answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from toolassay.engines import Engine
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.locks import temporary_folder
from toolassay.models import Attempt, ModelOptions, NoMeter, create_model
from toolassay.models.protocol import Meter
from toolassay.models.registry import BUILT_IN
from toolassay.runs.budget import Budget
from toolassay.runs.items import ItemWork, answer_items
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import JOURNAL, RetryPlan
from toolassay.runs.runner import Loop, RunSummary
from toolassay.runs.trials import SEED

MOST_ITEMS = 100
"""Items per shard. A killed run loses the shards in flight; each has an overhead of a few milliseconds."""
_SHARDS_A_WORKER = 4  # at least, where there are items enough: workers end at about the same time


def check_spread(llm: str, helpers: Iterable[str], budget: Budget | None) -> None:
    """Check what an engine cannot run.

    Args:
        llm: The model under test.
        helpers: Further models of the run.
        budget: The limits of the run.

    Raises:
        UsageError: A model is not built in, or requests are limited.
    """
    for name in (llm, *helpers):
        if name not in BUILT_IN:
            raise UsageError(
                f"--engine runs built-in models only, not '{name}'",
                fix="omit --engine: one process sends requests to a server concurrently",
            )
    if budget is not None and budget.requests is not None:
        raise UsageError(
            "--max_requests is counted by one process", fix="omit --engine or --max_requests; --limit N works"
        )


class Shard(NamedTuple):
    """Items to answer.

    Attributes:
        items: The items.
        begun: Lines of the run's journal: the entries of those of the items that have one.
    """

    items: tuple[Any, ...]
    begun: bytes


class Answered(NamedTuple):
    """What a worker made of a shard.

    Attributes:
        lines: Lines for the journal.
        attempts: Calls of models, for the ledger.
        summary: Outcomes.
        replaced: Number of items with a new answer (`RetryPlan.replaced`).
        error: Why the run cannot go on. What was answered before is in `lines`.
    """

    lines: bytes
    attempts: list[Attempt]
    summary: RunSummary
    replaced: int
    error: ToolassayError | None


@dataclass(frozen=True)
class ItemsTask:
    """Answers shards, for an engine.

    Attributes:
        work: The work on single items.
        llm: The model under test.
        helpers: Further models.
        seed: Of models that draw; None for their default.
        retry: Which answered items are run again.
    """

    work: ItemWork[Any]
    llm: str
    helpers: tuple[str, ...] = ()
    seed: Any = None
    retry: RetryPlan = field(default_factory=RetryPlan)

    def start(self) -> Callable[[Shard], Answered]:
        """Create the models."""
        options = ModelOptions(extra_body={} if self.seed is None else {SEED: self.seed})
        meter = _Attempts()
        models = {name: create_model(name, options, meter) for name in (self.llm, *self.helpers)}

        def answer(shard: Shard) -> Answered:
            meter.attempts = []
            # Built-in models never wait, so more than one item at a time would gain nothing.
            loop = Loop(1, retry=replace(self.retry, replaced=0, left=0))
            error: ToolassayError | None = None
            with temporary_folder() as scratch, Journal(scratch / JOURNAL) as journal:
                if shard.begun:
                    journal.extend(shard.begun)
                start = journal.end
                try:
                    answer_items(self.work, shard.items, models[self.llm], models, journal, loop)
                except ToolassayError as raised:
                    error = raised
                lines = journal.lines_from(start)
            return Answered(lines, meter.attempts, loop.summary, loop.retry.replaced, error)

        return answer


class _Attempts(NoMeter):
    """A meter that keeps what was called; built-in models cost nothing."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def after(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)


@dataclass(frozen=True)
class Spread:
    """Runs the items of a run on an engine (`Loop.spread`).

    Attributes:
        engine: The engine.
        task: What its workers do.
        journal: Of the run.
        meter: Of the run.
        asked: Number of items of this start.
    """

    engine: Engine
    task: ItemsTask
    journal: Journal
    meter: Meter
    asked: int

    def __call__(self, items: Iterator[Any], loop: Loop) -> None:
        """Answer items.

        Raises:
            ToolassayError: The run cannot go on, or workers keep dying.
            KeyboardInterrupt: At Ctrl-C. Shards in flight are lost; the next start answers them.
        """
        task = replace(self.task, retry=loop.retry)
        try:
            for answered in self.engine.map(task, self._shards(items)):
                for attempt in answered.attempts:
                    self.meter.after(attempt)
                self.journal.extend(answered.lines)
                loop.summary.add(answered.summary)
                loop.retry.replaced += answered.replaced
                for _ in range(answered.summary.outcomes.total()):
                    loop.done()
                if answered.error is not None:
                    raise answered.error
        except KeyboardInterrupt:
            loop.summary.interrupted = True
            raise

    def _shards(self, items: Iterator[Any]) -> Iterator[Shard]:
        size = max(1, min(MOST_ITEMS, self.asked // (_SHARDS_A_WORKER * self.engine.workers)))
        while part := tuple(islice(items, size)):
            yield Shard(part, b"".join(map(self.journal.line, map(self.task.work.key_of, part))))
