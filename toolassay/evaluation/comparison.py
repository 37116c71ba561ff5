"""Compares models on the same items: whether their scores differ significantly, as data, as tables for the
screen and as Markdown, in percent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from toolassay.console.tables import UNKNOWN, Cell, Result, Table, percent
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.items import (
    FACTS_AT_BEST,
    NAMED,
    OF_OUTCOMES,
    OUTCOME,
    OUTCOME_AT_BEST,
    ItemTable,
    items_path,
    read_executed,
    read_table,
    shared_items,
)
from toolassay.evaluation.metrics_file import check_editions, differing_settings, file_parts
from toolassay.files.data_files import safe_name, sha256_of
from toolassay.metrics.significance import LEVEL, PairedResult, compare_pairs, holm
from toolassay.runs.outcomes import RowMark, excluded_phrase, mark_of, marked

_ITEMS_ENDING = ".items.jsonl"

_CLUSTERS = "the items of one sampled subgraph"
"""Description of a cluster, if the signature names no benchmark."""


@dataclass(frozen=True)
class ScoredModel:
    """A model and its file of items."""

    name: str
    items: Path

    @property
    def metrics(self) -> Path:
        """The metrics file beside the items.

        >>> ScoredModel("acme", Path("metrics/acme.items.jsonl")).metrics.as_posix()
        'metrics/acme.json'
        """
        return self.items.with_name(f"{self.items.name.removesuffix(_ITEMS_ENDING)}.json")

    @cached_property
    def signature(self) -> Mapping[str, str]:
        """The signature in the metrics file; empty without one.

        Raises:
            UsageError: The file is malformed.
        """
        return file_parts(self.metrics)

    @property
    def mark(self) -> RowMark | None:
        """The mark of the model, e.g. that it is a baseline, from its signature."""
        return mark_of(self.name, self.signature) or mark_of(self.metrics.stem, self.signature)


def scored_models(paths: Sequence[str], metrics_folder: Callable[[str], Path]) -> list[ScoredModel]:
    """The models to compare, with unique names.

    Args:
        paths: Each the path of a file of items, the path of a metrics file, or the name of a model.
        metrics_folder: Returns the metrics folder of a model that is given by name.

    Raises:
        UsageError: A model has no file of items.
    """
    files = []
    for text in paths:
        if text.endswith(_ITEMS_ENDING):
            path = Path(text)
            name = path.name.removesuffix(_ITEMS_ENDING)
        elif text.endswith(".json"):
            path = items_path(Path(text))
            name = Path(text).stem
        else:
            path = items_path(metrics_folder(text) / f"{safe_name(text)}.json")
            name = text
        if not path.is_file():
            fix = f"run {as_called('evaluate', llm=name)}, or check the name"
            if Path(text).is_file():  # a metrics file that was copied alone
                fix = f"copy the file of that name beside {Path(text).name}: the metrics folder has both"
            raise UsageError("no such file of items", file=path, fix=fix)
        files.append(ScoredModel(name, path))
    times = Counter(file.name for file in files)
    return [
        ScoredModel(text, file.items) if times[file.name] > 1 else file
        for text, file in zip(paths, files, strict=True)
    ]


def torn(model: ScoredModel) -> Iterator[str]:
    """A warning if the metrics were computed from other items, as after an interrupted evaluation."""
    if not model.signature:
        yield f"warning: no metrics file beside the items of {model.name} says what its scores were made with"
    signed = model.signature.get("items")
    if signed is not None and signed != sha256_of(model.items)[: len(signed)]:
        yield (
            f"warning: the items of {model.name} are not those its metrics were made with: "
            f"run {as_called('evaluate', llm=model.name)} again"
        )


Verdict = Literal["better", "worse", "no difference found"]


@dataclass(frozen=True, kw_only=True)
class ScoreComparison(PairedResult):
    """One score of two models. Scores are between 0 and 1; higher is better.

    Attributes:
        metric: Name of the score.
        p_holm: p-value after Holm's correction over all compared scores and models.
    """

    metric: str
    p_holm: float | None = None

    @property
    def verdict(self) -> Verdict:
        """Result for the other model at the 5 % level, by the corrected p-value."""
        if self.p_holm is None or self.p_holm >= LEVEL or not self.difference.value:
            return "no difference found"
        return "better" if self.difference.value > 0 else "worse"


@dataclass(frozen=True)
class ModelComparison:
    """One model against the baseline.

    Attributes:
        baseline: Name of the baseline.
        model: Name of the other model.
        n_compared: Number of items that both models have; only these are compared.
        n_labels: Number of items of the group in either file.
        only_baseline: Number of items that only the baseline has.
        only_model: Number of items that only the other model has.
        scores: One entry per metric.
        basis: Why only the first trials are compared; empty if all are.
    """

    baseline: str
    model: str
    n_compared: int
    n_labels: int
    only_baseline: int
    only_model: int
    scores: tuple[ScoreComparison, ...]
    basis: str = ""

    def __getitem__(self, metric: str) -> ScoreComparison:
        return next(score for score in self.scores if score.metric == metric)


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Every model against the first.

    Attributes:
        group: Key of the group, as in a metrics file.
        resamples: Number of resamples of the intervals and the randomisation test.
        seed: Random seed of both.
        models: One entry per model after the first.
        notes: Messages for the user.
        clusters: Description of the clusters, which are resampled as a whole.
        marks: Marks of models, e.g. of baselines, by name.
    """

    group: str
    resamples: int
    seed: int
    models: tuple[ModelComparison, ...]
    notes: list[str] = field(default_factory=list)
    clusters: str = _CLUSTERS
    marks: Mapping[str, RowMark] = field(default_factory=dict)

    def shown(self, model: str) -> str:
        """A model's name with its mark."""
        return marked(model, self.marks.get(model))

    def table(self) -> Table:
        """Each score of each model beside that of the first."""
        return comparison_table(self, self.models)

    @property
    def tables(self) -> list[Table]:
        """A table for each model against the first."""
        return [comparison_table(self, [model]) for model in self.models]

    def to_json(self) -> dict[str, Any]:
        """The content of the file of `compare --save`."""
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
    group: ScoreGroup,
    metrics: Sequence[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Mapping[str, str] = MappingProxyType({}),
) -> Comparison:
    """Compare every model with the first, on the items each shares with it.

    Args:
        files: At least two models, with unique names; the first is the baseline.
        group: Group of items to compare.
        metrics: Names of scores; empty for all that both files have.
        resamples: Number of resamples of the bootstrap and of the randomisation test.
        seed: Random seed of both.
        clusters: Description of the clusters by benchmark name.

    Raises:
        UsageError: A file is missing or malformed, no item is shared, labels or editions differ, or a metric
            is unknown.
    """
    check_editions({file.name: file.signature for file in files})
    notes: list[str] = [note for file in files for note in torn(file)]
    notes += differing_settings({file.name: file.signature for file in files})
    every_trial = read_table(files[0].items, group)
    compared: list[ModelComparison] = []
    for file in files[1:]:
        base = every_trial
        table = read_table(file.items, group)
        pair = (files[0].name, file.name)
        basis = ""
        if base.is_of_first_trial != table.is_of_first_trial:
            old, current = pair if base.is_of_first_trial else pair[::-1]
            base, table = (read_table(file.items, group, first_trial=True) for file in (files[0], file))
            basis = f"{old} was scored by an earlier version, on its first trial: so is {current} here"
            notes.append(basis)
        shared = _shared_metrics(base, table, metrics, pair, notes)
        for path in dict.fromkeys((base.path, table.path)):
            if (executed := read_executed(path)) is not None and executed.problem:
                name = path.name.removesuffix(_ITEMS_ENDING)
                notes.append(f"{name}: outcomes are not compared: {executed.problem}")
        first, second = shared_items(base, table)
        alone = [
            [key for key in table_here.rows if key not in other.rows]
            for table_here, other in ((base, table), (table, base))
        ]
        for name, ids, other in zip(pair, alone, (table, base), strict=True):
            if ids:
                why = excluded_phrase(Counter(other.unscored[key] for key in ids if key in other.unscored))
                reason = f" (of the other: {why})" if why else ""
                listed = some_of(list(map(repr, ids)), NAMED)
                notes.append(
                    f"{len(ids):,} item(s) that only {name} was asked are left out{reason}: {listed}"
                )
        labels = {key for compared in (base, table) for key in (*compared.rows, *compared.unscored)}
        results = compare_pairs(
            base.columns(shared)[first],
            table.columns(shared)[second],
            clusters=base.clusters[first],
            is_one_run=base.trials in (None, 1) and table.trials in (None, 1),
            resamples=resamples,
            seed=seed,
        )
        scores = (
            ScoreComparison(**vars(result), metric=name) for name, result in zip(shared, results, strict=True)
        )
        # Of a score that no item has, nothing was compared.
        shown = tuple(score for score in scores if metrics or score.n)
        compared.append(
            ModelComparison(*pair, len(first), len(labels), len(alone[0]), len(alone[1]), shown, basis)
        )
    marks = {file.name: mark for file in files if (mark := file.mark) is not None}
    of_clusters = clusters.get(files[0].signature.get("benchmark", ""), _CLUSTERS)
    return Comparison(group.key, resamples, seed, _holm_corrected(compared), notes, of_clusters, marks)


