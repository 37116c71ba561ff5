"""How the checks of made requests read wordings and tables, on a database small enough to be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from toolassay.benchmarks.workbench.generate.checks import lookups
from toolassay.text_values.durations import parse_minutes


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    made.executescript(
        """
        CREATE TABLE directory (email_address);
        INSERT INTO directory VALUES ('mei.fong@x.example'), ('hana.novak@x.example'), ('meike.o@x.example');
        CREATE TABLE calendar_events (event_id, event_start, duration);
        INSERT INTO calendar_events VALUES
            ('1', '2023-12-01 09:00:00', '30'), ('2', '2023-12-01 10:00:00', '60'),
            ('3', '2023-12-04 09:00:00', '510'), ('4', '2023-12-05 09:00:00', '511');
        CREATE TABLE visits (date_of_visit, user_engaged, session_duration_seconds);
        INSERT INTO visits VALUES
            ('2023-11-29', 1, '10'), ('2023-11-27', 0, '4'), ('2023-11-27', 1, '5'), ('2023-11-28', 1, '8'),
            ('2023-11-29', 1, '20'), ('2023-11-29', 0, '30'), ('2023-11-30', 1, '99');
        CREATE TABLE tasks (assigned_to_email, due_date, list_name);
        INSERT INTO tasks VALUES
            ('a', '2023-11-29', 'Backlog'), ('b', '2023-11-30', 'Backlog'), ('c', '2023-11-01', 'Completed');
        """
    )
    yield made
    made.close()


def test_the_gaps_of_a_wording_are_found_and_repeat_themselves() -> None:
    wording = "Is {name} (of {team}) {direction} {threshold}? Tell {name}."
    assert lookups.gaps_of(wording, "Is Mei (of sales) above 12? Tell Mei.") == {
        "name": "Mei",
        "team": "sales",
        "direction": "above",
        "threshold": "12",
    }
    for query in (
        "Is Mei (of sales) above 12? Tell Hana.",
        "Is Mei (of sales) beside 12? Tell Mei.",
        "Is Mei (of sales) above twelve? Tell Mei.",
        "Is Mei (of sales) above 12? Tell Mei!",
    ):
        with pytest.raises(ValueError, match=r"^not a case of 'Is \{name\}"):
            lookups.gaps_of(wording, query)


def test_days_and_moments() -> None:
    assert lookups.parse_day("December 4") == lookups.parse_day("Monday, December 4") == "2023-12-04"
    with pytest.raises(ValueError, match=r"^there is no Tuesday, December 4 in 2023$"):
        lookups.parse_day("Tuesday, December 4")
    assert lookups.parse_moment("Friday, December 1", "12:05 am") == "2023-12-01 00:05:00"
    assert lookups.parse_moment("December 1", "3:30 pm") == "2023-12-01 15:30:00"
    assert lookups.later("2023-12-01 23:50:00", 15) == "2023-12-02 00:05:00"
    assert (lookups.days_before_today(0), lookups.days_before_today(30)) == ("2023-11-30", "2023-10-31")


@pytest.mark.parametrize(
    ("length", "minutes"),
    [
        ("half an hour", 30),
        ("an hour and a half", 90),
        ("one-hour", 60),
        ("two-hour", 120),
        ("one hour", 60),
        ("two hours", 120),
        ("45-minute", 45),
        ("45", 45),
    ],
)
def test_lengths_in_words(length: str, minutes: int) -> None:
    assert parse_minutes(length) == minutes


def test_an_address_is_that_of_one_first_name(db: sqlite3.Connection) -> None:
    assert lookups.address_of(db, "Mei") == "mei.fong@x.example"
    with pytest.raises(ValueError):
        lookups.address_of(db, "nobody")


@pytest.mark.parametrize(
    ("start", "minutes", "but", "free"),
    [
        ("2023-12-01 09:30:00", 30, "", True),
        ("2023-12-01 09:30:00", 31, "", False),
        ("2023-12-01 09:29:00", 1, "", False),
        ("2023-12-01 10:30:00", 10, "", False),
        ("2023-12-01 10:30:00", 60, "2", True),
        ("2023-12-01 09:45:00", 30, "1", False),
        ("2023-12-01 17:30:00", 30, "", True),
        ("2023-12-01 17:30:00", 31, "", False),
        ("2023-12-02 17:00:00", 60, "", True),
    ],
)
def test_a_meeting_fits_or_not(
    db: sqlite3.Connection, start: str, minutes: int, but: str, free: bool
) -> None:
    if free:
        lookups.check_free(db, start, minutes, but)
        with pytest.raises(ValueError, match="no free time"):
            lookups.check_free(db, start, 600, but)
    else:
        with pytest.raises(ValueError, match=f"^no free time at {start}$"):
            lookups.check_free(db, start, minutes, but)


def test_the_first_half_hour_that_is_free(db: sqlite3.Connection) -> None:
    assert lookups.first_free_slot(db, "December 1") == "2023-12-01 09:30:00"
    assert lookups.first_free_slot(db, "December 2") == "2023-12-02 09:00:00"
    assert lookups.first_free_slot(db, "December 4") == "2023-12-04 17:30:00"
    with pytest.raises(ValueError, match=r"^no free time on December 5$"):
        lookups.first_free_slot(db, "December 5")
    db.execute("UPDATE calendar_events SET duration = '32' WHERE event_id = '1'")
    db.execute("DELETE FROM calendar_events WHERE event_id = '2'")
    assert lookups.first_free_slot(db, "December 1") == "2023-12-01 09:35:00"


def test_figures_go_day_by_day_to_yesterday(db: sqlite3.Connection) -> None:
    assert lookups.daily_values(db, "the number of visits", "2023-11-27") == [2, 1, 3]
    assert lookups.daily_values(db, "the number of engaged users", "2023-11-28") == [1, 2]
    assert lookups.daily_values(db, "the average session duration", "2023-11-27", "2023-11-28") == [4.5, 8]


@pytest.mark.parametrize(
    ("threshold", "direction", "went"),
    [("2", "above", True), ("3", "above", False), ("2", "below", True), ("1", "below", False)],
)
def test_a_measure_went_above_or_below(
    db: sqlite3.Connection, threshold: str, direction: str, went: bool
) -> None:
    gaps = {"metric": "the number of visits", "since": "November 27", "threshold": threshold}
    other = "below" if direction == "above" else "above"
    assert lookups.crosses_threshold(db, gaps | {"direction": direction}) is went
    assert lookups.crosses_threshold(db, gaps | {"direction": other}, direction) is went


def test_growth_is_that_from_the_first_day_to_the_last(db: sqlite3.Connection) -> None:
    visits, seconds = "the number of visits", "the average session duration"
    assert lookups.grew_faster(db, seconds, visits, "2023-11-27")  # 20 / 4.5 and 3 / 2
    assert not lookups.grew_faster(db, visits, seconds, "2023-11-27")
    assert not lookups.grew_faster(db, visits, visits, "2023-11-27")
    assert lookups.grew_faster(db, visits, seconds, "2023-11-28")  # 3 / 1 and 20 / 8


def test_who_is_late_has_an_uncompleted_task_of_before_today(db: sqlite3.Connection) -> None:
    assert [lookups.has_overdue_tasks(db, name) for name in ("a", "b", "c", "d")] == [
        True,
        False,
        False,
        False,
    ]
