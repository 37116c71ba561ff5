"""What every run of an agent has: its place, its books, its manifest, its journal, its prediction file."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from toolassay.benchmarks.taskbench.infer import Inference
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.files import write_json
from toolassay.models import ChatModel, ChatRequest, ModelOptions, create_model
from toolassay.models.wire_format import parameters_of
from toolassay.runs import Journal, Loop, RunSummary, gives_way, open_run
from toolassay.runs.books import Books, report_again, report_failures, report_stop, summary_facts
from toolassay.runs.budget import Estimate, completion_limit
from toolassay.runs.ledger import FREE
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.marks import TOOLS_MISSING
from toolassay.runs.record import RunRecord
from toolassay.runs.recorded_usage import SUMMARY
from toolassay.runs.retry_malformed import MAX_TOKENS, Again, again_of
from toolassay.runs.tool_arrival import ToolArrival, Verdict, known_tool_use
from toolassay.runs.trials import Trial
from toolassay.screen import WARNING, Screen

WAYS_ON = "use those settings, another --prediction_dir, or --force true (keeps the old run)"


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Item = TypeVar("Item", bound=_Named)


class Work(Protocol):
    """What a benchmark has its agent do."""

    def run(
        self,
        model: ChatModel,
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Do what the journal does not settle yet; returns how many items it did."""
        ...


@dataclass(frozen=True)
class AgentRun:
    """Where a run of an agent is, and how it is carried out.

    Args:
        trial: which run of which model.
        options: where served models are.
        books: prices and limits.
        multiworker: items in flight; None finds what the server bears.
        force: begin anew where the run had other settings.
        command: what was typed, for the manifest.
        screen: who listens.
        what: the run does, for its progress.
        ways_on: what the user can do where settings contradict the run.
        retry_malformed: ask malformed and cut-off items again.
    """

    trial: Trial
    options: ModelOptions
    books: Books
    multiworker: int | None
    force: bool
    command: Sequence[str] | None
    screen: Screen
    what: str = "infer"
    ways_on: str = WAYS_ON
    retry_malformed: bool = False

    def settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All that shapes answers, those of the model and its server included."""
        return {**settings, "llm": self.trial.llm, **self.trial.settings(self.options)}

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
        notice: Callable[[Journal], str] = lambda journal: "",
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
            notice: a warning about what the journal holds at the end; empty for none.

        Raises:
            UsageError: settings that contradict the run.
            ToolassayError: the model cannot be reached.
        """
        trial, folder, output = self.trial, self.trial.run_folder, self.trial.output
        options = trial.options(self.options)
        record = RunRecord(folder, options, command=self.command, screen=self.screen)
        model = create_model(trial.llm, record.options_of(trial.llm), meter=self.books)
        again, compared = self.again(settings)
        kept = open_run(folder, compared, force=self.force, ways_on=self.ways_on)
        if kept is not None:
            if output.exists():
                output.replace(kept / output.name)
            self.screen.say(f"the run before is kept as {kept}")
        summary = RunSummary()

        def warn(verdict: Verdict) -> None:
            record.tool_use(tools.facts)
            self.screen.say(f"{WARNING}{_tools_warning(verdict, tools.facts, what)}")

        tools = ToolArrival(model, known_tool_use(folder), warn)
        with (
            Journal(folder / JOURNAL) as journal,
            self.books.open(folder, self.screen, trial.other_ledgers) as ledger,
            record.start([model] if asks else [], facts, again),
        ):
            try:
                with self.screen.progress(self.what, asked, lambda: self.books.figures(summary)) as advance:
                    loop = Loop(self.multiworker, advance, self.screen.interrupted, summary, again)
                    already = work.run(model if trial.llm in FREE else tools, journal, loop)
            finally:
                written = write(output, journal)
                record.tool_use(tools.facts)
            write_json(folder / SUMMARY, summary_facts(written, already, summary, ledger))
            warning = notice(journal)
        self._report(written, already, summary, what)
        if summary.outcomes:
            tools.check()
            if warning:
                self.screen.say(f"{WARNING}{warning}")
        report_again(again, what, self.screen)
        return Inference(written, already, summary)

    def again(self, settings: Mapping[str, Any]) -> tuple[Again, dict[str, Any]]:
        """What this start asks again, and all settings as they are compared with those of the run.

        Raises:
            UsageError: the manifest of the run cannot be read.
        """
        limit = settings.get(MAX_TOKENS)
        whole = self.settings(settings)
        return again_of(self.trial.run_folder, whole, wanted=self.retry_malformed, max_tokens=limit)

    @contextmanager
    def foreseen(
        self, settings: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> Iterator[tuple[Journal, Estimate, Again]]:
        """For a dry run: the journal this run would go on with, an estimate to fill, and what is asked again.

        Nothing is written.

        Args:
            settings: as `carry_out` takes them.
            parameters: of the requests; they limit the tokens of an answer.

        Raises:
            UsageError: settings that contradict the run.
        """
        folder, options = self.trial.run_folder, self.trial.options(self.options)
        again, compared = self.again(settings)
        anew = gives_way(folder, compared, force=self.force, ways_on=self.ways_on, read_only=True)
        estimate = Estimate(completion_limit(parameters_of(ChatRequest([], parameters), options)))
        with Journal(Path(os.devnull) if anew else folder / JOURNAL, read_only=True) as journal:
            yield journal, estimate, again

    def _report(self, written: int, already: int, summary: RunSummary, what: str) -> None:
        output = self.trial.output
        if not summary.outcomes:
            self.screen.show(f"{output}: all {already} {what} are done already, nothing to do")
            return
        told = ", ".join(f"{count} {name}" for name, count in sorted(summary.outcomes.items()))
        self.screen.show(f"{output}: {written} lines ({told}; {already} done before)")
        report_failures(summary, self.screen)
        report_stop(summary, self.screen)


def _tools_warning(verdict: Verdict, facts: Mapping[str, Any], what: str) -> str:
    """What is wrong with the tools of a run, and what to do."""
    silent = f"{facts['items']} {what} made no call"
    if verdict == "unknown":
        return (
            f"the tools may not reach the model: {silent}, and the server reports no prompt tokens. See "
            "docs/servers.md (Tools that never arrive)"
        )
    return (
        f"the tools do not reach the model: {silent}, and a prompt of {facts['prompt_tokens']:,} tokens "
        f"cannot hold tools of {facts['tool_characters']:,} characters. Turn tool calls on in the server, or "
        "choose another --agent; see docs/servers.md (Tools that never arrive). Reports mark this run "
        f"{TOOLS_MISSING.sign}"
    )


def chosen_items(
    items: Sequence[Item], ids: Collection[RequestId] | None, limit: int | None, *, what: str
) -> list[Item]:
    """The items that a start asks about: those of some ids, and of these the first so many.

    Raises:
        UsageError: an id that no item has, or no id at all.
    """
    wanted = None if ids is None else {str(name) for name in ids}
    if wanted is not None and not wanted:
        raise UsageError("--ids names no id", fix="write one id a line, or a JSON list")
    if wanted is not None and (unknown := wanted - {item.id for item in items}):
        raise UsageError(f"no {what} has the id {min(unknown)!r}", fix="check --ids: one id a line")
    return [item for item in items if wanted is None or item.id in wanted][:limit]


def refuse_settings(benchmark: str, **settings: Any) -> None:
    """Refuse what a benchmark does not have.

    Raises:
        UsageError: one of the settings is given.
    """
    for name, value in settings.items():
        if value:
            raise UsageError(f"--{name} is not for a folder of {benchmark}", fix="leave it out")