def _holm_corrected(models: Sequence[ModelComparison]) -> tuple[ModelComparison, ...]:
    """Add p-values with Holm's correction over all models and scores, of outcomes and of plans apart.

    Outcomes decide, so the scores beside them do not make their tests stricter.
    """
    all_scores = [score for model in models for score in model.scores]
    adjusted: dict[int, float | None] = {}
    for is_outcome in (True, False):
        family = [score for score in all_scores if (score.metric in OF_OUTCOMES) == is_outcome]
        adjusted |= zip(map(id, family), holm([score.p for score in family]), strict=True)
    return tuple(
        replace(model, scores=tuple(replace(score, p_holm=adjusted[id(score)]) for score in model.scores))
        for model in models
    )


def _shared_metrics(
    base: ItemTable, table: ItemTable, named: Sequence[str], pair: tuple[str, str], notes: list[str]
) -> list[str]:
    shared = [name for name in base.metrics if name in table.metrics]
    for name in named:
        if name not in shared:
            raise UsageError(
                f"'{name}' is no score that both {pair[0]} and {pair[1]} have",
                file=table.path if name in base.metrics else base.path,
                fix=f"choose --metric from {', '.join(shared)}, or run {as_called('evaluate')} with it",
            )
    if named:
        return list(dict.fromkeys(named))
    for owner, names in zip(pair, (base.metrics, table.metrics), strict=True):
        if alone := [name for name in names if name not in shared]:
            fix = f"; execute both with {as_called('execute')} --predictions" if OUTCOME in alone else ""
            notes.append(f"only {owner} has {', '.join(alone)}: left out{fix}")
    return [name for name in shared if name not in (OUTCOME_AT_BEST, FACTS_AT_BEST)]


