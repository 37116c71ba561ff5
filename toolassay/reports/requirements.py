"""Requirements on a model: "accuracy>=80%" passes or fails only if the whole 95 % interval is on one side."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from toolassay.console.tables import percent
from toolassay.console.text_formatting import count_of, two_digits
from toolassay.errors import UsageError
from toolassay.metrics.confidence_interval import NOTHING, Interval, mean_intervals
from toolassay.reports.axes import Axes

Status = Literal["pass", "fail", "not enough data", "not measured"]
NAMES: Mapping[str, str] = {
    **dict.fromkeys(("accuracy", "facts", "side_effects", "attack_success", "pass_k"), "%"),
    "cost": "USD per 1,000 items",
    **dict.fromkeys(("latency_p50", "latency_p95"), "s"),
    "calls": "calls",
}
"""The unit of each quantity that a requirement may name; `calls` has a tool, as in "calls(refund)<=0"."""
# Confidence of the intervals against which a requirement is judged.
_LEVEL = 0.95

# "accuracy >= 80 %" and "calls(refund) <= 0" match, "accuracy = 80" does not: exact equality is never meant.
_RULE = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\((?P<tool>[^()]+)\))?\s*(?P<sign><=|>=|<|>)\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%?)\s*"
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on one quantity.

    Attributes:
        name: One of `NAMES`.
        is_most: Whether the bound is an upper one.
        is_strict: Whether the bound itself is excluded.
        bound: As a share from 0 to 1 for percentages, else in the unit of the quantity.
        tool: The tool whose calls are counted; empty for other quantities.
    """

    name: str
    is_most: bool
    is_strict: bool
    bound: float
    tool: str = ""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Parse a requirement.

        Raises:
            UsageError: It is malformed, or names an unknown quantity.

        >>> Requirement.parse("side_effects <= 2%")
        Requirement(name='side_effects', is_most=True, is_strict=False, bound=0.02, tool='')
        """
        rule = _RULE.fullmatch(text)
        if rule is None:
            raise UsageError(
                f"'{text}' is no requirement", fix="write NAME<=NUMBER or NAME>=NUMBER, e.g. 'accuracy>=80%'"
            )
        name = rule["name"]
        number = float(rule["number"])
        if name not in NAMES:
            raise UsageError(f"'{name}' is no quantity of a model", fix=f"choose from {', '.join(NAMES)}")
        tool = (rule["tool"] or "").strip()
        if bool(tool) != (name == "calls"):
            raise UsageError(
                f"'{text}' is no requirement", fix="write calls(TOOL)<=NUMBER; other names have no tool"
            )
        is_share = NAMES[name] == "%"
        if is_share and not rule["percent"]:
            raise UsageError(f"'{text}' has no unit", fix=f"write {name}{rule['sign']}{rule['number']}%")
        if not is_share and rule["percent"]:
            raise UsageError(f"{name} is no share", fix=f"write the number in {NAMES[name]}")
        bound = number / 100 if is_share else number
        return cls(name, rule["sign"][0] == "<", len(rule["sign"]) == 1, bound, tool)

    def __str__(self) -> str:
        sign = ("<" if self.is_most else ">") + ("" if self.is_strict else "=")
        number = f"{100 * self.bound:g}%" if NAMES[self.name] == "%" else f"{self.bound:g}"
        return f"{self.quantity}{sign}{number}"

    @property
    def quantity(self) -> str:
        """The key of the quantity among those of a model."""
        return f"{self.name}({self.tool})" if self.tool else self.name

    @property
    def is_of_each(self) -> bool:
        """Whether it is about each single item: a share at the end of its scale, which no sample proves."""
        return NAMES[self.name] == "%" and self.bound == (0 if self.is_most else 1)

    def is_met_by(self, value: float) -> bool:
        """Whether a value is on the required side.

        >>> Requirement.parse("cost<=5").is_met_by(5.0), Requirement.parse("cost<5").is_met_by(5.0)
        (True, False)
        """
        return not self.is_strict if value == self.bound else (value < self.bound) == self.is_most


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity of a model, against which requirements are checked.

    Attributes:
        interval: Value with its 95 % interval; a bound that the data do not limit is infinite; no bounds if
            nothing is known of the spread.
        n: Number of items, attacks or calls behind it.
        why: Why it was not measured; empty if it was.
        is_at_least: Whether the true value may be higher, e.g. a cost with requests of unknown price.
        least_n: Smallest n for which both bounds are finite.
        is_possible: Whether the benchmark has such a quantity.
        at_best: The value if everything undecided is right; a requirement passes only at both.
    """

    interval: Interval
    n: int
    why: str = ""
    is_at_least: bool = False
    least_n: int = 0
    is_possible: bool = True
    at_best: Interval = NOTHING


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement and a model.

    Attributes:
        rule: The requirement as text.
        status: "pass" or "fail" if the whole interval is on one side of the bound; of a requirement of each
            item, if the value is.
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
    n_needed = None
    text = f"not measured{f': {measured.why}' * bool(measured.why)}"
    if value is not None:
        high = math.inf if measured.is_at_least else high
        text = _shown(requirement.name, value, low, high, measured)
        ends = [value, low, high, *measured.at_best]
        if requirement.is_of_each:
            ends = [value, measured.at_best.value]
        sides = {requirement.is_met_by(end) for end in ends if end is not None}
        if measured.at_best.value not in (None, value):
            text += f", {percent(measured.at_best.value)} if all that is undecided is right"
        status = "pass" if True in sides else "fail"
        if len(sides) == 2:
            status = "not enough data"
        if len(sides) == 2 and measured.is_at_least:
            text += "; requests of unknown cost are not in it: run with --prices FILE"
        elif len(sides) == 2:
            n_needed = _needed(requirement, measured, value)
            if n_needed is None:
                text += "; the value is the bound itself"
            else:
                text += f"; about {two_digits(n_needed)} would be needed"
        text = f"{status}: {text}"
    is_possible = measured.is_possible or value is not None
    return Check(str(requirement), status, measured.interval, measured.n, n_needed, text, is_possible)


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
    def shown_number(number: float) -> str:
        if NAMES[name] == "%":
            return percent(number, sign="")
        return "unlimited" if math.isinf(number) else f"{number:.3g}"

    if name == "calls":
        return f"{value:,.0f} in {count_of(measured.n, 'run')}"
    unit = {"%": "%", "s": "s"}.get(NAMES[name], "USD")
    bounds = f" ({shown_number(low)} to {shown_number(high)})" if low is not None and high is not None else ""
    return f"{'at least ' * measured.is_at_least}{shown_number(value)} {unit}{bounds} of {measured.n:,}"


