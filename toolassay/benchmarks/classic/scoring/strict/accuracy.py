"""Strict accuracy: by message, conversation and workflow; quality of the choice of none; confusions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome, by_message, means
from toolassay.runs.outcomes import is_scored


def accuracy(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Shares of right choices, with intervals, and what the wrong ones are.

    Args:
        judged: every message in every trial; those that are not scored (`runs.asked`) are only in
            `outcomes`, and a conversation with such a message is not counted.

    Returns:
        `messages` (every message counts the same), `by_domain` and `by_workflow` (every domain, every wanted
        workflow counts the same), `conversations` (all messages of a conversation are right), `outcomes`
        and `none`.
    """
    outcomes = dict(sorted(Counter(one.outcome for one in judged).items()))
    cut = {(one.example.conversation, one.trial) for one in judged if not is_scored(one.outcome)}
    judged = [one for one in judged if is_scored(one.outcome)]
    whole: Counter[tuple[str, int]] = Counter()
    for one in judged:
        whole[one.example.conversation, one.trial] += not one.right
    first = {(one.example.conversation, one.trial): one for one in reversed(judged)}

    def conversation(one: MessageOutcome) -> float | None:
        place = one.example.conversation, one.trial
        return float(not whole[place]) if first[place] is one and place not in cut else None

    def right(one: MessageOutcome) -> float:
        return float(one.right)

    return {
        **means(
            judged,
            {"messages": right, "conversations": conversation},
            {
                "by_domain": (right, lambda one: one.example.domain),
                "by_workflow": (right, lambda one: one.wanted),
            },
        ),
        "outcomes": outcomes,
        "none": none_quality(judged),
    }


def none_quality(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """How well an agent knows when to start nothing.

    Returns:
        `wanted` and `chosen` (how often none was right, and chosen), `precision`, `recall` and `f1` of
        choosing it, `false_starts` (a workflow was started where none is right), `missed_starts` (none was
        chosen where a workflow is right) and `wrong_starts` (a workflow where another one is right), each
        also as a share of what it could have happened to.
    """
    unlabelled = [one for one in judged if one.wanted is None]
    labelled = [one for one in judged if one.wanted is not None]
    chosen = [one for one in judged if one.answered and one.choice is None]
    hits = sum(one.right for one in chosen)
    false = sum(one.choice is not None for one in unlabelled)
    missed = len(chosen) - hits
    wrong = sum(one.choice is not None and not one.right for one in labelled)
    return {
        "wanted": len(unlabelled),
        "chosen": len(chosen),
        **precision_recall(hits, len(chosen), hits, len(unlabelled)),
        "false_starts": false,
        "false_start_share": share(false, len(unlabelled)),
        "missed_starts": missed,
        "missed_start_share": share(missed, len(labelled)),
        "wrong_starts": wrong,
        "wrong_start_share": share(wrong, len(labelled)),
    }


def precision_recall(hits: int, chosen: int, found: int, wanted: int) -> dict[str, float | None]:
    """Precision `hits / chosen`, recall `found / wanted`, and F1 between them; None where there is nothing.

    >>> precision_recall(1, 2, 1, 1)
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}
    """
    precision, recall = share(hits, chosen), share(found, wanted)
    f1 = None
    if wanted:
        total = (precision or 0.0) + (recall or 0.0)
        f1 = 2 * (precision or 0.0) * (recall or 0.0) / total if total else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def share(part: int, whole: int) -> float | None:
    """None of nothing."""
    return part / whole if whole else None


def workflow_table(judged: Sequence[MessageOutcome], data: ClassicData) -> dict[str, dict[str, Any]]:
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


def phrasings_of(judged: Sequence[MessageOutcome]) -> dict[str, list[float]]:
    """By workflow: of each message whose first label it is, the share of its trials that are right."""
    found: dict[str, list[float]] = defaultdict(list)
    for trials in by_message(judged):
        if (wanted := trials[0].wanted) is not None:
            found[wanted].append(fmean(one.right for one in trials))
    return found


def phrasing_sensitivity(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
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


def confusion(judged: Sequence[MessageOutcome]) -> list[dict[str, Any]]:
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
