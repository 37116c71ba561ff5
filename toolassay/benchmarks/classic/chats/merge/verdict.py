"""The verdict on one message: a real majority of those who chose something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolassay.benchmarks.classic.chats.answer import Answer

Ties = Literal["conflict", "first", "drop"]


@dataclass(frozen=True)
class Verdict:
    """What the annotators of one message say together.

    Args:
        label: id of a workflow, an empty text where none fits, None where there is a conflict.
        second: id of another workflow that is right too, or an empty text.
        voters: how many chose something under Workflow 1.
        flags: reasons to leave the conversation out.
        conflict: why there is no majority, empty where there is one. A conflict that was settled has a label.
    """

    label: str | None
    second: str
    voters: int
    flags: tuple[str, ...]
    conflict: str = ""


def decide(answers: Mapping[str, Answer], *, settle: bool = False, any_flag: bool = False) -> Verdict:
    """Put the answers on one message together.

    The label is what more than half of those chose who chose something under Workflow 1; "none of these" is
    such a choice, an empty cell is none. A second label is taken if more than half of them named it first or
    second, and the label is a workflow. A flag counts if more than half of those raised it who filled
    anything in the row.

    Args:
        answers: by annotator, in the order of the workbooks.
        settle: without a majority, of the choices with the most votes take that of the first annotator.
        any_flag: one annotator is enough for a flag.

    >>> decide({"a": Answer("w0"), "b": Answer("w1"), "c": Answer("w1")}).label
    'w1'
    >>> decide({"a": Answer("w0"), "b": Answer("w1")}).conflict
    'a tie'
    """
    flagged = Counter(flag for answer in answers.values() for flag in answer.flags)
    flags = tuple(sorted(flag for flag, number in flagged.items() if any_flag or 2 * number > len(answers)))
    chosen = [answer for answer in answers.values() if answer.first is not None]
    votes = Counter(answer.first for answer in chosen)
    if not votes:
        return Verdict(None, "", 0, flags, "nobody chose")
    most = max(votes.values())
    leading = [label for label, number in votes.items() if number == most]
    label, conflict = leading[0], ""  # in the order of the annotators
    if 2 * most <= len(chosen):
        conflict = "a tie" if len(leading) > 1 else "no majority"
        if not settle:
            return Verdict(None, "", len(chosen), flags, conflict)
    return Verdict(label, _second(chosen, label) if label else "", len(chosen), flags, conflict)


def _second(chosen: list[Answer], label: str) -> str:
    named = Counter(
        workflow
        for answer in chosen
        for workflow in (answer.first, answer.second)
        if workflow not in (None, "", label)
    )
    if not named:
        return ""
    second, number = min(named.items(), key=lambda item: (-item[1], item[0] or ""))
    return (second or "") if 2 * number > len(chosen) else ""
