"""Days that a text states, and days relative to the day of speaking."""

from __future__ import annotations

from datetime import date

import pytest

from toolassay.text_values.dates import Day, find_dates_near, find_days
from toolassay.text_values.vocabulary import WEEKDAYS


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("3/4/26", [(2026, 3, 4), (2026, 4, 3)]),
        ("13/4/2026", [(2026, 4, 13)]),
        ("4 may '27", [(2027, 5, 4)]),
        ("4 to 9 may", [(None, 5, 4), (None, 5, 9)]),
        ("may 2027", [(2027, 5, None)]),
        ("30 february", []),
        ("29 february 2027", [(2027, 2, None)]),
        ("29 february 2028", [(2028, 2, 29)]),
        ("2027-13-04", []),
        ("2027-00-04", []),
        ("2027-01-31", [(2027, 1, 31)]),
    ],
)
def test_days_have_the_parts_that_are_stated(
    text: str, days: list[tuple[int | None, int, int | None]]
) -> None:
    assert [day for _, found in find_days(text) for day in found] == [Day(*day) for day in days]


def test_a_day_in_two_patterns_is_read_once_and_each_where_it_is() -> None:
    text = "on 2027-05-04; 6 may 2027; then 12/24"
    found = [(match.group(), days) for match, days in find_days(text, lenient=True)]
    assert found == [
        ("2027-05-04", (Day(2027, 5, 4),)),
        ("6 may 2027", (Day(2027, 5, 6),)),
        ("12/24", (Day(None, 12, 24),)),
    ]


def test_days_with_nothing_between_them_are_two() -> None:
    assert [day for _, found in find_days("4 may 2027/6 june 2027") for day in found] == [
        Day(2027, 5, 4),
        Day(2027, 6, 6),
    ]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on new year's eve", [Day(None, 12, 31)]),
        ("on christmas eve", [Day(None, 12, 24)]),
        ("07/01", [Day(None, 7, 1), Day(None, 1, 7)]),
        ("31/31", []),
    ],
)
def test_days_that_only_a_request_states_so(text: str, days: list[Day]) -> None:
    strict = len(list(find_days(text)))
    assert [day for _, found in list(find_days(text, lenient=True))[strict:] for day in found] == days


@pytest.mark.parametrize(
    ("day", "other", "agrees"),
    [
        (Day(2026, 10, 17), Day(2026, 10, 17), True),
        (Day(2026, 10, 17), Day(None, 10, 17), True),
        (Day(None, 10, 17), Day(2026, 10, 17), True),
        (Day(2026, 10, None), Day(2026, 10, 17), True),
        (Day(2026, 10, 17), Day(2026, 10, None), False),
        (Day(2026, 10, 17), Day(2027, 10, 17), False),
    ],
)
def test_a_day_agrees_with_a_mention_that_states_it(day: Day, other: Day, agrees: bool) -> None:
    assert day.agrees_with(other) is agrees


def test_the_weekday_of_a_day() -> None:
    assert [Day(2027, 4, 5 + place).weekday for place in range(7)] == list(WEEKDAYS)
    assert Day(None, 4, 6).weekday is None


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("january 2", ["2024-01-02"]),
        ("june 1", ["2023-06-01"]),
        ("may 31", ["2023-05-31"]),
        ("february 29", ["2024-02-29"]),
        ("february 30", []),
        ("yesterday, today and tomorrow", ["2023-11-29", "2023-11-30", "2023-12-01"]),
        ("dec 4", []),
    ],
)
def test_a_month_and_a_number_are_in_the_nearest_year(text: str, days: list[str]) -> None:
    assert [str(day) for day in find_dates_near(text, date(2023, 11, 30))] == days
