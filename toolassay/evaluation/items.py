"""The file of items (one line per labelled item: outcome, scores, counts), and two such files aligned."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.errors import UsageError
from toolassay.evaluation.groups import ScoreGroup
from toolassay.files import atomic_writer, read_json_lines
from toolassay.runs.outcomes import is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FIX = "make it with evaluate.py"
_PARTS = ("nodes", "edges", "argument_names", "argument_values")


def items_path(metrics: Path) -> Path:
    """The file of items beside a metrics file.

    >>> items_path(Path("metrics/acme.json")).as_posix()
    'metrics/acme.items.jsonl'
    """
    return metrics.with_name(f"{metrics.name.removesuffix('.json')}.items.jsonl")


def write_items(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    """Write the file of items, replacing what was there."""
    encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    with atomic_writer(path) as stream:
        for item in items:
            stream.write(encode(item) + "\n")


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """One line of a file of items.

    Attributes:
        id: as text.
        cluster: what it shares with other items of the same sampled subgraph.
        outcome: how it ended.
        scores: by the names of the strict scores; None where an item has no such score.
        type: the shape of its gold plan.
        n_tools: the number of nodes there.
        gold: how many nodes, edges, argument names and argument values the gold has; None where it has none
            to be compared.
    """

    id: str
    cluster: str
    outcome: str
    scores: Mapping[str, float | None]
    type: str
    n_tools: int
    gold: tuple[int | None, ...]


def read_items(path: Path) -> Iterator[ScoredItem]:
    """Each item of a file of items, in file order.

    Raises:
        UsageError: missing or malformed file or line (with its number).
    """
    for number, value in read_json_lines(path, fix=FIX):
        try:
            yield ScoredItem(
                str(value["id"]),
                str(value["cluster"]),
                str(value["outcome"]),
                dict(value["scores"]),
                str(value["type"]),
                int(value["n_tools"]),
                tuple(_gold_size(value["counts"][part]) for part in _PARTS),
            )
        except (KeyError, TypeError, ValueError):
            raise UsageError("is not an item", file=path, line=number, fix=FIX) from None


def _gold_size(counts: Sequence[int] | None) -> int | None:
    """What was to be found: true positives and false negatives."""
    return None if counts is None else int(counts[0]) + int(counts[2])


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
class AlignedItems:
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


def read_table(path: Path, group: ScoreGroup) -> ItemTable:
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
        scores.extend(_score_of(path, item, name) for name in metrics)
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


def align(baseline: ItemTable, other: ItemTable, metrics: Sequence[str]) -> AlignedItems:
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
    return AlignedItems(
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


def _stable_number(text: str) -> int:
    """The same in every process, unlike `hash`: what is drawn depends on the order of the clusters."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def _score_of(path: Path, item: ScoredItem, name: str) -> float:
    score = item.scores.get(name)
    if score is None:
        return _NOT_A_NUMBER
    if not isinstance(score, int | float):
        raise UsageError(f"the {name} of item {item.id!r} is no number", file=path, fix=FIX)
    return float(score)
