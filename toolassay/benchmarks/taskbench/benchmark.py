"""TaskBench (Shen et al., 2024): a request and a tool graph -> a plan, compared with the gold plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.benchmark import Benchmark, BenchmarkOptions, Entries, Entry, FolderFacts, late
from toolassay.benchmarks.taskbench.options import AGENTS, ASKS, ROUGE_BACKENDS, PlanOptions, PlanScoring
from toolassay.console.screen import SILENT
from toolassay.evaluation.item_detail import About
from toolassay.extras import Option
from toolassay.files.data_files import sha256_of
from toolassay.records.data_folder import DataFolder

if TYPE_CHECKING:
    from toolassay.benchmarks.security.probe import Prober
    from toolassay.evaluation.verification import LineComparison, RecordedRun
    from toolassay.runs.settings import RunSettings
    from toolassay.runs.work import Work

_HERE = "toolassay.benchmarks.taskbench"
_DEPENDENCY_TYPE = Option(
    "dependency_type",
    "Type of the links between tools [default: the one in benchmark.json, else resource].",
    metavar="resource|temporal|schema",
)


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
        infer=(
            _DEPENDENCY_TYPE,
            Option("use_demos", "Number of demonstrations in the prompt.", int, minimum=0),
            Option(
                "demo_ids", "Ids of the labels to show as demonstrations, separated by commas.", listed=True
            ),
            Option("reformat", "Let a model rewrite answers that cannot be parsed as strict JSON.", bool),
            Option("reformat_by", "Model for --reformat; self is the model under test."),
            Option("tag", "Add demonstrations and reformatting to the name of the prediction folder.", bool),
            Option("log_first_detail", "Print the first prompt and its answer.", bool),
            Option(
                "prompt",
                "Built-in prompt. 'example' shows a short worked example instead of placeholders, "
                "for small models.",
                choices=("default", "example"),
            ),
            Option("prompt_template", "File with your own prompt template.", Path),
            Option(
                "ask",
                "What to request of imported tools: a plan; calls: all native calls in one answer; tools: "
                "native calls step by step, with results from --executor; react: the same with actions in "
                "text. Predictions are in predictions_ASK [default: tools on imported tools, unless there is "
                "a folder predictions; else plan].",
                choices=ASKS,
            ),
            Option(
                "agent_command",
                "Also for WorkBench: run your own agent instead of a model, e.g. 'python my_agent.py'. --llm "
                "names its predictions, in predictions_agents.",
                metavar="COMMAND",
            ),
            Option(
                "agent_version",
                "Also for WorkBench: your name for the state of the agent, e.g. a commit, instead of the "
                "content of its files. A run goes on with the same agent only.",
                metavar="TEXT",
            ),
            Option(
                "tools_in_context",
                "Tools that a request shows: all; retrieved:K, the K best by BM25; retrieved:K:NAME, by an "
                "installed retriever.",
                metavar="all|retrieved:K",
            ),
            Option("allow_writes", "With --ask: permit tools that are not marked read-only.", bool),
            Option(
                "allow_tools",
                "With --ask: run Python code of the data folder, or that --functions names.",
                bool,
            ),
            Option("max_steps", "With --ask: maximum model answers per request.", int, minimum=1),
            Option(
                "max_seconds",
                "With --ask: maximum seconds of the model answers to one request.",
                float,
                minimum=0,
                above=True,
            ),
        ),
        evaluate=(
            Option(
                "alignment",
                "Score only the items that these critics accept (alignment_ids.json), or one split: "
                "train, dev, test.",
            ),
            Option("splits", "Shapes to report: overall, single, chain, dag, all.", multiple=True, short="s"),
            Option("n_tools", "Numbers of tools to report: overall, 1 to 10, all.", multiple=True, short="n"),
            Option(
                "mode",
                "Groups to report. add: each split, then each number of tools; mul: every combination.",
            ),
            Option(
                "metrics",
                "Metrics: f1, ed, link, argument, rouge, bertscore, all.",
                multiple=True,
                short="m",
                flag="metric",
            ),
            _DEPENDENCY_TYPE,
            Option(
                "prompting",
                "Prompting method of the predictions; any other than cot skips the metrics of steps.",
            ),
            Option(
                "keep",
                "Line to score if an id has several; error: stop.",
                choices=("first", "last", "error"),
            ),
            Option(
                "rouge_backend",
                "Implementation of ROUGE: built in, or the package rouge-score.",
                choices=ROUGE_BACKENDS,
            ),
            Option("rouge_median", "Add ROUGE as published: the median of bootstrapped means.", bool),
            Option(
                "compat",
                "Compute published numbers also where they are not meaningful: "
                "resource tools with '_' in a name.",
                choices=("published",),
            ),
            Option(
                "bertscore_model",
                "Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be downloaded "
                "[default: roberta-large if on this disk].",
            ),
            Option(
                "bertscore_layers",
                "Layers of the model to run [default: the known best number, or all].",
                int,
                minimum=1,
            ),
            Option(
                "bertscore_device",
                "Device for BERTScore [default: cuda if available, else cpu].",
                choices=("cpu", "cuda", "mps"),
            ),
            Option("bertscore_cache", "Cache BERTScores on disk.", bool),
        ),
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