def outcome_of(checks: Sequence[Check]) -> Status:
    """What the checks of a model say together: one failure fails, one undecided check leaves it undecided.

    >>> outcome_of([])
    'pass'
    """
    statuses = {check.status for check in checks}
    order: tuple[Status, ...] = ("fail", "not measured", "not enough data")
    return next((status for status in order if status in statuses), "pass")


# What is checked


def quantities(
    axes: Axes, seconds: Sequence[float], dollars: Sequence[float], *, resamples: int = 2_000
) -> dict[str, Measured]:
    """The quantities of a model by name, as in `NAMES`.

    Args:
        axes: The five axes of the model.
        seconds: Time of each answered item at the server, of all trials.
        dollars: Cost of each item; empty if a cost is unknown.
        resamples: Number of resamples of the bootstrap.
    """
    missing = (axes.outcomes and axes.outcomes.problem) or "its plans were not executed"
    outcomes = axes.outcomes if axes.is_by_outcome and axes.is_executed else None
    accuracy = Measured(axes.accuracy, axes.n_judged, at_best=outcomes.at_best if outcomes else NOTHING)
    facts = Measured(NOTHING, 0, "no fact is known that an answer must state", is_possible=False)
    if outcomes is not None and outcomes.facts.value is not None:
        facts = Measured(outcomes.facts, outcomes.n_facts, at_best=outcomes.facts_at_best)
    if axes.accuracy.value is None:
        accuracy = Measured(NOTHING, 0, missing if axes.is_by_outcome else "no item was scored")
    harm = Measured(axes.harm, axes.n_judged)
    if axes.harm.value is None:
        why = "nothing was executed"
        if axes.is_by_outcome:
            why = "the executor cannot see the state" if axes.is_executed else missing
        harm = Measured(NOTHING, 0, why, is_possible=axes.is_by_outcome)
    stable = axes.stability and Measured(axes.stability.pass_hat_k, axes.n_scored)
    return {
        "accuracy": accuracy,
        "facts": facts,
        "side_effects": harm,
        "attack_success": attack_success(axes),
        "pass_k": stable or Measured(NOTHING, 0, axes.notes.get("stability", "one trial")),
        "cost": _cost_of(axes, dollars, resamples),
        "latency_p50": _latency_of(axes, seconds, 0.5),
        "latency_p95": _latency_of(axes, seconds, 0.95),
    }


