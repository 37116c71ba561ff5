"""The published stability: pass^k over the messages, or conversations, that want one workflow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from toolassay.benchmarks.classic.scoring.compat.estimates import pass_hat_k
from toolassay.benchmarks.classic.scoring.rows import Row


@dataclass
class _Task:
    """All runs that want one workflow, and the conversations they come from."""

    passed: list[bool] = field(default_factory=list)
    conversations: set[str] = field(default_factory=set)

    def add(self, passed: bool, conversation: str) -> None:
        self.passed.append(passed)
        self.conversations.add(conversation)


def stability(rows: Sequence[Row]) -> dict[str, float]:
    """`row_pass^k` and `convo_pass^k`, for k up to the most conversations that want one workflow.

    The mean is over workflows with at least k runs, so it may rise with k. A message wants its first label;
    a conversation what its last labelled message wants.

    Args:
        rows: sorted.

    Raises:
        ValueError: no message has a label.
    """
    messages: dict[str, _Task] = defaultdict(_Task)
    turns: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        turns[row.conversation, row.trial].append(row)
        if row.labels:
            messages[row.labels[0]].add(_passes(row), row.conversation)
    if not messages:
        raise ValueError("no message has a label")
    conversations: dict[str, _Task] = defaultdict(_Task)
    for (name, _), found in turns.items():
        wanted = [row.labels[0] for row in found if row.labels]
        if wanted:
            conversations[wanted[-1]].add(all(map(_passes, found)), name)
    return {**_chances("row", messages), **_chances("convo", conversations)}


def _passes(row: Row) -> bool:
    """Whether an answer is right; here an empty text is no way to name no workflow, as it is in accuracy."""
    return row.prediction in row.labels if row.prediction is not None else not row.labels


def _chances(name: str, tasks: Mapping[str, _Task]) -> dict[str, float]:
    largest = max(len(task.conversations) for task in tasks.values())
    return {f"{name}_pass^{k}": _mean_pass(tasks.values(), k) for k in range(1, largest + 1)}


def _mean_pass(tasks: Collection[_Task], k: int) -> float:
    runs = [task.passed for task in tasks if len(task.passed) >= k]
    return fsum(pass_hat_k(len(passed), sum(passed), k) for passed in runs) / len(runs)
