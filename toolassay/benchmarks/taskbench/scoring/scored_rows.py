"""Statistics of items, and the scores of their sums: a row has the counts of one item in both readings.

Compat and strict are two readings of the same rows. Every number of a group is a mean or a ratio of sums over
its rows, so one bootstrap gives all intervals.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from toolassay.benchmarks.taskbench.scoring.compat import CompatItem
from toolassay.benchmarks.taskbench.scoring.strict import Hallucinations, StrictItem
from toolassay.evaluation.groups import METRICS
from toolassay.metrics.confidence_interval import Ratio, bootstrapped_means, ratio_intervals
from toolassay.metrics.f1 import MatchCounts, f1
from toolassay.metrics.rouge import NAMES as ROUGE_NAMES
from toolassay.metrics.rouge import TextPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ANSWERED = "answered"
_ARGNAME, _ARGVALUE = (f"argument_task_arg{name}_binary_f1_no_matching" for name in ("name", "name_value"))


class PlanMetric(NamedTuple):
    """A score of plans.

    Attributes:
        name: Among the strict scores.
        asked_by: The metrics that give it, any of them; empty if it is always computed.
        heading: In tables; empty if it is in none.
        compat: Its published key.
    """

    name: str
    asked_by: tuple[str, ...] = ()
    heading: str = ""
    compat: str = ""


# f1 and argument each compute all three F1s, as published.
POOLED = (
    PlanMetric("node_f1", ("f1", "argument"), "n-F1", "node_micro_f1_no_matching"),
    PlanMetric("edge_f1", ("link",), "e-F1", "link_binary_f1"),
    PlanMetric("argument_name_f1", ("f1", "argument"), "t-F1", _ARGNAME),
    PlanMetric("argument_value_f1", ("f1", "argument"), "v-F1", _ARGVALUE),
)
_EDITS = PlanMetric("edit_similarity", ("ed",), "ED", "edit_distance")
_OF_STEPS = (
    PlanMetric("rouge1", ("rouge",), "R1", "step_rouge1"),
    PlanMetric("rouge2", ("rouge",), "R2", "step_rouge2"),
    PlanMetric("rougeL", ("rouge",), "RL", "step_rougeL"),
    PlanMetric("bertscore_f1", ("bertscore",), "BsF", "step_bertscore_f1"),
)
RATES = (
    PlanMetric("tool_hallucination_rate", ("f1", "argument")),
    PlanMetric("link_hallucination_rate", ("link",)),
)
PLAN_SCORES = (*POOLED, PlanMetric("exact_match"), _EDITS)
SCORES = (*PLAN_SCORES, *_OF_STEPS, *RATES)
COLUMNS = (*_OF_STEPS, *POOLED, _EDITS)
"""The scores with a heading, in the order of tables."""
RESERVED = frozenset(
    (
        *("all", *METRICS, *(one.name for one in SCORES), *(f"{one.name}_pooled" for one in POOLED)),
        *("n_labels", "n_asked", "n_scored", "partial", "coverage"),
        *("n_expected", "outcomes", "compat_links", "compat_intervals", "signature"),
    )
)
"""Names that a metric of another package must not use."""
_MEASURES = ("precision", "recall", "f1")
# Flags of a row in compat: whether it has steps, has arguments, is scored.
_STEPS = 1
_ARGUMENTS = 2
_SCORED = 4
_NONE = (math.nan,) * len(ROUGE_NAMES)

# The counts are true positives, false positives and false negatives: in `strict` those of nodes, edges,
# argument names and values, then the inventions; in `compat` those of tools, links, and argument names and
# values.
_FIELDS = [
    *(("id", "O"), ("cluster", "i8"), ("shape", "O"), ("size", "i4"), ("outcome", "O")),
    ("reference", "i1"),
    *(("groups", "u8"), ("strict", "i4", 16), ("has_arguments", "?"), ("similarity", "f8")),
    *(("rouge", "f8", 4), ("answer", "i8"), ("compat_groups", "u8"), ("flags", "u1"), ("compat", "i4", 12)),
    *(("compat_similarity", "f8"), ("compat_rouge", "f8", 4)),
]
_NO_COMPAT = (0, 0, (0,) * 12, 0.0, _NONE)


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


def bit_mask(groups: Iterable[int]) -> int:
    """The groups, by their numbers, as a bit mask.

    >>> bit_mask([0, 2])
    5
    """
    return sum(1 << group for group in groups)


def strict_part(
    groups: Sequence[int], item: StrictItem, inventions: Hallucinations, rouge: Sequence[float], answer: int
) -> tuple[Any, ...]:
    """The strict fields of a row; `answer` is the digest of the plan.

    ROUGE is NaN without gold steps; of steps that it reads nothing of, all but ROUGE-Lsum.
    """
    nodes, edges, names, values, similarity = item
    counts = (*nodes, *edges, *(names or (0, 0, 0)), *(values or (0, 0, 0)), *inventions)
    return bit_mask(groups), counts, names is not None, similarity, rouge, answer


NO_ALTERNATIVE = -1
NOTHING = StrictItem(MatchCounts(0, 0, 0), MatchCounts(0, 0, 0), None, None, 0.0)
"""The counts of a label without a gold plan, to which scores of plans do not apply."""
# The strict part of a row that strict scores leave out.
NO_STRICT = strict_part((), NOTHING, Hallucinations(), _NONE, 0)


class ScoredRows:
    """The rows of scored labels, in file order.

    A label whose compat counts differ between groups (`scorer.WaitingItem`) has further rows, without a
    strict part.

    Args:
        tool_ids: the library, in file order.
        extra: the names of the installed metrics.

    Attributes:
        tools: for each bit mask of groups, how often each tool is right (3 x its place in the library),
            extra (+ 1) and absent (+ 2) in compat.
        texts: for each row its pair of steps in strict and in compat, if they are kept for BERTScore.
    """

    def __init__(self, tool_ids: Sequence[str], extra: Sequence[str] = ()) -> None:
        self._tool_ids = tool_ids
        self.extra = tuple(extra)
        self.tools: dict[int, Counter[int]] = {}
        self.texts: list[tuple[TextPair | None, TextPair | None]] = []
        self._new: list[tuple[Any, ...]] = []
        self._rows = self._packed()
        self._last_part = 0
        self._bertscore: NDArray[np.float64] | None = None

    def add(
        self,
        about: tuple[Any, ...],
        strict: tuple[Any, ...],
        compat: tuple[Any, ...] | None,
        extra: Sequence[float] = (),
    ) -> int:
        """Add a row and return its place.

        Args:
            about: id as text, cluster, shape, size, outcome, and the number of the right plan that the
                counts compare with (0 for the gold plan, `NO_ALTERNATIVE` if there is no other); any outcome
                but "answered" scores 0 or is excluded (`runs.outcomes`).
            strict: what `strict_part` gives, or NO_STRICT.
            compat: what `counted` gives; None without a prediction.
            extra: the scores of the installed metrics; NaN for none.
        """
        own = tuple(extra) or (math.nan,) * len(self.extra)
        self._new.append((*about, *strict, *(compat or _NO_COMPAT), own))
        return len(self._new) - 1

    def set_compat(self, position: int, compat: tuple[Any, ...]) -> None:
        """Set the compat fields of the row at a position among those of the part added last."""
        for (name, *_), value in zip(_FIELDS[-len(compat) :], compat, strict=True):
            self._rows[self._last_part + position][name] = value

    def counted(
        self, groups: Sequence[int], item: CompatItem, rouge: Sequence[float] | None
    ) -> tuple[Any, ...]:
        """The compat fields of a row; its tools are counted. ROUGE is None without steps."""
        mask = bit_mask(groups)
        tools = (item.right, item.extra, item.absent)
        if item.is_scored:
            counts = self.tools.setdefault(mask, Counter())
            counts.update([3 * tool + kind for kind, own in enumerate(tools) for tool in own])
        flags = (item.steps is not None) | item.counts_arguments << 1 | item.is_scored << 2
        numbers = (*map(len, tools), *item.links, *item.argument_names, *item.argument_values)
        return mask, flags, numbers, item.similarity, rouge or _NONE

    def pack(self) -> None:
        """Turn the rows added one by one into compact ones."""
        self._append(self._packed())
        self._new = []

    def _packed(self) -> NDArray[Any]:
        import numpy as np

        return np.array(self._new, dtype=np.dtype([*_FIELDS, ("extra", "f8", (len(self.extra),))]))

    def extend(self, other: ScoredRows) -> None:
        """Append the packed rows of a later chunk."""
        self._append(other._rows)
        self.texts += other.texts
        for groups, counts in other.tools.items():
            self.tools.setdefault(groups, Counter()).update(counts)

    def _append(self, part: NDArray[Any]) -> None:
        self._last_part = len(self._rows)
        # In place: a million rows fill 250 MB, and a copy would need as much again.
        self._rows.resize(self._last_part + len(part), refcheck=False)
        self._rows[self._last_part :] = part

    def score_texts(self, scores: NDArray[np.float64] | None) -> None:
        """Set the BERTScore (precision, recall, F1) of the pairs in `texts`, flattened, where one is."""
        import numpy as np

        if scores is not None:
            self._bertscore = np.full((2 * len(self.texts), 3), np.nan)
            self._bertscore[[pair is not None for row in self.texts for pair in row]] = scores
            self._bertscore = self._bertscore.reshape(-1, 2, 3)
        self.texts = []

    def _published_rows(self, group: int) -> NDArray[np.int64]:
        """The places of the rows that compat counts in a group, of which the bit number is given."""
        import numpy as np

        return np.flatnonzero(self._rows["compat_groups"] >> np.uint64(group) & np.uint64(1))

    # Strict.

    @cached_property
    def _counted(self) -> NDArray[np.int64]:
        """The places of the rows that strict scores count."""
        import numpy as np

        return np.flatnonzero(self._rows["groups"])

    def column(self, field: str) -> NDArray[Any]:
        """A field of the rows that strict scores count."""
        column = self._rows[field]
        return column if len(self._counted) == len(column) else column[self._counted]

    @cached_property
    def strict_scores(self) -> dict[str, NDArray[np.float64]]:
        """Each strict score of the counted rows; NaN for rows without it."""
        import numpy as np

        counts = self.column("strict")
        has_arguments = self.column("has_arguments")
        is_answered = self.column("outcome") == ANSWERED
        scores: dict[str, NDArray[np.float64]] = {}
        for index, score in enumerate(POOLED):
            right, extra, absent = counts[:, 3 * index : 3 * index + 3].T
            total = 2 * right.astype(np.float64) + extra + absent
            scores[score.name] = np.ones(len(counts))
            np.divide(2 * right, total, out=scores[score.name], where=total > 0)
        scores["exact_match"] = np.where(counts[:, [1, 2, 4, 5, 10, 11]].any(axis=1), 0.0, 1.0)
        scores["edit_similarity"] = self.column("similarity").copy()
        for name, column in scores.items():
            column[~is_answered] = 0.0
            if name.startswith("argument"):
                column[~has_arguments] = np.nan
            column[self.column("shape") == ""] = np.nan
        rouge = self.column("rouge")
        scores |= zip(ROUGE_NAMES[:3], rouge.T, strict=False)
        if self._bertscore is not None:
            has_steps = ~np.isnan(rouge[:, 3])
            f1_scores = self._bertscore[self._counted, 0, 2]
            scores["bertscore_f1"] = np.where(np.isnan(f1_scores) & has_steps, 0.0, f1_scores)
        return scores | dict(zip(self.extra, self.column("extra").T, strict=True))

    def compat_counts(self, block: slice) -> Iterator[CompatCounts | None]:
        """The published counts of some of the counted rows; None for a label without a prediction."""
        for row in self._rows[self._counted[block]].tolist():
            compat_groups, flags, published, similarity = row[12:16]
            counts = CompatCounts(False)
            if flags & _SCORED:
                nodes, edges, arguments, values = (published[at : at + 3].tolist() for at in (0, 3, 6, 9))
                counts = CompatCounts(True, nodes, edges, arguments, values, similarity)
            yield counts if compat_groups else None

    # Compat.

    def compat(self, group: int, metrics: Collection[str]) -> dict[str, Any]:
        """The published keys of one group, of which the bit number is given."""
        chosen = self._published_rows(group)
        flags = self._rows["flags"][chosen]
        counts = self._rows["compat"][chosen]
        steps, arguments, scored = (int((flags & flag > 0).sum()) for flag in (_STEPS, _ARGUMENTS, _SCORED))
        numbers: dict[str, Any] = {
            "all_samples": len(chosen),
            "step_supports": steps,
            "node_supports": scored,
            "link_supports": scored,
            "argument_supports": arguments,
        }
        if not scored:
            return numbers
        with_steps = chosen[flags & _STEPS > 0]
        totals = counts.sum(axis=0).tolist()
        if "rouge" in metrics:
            numbers |= _means("step_", ROUGE_NAMES, self._rows["compat_rouge"][with_steps])
        if "bertscore" in metrics and self._bertscore is not None:
            numbers |= _means("step_bertscore_", _MEASURES, self._bertscore[with_steps, 1])
        if "f1" in metrics or "argument" in metrics:
            numbers |= self._node_numbers(group)
            numbers[_ARGNAME] = f1(*totals[6:9])
            numbers[_ARGVALUE] = f1(*totals[9:])
        if "ed" in metrics:
            similarities = self._rows["compat_similarity"][chosen]
            numbers["edit_distance"] = 1 - float(similarities[flags & _SCORED > 0].mean())
        if "link" in metrics:
            numbers["link_binary_f1"] = f1(*totals[3:6])
        return numbers

    def _node_numbers(self, group: int) -> dict[str, Any]:
        import numpy as np

        events: Counter[int] = Counter()
        for groups, group_events in self.tools.items():
            if groups >> group & 1:
                events.update(group_events)
        table = np.array([[events[3 * n + k] for k in range(3)] for n in range(len(self._tool_ids))])
        per_tool = _precision_recall_f1(table.reshape(-1, 3))
        micro = _precision_recall_f1(table.reshape(-1, 3).sum(axis=0))
        macro = per_tool.mean(axis=1)
        own = zip(self._tool_ids, per_tool.T.tolist(), table.tolist(), strict=True)
        return {
            **{f"node_micro_{name}_no_matching": float(v) for name, v in zip(_MEASURES, micro, strict=True)},
            **{f"node_macro_{name}_no_matching": float(v) for name, v in zip(_MEASURES, macro, strict=True)},
            "node_per_type_no_matchcing": {
                tool: {"precision": precision, "recall": recall, "f1-score": both, "support": right + absent}
                for tool, (precision, recall, both), (right, _, absent) in own
            },
        }

    def compat_intervals(self, group: int, *, resamples: int, seed: int) -> dict[str, dict[str, Any]]:
        """95 % intervals of the headline numbers of one group, by their published keys.

        Args:
            group: its bit number.
            resamples: of the bootstrap, which draws whole clusters; 0 gives no bounds.
            seed: of the bootstrap.
        """
        import numpy as np

        chosen = self._published_rows(group)
        clusters = self._rows["cluster"]
        # The interval must not depend on the order of the rows, so they are sorted by cluster.
        chosen = chosen[np.argsort(clusters[chosen], kind="stable")]
        names = [one.compat for one in (*POOLED, _EDITS)]
        names += [f"step_{name}" for name in ROUGE_NAMES]
        names += ["step_bertscore_f1"] if self._bertscore is not None else []

        def ratios() -> Iterator[Ratio]:  # one at a time: each needs two numbers a row
            for first in range(0, 12, 3):
                right, extra, absent = self._rows["compat"][chosen, first : first + 3].T.astype(float)
                yield Ratio.share(2 * right, 2 * right + extra + absent)
            flags = self._rows["flags"][chosen]
            similarities = self._rows["compat_similarity"][chosen]
            yield Ratio.mean(np.where(flags & _SCORED > 0, 1 - similarities, np.nan))
            for column in range(len(ROUGE_NAMES)):
                yield Ratio.mean(self._rows["compat_rouge"][chosen, column])
            if self._bertscore is not None:
                yield Ratio.mean(self._bertscore[chosen, 1, 2])

        intervals = ratio_intervals(ratios(), clusters=clusters[chosen], resamples=resamples, seed=seed)
        return {name: interval.to_json() for name, interval in zip(names, intervals, strict=True)}

    def rouge_medians(self, group: int, *, resamples: int, seed: int) -> dict[str, float]:
        """The median of bootstrapped means of each ROUGE score, as in the published file, but seeded."""
        import numpy as np

        scores = self._rows["compat_rouge"][self._published_rows(group)]
        scores = scores[~np.isnan(scores[:, 0])]
        if not len(scores) or not resamples:
            return {}
        medians = np.median(bootstrapped_means(scores, resamples=resamples, seed=seed), axis=0)
        names = (f"step_{name}_bootstrap_median" for name in ROUGE_NAMES)
        return dict(zip(names, medians.tolist(), strict=True))

    def number_of_links(self, group: int) -> int:
        """The number of distinct links in the plans of a group, gold or predicted."""
        return int(self._rows["compat"][self._published_rows(group), 3:6].sum())


class CompatCounts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The published counts of a plan; only `is_scored` where the published evaluator leaves it out."""

    is_scored: bool
    nodes: list[int] | None = None
    edges: list[int] | None = None
    argument_names: list[int] | None = None
    argument_values: list[int] | None = None
    edit_similarity: float | None = None


def _means(prefix: str, names: Sequence[str], scores: NDArray[np.float64]) -> dict[str, float]:
    return {f"{prefix}{name}": mean for name, mean in zip(names, scores.mean(axis=0).tolist(), strict=True)}


def _precision_recall_f1(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Precision, recall and F1 of (right, extra, absent) in the last axis; 0 where a denominator is 0."""
    import numpy as np

    right, extra, absent = np.moveaxis(counts, -1, 0)
    tops = np.stack([right, right, 2 * right])
    wholes = np.stack([right + extra, right + absent, 2 * right + extra + absent])
    return np.where(wholes > 0, tops / np.maximum(wholes, 1), 0.0)
