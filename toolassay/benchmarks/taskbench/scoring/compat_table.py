"""The published numbers of every group, added up from the statistics of the items."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.taskbench.scoring.compat import CompatItem
from toolassay.metrics.counts import f1
from toolassay.metrics.rouge import NAMES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.texts import TextScores

NO_PAIR = -1
_COLUMNS = 13
_MEASURES = ("precision", "recall", "f1")


class CompatTable:
    """One row an item, with the groups the row counts in; every group is a sum over its rows.

    Rows hold: steps count, arguments count, is scored, argument-name counts (3), argument-value counts
    (3), link counts (3), similarity. The tools of an item are events (row, tool, kind).

    Args:
        tool_ids: the library, in file order.
    """

    def __init__(self, tool_ids: Sequence[str]) -> None:
        self._tool_ids = tool_ids
        self._rows = array("d")
        self._groups = array("Q")
        self._pairs = array("q")
        self._clusters = array("q")
        self._events = array("q")
        self._tools = array("H")

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, item: CompatItem, groups: int, pair: int = NO_PAIR, cluster: int = 0) -> int:
        """Add an item to the groups whose bits are set; the number of its row.

        `pair` is the number of its pair of steps, `cluster` that of its sampled subgraph.
        """
        row = len(self)
        self._groups.append(groups)
        self._pairs.append(pair)
        self._clusters.append(cluster)
        self._rows.extend(
            (
                item.steps is not None,
                item.counts_arguments,
                item.is_scored,
                *item.argument_names,
                *item.argument_values,
                *item.links,
                item.similarity,
            )
        )
        if item.is_scored:
            kinds = enumerate((item.right, item.extra, item.absent))
            self._events.extend([one for kind, tools in kinds for tool in tools for one in (row, tool, kind)])
        return row

    def extend(self, other: CompatTable, *, first_pair: int) -> None:
        """Add the rows of a table whose pairs were counted from 0."""
        import numpy as np

        events = np.array(other._events, dtype=np.int64).reshape(-1, 3)
        events[:, 0] += len(self)
        self._events.frombytes(events.tobytes())
        self._rows.extend(other._rows)
        self._groups.extend(other._groups)
        self._clusters.extend(other._clusters)
        self._pairs.extend(pair + first_pair if pair != NO_PAIR else pair for pair in other._pairs)

    def numbers(self, group: int, metrics: Sequence[str], texts: TextScores) -> dict[str, Any]:
        """The published keys of one group.

        Args:
            group: the number of its bit.
            metrics: which metrics were asked for.
            texts: the scores of the numbered pairs of steps.
        """
        import numpy as np

        chosen = self._members(group)
        rows = np.asarray(self._rows).reshape(-1, _COLUMNS)[chosen]
        steps, arguments, scored = (int(total) for total in rows[:, :3].sum(axis=0))
        numbers: dict[str, Any] = {
            "all_samples": len(rows),
            "step_supports": steps,
            "node_supports": scored,
            "link_supports": scored,
            "argument_supports": arguments,
        }
        if not scored:
            return numbers
        pairs = np.asarray(self._pairs)[chosen]
        pairs = pairs[pairs != NO_PAIR]
        if "rouge" in metrics:
            numbers |= _means("step_", NAMES, texts.rouge[pairs])
        if "bertscore" in metrics and texts.bertscore is not None:
            numbers |= _means("step_bertscore_", _MEASURES, texts.bertscore[pairs])
        if "f1" in metrics or "argument" in metrics:
            numbers |= self._node_numbers(chosen)
            totals = rows[:, 3:9].sum(axis=0).tolist()
            numbers["argument_task_argname_binary_f1_no_matching"] = f1(*totals[:3])
            numbers["argument_task_argname_value_binary_f1_no_matching"] = f1(*totals[3:])
        if "ed" in metrics:
            numbers["edit_distance"] = 1 - float(rows[rows[:, 2] > 0, 12].mean())
        if "link" in metrics:
            numbers["link_binary_f1"] = f1(*rows[:, 9:12].sum(axis=0).tolist())
        return numbers

    def intervals(
        self, group: int, texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, dict[str, float | None]]:
        """95 % intervals of the headline numbers of one group, by their published keys.

        Args:
            group: the number of its bit.
            texts: the scores of the numbered pairs of steps.
            resamples: of the bootstrap of whole clusters; 0 gives no bounds.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.intervals import Ratio, ratio_intervals

        clusters = np.asarray(self._clusters, dtype=np.int64)
        chosen = np.flatnonzero(self._members(group))
        chosen = chosen[np.argsort(clusters[chosen], kind="stable")]  # whatever the order of the rows
        rows = np.asarray(self._rows).reshape(-1, _COLUMNS)[chosen]
        is_scored = rows[:, 2] > 0
        nodes = self._tool_counts()[chosen]
        ratios = {
            "node_micro_f1_no_matching": _f1_ratio(nodes),
            "link_binary_f1": _f1_ratio(rows[:, 9:12]),
            "argument_task_argname_binary_f1_no_matching": _f1_ratio(rows[:, 3:6]),
            "argument_task_argname_value_binary_f1_no_matching": _f1_ratio(rows[:, 6:9]),
            "edit_distance": Ratio.mean(np.where(is_scored, 1 - rows[:, 12], np.nan)),
        }
        pairs = np.asarray(self._pairs)[chosen]
        columns = [(f"step_{name}", texts.rouge, place) for place, name in enumerate(NAMES)]
        if texts.bertscore is not None:
            columns.append(("step_bertscore_f1", texts.bertscore, 2))
        for name, table, place in columns:
            scores = np.full(len(pairs), np.nan)
            if len(table):
                scores[pairs != NO_PAIR] = table[pairs[pairs != NO_PAIR], place]
            ratios[name] = Ratio.mean(scores)
        found = ratio_intervals(ratios.values(), clusters=clusters[chosen], resamples=resamples, seed=seed)
        return {name: interval.to_json() for name, interval in zip(ratios, found, strict=True)}

    def counts(self, row: int) -> dict[str, Any]:
        """The counts of one row, for the file of items; tools of the library only, as published."""
        if len(self._tools) != 3 * len(self):
            self._tools = array("H", self._tool_counts().astype("uint16").tobytes())
        numbers = self._rows[row * _COLUMNS : (row + 1) * _COLUMNS]
        if not numbers[2]:
            return {"is_scored": False}
        whole = list(map(int, numbers[3:12]))
        return {
            "is_scored": True,
            "nodes": self._tools[3 * row : 3 * row + 3].tolist(),
            "edges": whole[6:],
            "argument_names": whole[:3],
            "argument_values": whole[3:6],
            "edit_similarity": numbers[12],
        }

    def rouge_medians(self, group: int, texts: TextScores, resamples: int, seed: int) -> dict[str, float]:
        """The median of bootstrapped means of each ROUGE, which the published file holds unseeded."""
        import numpy as np

        from toolassay.metrics.intervals import bootstrapped_means

        pairs = np.asarray(self._pairs)[self._members(group)]
        scores = texts.rouge[pairs[pairs != NO_PAIR]]
        if not len(scores) or not resamples:
            return {}
        medians = np.median(bootstrapped_means(scores, resamples=resamples, seed=seed), axis=0)
        return {f"step_{name}_bootstrap_median": float(v) for name, v in zip(NAMES, medians, strict=True)}

    def number_of_links(self, group: int) -> int:
        """How many different links there are in the plans of a group, gold or predicted."""
        import numpy as np

        return int(np.asarray(self._rows).reshape(-1, _COLUMNS)[self._members(group), 9:12].sum())

    def _tool_counts(self) -> NDArray[np.int64]:
        """Right, extra and absent tools of each row, shape (rows, 3)."""
        import numpy as np

        events = np.asarray(self._events, dtype=np.int64).reshape(-1, 3)
        return np.bincount(3 * events[:, 0] + events[:, 2], minlength=3 * len(self)).reshape(-1, 3)

    def _members(self, group: int) -> NDArray[np.bool_]:
        """Which rows count in a group."""
        import numpy as np

        groups = np.asarray(self._groups, dtype=np.uint64)
        return (groups >> np.uint64(group) & np.uint64(1)).astype(bool)

    def _node_numbers(self, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        import numpy as np

        events = np.asarray(self._events).reshape(-1, 3)
        events = events[chosen[events[:, 0]]] if len(events) else events
        size = len(self._tool_ids)
        right, extra, absent = np.bincount(events[:, 2] * size + events[:, 1], minlength=3 * size).reshape(
            3, -1
        )
        per_tool = np.stack(_precision_recall_f1(right, extra, absent))
        micro = np.stack(_precision_recall_f1(right.sum(), extra.sum(), absent.sum()))
        return {
            **{f"node_micro_{name}_no_matching": float(v) for name, v in zip(_MEASURES, micro, strict=True)},
            **{
                f"node_macro_{name}_no_matching": float(v)
                for name, v in zip(_MEASURES, per_tool.mean(axis=1), strict=True)
            },
            "node_per_type_no_matchcing": {
                tool: {
                    "precision": float(per_tool[0, place]),
                    "recall": float(per_tool[1, place]),
                    "f1-score": float(per_tool[2, place]),
                    "support": int(right[place] + absent[place]),
                }
                for place, tool in enumerate(self._tool_ids)
            },
        }


def _f1_ratio(counts: NDArray[Any]) -> Any:
    """The F1 of summed counts (right, extra, absent), as a ratio of sums over rows."""
    from toolassay.metrics.intervals import Ratio

    right, extra, absent = counts.T.astype(float)
    return Ratio(2 * right, 2 * right + extra + absent)


def _means(prefix: str, names: Sequence[str], scores: NDArray[np.float64]) -> dict[str, float]:
    means = scores.mean(axis=0)
    return {f"{prefix}{name}": float(mean) for name, mean in zip(names, means, strict=True)}


def _precision_recall_f1(right: Any, extra: Any, absent: Any) -> tuple[Any, Any, Any]:
    """Precision, recall and F1, each 0 where it is undefined."""
    import numpy as np

    def share(part: Any, whole: Any) -> Any:
        return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)

    return (
        share(right, right + extra),
        share(right, right + absent),
        share(2 * right, 2 * right + extra + absent),
    )
