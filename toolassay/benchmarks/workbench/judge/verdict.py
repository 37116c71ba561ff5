"""One line of `verdicts.jsonl`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from toolassay.benchmarks.workbench.judge.classes import Classes
from toolassay.benchmarks.workbench.judge.results import Result
from toolassay.benchmarks.workbench.judge.strict import StrictVerdict
from toolassay.benchmarks.workbench.tasks import Task


@dataclass(frozen=True)
class Verdict:
    """What is said of one run.

    Args:
        file: the result file.
        row: the row in it, counted from 0.
        task: what was asked.
        result: what was done.
        correct: whether that is right.
        side_effects: whether something was changed that should not have been.
        classes: exact match, and classes of errors.
        strict: the strict verdict in full, in strict mode.
    """

    file: str
    row: int
    task: Task
    result: Result
    correct: bool
    side_effects: bool
    classes: Classes
    strict: StrictVerdict | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "file": self.file,
            "row": self.row,
            "query": self.result.query,
            "correct": self.correct,
            "unwanted_side_effects": self.side_effects,
            **asdict(self.classes),
            **(self.strict.to_json() if self.strict else {}),
        }
