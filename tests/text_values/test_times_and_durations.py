"""Times of day and lengths of time, with the values they may mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from toolassay.text_values.times import Duration, find_durations, find_times


def minutes(hour: int, minute: int = 0) -> float:
    return float(60 * hour + minute)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("7:45 pm", [(minutes(19, 45),)]),
        ("12 am", [(minutes(0),)]),
        ("12 pm", [(minutes(12),)]),
        ("10:30", [(minutes(10, 30),)]),
        ("9:30", [(minutes(9, 30), minutes(21, 30))]),
        ("20 past 8 pm", [(minutes(20, 20),), (minutes(20),)]),
        ("7 o'clock", [(minutes(7), minutes(19))]),
        ("11:05 am or noon", [(minutes(11, 5),), (minutes(12),)]),
        ("midnight", [(0.0, 1440.0)]),
        ("24:30", []),
        ("at 7", []),
    ],
)
def test_times_that_a_value_states(text: str, times: list[tuple[float, ...]]) -> None:
    assert [found for _, found in find_times(text)] == times


@pytest.mark.parametrize(
    ("text", "time"), [("at 7", minutes(19)), ("half 7", minutes(19, 30)), ("at 1930", minutes(19, 30))]
)
def test_times_that_only_a_request_states(text: str, time: float) -> None:
    assert not list(find_times(text))
    assert any(time in found for _, found in find_times(text, lenient=True))


def test_an_unmarked_time_may_be_in_the_evening_in_a_request_only() -> None:
    assert next(found for _, found in find_times("10:30", lenient=True)) == (minutes(10, 30), minutes(22, 30))


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("2 hours and 30 minutes", [Duration(Decimal(9000))]),
        ("3 quarters of an hour", [Duration(Decimal(2700))]),
        ("a fortnight", [Duration(Decimal(14 * 86_400))]),
        ("2 years", [Duration(Decimal(0), Decimal(24))]),
        ("an hour and a half, then 3 hours", [Duration(Decimal(5400)), Duration(Decimal(10_800))]),
        ("4 nights", [Duration(Decimal(4 * 86_400))]),
        ("1 hour or 30 minutes", [Duration(Decimal(3600)), Duration(Decimal(1800))]),
        ("5 metres", []),
    ],
)
def test_lengths_of_time(text: str, lengths: list[Duration]) -> None:
    assert [length for _, _, length in find_durations(text)] == lengths


def test_a_month_may_have_thirty_days_and_a_year_365() -> None:
    assert Duration(Decimal(0), Decimal(3)).is_same(Duration(Decimal(90 * 86_400)))
    assert Duration(Decimal(0), Decimal(12)).is_same(Duration(Decimal(365 * 86_400)))
    assert not Duration(Decimal(0), Decimal(1)).is_same(Duration(Decimal(31 * 86_400)))


def test_a_length_in_the_units_of_parameters() -> None:
    assert set(Duration(Decimal(5400)).numbers()) == {Decimal(5400), Decimal(90), Decimal("1.5")}
