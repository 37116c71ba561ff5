"""Select the samples to export by gate level and valid plan, and assign each to a split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import msgspec

from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import facts_in_words
from toolassay.exporters.executed_results import ExecutedResults, PlanResults
from toolassay.graph import DependencyType
from toolassay.plans.call_plan import CallPlan, Unfit, call_plan_of
from toolassay.plans.gold import Gold
from toolassay.records.dataset import LastLabels, RequestId
from toolassay.tools.library import ToolLibrary

DEFAULT_SPLIT = "train"
"""The split of a set without splits, which the hub's libraries expect by that name."""
NOT_CHECKED = "not checked"
"""The level of a sample that `gates.jsonl` does not list."""


class KnowsSplits(Protocol):
    """Returns the split of a sample, or None if the sample is in no split."""

    def split(self, request_id: RequestId, /) -> str | None: ...


class SelectedPlan(NamedTuple):
    """A plan to export with its split, its level by the gates, its label, and its results if any."""

    plan: CallPlan
    split: str
    level: str
    gold: Gold
    results: PlanResults | None = None


class RefusedSample(msgspec.Struct, frozen=True):
    """A sample that cannot be exported, a line of `refused.jsonl`: why, and the path in its label."""

    id: RequestId
    line: int
    reason: str
    where: str

    @classmethod
    def of(cls, gold: Gold, reason: str, where: str) -> RefusedSample:
        """The refusal of a label."""
        return cls(gold.id, gold.line, reason, where)

    @property
    def sentence(self) -> str:
        """The refusal as one line for the screen."""
        return f"{self.id} (line {self.line}): {self.where} {self.reason}"


@dataclass
class SampleSelection:
    """The samples to export.

    Attributes:
        labels: their labels.
        library: all tools.
        kind: the dependency type.
        splits: returns the split of a sample; None puts all samples into `DEFAULT_SPLIT`.
        levels: the level of each id, as text; None if no gates have run.
        wanted: the levels to export; None for all.
        executed: the results of the plans; None to export plans without results.
        left_out: number of samples with another level, counted during each iteration.
    """

    labels: LastLabels
    library: ToolLibrary
    kind: DependencyType
    splits: KnowsSplits | None = None
    levels: Mapping[str, str] | None = None
    wanted: frozenset[str] | None = None
    executed: ExecutedResults | None = None
    left_out: int = 0

    def __iter__(self) -> Iterator[SelectedPlan | RefusedSample | None]:
        """Each sample: a selected plan, a refusal, or None if its level is not wanted."""
        self.left_out = 0
        return (self._one(Gold.of(label, number)) for number, label in self.labels)

    def _one(self, gold: Gold) -> SelectedPlan | RefusedSample | None:
        level = NOT_CHECKED if self.levels is None else self.levels.get(str(gold.id), NOT_CHECKED)
        if self.wanted is not None and level not in self.wanted:
            self.left_out += 1
            return None
        split = DEFAULT_SPLIT if self.splits is None else self.splits.split(gold.id)
        if split is None:
            return RefusedSample.of(gold, "is in no split of the split file", "id")
        try:
            plan = call_plan_of(gold, self.library, self.kind)
            results = None if self.executed is None else self.executed.of(gold.id, plan)
            if results is not None:
                values = dict(enumerate(map(CallResult.read, results.texts)))
                results = replace(results, facts=facts_in_words(gold, values))
            return SelectedPlan(plan, split, level, gold, results)
        except Unfit as error:
            return RefusedSample.of(gold, *error.fault)
