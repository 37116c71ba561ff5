"""What a reader must know about a row before comparing it; every table and picture shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ON_PUBLISHED_REQUESTS = 31.4
"""Percent of the published tasks on a workplace that the offline agent does right, strictly."""
ON_REWORDED_REQUESTS = 36.0
"""Percent of 100 bundled tasks that it does right as a second author worded them."""
WORDINGS = "wordings"
OUR_WORDINGS = "toolassay"
"""A part of signatures: the offline agent's rules were written for such requests."""
# The bundled tasks, for scores made before signatures had that part.
_BUNDLED_TASKS = frozenset({"d2008ac9f078"})


class RowMark(NamedTuple):
    """A mark on a row.

    Attributes:
        sign: stands behind the name.
        note: what it means, one line.
        is_baseline: the row is of a built-in program, which is never ranked.
    """

    sign: str
    note: str
    is_baseline: bool = False

    @property
    def line(self) -> str:
        """The sign and what it means, to stand below a table."""
        return f"{self.sign} {self.note}"


BASELINE = RowMark(
    "(baseline)",
    "built-in baselines, not ranked: nothing (uses no tool) and random (draws tools with a seed)",
    is_baseline=True,
)
BUILT_IN_PROGRAM = RowMark("(built in)", "a program of toolassay, not a model: not ranked", is_baseline=True)
RULES_AT_HAND = RowMark(
    "†",
    "built in, not ranked: its rules were written for these requests; "
    f"{ON_REWORDED_REQUESTS:g} % right on reworded ones, {ON_PUBLISHED_REQUESTS:g} % on the published ones",
    is_baseline=True,
)
NO_TOOLS = "tools_missing"
"""A part of signatures: the tools that the run offered never reached its model."""
TOOLS_MISSING = RowMark(
    "‡",
    "the server dropped the tools: no call was made, and the prompts were too short to hold them; "
    "the scores do not measure the model",
)
LOCAL = "local: computed on this machine by a built-in model; not to be compared with a server's seconds."
"""What is said below a table with such times."""


def mark_of(model: str, signature: Mapping[str, str]) -> RowMark | None:
    """The mark of a model's row, by what its scores were made with.

    Args:
        model: its name.
        signature: the parts of the signature of its scores, by name.

    >>> mark_of("offline", {"wordings": "toolassay"}).sign
    '†'
    >>> mark_of("random", {}).is_baseline, mark_of("offline", {}).is_baseline, mark_of("gpt-4", {})
    (True, True, None)
    >>> mark_of("gpt-4", {"tools_missing": "yes"}).sign
    '‡'
    """
    from toolassay.models.registry import BASELINES, BUILT_IN

    if model in BASELINES:
        return BASELINE
    if model not in BUILT_IN:
        return TOOLS_MISSING if NO_TOOLS in signature else None
    at_hand = signature.get(WORDINGS) == OUR_WORDINGS or signature.get("tasks") in _BUNDLED_TASKS
    return RULES_AT_HAND if at_hand else BUILT_IN_PROGRAM


def tools_part(is_missing: bool) -> dict[str, str]:
    """The part of a signature that says whether the tools were missing; none where they were not."""
    return {NO_TOOLS: "yes"} if is_missing else {}


def marked(name: str, mark: RowMark | None) -> str:
    """A name with its mark.

    >>> marked("random", BASELINE), marked("gpt-4", None)
    ('random (baseline)', 'gpt-4')
    """
    return name if mark is None else f"{name} {mark.sign}"
