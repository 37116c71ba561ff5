"""How alike two requests must be to count as near duplicates, by what is known of their plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from toolassay.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DEFAULT_THRESHOLD = 0.6
SAME_PLAN_LESS = 0.1
OTHER_PLAN_MORE = 0.15

Plans = Literal["same", "other", "unknown"]
PLANS: tuple[Plans, ...] = ("unknown", "other", "same")
"""What stands for each where there are many: its place here."""


@dataclass(frozen=True)
class Bars:
    """The least likeness at which two requests are near duplicates.

    With the same plan (tools, links and values) the wording may be further apart; with another plan, or
    with other figures where a plan is not known, it must be closer: requests for other tools or other
    values are no duplicates to those who test tools.

    >>> Bars(0.6).of("same"), Bars(0.6).of("unknown"), Bars(0.6).of("other")
    (0.5, 0.6, 0.75)

    Raises:
        UsageError: a threshold that is no share above 0.
    """

    threshold: float = DEFAULT_THRESHOLD

    def __post_init__(self) -> None:
        if not 0.2 <= self.threshold <= 1:
            raise UsageError(
                f"--threshold {self.threshold:g} is not between 0.2 and 1",
                fix=f"take {DEFAULT_THRESHOLD}, or more for fewer duplicates",
            )

    def of(self, plans: Plans) -> float:
        """The bar for two requests whose plans are the same, others, or not both known."""
        if plans == "same":
            return round(self.threshold - SAME_PLAN_LESS, 9)
        if plans == "other":
            return round(min(self.threshold + OTHER_PLAN_MORE, (1 + self.threshold) / 2), 9)
        return self.threshold


@dataclass(frozen=True)
class Known:
    """What is known of each request: digests of its plan (see `PlanDigest`) and its figures; 0: nothing."""

    tools: npt.NDArray[np.uint64]
    whole: npt.NDArray[np.uint64]
    figures: npt.NDArray[np.uint64]

    def plans(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """How the plans of each of many pairs stand to each other, as places in `PLANS`."""
        import numpy as np

        differ = np.where(self.others(first, second), PLANS.index("other"), PLANS.index("unknown"))
        return np.where(self.same(first, second), PLANS.index("same"), differ).astype(np.int8)

    def same(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Where both plans are known, and the same."""
        same: npt.NDArray[np.bool_] = (self.whole[first] != 0) & (self.whole[first] == self.whole[second])
        return same

    def others(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Where the plans are known to differ, or, where they are not known, the figures do."""
        whole, other_whole = self.whole[first], self.whole[second]
        tools, other_tools = self.tools[first], self.tools[second]
        known = (whole != 0) & (other_whole != 0)
        differ: npt.NDArray[np.bool_] = known & (whole != other_whole)
        differ |= (tools != 0) & (other_tools != 0) & (tools != other_tools)
        differ |= ~known & (self.figures[first] != self.figures[second])
        return differ

    def bars(
        self, bars: Bars, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """The bar for each of many pairs."""
        import numpy as np

        near = np.where(self.others(first, second), bars.of("other"), bars.of("unknown"))
        return np.where(self.same(first, second), bars.of("same"), near)
