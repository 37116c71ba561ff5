"""TaskBench (Shen et al., 2024): a request and a tool graph -> a plan, compared with the gold plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, FolderFacts, late
from toolassay.benchmarks.taskbench.options import AGENTS, PlanOptions, PlanScoring
from toolassay.console.screen import SILENT
from toolassay.evaluation.item_detail import About
from toolassay.files.data_files import sha256_of
from toolassay.records.data_folder import DataFolder

if TYPE_CHECKING:
    from toolassay.benchmarks.security.probe import Prober
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Work

_HERE = "toolassay.benchmarks.taskbench"


def _domain(folder: DataFolder) -> str | None:
    """A published domain, as the import recorded it or as the tools are."""
    from toolassay.benchmarks.taskbench.scoring.leaderboard import known_domain

    return known_domain(folder)


def _labels(folder: DataFolder) -> Mapping[str, tuple[str, str]]:
    return {"data": (folder.data.name, sha256_of(folder.data))} if folder.data.is_file() else {}


class TaskBench(Benchmark):
    """Folders with tools, a graph, and requests with gold plans."""

    about = About(
        "taskbench",
        "TaskBench",
        "request",
        "the whole plan is that of the gold: tools, links, arguments",
        "data_huggingface",
        order=0,
    )
    options = BenchmarkOptions(
        run=PlanOptions,
        scoring=PlanScoring,
        help_notes={
            "max_tokens": "2000",
            "structured": "false, to be comparable with published figures",
        },
        scores_on_engine=True,
    )
    entries = Entries(
        importers={
            "taskbench": Entry(
                "TaskBench, from its repository or the Hugging Face hub.", f"{_HERE}.commands:import_command"
            )
        },
        prompt_reader=f"{_HERE}.prompt:prompted_plan",
    )
    data = FolderFacts(domain=_domain, made_from=_labels)
    items = late("item_details:ITEMS")
    scores = late("evaluation:SCORES")
    settled = late("ways:with_way")
    evaluate = late("evaluation:evaluate_plans")

    def place(self, run: RunSettings, own: PlanOptions) -> str:
        """The published name of the folder where --tag is given; another one for another way of asking."""
        from toolassay.benchmarks.taskbench.work import tagged

        plans = tagged(own.demo_count, own.rewriter, tag=own.tag)
        return run.choices.prediction_dir or (plans if own.ask == "plan" else f"predictions_{own.ask}")

    def work(self, folder: DataFolder, run: RunSettings, own: PlanOptions, trial: int = 0) -> Work:
        """The work of a run with its way of asking."""
        from toolassay.benchmarks.taskbench.work import CallWork, PlanSource, PlanWork

        screen = SILENT if trial else run.screen  # notices are shown once
        source = PlanSource.read(folder, own, screen)
        if own.ask == AGENTS:
            from toolassay.benchmarks.taskbench.agents import AgentWork

            return AgentWork(folder, source, run, own)
        if own.ask == "plan":
            return PlanWork(folder, source, run, own)
        work = CallWork(folder, source, run, own)
        work.fit_size(screen)
        return work

    def prober(self, folder: DataFolder, run: RunSettings, own: PlanOptions, count: int | None) -> Prober:
        """Requests, tools and, of an agent that acts, results with a planted text."""
        from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS, refuse_beside_security
        from toolassay.benchmarks.taskbench.security import plan_prober
        from toolassay.benchmarks.taskbench.work import CallWork, PlanSource

        refuse_beside_security(
            ask=own.ask == "calls",
            tools_in_context=own.tools_in_context != "all",
            reformat=own.reformat,
            log_first_detail=own.log_first_detail,
            structured=run.model.structured and own.ask == "plan",
        )
        if own.ask != "plan":
            from toolassay.benchmarks.taskbench.acting_security import acting_prober

            work = self.work(folder, run, own)
            assert isinstance(work, CallWork)
            refuse_beside_security(tools_in_context="tools_in_context" in work.facts.settings)
            return acting_prober(folder, work, own, count or DEFAULT_ATTACKS)
        return plan_prober(folder, PlanSource.read(folder, own, run.screen), run, count or DEFAULT_ATTACKS)

    def verify(self, recorded: RecordedRun, own: Any, comparison: LineComparison) -> Iterator[object]:
        """The plans in the raw answers."""
        from toolassay.benchmarks.taskbench.work import remade_plans

        return remade_plans(recorded, comparison)


BENCHMARK = TaskBench()
