"""The strict numbers of every group, averaged over the labelled items, with bootstrap intervals."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.taskbench.scoring.groups import METRICS
from toolassay.benchmarks.taskbench.scoring.inventions import Inventions
from toolassay.benchmarks.taskbench.scoring.strict import StrictItem, item_f1
from toolassay.metrics.counts import Counts, f1
from toolassay.runs.asked import EXCLUDED, asked_counts, is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.texts import TextScores

NO_PAIR, NO_GOLD_STEPS = -1, -2
COUNTS = ("nodes", "edges", "argument_names", "argument_values")
PLAN_SCORES = (
    "node_f1",
    "edge_f1",
    "argument_name_f1",
    "argument_value_f1",
    "exact_match",
    "edit_similarity",
)
ROUGE_SCORES = ("rouge1", "rouge2", "rougeL")
BERTSCORE = "bertscore_f1"
RATES = ("tool_hallucination_rate", "link_hallucination_rate")
SCORES = (*PLAN_SCORES, *ROUGE_SCORES, BERTSCORE)
_POOLED = PLAN_SCORES[:4]
RESERVED = frozenset(
    (
        *("all", *METRICS, *SCORES, *RATES, *(f"{name}_pooled" for name in _POOLED)),
        *("n_labels", "n_asked", "n_scored", "partial", "coverage"),
        *("n_expected", "outcomes", "compat_links", "compat_intervals", "signature"),
    )
)
"""The names that a metric of another package cannot have."""
# What has to be asked for, any of these; f1 and argument each give both, as published.
_METRICS_OF = {
    "node_f1": ("f1", "argument"),
    "edge_f1": ("link",),
    "argument_name_f1": ("f1", "argument"),
    "argument_value_f1": ("f1", "argument"),
    "edit_similarity": ("ed",),
    "tool_hallucination_rate": ("f1", "argument"),
    "link_hallucination_rate": ("link",),
}
_FIRST_COUNT = len(PLAN_SCORES)
_FIRST_INVENTION = _FIRST_COUNT + 3 * len(COUNTS)
_COLUMNS = _FIRST_INVENTION + len(Inventions._fields)
_INVENTION_COLUMNS = range(_FIRST_INVENTION, _COLUMNS, 2)
_NOT_A_NUMBER = float("nan")
_NO_COUNTS = Counts(0, 0, 0)


@dataclass(frozen=True, slots=True)
class StrictRow:
    """One labelled item, scored.

    Attributes:
        line: its line in the label file.
        shape: of the gold plan.
        size: its number of nodes.
        outcome: how it ended; anything but "answered" scores 0, or is excluded (`runs.asked`).
        item: its counts.
        inventions: what the prediction made up.
        pair: the number of its pair of steps; NO_PAIR scores 0, NO_GOLD_STEPS is left out of text metrics.
        cluster: what it shares with other items of the same sampled subgraph.
        extra: the scores of the installed metrics, NaN where they say nothing.
        compat: its row in the table of published counts, -1 if it has none.
    """

    line: int
    shape: str
    size: int
    outcome: str
    item: StrictItem
    inventions: Inventions
    pair: int
    cluster: int
    extra: Sequence[float] = ()
    compat: int = -1


def cluster_of(label: Mapping[str, Any]) -> int:
    """A number that labels of the same sampled subgraph share; one of its own where none is known.

    >>> a = {"id": 1, "sampled_nodes": [{"task": "x"}], "sampled_links": []}
    >>> cluster_of(a) == cluster_of({**a, "id": 2}), cluster_of({"id": 1}) == cluster_of({"id": 2})
    (True, False)
    """
    nodes = label.get("sampled_nodes")
    known = str((nodes, label.get("sampled_links")) if nodes else label.get("id"))
    digest = hashlib.blake2b(known.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class StrictTable:
    """One row a labelled item; every number of a group is a mean or a ratio of sums over its rows.

    Args:
        extra: the names of the installed metrics.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.extra = tuple(extra)
        self._lines = array("q")
        self._rows = array("d")
        self._extra = array("d")
        self._groups = array("Q")
        self._pairs = array("q")
        self._clusters = array("q")
        self._sizes = array("q")
        self._compat = array("q")
        self._shapes: list[str] = []
        self._outcomes: list[str] = []

    def add(self, row: StrictRow, groups: int) -> None:
        """Add an item to the groups whose bits are set."""
        item, is_answered = row.item, row.outcome == "answered"
        self._lines.append(row.line)
        self._shapes.append(row.shape)
        self._outcomes.append(row.outcome)
        self._sizes.append(row.size)
        self._groups.append(groups)
        self._pairs.append(row.pair)
        self._clusters.append(row.cluster)
        self._compat.append(row.compat)
        self._extra.extend(row.extra)
        parts = (item.nodes, item.edges, item.argument_names, item.argument_values)
        scores = [_NOT_A_NUMBER if part is None else item_f1(part) if is_answered else 0.0 for part in parts]
        last = (is_answered and item.is_exact, item.edit_similarity if is_answered else 0.0)
        counts = [count for part in parts for count in part or _NO_COUNTS]
        self._rows.extend([*scores, *last, *counts, *row.inventions])

    def extend(self, other: StrictTable, *, first_pair: int, first_compat: int) -> None:
        """Add the rows of a table whose pairs and compat rows were counted from 0."""
        for name in ("_lines", "_rows", "_extra", "_groups", "_clusters", "_sizes", "_shapes", "_outcomes"):
            getattr(self, name).extend(getattr(other, name))
        self._pairs.extend(pair + first_pair if pair >= 0 else pair for pair in other._pairs)
        self._compat.extend(row + first_compat if row >= 0 else row for row in other._compat)

    def set_compat(self, line: int, row: int) -> None:
        """Say later what the row in the table of published counts is, if the item of a line is here."""
        place = bisect_left(self._lines, line)
        if place < len(self._lines) and self._lines[place] == line:
            self._compat[place] = row

    def numbers(
        self, group: int, metrics: Collection[str], texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, Any]:
        """The strict numbers of one group; null where a metric was not asked for.

        Args:
            group: the number of its bit.
            metrics: which metrics were asked for; the exact match is always there.
            texts: the scores of the numbered pairs of steps.
            resamples: bootstrap resamples for the 95 % intervals; 0 for none.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.intervals import NOTHING, Ratio, ratio_intervals

        groups = np.asarray(self._groups, dtype=np.uint64)
        labelled = np.flatnonzero(groups >> np.uint64(group) & np.uint64(1))
        rows = np.asarray(self._rows).reshape(-1, _COLUMNS)
        ended = [self._outcomes[place] for place in labelled.tolist()]
        outcomes = Counter(ended)
        chosen = labelled
        if any(name in EXCLUDED for name in outcomes):
            chosen = labelled[[is_scored(outcome) for outcome in ended]]
        names = self._names(metrics, texts)
        ratios = chain(
            (Ratio.mean(self._scores(name, chosen, texts)) for name in names),
            (
                Ratio(rows[chosen, at], rows[chosen, at + 1])
                for at in (_FIRST_INVENTION, _FIRST_INVENTION + 2)
            ),
        )
        intervals = ratio_intervals(
            ratios, clusters=np.asarray(self._clusters)[chosen], resamples=resamples, seed=seed
        )
        found = dict(zip((*names, *RATES), intervals, strict=True))
        numbers: dict[str, Any] = {
            **asked_counts(outcomes),
            "n_expected": len(chosen),
            "outcomes": {name: count for name, count in sorted(outcomes.items()) if count},
        }
        for name in (*SCORES, *RATES, *self.extra):
            interval = found.get(name, NOTHING) if _is_asked(name, metrics) else NOTHING
            numbers[name] = interval.to_json()
        for part, name in enumerate(_POOLED):
            at = _FIRST_COUNT + 3 * part
            is_known = numbers[name]["value"] is not None
            sums = [float(rows[chosen, at + kind].sum()) for kind in range(3)]
            numbers[f"{name}_pooled"] = f1(*sums, empty=1.0) if is_known else None
        return numbers

    def _names(self, metrics: Collection[str], texts: TextScores) -> tuple[str, ...]:
        """The scores that are means over items and can be computed."""
        with_bertscore = "bertscore" in metrics and texts.bertscore is not None
        return (
            *PLAN_SCORES,
            *(ROUGE_SCORES if "rouge" in metrics else ()),
            *((BERTSCORE,) if with_bertscore else ()),
            *self.extra,
        )

    def _scores(self, name: str, chosen: NDArray[np.int64], texts: TextScores) -> NDArray[np.float64]:
        """A score of the chosen items: NaN where an item has none."""
        import numpy as np

        if name in PLAN_SCORES:
            rows: NDArray[np.float64] = np.asarray(self._rows).reshape(-1, _COLUMNS)
            return np.asarray(rows[chosen, PLAN_SCORES.index(name)])
        if name in self.extra:
            extra: NDArray[np.float64] = np.asarray(self._extra).reshape(-1, len(self.extra))
            return np.asarray(extra[chosen, self.extra.index(name)])
        if name in ROUGE_SCORES:
            column = texts.rouge[:, ROUGE_SCORES.index(name)]
        else:
            assert texts.bertscore is not None
            column = texts.bertscore[:, 2]
        pairs = np.asarray(self._pairs, dtype=np.int64)[chosen]
        scores = np.zeros(len(pairs))
        scores[pairs == NO_GOLD_STEPS] = np.nan
        scores[pairs >= 0] = column[pairs[pairs >= 0]]
        return scores

    def items(
        self, metrics: Collection[str], texts: TextScores, keys: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Each item for the file of items, and its row in the table of published counts (-1: none).

        `keys[n]` is the id of line n.
        """
        import numpy as np

        everything = np.arange(len(self._lines))
        names = [name for name in self._names(metrics, texts) if _is_asked(name, metrics)]
        scores = [array("d", self._scores(name, everything, texts)) for name in names]
        for place, line in enumerate(self._lines):
            counts = list(map(int, self._rows[place * _COLUMNS + _FIRST_COUNT : (place + 1) * _COLUMNS]))
            has_arguments = not isnan(self._rows[place * _COLUMNS + 2])
            parts = {
                name: counts[3 * part : 3 * part + 3] if part < 2 or has_arguments else None
                for part, name in enumerate(COUNTS)
            }
            inventions = dict(zip(Inventions._fields, counts[3 * len(COUNTS) :], strict=True))
            own = (column[place] for column in scores) if is_scored(self._outcomes[place]) else repeat(nan)
            yield (
                {
                    "id": keys[line],
                    "type": self._shapes[place],
                    "n_tools": self._sizes[place],
                    "cluster": f"{self._clusters[place] & (2**64 - 1):016x}",
                    "outcome": self._outcomes[place],
                    "scores": {
                        name: None if isnan(score) else score for name, score in zip(names, own, strict=False)
                    },
                    "counts": {**parts, **inventions},
                },
                self._compat[place],
            )


def _is_asked(name: str, metrics: Collection[str]) -> bool:
    needed = _METRICS_OF.get(name)
    return needed is None or any(metric in metrics for metric in needed)
