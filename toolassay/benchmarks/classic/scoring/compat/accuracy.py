"""The published accuracy: pass@k by message and by conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from toolassay.benchmarks.classic.scoring.compat.estimates import pass_at_k
from toolassay.benchmarks.classic.scoring.rows import Row


def accuracy(rows: Sequence[Row]) -> dict[str, float]:
    """`row_pass@k` and `convo_pass@k` for k from 1 to the number of trials.

    A conversation passes in a trial if all its messages do. A message without a row in a trial has not passed
    there.

    Raises:
        ValueError: a conversation lacks a trial.
    """
    trials = len({row.trial for row in rows})
    messages: dict[tuple[str, int], list[bool]] = defaultdict(list)
    turns: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        messages[row.input].append(passes(row))
        turns[row.conversation][row.trial].append(passes(row))
    for name, found in turns.items():
        if len(found) < trials:
            raise ValueError(f"the conversation {name!r} lacks a trial: it has {len(found)} of {trials}")
    conversations = {name: [all(passed) for passed in found.values()] for name, found in turns.items()}
    return {
        **{f"row_pass@{k}": _mean_pass(messages, trials, k) for k in range(1, trials + 1)},
        **{f"convo_pass@{k}": _mean_pass(conversations, trials, k) for k in range(1, trials + 1)},
    }


def passes(row: Row) -> bool:
    """Whether an answer is right; an empty text names no workflow, as nothing does."""
    return row.prediction in row.labels if row.prediction else not row.labels


def _mean_pass(units: Mapping[Any, Sequence[bool]], trials: int, k: int) -> float:
    return fsum(pass_at_k(trials, sum(found), k) for found in units.values()) / len(units)
