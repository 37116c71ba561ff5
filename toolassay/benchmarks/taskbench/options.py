"""Options of `infer` and `evaluate` for TaskBench folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolassay.errors import UsageError
from toolassay.prompts.templates import Wording, check_wording

if TYPE_CHECKING:
    from toolassay.engines import Engine
    from toolassay.episodes.own_agent import AgentFunction
    from toolassay.evaluation.line_index import Keep
    from toolassay.metrics.bertscore import BertScore

ROUGE_BACKENDS = ("builtin", "rouge-score")
ASKS = ("plan", "calls", "tools", "react")
AGENTS = "agents"
"""The way of asking with `agent_command`."""
_OF_PLANS = ("use_demos", "demo_ids", "reformat", "tag", "log_first_detail", "prompt", "prompt_template")
_OF_CALLS = ("executor", "executor_options", "allow_writes", "allow_tools", "max_steps", "max_seconds")


@dataclass(frozen=True)
class PlanOptions:
    """Options of `infer` for TaskBench folders.

    Attributes:
        dependency_type: "resource", "temporal" or "schema"; None for the type in `benchmark.json`.
        use_demos: Number of demonstrations in the prompt.
        demo_ids: Ids of the labels to show as demonstrations; empty for the first of each shape.
        reformat: Let a model rewrite answers that cannot be parsed as strict JSON.
        reformat_by: Model for `reformat`; "self" is the model under test.
        tag: Add demonstrations and reformatting to the name of the prediction folder, as published.
        log_first_detail: Print the first prompt and its answer.
        prompt: Built-in prompt: "default", or "example", which shows a short worked example instead of
            placeholders, for small models.
        prompt_template: File with another prompt template.
        ask: What is requested: a "plan"; "calls", all native calls in one answer; "tools", native calls step
            by step with their results; "react", actions in text; "agents", an agent of the user's. All but
            "plan" need imported tools. None: "tools" for a served model on imported tools without plans of
            models, else "plan".
        agent_command: Command line of an agent to run instead of a model, or an `AgentFunction`.
        agent_version: Name of the state of the agent, which stands for the content of its files; None for
            that.
        executor: What makes the calls of "tools", "react" and "agents".
        executor_options: Its options object; None for the defaults.
        allow_writes: Permit tools that are not marked read-only.
        allow_tools: Permit Python code of the data folder, or that an option of the executor names.
        max_steps: Maximum model answers per request.
        max_seconds: Maximum seconds of all answers to a request; of an agent, of its whole work.
        tools_in_context: Tools that a request shows: "all"; "retrieved:K", the K best by BM25;
            "retrieved:K:NAME", those of an installed retriever.
    """

    dependency_type: str | None = None
    use_demos: int = 0
    demo_ids: Sequence[str] = ()
    reformat: bool = False
    reformat_by: str = "self"
    tag: bool = False
    log_first_detail: bool = False
    prompt: str = "default"
    prompt_template: Path | None = None
    ask: str | None = None
    agent_command: str | AgentFunction | None = None
    agent_version: str | None = None
    executor: str = "simulate"
    executor_options: Any = None
    allow_writes: bool = False
    allow_tools: bool = False
    max_steps: int = 20
    max_seconds: float = 120.0
    tools_in_context: str = "all"

    def __post_init__(self) -> None:
        """Check that the options fit the way of asking.

        Raises:
            UsageError: One does not, or the way is unknown.
        """
        if self.agent_command is not None:
            object.__setattr__(self, "ask", AGENTS)
        if self.ask not in (None, *ASKS) and self.agent_command is None:
            raise UsageError(f"unknown --ask '{self.ask}'", fix=f"choose from {', '.join(ASKS)}")
        unfit = () if self.ask is None else _OF_CALLS if self.ask == "plan" else _OF_PLANS
        for name in self.given(unfit):
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
        alignment: Score only the items that these critics accept, or one split: "train", "dev" or "test".
        splits: Shapes to report: overall, single, chain, dag or all.
        n_tools: Numbers of tools to report: overall, 1 to 10, or all.
        mode: Groups to report: "add" (each split, then each number of tools) or "mul" (every combination).
        metrics: f1, ed, link, argument, rouge, bertscore, registered metrics, or all.
        dependency_type: "resource", "temporal" or "schema"; None for the type in `benchmark.json`.
        prompting: Prompting method of the predictions; any other than "cot" skips the metrics of steps.
        keep: Line to score if an id has several: "first" or "last"; "error" stops there.
        rouge_median: Add the median of bootstrapped means to each ROUGE, as in the published files.
        compat: "published" computes the published numbers also where they are not meaningful: for resource
            tools with an underscore in their names.
        bertscore_model: Model of BERTScore: a folder, or a name on the Hugging Face hub, which may be
            downloaded; None for roberta-large if it is on this disk.
        bertscore_layers: Number of layers to run; None for the known best number, or all.
        bertscore_device: "cpu", "cuda" or "mps"; None for cuda if available, else cpu.
        bertscore_cache: Cache BERTScores in the user's cache folder.
        with_bertscore: Whether to compute BERTScore.
        resamples: Number of bootstrap resamples for the strict intervals.
        seed: Random seed of the bootstrap.
        rouge_backend: "rouge-score" computes ROUGE with that package, the reference of the built-in ROUGE.

    Raises:
        UsageError: An unknown backend.
    """

    alignment: str | None = None
    splits: Sequence[str] = ("overall",)
    n_tools: Sequence[str | int] = ("overall",)
    mode: str = "add"
    metrics: Sequence[str] = ("all",)
    dependency_type: str | None = None
    prompting: str = "cot"
    keep: Keep = "last"
    rouge_median: bool = False
    compat: Literal["published"] | None = None
    bertscore_model: str | Path | None = None
    bertscore_layers: int | None = None
    bertscore_device: str | None = None
    bertscore_cache: bool = True
    with_bertscore: bool = True
    resamples: int = 1000
    seed: int = 0
    rouge_backend: Literal["builtin", "rouge-score"] = "builtin"

    def __post_init__(self) -> None:
        if self.rouge_backend not in ROUGE_BACKENDS:
            raise UsageError(
                f"no rouge_backend '{self.rouge_backend}'", fix=f"choose from {', '.join(ROUGE_BACKENDS)}"
            )

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
            cache=self.bertscore_cache,
            threads=cores(),
            engine=engine,
        )
