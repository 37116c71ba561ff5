"""The options of `infer` and `evaluate` in a folder of TaskBench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolassay.errors import UsageError
from toolassay.prompt_templates import Wording, check_wording

if TYPE_CHECKING:
    from toolassay.benchmarks.taskbench.scoring.evaluation import Choices
    from toolassay.evaluation.line_index import Keep
    from toolassay.metrics.bertscore import BertScore

ROUGE_BACKENDS = ("builtin", "rouge-score")
BERTSCORE_BACKENDS = ("builtin", "bert-score")


@dataclass(frozen=True)
class PlanOptions:
    """The options of `infer` in a folder of TaskBench.

    Attributes:
        dependency_type: resource or temporal; None for what the folder says.
        use_demos: number of demonstrations in the prompt.
        demo_ids: labels that demonstrate, instead of the first of each shape.
        reformat: have unreadable answers rewritten as strict JSON.
        reformat_by: the model that rewrites; "self" is the model itself.
        tag: put demonstrations and reformatting into the folder's name, as published.
        log_first_detail: show the first prompt and its answer.
        prompt: the built-in wording: "published", or "example" (a worked example instead of placeholders, for
            small models).
        prompt_template: a file with another wording.
    """

    dependency_type: str | None = None
    use_demos: int = 0
    demo_ids: Sequence[str] = ()
    reformat: bool = False
    reformat_by: str = "self"
    tag: bool = False
    log_first_detail: bool = False
    prompt: str = "published"
    prompt_template: Path | None = None

    @property
    def wording(self) -> Wording:
        """The built-in wording.

        Raises:
            UsageError: an unknown one, or one beside a template.
        """
        return check_wording(self.prompt, with_template=self.prompt_template is not None)

    @property
    def rewriter(self) -> str | None:
        """The model that rewrites unreadable answers; None where they stay."""
        return self.reformat_by if self.reformat else None

    @property
    def demo_count(self) -> int:
        """Number of demonstrations, however they are chosen."""
        return len(self.demo_ids) or self.use_demos


@dataclass(frozen=True)
class PlanScoring:
    """The options of `evaluate` in a folder of TaskBench.

    Attributes:
        alignment: score only what these critics let pass; "train", "dev" and "test": only that split.
        splits: overall, single, chain, dag, or all.
        n_tools: overall, 1 to 10, or all.
        mode: "add" (each split, then each number of tools) or "mul" (their product).
        metrics: f1, ed, link, argument, rouge, bertscore, installed ones, or all.
        dependency_type: resource or temporal; None for what the folder says.
        prompting: other than "cot" leaves the metrics of steps out.
        keep: which of several lines with one id counts, "first" or "last"; "error" stops at them.
        rouge_median: add the median of bootstrapped means, which the published file holds, to each ROUGE.
        compat: "published" gives the published numbers also where they say nothing of the library: of
            resource tools with an underscore in their names.
        bertscore_model: the model of BERTScore: a folder, or a name of the Hugging Face hub, which may then
            be downloaded; None for roberta-large if it is on this disk.
        bertscore_layers: how many of its layers are run; None for those that suit the model.
        bertscore_device: "cpu", "cuda" or "mps"; None for cuda where there is one.
        bertscore_cache: keep BERTScores in the user's cache folder, and take them from there.
        with_bertscore: compute BERTScore at all.
        resamples: of the bootstrap behind the strict intervals.
        seed: of the bootstrap.
        rouge_backend: "rouge-score" computes ROUGE with the package of this name, the reference of the
            built-in ROUGE.
        bertscore_backend: "bert-score" computes BERTScore with `bert_score.BERTScorer`, the reference of the
            built-in batches, and without a cache.

    Raises:
        UsageError: an unknown backend.
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
    bertscore_backend: Literal["builtin", "bert-score"] = "builtin"

    def __post_init__(self) -> None:
        for name, known in (("rouge_backend", ROUGE_BACKENDS), ("bertscore_backend", BERTSCORE_BACKENDS)):
            if (given := getattr(self, name)) not in known:
                raise UsageError(f"no {name} '{given}'", fix=f"choose from {', '.join(known)}")

    def require_backends(self) -> None:
        """Check the packages of the backends, before anything is scored.

        Raises:
            UsageError: a package that the selected metrics need is not installed, or a metric is unknown.
        """
        if self.rouge_backend == self.bertscore_backend == "builtin":
            return
        from toolassay.evaluation.groups import metrics_of
        from toolassay.metrics.bertscore import require_bert_score
        from toolassay.metrics.installed import installed_metrics
        from toolassay.metrics.rouge import rouge_score_release

        chosen = metrics_of(self.metrics, self.prompting, installed_metrics())
        if "rouge" in chosen and self.rouge_backend == "rouge-score":
            rouge_score_release()
        if "bertscore" in chosen and self.bertscore_backend == "bert-score" and self.with_bertscore:
            require_bert_score()

    @property
    def choices(self) -> Choices:
        """What the scorer is asked for."""
        from toolassay.benchmarks.taskbench.scoring.evaluation import Choices

        return Choices(
            tuple(self.metrics),
            tuple(self.splits),
            tuple(self.n_tools),
            self.mode,
            self.alignment,
            self.prompting,
            self.keep,
            self.resamples,
            self.seed,
            rouge_median=self.rouge_median,
            compat=self.compat,
            rouge_backend=self.rouge_backend,
        )

    @property
    def bertscore(self) -> BertScore | None:
        """What computes BERTScore; None leaves it out."""
        if not self.with_bertscore:
            return None
        from toolassay.benchmarks.taskbench.scoring.parallel_scorer import cores
        from toolassay.metrics.bertscore import BertScore, ReferenceBertScore

        kind = ReferenceBertScore if self.bertscore_backend == "bert-score" else BertScore
        return kind(
            self.bertscore_model,
            layers=self.bertscore_layers,
            device=self.bertscore_device,
            cache=self.bertscore_cache,
            threads=cores(),
        )
