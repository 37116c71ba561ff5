"""Why the strict verdict on a run is another one than the published verdict."""

from __future__ import annotations

from toolassay.benchmarks.workbench.judge.compat import CompatVerdict
from toolassay.benchmarks.workbench.judge.strict import StrictVerdict

UNFINISHED = "some of the wanted changes and no other: compat counts them as a side effect"
BESIDE = "the wanted state but for what compat does not compare (numbers, times)"
ORDER = "the wanted changes in another order, or under other labels, or mail that replaced other mail"
REVERSED = "changed and changed back, under other labels"


def disagreement(compat: CompatVerdict, strict: StrictVerdict) -> str | None:
    """The class of a difference between two verdicts on one run; None if they agree.

    Args:
        compat: the published verdict.
        strict: the strict one.
    """
    if (compat.correct, compat.side_effects) == (strict.correct, strict.side_effects):
        return None
    if strict.unwanted:
        return BESIDE
    if strict.missing:
        return UNFINISHED if compat.side_effects else BESIDE
    return ORDER if strict.wanted else REVERSED
