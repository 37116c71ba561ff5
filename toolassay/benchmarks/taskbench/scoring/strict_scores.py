"""Strict scores over all trials: the score of an item is the mean over its runs, and each item weighs one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.benchmarks.taskbench.scoring.scored_rows import (
    ANSWERED,
    NO_ALTERNATIVE,
    POOLED,
    RATES,
    SCORES,
    CompatCounts,
    ScoredRows,
)
from toolassay.evaluation.items import ItemCounts, ItemTrial, mean_scores
from toolassay.metrics.confidence_interval import NOTHING, Ratio, ratio_intervals
from toolassay.metrics.f1 import f1
from toolassay.metrics.pass_k import NO_RUN, UNANSWERED
from toolassay.records.dataset import RequestId
from toolassay.runs.outcomes import MISSING, AskedCounts, is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ITEMS_AT_ONCE = 1_000  # rows that are Python objects at a time


class PlanCounts(ItemCounts, frozen=True):
    """Counts of a plan, and its `Hallucinations`."""

    invented_tools: int = 0
    tools: int = 0
    invented_links: int = 0
    links: int = 0


class PlanScores(msgspec.Struct, frozen=True):
    """A line of the file of items; see `ScoredItem`. `compat` and `reference` are of the first trial.

    Attributes:
        reference: Number of the right plan that the scores compare with, 0 for the gold plan; absent if there
            is no other.
    """

    id: RequestId
    type: str
    n_tools: int
    cluster: str
    outcome: str
    scores: Mapping[str, float | None]
    counts: PlanCounts
    compat: CompatCounts | None
    trials: Sequence[ItemTrial]
    reference: int | UnsetType = UNSET


class StrictScores:
    """The strict numbers of the labels of a prediction file and of its further trials.

    Arrays have the shape (trials, labels) or (labels,), of the labels that strict scores count.

    Args:
        trials: Rows of the same labels by number of the trial; the first has the published counts too.
    """

    def __init__(self, trials: Mapping[int, ScoredRows]) -> None:
        self._numbers = list(trials)
        self._trials = list(trials.values())
        self._first = self._trials[0]

    @cached_property
    def _outcomes_of_runs(self) -> NDArray[np.object_]:
        import numpy as np

        return np.stack([rows.column("outcome") for rows in self._trials])

    def _runs_with(self, outcomes: Collection[str]) -> NDArray[np.bool_]:
        import numpy as np

        has_outcome = np.zeros(self._outcomes_of_runs.shape, dtype=np.bool_)
        for outcome in outcomes:
            has_outcome |= self._outcomes_of_runs == outcome
        return has_outcome

    @cached_property
    def _asked(self) -> NDArray[np.bool_]:
        """The runs with a request, and that are scored."""
        known = set(self._outcomes_of_runs.ravel().tolist())
        return self._runs_with([outcome for outcome in known if is_scored(outcome) and outcome != MISSING])

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """The runs that count, as `items.counted_trials` has them."""
        missing = self._runs_with([MISSING]) & ~self._asked.any(axis=0)
        missing &= missing.cumsum(axis=0) == 1
        return self._asked | missing

    @cached_property
    def _number_of_runs(self) -> NDArray[np.int64]:
        import numpy as np

        return np.asarray(self._counted.sum(axis=0, dtype=np.int64))

    @cached_property
    def _outcomes(self) -> NDArray[np.object_]:
        """The outcome of each label: of its first run that counts, or of the first one."""
        import numpy as np

        first = self._counted.argmax(axis=0)
        return np.asarray(self._outcomes_of_runs[first, np.arange(len(first))])

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """The sums of the counts over runs; those of the first run of a label that is not scored."""
        import numpy as np

        first: NDArray[np.int64] = self._first.column("strict")
        if len(self._trials) == 1:
            return first
        sums = np.zeros(first.shape, dtype=np.int64)
        for rows, ran in zip(self._trials, self._counted, strict=True):
            sums += rows.column("strict") * ran[:, None]
        return np.where(self._number_of_runs[:, None] > 0, sums, first)

    def _mean_counts(self, chosen: NDArray[np.int64], start: int, stop: int) -> NDArray[np.float64]:
        """Some columns of the counts of some labels, as means over runs."""
        return self._counts[chosen, start:stop] / self._number_of_runs[chosen, None]

    def _runs(self, name: str, chosen: NDArray[np.int64] | slice) -> NDArray[np.float64]:
        """A score of some labels in each trial; NaN for runs that do not count."""
        import numpy as np

        scores = np.stack([rows.strict_scores[name][chosen] for rows in self._trials])
        return np.where(self._counted[:, chosen], scores, np.nan)

    def _names(self, metrics: Collection[str]) -> list[str]:
        """The scores that are computed and selected."""
        return [name for name in self._first.strict_scores if _is_asked(name, metrics)]

    def numbers(self, group: int, metrics: Collection[str], *, resamples: int, seed: int) -> dict[str, Any]:
        """The strict numbers of one group; null for a metric that was not selected.

        Args:
            group: its bit number.
            metrics: the selected metrics; the exact match is always computed.
            resamples: bootstrap resamples for the 95 % intervals; 0 for no intervals.
            seed: of the bootstrap.
        """
        import numpy as np

        in_group = self._first.column("groups") >> np.uint64(group) & np.uint64(1)
        labelled = np.flatnonzero(in_group)
        outcomes = Counter(self._outcomes[labelled].tolist())
        chosen = labelled[self._number_of_runs[labelled] > 0]
        names = self._names(metrics)
        rates = (Ratio.share(*self._mean_counts(chosen, at, at + 2).T) for at in (12, 14))
        intervals = ratio_intervals(
            chain((Ratio.over_runs(self._runs(name, chosen)) for name in names), rates),
            clusters=self._first.column("cluster")[chosen],
            resamples=resamples,
            seed=seed,
        )
        interval_by_name = dict(zip((*names, *(score.name for score in RATES)), intervals, strict=True))
        numbers: dict[str, Any] = {
            **AskedCounts.of(outcomes).to_json(),
            "n_expected": len(chosen),
            "outcomes": dict(sorted(outcomes.items())),
        }
        for name in (*(score.name for score in SCORES), *self._first.extra):
            interval = interval_by_name.get(name, NOTHING) if _is_asked(name, metrics) else NOTHING
            numbers[name] = interval.to_json()
        for index, score in enumerate(POOLED):
            sums = self._mean_counts(chosen, 3 * index, 3 * index + 3).sum(axis=0).tolist()
            known = numbers[score.name]["value"] is not None
            numbers[f"{score.name}_pooled"] = f1(*sums, empty=1.0) if known else None
        return numbers

    def answers(self) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        """What `stability_metrics` compares of each label.

        Returns:
            By trial the digests of the plans (or NO_RUN, UNANSWERED) and whether they are exact matches, and
            the clusters.
        """
        import numpy as np

        digests = np.stack([rows.column("answer") for rows in self._trials])
        no_plan = np.where(self._asked, UNANSWERED, NO_RUN)
        answers = np.where(self._outcomes_of_runs == ANSWERED, digests, no_plan)
        exact = np.stack([rows.strict_scores["exact_match"] for rows in self._trials])
        return answers, exact > 0, self._first.column("cluster")

    def items(self, metrics: Collection[str], *, compat: bool) -> Iterator[PlanScores]:
        """The lines of the file of items; without `compat`, published counts are null."""
        names = self._names(metrics)
        about = [
            self._first.column(name)
            for name in ("id", "cluster", "shape", "size", "reference", "has_arguments")
        ]
        for start in range(0, len(self._outcomes), _ITEMS_AT_ONCE):
            block = slice(start, start + _ITEMS_AT_ONCE)
            runs = self._trials_of(names, block)
            published = self._first.compat_counts(block)
            facts = (column[block].tolist() for column in (*about, self._outcomes, self._counts))
            for *own, trials, counted in zip(*facts, runs, published, strict=True):
                key, cluster, shape, size, reference, has_arguments, outcome, counts = own
                arguments = (counts[6:9], counts[9:12]) if has_arguments else (None, None)
                yield PlanScores(
                    key,
                    shape,
                    size,
                    f"{cluster & 2**64 - 1:016x}",
                    outcome,
                    mean_scores(trials) if trials else dict.fromkeys(names),
                    PlanCounts(counts[:3], counts[3:6], *arguments, *counts[12:]),
                    counted if compat else None,
                    trials,
                    UNSET if reference == NO_ALTERNATIVE else reference,
                )

    def _trials_of(self, names: Sequence[str], block: slice) -> Iterator[list[ItemTrial]]:
        """The runs of each label of a block that count."""
        by_trial = []
        for number, rows, counted in zip(self._numbers, self._trials, self._counted, strict=True):
            columns = [rows.strict_scores[name][block].tolist() for name in names]
            outcomes = rows.column("outcome")[block].tolist()
            by_trial.append(
                [
                    ItemTrial(number, outcome, dict(zip(names, map(_known, scores), strict=True)))
                    if is_counted
                    else None
                    for outcome, is_counted, *scores in zip(
                        outcomes, counted[block].tolist(), *columns, strict=True
                    )
                ]
            )
        for runs in zip(*by_trial, strict=True):
            yield [run for run in runs if run is not None]


def _known(score: float) -> float | None:
    return None if math.isnan(score) else score


def _is_asked(name: str, metrics: Collection[str]) -> bool:
    needed = next((one.asked_by for one in SCORES if one.name == name), ())
    return not needed or any(metric in metrics for metric in needed)
