"""Which samples are exported, and into which split: by gate level, split file and readable plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from toolassay.dataset import RequestId, read_labels
from toolassay.exporters.export_plan import ExportPlan, Unfit, plan_of
from toolassay.gold import Gold
from toolassay.graph import DependencyType
from toolassay.tools import ToolLibrary

DEFAULT_SPLIT = "train"
"""The split of a set without splits, as the libraries of the hub have it."""
NOT_CHECKED = "not checked"


class KnowsSplits(Protocol):
    """What tells the split of a sample; None where it does not know it."""

    def split(self, request_id: RequestId, /) -> str | None: ...


class SelectedPlan(NamedTuple):
    """A plan, its split, the level that the gates gave it, and the label it is of."""

    plan: ExportPlan
    split: str
    level: str
    gold: Gold


class Refusal(NamedTuple):
    """A sample that cannot be exported, and why."""

    gold: Gold
    reason: str
    where: str

    def to_json(self) -> dict[str, object]:
        """The line of `refused.jsonl`."""
        return {"id": self.gold.id, "line": self.gold.line, "reason": self.reason, "where": self.where}

    @property
    def sentence(self) -> str:
        """The refusal for people."""
        return f"{self.gold.id} (line {self.gold.line}): {self.where} {self.reason}"


@dataclass
class Selection:
    """Goes through the labels of a file; of several with one id the last counts.

    Attributes:
        path: the labels.
        library: all tools.
        kind: what their links mean.
        splits: tells splits; None where there are none.
        levels: the level of each id, as text; None where no gates were asked.
        wanted: the levels that are exported; None for all.
        left_out: how many had another level, so far.
        repeated: how many lines have an id that a later one has too.
    """

    path: Path
    library: ToolLibrary
    kind: DependencyType
    splits: KnowsSplits | None = None
    levels: Mapping[str, str] | None = None
    wanted: frozenset[str] | None = None
    left_out: int = 0
    repeated: int = 0
    _last: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = 0
        for number, label in read_labels(self.path):
            lines += 1
            self._last[str(label["id"])] = number
        self.repeated = lines - len(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def __iter__(self) -> Iterator[SelectedPlan | Refusal | None]:
        """Each sample: chosen, refused, or None where its level is not wanted."""
        for number, label in read_labels(self.path):
            if self._last[str(label["id"])] == number:
                yield self._one(Gold.of(label, number))

    def _one(self, gold: Gold) -> SelectedPlan | Refusal | None:
        level = NOT_CHECKED if self.levels is None else self.levels.get(str(gold.id), NOT_CHECKED)
        if self.wanted is not None and level not in self.wanted:
            self.left_out += 1
            return None
        split = DEFAULT_SPLIT if self.splits is None else self.splits.split(gold.id)
        if split is None:
            return Refusal(gold, "is in no split of the split file", "id")
        try:
            return SelectedPlan(plan_of(gold, self.library, self.kind), split, level, gold)
        except Unfit as error:
            return Refusal(gold, *error.fault)