def comparison_table(comparison: Comparison, models: Sequence[ModelComparison]) -> Table:
    """Some models against the baseline; with the last one of the comparison, captions say what words mean."""
    base = comparison.shown(models[0].baseline)
    (model, *others) = models
    title = f"each model (B) against {base} (A)"
    if not others:
        clusters = max((score.n_clusters for score in model.scores), default=0)
        items = f"{model.n_compared:,} items"
        if model.n_compared != model.n_labels:
            items = f"{model.n_compared:,} of {model.n_labels:,} items asked of both"
        title = f"{comparison.shown(model.model)} (B) against {base} (A): {comparison.group}, "
        title += f"{items} in {count_of(clusters, 'cluster')}"
    # Where the scores do not all rest on the same items, each says on how many.
    with_n = any(score.n != model.n_compared for model in models for score in model.scores)
    headings = [*["model"] * bool(others), "score", *["n"] * with_n]
    headings += ["A", "B", "difference", "Holm p", "verdict", "MDE"]
    rows = [
        [{"model": comparison.shown(model.model), **_cells(score)}[heading] for heading in headings]
        for model in models
        for score in model.scores
    ]
    align = "".join({"model": "n", "score": "n", "verdict": "n"}.get(heading, "t") for heading in headings)
    captions = _captions(comparison) if models[-1] is comparison.models[-1] else []
    return Table(headings, rows, align, title, captions)


_VERDICTS = {"better": ("better", "green"), "worse": ("worse", "red")}


def _cells(score: ScoreComparison) -> dict[str, str | Cell]:
    """The cell below each heading."""
    value, low, high = score.difference
    interval = "" if low is None or high is None else f"[{_percent(low)}, {_percent(high)}]"
    verdict, colour = _VERDICTS.get(score.verdict, ("none found", ""))
    return {
        "score": score.metric,
        "n": f"{score.n:,}",
        "A": _percent(score.baseline),
        "B": _percent(score.value),
        "difference": Cell(f"{'+' * ((value or 0) > 0)}{_percent(value)}", interval),
        "Holm p": Cell(_p_value(score.p_holm), "" if score.p is None else f"p {_p_value(score.p)}"),
        "verdict": Cell(verdict, colour=colour),
        "MDE": _percent(score.smallest_detectable),
    }


def _captions(comparison: Comparison) -> list[str]:
    scores = [score for model in comparison.models for score in model.scores]
    tested = [score.metric in OF_OUTCOMES for score in scores if score.p is not None]
    count = f"{len(tested)} test(s) here"
    if 0 < sum(tested) < len(tested):
        count = f"{sum(tested)} test(s) of outcomes and {len(tested) - sum(tested)} of plans here, apart"
    exact = [score.metric for score in scores if score.test == "mcnemar"]
    by = f" (exact McNemar: {', '.join(dict.fromkeys(exact))})" if exact else ""
    legend = (
        "Percent; difference with its 95 % bootstrap interval; p by approximate randomisation"
        f"{by}; Holm p: corrected for the {count}, below 0.05 is a verdict; MDE: "
        "the smallest true difference that the test finds with 80 % power, before that correction. "
        f"{comparison.resamples:,} resamples of whole clusters ({comparison.clusters}), "
        f"seed {comparison.seed}."
    )
    return [legend, *dict.fromkeys(mark.line for mark in comparison.marks.values())]


def _percent(share: float | None) -> str:
    return percent(share, 2, sign="")


def _p_value(p: float | None) -> str:
    """Never shown as 0, nor rounded across 0.05."""
    if p is None:
        return UNKNOWN
    if p < 0.001:
        return "<0.001"
    return f"{p:.4f}" if 0.0495 <= p < 0.0505 else f"{p:.3f}"
