"""Requirements pass or fail only if the whole interval is on one side."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.reports.requirements import NAMES, Measured, Requirement, check, outcome_of


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sign", ["<=", ">=", "<", ">"])
def test_a_requirement_is_written_as_it_is_read(name: str, sign: str) -> None:
    of_tool = "(find a room)" if name == "calls" else ""
    text = f"{name}{of_tool}{sign}2.5{'%' if NAMES[name] == '%' else ''}"
    found = Requirement.parse(f"  {text.replace(sign, f' {sign} ')} ")
    assert str(found) == text
    assert Requirement.parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("accuracy=80%", "is no requirement"),
        ("speed<=3", "'speed' is no quantity of a model. Fix: choose from accuracy"),
        ("accuracy>=0.8", "has no unit. Fix: write accuracy>=0.8%"),
        ("cost<=5%", "cost is no share. Fix: write the number in USD per 1,000 items"),
    ],
)
def test_what_is_no_requirement_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Requirement.parse(text)


@pytest.mark.parametrize(
    ("rule", "interval", "status"),
    [
        # At the end of the scale each item counts, not what others might be.
        ("accuracy>=100%", (1.0, 0.4, 1.0), "pass"),
        ("accuracy>=100%", (0.9, 0.8, 1.0), "fail"),
        ("side_effects<=0%", (0.0, 0.0, 0.6), "pass"),
        ("side_effects<=0%", (0.1, 0.0, 0.3), "fail"),
        ("side_effects<=0.1%", (0.0, 0.0, 0.6), "not enough data"),
        ("accuracy>=80%", (0.9, 0.85, 0.95), "pass"),
        ("accuracy>=80%", (0.7, 0.6, 0.79), "fail"),
        ("accuracy>=80%", (0.9, 0.79, 0.95), "not enough data"),
        ("accuracy>=80%", (0.8, 0.8, 0.9), "pass"),
        ("accuracy>80%", (0.8, 0.8, 0.9), "not enough data"),
        ("side_effects<=2%", (0.0, 0.0, 0.16), "not enough data"),
        ("side_effects<=2%", (0.01, 0.0, 0.019), "pass"),
        ("latency_p95<=20", (15.0, 9.0, math.inf), "not enough data"),
        ("cost<=5", (4.0, None, None), "pass"),
        ("cost<=5", (None, None, None), "not measured"),
    ],
)
def test_the_whole_interval_decides(rule: str, interval: tuple[float | None, ...], status: str) -> None:
    found = check(Requirement.parse(rule), Measured(Interval(*interval), 60))
    assert found.status == status
    assert found.text.startswith(status)
    assert (found.n_needed is not None) == (
        status == "not enough data" and Requirement.parse(rule).bound != interval[0]
    )


def test_a_cost_that_may_be_higher_can_fail_but_not_pass() -> None:
    rule = Requirement.parse("cost<=5")
    assert check(rule, Measured(Interval(6.0, None, None), 9, is_at_least=True)).status == "fail"
    undecided = check(rule, Measured(Interval(4.0, None, None), 9, is_at_least=True))
    assert undecided.status == "not enough data"
    assert undecided.n_needed is None
    assert "at least 4 USD of 9; requests of unknown cost are not in it" in undecided.text


def test_what_was_not_measured_says_why() -> None:
    found = check(Requirement.parse("pass_k>=50%"), Measured(NOTHING, 0, "one trial says nothing"))
    assert found.text == "not measured: one trial says nothing"


@given(
    value=st.floats(0.01, 0.99),
    width=st.floats(0.001, 0.4),
    bound=st.integers(1, 99),
    n=st.integers(2, 10_000),
)
def test_the_number_of_items_that_it_names_would_decide(
    value: float, width: float, bound: int, n: int
) -> None:
    rule = Requirement.parse(f"accuracy>={bound}%")
    found = check(rule, Measured(Interval(value, value - width, value + width), n))
    if found.n_needed is None:
        assert found.status in ("pass", "fail") or value == rule.bound
        return
    assert found.n_needed > n
    narrow = width * math.sqrt(n / (found.n_needed * 1.001))
    assert check(rule, Measured(Interval(value, value - narrow, value + narrow), n)).status in (
        "pass",
        "fail",
    )


def test_one_failure_fails_and_one_undecided_requirement_leaves_it_undecided() -> None:
    rule = Requirement.parse("accuracy>=50%")
    good, bad, open_ = (
        check(rule, Measured(Interval(*interval), 9))
        for interval in ((0.9, 0.8, 1.0), (0.1, 0.0, 0.2), (0.5, 0.2, 0.8))
    )
    assert outcome_of([good, good]) == "pass"
    assert outcome_of([good, open_]) == "not enough data"
    assert outcome_of([good, open_, bad]) == "fail"
