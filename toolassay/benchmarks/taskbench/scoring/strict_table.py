"""The table of strict statistics: one row per label, and the numbers of any group with their intervals."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.taskbench.scoring.columns import CodedTexts, moved
from toolassay.benchmarks.taskbench.scoring.strict import Hallucinations, StrictItem
from toolassay.evaluation.groups import METRICS
from toolassay.metrics.f1 import MatchCounts, f1
from toolassay.runs.outcomes import EXCLUDED, asked_counts, is_scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.step_scores import TextScores
    from toolassay.evaluation.line_index import CompactTexts


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
"""Names that a metric of another package must not use."""
# Each score needs any of these metrics; f1 and argument each compute both scores, as published.
_METRICS_OF = {
    "node_f1": ("f1", "argument"),
    "edge_f1": ("link",),
    "argument_name_f1": ("f1", "argument"),
    "argument_value_f1": ("f1", "argument"),
    "edit_similarity": ("ed",),
    "tool_hallucination_rate": ("f1", "argument"),
    "link_hallucination_rate": ("link",),
}
# The columns of counts: three for each of COUNTS, then the inventions.
_FIRST_HALLUCINATION = 3 * len(COUNTS)
_COLUMNS = _FIRST_HALLUCINATION + len(Hallucinations._fields)
_HALLUCINATION_COLUMNS = range(_FIRST_HALLUCINATION, _COLUMNS, 2)
_NO_COUNTS = MatchCounts(0, 0, 0)
_ANSWERED = "answered"
_WORD = 2**64 - 1
_ITEMS_AT_ONCE = 1_000  # rows that are Python objects at a time


def cluster_of(label: Mapping[str, Any]) -> int:
    """A number shared by all labels of the same sampled subgraph; unique if the subgraph is unknown.

    >>> a = {"id": 1, "sampled_nodes": [{"task": "x"}], "sampled_links": []}
    >>> cluster_of(a) == cluster_of({**a, "id": 2}), cluster_of({"id": 1}) == cluster_of({"id": 2})
    (True, False)
    """
    nodes = label.get("sampled_nodes")
    known = str((nodes, label.get("sampled_links")) if nodes else label.get("id"))
    digest = hashlib.blake2b(known.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class StrictTable:
    """One row per scored label. Every number of a group is a mean or a ratio of sums over its rows.

    Args:
        extra: the names of the installed metrics.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.extra = tuple(extra)
        self._lines = array("q")
        self._counts = array("i")
        self._has_arguments = bytearray()
        self._similarities = array("d")
        self._extra = array("d")
        self._groups = array("Q")
        self._pairs = array("i")
        self._clusters = array("q")
        self._sizes = array("i")
        self._compat = array("i")
        self._shapes, self._outcomes = CodedTexts(), CodedTexts()
        self._scores_of: dict[str, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def add(
        self,
        *,
        lines: Sequence[int],
        groups: Sequence[int],
        shapes: Sequence[str],
        sizes: Sequence[int],
        clusters: Sequence[int],
        outcomes: Sequence[str],
        items: Sequence[StrictItem],
        inventions: Sequence[Hallucinations],
        pairs: Sequence[int],
        compat: Sequence[int],
        extra: Iterable[Sequence[float]] = (),
    ) -> None:
        """Add scored labels; each argument has one element for each.

        Args:
            lines: their lines in the label file.
            groups: their groups, as bit masks.
            shapes: of the gold plans.
            sizes: the numbers of nodes of the gold plans.
            clusters: numbers shared by all labels of the same sampled subgraph.
            outcomes: of the requests; anything but "answered" scores 0 or is excluded (`runs.outcomes`).
            items: their counts.
            inventions: hallucinations of the predictions.
            pairs: the numbers of their pairs of steps; NO_PAIR scores 0, NO_GOLD_STEPS is left out of text
                metrics.
            compat: their rows in the table of published counts, -1 for none.
            extra: the scores of the installed metrics, if there are any; NaN for none.
        """
        self._lines.extend(lines)
        self._groups.extend(groups)
        self._shapes.extend(shapes)
        self._sizes.extend(sizes)
        self._clusters.extend(clusters)
        self._outcomes.extend(outcomes)
        self._pairs.extend(pairs)
        self._compat.extend(compat)
        self._extra.extend(chain.from_iterable(extra))
        for (nodes, edges, names, values, similarity), invented in zip(items, inventions, strict=True):
            self._has_arguments.append(names is not None)
            self._similarities.append(similarity)
            self._counts.fromlist(
                [*nodes, *edges, *(names or _NO_COUNTS), *(values or _NO_COUNTS), *invented]
            )

    def extend(self, other: StrictTable, *, first_pair: int, first_compat: int) -> None:
        """Append the rows of a table whose pairs and compat rows are numbered from 0."""
        for name in (
            "_lines",
            "_counts",
            "_has_arguments",
            "_similarities",
            "_extra",
            "_groups",
            "_clusters",
        ):
            getattr(self, name).extend(getattr(other, name))
        self._sizes.extend(other._sizes)
        self._shapes.append(other._shapes)
        self._outcomes.append(other._outcomes)
        self._pairs.extend(moved(other._pairs, first_pair))
        self._compat.extend(moved(other._compat, first_compat))

    def set_compat(self, line: int, row: int) -> None:
        """Set the row in the table of published counts for the item of a line, if this table has it."""
        place = bisect_left(self._lines, line)
        if place < len(self._lines) and self._lines[place] == line:
            self._compat[place] = row

    def numbers(
        self, group: int, metrics: Collection[str], texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, Any]:
        """The strict numbers of one group; null for a metric that was not selected.

        Args:
            group: its bit number.
            metrics: the selected metrics; the exact match is always computed.
            texts: the scores of the numbered pairs of steps.
            resamples: bootstrap resamples for the 95 % intervals; 0 for no intervals.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.confidence_interval import NOTHING, Ratio, ratio_intervals

        groups = np.frombuffer(self._groups, dtype=np.uint64) if self._groups else np.empty(0, np.uint64)
        labelled = np.flatnonzero(groups >> np.uint64(group) & np.uint64(1))
        counts = self._all_counts()
        outcomes = self._outcomes.counts(labelled)
        chosen = labelled
        if any(name in EXCLUDED for name in outcomes):
            chosen = labelled[self._outcomes.select(labelled, is_scored)]
        names = self._names(metrics, texts)
        ratios = chain(
            (Ratio.mean(self._scores(name, texts)[chosen]) for name in names),
            (
                Ratio(counts[chosen, at].astype(np.float64), counts[chosen, at + 1].astype(np.float64))
                for at in _HALLUCINATION_COLUMNS
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
            is_known = numbers[name]["value"] is not None
            sums = [float(counts[chosen, 3 * part + kind].sum()) for kind in range(3)]
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

    def _all_counts(self) -> NDArray[np.int32]:
        """Shape (rows, columns), without a copy."""
        import numpy as np

        return np.frombuffer(self._counts or b"", dtype=np.int32).reshape(-1, _COLUMNS)

    def _scores(self, name: str, texts: TextScores) -> NDArray[np.float64]:
        """One score of every row, shape (rows,); NaN for items without it. Computed once."""
        if name not in self._scores_of:
            self._scores_of[name] = self._computed(name, texts)
        return self._scores_of[name]

    def _computed(self, name: str, texts: TextScores) -> NDArray[np.float64]:
        import numpy as np

        if name in self.extra:
            return np.asarray(self._extra).reshape(-1, len(self.extra))[:, self.extra.index(name)]
        if name in PLAN_SCORES:
            scores = self._plan_score(name)
            scores[~self._outcomes.select(slice(None), _ANSWERED.__eq__)] = 0.0
            if name.startswith("argument"):
                scores[~np.frombuffer(bytes(self._has_arguments), dtype=bool)] = np.nan
            return scores
        if name in ROUGE_SCORES:
            column = texts.rouge[:, ROUGE_SCORES.index(name)]
        else:
            assert texts.bertscore is not None
            column = texts.bertscore[:, 2]
        pairs = np.asarray(self._pairs, dtype=np.int64)
        scores = np.zeros(len(pairs))
        scores[pairs == NO_GOLD_STEPS] = np.nan
        scores[pairs >= 0] = column[pairs[pairs >= 0]]
        return scores

    def _plan_score(self, name: str) -> NDArray[np.float64]:
        """A score of PLAN_SCORES of every row, as if each were answered and had arguments."""
        import numpy as np

        counts = self._all_counts()
        if name == "edit_similarity":
            return np.array(self._similarities, dtype=np.float64)
        if name == "exact_match":
            wrong = counts[:, [place + kind for place in (0, 3, 9) for kind in (1, 2)]]
            return np.where(wrong.any(axis=1), 0.0, 1.0)
        at = 3 * PLAN_SCORES.index(name)
        right = 2 * counts[:, at].astype(np.float64)
        total = right + counts[:, at + 1] + counts[:, at + 2]
        scores = np.ones(len(self))
        np.divide(right, total, out=scores, where=total > 0)
        return scores

    def items(
        self, metrics: Collection[str], texts: TextScores, keys: CompactTexts
    ) -> Iterator[tuple[list[dict[str, Any]], list[int]]]:
        """The items for the items file, block by block, with their rows in the table of published counts
        (-1: none).

        `keys[n]` is the id of line n.
        """
        names = [name for name in self._names(metrics, texts) if _is_asked(name, metrics)]
        columns = [self._scores(name, texts) for name in names]
        counts, nothing = self._all_counts(), dict.fromkeys(names)
        for start in range(0, len(self), _ITEMS_AT_ONCE):
            block = slice(start, start + _ITEMS_AT_ONCE)
            outcomes = self._outcomes.texts(block)
            unscored = {outcome for outcome in set(outcomes) if not is_scored(outcome)}
            scores = zip(*(_with_none(column[block]) for column in columns), strict=True)
            rows = zip(
                self._lines[block],
                self._shapes.texts(block),
                self._sizes[block],
                self._clusters[block],
                outcomes,
                scores,
                counts[block].tolist(),
                self._has_arguments[block],
                strict=True,
            )
            items = [
                {
                    "id": keys[line],
                    "type": shape,
                    "n_tools": size,
                    "cluster": f"{cluster & _WORD:016x}",
                    "outcome": outcome,
                    "scores": nothing if outcome in unscored else dict(zip(names, own, strict=True)),
                    "counts": {
                        "nodes": count[:3],
                        "edges": count[3:6],
                        "argument_names": count[6:9] if has_arguments else None,
                        "argument_values": count[9:12] if has_arguments else None,
                        "invented_tools": count[12],
                        "tools": count[13],
                        "invented_links": count[14],
                        "links": count[15],
                    },
                }
                for line, shape, size, cluster, outcome, own, count, has_arguments in rows
            ]
            yield items, self._compat[block].tolist()


def _with_none(scores: NDArray[np.float64]) -> list[float | None]:
    """Scores as numbers of Python; None for NaN."""
    import numpy as np

    found: list[float | None] = scores.tolist()
    for place in np.flatnonzero(np.isnan(scores)).tolist():
        found[place] = None
    return found


def _is_asked(name: str, metrics: Collection[str]) -> bool:
    needed = _METRICS_OF.get(name)
    return needed is None or any(metric in metrics for metric in needed)
