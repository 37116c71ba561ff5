"""What the offline agent reads in a request: each value, not only that there is one."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from toolassay.offline.agent.parsed_request import ParsedRequest, first_of, people_in

NOW = datetime(2023, 11, 30, 14)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("yesterday, Today and TOMORROW", [date(2023, 11, 29), date(2023, 11, 30), date(2023, 12, 1)]),
        ("from May 30 to June 1", [date(2024, 5, 30), date(2023, 6, 1)]),
        ("May 31 and december 31", [date(2023, 5, 31), date(2023, 12, 31)]),
        ("January 2 or january 31", [date(2024, 1, 2), date(2024, 1, 31)]),
        ("on February 29", [date(2024, 2, 29)]),
        ("'on May 1' or \"May 2\"", []),
    ],
)
def test_a_month_and_a_day_are_the_nearest_to_today(text: str, days: list[date]) -> None:
    assert ParsedRequest(text, NOW).days == days
    assert ParsedRequest(text, NOW).today == date(2023, 11, 30)


def test_a_leap_day_without_one_near_is_none() -> None:
    assert ParsedRequest("on February 29", datetime(2026, 6, 1)).days == []


def test_the_year_before_is_nearer_in_january() -> None:
    assert ParsedRequest("since December 30", datetime(2024, 1, 2)).days == [date(2023, 12, 30)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 9am", ["09:00:00"]),
        ("at 12 am and 12 pm", ["00:00:00", "12:00:00"]),
        ("at 12:30 am or 1:05 PM", ["00:30:00", "13:05:00"]),
        ("noon, then 11:59 pm", ["12:00:00", "23:59:00"]),
        ('at 9 or "10 am"', []),
    ],
)
def test_times_of_day(text: str, times: list[str]) -> None:
    assert ParsedRequest(text, NOW).times == times


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("a 90-minute talk", 90),
        ("half an hour", 30),
        ("one and a half hours", 90),
        ("two hours and a half", 150),
        ("for three hours, then 5 minutes", 180),
        ("later", None),
    ],
)
def test_lengths_of_time(text: str, minutes: int | None) -> None:
    assert ParsedRequest(text, NOW).minutes == minutes


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("over 10.5", (True, 10.5)),
        ("more than 3", (True, 3.0)),
        ("less than 2.25", (False, 2.25)),
        ("over 30days", None),
        ("over 2.5 days", None),
        ("over 2.5%", None),
        ("over 30.", (True, 30.0)),
        ("10", None),
    ],
)
def test_thresholds(text: str, threshold: tuple[bool, float] | None) -> None:
    assert ParsedRequest(text, NOW).threshold == threshold


def test_percentages_are_the_first_one() -> None:
    assert ParsedRequest("by 12.5% or 20%", NOW).percent == 12.5
    assert ParsedRequest("by 12", NOW).percent is None


def test_what_is_named_stands_in_the_order_of_the_request() -> None:
    reading = ParsedRequest("Move the Backlog and the in review ones to 'Completed'", NOW)
    assert reading.named(["Completed", "In Review", "Backlog", "In Progress"]) == [
        *("Backlog", "In Review"),
        "Completed",
    ]
    reading = ParsedRequest("number of visits, then Average Session Duration", NOW)
    assert reading.metrics == ["total_visits", "session_duration_seconds"]
    assert ParsedRequest("Search Engine and direct", NOW).sources == ["search engine", "direct"]
    assert reading.has("then") and reading.has("none", "visits") and not reading.has("visit", "hen")


def test_quotes_hold_texts() -> None:
    reading = ParsedRequest("""Reply "it's fine" to Ann's mail 'Plan B'""", NOW)
    assert reading.quoted == ["it's fine", "Plan B"]
    assert reading.bare == "reply '' to ann's mail ''"
    assert not reading.has("fine", "plan")


def test_people_stand_in_the_order_of_the_request_once() -> None:
    addresses = ["ann.lee@x.example", "bo.ray@x.example", "annika.dee@x.example", "a.b.c@x.example"]
    assert people_in("Ask BO, then ann, then Bo", addresses) == (addresses[1], addresses[0])
    assert people_in("Annika knows", addresses) == (addresses[2],)
    assert people_in("'Bo' asks for ann", addresses) == (addresses[0],)
    assert people_in("nobody", addresses) == ()


def test_the_first_of_nothing_is_an_error_of_its_own() -> None:
    assert first_of(iter([3, 4])) == 3
    with pytest.raises(LookupError, match=r"^nothing was found$"):
        first_of([])
