"""Functions of the checks that parse requests and query the database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from string import Formatter

from toolassay.text_values.dates import parse_month_and_day
from toolassay.text_values.times import parse_clock

TODAY = "2023-11-30"
YESTERDAY = "2023-11-29"

# Gaps with little text between them, for which ".+?" would be ambiguous. "time" matches "3:30 pm", not
# "15:30".
_GAPS = {"direction": "above|below|higher|lower", "threshold": r"\d+", "time": r"\d+:\d\d [ap]m"}


def gaps_of(wording: str, query: str) -> dict[str, str]:
    """The texts in the gaps of a wording.

    Raises:
        ValueError: the request is not an instance of the wording.

    >>> gaps_of("Meet {a} on {b}.", "Meet Mei on December 4.")
    {'a': 'Mei', 'b': 'December 4'}
    """
    pattern, seen = "", set[str]()
    for literal, name, _, _ in Formatter().parse(wording):
        pattern += re.escape(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>{_GAPS.get(name, '.+?')})"
            seen.add(name)
    found = re.fullmatch(pattern, query)
    if found is None:
        raise ValueError(f"not a case of '{wording}': {query}")
    return found.groupdict()


def parse_day(text: str) -> str:
    """Parse a day of 2023.

    Raises:
        ValueError: the text is not a day, or its weekday is wrong.

    >>> parse_day("Monday, December 4")
    '2023-12-04'
    """
    return str(parse_month_and_day(text, 2023))


def parse_moment(day_text: str, clock: str) -> str:
    """Parse a day of 2023 and a time of day.

    >>> parse_moment("December 4", "3:30 pm")
    '2023-12-04 15:30:00'
    """
    return f"{parse_day(day_text)} {parse_clock(clock)}"


def later(moment: str, minutes: int) -> str:
    """The time `minutes` after a given one."""
    return str(datetime.fromisoformat(moment) + timedelta(minutes=minutes))


def days_before_today(days: int) -> str:
    """The date `days` before today."""
    return str(date.fromisoformat(TODAY) - timedelta(days=days))


def column(db: sqlite3.Connection, query: str, *values: object) -> list[str]:
    """The first column of a query's result."""
    return [row[0] for row in db.execute(query, values)]


def address_of(db: sqlite3.Connection, first_name: str) -> str:
    """The address of the only colleague with this first name."""
    (found,) = column(
        db, "SELECT email_address FROM directory WHERE email_address LIKE ? || '.%'", first_name.lower()
    )
    return found


def check_free(db: sqlite3.Connection, start: str, minutes: int, but: str = "") -> None:
    """Check that a meeting overlaps no other one (except the event `but`) and ends by 18:00.

    Raises:
        ValueError: it does not fit.
    """
    end = later(start, minutes)
    if end > f"{start[:10]} 18:00:00" or set(column(db, _TOUCHING, end, start)) - {but}:
        raise ValueError(f"no free time at {start}")


def first_free_slot(db: sqlite3.Connection, day_text: str) -> str:
    """The start of the first free half hour of a day from 9:00 to 18:00, in steps of five minutes.

    Raises:
        ValueError: the day has none.
    """
    opens = f"{parse_day(day_text)} 09:00:00"
    for offset in range(0, 9 * 60 - 29, 5):
        start = later(opens, offset)
        if not column(db, _TOUCHING, later(start, 30), start):
            return start
    raise ValueError(f"no free time on {day_text}")


_TOUCHING = (
    "SELECT event_id FROM calendar_events WHERE event_start < ? "
    "AND datetime(event_start, '+' || duration || ' minutes') > ?"
)

_FIGURES = {
    "the number of visits": "count(*)",
    "the number of engaged users": "sum(user_engaged)",
    "the average session duration": "avg(CAST(session_duration_seconds AS REAL))",
}


def daily_values(db: sqlite3.Connection, metric: str, first: str, last: str = YESTERDAY) -> list[float]:
    """The daily values of a metric, from `first` to `last`."""
    query = (
        f"SELECT {_FIGURES[metric]} FROM visits WHERE date_of_visit BETWEEN ? AND ? "
        "GROUP BY date_of_visit ORDER BY date_of_visit"
    )
    return [float(cell) for cell in column(db, query, first, last)]


def crosses_threshold(db: sqlite3.Connection, gaps: Mapping[str, str], direction: str | None = None) -> bool:
    """Whether a metric was above or below the request's threshold on any day since a given one."""
    number, way = float(gaps["threshold"]), direction or gaps["direction"]
    values = daily_values(db, gaps["metric"], parse_day(gaps["since"]))
    return any(value > number if way == "above" else value < number for value in values)


def grew_faster(db: sqlite3.Connection, first: str, second: str, since: str) -> bool:
    """Whether one metric grew by a greater percentage than another since a day."""
    ratios = []
    for metric in (first, second):
        values = daily_values(db, metric, since)
        ratios.append(values[-1] / values[0])
    return ratios[0] > ratios[1]


def has_overdue_tasks(db: sqlite3.Connection, assignee: str) -> bool:
    """Whether the assignee has an uncompleted task that was due before today."""
    query = "SELECT 1 FROM tasks WHERE assigned_to_email = ? AND due_date < ? AND list_name <> 'Completed'"
    return bool(column(db, query, assignee, TODAY))
