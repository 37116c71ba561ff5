"""The one run: folder, ledger, journal, manifest, progress, trials, resume, summary."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.console.screen import WARNING, Figures
from toolassay.engines import Engine, open_engine
from toolassay.errors import UsageError
from toolassay.files.data_files import keep_dated_copy, write_json
from toolassay.files.locks import refuse_links
from toolassay.models import ChatModel, ChatRequest, ModelOptions, create_model
from toolassay.models.registry import is_served
from toolassay.models.wire_format import parameters_of
from toolassay.runs.batches import MOST_REQUESTS, check_batch, open_batches, refused_open_batches
from toolassay.runs.budget import Estimate, ExpectedUsage, completion_limit
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import ANSWERS, FREE, NO_PRICE, Ledger, prices_within
from toolassay.runs.manifest import (
    JOURNAL,
    SUMMARY,
    RetryPlan,
    ToolUse,
    keep_run,
    needs_new_run,
    open_run,
    read_manifest,
    retry_plan,
)
from toolassay.runs.outcomes import TOOLS_MISSING
from toolassay.runs.prices import Tariff
from toolassay.runs.record import RunRecord, compared_program
from toolassay.runs.runner import Loop, RunSummary
from toolassay.runs.settings import RunSettings
from toolassay.runs.spread_items import ItemsTask, Spread, check_spread
from toolassay.runs.tool_arrival import ToolArrival, Verdict
from toolassay.runs.trials import SEED, Trial
from toolassay.runs.wording import Wording
from toolassay.runs.work import Inference, OpenRun, Work

if TYPE_CHECKING:
    from toolassay.runs.batches.collector import Batches


_NOTHING = Path(os.devnull)  # the journal and the predictions of a run that starts again
_LIMITS = ("at least", "at most")


class Run:
    """One trial of a run of one model. Prices and limits are checked here, before anything is written.

    Args:
        work: what the model is asked.
        trial: where the run is kept.
        settings: model, limits and choices of this start.
        wording: of the prompts, if some were rendered already.
        beside: ledgers of other runs that share the budget.

    Raises:
        UsageError: the table of prices is malformed, or a limit in dollars needs a price that is not known.
    """

    def __init__(
        self,
        work: Work,
        trial: Trial,
        settings: RunSettings,
        wording: Wording | None = None,
        beside: Sequence[Path] = (),
    ) -> None:
        self._work = work
        self._trial = trial
        self._settings = settings
        self._unnoted: list[str] = []  # settings: files that an agent wrote before a start was killed
        self._wording = wording or trial.wording(again=settings.choices.force)
        with self._wording.used():
            self._facts = work.facts
            self._options = trial.options(settings.endpoint)
        asked_models = [trial.llm] if self._facts.asks else []
        limits = settings.limits
        check_batch(
            self._options,
            trial.llm if self._facts.asks else None,
            in_steps=self._facts.in_steps,
            cancel=settings.choices.batch_cancel,
        )
        names = [*asked_models, *self._facts.helpers]
        self._ledger = Ledger(
            trial.ledger,
            prices=prices_within(names, limits.budget, limits.prices, settings.endpoint),
            budget=limits.budget,
            beside=[*trial.other_ledgers, *beside],
            screen=settings.screen,
        )

    @property
    def _output(self) -> Path:
        return self._work.output(self._trial)

    @property
    def price(self) -> Tariff | None:
        """Of the model under test; None where none is known."""
        return self._ledger.prices.get(self._trial.llm)

    def carry_out(self) -> Inference:
        """Do the work that is left and write the predictions; with `dry_run`, only say what that would be.

        Raises:
            UsageError: settings that contradict the run.
            ToolassayError: a model cannot be reached.
        """
        choices = self._settings.choices
        with self._wording.used(), ExitStack() as opened:
            retry, compared = self._compared()
            if choices.engine is not None:
                check_spread(self._trial.llm, self._facts.helpers, self._settings.limits.budget)
                self._work.check_engine()
            if choices.dry_run:
                return self._show_foreseen()
            engine = choices.engine and opened.enter_context(open_engine(choices.engine))
            trial = self._trial
            facts = self._facts
            screen = self._settings.screen
            folder = trial.run_folder
            output = self._output
            record = RunRecord(folder, self._options, command=self._settings.command, screen=screen)
            batches = self._batches(record)
            models, _ = self._models(record, batches)
            self._work.prepare()
            self._make_room(compared)
            if any(map(is_served, models)):
                what = (
                    "requests"
                    if facts.program is None
                    else "requests that the agent makes to OPENAI_BASE_URL"
                )
                screen.say(f"{what} go to {self._options.endpoint}")
            summary = RunSummary()
            tools = self._tool_arrival(models[trial.llm], record)
            about = {
                "requests": facts.size,
                "asked": facts.asked,
                **facts.extra,
                "sha256": dict(self._work.hashes),
            }
            with (
                Journal(folder / JOURNAL) as journal,
                self._ledger as ledger,
                record.start(list(models.values()) if facts.asks else [], about, retry),
                refused_open_batches(folder)
                if batches is None
                else batches.open(journal, (path.parent for path in trial.other_ledgers)),
            ):
                self._wording.record()
                record.leave_out(self._unnoted)
                adopted = self._work.adopt(output, journal) if output.exists() else 0
                try:
                    figures = partial(_figures, ledger, summary)
                    with screen.progress(facts.stage, facts.asked, figures) as advance:
                        spread = self._spread(engine, journal) if engine else None
                        most = self._settings.limits.multiworker
                        loop = Loop(most, advance, screen.interrupted, summary, retry, spread=spread)
                        if batches is not None:
                            most = max(1, min(facts.asked, MOST_REQUESTS))
                            loop = replace(loop, concurrency=most, in_progress=batches.count)
                        model = models[trial.llm] if trial.llm in FREE else tools
                        opened_run = OpenRun(model, models, journal, ledger, loop, record)
                        already = self._work.answer(opened_run, self._work.items, self._work.chosen)
                finally:
                    written = self._work.write(output, journal)
                    record.tool_use(tools.facts)
                if facts.has_summary:
                    outcomes = dict(sorted(summary.outcomes.items()))
                    ended = {"lines": written.lines, "answered_before": already, "outcomes": outcomes}
                    used = {"stop": summary.stop, "used": ledger.to_json()}
                    write_json(folder / SUMMARY, ended | used)
                warning = self._work.notice(journal)
            inference = Inference(written.lines, already, summary, adopted, malformed=written.malformed)
            self._report(inference, retry, tools, warning)
            return inference

    def _tool_arrival(self, model: ChatModel, record: RunRecord) -> ToolArrival:
        """The model, watched for whether the tools of its requests reach it."""

        def warn(verdict: Verdict) -> None:
            record.tool_use(tools.facts)
            self._settings.screen.say(f"{WARNING}{_tools_warning(verdict, tools.facts, self._facts.noun)}")

        tools = ToolArrival(model, read_manifest(self._trial.run_folder).tool_use, warn)
        return tools

    def _spread(self, engine: Engine, journal: Journal) -> Spread:
        """How the items are answered in the processes of an engine."""
        seed = self._options.extra_body.get(SEED)
        task = ItemsTask(self._work.items, self._trial.llm, tuple(self._facts.helpers), seed)
        return Spread(engine, task, journal, self._ledger, self._facts.asked)

    def _compared(self) -> tuple[RetryPlan, dict[str, Any]]:
        """What this start asks again, and its settings as they are compared with those of the run."""
        trial = self._trial
        endpoint = self._settings.endpoint
        program = self._facts.program
        settings = {**self._facts.settings, "llm": trial.llm, **trial.settings(endpoint)}
        if program is not None:
            first = replace(trial, number=0)
            settings, self._unnoted = compared_program(settings, program, trial.run_folder, first.run_folder)
        return retry_plan(
            trial.run_folder,
            settings,
            wanted=self._settings.choices.retry_malformed,
            max_tokens=self._facts.max_tokens,
        )

    def _report(self, inference: Inference, retry: RetryPlan, tools: ToolArrival, warning: str) -> None:
        """Say how the run ended, and what the user should know about it."""
        summary = inference.summary
        facts = self._facts
        screen = self._settings.screen
        self._work.report(inference, self._output, self._trial.run_folder / JOURNAL, screen)
        if summary.outcomes:
            tools.check()
            for text in filter(None, (warning, tools.leak_notice)):
                screen.say(f"{WARNING}{text}")
        if retry.wanted:
            screen.say(f"--retry_malformed: {retry.replaced} {facts.noun}s have a new answer")
        if retry.left:
            screen.say(
                f"{WARNING}{retry.left} {facts.noun}s without an answer were not asked: --max_tokens is not "
                "that of the run. The command of the run, without --retry_malformed, asks them"
            )
        if summary.changed:
            screen.say(
                f"{WARNING}{summary.changed} recorded answers are to other requests than are sent now, and"
                " were requested again"
            )

    def _batches(self, record: RunRecord) -> Batches | None:
        """What sends the requests as a batch; None if they are sent one by one."""
        if self._options.batch is None:
            return None
        from toolassay.runs.batches.collector import Batches

        trial = self._trial
        run = self._settings
        options = record.options_of(trial.llm)
        return Batches(trial.run_folder, options, self._ledger, run.screen, cancel=run.choices.batch_cancel)

    def _models(
        self, record: RunRecord, batches: Batches | None = None
    ) -> tuple[dict[str, ChatModel], ModelOptions]:
        """The models by name, and the options of the model under test, with what its endpoint refuses."""
        options = {name: record.options_of(name) for name in (self._trial.llm, *self._facts.helpers)}
        models: dict[str, ChatModel] = {}
        if any(map(is_served, options)):
            self._options.check_sources()
        for name, model_options in options.items():
            if batches is not None and is_served(name):
                models[name] = create_model(name, batches.options(model_options), meter=batches)
            else:
                models[name] = create_model(name, model_options, meter=self._ledger)
        return models, options[self._trial.llm]

    def _make_room(self, compared: Mapping[str, Any]) -> None:
        """Set the run before aside where this one starts again."""
        facts = self._facts
        output = self._output
        folder = self._trial.run_folder
        force = self._settings.choices.force
        refuse_links(folder.parent, folder)
        kept = open_run(folder, compared, force=force, conflict_fix=self._facts.conflict_fix)
        if kept is not None:
            self._keep_predictions(output, kept)
        elif facts.adopts and force and output.exists() and not (folder / JOURNAL).exists():
            self._settings.screen.say(f"{output} is kept as {keep_dated_copy(output).name}")
            output.unlink()

    def _keep_predictions(self, output: Path, kept_folder: Path) -> None:
        """Put the predictions of a run that was moved beside its journal."""
        if output.exists():
            output.replace(kept_folder / output.name)
        self._settings.screen.say(f"the run before is kept as {kept_folder}")
        for name in open_batches(kept_folder):
            self._settings.screen.say(f"{WARNING}its {name} is still open: cancel it at the server")

    def make_room_for_agent(self, trials: int = 1) -> None:
        """With `force`, set the trials of an agent aside if all of them are finished; else they go on.

        Raises:
            UsageError: Another process is writing one.
        """
        all_trials = [replace(self._trial, number=number) for number in range(trials)]
        if (
            self._facts.program is not None
            and self._settings.choices.force
            and all(map(self._is_finished, all_trials))
        ):
            for trial in all_trials:
                self._keep_predictions(self._work.output(trial), keep_run(trial.run_folder))

    def _is_finished(self, trial: Trial) -> bool:
        """Whether a trial has an end of each item of this start."""
        file = trial.run_folder / JOURNAL
        items = self._work.items
        if not file.exists():
            return False
        with Journal(file) as journal:
            return all(items.is_settled(items.entry_of(journal, item)) for item in self._work.chosen)

    def foreseen(self) -> tuple[int, Estimate]:
        """How many items are answered, and what the others will use; nothing is sent or written.

        Raises:
            UsageError: settings that contradict the run.
        """
        retry, compared = self._compared()
        journal_file = self._trial.run_folder / JOURNAL
        force = self._settings.choices.force
        starts_again = needs_new_run(
            self._trial.run_folder,
            compared,
            force=force,
            conflict_fix=self._facts.conflict_fix,
            read_only=True,
        ) or (self._facts.adopts and force and not journal_file.exists())
        run = self._settings
        folder = self._trial.run_folder
        record = RunRecord(folder, self._options, command=run.command, screen=run.screen)
        _, options = self._models(record)  # as a run would refuse them, and with what the server refuses
        parameters = parameters_of(ChatRequest([], self._facts.parameters), options)
        estimate = Estimate(completion_limit(parameters))
        with (
            self._wording.used(),
            Journal(_NOTHING if starts_again else journal_file, read_only=True) as journal,
        ):
            output = _NOTHING if starts_again else self._output
            return self._work.preview(output, journal, estimate, retry), estimate

    def _show_foreseen(self) -> Inference:
        llm = self._trial.llm
        screen = self._settings.screen
        already, estimate = self.foreseen()
        for line in self._dry_run_lines(already, estimate):
            screen.show(line)
        expected = self._work.expected(estimate, self.price)
        if llm in FREE:  # a model without a server uses no tokens
            expected = tuple(ExpectedUsage(usage.requests, 0, 0, 0.0) for usage in expected)
        for line in self._work.range_lines(expected, estimate):
            screen.show(line)
        return Inference(0, already, RunSummary(), expected=expected)

    def _dry_run_lines(self, already: int, estimate: Estimate) -> Iterator[str]:
        """What is shown in place of a run: requests, tokens, money, and where they would go."""
        llm = self._trial.llm
        options = self._options
        helpers = [name for name in self._facts.helpers if name not in FREE]
        yield "dry run: nothing is sent, nothing is written"
        yield f"model: {llm}{f' at {options.endpoint}' if is_served(llm) else ', without a server'}"
        total = already + estimate.requests
        yield f"requests: {estimate.requests} to send; {already} of {total} {self._facts.noun}s are answered"
        if llm in FREE:
            asked = f"; what {', '.join(helpers)} costs is not counted" if helpers else ""
            yield f"money: none, {llm if helpers else 'it'} costs nothing{asked}"
            return
        how = f"as the {estimate.answers} answers there are" if estimate.answers else "4 bytes a token"
        yield f"tokens to read: about {estimate.prompt_tokens} ({how})"
        most = estimate.most_completion_tokens
        likely = estimate.likely_completion_tokens
        yield (
            f"tokens to write: {most} at most ({estimate.limit} an answer)"
            f"{'' if likely is None else f', about {likely} if as long as the answers there are'}"
        )
        price = self.price
        if price is None:
            yield f"money: {NO_PRICE}"
        elif price.local:
            yield f"money: none ({price.words})"
        else:
            yield (
                f"money: up to about ${estimate.cost(price, most=True):.4f}"
                f"{'' if likely is None else f', likely ${estimate.cost(price, most=False):.4f}'}"
            )
            yield f"price: {price.words}"
        yield f"not counted: tries after a failure{self._facts.not_counted}"


def run_trials(work: Callable[[int], Work], prediction_folder: Path, settings: RunSettings) -> Inference:
    """Run every trial until the budget ends one; how they ended together.

    Args:
        work: of the trial of a number, from 0.
        prediction_folder: prediction folder of trial 0.
        settings: of this start, with the number of trials.

    Raises:
        UsageError: fewer than one trial.
    """
    trials = settings.choices.trials
    screen = settings.screen
    if trials < 1:
        raise UsageError(f"{trials} trials", fix="give --trials 1 or more")
    inferences: list[Inference] = []
    for number in range(trials):
        if trials > 1:
            screen.say(f"trial {number + 1} of {trials}")
        run = Run(work(number), Trial(prediction_folder, settings.model.llm, number), settings)
        if not number:
            run.make_room_for_agent(trials)
        inferences.append(run.carry_out())
        left = trials - number - 1
        if inferences[-1].summary.stop is not None and left:
            screen.say(f"{WARNING}the budget leaves nothing for {left} more of the {trials} trials")
            break
    if len(inferences) > 1 and all(inference.expected for inference in inferences):
        for limit, sums in zip(
            _LIMITS, zip(*(inference.expected for inference in inferences), strict=True), strict=False
        ):
            total = reduce(add, sums)
            many = " " + limit if len(inferences[0].expected) > 1 else ""
            screen.show(f"all {trials} trials together{many}: {total.words}")
    if len(inferences) == 1:
        return inferences[0]
    summary = RunSummary()
    for inference in inferences:
        summary.add(inference.summary)
        summary.stop = summary.stop or inference.summary.stop
    lines_written = sum(inference.written for inference in inferences)
    already = sum(inference.already for inference in inferences)
    return Inference(lines_written, already, summary, sum(inference.adopted for inference in inferences))


def _figures(ledger: Ledger, summary: RunSummary) -> Figures:
    """How far a run is, for the progress display."""
    since = Counter(ledger.totals.outcomes)
    since.subtract(ledger.before_start)
    answers, timeouts = (sum(since[name] for name in names) for names in (ANSWERS, ("timeout", "time limit")))
    return Figures(sum(summary.outcomes.values()), summary.failed, answers, timeouts, ledger.used)


def _tools_warning(verdict: Verdict, facts: ToolUse, noun: str) -> str:
    """What is wrong with the tools of a run, and what to do."""
    silent = f"{facts.items} {noun}s made no call"
    if verdict == "unknown":
        return (
            f"the tools may not reach the model: {silent}, and the server reports no prompt tokens. See "
            "docs/servers.md (Tools that never arrive)"
        )
    return (
        f"the tools do not reach the model: {silent}, and a prompt of {facts.prompt_tokens:,} tokens "
        f"cannot hold tools of {facts.tool_characters:,} characters. Turn tool calls on in the server, or "
        "choose another --agent; see docs/servers.md (Tools that never arrive). Reports mark this run "
        f"{TOOLS_MISSING.sign}"
    )
