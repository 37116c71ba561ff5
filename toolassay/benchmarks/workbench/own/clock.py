"""Time stands still in a workplace: what SQL calls now is the moment of the workplace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_ZONES = frozenset({"localtime", "utc"})  # the workplace has one time, the machine may have another

Value = str | int | float | None


class Clock:
    """SQLite's functions of time with `now` replaced, and `now()` itself.

    A row that a tool adds has the same time in every run, so that runs can be compared.

    Args:
        now: the moment it is.

    >>> db = sqlite3.connect(":memory:")
    >>> Clock(datetime(2024, 2, 28, 9, 30)).set(db)
    >>> db.execute("SELECT now(), date('now', '+2 days'), CURRENT_TIMESTAMP").fetchone()
    ('2024-02-28 09:30:00', '2024-03-01', '2024-02-28 09:30:00')
    """

    def __init__(self, now: datetime) -> None:
        self._now = now.strftime("%Y-%m-%d %H:%M:%S")
        self._sqlite = sqlite3.connect(":memory:", check_same_thread=False)
        self._functions = {name: self._stopped(name) for name in _FUNCTIONS}

    def set(self, connection: sqlite3.Connection) -> None:
        """Give a connection this time."""
        for name, function in self._functions.items():
            # Deterministic, as it is with a moment that stands still: an index may use it.
            connection.create_function(name, -1, function, deterministic=True)
        day, time = self._now.split(" ")
        for name, text in (
            *(("now", self._now), ("current_timestamp", self._now)),
            *(("current_date", day), ("current_time", time)),
        ):
            connection.create_function(name, 0, lambda text=text: text, deterministic=True)

    def _stopped(self, name: str) -> Callable[..., Value]:
        first = 1 if name == "strftime" else 0  # where the moment stands

        def function(*given: Value) -> Value:
            values = [*given]
            if len(values) == first:
                values.append("now")
            if len(values) > first and str(values[first]).lower() == "now":
                values[first:] = [
                    self._now,
                    *(v for v in values[first + 1 :] if str(v).lower() not in _ZONES),
                ]
            marks = ", ".join("?" * len(values))
            found: Value = self._sqlite.execute(f"SELECT {name}({marks})", values).fetchone()[0]
            return found

        return function
