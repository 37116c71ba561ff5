"""Every message of the data in every trial, with what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from toolassay.benchmarks.classic.data import ClassicData, Example
from toolassay.benchmarks.classic.scoring.rows import ANSWERED, MALFORMED, Row
from toolassay.runs.asked import MISSING

Ended = Callable[[Example, int], str]
"""The outcome of a message in a trial that has no row of it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One message in one trial.

    Args:
        example: the message and what would be right.
        trial: its number.
        row: what the agent said; None where it was not run.
        outcome: how it ended (`runs.asked` says which outcomes are scored). A name that was not offered is
            malformed, as is an empty one.
    """

    example: Example
    trial: int
    row: Row | None
    outcome: str

    @property
    def answered(self) -> bool:
        """Whether the agent chose, a workflow or none."""
        return self.outcome == ANSWERED

    @property
    def choice(self) -> str | None:
        """The workflow that was chosen; None for none, and for what was not answered."""
        return self.row.prediction if self.row is not None and self.answered else None

    @property
    def right(self) -> bool:
        """Whether the choice is one that the labels accept; what was not answered never is."""
        return self.answered and self.example.accepts(self.choice)

    @property
    def wanted(self) -> str | None:
        """The first label; None where no workflow is right."""
        return self.example.labels[0] if self.example.labels else None


def judge(
    rows: Iterable[Row], data: ClassicData, ended: Ended = lambda example, trial: MISSING
) -> list[Judged]:
    """Every message of the data in each trial that has a row.

    Args:
        rows: answers to these data, one order of the candidates only.
        data: whose labels count.
        ended: the outcome of a message that has no row in a trial.

    Returns:
        Sorted by conversation, message and trial.
    """
    rows = list(rows)
    found = {(*row.input, row.trial): row for row in rows}
    trials = sorted({row.trial for row in rows}) or [0]
    offered = {domain: {flow.id for flow in flows} for domain, flows in data.workflows.items()}
    judged = []
    for example in sorted(data.examples, key=lambda each: (each.conversation, each.request_idx)):
        for trial in trials:
            row = found.get((example.conversation, example.request_idx, trial))
            outcome = ended(example, trial) if row is None else _outcome(row, offered[example.domain])
            judged.append(Judged(example, trial, row, outcome))
    return judged


def by_message(judged: Sequence[Judged]) -> list[list[Judged]]:
    """The trials of each message, in the given order."""
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(one.example.id, []).append(one)
    return list(found.values())


def _outcome(row: Row, offered: set[str]) -> str:
    if row.outcome == ANSWERED and row.prediction is not None and row.prediction not in offered:
        return MALFORMED
    return row.outcome
