"""What every run of an agent has: its place, its books, its manifest, its journal, its prediction file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from toolgraph.benchmarks.taskbench.infer import Inference
from toolgraph.errors import UsageError
from toolgraph.files import safe_name, write_json
from toolgraph.models import ChatModel, ModelOptions, create_model
from toolgraph.runs import Journal, RunSummary, open_run
from toolgraph.runs.manifest import JOURNAL
from toolgraph.runs.recorded import SUMMARY
from toolgraph.stages.record import RunRecord
from toolgraph.stages.screen import Screen
from toolgraph.stages.usage import Books, report_failures, report_stop, summary_facts

WAYS_ON = "use those settings, another --prediction_dir, or --force true (keeps the old run)"


class Work(Protocol):
    """What a benchmark has its agent do."""

    def run(
        self,
        model: ChatModel | None,
        journal: Journal,
        *,
        concurrency: int | None,
        done: Callable[[], None],
        interrupted: Callable[[int], None],
        summary: RunSummary,
    ) -> int:
        """Do what the journal does not settle yet; returns how many items it did."""
        ...


@dataclass(frozen=True)
class AgentRun:
    """Where a run of an agent is, and how it is carried out.

    Args:
        place: the folder of predictions.
        llm: who decides.
        options: where served models are.
        books: prices and limits.
        multiworker: items in flight; None finds what the server bears.
        force: begin anew where the run had other settings.
        command: what was typed, for the manifest.
        screen: who listens.
    """

    place: Path
    llm: str
    options: ModelOptions
    books: Books
    multiworker: int | None
    force: bool
    command: Sequence[str] | None
    screen: Screen

    @property
    def output(self) -> Path:
        """The prediction file."""
        return self.place / f"{safe_name(self.llm)}.json"

    @property
    def folder(self) -> Path:
        """Of journal, ledger and manifest."""
        return self.place / "runs" / safe_name(self.llm)

    def carry_out(
        self,
        work: Work,
        write: Callable[[Path, Journal], int],
        *,
        settings: Mapping[str, Any],
        facts: Mapping[str, Any],
        asked: int,
        what: str,
        asks: bool = True,
    ) -> Inference:
        """Do the work that is left and write the predictions.

        Args:
            work: of the benchmark.
            write: writes the prediction file from the journal; returns its lines.
            settings: all that shapes answers, beside the model and its server.
            facts: for the manifest.
            asked: items of this start.
            what: an item is, in the plural.
            asks: whether a model is asked at all.

        Raises:
            UsageError: settings that contradict the run.
            ToolgraphError: the model cannot be reached.
        """
        record = RunRecord(self.folder, self.options, command=self.command, screen=self.screen)
        options = record.options_of(self.llm)
        model = create_model(self.llm, options, meter=self.books) if asks else None
        kept = open_run(
            self.folder,
            {"llm": self.llm, **settings, **options.settings},
            force=self.force,
            ways_on=WAYS_ON,
        )
        if kept is not None:
            if self.output.exists():
                self.output.replace(kept / self.output.name)
            self.screen.say(f"the run before is kept as {kept}")
        summary = RunSummary()
        with (
            Journal(self.folder / JOURNAL) as journal,
            self.books.open(self.folder, self.screen) as ledger,
            record.start([] if model is None else [model], facts),
        ):
            try:
                with self.screen.progress("infer", asked, lambda: self.books.figures(summary)) as advance:
                    already = work.run(
                        model,
                        journal,
                        concurrency=self.multiworker,
                        done=advance,
                        interrupted=self.screen.interrupted,
                        summary=summary,
                    )
            finally:
                written = write(self.output, journal)
            write_json(self.folder / SUMMARY, summary_facts(written, already, summary, ledger))
        self._report(written, already, summary, what)
        return Inference(written, already, summary)

    def _report(self, written: int, already: int, summary: RunSummary, what: str) -> None:
        if not summary.outcomes:
            self.screen.show(f"{self.output}: all {already} {what} are done already, nothing to do")
            return
        told = ", ".join(f"{count} {name}" for name, count in sorted(summary.outcomes.items()))
        self.screen.show(f"{self.output}: {written} lines ({told}; {already} done before)")
        report_failures(summary, self.screen)
        report_stop(summary, self.screen)


def refuse_settings(benchmark: str, **settings: Any) -> None:
    """Refuse what a benchmark does not have.

    Raises:
        UsageError: one of the settings is given.
    """
    for name, value in settings.items():
        if value:
            raise UsageError(f"--{name} is not for a folder of {benchmark}", fix="leave it out")
