"""How often the choice is right, and how good "none" is as a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolassay.benchmarks.classic.scoring.strict.judged import Judged
from toolassay.benchmarks.classic.scoring.strict.means import means
from toolassay.runs.asked import is_scored


def accuracy(judged: Sequence[Judged]) -> dict[str, Any]:
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

    def conversation(one: Judged) -> float | None:
        place = one.example.conversation, one.trial
        return float(not whole[place]) if first[place] is one and place not in cut else None

    def right(one: Judged) -> float:
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


def none_quality(judged: Sequence[Judged]) -> dict[str, Any]:
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
