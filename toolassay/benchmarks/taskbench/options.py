"""Options of `infer` and `evaluate` for TaskBench folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolassay.benchmarks.benchmark import AGENT_COMMAND, AGENT_VERSION
from toolassay.benchmarks.registry import EXECUTOR_OPTIONS, executor_names
from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.graph.tool_graph import DEPENDENCY_TYPE
from toolassay.plans.execution_record import WORLD
from toolassay.prompts.templates import Wording, check_wording

if TYPE_CHECKING:
    from toolassay.engines import Engine
    from toolassay.episodes.own_agent import AgentFunction
    from toolassay.metrics.bertscore import BertScore

ASKS = ("plan", "calls", "tools", "react")
AGENTS = "agents"
"""The way of asking with `agent_command`."""
_OF_PLANS = ("use_demos", "demo_ids", "reformat", "tag", "log_first_detail", "prompt", "prompt_template")
_OF_CALLS = ("executor", "executor_options", "allow_writes", "allow_tools", "max_steps", "max_seconds")


@dataclass(frozen=True)
class PlanOptions:
    """Options of `infer` for TaskBench folders."""

    dependency_type: Annotated[str | None, DEPENDENCY_TYPE] = None
    use_demos: Annotated[int, Option("Number of demonstrations in the prompt.", minimum=0)] = 0
    demo_ids: Annotated[
        Sequence[str],
        Option("Ids of the labels to show as demonstrations, separated by commas.", listed=True),
    ] = ()
    reformat: Annotated[bool, Option("Let a model rewrite answers that cannot be parsed as strict JSON.")] = (
        False
    )
    reformat_by: Annotated[str, Option("Model for --reformat; self is the model under test.")] = "self"
    tag: Annotated[
        bool,
        Option("Add demonstrations and reformatting to the name of the prediction folder, as published."),
    ] = False
    log_first_detail: Annotated[bool, Option("Print the first prompt and its answer.")] = False
    prompt: Annotated[
        Literal["default", "example"],
        Option(
            "Built-in prompt. 'example' shows a short worked example instead of placeholders, for small "
            "models."
        ),
    ] = "default"
    prompt_template: Annotated[Path | None, Option("File with your own prompt template.")] = None
    ask: Annotated[
        str | None,
        Option(
            "What to request of imported tools: a plan; calls: all native calls in one answer; tools: native "
            "calls step by step, with results from --executor; react: the same with actions in text. "
            "Predictions are in predictions_ASK [default: tools on imported tools, unless there is a folder "
            "predictions; else plan].",
            choices=(*ASKS, AGENTS),
            metavar="|".join(ASKS),
            common=True,
        ),
    ] = None
    agent_command: Annotated[str | AgentFunction | None, AGENT_COMMAND] = None
    agent_version: Annotated[str | None, AGENT_VERSION] = None
    tools_in_context: Annotated[
        str,
        Option(
            "Tools that a request shows: all; retrieved:K, the K best by BM25; retrieved:K:NAME, by an "
            "installed retriever.",
            metavar="all|retrieved:K",
        ),
    ] = "all"
    max_steps: Annotated[int, Option("With --ask: maximum model answers per request.", minimum=1)] = 20
    max_seconds: Annotated[
        float,
        Option(
            "With --ask: maximum seconds of the model answers to one request; of an agent, of its whole "
            "work.",
            minimum=0,
            above=True,
        ),
    ] = 120.0
    executor: Annotated[
        str,
        Option(
            "With --ask: where calls run.",
            choices=executor_names,
            section="Executors",
            common=True,
        ),
    ] = WORLD
    executor_options: Annotated[Any, EXECUTOR_OPTIONS] = None
    allow_writes: Annotated[
        bool,
        Option("Permit tools that are not marked read-only.", section="Executors"),
    ] = False
    allow_tools: Annotated[
        bool,
        Option("Run Python code of the data folder, or that --functions names.", section="Executors"),
    ] = False

    def __post_init__(self) -> None:
        """Check that the options fit the way of asking.

        Raises:
            UsageError: One does not, or the way is unknown.
        """
        if self.agent_command is not None:
            object.__setattr__(self, "ask", AGENTS)
        if self.ask is None:
            return
        for name in self.given(_OF_CALLS if self.ask == "plan" else _OF_PLANS):
            raise UsageError(f"--{name} does not apply to --ask {self.ask}", fix="omit it")

    def given(self, names: Sequence[str] = _OF_PLANS) -> list[str]:
        """Which of some options, by default those of plans, do not have their defaults."""
        return [name for name in names if getattr(self, name) not in (getattr(PlanOptions, name), [])]

    def wording(self) -> Wording:
        """Name of the built-in prompt.

        Raises:
            UsageError: It is unknown, or given together with a template.
        """
        return check_wording(self.prompt, with_template=self.prompt_template is not None)

    @property
    def rewriter(self) -> str | None:
        """Model that rewrites answers; None without `reformat`."""
        return self.reformat_by if self.reformat else None

    @property
    def demo_count(self) -> int:
        """Number of demonstrations in the prompt; `use_demos` limits `demo_ids` as well.

        >>> [PlanOptions(use_demos=number, demo_ids=["1", "2"]).demo_count for number in (0, 1, 5)]
        [2, 1, 2]
        """
        given = len(self.demo_ids)
        return min(given, self.use_demos or given) if given else self.use_demos


@dataclass(frozen=True)
class PlanScoring:
    """Options of `evaluate` for TaskBench folders.

    Attributes:
        with_bertscore: Whether to compute BERTScore.
        resamples: Number of bootstrap resamples for the strict intervals.
        seed: Random seed of the bootstrap.
    """

    alignment: Annotated[
        str | None,
        Option(
            "Score only the items that these critics accept (alignment_ids.json), or one split: train, dev, "
            "test."
        ),
    ] = None
    splits: Annotated[
        Sequence[str],
        Option("Shapes to report: overall, single, chain, dag, all.", flags=("-s",), common=True),
    ] = ("overall",)
    n_tools: Annotated[
        Sequence[str | int],
        Option("Numbers of tools to report: overall, 1 to 10, all.", flags=("-n",), common=True),
    ] = ("overall",)
    mode: Annotated[
        Literal["add", "mul"],
        Option("Groups to report. add: each split, then each number of tools; mul: every combination."),
    ] = "add"
    metrics: Annotated[
        Sequence[str],
        Option(
            "Metrics: f1, ed, link, argument, rouge, bertscore, registered ones, all.",
            flags=("--metric", "-m"),
            common=True,
        ),
    ] = ("all",)
    dependency_type: Annotated[str | None, DEPENDENCY_TYPE] = None
    prompting: Annotated[
        str,
        Option("Prompting method of the predictions; any other than cot skips the metrics of steps."),
    ] = "cot"
    keep: Annotated[
        Literal["first", "last", "error"], Option("Line to score if an id has several; error: stop.")
    ] = "last"
    rouge_median: Annotated[bool, Option("Add ROUGE as published: the median of bootstrapped means.")] = False
    compat: Annotated[
        Literal["published"] | None,
        Option(
            "Compute published numbers also where they are not meaningful: resource tools with '_' in a name."
        ),
    ] = None
    bertscore_model: Annotated[
        str | Path | None,
        Option(
            "Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be downloaded "
            "[default: roberta-large if on this disk]."
        ),
    ] = None
    bertscore_layers: Annotated[
        int | None,
        Option("Layers of the model to run [default: the known best number, or all].", minimum=1),
    ] = None
    bertscore_device: Annotated[
        str | None,
        Option(
            "Device for BERTScore [default: cuda if available, else cpu].", choices=("cpu", "cuda", "mps")
        ),
    ] = None
    with_bertscore: bool = True
    resamples: int = 1000
    seed: int = 0
    rouge_backend: Annotated[
        Literal["builtin", "rouge-score"],
        Option("Implementation of ROUGE: built in, or the package rouge-score."),
    ] = "builtin"

    def bertscore_on(self, engine: Engine | None) -> BertScore | None:
        """The BERTScore scorer, on an engine or in this process; None if BERTScore is not selected."""
        if not (self.with_bertscore and {"all", "bertscore"} & set(self.metrics)):
            return None
        from toolassay.engines.processes import cores
        from toolassay.metrics.bertscore import BertScore

        return BertScore(
            self.bertscore_model,
            layers=self.bertscore_layers,
            device=self.bertscore_device,
            threads=cores(),
            engine=engine,
        )
