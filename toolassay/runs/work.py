"""What a run asks a model: the interface between the one `Run` and everything that uses it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from toolassay.console.screen import Screen
from toolassay.console.tables import Result
from toolassay.errors import UsageError
from toolassay.files.program_files import ProgramFiles
from toolassay.models import ChatModel
from toolassay.records.dataset import RequestId
from toolassay.runs.budget import Estimate, ExpectedUsage
from toolassay.runs.items import ItemWork, answer_items, preview_items
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import Ledger
from toolassay.runs.manifest import MAX_TOKENS, RetryPlan
from toolassay.runs.prices import Tariff
from toolassay.runs.record import RunRecord
from toolassay.runs.runner import Loop, RunSummary, report_failures, report_stop
from toolassay.runs.trials import Trial

CONFLICT_FIX = "use those settings, another --prediction_dir, or --force true (keeps the old run)"


@dataclass(frozen=True, repr=False)
class Inference(Result):
    """How a run ended.

    Attributes:
        written: lines of the prediction file.
        already: items that were answered before.
        summary: what happened to the other items.
        adopted: lines of an earlier prediction file that were taken over without a raw answer.
        expected: what a dry run foresees; of an agent the least and the most.
        malformed: lines without a usable answer, those of earlier starts included.
    """

    written: int
    already: int
    summary: RunSummary
    adopted: int = 0
    expected: tuple[ExpectedUsage, ...] = ()
    malformed: int = 0


@dataclass(frozen=True)
class OpenRun:
    """A run that is open: its models, its journal, and how the loop over its items goes.

    Attributes:
        model: the model under test.
        helpers: the models that the work named, by name; also the model under test, by its own.
        journal: of this run.
        ledger: what it has used.
        loop: concurrency, progress and summary.
        record: what the manifest says of this start.
    """

    model: ChatModel
    helpers: Mapping[str, ChatModel]
    journal: Journal
    ledger: Ledger
    loop: Loop
    record: RunRecord


@dataclass(frozen=True)
class Written:
    """What a prediction file holds: its lines, and how many of them have no usable answer."""

    lines: int
    malformed: int = 0


@dataclass(frozen=True)
class WorkFacts:
    """What is known of some work before it begins.

    Attributes:
        noun: of one item, in the singular.
        settings: everything that shapes answers beside the model and its server; a run is only continued
            with the same.
        parameters: of the requests; their `max_tokens` limits what a dry run foresees.
        size: items of the folder.
        asked: items of this start.
        hashes: SHA-256 of the files that the items are made of, by name, for the manifest.
        helpers: names of further models that are asked.
        asks: whether a model is asked at all; recorded answers are not.
        stage: what the progress display calls the run.
        not_counted: what a dry run does not include beside retries, as a clause.
        conflict_fix: what the user can do where the settings contradict the run.
        extra: more for the manifest.
        adopts: whether a prediction file without a journal holds answers of the user's, which are taken over,
            and kept as a dated copy where the run starts again.
        has_summary: whether `summary.json` is written beside the journal.
        in_steps: whether an item is a conversation, whose requests depend on the answers before them.
        program: the files of an agent of the user's, which are part of `settings`; None for a model.
    """

    noun: str
    settings: Mapping[str, Any]
    parameters: Mapping[str, Any]
    size: int
    asked: int
    hashes: Mapping[str, str] = field(default_factory=dict)
    helpers: Sequence[str] = ()
    asks: bool = True
    stage: str = "infer"
    not_counted: str = ""
    conflict_fix: str = CONFLICT_FIX
    extra: Mapping[str, Any] = field(default_factory=dict)
    adopts: bool = False
    has_summary: bool = True
    in_steps: bool = False
    program: ProgramFiles | None = None

    @property
    def max_tokens(self) -> int | None:
        """Limit of an answer that is sent; None for none."""
        limit = self.settings.get(MAX_TOKENS, self.parameters.get(MAX_TOKENS))
        return limit if isinstance(limit, int) else None


class Work(ABC):
    """The items of a data folder that one start of a run asks a model about."""

    @property
    @abstractmethod
    def facts(self) -> WorkFacts:
        """What is known before a run; the same each time."""

    @property
    @abstractmethod
    def items(self) -> ItemWork[Any]:
        """The work on single items."""

    @property
    @abstractmethod
    def chosen(self) -> Iterable[Any]:
        """The items of this start."""

    @abstractmethod
    def write(self, output: Path, journal: Journal) -> Written:
        """Write the prediction file from the journal, in the order of the items; none where nothing ended."""

    def answer(self, run: OpenRun, items: ItemWork[Any], chosen: Iterable[Any]) -> int:
        """Ask the model about what the journal does not settle yet; how many items it settled before.

        Args:
            run: the open run.
            items: the work on single items.
            chosen: the items.

        Raises:
            ToolassayError: the run cannot go on.
            KeyboardInterrupt: at Ctrl-C, when what was in flight has ended.
        """
        helpers = {name: run.helpers[name] for name in self.facts.helpers}
        return answer_items(items, chosen, run.model, helpers, run.journal, run.loop)

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add what is not answered yet to `estimate`; how much is answered. Nothing is sent or written."""
        return preview_items(self.items, self.chosen, journal, estimate, retry)

    def check_engine(self) -> None:
        """Check that `--engine` may spread the items.

        Raises:
            UsageError: it may not.
        """
        raise UsageError(f"--engine does not run {self.facts.noun}s", fix="omit --engine")

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 of what the items are made of, by name, once `prepare` was called."""
        return self.facts.hashes

    def adopt(self, output: Path, journal: Journal) -> int:
        """Take over lines of a prediction file that the journal does not know; how many."""
        return 0

    def expected(self, estimate: Estimate, price: Tariff | None) -> tuple[ExpectedUsage, ...]:
        """What the run will use; of items that take several answers the least and the most."""
        return (estimate.expected(price),)

    def range_lines(self, expected: Sequence[ExpectedUsage], estimate: Estimate) -> Iterator[str]:
        """More lines of a dry run: the range, and the first request."""
        yield from ()

    def notice(self, journal: Journal) -> str:
        """A warning about what the journal holds at the end; empty for none."""
        return ""

    def output(self, trial: Trial) -> Path:
        """The prediction file."""
        return trial.output

    def prepare(self) -> None:
        """Make what has to exist before the run is opened; nothing is written earlier."""
        return

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        """Say how the run ended."""
        summary = inference.summary
        if not summary.outcomes:
            noun = self.facts.noun
            screen.show(f"{output}: all {inference.already} {noun}s are answered already, nothing to do")
            return
        outcomes = ", ".join(f"{count} {name}" for name, count in sorted(summary.outcomes.items()))
        screen.show(f"{output}: {inference.written} lines ({outcomes}; {inference.already} answered before)")
        report_failures(summary, screen)
        report_stop(summary, screen)


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Named = TypeVar("Named", bound=_Named)


def chosen_items(
    items: Sequence[Named], ids: Collection[RequestId] | None, limit: int | None, *, noun: str
) -> list[Named]:
    """The items that a start asks about: those of some ids, and of these the first N.

    Raises:
        UsageError: an id that no item has, or no id at all.
    """
    wanted_ids = None if ids is None else {str(name) for name in ids}
    if wanted_ids is not None and not wanted_ids:
        raise UsageError("--ids names no id", fix="write one id a line, or a JSON list")
    if wanted_ids is not None and (unknown := wanted_ids - {item.id for item in items}):
        raise UsageError(f"no {noun} has the id {min(unknown)!r}", fix="check --ids: one id a line")
    return [item for item in items if wanted_ids is None or item.id in wanted_ids][:limit]
