"""Runs a model on a TaskBench folder: one plan per request."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from toolassay.benchmarks.registry import benchmark_executors
from toolassay.benchmarks.taskbench.asking import PARAMETERS as CALL_PARAMETERS
from toolassay.benchmarks.taskbench.asking import CallItems, Conversation
from toolassay.benchmarks.taskbench.entries import PlanEntry, entry_of
from toolassay.benchmarks.taskbench.inference import (
    PARAMETERS,
    Choose,
    PlanItems,
    is_settled,
    prediction_line,
    prediction_lines,
    problem_of,
)
from toolassay.benchmarks.taskbench.options import AGENTS, PlanOptions
from toolassay.benchmarks.taskbench.prompt import REQUIRED, PlanPrompt, choose_demos
from toolassay.benchmarks.work_folder import graph_fingerprint, graph_of
from toolassay.console.screen import WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.episodes.episode import EpisodeLimits, MadeCall, Trajectory
from toolassay.errors import UsageError, made_by
from toolassay.evaluation.line_index import LineIndex
from toolassay.evaluation.verification import LineComparison, RecordedRun
from toolassay.executors import executor_named
from toolassay.executors.executor import TOGETHER, ExecutionContext, OpenExecutor
from toolassay.files.data_files import copy_file, safe_name, write_json_lines
from toolassay.files.locks import refuse_links
from toolassay.files.program_files import is_setting
from toolassay.graph import ToolGraph
from toolassay.models import ModelError
from toolassay.models.errors import TIME_LIMIT
from toolassay.models.refused_parameters import without_default
from toolassay.models.registry import NOTHING, is_served
from toolassay.models.structured_output import json_schema
from toolassay.plans.call_plan import MOST_TOOLS
from toolassay.plans.called_plan import plan_of_calls
from toolassay.plans.execution_record import ExecutedCall, Execution
from toolassay.prompts.plan_schemas import plan_schema
from toolassay.prompts.retrieval import ToolsInContext
from toolassay.prompts.templates import Wording, read_template
from toolassay.records.data_folder import DataFolder, date_setting
from toolassay.records.dataset import Request
from toolassay.records.requests import Chosen, Requests, key_of, request_fingerprint
from toolassay.runs.budget import Estimate, ExpectedUsage
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.items import OVERFLOW, preview_items, recorded_answers
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import MAX_TOKENS, RetryPlan, changes, recorded_settings
from toolassay.runs.prices import Tariff
from toolassay.runs.record import hashes
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.wording import Wording as RecordedWording
from toolassay.runs.work import Inference, Work, WorkFacts, Written
from toolassay.tools.library import ToolLibrary


def adopt_predictions(output: Path, requests: Iterable[Request], journal: Journal) -> int:
    """Add the lines of a prediction file that are not in the journal to it.

    Such a file was written by the published scripts, or its journal was lost. A copy of the file is kept
    beside the journal.

    Returns:
        The number of lines added.

    Raises:
        UsageError: a line is not a prediction.
    """
    lacking = {key for key, line in _lines_not_in_journal(output, journal) if _request_text(line) is None}
    texts = {key: one.text for one in requests if (key := key_of(one.id)) in lacking} if lacking else {}
    kept = journal.path.with_name("adopted.jsonl")
    adopted = 0
    for key, line in _lines_not_in_journal(output, journal):
        if not kept.exists():
            copy_file(output, kept)
        text = _request_text(line)
        outcome = "answered" if problem_of(line.get("result", line)) is None else "malformed"
        request = request_fingerprint(str(texts.get(key) if text is None else text))
        journal.append(key, PlanEntry(outcome=outcome, request=request, adopted=line))
        adopted += 1
    return adopted


def adoptable_predictions(output: Path, journal: Journal) -> dict[str, str | None]:
    """The lines that `adopt_predictions` would add: their keys with the fingerprint of the request they
    answer, or None if the line does not contain its request.

    Raises:
        UsageError: a line is not a prediction.
    """
    texts = ((key, _request_text(line)) for key, line in _lines_not_in_journal(output, journal))
    return {key: None if text is None else request_fingerprint(str(text)) for key, text in texts}


def _lines_not_in_journal(output: Path, journal: Journal) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a prediction file whose keys are not in the journal; broken lines are left out."""
    with LineIndex(output, fix=made_by("infer")) as lines:
        for number in lines.by_id.values():
            with suppress(ValueError):  # a line that a crash cut off
                line = lines.read(number)
                if (key := key_of(line["id"])) not in journal:
                    yield key, line


