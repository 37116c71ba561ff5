"""Requirements on a model: "accuracy>=80%" passes or fails only if the whole 95 % interval is on one side."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolassay.errors import UsageError
from toolassay.metrics.confidence_interval import Interval
from toolassay.report.axes import Measured
from toolassay.tables import percent
from toolassay.text_formatting import two_digits

Status = Literal["pass", "fail", "not enough data", "not measured"]
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("accuracy", "side_effects", "attack_success", "pass_k"), "%"),
    "cost": "USD per 1,000 items",
    **dict.fromkeys(("latency_p50", "latency_p95"), "s"),
}
"""The unit of each quantity that a requirement may name."""

# "accuracy >= 80 %" matches, "accuracy = 80" does not: exact equality is never meant.
_RULE = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign><=|>=|<|>)\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%?)\s*")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on one quantity.

    Attributes:
        name: One of `NAMES`.
        is_most: Whether the bound is an upper one.
        is_strict: Whether the bound itself is excluded.
        bound: As a share from 0 to 1 for percentages, else in the unit of the quantity.
    """

    name: str
    is_most: bool
    is_strict: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Parse a requirement.

        Raises:
            UsageError: It is malformed, or names an unknown quantity.

        >>> Requirement.parse("side_effects <= 2%")
        Requirement(name='side_effects', is_most=True, is_strict=False, bound=0.02)
        """
        found = _RULE.fullmatch(text)
        if found is None:
            raise UsageError(
                f"'{text}' is no requirement", fix="write NAME<=NUMBER or NAME>=NUMBER, e.g. 'accuracy>=80%'"
            )
        name, number = found["name"], float(found["number"])
        if name not in NAMES:
            raise UsageError(f"'{name}' is no quantity of a model", fix=f"choose from {', '.join(NAMES)}")
        is_share = NAMES[name] == "%"
        if is_share and not found["percent"]:
            raise UsageError(f"'{text}' has no unit", fix=f"write {name}{found['sign']}{found['number']}%")
        if not is_share and found["percent"]:
            raise UsageError(f"{name} is no share", fix=f"write the number in {NAMES[name]}")
        bound = number / 100 if is_share else number
        return cls(name, found["sign"][0] == "<", len(found["sign"]) == 1, bound)

    def __str__(self) -> str:
        sign = ("<" if self.is_most else ">") + ("" if self.is_strict else "=")
        number = f"{100 * self.bound:g}%" if NAMES[self.name] == "%" else f"{self.bound:g}"
        return f"{self.name}{sign}{number}"

    def is_met_by(self, value: float) -> bool:
        """Whether a value is on the required side.

        >>> Requirement.parse("cost<=5").is_met_by(5.0), Requirement.parse("cost<5").is_met_by(5.0)
        (True, False)
        """
        return not self.is_strict if value == self.bound else (value < self.bound) == self.is_most


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement and a model.

    Attributes:
        rule: The requirement as text.
        status: "pass" or "fail" if the whole interval is on one side of the bound.
        value: The quantity with its interval, in the unit of `NAMES` as a share or number.
        n: Number of items behind the quantity.
        n_needed: Number of such items with which the interval would be on one side, if the value stays; None
            if no number would do, or if it is decided.
        text: One line for people.
        is_possible: Whether the benchmark has such a quantity.
    """

    rule: str
    status: Status
    value: Interval
    n: int
    n_needed: int | None
    text: str
    is_possible: bool = True

    def to_json(self) -> dict[str, Any]:
        """The check as an object of `report.json`."""
        names = ("rule", "status", "n", "n_needed", "text")
        return {**{name: getattr(self, name) for name in names}, **self.value.to_json()}


def check(requirement: Requirement, measured: Measured) -> Check:
    """Check a requirement.

    >>> check(Requirement.parse("accuracy>=80%"), Measured(Interval(0.85, 0.75, 0.92), 60)).text
    'not enough data: 85.0 % (75.0 to 92.0) of 60; about 240 would be needed'
    """
    value, low, high = measured.interval
    status: Status = "not measured"
    needed, text = None, f"not measured{f': {measured.why}' * bool(measured.why)}"
    if value is not None:
        high = math.inf if measured.is_at_least else high
        text = _shown(requirement.name, value, low, high, measured)
        sides = {requirement.is_met_by(one) for one in (value, low, high) if one is not None}
        status = "not enough data" if len(sides) == 2 else "pass" if True in sides else "fail"
        if len(sides) == 2 and measured.is_at_least:
            text += "; requests of unknown cost are not in it: run with --prices FILE"
        elif len(sides) == 2:
            needed = _needed(requirement, measured, value)
            wanted = "the value is the bound itself"
            text += f"; {wanted if needed is None else f'about {two_digits(needed)} would be needed'}"
        text = f"{status}: {text}"
    is_possible = measured.is_possible or value is not None
    return Check(str(requirement), status, measured.interval, measured.n, needed, text, is_possible)


def _needed(requirement: Requirement, measured: Measured, value: float) -> int | None:
    """The n at which the bound of the interval beyond the requirement's reaches it: widths shrink with √n."""
    _, low, high = measured.interval
    distance = abs(value - requirement.bound)
    beyond = high if (value < requirement.bound) else low
    if not distance or beyond is None:
        return None
    if math.isinf(beyond):
        return max(measured.least_n, measured.n + 1)
    return max(measured.n + 1, math.ceil(round(measured.n * (abs(beyond - value) / distance) ** 2, 6)))


def _shown(name: str, value: float, low: float | None, high: float | None, measured: Measured) -> str:
    def shown(number: float) -> str:
        if NAMES[name] == "%":
            return percent(number, sign="")
        return "unlimited" if math.isinf(number) else f"{number:.3g}"

    unit = {"%": "%", "s": "s"}.get(NAMES[name], "USD")
    bounds = f" ({shown(low)} to {shown(high)})" if low is not None and high is not None else ""
    return f"{'at least ' * measured.is_at_least}{shown(value)} {unit}{bounds} of {measured.n:,}"


def outcome_of(checks: Sequence[Check]) -> Status:
    """What the checks of a model say together: one failure fails, one undecided check leaves it undecided.

    >>> outcome_of([])
    'pass'
    """
    statuses = {one.status for one in checks}
    order: tuple[Status, ...] = ("fail", "not measured", "not enough data")
    return next((status for status in order if status in statuses), "pass")
