"""Strict accuracy by message, conversation and workflow; quality of the choice of none; confusion matrix."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.scoring.strict.outcomes import MessageOutcome, by_message, means
from toolassay.runs.outcomes import is_scored


def accuracy(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """Shares of correct choices with intervals, and the kinds of wrong ones.

    Args:
        judged: every message in every trial. Those that are not scored (`runs.outcomes`) only count in
            `outcomes`, and a conversation with such a message does not count in `conversations`.

    Returns:
        `messages` (all messages weigh the same), `by_domain` and `by_workflow` (all domains, all wanted
        workflows weigh the same), `conversations` (share with all messages correct), `outcomes` and `none`.
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
    """How well an agent recognises that no workflow should start.

    Returns:
        `wanted` and `chosen` (how often none was correct, and chosen); `precision`, `recall` and `f1` of that
        choice; `false_starts` (a workflow was started though none is correct), `missed_starts` (none was
        chosen though a workflow is correct) and `wrong_starts` (a workflow was started though another is
        correct), each also as a share of the messages it could have happened to.
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
    """Precision `hits / chosen`, recall `found / wanted`, and their harmonic mean F1; None if undefined.

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
    """The quotient; None if `whole` is 0."""
    return part / whole if whole else None


def workflow_table(judged: Sequence[MessageOutcome], data: ClassicData) -> dict[str, dict[str, Any]]:
    """Statistics of every workflow of the data, by id.

    Returns:
        `name`, `domain`, `support` (runs whose primary label it is), `chosen`, `precision` (of the runs that
        chose it, the share for which it is accepted), `recall` (of its support, the share that is correct by
        any label), `f1`. Also `phrasings` (number of messages whose primary label it is), `always_right`
        (number of these correct in all trials) and `spread` (standard deviation of their shares of correct
        answers).
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
    """By workflow: for each message whose primary label it is, the share of correct trials."""
    found: dict[str, list[float]] = defaultdict(list)
    for trials in by_message(judged):
        if (wanted := trials[0].wanted) is not None:
            found[wanted].append(fmean(one.right for one in trials))
    return found


def phrasing_sensitivity(judged: Sequence[MessageOutcome]) -> dict[str, Any]:
    """How much the wording of a request for a workflow matters.

    Returns:
        `workflows` (with at least two phrasings); the shares of them that are correct for all phrasings
        (`always_right`), for none (`never_right`) and for some (`sometimes_right`); and the mean `spread`.
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
    """How often each wanted workflow (the primary label) met each choice; only combinations that occur.

    None means no workflow. For an outcome without a choice, `outcome` has its name. A choice that is correct
    by the second label has `right`.
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
    """The mean F1 of the workflows with support."""
    found = [row["f1"] for row in table.values() if row["support"] and domain in (None, row["domain"])]
    return fmean(found) if found else None