def _request_text(line: dict[str, Any]) -> Any:
    return line.get("user_request", line.get("instruction"))


CONFLICT_FIX = "use those settings, --tag true, another --prediction_dir, or --force true (keeps the old run)"


@dataclass(frozen=True)
class PlanSource:
    """What a planner works with.

    Attributes:
        graph: The tools, and how they are linked.
        requests: To plan for.
        demos: Labels shown as demonstrations.
        wording: Of the prompt.
        template: Text of a template to use instead of the built-in one; None without one.
        library: The tools as the prompt lists them.
        today: Date of the set.
    """

    graph: ToolGraph
    requests: Requests
    demos: Sequence[Mapping[str, Any]]
    wording: Wording
    template: str | None
    library: ToolLibrary
    today: date | None

    @classmethod
    def read(cls, folder: DataFolder, own: PlanOptions, screen: Screen) -> PlanSource:
        """Read the files of a folder; notices about them are shown.

        Raises:
            UsageError: Files missing or malformed, or options that do not fit.
        """
        wording = own.wording()
        template = own.prompt_template
        graph = graph_of(folder, own.dependency_type, say=screen.say)
        library = graph.library
        if template is not None and folder.tool_desc.exists():
            library = ToolLibrary.load(folder.tool_desc, normalise_types=False)  # the published lines
        text = None if template is None else read_template(template, REQUIRED)
        requests = requests_of(folder, screen)
        demos = choose_demos(folder.data, own.use_demos, own.demo_ids)
        return cls(graph, requests, demos, wording, text, library, folder.benchmark.today)

    @property
    def prompt(self) -> PlanPrompt:
        """The prompt with the tools and demonstrations of the folder."""
        kind = self.graph.dependency_type
        template = self.template
        return PlanPrompt(
            self.library,
            kind,
            demos=self.demos,
            wording=self.wording,
            template=template,
            today=self.today,
        )


