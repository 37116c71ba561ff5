"""The strict tree of metrics: the published axes and domains, with other numbers in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.strict.accuracy import accuracy
from toolassay.benchmarks.classic.scoring.strict.cost import cost
from toolassay.benchmarks.classic.scoring.strict.judged import Judged
from toolassay.benchmarks.classic.scoring.strict.latency import latency
from toolassay.benchmarks.classic.scoring.strict.stability import pairs_of_orders, stability
from toolassay.benchmarks.classic.scoring.strict.workflows import confusion, macro_f1, workflow_table
from toolassay.runs.asked import MISSING, asked_counts, is_scored


def strict_metrics(
    every: Sequence[Judged], others: Sequence[Sequence[Judged]], data: ClassicData
) -> dict[str, Any]:
    """Cost, latency, accuracy and stability of all messages and of each domain's, workflows and confusion.

    Args:
        every: every message in every trial; those that were never asked, or met a provider error, are in no
            accuracy and no stability.
        others: the same from other orders of the candidates.
        data: what was asked.

    Returns:
        `n_messages`, `n_conversations`, `n_rows` (messages in all trials), `n_right`, `trials`, what
        `asked_counts` says of the rows, `outcomes`, the four axes as
        `axis -> domain:<id> -> numbers`, `workflows`, `confusion`, and `notes`: for what is None, why.
    """
    judged = [one for one in every if is_scored(one.outcome)]
    pairs = pairs_of_orders(judged, others)
    table = workflow_table(judged, data)
    domains = [None, *sorted({one.example.domain for one in every})]
    axes: dict[str, dict[str, Any]] = {"cost": {}, "latency": {}, "accuracy": {}, "stability": {}}
    for domain in domains:
        chosen = [one for one in judged if domain in (None, one.example.domain)]
        name = f"domain:{domain or 'all'}"
        labelled = [one for one in every if domain in (None, one.example.domain)]
        axes["cost"][name] = cost(labelled)
        axes["latency"][name] = latency(labelled)
        axes["accuracy"][name] = {
            **accuracy(labelled),
            "macro_f1": macro_f1(table, domain) if chosen else None,
        }
        axes["stability"][name] = stability(
            labelled, [pair for pair in pairs if domain in (None, pair[0].example.domain)]
        )
    outcomes = Counter(one.outcome for one in every)
    return {
        "n_messages": len({one.example.id for one in every}),
        "n_conversations": len({one.example.conversation for one in every}),
        "n_rows": len(every),
        "n_right": sum(one.right for one in judged),
        "trials": len({one.trial for one in every}),
        **asked_counts(outcomes),
        "outcomes": dict(sorted(outcomes.items())),
        **axes,
        "workflows": table,
        "confusion": confusion(judged),
        "notes": _notes(axes, outcomes),
    }


def _notes(axes: dict[str, dict[str, Any]], outcomes: Counter[str]) -> dict[str, str]:
    """Why a number is missing, or counts what one might not expect."""
    whole = {axis: found["domain:all"] for axis, found in axes.items()}
    notes = {}
    if whole["cost"]["usd"] is None:
        notes["cost"] = "no row says what it cost"
    if not whole["latency"]["timed"]:
        notes["latency"] = "no row says how long it took"
    if whole["stability"]["trials"] < 2:
        notes["stability"] = "one trial says nothing of repeats: run with --trials K"
    if whole["stability"]["order"] is None:
        notes["order"] = "nothing was asked with another order of the candidates"
    if outcomes[MISSING]:
        notes["accuracy"] = f"{outcomes[MISSING]} messages have no row in a trial: counted as wrong"
    return notes
