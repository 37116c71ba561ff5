"""The table of compat statistics: one row per item, and the published numbers of any group of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolassay.benchmarks.taskbench.scoring.columns import moved
from toolassay.benchmarks.taskbench.scoring.compat import CompatItem
from toolassay.metrics.f1 import f1
from toolassay.metrics.rouge import NAMES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.step_scores import TextScores


NO_PAIR = -1
_MEASURES = ("precision", "recall", "f1")
_STEPS, _ARGUMENTS, _SCORED = 1, 2, 4  # flags of a row


class CompatTable:
    """One row per item, with a bit mask of its groups. Every number of a group is computed from sums over
    rows.

    The columns of counts are argument names (3), argument values (3) and links (3). The tools of an item are
    stored as events, 3 x tool + kind (right, extra, absent), with the number of events of each row.

    Args:
        tool_ids: the library, in file order.
    """

    def __init__(self, tool_ids: Sequence[str]) -> None:
        self._tool_ids = tool_ids
        self._flags = array("B")
        self._counts = array("i")
        self._similarities = array("d")
        self._groups = array("Q")
        self._pairs = array("i")
        self._clusters = array("q")
        self._events = array("I")
        self._event_counts = array("I")
        self._tools: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, item: CompatItem, groups: int, pair: int = NO_PAIR, cluster: int = 0) -> int:
        """Add an item to the groups in the bit mask. Returns its row.

        `pair` is the number of its pair of steps, `cluster` that of its sampled subgraph.
        """
        self._groups.append(groups)
        self._pairs.append(pair)
        self._clusters.append(cluster)
        flags = (item.steps is not None) | item.counts_arguments << 1 | item.is_scored << 2
        self._flags.append(flags)
        self._counts.fromlist([*item.argument_names, *item.argument_values, *item.links])
        self._similarities.append(item.similarity)
        events: list[int] = []
        if item.is_scored:
            for kind, tools in enumerate((item.right, item.extra, item.absent)):
                if tools:
                    events += [3 * tool + kind for tool in tools]
            self._events.fromlist(events)
        self._event_counts.append(len(events))
        self._tools = None
        return len(self._groups) - 1

    def extend(self, other: CompatTable, *, first_pair: int) -> None:
        """Append the rows of a table whose pairs are numbered from 0."""
        self._tools = None
        self._flags.extend(other._flags)
        self._counts.extend(other._counts)
        self._similarities.extend(other._similarities)
        self._events.extend(other._events)
        self._event_counts.extend(other._event_counts)
        self._groups.extend(other._groups)
        self._clusters.extend(other._clusters)
        self._pairs.extend(moved(other._pairs, first_pair))

    def numbers(self, group: int, metrics: Sequence[str], texts: TextScores) -> dict[str, Any]:
        """The published keys of one group.

        Args:
            group: its bit number.
            metrics: the selected metrics.
            texts: the scores of the numbered pairs of steps.
        """
        import numpy as np

        chosen = self._members(group)
        flags, counts = self._all_flags()[chosen], self._all_counts()[chosen]
        steps, arguments, scored = (
            int(np.count_nonzero(flags & flag)) for flag in (_STEPS, _ARGUMENTS, _SCORED)
        )
        numbers: dict[str, Any] = {
            "all_samples": len(counts),
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
            numbers |= _mean_scores("step_", NAMES, texts.rouge[pairs])
        if "bertscore" in metrics and texts.bertscore is not None:
            numbers |= _mean_scores("step_bertscore_", _MEASURES, texts.bertscore[pairs])
        if "f1" in metrics or "argument" in metrics:
            numbers |= self._node_numbers(chosen)
            totals = counts[:, :6].sum(axis=0).tolist()
            numbers["argument_task_argname_binary_f1_no_matching"] = f1(*totals[:3])
            numbers["argument_task_argname_value_binary_f1_no_matching"] = f1(*totals[3:])
        if "ed" in metrics:
            numbers["edit_distance"] = 1 - float(
                np.asarray(self._similarities)[chosen][flags & _SCORED > 0].mean()
            )
        if "link" in metrics:
            numbers["link_binary_f1"] = f1(*counts[:, 6:].sum(axis=0).tolist())
        return numbers

    def intervals(
        self, group: int, texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, dict[str, float | None]]:
        """95 % intervals of the headline numbers of one group, by their published keys.

        Args:
            group: its bit number.
            texts: the scores of the numbered pairs of steps.
            resamples: of the bootstrap, which draws whole clusters; 0 gives no bounds.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.confidence_interval import Ratio, ratio_intervals

        clusters = np.asarray(self._clusters, dtype=np.int64)
        chosen = np.flatnonzero(self._members(group))
        # The interval must not depend on the order of the rows, so they are sorted by cluster.
        chosen = chosen[np.argsort(clusters[chosen], kind="stable")]
        counts = self._all_counts()[chosen]
        is_scored = self._all_flags()[chosen] & _SCORED > 0
        nodes = self._tool_counts()[chosen]
        pairs = np.asarray(self._pairs)[chosen]
        columns = [(f"step_{name}", texts.rouge, place) for place, name in enumerate(NAMES)]
        if texts.bertscore is not None:
            columns.append(("step_bertscore_f1", texts.bertscore, 2))

        def ratios() -> Iterator[Ratio]:  # one at a time: each needs two numbers a row
            for kinds in (nodes, counts[:, 6:], counts[:, :3], counts[:, 3:6]):
                yield _f1_ratio(kinds)
            yield Ratio.mean(np.where(is_scored, 1 - np.asarray(self._similarities)[chosen], np.nan))
            for _, table, place in columns:
                scores = np.full(len(pairs), np.nan)
                if len(table):
                    scores[pairs != NO_PAIR] = table[pairs[pairs != NO_PAIR], place]
                yield Ratio.mean(scores)

        names = (
            "node_micro_f1_no_matching",
            "link_binary_f1",
            "argument_task_argname_binary_f1_no_matching",
            "argument_task_argname_value_binary_f1_no_matching",
            "edit_distance",
            *(name for name, _, _ in columns),
        )
        found = ratio_intervals(ratios(), clusters=clusters[chosen], resamples=resamples, seed=seed)
        return {name: interval.to_json() for name, interval in zip(names, found, strict=True)}

    def counts(self, rows: Sequence[int]) -> list[dict[str, Any] | None]:
        """The counts of some rows for the items file; None for row -1.

        Only tools of the library count, as published.
        """
        import numpy as np

        chosen = [row for row in rows if row >= 0]
        places = np.array(chosen, dtype=np.int64)
        found = iter(
            [
                {
                    "is_scored": True,
                    "nodes": nodes,
                    "edges": counts[6:],
                    "argument_names": counts[:3],
                    "argument_values": counts[3:6],
                    "edit_similarity": similarity,
                }
                if flags & _SCORED
                else {"is_scored": False}
                for flags, nodes, counts, similarity in zip(
                    self._all_flags()[places].tolist(),
                    self._tool_counts()[places].tolist(),
                    self._all_counts()[places].tolist(),
                    np.asarray(self._similarities)[places].tolist(),
                    strict=True,
                )
            ]
        )
        return [next(found) if row >= 0 else None for row in rows]

    def rouge_medians(self, group: int, texts: TextScores, resamples: int, seed: int) -> dict[str, float]:
        """The median of bootstrapped means of each ROUGE score, as in the published file, but seeded."""
        import numpy as np

        from toolassay.metrics.confidence_interval import bootstrapped_means

        pairs = np.asarray(self._pairs)[self._members(group)]
        scores = texts.rouge[pairs[pairs != NO_PAIR]]
        if not len(scores) or not resamples:
            return {}
        medians = np.median(bootstrapped_means(scores, resamples=resamples, seed=seed), axis=0)
        return {f"step_{name}_bootstrap_median": float(v) for name, v in zip(NAMES, medians, strict=True)}

    def number_of_links(self, group: int) -> int:
        """The number of distinct links in the plans of a group, gold or predicted."""
        return int(self._all_counts()[self._members(group), 6:].sum())

    def _all_counts(self) -> NDArray[np.int32]:
        """Shape (rows, 9), without a copy."""
        import numpy as np

        return np.frombuffer(self._counts or b"", dtype=np.int32).reshape(-1, 9)

    def _all_flags(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.frombuffer(self._flags or b"", dtype=np.uint8)

    def _owners(self) -> NDArray[np.int32]:
        """The row of each event."""
        import numpy as np

        return np.repeat(np.arange(len(self), dtype=np.int32), np.asarray(self._event_counts))

    def _tool_counts(self) -> NDArray[np.int32]:
        """The numbers of right, extra and absent tools of each row, shape (rows, 3). Computed once."""
        import numpy as np

        if self._tools is None:
            places = 3 * self._owners()
            places += (np.asarray(self._events) % 3).astype(np.int32)
            found = np.bincount(places, minlength=3 * len(self))
            self._tools = found.reshape(-1, 3).astype(np.int32)
        return self._tools

    def _members(self, group: int) -> NDArray[np.bool_]:
        """Which rows belong to a group."""
        import numpy as np

        groups = np.asarray(self._groups, dtype=np.uint64)
        return (groups >> np.uint64(group) & np.uint64(1)).astype(bool)

    def _node_numbers(self, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        import numpy as np

        events = np.asarray(self._events)[chosen[self._owners()]]
        found = np.bincount(events, minlength=3 * len(self._tool_ids)).reshape(-1, 3)
        right, extra, absent = found.T
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
    from toolassay.metrics.confidence_interval import Ratio

    right, extra, absent = counts.T.astype(float)
    return Ratio(2 * right, 2 * right + extra + absent)


def _mean_scores(prefix: str, names: Sequence[str], scores: NDArray[np.float64]) -> dict[str, float]:
    means = scores.mean(axis=0)
    return {f"{prefix}{name}": float(mean) for name, mean in zip(names, means, strict=True)}


def _precision_recall_f1(right: Any, extra: Any, absent: Any) -> tuple[Any, Any, Any]:
    """Precision, recall and F1; 0 where a denominator is 0."""
    import numpy as np

    def share(part: Any, whole: Any) -> Any:
        return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)

    return (
        share(right, right + extra),
        share(right, right + absent),
        share(2 * right, 2 * right + extra + absent),
    )
