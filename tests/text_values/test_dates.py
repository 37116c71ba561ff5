"""Days that a text states, and days relative to the day of speaking."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from toolassay.text_values.dates import (
    Day,
    find_dates_near,
    find_days,
    parse_short_day,
    relative_days_in,
    years_in,
)
from toolassay.text_values.vocabulary import WEEKDAYS

TUESDAY = date(2027, 4, 6)


def day_of(day: date) -> Day:
    return Day(day.year, day.month, day.day)


def after(text: str, base: date = TUESDAY) -> list[date]:
    return sorted(
        date(day.year or 0, day.month, day.day or 0) for day in relative_days_in(text, day_of(base))
    )


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("weekday", WEEKDAYS)
def test_a_weekday_is_the_next_one_or_the_one_after_it(weekday: str, place: int) -> None:
    today = TUESDAY + timedelta(days=place)
    first, second = after(f"on {weekday}, please", today)
    assert f"{first:%A}".lower() == f"{second:%A}".lower() == weekday
    assert 0 <= (first - today).days <= 6
    assert second - first == timedelta(days=7)


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("tonight at 8", [0]),
        ("yesterday", [-1]),
        ("the day after tomorrow", [1, 2]),
        ("next week", [7]),
        ("in 1 day", [1]),
        ("5 days from now", [5]),
        ("1 week later", [7]),
        ("in 999 days", [999]),
        ("in 1000 days", []),
        ("in 3 days or 2 weeks from now", [3, 14]),
        ("fridays are busy", []),
    ],
)
def test_days_relative_to_the_day_of_speaking(text: str, offsets: list[int]) -> None:
    assert after(text) == [TUESDAY + timedelta(days=offset) for offset in offsets]


def test_nothing_follows_from_half_a_day_or_lies_beyond_the_calendar() -> None:
    assert (
        relative_days_in("tomorrow", Day(None, 4, 6))
        == relative_days_in("tomorrow", Day(2027, 4, None))
        == set()
    )
    assert after("tomorrow and yesterday", date.max) == [date.max - timedelta(days=1)]
    assert after("tomorrow", date(2027, 12, 31)) == [date(2028, 1, 1)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2027/5/4", [(2027, 5, 4)]),
        ("20270504", [(2027, 5, 4)]),
        ("3/4/26", [(2026, 3, 4), (2026, 4, 3)]),
        ("13/4/2026", [(2026, 4, 13)]),
        ("4/4/2026", [(2026, 4, 4)]),
        ("4 may '27", [(2027, 5, 4)]),
        ("4 to 9 may", [(None, 5, 4), (None, 5, 9)]),
        ("sept 4", [(None, 9, 4)]),
        ("may 2027", [(2027, 5, None)]),
        ("30 february", []),
        ("29 february 2027", [(2027, 2, None)]),
        ("29 february 2028", [(2028, 2, 29)]),
        ("2027-13-04", []),
        ("2027-00-04", []),
        ("2027-12-04", [(2027, 12, 4)]),
        ("2027-01-31", [(2027, 1, 31)]),
    ],
)
def test_days_have_the_parts_that_are_stated(
    text: str, days: list[tuple[int | None, int, int | None]]
) -> None:
    assert [day for _, found in find_days(text) for day in found] == [Day(*day) for day in days]


def test_a_day_in_two_patterns_is_read_once_and_each_where_it_is() -> None:
    text = "on 2027-05-04; 6 may 2027; then 12/24"
    found = [(match.group(), days) for match, days in find_days(text)]
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
        ("on st. patrick's day", [Day(None, 3, 17)]),
        ("on new years eve", [Day(None, 12, 31)]),
        ("24.12.", [Day(None, 12, 24)]),
        ("07-01", [Day(None, 7, 1), Day(None, 1, 7)]),
        ("4th, 5th and 6th of october", [Day(None, 10, 4), Day(None, 10, 5)]),
        ("4 may 27", [Day(2027, 5, 4)]),
        ("31-31", []),
    ],
)
def test_days_that_only_a_request_states_so(text: str, days: list[Day]) -> None:
    strict = len(list(find_days(text)))
    assert [day for _, found in list(find_days(text, lenient=True))[strict:] for day in found] == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("05-04", [Day(None, 5, 4), Day(None, 4, 5)]),
        ("24.12.", [Day(None, 12, 24)]),
        ("2027-05", [Day(2027, 5, None)]),
        ("05/2027", [Day(2027, 5, None)]),
        ("13/2027", []),
        ("7.95", []),
        ("x 05-04", []),
    ],
)
def test_a_value_of_two_numbers(text: str, days: list[Day]) -> None:
    assert list(parse_short_day(text)) == days


def test_years_apart_from_a_day() -> None:
    assert years_in("it is 2026, and in 2027 for 2028; summer 2029, 2030 chairs") == {2026, 2027, 2028, 2029}


@pytest.mark.parametrize(
    ("day", "other", "agrees"),
    [
        (Day(2026, 10, 17), Day(2026, 10, 17), True),
        (Day(2026, 10, 17), Day(None, 10, 17), True),
        (Day(None, 10, 17), Day(2026, 10, 17), True),
        (Day(2026, 10, None), Day(2026, 10, 17), True),
        (Day(2026, 10, 17), Day(2026, 10, None), False),
        (Day(2026, 10, 17), Day(2027, 10, 17), False),
        (Day(2026, 10, 17), Day(2026, 11, 17), False),
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
        ("december 4", ["2023-12-04"]),
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
