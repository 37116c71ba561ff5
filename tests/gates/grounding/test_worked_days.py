"""Days that follow from a day that is said."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from toolassay.gates.grounding.derived_values import DayClues, DayMention, day_certainty
from toolassay.text_values.dates import Day, find_days
from toolassay.text_values.vocabulary import WEEKDAYS

SAID = date(2027, 5, 5)
"""A Wednesday."""
NEAR = [SAID + timedelta(days=offset) for offset in range(-70, 71)]


def sure_days(text: str, among: list[date] = NEAR) -> list[date]:
    """The days that a text gives exactly, besides the day it says."""
    return [day for day in among if told(text, day) == "sure" and day != SAID]


def told(text: str, day: date) -> str | None:
    mentions = [DayMention(*match.span(), days) for match, days in find_days(text)]
    return day_certainty(Day(day.year, day.month, day.day), DayClues.of(text, mentions))


@pytest.mark.parametrize("weekday", WEEKDAYS)
def test_the_weekday_after_a_day_and_the_one_before_it(weekday: str) -> None:
    (following,) = sure_days(f"we land on 5 may 2027 and need seats the following {weekday}")
    assert 1 <= (following - SAID).days <= 7 and f"{following:%A}".lower() == weekday
    (before,) = sure_days(f"the talk is on 5 may 2027, print it the previous {weekday}")
    assert 1 <= (SAID - before).days <= 7 and f"{before:%A}".lower() == weekday
    (earlier,) = sure_days(f"the talk is on 5 may 2027, print it the {weekday} before")
    assert earlier == before
    (later,) = sure_days(f"the talk is on 5 may 2027, party on the {weekday} after")
    assert later == following


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("5 may 2027 for 3 nights", [3]),
        ("5 may 2027 and a week later", [7]),
        ("5 may 2027 and a fortnight later", [14]),
        ("5 may 2027, and 2 days before", [-2]),
        ("5 may 2027, and a couple of days earlier", [-2]),
        ("5 may 2027, and the next day", [1]),
        ("5 may 2027, and the previous day", [-1]),
        ("5 may 2027, back after 4 days", [4]),
        ("5 may 2027, back in a week", [7]),
        ("5 may 2027 and a month later", [31]),
        ("5 may 2027 and 2 months earlier", [-61]),
        ("staying overnight on 5 may 2027", [1]),
        ("the eve of 5 may 2027", [-1]),
        ("5 may 2027 and the evening after", [1]),
        ("5 may 2027, the morning", []),
        ("5 may 2027, the day", []),
        ("5 may 2027 and the weekend after", []),
        ("5 may 2027 for 3 days", []),
        ("5 may 2027 and the 9th", [4]),
        ("5 may 2027 until the 2nd", [-3, 28]),
        ("5 may 2027 on the 9th floor", []),
        ("friday, 5 may 2027", []),
        ("5 may 2027 and saturday", [3]),
    ],
)
def test_ways_from_a_day_to_another(text: str, offsets: list[int]) -> None:
    assert sure_days(text) == [SAID + timedelta(days=offset) for offset in offsets]


def test_a_year_after_a_day() -> None:
    days = [date(2028, 5, 4), date(2028, 5, 5), date(2028, 5, 6), date(2026, 5, 5)]
    assert sure_days("a year from 5 may 2027", days) == [date(2028, 5, 5)]
    assert sure_days("a year before 5 may 2027", days) == [date(2026, 5, 5)]


def test_how_far_a_step_reaches() -> None:
    for text, expected in (
        ("5 may 2027. a week later", [7]),
        ("5 may 2027. it rains. a week later", []),
        ("5 may 2027. that friday", [2]),
        ("5 may 2027. friday", []),
        (f"5 may 2027{' x' * 115} a week later", [7]),
        (f"5 may 2027{' x' * 126} a week later", []),
    ):
        assert sure_days(text) == [SAID + timedelta(days=offset) for offset in expected], text


def test_what_is_near_may_be_worked_out() -> None:
    text = "5 may 2027 for 3 days"
    assert [told(text, SAID + timedelta(days=days)) for days in (-63, -62, 62, 63)] == [
        *(None, "possible"),
        *("possible", None),
    ]
    for text in ("5 may 2027 and the 9th", "5 may 2027, at the start of may", "5 may 2027 for 3 days"):
        assert told(text, SAID + timedelta(days=7)) == "possible"
    assert told("5 may 2027", SAID + timedelta(days=1)) is None
    assert day_certainty(Day(None, 5, 6), DayClues.of(text, [])) is None


def test_a_day_without_a_year_is_one_of_the_years_around() -> None:
    text = "5 may for 3 nights"
    assert [told(text, date(year, 5, 8)) for year in (2026, 2027, 2028)] == ["sure"] * 3
    mentions = [DayMention(0, 11, (Day(None, 12, 30),))]
    assert day_certainty(Day(2028, 1, 2), DayClues.of("30 december for 3 nights", mentions)) == "sure"
    mentions = [DayMention(0, 9, (Day(None, 1, 1),))]
    assert day_certainty(Day(2027, 12, 31), DayClues.of("1 january and the day before", mentions)) == "sure"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("easter sunday 2027", date(2027, 3, 28)),
        ("easter monday 2027", date(2027, 3, 29)),
        ("good friday 2027", date(2027, 3, 26)),
        ("maundy thursday 2027", date(2027, 3, 25)),
        ("palm sunday 2027", date(2027, 3, 21)),
        ("ash wednesday 2027", date(2027, 2, 10)),
        ("shrove tuesday 2027", date(2027, 2, 9)),
        ("pancake day 2027", date(2027, 2, 9)),
        ("ascension day 2027", date(2027, 5, 6)),
        ("whit monday 2027", date(2027, 5, 17)),
        ("whit sunday 2027", date(2027, 5, 16)),
        ("pentecost 2027", date(2027, 5, 16)),
        ("easter 2027", date(2027, 3, 28)),
        ("thanksgiving 2027", date(2027, 11, 25)),
        ("the end of the year", date(2027, 12, 31)),
        ("the last day of 2027", date(2027, 12, 31)),
        ("the end of april", date(2027, 4, 30)),
        ("the close of feb", date(2027, 2, 28)),
    ],
)
def test_days_of_a_year_that_have_a_name(text: str, day: date) -> None:
    year = [date(2027, 1, 1) + timedelta(days=number) for number in range(365)]
    assert sure_days(text, year) == [day]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("the 1st saturday of may 2027", [1]),
        ("the 2nd saturday of may 2027", [8]),
        ("the 5th saturday of may 2027", [29]),
        ("the last saturday of may 2027", [29]),
        ("the last monday in may 2027", [31]),
        ("the last tuesday in may 2027", [25]),
        ("may 2027, on the last day of the month", [31]),
        ("may 2027, at the end of that month", [31]),
        ("may 2027, at the start of that month", []),
    ],
)
def test_days_of_a_month_that_is_said(text: str, days: list[int]) -> None:
    spring = [date(2027, 4, 1) + timedelta(days=number) for number in range(91)]
    assert sure_days(text, spring) == [date(2027, 5, day) for day in days]
