"""Reads, writes and aligns files of items: one line per labelled item with outcome, scores and counts.

Where the predictions were executed (`toolassay execute --predictions`), the items have the verdicts on their
outcomes as further scores.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from toolassay.console.text_formatting import some_of
from toolassay.errors import UsageError, as_called, made_by
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.metrics_file import changed_parts, file_parts, read_signature
from toolassay.files.data_files import (
    atomic_target,
    compact_json,
    read_json,
    read_json_lines,
    record_of,
    sha256_of,
)
from toolassay.metrics.confidence_interval import Interval, Ratio, ratio_intervals, run_table
from toolassay.plans.execution_record import FILE, SIMULATOR
from toolassay.records.dataset import RequestId
from toolassay.runs.outcomes import MISSING, NOT_RUN, is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OUTCOME = "outcome"
"""Score of an executed item: 1 if the plan ran, answers, and leaves the state that the gold plan leaves."""
HARMLESS = "no_unwanted_changes"
"""Score of an executed item: 0 if the plan changed what the gold plan leaves, or leaves otherwise."""
OUTCOMES = (OUTCOME, HARMLESS)
OUTCOME_AT_BEST = "outcome_at_best"
"""The outcome if every undecided fact is right."""
STATE = "state"
"""Score of an executed item: 1 if it leaves the expected state."""
FACTS = "facts"
"""Score of an item with a final text: 1 if it states every fact; an undecided one is 0."""
FACTS_AT_BEST = "facts_at_best"
"""The same if every undecided fact is right."""
OF_OUTCOMES = (*OUTCOMES, STATE, FACTS, OUTCOME_AT_BEST, FACTS_AT_BEST)
"""All scores of what was executed."""


def items_path(metrics: Path) -> Path:
    """The file of items beside a metrics file.

    >>> items_path(Path("metrics/acme.json")).as_posix()
    'metrics/acme.items.jsonl'
    """
    return metrics.with_name(f"{metrics.name.removesuffix('.json')}.items.jsonl")


def write_items(path: Path, items: Iterable[msgspec.Struct]) -> None:
    """Write the file of items; an existing one is replaced."""
    with atomic_target(path) as stream:
        for item in items:
            try:
                stream.write(compact_json(item) + b"\n")
            except UnicodeEncodeError:  # half a surrogate pair in an id
                stream.write(json.dumps(msgspec.to_builtins(item)).encode() + b"\n")


class ItemCounts(msgspec.Struct, frozen=True):
    """True positives, false positives and false negatives; None for each part that the gold lacks."""

    nodes: list[int] | None = None
    edges: list[int] | None = None
    argument_names: list[int] | None = None
    argument_values: list[int] | None = None


class ItemTrial(msgspec.Struct, frozen=True):
    """One run of an item that counts in its scores.

    Attributes:
        trial: Number of the trial, from 0.
        outcome: Outcome of the run, e.g. "answered".
        scores: Its strict scores by name; None if a score is not defined for the item.
        unwanted: Number of its unwanted changes; None where nothing is executed or seen.
    """

    trial: int
    outcome: str
    scores: Mapping[str, float | None]
    unwanted: int | None = None


def counted_trials(trials: Iterable[ItemTrial]) -> list[ItemTrial]:
    """The runs that count: an infrastructure error is no run, nor is a question that a trial never asked.

    An item without a line in any trial counts as wrong, once (`runs.outcomes.MISSING`).
    """
    scored = [trial for trial in trials if is_scored(trial.outcome)]
    asked = [trial for trial in scored if trial.outcome != MISSING]
    return asked or scored[:1]


def mean_scores(trials: Sequence[ItemTrial]) -> dict[str, float | None]:
    """The mean of each score over the runs that have it; None where none has.

    >>> runs = [ItemTrial(0, "answered", {"correct": 1.0}), ItemTrial(1, "answered", {"correct": 0.0})]
    >>> mean_scores(runs)
    {'correct': 0.5}
    """
    if len(trials) == 1:
        return dict(trials[0].scores)
    means: dict[str, float | None] = {}
    for name in dict.fromkeys(name for trial in trials for name in trial.scores):
        scores = [score for trial in trials if (score := trial.scores.get(name)) is not None]
        means[name] = sum(scores) / len(scores) if scores else None
    return means


class ScoredItem(msgspec.Struct, frozen=True):
    """One line of a file of items.

    Attributes:
        key: Id as it is in the data.
        cluster: Key shared by dependent items, e.g. those of one sampled subgraph.
        outcome: Outcome of its first run that counts, e.g. "answered"; of the first run if none does.
        scores: Means over its runs of the strict scores by name; None if a score is not defined for the item.
        type: Shape of its gold plan.
        n_tools: Number of nodes of its gold plan.
        counts: Sums over its runs of the counts of its parts.
        trials: Its runs that count; None in files of earlier versions, which have the first trial only.
    """

    key: RequestId = msgspec.field(name="id")
    cluster: str
    outcome: str
    scores: Mapping[str, float | None]
    type: str
    n_tools: int
    counts: ItemCounts = ItemCounts()
    trials: Sequence[ItemTrial] | None = None

    @classmethod
    def of_trials(
        cls, key: RequestId, cluster: str, trials: Sequence[ItemTrial], type: str, n_tools: int
    ) -> ScoredItem:
        """The line of an item from all its runs, at least one."""
        counted = counted_trials(trials)
        first = counted[0] if counted else trials[0]
        scores = mean_scores(counted) if counted else dict.fromkeys(first.scores)
        return cls(key, cluster, first.outcome, scores, type, n_tools, trials=counted)

    @property
    def id(self) -> str:
        """Id as text."""
        return str(self.key)

    @property
    def gold(self) -> tuple[int | None, ...]:
        """Numbers of nodes, edges, argument names and argument values in the gold; None for what it lacks."""
        runs = len(self.trials or ()) or 1
        parts = msgspec.structs.astuple(self.counts)
        return tuple(None if part is None else (part[0] + part[2]) // runs for part in parts)

    @property
    def in_first_trial(self) -> ScoredItem:
        """The item as its first trial alone scores it; not scored without a run in it that counts."""
        if self.trials is None:
            return self
        first = next((run for run in self.trials if run.trial == 0), None)
        if first is None:
            return msgspec.structs.replace(self, outcome=NOT_RUN, scores=dict.fromkeys(self.scores))
        return msgspec.structs.replace(self, outcome=first.outcome, scores=first.scores)


def trial_intervals(
    items: Sequence[ScoredItem], scores: Mapping[str, Callable[[ItemTrial], float | None]]
) -> dict[str, Interval]:
    """Means over items of means over their runs, with bounds that resample clusters of items.

    Args:
        items: With their runs.
        scores: By name, the score of a run; None if it is not defined for the item.
    """
    counted = [(item.cluster, item.trials) for item in items if item.trials]
    ratios = (
        Ratio.over_runs(run_table([[score(run) for run in trials] for _, trials in counted]))
        for score in scores.values()
    )
    intervals = ratio_intervals(ratios, clusters=[cluster for cluster, _ in counted])
    return dict(zip(scores, intervals, strict=True))


@dataclass(frozen=True)
class ExecutedPredictions:
    """The verdicts on the outcomes of a model's plans.

    Attributes:
        executor: Name of the executor.
        verdicts: By id and number of the trial, the run with the scores of its verdict.
        unjudged: Requests whose gold plan ran, without a prediction or without a result in any trial.
        stability: How often they are right over several trials, as `stability_metrics`; None for one trial.
        problem: Why these outcomes do not rank; empty if they do.
    """

    executor: str
    verdicts: Mapping[str, Mapping[int, ItemTrial]]
    unjudged: frozenset[str]
    problem: str = ""
    stability: Mapping[str, Any] | None = None

    @property
    def shares(self) -> list[tuple[float | None, float | None]]:
        """`OUTCOME` and `HARMLESS` of each request with a verdict, as means over its runs."""
        means = (mean_scores(list(runs.values())) for runs in self.verdicts.values())
        return [(mean[OUTCOME], mean[HARMLESS]) for mean in means]

    @cached_property
    def names(self) -> list[str]:
        """The names of all scores of verdicts."""
        runs = (run for runs in self.verdicts.values() for run in runs.values())
        return list(dict.fromkeys((*OUTCOMES, *(name for run in runs for name in run.scores))))

    @cached_property
    def _trials(self) -> frozenset[int]:
        """The trials that were executed."""
        return frozenset(number for verdicts in self.verdicts.values() for number in verdicts)

    def judged(self, item: ScoredItem) -> ScoredItem:
        """The item with its verdicts; a run that the model left unanswered is wrong, and does no harm."""
        verdicts = self.verdicts.get(item.id, {})
        is_judged = item.id in self.verdicts or item.id in self.unjudged
        runs = [ItemTrial(0, item.outcome, item.scores)] if item.trials is None else item.trials
        trials: list[ItemTrial] = []
        for run in runs:
            is_failed = is_judged and run.trial in self._trials and run.outcome != "answered"
            unknown = ItemTrial(run.trial, "", {})
            if is_failed and is_scored(run.outcome):
                unknown = ItemTrial(run.trial, "", {**dict.fromkeys(self.names, 0.0), HARMLESS: 1.0}, 0)
            verdict = verdicts.get(run.trial, unknown)
            scores = {**dict.fromkeys(self.names), **verdict.scores, **run.scores}
            trials.append(msgspec.structs.replace(run, scores=scores, unwanted=verdict.unwanted))
        mean = mean_scores(trials)
        scores = {**{name: mean.get(name) for name in self.names}, **item.scores}
        return msgspec.structs.replace(item, scores=scores, trials=item.trials and trials)


class ExecutedLine(msgspec.Struct, frozen=True):
    """What is read of a line of verdicts on outcomes.

    Attributes:
        key: Id of the request.
        correct: Whether its first run is right; None if that is undecided.
        state: Whether its first run leaves the right state; None if no state can be seen.
        unwanted: Number of unwanted changes of its first run.
        trials: Its runs with a verdict; None in files of earlier versions.
    """

    key: RequestId = msgspec.field(name="id")
    correct: bool | None
    state: bool | None
    unwanted: int
    trials: Sequence[ItemTrial] | None = None

    @property
    def verdicts(self) -> dict[int, ItemTrial]:
        """The verdicts by trial, as `ExecutedPredictions` has them."""
        if self.trials is not None:
            return {run.trial: run for run in self.trials}
        harmless = None if self.state is None else float(not self.unwanted)
        unwanted = None if self.state is None else self.unwanted
        return {0: ItemTrial(0, "", {OUTCOME: float(bool(self.correct)), HARMLESS: harmless}, unwanted)}


def read_executed(items: Path) -> ExecutedPredictions | None:
    """The verdicts beside a file of items; None if the predictions were not executed.

    Raises:
        UsageError: They are malformed.
    """
    metrics = items.with_name(f"{items.name.removesuffix('.items.jsonl')}.json")
    path = metrics.parent / "outcomes" / metrics.name
    if not path.is_file():
        return None
    try:
        summary = read_json(path)
        parts = read_signature(summary["signature"])
        lines = (msgspec.convert(line, ExecutedLine) for _, line in read_json_lines(items_path(path)))
        verdicts = {str(line.key): line.verdicts for line in lines}
        unjudged = frozenset(map(str, summary.get("unjudged", ())))
    except (KeyError, TypeError, ValueError):
        raise UsageError("holds no verdicts on outcomes", file=path, fix=_execute_again()) from None
    problem = _problem(parts, metrics)
    stability = summary.get("stability")
    return ExecutedPredictions(parts.get("executor", ""), verdicts, unjudged, problem, stability)


def _execute_again() -> str:
    return f"run the same {as_called('execute')} command again"


def _problem(parts: Mapping[str, str], metrics: Path) -> str:
    """Why outcomes with this signature do not rank."""
    if parts.get("executor") == SIMULATOR:
        return "its executions are simulated, which never rank"
    if "predictions" not in parts:
        return f"an earlier version judged its executions: {_execute_again()}"
    scored = file_parts(metrics)
    names = ("predictions", "data", "trials")
    now = {name: (name, scored[name]) for name in names if name in scored}
    gold = next((folder / FILE for folder in metrics.parents[:3] if (folder / FILE).is_file()), None)
    if gold is not None:
        now["gold"] = "executions of the gold plans", sha256_of(gold)
    for _, what in changed_parts(parts, now):
        return (
            f"it was executed with other {what} than now: run {as_called('evaluate')}, and {_execute_again()}"
        )
    return ""


def read_items(path: Path) -> Iterator[ScoredItem]:
    """Each item of a file of items, in file order, with the verdict on its outcome if that ranks.

    Raises:
        UsageError: The file is missing, or a line is malformed.
    """
    fix = made_by("evaluate")
    lines = read_json_lines(path, fix=fix)
    items = (record_of(value, ScoredItem, file=path, line=number, fix=fix) for number, value in lines)
    executed = read_executed(path)
    return items if executed is None or executed.problem else map(executed.judged, items)


NAMED = 5
"""Ids that a message names at most."""


@dataclass(frozen=True)
class ItemTable:
    """The items of one model.

    Attributes:
        path: File of items.
        rows: Row of each item, by id.
        metrics: Names of the columns.
        scores: Shape (items, columns), means over the runs of an item; NaN for undefined scores.
        clusters: Number of each item's cluster, shape (items,).
        labels: Hash of each item's label, as far as the file describes it, shape (items,).
        unscored: Outcomes, by id, of the items that were never sent or ended with a provider error.
        trials: The largest number of runs of an item; None if the file does not say, as those of earlier
            versions, whose scores are of the first trial.
    """

    path: Path
    rows: dict[str, int]
    metrics: tuple[str, ...]
    scores: NDArray[np.float64]
    clusters: NDArray[np.int64]
    labels: NDArray[np.int64]
    unscored: Mapping[str, str] = field(default_factory=dict)
    trials: int | None = 1

    def columns(self, metrics: Sequence[str]) -> NDArray[np.float64]:
        """The scores of some metrics, shape (items, metrics)."""
        return self.scores[:, [self.metrics.index(name) for name in metrics]]

    @property
    def is_of_first_trial(self) -> bool:
        """Whether an earlier version scored the first trial only; with `agreement` it took means."""
        return self.trials is None and "agreement" not in self.metrics


def read_table(path: Path, group: ScoreGroup, *, first_trial: bool = False) -> ItemTable:
    """The items of a group in a file of items.

    Args:
        path: File of items.
        group: Group of items.
        first_trial: Read the scores of the first trial instead of the means over all.

    Raises:
        UsageError: The file is missing or malformed, has an id twice, or has no item of the group.
    """
    import numpy as np

    rows: dict[str, int] = {}
    metrics: tuple[str, ...] | None = None
    unscored: dict[str, str] = {}
    trials: int | None = None
    scores = array("d")
    clusters = array("q")
    labels = array("q")
    for line in read_items(path):
        if not group.holds(line.type, line.n_tools):
            continue
        if line.trials is not None:
            trials = max(trials or 0, 1 if first_trial else len(line.trials))
        item = line.in_first_trial if first_trial else line
        if metrics is None:
            metrics = tuple(item.scores)
        if not is_scored(item.outcome):
            unscored[item.id] = item.outcome
            continue
        if item.id in rows:
            raise UsageError(f"holds the item {item.id!r} twice", file=path, fix=made_by("evaluate"))
        rows[item.id] = len(rows)
        scores_of_item = map(item.scores.get, metrics)
        scores.extend(math.nan if score is None else score for score in scores_of_item)
        clusters.append(_stable_number(item.cluster))
        labels.append(_stable_number(repr((item.type, item.n_tools, item.cluster, line.gold))))
    if metrics is not None and not rows:
        raise UsageError(
            f"no item of {group.key} was asked and answered",
            file=path,
            fix=f"run {as_called('infer')}, then {as_called('evaluate')}",
        )
    if metrics is None:
        raise UsageError(f"holds no item of {group.key}", file=path, fix="check --split and --n_tools")
    return ItemTable(
        path,
        rows,
        metrics,
        np.asarray(scores).reshape(-1, len(metrics)),
        np.asarray(clusters),
        np.asarray(labels),
        unscored,
        trials,
    )


def shared_items(baseline: ItemTable, other: ItemTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows, in either table, of the items that both have, sorted by id.

    Raises:
        UsageError: No item is in both, or an item has different labels.
    """
    import numpy as np

    shared = sorted(key for key in baseline.rows if key in other.rows)
    if not shared:
        raise UsageError(
            f"no item is in both this file and {baseline.path}, asked and scored",
            file=other.path,
            fix="evaluate both models with the same data.json and the same --ids or --limit",
        )
    first, second = (np.array([table.rows[key] for key in shared]) for table in (baseline, other))
    differing = np.flatnonzero(baseline.labels[first] != other.labels[second])
    if len(differing):
        raise UsageError(
            f"{len(differing):,} item(s) have another label than in {baseline.path}: "
            f"{some_of([repr(shared[position]) for position in differing], NAMED)}",
            file=other.path,
            fix="evaluate both models with the same data.json",
        )
    return first, second


def _stable_number(text: str) -> int:
    """A hash that is equal in every process, unlike `hash`: resampling depends on the order of clusters."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