class PlanWork(Work):
    """A plan for each request of a folder.

    Args:
        folder: the data.
        source: what was read of it.
        run: model, limits and choices.
        own: the options.

    Raises:
        UsageError: options that do not fit.
    """

    def __init__(self, folder: DataFolder, source: PlanSource, run: RunSettings, own: PlanOptions) -> None:
        self._folder = folder
        self._source = source
        self._run = run
        self._own = own
        ids = run.choices.chosen_ids
        limit = run.choices.limit
        is_whole = ids is None and limit is None
        self._chosen: Requests | Chosen = (
            source.requests if is_whole else Chosen(source.requests, ids=ids, limit=limit)
        )
        limited = {} if run.model.max_tokens is None else {MAX_TOKENS: run.model.max_tokens}
        self._parameters = {**run.model.parameters, **limited}
        self._shown = False
        self._context = ToolsInContext.parse(own.tools_in_context)
        if self._context is not None and not is_served(run.model.llm):
            fix = "name a served model (--api_base URL)"
            raise UsageError(f"--tools_in_context: {run.model.llm} works with the whole graph", fix=fix)
        if self._context is not None and run.model.structured and own.ask == "plan":
            fix = "omit it"
            raise UsageError("--structured: its schema names all tools, not those in context", fix=fix)

    @cached_property
    def _choose(self) -> Choose | None:
        return None if self._context is None else self._context.finder(self._source.graph.library)

    @property
    def _offered(self) -> dict[str, str]:
        """The setting of the run, where a request does not show all tools."""
        return {} if self._context is None else {"tools_in_context": str(self._context)}

    @property
    def _helper(self) -> str | None:
        """Name of the model that rewrites answers."""
        rewriter = self._own.rewriter
        return self._run.model.llm if rewriter == "self" else rewriter

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one request."""
        folder = self._folder
        graph = self._source.graph
        structured = self._run.model.structured or False
        prompt = self._source.prompt
        prompt_hash = hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest()
        settings: dict[str, Any] = {
            "llm": self._run.model.llm,
            **without_default(self._parameters, PARAMETERS),
            "dependency_type": graph.dependency_type,
            "demo_ids": [demo["id"] for demo in self._source.demos],
            "reformat_by": self._own.rewriter,
            "prompt_sha256": prompt_hash,
            **self._offered,
        }
        if structured:
            schema = json.dumps(self._schema).encode()
            settings |= {"structured": structured, "schema_sha256": hashlib.sha256(schema).hexdigest()}
        if self._source.wording != "default":
            settings["prompt"] = self._source.wording
        # A built-in model works with the graph, of which a prompt shows the tools only.
        if not is_served(self._run.model.llm):
            settings["graph_sha256"] = graph_fingerprint(graph)
        shown = [folder.data] if self._source.demos else []
        read = [folder.user_requests, folder.tool_desc, folder.graph_desc, *shown]
        return WorkFacts(
            "request",
            settings,
            {**PARAMETERS, **self._parameters},
            len(self._source.requests),
            len(self._chosen),
            {**hashes(*read), "prompt": prompt_hash},
            helpers=[self._helper] if self._helper else [],
            not_counted="; answers rewritten (--reformat)" if self._helper else "",
            conflict_fix=CONFLICT_FIX,
            adopts=True,
        )

    @property
    def _schema(self) -> dict[str, Any]:
        return plan_schema(self._source.graph.library, self._source.graph.dependency_type)

    @property
    def chosen(self) -> Requests | Chosen:
        """The requests of this start."""
        return self._chosen

    def check_engine(self) -> None:
        """Refuse an engine where this process shows what it sends.

        Raises:
            UsageError: it does.
        """
        if self._own.log_first_detail:
            raise UsageError("--log_first_detail shows what one process sends", fix="omit it, or --engine")

    @property
    def items(self) -> PlanItems:
        """The work on single requests."""
        schema = json_schema("plan", self._schema) if self._run.model.structured else {}
        source = self._source
        show = self._show if self._own.log_first_detail else None
        parameters = {**self._parameters, **schema}
        return PlanItems(source.graph, source.prompt, parameters, self._helper, show, self._choose)

    def _show(self, messages: Sequence[Mapping[str, Any]], answer: str) -> None:
        if not self._shown:
            self._shown = True
            self._run.screen.say("\n\n".join([*(message["content"] for message in messages), answer]))

    def adopt(self, output: Path, journal: Journal) -> int:
        """Adopt prediction lines without a journal entry; the original file is kept beside the journal."""
        return adopt_predictions(output, self._source.requests, journal)

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line per answered request, in the order of the requests."""
        outcomes: Counter[str] = Counter()
        kind = self._source.graph.dependency_type
        self._calling = sum(bool(entry_of(journal, request).tool_calls) for request in self._source.requests)
        lines = _counted(prediction_lines(self._source.requests, journal, kind), outcomes)
        first = next(lines, None)
        if first is None:
            return Written(0)
        return Written(write_json_lines(output, chain([first], lines)), outcomes["malformed"])

    def preview(self, output: Path, journal: Journal, estimate: Estimate, retry: RetryPlan) -> int:
        """Add the unanswered requests to the estimate; returns the number of answered ones."""
        adopted = adoptable_predictions(output, journal) if output.exists() else {}
        texts = {key: text for key, text in adopted.items() if text is not None}
        if texts:  # a line that answers another wording is not taken over
            now = {key_of(request.id): request_fingerprint(request.text) for request in self._chosen}
            adopted = {key: text for key, text in adopted.items() if text is None or now.get(key) == text}
        return preview_items(
            self.items, self._chosen, journal, estimate, retry, skip=lambda key: key in adopted
        )

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        """Report also the adopted lines and the answers without a complete plan."""
        if inference.adopted:
            screen.say(f"{inference.adopted} lines that were in {output} are taken over as they are")
        if self._calling:
            screen.say(
                f"{WARNING}the model answers with tool calls instead of a text ({self._calling} of "
                f"{inference.written} answers; {journal_file} has them)"
            )
        if inference.malformed:
            screen.say(
                f"{count_of(inference.malformed, 'answer')} without a whole plan (prose, calls, or cut off at"
                f" the limit), kept unchanged in {journal_file}: --retry_malformed asks again (--max_tokens"
                " N allows longer answers)"
            )
        super().report(inference, output, journal_file, screen)


