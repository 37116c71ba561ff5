"""What a verdict says beside the state: exact match, and the published classes of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolassay.benchmarks.workbench.judge.error_rules import PUBLISHED, ErrorRules, Unknown
from toolassay.benchmarks.workbench.tools import PUBLISHED as PUBLISHED_TOOLS
from toolassay.benchmarks.workbench.tools import Toolset

ITERATION_LIMIT = "Agent stopped due to iteration limit or time limit."
CONTEXT_OVERFLOW = "Context window exceeded"
NOT_RUN = "not run"


@dataclass(frozen=True)
class Classes:
    """Told from the texts of the calls alone.

    Args:
        exact_match: the calls that change something are those of the ground truth, in any order.
        no_actions: nothing was called.
        wrong_email: an address was made up.
        end_date_minor_error: a period that ends a day late is all that is wrong.
        meeting_start_time_error: another start of a meeting is all that is wrong.
    """

    exact_match: bool
    no_actions: bool
    wrong_email: bool
    end_date_minor_error: bool
    meeting_start_time_error: bool


def classes_of(
    calls: Sequence[str],
    answer: Sequence[str],
    *,
    correct: bool,
    query: str = "",
    rules: ErrorRules = PUBLISHED,
    toolset: Toolset = PUBLISHED_TOOLS,
) -> Classes:
    """The classes of one run.

    Args:
        calls: what it called, as text.
        answer: the ground truth, as text.
        correct: the verdict: only `exact_match` and `no_actions` are told of a correct run.
        query: the request.
        rules: what the classes look for at this workplace.
        toolset: its tools.
    """
    calls = [_one_line(text) for text in calls]
    answer = [_one_line(text) for text in answer]
    failed = bool(answer) and not correct
    changing = [text for text in calls if _changes(text, toolset)]
    # What is looked for does no harm, so it is no guess; the published rule does not ask.
    sent = changing if isinstance(rules.wrong_email, Unknown) else calls
    return Classes(
        exact_match=sorted(text.lower() for text in changing) == sorted(text.lower() for text in answer),
        no_actions=not calls,
        wrong_email=not correct and rules.wrong_email.is_wrong(sent, f"{query} {answer}"),
        end_date_minor_error=failed and rules.end_date.is_all_that_is_wrong(calls, answer),
        meeting_start_time_error=failed and rules.meeting_start_time.is_all_that_is_wrong(calls, answer),
    )


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def _changes(text: str, toolset: Toolset) -> bool:
    """Whether the tool of a call changes something."""
    tool = toolset.tools.get(".".join(text.split("(")[0].split(".")[:2]))
    return tool is not None and tool.changes_state
