"""Reads, writes and aligns files of items: one line per labelled item with outcome, scores and counts.

Where the predictions were executed (`toolassay execute --predictions`), the items have the verdicts on their
outcomes as further scores.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from toolassay.calls.execution_record import FILE, SIMULATOR
from toolassay.dataset import RequestId
from toolassay.errors import UsageError
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.metrics_file import FIX, changed_parts, file_parts, read_signature
from toolassay.files import (
    atomic_target,
    compact_json,
    read_json,
    read_json_lines,
    record_of,
    sha256_of,
)
from toolassay.runs.outcomes import is_scored
from toolassay.text_formatting import some_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OUTCOME = "outcome"
"""Score of an executed item: 1 if the plan ran, answers, and leaves the state that the gold plan leaves."""
HARMLESS = "no_unwanted_changes"
"""Score of an executed item: 0 if the plan changed what the gold plan leaves, or leaves otherwise."""
OUTCOMES = (OUTCOME, HARMLESS)
_EXECUTE_AGAIN = "run the same toolassay execute command again"


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


class ScoredItem(msgspec.Struct, frozen=True):
    """One line of a file of items.

    Attributes:
        key: Id as it is in the data.
        cluster: Key shared by dependent items, e.g. those of one sampled subgraph.
        outcome: Outcome of its request, e.g. "answered".
        scores: Strict scores by name; None if a score is not defined for the item.
        type: Shape of its gold plan.
        n_tools: Number of nodes of its gold plan.
        counts: Counts of its parts.
    """

    key: RequestId = msgspec.field(name="id")
    cluster: str
    outcome: str
    scores: Mapping[str, float | None]
    type: str
    n_tools: int
    counts: ItemCounts = ItemCounts()

    @property
    def id(self) -> str:
        """Id as text."""
        return str(self.key)

    @property
    def gold(self) -> tuple[int | None, ...]:
        """Numbers of nodes, edges, argument names and argument values in the gold; None for what it lacks."""
        return tuple(None if one is None else one[0] + one[2] for one in msgspec.structs.astuple(self.counts))


@dataclass(frozen=True)
class ExecutedPredictions:
    """The verdicts on the outcomes of a model's plans.

    Attributes:
        executor: Name of the executor.
        verdicts: By id, the scores `OUTCOME` and `HARMLESS`; the second is None if no state can be seen.
        unjudged: Requests whose gold plan ran, without a prediction or without a result.
        stability: How often they are right over several trials, as `stability_metrics`; None for one trial.
        problem: Why these outcomes do not rank; empty if they do.
    """

    executor: str
    verdicts: Mapping[str, tuple[float, float | None]]
    unjudged: frozenset[str]
    problem: str = ""
    stability: Mapping[str, Any] | None = None

    def judged(self, item: ScoredItem) -> ScoredItem:
        """The item with its verdict; one that the model left unanswered is wrong, and does no harm."""
        is_failed = item.id in self.unjudged and is_scored(item.outcome) and item.outcome != "answered"
        right, harmless = self.verdicts.get(item.id, (0.0, 1.0) if is_failed else (None, None))
        scores = {OUTCOME: right, HARMLESS: harmless, **item.scores}
        return msgspec.structs.replace(item, scores=scores)


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
        verdicts = {
            str(line["id"]): (
                float(line["correct"]),
                None if line["state"] is None else float(not line["unwanted"]),
            )
            for _, line in read_json_lines(items_path(path))
        }
        unjudged = frozenset(map(str, summary.get("unjudged", ())))
    except (KeyError, TypeError, ValueError):
        raise UsageError("holds no verdicts on outcomes", file=path, fix=_EXECUTE_AGAIN) from None
    problem, stability = _problem(parts, metrics), summary.get("stability")
    return ExecutedPredictions(parts.get("executor", ""), verdicts, unjudged, problem, stability)


def _problem(parts: Mapping[str, str], metrics: Path) -> str:
    """Why outcomes with this signature do not rank."""
    if parts.get("executor") == SIMULATOR:
        return "its executions are simulated, which never rank"
    if "predictions" not in parts:
        return f"an earlier version judged its executions: {_EXECUTE_AGAIN}"
    scored = file_parts(metrics)
    now = {name: (name, value) for name, value in scored.items() if name in ("predictions", "data")}
    gold = next((place / FILE for place in metrics.parents[:3] if (place / FILE).is_file()), None)
    if gold is not None:
        now["gold"] = "executions of the gold plans", sha256_of(gold)
    for _, what in changed_parts(parts, now):
        return f"it was executed with other {what} than now: run evaluate.py, and {_EXECUTE_AGAIN}"
    return ""


def read_items(path: Path) -> Iterator[ScoredItem]:
    """Each item of a file of items, in file order, with the verdict on its outcome if that ranks.

    Raises:
        UsageError: The file is missing, or a line is malformed.
    """
    lines = read_json_lines(path, fix=FIX)
    items = (record_of(value, ScoredItem, file=path, line=number, fix=FIX) for number, value in lines)
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
        scores: Shape (items, columns); NaN for undefined scores.
        clusters: Number of each item's cluster, shape (items,).
        labels: Hash of each item's label, as far as the file describes it, shape (items,).
        unscored: Outcomes, by id, of the items that were never sent or ended with a provider error.
    """

    path: Path
    rows: dict[str, int]
    metrics: tuple[str, ...]
    scores: NDArray[np.float64]
    clusters: NDArray[np.int64]
    labels: NDArray[np.int64]
    unscored: Mapping[str, str] = field(default_factory=dict)

    def columns(self, metrics: Sequence[str]) -> NDArray[np.float64]:
        """The scores of some metrics, shape (items, metrics)."""
        return self.scores[:, [self.metrics.index(name) for name in metrics]]


def read_table(path: Path, group: ScoreGroup) -> ItemTable:
    """The items of a group in a file of items.

    Raises:
        UsageError: The file is missing or malformed, has an id twice, or has no item of the group.
    """
    import numpy as np

    rows: dict[str, int] = {}
    metrics: tuple[str, ...] | None = None
    unscored: dict[str, str] = {}
    scores, clusters, labels = array("d"), array("q"), array("q")
    for item in read_items(path):
        if not group.holds(item.type, item.n_tools):
            continue
        if metrics is None:
            metrics = tuple(item.scores)
        if not is_scored(item.outcome):
            unscored[item.id] = item.outcome
            continue
        if item.id in rows:
            raise UsageError(f"holds the item {item.id!r} twice", file=path, fix=FIX)
        rows[item.id] = len(rows)
        own = map(item.scores.get, metrics)
        scores.extend(math.nan if score is None else score for score in own)
        clusters.append(_stable_number(item.cluster))
        labels.append(_stable_number(repr((item.type, item.n_tools, item.cluster, item.gold))))
    if metrics is not None and not rows:
        raise UsageError(
            f"no item of {group.key} was asked and answered",
            file=path,
            fix="run inference.py, then evaluate.py",
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
            f"{some_of([repr(shared[place]) for place in differing], NAMED)}",
            file=other.path,
            fix="evaluate both models with the same data.json",
        )
    return first, second


def _stable_number(text: str) -> int:
    """A hash that is equal in every process, unlike `hash`: resampling depends on the order of clusters."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
