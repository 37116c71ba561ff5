"""How requests speak of dates, times, durations, measures and stages."""

from __future__ import annotations

from datetime import date, datetime

DURATIONS = {"30-minute": 30, "one-hour": 60, "90-minute": 90, "two-hour": 120}

METRICS = {
    "the number of visits": "total_visits",
    "the number of engaged users": "user_engaged",
    "the average session duration": "session_duration_seconds",
}
"""Daily measures, by how requests call them."""

SOURCES = {
    "direct": "visits_direct",
    "referral": "visits_referral",
    "search engine": "visits_search_engine",
    "social media": "visits_social_media",
}
"""What `create_plot` calls the visits from a source."""


def day_text(day: date) -> str:
    """A day of 2023.

    >>> day_text(date(2023, 12, 4))
    'December 4'
    """
    return f"{day:%B} {day.day}"


def weekday_text(day: date) -> str:
    """A day of 2023 with its weekday.

    >>> weekday_text(date(2023, 12, 4))
    'Monday, December 4'
    """
    return f"{day:%A}, {day_text(day)}"


def clock_text(moment: datetime) -> str:
    """A time of day.

    >>> clock_text(datetime(2023, 12, 4, 15, 30))
    '3:30 pm'
    """
    return f"{moment.hour % 12 or 12}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"