def calls_of(tool: str, calls: Mapping[str, int], runs: int, known_tools: Container[str] | None) -> Measured:
    """How often a model called a tool over all its runs: an observed count, without an interval.

    Args:
        tool: Its name.
        calls: Number of calls by tool.
        runs: Number of runs of items; 0 if no answers are known.
        known_tools: The tools of the data; None if no file lists them.
    """
    if known_tools is not None and tool not in known_tools:
        return Measured(NOTHING, 0, "the tool list has no such tool", is_possible=False)
    if not runs:
        return Measured(NOTHING, 0, "its predictions are not there")
    return Measured(Interval(calls.get(tool, 0), None, None), runs)


def attack_success(axes: Axes) -> Measured:
    """The share of attacks that were not resisted."""
    security = axes.security
    value, low, high = security.score if security else NOTHING
    if security is None or value is None:
        return Measured(NOTHING, 0, axes.notes.get("security", "no attacks were made"))
    share = Interval(1 - value, None if high is None else 1 - high, None if low is None else 1 - low)
    return Measured(share, security.n)


def _cost_of(axes: Axes, dollars: Sequence[float], resamples: int) -> Measured:
    if axes.cost is None:
        return Measured(NOTHING, 0, axes.notes.get("cost", "no ledger"))
    value = axes.cost.per_1000
    interval = Interval(value, None, None)
    if len(dollars) > 1 and not axes.cost.is_at_least:
        ((_, low, high),) = mean_intervals([1_000 * np.asarray(dollars)], resamples=resamples)
        if low is not None and high is not None:
            interval = Interval(value, min(low, value), max(high, value))
    return Measured(interval, len(dollars) or axes.items, is_at_least=axes.cost.is_at_least)


def _latency_of(axes: Axes, seconds: Sequence[float], quantile: float) -> Measured:
    if axes.latency is None:
        return Measured(NOTHING, 0, axes.notes.get("latency", "no ledger"))
    if axes.latency.is_local:
        return Measured(NOTHING, 0, "computed on this machine, not by a server")
    value = axes.latency.p50 if quantile == 0.5 else axes.latency.p95
    if not seconds:
        return Measured(Interval(value, None, None), axes.items)
    low, high = quantile_bounds(seconds, quantile)
    interval = Interval(value, min(low, value), max(high, value))
    return Measured(interval, len(seconds), least_n=least_items(quantile))


def quantile_bounds(values: Sequence[float], quantile: float) -> tuple[float, float]:
    """The 95 % interval of a quantile by order statistics, for any distribution.

    The number of values below the true quantile is binomial (Hahn and Meeker, 1991, section 5.2). The upper
    bound is infinite if even the largest value may be below the quantile.

    >>> quantile_bounds([1.0] * 20, 0.95)
    (1.0, inf)
    """
    from scipy.stats import binom

    ordered = sorted(values)
    n = len(values)
    tail = (1 - _LEVEL) / 2
    below = int(binom.ppf(tail, n, quantile))
    above = int(binom.ppf(1 - tail, n, quantile))
    low = ordered[below - 1] if below >= 1 else 0.0
    return low, (ordered[above] if above < n else math.inf)


def least_items(quantile: float) -> int:
    """The smallest number of values for which the upper bound of a quantile is finite.

    >>> least_items(0.95), least_items(0.5)
    (72, 6)
    """
    return math.floor(math.log((1 - _LEVEL) / 2) / math.log(quantile)) + 1
