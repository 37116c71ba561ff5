"""The scores of a file of items as columns of numbers, and two such files on the items they share."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolassay.benchmarks.taskbench.scoring.groups import Group
from toolassay.benchmarks.taskbench.scoring.items import FIX, Item, read_items
from toolassay.errors import UsageError
from toolassay.runs.asked import is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOT_A_NUMBER = float("nan")
_NAMED = 5


@dataclass(frozen=True)
class ItemTable:
    """The items of one model.

    Attributes:
        path: the file.
        rows: the row of each item, by its id.
        metrics: the names of the columns.
        scores: shape (items, columns); NaN where an item has no such score.
        clusters: the cluster of each item, as a number.
        labels: a number for the label of each item, as far as the file tells it.
        unscored: the ids of items that were never asked, or met a provider error (`runs.asked`).
    """

    path: Path
    rows: dict[str, int]
    metrics: tuple[str, ...]
    scores: NDArray[np.float64]
    clusters: NDArray[np.int64]
    labels: NDArray[np.int64]
    unscored: Sequence[str] = ()

    def columns(self, metrics: Sequence[str]) -> NDArray[np.float64]:
        """The scores of these metrics, shape (items, metrics)."""
        return self.scores[:, [self.metrics.index(name) for name in metrics]]


@dataclass(frozen=True)
class Aligned:
    """Two models on the items both have, in the order of the ids.

    Attributes:
        metrics: the names of the columns, which both have.
        baseline: the scores of the first, shape (items, columns).
        other: the scores of the second.
        clusters: the cluster of each item, as a number.
        only_baseline: the ids that only the first has.
        only_other: the ids that only the second has.
    """

    metrics: tuple[str, ...]
    baseline: NDArray[np.float64]
    other: NDArray[np.float64]
    clusters: NDArray[np.int64]
    only_baseline: Sequence[str]
    only_other: Sequence[str]


def read_table(path: Path, group: Group) -> ItemTable:
    """The items of a group in a file of items.

    Raises:
        UsageError: missing or malformed file or line, an id twice, or no item of that group.
    """
    import numpy as np

    rows: dict[str, int] = {}
    metrics: tuple[str, ...] | None = None
    unscored: list[str] = []
    scores, clusters, labels = array("d"), array("q"), array("q")
    for item in read_items(path):
        if not group.holds(item.type, item.n_tools):
            continue
        if metrics is None:
            metrics = tuple(item.scores)
        if not is_scored(item.outcome):
            unscored.append(item.id)
            continue
        if item.id in rows:
            raise UsageError(f"holds the item {item.id!r} twice", file=path, fix=FIX)
        rows[item.id] = len(rows)
        scores.extend(_score(path, item, name) for name in metrics)
        clusters.append(_number(item.cluster))
        labels.append(_number(repr((item.type, item.n_tools, item.cluster, item.gold))))
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


def align(baseline: ItemTable, other: ItemTable, metrics: Sequence[str]) -> Aligned:
    """Two models on the items that both files have.

    Args:
        baseline: the first.
        other: the second.
        metrics: the columns wanted; each is one of both files.

    Raises:
        UsageError: no item is in both, or one has another label in each.
    """
    import numpy as np

    shared = sorted(key for key in baseline.rows if key in other.rows)
    if not shared:
        raise UsageError(
            f"no item is in both this file and {baseline.path}, asked and scored",
            file=other.path,
            fix="evaluate both models with the same data.json and the same --ids or --limit",
        )
    first = np.array([baseline.rows[key] for key in shared])
    second = np.array([other.rows[key] for key in shared])
    differing = np.flatnonzero(baseline.labels[first] != other.labels[second])
    if len(differing):
        raise UsageError(
            f"{len(differing):,} item(s) have another label than in {baseline.path}: "
            f"{named([shared[place] for place in differing[:_NAMED]], len(differing))}",
            file=other.path,
            fix="evaluate both models with the same data.json",
        )
    return Aligned(
        tuple(metrics),
        baseline.columns(metrics)[first],
        other.columns(metrics)[second],
        baseline.clusters[first],
        [key for key in baseline.rows if key not in other.rows],
        [key for key in other.rows if key not in baseline.rows],
    )


def named(ids: Sequence[str], count: int | None = None) -> str:
    """The first ids, and whether there are more.

    >>> named(list("abcdefg"))
    "'a', 'b', 'c', 'd', 'e', …"
    """
    more = ", …" if (len(ids) if count is None else count) > _NAMED else ""
    return ", ".join(map(repr, ids[:_NAMED])) + more


def _number(text: str) -> int:
    """The same in every process, unlike `hash`: what is drawn depends on the order of the clusters."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _score(path: Path, item: Item, name: str) -> float:
    score = item.scores.get(name)
    if score is None:
        return _NOT_A_NUMBER
    if not isinstance(score, int | float):
        raise UsageError(f"the {name} of item {item.id!r} is no number", file=path, fix=FIX)
    return float(score)
