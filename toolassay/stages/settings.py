"""Options of the stages, beside those of their runs (`toolassay.runs.settings`).

This module imports no stage: the help of a command reads only the declarations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from toolassay.benchmarks.registry import EXECUTOR_OPTIONS, executor_names
from toolassay.declarations import Option
from toolassay.engines import EngineName
from toolassay.executors.executor import CallLimits
from toolassay.graph.tool_graph import DEPENDENCY_TYPE
from toolassay.models.refused_parameters import Default
from toolassay.records.data_folder import date_of
from toolassay.records.dataset import Difficulty, Shape
from toolassay.runs.settings import ModelSettings

AUTO = "auto"
"""The last message of a chat that fits the form of its results."""
EXECUTORS = "Executors"
"""Title of options that concern where calls run."""

DependencyTypeName = Annotated[str | None, DEPENDENCY_TYPE]
PredictionDir = Annotated[
    str | Path,
    Option(
        "Prediction folder, in the data folder or else relative to the current one; if there is no folder "
        "predictions, the default is that of another way of asking, e.g. predictions_tools."
    ),
]
MetricsDir = Annotated[
    Path | str | None,
    Option("Metrics folder [default: as --prediction_dir, with metrics for predictions]."),
]
Critics = Annotated[
    Sequence[str] | str,
    Option(
        "Model that reviews each sample: one that finds a fault quarantines the sample, two reject it; "
        "'offline' needs no server.",
        metavar="LLM",
        common=True,
    ),
]
Calibrations = Annotated[
    Sequence[Path | str],
    Option("calibration.json of `toolassay check --calibrate` for a critic; stated beside the result."),
]
AllowWrites = Annotated[
    bool,
    Option("Permit tools that the server does not mark as read-only.", section=EXECUTORS),
]
AllowTools = Annotated[
    bool,
    Option("Run Python code of the data folder, or that --functions names.", section=EXECUTORS),
]
Seed = Annotated[int, Option("Random seed.")]
_Threshold = Option(
    "Similarity from which two requests are near duplicates, 0.2 to 1 [default: 0.6].", metavar="SHARE"
)
_Resamples = Annotated[int, Option("Resamples of intervals and tests.", minimum=1)]


def _weights(text: str) -> Mapping[str, float]:
    from toolassay.sampling import parse_weights

    return parse_weights(text, flag="--shape_weights or --size_weights")


_ShapeWeights = Annotated[
    Mapping[str, float] | None,
    Option(
        "Relative frequency of each shape [default: single=3,chain=7,dag=8].",
        metavar="WEIGHTS",
        read=_weights,
    ),
]
_SizeWeights = Annotated[
    Mapping[str, float] | None,
    Option(
        "Relative frequency of each number of tools, e.g. 2=0.1,3=0.2,4=0.3.",
        metavar="WEIGHTS",
        read=_weights,
    ),
]
_ByScore = Annotated[
    bool,
    Option(
        "In a schema graph, draw links in proportion to their scores; false: all links are equally likely."
    ),
]


@dataclass(frozen=True)
class SampleSettings:
    """Which subgraphs of the tool graph are sampled."""

    section = "Samples"

    number_of_samples: Annotated[
        int | None,
        Option(
            "Total number of samples, existing ones included [default: the published 5000, whose estimated "
            "cost is shown first; or as --cover and --until say].",
            minimum=1,
            metavar="N",
            common=True,
        ),
    ] = None
    seed: Annotated[
        int, Option("Random seed; -1 uses that of the folder, or draws one, prints it and records it.")
    ] = -1
    method: Annotated[Shape | None, Option("Sample only this shape.")] = None
    tool_number: Annotated[
        int | None, Option("Sample only subgraphs with this many tools.", minimum=1, metavar="N")
    ] = None
    shape_weights: _ShapeWeights = None
    size_weights: _SizeWeights = None
    by_score: _ByScore = True
    cover: Annotated[
        Literal["tools", "edges"] | None,
        Option(
            "Steer the sampling so that every tool, or every edge, occurs in samples where possible; sets "
            "the "
            "default number of samples."
        ),
    ] = None
    at_least: Annotated[int, Option("With --cover: in how many samples.", minimum=1)] = 1
    until: Annotated[
        int | None,
        Option(
            "Go on until N samples pass the gates, within the limits; with --cover until passing samples "
            "have each tool or edge.",
            minimum=1,
            metavar="N passed",
        ),
    ] = None
    today: Annotated[
        date | str | None,
        Option(
            "Date on which the requests are made: prompts say it, agents and tool servers have it as the "
            "variable TOOLASSAY_TODAY [default: that of the folder, else none].",
            metavar="YYYY-MM-DD",
            read=date_of,
        ),
    ] = None


PIPELINE_SAMPLES = SampleSettings(seed=0)
"""Default of `pipeline`."""
GENERATOR = ModelSettings(temperature=Default(0.7), top_p=Default(1.0), structured="auto")
"""Default model of `generate`."""


DifficultyName = Annotated[
    Difficulty | None,
    Option(
        "With a served model and imported tools: draw kinds of tasks (look up, choose, for each, count, two "
        "goals, a detour) and manners of saying them, up to 12 calls."
    ),
]


@dataclass(frozen=True)
class WritingSettings:
    """How a model writes requests and gold plans for samples."""

    section = "Writing"

    check: Annotated[
        bool, Option("Also request the model's review of its own sample, in the same answer.")
    ] = False
    prompt: Annotated[
        Literal["default", "example"],
        Option(
            "Built-in prompt. 'example' shows a short worked example instead of placeholders, for small "
            "models."
        ),
    ] = "default"
    prompt_template: Annotated[Path | None, Option("Text file with your own prompt template.")] = None
    save_figure: Annotated[bool, Option("Draw each new sample into task_graphs/.")] = False
    rewrite: Annotated[
        int | None,
        Option(
            "How often an answer that does not pass the gates goes back to the model with what they found "
            "[default: 3 with --follow seed; 2 with critics, and for `offline` with tools of your own; else "
            "0].",
            minimum=0,
            maximum=10,
        ),
    ] = None
    critic: Annotated[
        Sequence[str],
        Option("With --rewrite: model that reviews what the gates let pass.", metavar="LLM"),
    ] = ()
    difficulty: DifficultyName = None
    follow: Annotated[
        Literal["seed", "strict"] | None,
        Option(
            "seed: the sampled tools are an idea, from which the model plans a goal of its own, or declines; "
            "strict: the plan has exactly the sampled tools and links [default: seed for a served model and "
            "imported tools, else strict]."
        ),
    ] = None


@dataclass(frozen=True)
class LiveSettings:
    """A server from which values are collected, and on which generated plans are tried.

    Attributes:
        executor: Empty on a command line that names no executor.
        limits: Bounds on each call.
    """

    section = EXECUTORS

    executor: Annotated[
        str,
        Option(
            "Collect real values of arguments from this executor first (values.json), use them in requests, "
            "and execute each plan when it is written; what is refused goes back to the writer (a served "
            "model: with --rewrite N).",
            "values_from",
            choices=executor_names,
            common=True,
        ),
    ] = ""
    options: Annotated[Any, EXECUTOR_OPTIONS] = None
    allow_writes: AllowWrites = False
    allow_tools: AllowTools = False
    limits: CallLimits = field(default_factory=CallLimits)


@dataclass(frozen=True)
class GateSettings:
    """The gates of a check, the models that judge, and what the samples are compared with."""

    section = "Gates"

    gates: Annotated[
        Sequence[str] | None,
        Option("Comma-separated gates to run, of those below [default: all].", listed=True, common=True),
    ] = None
    without: Annotated[Sequence[str], Option("Comma-separated gates to skip.", listed=True, common=True)] = ()
    against: Annotated[
        Path | str | None,
        Option(
            "Another data folder or file; requests that repeat one of its requests do not pass.", common=True
        ),
    ] = None
    threshold: Annotated[float | None, _Threshold] = None
    repair: Annotated[
        bool, Option("First repair mechanical errors; repairs.jsonl lists every change.", common=True)
    ] = False
    dependency_type: DependencyTypeName = None
    engine: EngineName = None
    critic: Critics = ()
    solvers: Annotated[
        Sequence[str],
        Option(
            "Model that solves the requests without seeing the gold; a sample that none gets right is "
            "quarantined.",
            "solver",
            metavar="LLM",
            common=True,
        ),
    ] = ()
    prediction_dir: Annotated[
        str | Path | None,
        Option("Folder of the solvers' predictions, relative to the data folder [default: OUT/predictions]."),
    ] = None
    calibration: Calibrations = ()


@dataclass(frozen=True)
class ExecutionSettings:
    """Options of `execute` that do not depend on the executor."""

    allow_writes: AllowWrites = False
    allow_tools: AllowTools = False
    workers: Annotated[int, Option("Plans executed at the same time.", minimum=1)] = 2
    max_seconds: Annotated[float, Option("Seconds for one call.", minimum=0, above=True)] = 30.0
    max_result: Annotated[int, Option("Bytes of one result.", minimum=1)] = 2**20
    max_memory: Annotated[int, Option("MiB of memory of a server or a function.", minimum=16)] = 1024
    twice: Annotated[
        bool, Option("Execute each plan twice and record which results vary, such as the time.")
    ] = False
    wrong_calls: Annotated[
        float,
        Option(
            "Share of the plans for which a call with a mistake is executed too, for `export --recoveries`.",
            minimum=0,
            maximum=1,
            metavar="SHARE",
        ),
    ] = 0.0
    ignore: Annotated[
        Sequence[str],
        Option("Places of the state that are not compared, e.g. '*.log'.", metavar="PATTERN"),
    ] = ()
    limit: Annotated[int | None, Option("Only the first N plans.", minimum=1, metavar="N", common=True)] = (
        None
    )
    seed: Annotated[int, Option("Random seed of wrong calls, and of a world by rules.")] = 0
    force: Annotated[
        bool,
        Option("Start again with other settings; earlier executions are kept under a dated name."),
    ] = False


@dataclass(frozen=True)
class ReviewSettings:
    """Which samples are reviewed, and who reviews them."""

    gates: Annotated[
        Path | str | None,
        Option("A gates.jsonl written by toolassay check [default: the one in the folder]."),
    ] = None
    dependency_type: DependencyTypeName = None
    reviewers: Annotated[
        Sequence[str],
        Option(
            "Comma-separated names to divide the samples among [default: everyone reviews all].", listed=True
        ),
    ] = ()
    each: Annotated[int, Option("Number of --reviewers per sample; 0: all.", minimum=0)] = 0
    sample: Annotated[
        int | None, Option("Look at so many samples, drawn by their ids.", minimum=1, metavar="N")
    ] = None


@dataclass(frozen=True)
class AuditSettings:
    """Which verdicts reviewers check."""

    verdicts: Annotated[
        str,
        Option(
            "Review outcomes of this model without seeing the verdicts: --export draws 30 of them, or "
            "--sample, by verdict; --import reads them.",
            metavar="MODEL",
            common=True,
        ),
    ] = ""
    prediction_dir: PredictionDir = "predictions"
    metrics_dir: MetricsDir = None
    seed: Annotated[int, Option("Random seed of the outcomes that --verdicts draws.")] = 0


@dataclass(frozen=True)
class PageSettings:
    """Where a page is shown."""

    port: Annotated[int, Option("Port of the page on 127.0.0.1; 0: any free.", minimum=0, maximum=65535)] = 0
    open_browser: Annotated[bool, Option("Open the page in the browser.", flags=("--open",))] = False


def _closing(text: str) -> str | None:
    return None if text == "none" else text


@dataclass(frozen=True)
class ChatForm:
    """How an export writes results and chats."""

    section = "Chats"

    results: Annotated[
        Literal["executed", "references", "none"] | None,
        Option(
            "Results of the calls. executed: what the tools returned, from DATA_DIR/executions.jsonl "
            "(toolassay "
            "execute); references: <node-j> in their place; none: calls only, all in one message [default: "
            "executed if that file exists, else references]."
        ),
    ] = None
    tools: Annotated[
        int | Literal["all", "gold"] | None,
        Option(
            "Functions that a chat offers: all, gold (those of its plan), or a number [default: all, up to "
            "128].",
            metavar="all|gold|N",
            minimum=1,
        ),
    ] = None
    system: Annotated[str, Option("System message of the chats, or a text file that holds it.")] = ""
    closing: Annotated[
        str | None,
        Option(
            "Last message of a chat; $results is replaced by an answer that states the results. none: the "
            "chat ends with its last call [default: $results if they are executed, else 'Done: $results'].",
            metavar="TEXT",
            read=_closing,
        ),
    ] = AUTO
    parallel: Annotated[bool, Option("Put calls that do not depend on each other in one turn.")] = False
    arguments: Annotated[
        Literal["text", "object"],
        Option(
            "openai: form of the arguments of a call. text: a JSON string, as in OpenAI's API; object: for "
            "most chat templates."
        ),
    ] = "text"
    recoveries: Annotated[
        float,
        Option(
            "Share of the samples with a wrong call and the tool's error before the right call (toolassay "
            "execute --wrong_calls).",
            minimum=0,
            maximum=1,
            metavar="SHARE",
        ),
    ] = 0.0
    seed: Annotated[int, Option("Random seed of the functions that --tools draws, and of --recoveries.")] = 0


@dataclass(frozen=True)
class SplitSettings:
    """How samples are divided; the three shares are scaled to a sum of 1."""

    train: Annotated[float, Option("Share of the training split.", minimum=0)] = 0.8
    dev: Annotated[float, Option("Share of the development split.", minimum=0)] = 0.1
    test: Annotated[float, Option("Share of the test split.", minimum=0)] = 0.1
    seed: Seed = 0
    hold_out_tools: Annotated[
        Collection[str],
        Option("Tools to keep out of training: samples that use them go to test.", metavar="TOOL[,TOOL…]"),
    ] = ()
    near: Annotated[
        bool, Option("Keep near-duplicate requests in the same split, not only identical ones.")
    ] = True
    threshold: Annotated[float, _Threshold] = 0.6


@dataclass(frozen=True)
class VarietySettings:
    """How variety is measured."""

    threshold: Annotated[float, _Threshold] = 0.6
    sample: Annotated[
        int,
        Option(
            "Number of requests on which distinct-n and self-similarity are measured. Data sets are "
            "comparable only at the same number.",
            minimum=2,
        ),
    ] = 1_000
    seed: Annotated[int, Option("Random seed of the sampled requests.", minimum=0)] = 0
    engine: EngineName = None


@dataclass(frozen=True)
class ComparisonSettings:
    """Which scores are compared, and how often they are drawn again."""

    metrics: Annotated[
        Sequence[str],
        Option("Strict metric, e.g. node_f1 [default: all].", flags=("--metric", "-m")),
    ] = ()
    split: Annotated[str, Option("Shape of the gold plan: overall, single, chain, dag.", flags=("-s",))] = (
        "overall"
    )
    n_tools: Annotated[
        str | int, Option("Number of tools of the gold plan: overall, 1 to 10.", flags=("-n",))
    ] = "overall"
    resamples: _Resamples = 10_000
    seed: Annotated[int, Option("Random seed of the resamples.")] = 0


@dataclass(frozen=True)
class SurfaceSettings:
    """How two versions are compared."""

    section = "Comparison"

    margin: Annotated[
        float,
        Option(
            "Smallest difference that matters, as a share: 0.05 is 5 points.",
            minimum=0,
            above=True,
            maximum=1,
            metavar="SHARE",
            common=True,
        ),
    ] = 0.05
    until: Annotated[
        Literal["decided"] | None,
        Option("Look after each tenth of the goals, and stop at the first decision.", common=True),
    ] = None
    trials: Annotated[int, Option("Runs of each goal on each side.", minimum=1, common=True)] = 1
    limit: Annotated[
        int | None, Option("Compare so many goals, drawn by --seed.", minimum=1, metavar="N", common=True)
    ] = None
    baseline: Annotated[
        Path | None,
        Option(
            "surface.json of an earlier comparison with the same old version, whose runs are taken over, so "
            "that only the new version is paid.",
            metavar="FILE",
            common=True,
        ),
    ] = None
    propose: Annotated[
        str | None,
        Option("Model that proposes what became of tools that are gone.", metavar="LLM"),
    ] = None
    seed: Annotated[int, Option("Random seed of the order of the goals.")] = 0
    dry_run: Annotated[
        bool, Option("Show what would be sent and its estimated cost. Sends nothing.", common=True)
    ] = False


@dataclass(frozen=True)
class ReportSettings:
    """What a report is about."""

    llm: Annotated[
        Sequence[str] | str,
        Option("Model to include, or all: every one found.", metavar="LLM", common=True),
    ] = "all"
    prediction_dir: PredictionDir = "predictions"
    metrics_dir: MetricsDir = None
    require: Annotated[
        Sequence[str],
        Option(
            "What a model must meet, e.g. 'accuracy>=80%', 'side_effects<=2%', 'attack_success<=5%', "
            "'pass_k>=50%', 'cost<=5' (USD per 1,000 items), 'latency_p50<=3' and 'latency_p95<=20' "
            "(seconds), "
            "'calls(TOOL)<=0' (the number of calls in all runs).",
            metavar="RULE",
            common=True,
        ),
    ] = ()
    undecided: Annotated[
        Literal["wait", "pass"],
        Option(
            "What a requirement without enough data means: wait (exit code 3), or pass (0). It is shown "
            "either "
            "way."
        ),
    ] = "wait"
    baseline: Annotated[
        str | Path | None,
        Option(
            "Fail if a model is significantly worse (p < 0.05) than this model or earlier metrics file.",
            metavar="MODEL|FILE",
            common=True,
        ),
    ] = None
    seed: Annotated[int, Option("Random seed of intervals and tests.")] = 0


@dataclass(frozen=True)
class LeaderboardSettings:
    """Which rows and columns a leaderboard has."""

    section = "Leaderboard (--only leaderboard)"

    group: Annotated[str, Option("Group of samples in the metrics, e.g. chain_overall.")] = "overall_overall"
    mode: Annotated[Literal["both", "strict", "compat"], Option("Scoring modes to show for each model.")] = (
        "both"
    )
    sort_by: Annotated[
        str | None,
        Option(
            "Sort by a column, or by coverage, cost, latency or model; uses the strict score if there is one "
            "[default: the ranking of the report]."
        ),
    ] = None
    with_published: Annotated[bool, Option("Add the published rows of the folder's domain.")] = False
    published: Annotated[
        str | None,
        Option("Add the published rows of this domain or edition, e.g. multimedia or 2026.", metavar="NAME"),
    ] = None


@dataclass(frozen=True)
class SubgraphSettings:
    """Which subgraphs `sample` shows."""

    method: Annotated[
        Literal["single", "chain", "dag", "any"] | None,
        Option("Shape of the subgraphs; any: by weight.", "sample_method"),
    ] = "chain"
    tools: Annotated[
        int | None,
        Option(
            "Number of tools of a subgraph [default: 3; drawn by --size_weights for 'any'].",
            "num_nodes",
            minimum=1,
        ),
    ] = None
    number_of_samples: Annotated[int, Option("Number of subgraphs.", minimum=1)] = 1
    seed: Annotated[int, Option("Random seed; -1 draws one and prints it.")] = -1
    shape_weights: _ShapeWeights = None
    size_weights: _SizeWeights = None
    by_score: _ByScore = True
    cover: Annotated[
        Literal["tools", "edges"] | None,
        Option("Each sample has another tool, or another edge [needs --sample_method any]."),
    ] = None
    dependency_type: DependencyTypeName = None
    save_figure: Annotated[bool, Option("Draw each sample into DATA_DIR/task_graphs/.")] = False


@dataclass(frozen=True)
class FaultSettings:
    """How the server of the offline models answers."""

    faults: Annotated[
        Sequence[str],
        Option(
            "Fault to inject. WHEN is a share of the requests (0.05), first:K, once (the first time of each "
            "prompt) or always.",
            "fault",
            metavar="NAME=WHEN",
        ),
    ] = ()
    delay: Annotated[float, Option("Seconds before each answer.", minimum=0)] = 0.0
    capacity: Annotated[
        int | None, Option("Maximum concurrent requests; further ones get a 429.", minimum=1)
    ] = None
    retry_after: Annotated[
        float, Option("Seconds in the Retry-After header of the faults 429 and 500.", minimum=0)
    ] = 1.0
