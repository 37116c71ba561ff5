"""Which texts may be a date, a time, or a day that no calendar has."""

from __future__ import annotations

import pytest

from toolassay.gates.text_kinds import may_be_date, may_be_time
from toolassay.text_values.dates import is_impossible_day


@pytest.mark.parametrize(
    ("text", "date", "time"),
    [
        ("14.5.", True, False),
        ("5/14", True, False),
        ("5月14日", True, True),
        ("THE 3RD", True, False),
        ("19:45", False, True),
        ("2026-05-14 19:45", True, True),
        ("7 O'CLOCK", False, True),
        ("zaвт", False, False),
        ("banana", False, False),
        ("", False, False),
        (" " * 498 + "monday", False, False),
        (" " * 490 + "monday", True, True),
        (" " * 494 + "19:45", False, True),
    ],
)
def test_what_may_be_a_date_and_what_a_time(text: str, date: bool, time: bool) -> None:
    assert (may_be_date(text), may_be_time(text)) == (date, time)


@pytest.mark.parametrize(
    "text",
    [
        *("2026-02-29", "2026-04-31", "2026-00-10", "2026-13-01", "2026-01-00", "2026-01-32", "1999/02/30"),
        *("31.04.2026", "13-13-2026", "february 30", "31st of June", "0 May", "2026-01-05 or 2026-02-30"),
    ],
)
def test_days_that_no_calendar_has(text: str) -> None:
    assert is_impossible_day(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2028-02-29", "2026-12-31", "2026-01-01", "31.12.2026", "12.31.2026", "02-29-2028", "29 february"),
        *("31 december", "1 january", "30th of June", "", "31", "may 99.5", " " * 499 + "2026-02-30"),
    ],
)
def test_days_that_a_calendar_has_or_no_days_at_all(text: str) -> None:
    assert not is_impossible_day(text)
