"""The infer stage on a folder of TaskBench: one plan for every request."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.infer import PARAMETERS, Inference, Inferrer
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import keep_dated_copy, safe_name, write_json
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ModelOptions, create_model
from toolassay.models.refused_parameters import without_default
from toolassay.models.registry import is_served
from toolassay.models.structured_output import Structured, json_schema
from toolassay.models.wire_format import parameters_of
from toolassay.prompt_templates import Wording
from toolassay.requests import Chosen, Requests
from toolassay.runs import Budget, Journal, Loop, RunSummary, gives_way, open_run
from toolassay.runs.books import Books, report_again, report_failures, report_stop, summary_facts
from toolassay.runs.budget import Estimate, completion_limit
from toolassay.runs.dry_run import Counts, dry_run_lines, expected
from toolassay.runs.manifest import JOURNAL
from toolassay.runs.record import RunRecord, hashes
from toolassay.runs.recorded_usage import SUMMARY
from toolassay.runs.retry_malformed import MAX_TOKENS, Again, again_of
from toolassay.runs.trials import Trial
from toolassay.schemas import plan_schema
from toolassay.screen import WARNING, Screen
from toolassay.stages.workfolder import graph_fingerprint
from toolassay.text_formatting import count_of

_NOTHING = Path(os.devnull)  # the journal and the predictions of a run that begins anew
WAYS_ON = "use those settings, --tag true, another --prediction_dir, or --force true (keeps the old run)"


@dataclass(frozen=True)
class PlanRun:
    """A model that plans for the requests of a folder.

    Args:
        folder: of the requests.
        place: the folder of predictions.
        llm: who plans.
        options: where served models are.
        parameters: of a request.
        graph: the tools.
        requests: all of the folder; gone through several times.
        chosen: those that this start asks.
        demos: labels that demonstrate.
        template: instead of the built-in wording.
        rewriter: who has unreadable answers rewritten ("self" is the model itself); None leaves them.
        budget: what all trials may use at most.
        prices: a table of prices; what is in it counts before those of genai-prices.
        multiworker: requests in flight; None finds what the server bears.
        force: begin anew where the run had other settings.
        dry_run: only show what would be sent.
        log_first_detail: show the first prompt and answer.
        command: what was typed, for the manifest.
        screen: who listens.
        retry_malformed: ask malformed and cut-off items again.
        structured: whether the server holds plans to the schema of the tools.
        wording: which built-in prompt.
    """

    folder: DataFolder
    place: Path
    llm: str
    options: ModelOptions
    parameters: Mapping[str, Any]
    graph: ToolGraph
    requests: Requests
    chosen: Requests | Chosen
    demos: Sequence[Mapping[str, Any]]
    template: Path | None
    rewriter: str | None
    budget: Budget | None
    prices: Path | None
    multiworker: int | None
    force: bool
    dry_run: bool
    log_first_detail: bool
    command: Sequence[str] | None
    screen: Screen
    retry_malformed: bool = False
    structured: Structured = False
    wording: Wording = "published"

    def carry_out(self, number: int) -> Inference:
        """Make the run of one trial, or go on with it.

        Raises:
            UsageError: settings that contradict the run.
            ToolassayError: the model cannot be reached.
        """
        trial = Trial(self.place, self.llm, number)
        helper = self.llm if self.rewriter == "self" else self.rewriter
        books = Books([self.llm, *([helper] if helper else [])], self.budget, self.prices, self.options)
        record = RunRecord(
            trial.run_folder, trial.options(self.options), command=self.command, screen=self.screen
        )
        options = record.options_of(self.llm)
        models = [create_model(self.llm, options, meter=books)]
        if helper not in (None, self.llm):
            models.append(create_model(helper, record.options_of(helper), meter=books))
        prompt = PlanPrompt(
            self.graph.library,
            self.graph.dependency_type,
            demos=self.demos,
            wording=self.wording,
            template=self.template,
        )
        inferrer = Inferrer(
            self.graph,
            prompt,
            models[0],
            parameters={**self.parameters, **(json_schema("plan", self._schema) if self.structured else {})},
            reformatter=models[-1] if helper else None,
            show=self._show if self.log_first_detail else None,
        )
        settings = self._settings(trial, prompt)
        limit = inferrer.parameters[MAX_TOKENS]
        again, settings = again_of(trial.run_folder, settings, wanted=self.retry_malformed, max_tokens=limit)
        if self.dry_run:
            return self._foresee(trial, settings, inferrer, options, books, again)
        self._make_room(trial, settings)
        facts: Mapping[str, Any] = {
            "requests": len(self.requests),
            "asked": len(self.chosen),
            "sha256": {**hashes(*self._read()), "prompt": settings["prompt_sha256"]},
        }
        with (
            Journal(trial.run_folder / JOURNAL) as journal,
            books.open(trial.run_folder, self.screen, trial.other_ledgers) as ledger,
            record.start(models, facts, again),
        ):
            summary = RunSummary()
            with self.screen.progress("infer", len(self.chosen), lambda: books.figures(summary)) as advance:
                loop = Loop(self.multiworker, advance, self.screen.interrupted, summary, again)
                inference = inferrer.run(self.requests, trial.output, journal, loop, chosen=self.chosen)
            facts = summary_facts(inference.written, inference.already, inference.summary, ledger)
            write_json(trial.run_folder / SUMMARY, facts)
            _report(inference, trial.output, self.screen)
        report_again(again, "requests", self.screen)
        report_stop(inference.summary, self.screen)
        return inference

    @property
    def _schema(self) -> dict[str, Any]:
        return plan_schema(self.graph.library, self.graph.dependency_type)

    def _settings(self, trial: Trial, prompt: PlanPrompt) -> dict[str, Any]:
        settings = {
            "llm": self.llm,
            **without_default(self.parameters, PARAMETERS),
            "dependency_type": self.graph.dependency_type,
            "demo_ids": [demo["id"] for demo in self.demos],
            "reformat_by": self.rewriter,
            "prompt_sha256": hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest(),
            **trial.settings(self.options),
        }
        if self.structured:
            schema = json.dumps(self._schema).encode()
            settings |= {"structured": self.structured, "schema_sha256": hashlib.sha256(schema).hexdigest()}
        if self.wording != "published":
            settings["prompt"] = self.wording
        if not is_served(self.llm):  # it works with the graph, of which a prompt shows the tools only
            settings["graph_sha256"] = graph_fingerprint(self.graph)
        return settings

    def _foresee(
        self,
        trial: Trial,
        settings: Mapping[str, Any],
        inferrer: Inferrer,
        options: ModelOptions,
        books: Books,
        again: Again,
    ) -> Inference:
        """Show what would be sent and used; nothing is sent or written."""
        journal_file = trial.run_folder / JOURNAL
        anew = gives_way(trial.run_folder, settings, force=self.force, ways_on=WAYS_ON, read_only=True)
        anew = anew or (self.force and not journal_file.exists())
        estimate = Estimate(completion_limit(parameters_of(ChatRequest([], inferrer.parameters), options)))
        with Journal(_NOTHING if anew else journal_file, read_only=True) as journal:
            output = _NOTHING if anew else trial.output
            already = inferrer.foresee(self.chosen, output, journal, estimate, again)
        counts = Counts(already, "requests", "; answers rewritten (--reformat)" if self.rewriter else "")
        for line in dry_run_lines(estimate, counts, self.llm, options, books.prices):
            self.screen.show(line)
        foreseen = expected(estimate, self.llm, books.prices)
        return Inference(0, already, RunSummary(), expected=(foreseen,))

    def _make_room(self, trial: Trial, settings: Mapping[str, Any]) -> None:
        """Set the run before aside where this one begins anew."""
        output, run_folder = trial.output, trial.run_folder
        kept = open_run(run_folder, settings, force=self.force, ways_on=WAYS_ON)
        if kept is not None:
            if output.exists():
                output.replace(kept / output.name)
            self.screen.say(f"the run before is kept as {kept}")
        elif self.force and output.exists() and not (run_folder / JOURNAL).exists():
            self.screen.say(f"{output} is kept as {keep_dated_copy(output).name}")
            output.unlink()

    def _read(self) -> list[Path]:
        folder = self.folder
        shown = [folder.data] if self.demos else []
        return [folder.user_requests, folder.tool_desc, folder.graph_desc, *shown]

    def _show(self, asked: str, answered: str) -> None:
        self.screen.say(f"{asked}\n{answered}")


def requests_of(folder: DataFolder, screen: Screen) -> Requests:
    """The requests of a folder; ids that occur twice are told.

    Raises:
        UsageError: missing or malformed file, or no request in it.
    """
    requests = Requests(folder.user_requests)
    if not requests:
        raise UsageError("holds no request", file=folder.user_requests, fix="make it with format_data.py")
    if requests.repeated:
        named = ", ".join(map(str, requests.repeated[:5]))
        screen.say(
            f"{WARNING}{len(requests.repeated)} ids occur twice in {folder.user_requests} ({named}): "
            "the last counts"
        )
    return requests


def tagged(use_demos: int, rewriter: str | None, *, tag: bool) -> str:
    """The published name of the prediction folder.

    >>> tagged(2, "self", tag=True), tagged(2, None, tag=False)
    ('predictions_use_demos_2_reformat_by_self', 'predictions')
    """
    if not tag:
        return "predictions"
    demos = f"_use_demos_{use_demos}" if use_demos else ""
    return f"predictions{demos}{f'_reformat_by_{safe_name(rewriter)}' if rewriter else ''}"


def _report(inference: Inference, output: Path, screen: Screen) -> None:
    outcomes = inference.summary.outcomes
    asked = sum(outcomes.values())
    if inference.adopted:
        screen.say(f"{inference.adopted} lines that were in {output} are taken over as they are")
    if inference.malformed:
        journal = output.parent / "runs" / output.stem / "journal.jsonl"
        screen.say(
            f"{count_of(inference.malformed, 'answer')} without a whole plan (prose, or cut off at the token"
            f" limit), kept unchanged in {journal}: --retry_malformed asks again (--max_tokens N allows"
            " longer answers)"
        )
    if not asked:
        screen.show(f"{output}: all {inference.already} requests are answered already, nothing to do")
        return
    told = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    screen.show(f"{output}: {inference.written} lines ({told}; {inference.already} answered before)")
    report_failures(inference.summary, screen)