class CallWork(PlanWork):
    """Calls for each request of a folder with imported tools. Arguments are those of `PlanWork`.

    Raises:
        UsageError: The folder or the options do not fit.
    """

    def __init__(self, folder: DataFolder, source: PlanSource, run: RunSettings, own: PlanOptions) -> None:
        super().__init__(folder, source, run, own)
        if self._source.graph.dependency_type != "schema":
            raise UsageError(
                f"--ask {own.ask} needs imported tools", file=folder.path, fix="use --ask plan (default)"
            )
        if run.model.llm != NOTHING and not is_served(run.model.llm):
            raise UsageError(
                f"--llm {run.model.llm} makes plans only", fix="name a served model (--api_base URL)"
            )
        if run.model.structured and own.ask != "react":
            raise UsageError(f"--structured: --ask {own.ask} sends no schema", fix="omit it")
        self._executor = executor_named(own.executor, benchmark_executors())

    def check_engine(self) -> None:
        """Refuse an engine: an executor belongs to one process."""
        Work.check_engine(self)

    def fit_size(self, screen: Screen) -> None:
        """Show OpenAI's API no more tools in a request than it takes; warn of more for another server.

        Raises:
            UsageError: The number was given, or the package that chooses them is not installed.
        """
        count = len(self._source.graph.library) if self._context is None else self._context.k
        if self._own.ask == "react" or count <= MOST_TOOLS:
            return
        text = f"{count:,} tools in one request, and OpenAI's API takes {MOST_TOOLS}"
        fix = "add --tools_in_context retrieved:K"
        if "//api.openai.com" not in (self._run.endpoint.endpoint or ""):
            screen.say(f"{WARNING}{text}; where the server refuses them: {fix}")
        elif self._context is not None or not find_spec("bm25s"):
            raise UsageError(text, fix=fix)
        else:
            self._context = ToolsInContext(MOST_TOOLS)
            screen.say(f"{WARNING}{text}: it shows the best, --tools_in_context retrieved:{MOST_TOOLS}")

    @property
    def items(self) -> CallItems:  # type: ignore[override]
        """The work on single requests."""
        own = self._own
        graph = self._source.graph
        executor = self._executor
        context = ExecutionContext(self._folder, graph.library, allow_tools=own.allow_tools)
        options = own.executor_options or executor.options()
        return CallItems(
            graph,
            own.ask or "plan",
            self._parameters,
            EpisodeLimits(own.max_steps, own.max_seconds),
            None if own.ask == "calls" else lambda: self._opened(context, options),
            own.allow_writes or executor.is_harmless,
            bool(self._run.model.structured),
            self._run.model.llm == NOTHING,
            self._choose,
            together=self._run.limits.multiworker or TOGETHER,
            today=self._source.today,
        )

    @asynccontextmanager
    async def _opened(self, context: ExecutionContext, options: Any) -> AsyncIterator[OpenExecutor]:
        """The executor; a warning says if its server was another one when gold was executed."""
        async with self._executor.open(context, options) as opened:
            gold = recorded_settings(self._folder.path / "execution") or {}
            program = {name: value for name, value in opened.identity.items() if is_setting(name)}
            if changed := changes(gold, gold | program):
                self._run.screen.say(
                    f"{WARNING}since the gold plans were executed: {', '.join(changed)}; execute them again"
                )
            yield opened

    @cached_property
    def facts(self) -> WorkFacts:
        """Settings and hashes of the run; one item is one request."""
        own = self._own
        items = self.items
        facts = super().facts
        shown = [items.system(items.tools), *(tool.to_openai() for tool in items.tools)]
        prompt_hash = hashlib.sha256(json.dumps(shown).encode()).hexdigest()
        limits = {"max_steps": own.max_steps, "max_seconds": own.max_seconds, "executor": self._executor.name}
        return replace(
            facts,
            settings={
                "llm": self._run.model.llm,
                **without_default(self._parameters, CALL_PARAMETERS),
                "dependency_type": "schema",
                "ask": own.ask,
                **({} if own.ask == "calls" else limits),
                **({"structured": True} if items.structured else {}),
                "prompt_sha256": prompt_hash,
                **date_setting(items.today),
                **self._offered,
            },
            parameters={**CALL_PARAMETERS, **self._parameters},
            hashes={**facts.hashes, "prompt": prompt_hash},
            not_counted="" if own.ask == "calls" else "; the further answers to each request",
            in_steps=own.ask != "calls",
        )

    def write(self, output: Path, journal: Journal) -> Written:
        """Write also the executions of an agent: what its calls returned and changed."""
        written = super().write(output, journal)
        if written.lines and self._own.ask != "calls":
            path = output.parent / "executions" / f"{output.stem}.jsonl"
            items = self.items
            refuse_links(path.parent)
            write_json_lines(path, map(msgspec.to_builtins, self._executions(items, journal)))
        return written

    def _executions(self, items: CallItems, journal: Journal) -> Iterator[Execution]:
        for request in self._source.requests:
            entry = entry_of(journal, request)
            if is_settled(entry) and entry.plan is not UNSET:
                conversation = recorded_conversation(items, request, journal, entry)
                yield conversation.execution(request, entry, self._executor.name)

    def expected(self, estimate: Estimate, price: Tariff | None) -> tuple[ExpectedUsage, ...]:
        """The minimum (one answer per request) and the maximum (`max_steps` answers per request)."""
        if self._own.ask == "calls":
            return (estimate.expected(price),)
        return estimate.expected(price), estimate.expected(price, self._own.max_steps)


