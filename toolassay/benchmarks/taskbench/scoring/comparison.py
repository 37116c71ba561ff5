"""Models compared on the same items: whether the differences between their scores are more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from toolassay.benchmarks.taskbench.scoring.groups import Group
from toolassay.benchmarks.taskbench.scoring.item_table import Aligned, ItemTable, align, named, read_table
from toolassay.benchmarks.taskbench.scoring.scored_model import (
    ScoredModel,
    clusters_of,
    differing_settings,
    mark_of_scored,
    torn,
)
from toolassay.errors import UsageError
from toolassay.metrics.intervals import Interval
from toolassay.metrics.multiple import holm
from toolassay.metrics.paired import LEVEL, Test, compare_pairs
from toolassay.offline.marks import Mark, marked

Verdict = Literal["better", "worse", "no difference found"]


@dataclass(frozen=True)
class ScoreComparison:
    """One score of two models. All scores are better when higher, and lie between 0 and 1.

    Attributes:
        metric: the name of the score.
        n: the items that both have a score for.
        n_clusters: the sampled subgraphs, or the templates, that these come from.
        baseline: the mean of the baseline.
        value: the mean of the other model.
        difference: value - baseline, with its 95 % interval.
        p: of "no difference".
        p_holm: the same, corrected for all scores and models compared.
        test: what p comes from, "mcnemar" or "randomisation".
        smallest_detectable: the difference that so many items find at 5 % with a probability of 80 %.
    """

    metric: str
    n: int
    n_clusters: int
    baseline: float | None
    value: float | None
    difference: Interval
    p: float | None
    p_holm: float | None
    test: Test | None
    smallest_detectable: float | None

    @property
    def verdict(self) -> Verdict:
        """What the corrected p-value says of the other model."""
        if self.p_holm is None or self.p_holm >= LEVEL or not self.difference.value:
            return "no difference found"
        return "better" if self.difference.value > 0 else "worse"


@dataclass(frozen=True)
class ModelComparison:
    """One model against the baseline.

    Attributes:
        baseline: the name of the first model.
        model: the name of the other.
        n_compared: the items that both models were asked.
        n_labels: the items of the group that either file has.
        only_baseline: how many items only the baseline was asked; they are left out.
        only_model: how many only the other was asked; they are left out.
        scores: one entry a metric.
    """

    baseline: str
    model: str
    n_compared: int
    n_labels: int
    only_baseline: int
    only_model: int
    scores: tuple[ScoreComparison, ...]

    def __getitem__(self, metric: str) -> ScoreComparison:
        return next(score for score in self.scores if score.metric == metric)


@dataclass(frozen=True)
class Comparison:
    """Every model against the first.

    Attributes:
        group: which items, as in a metrics file.
        resamples: of intervals and randomisation.
        seed: of both.
        models: one entry for each model after the first.
        notes: what the user should know.
        clusters: what the items that are drawn together have in common.
        marks: what a reader must know about a model, by its name.
    """

    group: str
    resamples: int
    seed: int
    models: tuple[ModelComparison, ...]
    notes: list[str] = field(default_factory=list)
    clusters: str = "the items of one sampled subgraph"
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def shown(self, model: str) -> str:
        """A model's name with its mark."""
        return marked(model, self.marks.get(model))

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        from toolassay.benchmarks.taskbench.scoring.compare_table import comparison_markdown

        return comparison_markdown(self)

    def to_json(self) -> dict[str, Any]:
        """As it is saved."""
        models = []
        for model in self.models:
            scores = {
                score.metric: {
                    **{name: value for name, value in asdict(score).items() if name != "metric"},
                    "difference": score.difference.to_json(),
                    "verdict": score.verdict,
                }
                for score in model.scores
            }
            models.append({**asdict(model), "n": model.n_compared, "scores": scores})
        marks = {name: mark._asdict() for name, mark in self.marks.items()}
        return {**asdict(self), "models": models, "marks": marks}


def compare_models(
    files: Sequence[ScoredModel],
    *,
    group: Group,
    metrics: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare every model with the first, on the items each shares with it.

    Args:
        files: at least two, with different names.
        group: which items.
        metrics: which scores; empty for all that both files have.
        resamples: of the bootstrap and of the randomisation.
        seed: of both.

    Raises:
        UsageError: files missing, malformed, without a shared item or with other labels; an unknown metric.
    """
    notes: list[str] = [note for file in files for note in torn(file)]
    base = read_table(files[0].items, group)
    compared: list[ModelComparison] = []
    for file in files[1:]:
        table = read_table(file.items, group)
        pair = (files[0].name, file.name)
        notes += differing_settings(files[0], file)
        shared = _shared_metrics(base, table, metrics, pair, notes)
        aligned = align(base, table, shared)
        for name, ids in zip(pair, (aligned.only_baseline, aligned.only_other), strict=True):
            if ids:
                notes.append(f"{len(ids):,} item(s) that only {name} was asked are left out: {named(ids)}")
        labels = {key for one in (base, table) for key in (*one.rows, *one.unscored)}
        made = _compared(pair, aligned, len(labels), resamples, seed)
        if not metrics:  # a score that no item has: nothing was compared
            made = replace(made, scores=tuple(score for score in made.scores if score.n))
        compared.append(made)
    marks = {file.name: mark for file in files if (mark := mark_of_scored(file)) is not None}
    return Comparison(group.key, resamples, seed, _corrected(compared), notes, clusters_of(files[0]), marks)


def _compared(
    pair: tuple[str, str], aligned: Aligned, labels: int, resamples: int, seed: int
) -> ModelComparison:
    results = compare_pairs(
        aligned.baseline, aligned.other, clusters=aligned.clusters, resamples=resamples, seed=seed
    )
    scores = tuple(
        ScoreComparison(
            name,
            result.n,
            result.n_clusters,
            result.baseline,
            result.other,
            result.difference,
            result.p,
            None,
            result.test,
            result.smallest_detectable,
        )
        for name, result in zip(aligned.metrics, results, strict=True)
    )
    only = len(aligned.only_baseline), len(aligned.only_other)
    return ModelComparison(*pair, len(aligned.clusters), labels, *only, scores)


def _corrected(models: Sequence[ModelComparison]) -> tuple[ModelComparison, ...]:
    """With Holm's p-values over everything that is compared."""
    adjusted = iter(holm([score.p for model in models for score in model.scores]))
    return tuple(
        replace(model, scores=tuple(replace(score, p_holm=next(adjusted)) for score in model.scores))
        for model in models
    )


def _shared_metrics(
    base: ItemTable, table: ItemTable, wanted: Sequence[str], pair: tuple[str, str], notes: list[str]
) -> list[str]:
    shared = [name for name in base.metrics if name in table.metrics]
    for name in wanted:
        if name not in shared:
            raise UsageError(
                f"'{name}' is no score that both {pair[0]} and {pair[1]} have",
                file=table.path if name in base.metrics else base.path,
                fix=f"choose --metric from {', '.join(shared)}, or run evaluate.py with it",
            )
    if wanted:
        return list(dict.fromkeys(wanted))
    for owner, names in zip(pair, (base.metrics, table.metrics), strict=True):
        if alone := [name for name in names if name not in shared]:
            notes.append(f"only {owner} has {', '.join(alone)}: left out")
    return shared
