"""Each workflow for itself, and what was taken for what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.strict.accuracy import precision_recall
from toolassay.benchmarks.classic.scoring.strict.judged import Judged, by_message


def workflow_table(judged: Sequence[Judged], data: ClassicData) -> dict[str, dict[str, Any]]:
    """Every workflow of the data, by its id.

    Returns:
        `name`, `domain`, `support` (runs whose first label it is), `chosen`, `precision` (of the runs that
        chose it, those where it is accepted), `recall` (of its support, those that are right, by either
        label), `f1`; and of its phrasings, the messages whose first label it is: `phrasings`, `always_right`
        (in all trials) and `spread`, the standard deviation of their shares of right answers.
    """
    chosen: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    support: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in judged:
        if one.choice is not None:
            chosen[one.choice] += 1
            accepted[one.choice] += one.right
        if one.wanted is not None:
            support[one.wanted] += 1
            right[one.wanted] += one.right
    phrasings = phrasings_of(judged)
    return {
        flow.id: {
            "name": flow.name,
            "domain": flow.domain,
            "support": support[flow.id],
            "chosen": chosen[flow.id],
            **precision_recall(accepted[flow.id], chosen[flow.id], right[flow.id], support[flow.id]),
            "phrasings": len(shares := phrasings.get(flow.id, [])),
            "always_right": sum(share == 1 for share in shares),
            "spread": pstdev(shares) if shares else None,
        }
        for flows in data.workflows.values()
        for flow in flows
    }


def phrasings_of(judged: Sequence[Judged]) -> dict[str, list[float]]:
    """By workflow: of each message whose first label it is, the share of its trials that are right."""
    found: dict[str, list[float]] = defaultdict(list)
    for trials in by_message(judged):
        if (wanted := trials[0].wanted) is not None:
            found[wanted].append(fmean(one.right for one in trials))
    return found


def phrasing_sensitivity(judged: Sequence[Judged]) -> dict[str, Any]:
    """How much it matters in which words a workflow is asked for.

    Returns:
        `workflows` with at least two phrasings; the shares of them that are right for all (`always_right`),
        for none (`never_right`) and for some (`sometimes_right`); and the mean `spread`.
    """
    several = [shares for shares in phrasings_of(judged).values() if len(shares) > 1]
    n = len(several)
    always, never = sum(min(found) == 1 for found in several), sum(max(found) == 0 for found in several)
    return {
        "workflows": n,
        "always_right": always / n if n else None,
        "never_right": never / n if n else None,
        "sometimes_right": (n - always - never) / n if n else None,
        "spread": fmean(map(pstdev, several)) if n else None,
    }


def confusion(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """What was wanted (the first label) and what was chosen, with how often; only what occurs.

    None stands for none; an outcome without a choice is named. A choice that is right by the second label
    is marked so.
    """
    pairs = Counter(
        (one.example.domain, one.wanted or "", one.choice or "", one.outcome, one.right) for one in judged
    )
    return [
        {
            "domain": domain,
            "wanted": wanted or None,
            "chosen": choice or None,
            "outcome": outcome,
            "right": right,
            "count": count,
        }
        for (domain, wanted, choice, outcome, right), count in sorted(pairs.items())
    ]


def macro_f1(table: dict[str, dict[str, Any]], domain: str | None = None) -> float | None:
    """The mean F1 of the workflows that are wanted at all."""
    found = [row["f1"] for row in table.values() if row["support"] and domain in (None, row["domain"])]
    return fmean(found) if found else None