def requests_of(folder: DataFolder, screen: Screen) -> Requests:
    """The requests of a folder; a warning names ids that occur twice.

    Raises:
        UsageError: missing or malformed file, or no request in it.
    """
    requests = Requests(folder.user_requests)
    if not requests:
        raise UsageError("holds no request", file=folder.user_requests, fix=made_by("format"))
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
        return PREDICTIONS
    demos = f"_use_demos_{use_demos}" if use_demos else ""
    return f"predictions{demos}{f'_reformat_by_{safe_name(rewriter)}' if rewriter else ''}"


def _counted(lines: Iterable[dict[str, Any]], outcomes: Counter[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        outcomes[line.get("outcome", "answered")] += 1
        yield line


def remade_plans(recorded: RecordedRun, comparison: LineComparison) -> Iterator[dict[str, Any]]:
    """The lines of a prediction file, made of the raw answers in the journal.

    Raises:
        UsageError: files missing or malformed.
    """
    kind = (recorded_settings(recorded.run_folder) or {}).get("dependency_type")
    graph = graph_of(recorded.folder, kind if isinstance(kind, str) else None, say=recorded.screen.say)
    requests = Requests(recorded.folder.user_requests)
    with recorded.screen.progress("read", len(requests)) as advance:
        for request in requests:
            entry = entry_of(recorded.journal, request)
            if is_settled(entry):
                comparison.adopted += entry.adopted is not None
                if entry.plan is not UNSET:
                    items = recorded_items(recorded.settings, graph)
                    rerun = recorded_conversation(items, request, recorded.journal, entry).entry
                    entry = msgspec.structs.replace(entry, plan=rerun.plan, made=rerun.made)
                yield prediction_line(request, entry, graph.dependency_type)
            advance()


def recorded_items(settings: Mapping[str, Any], graph: ToolGraph) -> CallItems:
    """The work of a run with calls, for its recorded answers.

    Args:
        settings: Of the manifest.
        graph: The tools.
    """
    limits = EpisodeLimits(settings.get("max_steps", 1), settings.get("max_seconds", float("inf")))
    structured = bool(settings.get("structured"))
    choose = _recorded_only if "tools_in_context" in settings else None
    today = msgspec.convert(settings.get("today"), date | None)
    is_idle = settings["llm"] == NOTHING
    return CallItems(
        graph,
        settings["ask"],
        {},
        limits,
        structured=structured,
        is_idle=is_idle,
        choose=choose,
        today=today,
    )


def _recorded_only(request: str) -> list[str]:
    raise ModelError("the journal does not say which tools this request showed", outcome="not run")


def recorded_conversation(
    items: CallItems, request: Request, journal: Journal, entry: PlanEntry
) -> Conversation:
    """What a model did about a request, made of the recorded answers and results; of a user's agent, its
    calls.

    It must stop where the run did: one that its context or time ended made one more request.
    """
    if items.way == AGENTS:
        lines = islice(journal.calls(key_of(request.id), entry.asked_again, entry.order), entry.calls)
        calls = [
            msgspec.structs.replace(msgspec.convert(line.result, ExecutedCall), node=number)
            for number, line in enumerate(lines)
        ]
        plan = None if entry.plan is None else plan_of_calls(calls, request.text, items.graph.library)
        made_calls = [
            MadeCall(call.tool, json.dumps(call.arguments), call.error or json.dumps(call.result))
            for call in calls
        ]
        again = msgspec.structs.replace(entry, plan=plan, made=msgspec.to_builtins(calls))
        return Conversation(again, Trajectory([], made_calls, steps=entry.steps or 0), calls)
    limit = entry.limit
    end = ModelError(
        "the recorded conversation ends here",
        outcome=OVERFLOW if limit == "context" else "not run",
        kind=TIME_LIMIT if limit == "time" else "failed",
    )
    with RecordedWording.read(journal.path.parent).used():
        return run_coroutine(items.conversation(request, recorded_answers(items, request, journal, end)))
