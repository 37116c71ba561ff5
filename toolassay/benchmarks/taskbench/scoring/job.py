"""What is to be scored, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolassay.benchmarks.taskbench.scoring.groups import Group
from toolassay.benchmarks.taskbench.scoring.line_index import Keep
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools import ToolLibrary


@dataclass(frozen=True)
class Job:
    """Everything that scoring a part of a prediction file needs; sent to other processes.

    Attributes:
        labels: `data.json`.
        predictions: the prediction file.
        library: the tools, with their published ids.
        dependency_type: what a link means.
        graph: which links exist; None asks for their ends only.
        metrics: our metrics, as chosen.
        installed: the names of metrics of other packages.
        groups: what is added up.
        alignment_ids: the labels to keep; None keeps all.
        chosen: ids, as text, of the labels to keep beside that; None keeps all.
        excluded: ids, as text, left out of the strict scores.
        keep: which of several lines with one id counts.
        run: the folder of the run that made the predictions, whose journal says how labels without a
            prediction ended.
    """

    labels: Path
    predictions: Path
    library: ToolLibrary
    dependency_type: DependencyType
    graph: ToolGraph | None
    metrics: tuple[str, ...]
    installed: tuple[str, ...]
    groups: tuple[Group, ...]
    alignment_ids: frozenset[str | int] | None
    excluded: frozenset[str]
    keep: Keep
    run: Path
    chosen: frozenset[str] | None = None

    def keeps(self, key: object) -> bool:
        """Whether the label with this id (a JSON value) is scored."""
        return (self.alignment_ids is None or key in self.alignment_ids) and (
            self.chosen is None or str(key) in self.chosen
        )

    @property
    def keeps_all(self) -> bool:
        """Whether every label is scored."""
        return self.alignment_ids is None and self.chosen is None

    @property
    def with_steps(self) -> bool:
        """Whether steps are compared; then a plan without steps is left out of compat, as published."""
        return "rouge" in self.metrics or "bertscore" in self.metrics
