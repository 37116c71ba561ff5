"""What a verdict says beside the state: exact match, and the published classes of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolgraph.benchmarks.workbench.tools import PUBLISHED, Toolset

_LAST_DAY, _NEXT_DAY = "2023-11-29", "2023-11-30"
_START = "13:00:00"
_OTHER_STARTS = ("09:00:00", "11:00:00", "15:00:00", "15:30:00")

ITERATION_LIMIT = "Agent stopped due to iteration limit or time limit."
CONTEXT_OVERFLOW = "Context window exceeded"


@dataclass(frozen=True)
class Classes:
    """Told from the texts of the calls alone.

    Args:
        exact_match: the calls that change something are those of the ground truth, in any order.
        no_actions: nothing was called.
        wrong_email: addresses at example.com (or the like) instead of the company's.
        end_date_minor_error: a period that ends a day late is all that is wrong.
        meeting_start_time_error: another start of a meeting is all that is wrong.
    """

    exact_match: bool
    no_actions: bool
    wrong_email: bool
    end_date_minor_error: bool
    meeting_start_time_error: bool


def classes_of(
    calls: Sequence[str], answer: Sequence[str], *, correct: bool, toolset: Toolset = PUBLISHED
) -> Classes:
    """The classes of one run.

    Args:
        calls: what it called, as text.
        answer: the ground truth, as text.
        correct: the verdict: only `exact_match` and `no_actions` are told of a correct run.
        toolset: the tools; of others than the published ones no class tells that knows the published data.
    """
    calls = [_one_line(text) for text in calls]
    answer = [_one_line(text) for text in answer]
    shown = str(calls)
    errs = not correct and toolset is PUBLISHED
    return Classes(
        exact_match=_acting(calls, toolset) == sorted(text.lower() for text in answer),
        no_actions=not calls,
        wrong_email=errs and "@example" in shown and "@atlas" not in shown,
        end_date_minor_error=errs and _is_there(calls, answer, _LAST_DAY, [_NEXT_DAY]),
        meeting_start_time_error=errs and _is_there(calls, answer, _START, _OTHER_STARTS),
    )


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _acting(calls: Sequence[str], toolset: Toolset) -> list[str]:
    """The calls whose tool changes something, lower-cased and sorted."""
    tools = toolset.tools
    return sorted(
        text.lower()
        for text in calls
        if (name := ".".join(text.split("(")[0].split(".")[:2])) in tools and tools[name].changes_state
    )


def _is_there(calls: Sequence[str], answer: Sequence[str], right: str, wrong: Sequence[str]) -> bool:
    """Whether every wanted call is there but for a wrong text instead of the right one."""
    return bool(answer) and all(
        right in text and any(text.replace(right, other) in calls for other in wrong) for text in answer
    )
