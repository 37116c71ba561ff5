"""Checks of requests about the calendar."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.expected import (
    NOTHING,
    Check,
    ExpectedChanges,
    Gaps,
    changed,
    gone,
    meeting,
)
from toolassay.benchmarks.workbench.generate.checks.lookups import (
    TODAY,
    address_of,
    check_free,
    column,
    days_before_today,
    first_free_slot,
    later,
    parse_day,
    parse_moment,
)
from toolassay.text_values.durations import parse_minutes

_TABLE = "calendar_events"
_IDS = f"SELECT event_id FROM {_TABLE} WHERE "


def _cancel_first(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "date(event_start) = ? ORDER BY event_start LIMIT 1"
    return gone(_TABLE, column(db, query, parse_day(gaps["day"])))


def _rename_last(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "date(event_start) = ? ORDER BY event_start DESC LIMIT 1"
    return changed(_TABLE, column(db, query, parse_day(gaps["day"])), "event_name", gaps["name"])


def _push_back(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    where = "date(event_start) = ? AND participant_email = ? ORDER BY event_start LIMIT 1"
    values = parse_day(gaps["day"]), address_of(db, gaps["person"])
    query = f"SELECT event_id, event_start, duration FROM {_TABLE} WHERE {where}"
    ((event_id, start, duration),) = db.execute(query, values)
    start = later(start, parse_minutes(gaps["delay"]))
    check_free(db, start, int(duration), but=event_id)
    return changed(_TABLE, [event_id], "event_start", start)


def _next_named(db: sqlite3.Connection, gaps: Gaps) -> list[str]:
    query = _IDS + "event_name = ? AND event_start >= ? ORDER BY event_start LIMIT 1"
    return column(db, query, gaps["name"], TODAY)


def _cancel_next_named(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return gone(_TABLE, _next_named(db, gaps))


def _rename_next_named(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed(_TABLE, _next_named(db, gaps), "event_name", gaps["new"])


def _cancel_next_with(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = (
        _IDS + "participant_email = ? AND event_start >= ? AND event_start < ? ORDER BY event_start LIMIT 1"
    )
    return gone(_TABLE, column(db, query, address_of(db, gaps["person"]), TODAY, parse_day(gaps["limit"])))


def met_since(db: sqlite3.Connection, gaps: Gaps) -> bool:
    """Whether there was a meeting with a person in the given number of days before today.

    Raises:
        ValueError: the request's number of days and its date disagree.
    """
    since = parse_day(gaps["since"])
    if since != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the period differ")
    query = _IDS + "participant_email = ? AND event_start BETWEEN ? AND ?"
    return bool(column(db, query, address_of(db, gaps["person"]), since, TODAY))


def _catch_up(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    if met_since(db, gaps):
        return NOTHING
    return meeting("Catch-up", address_of(db, gaps["person"]), first_free_slot(db, gaps["day"]), 30)


def _clear_part_of_day(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    sign = "<" if gaps["side"] == "before" else ">"
    query = _IDS + f"date(event_start) = ? AND event_start {sign} ?"
    return gone(_TABLE, column(db, query, parse_day(gaps["day"]), parse_moment(gaps["day"], gaps["time"])))


def _cancel_all_with(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "participant_email = ? AND event_start >= ?"
    return gone(_TABLE, column(db, query, address_of(db, gaps["person"]), parse_day(gaps["day"])))


def _cancel_all_named(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "event_name = ? AND event_start >= ?"
    return gone(_TABLE, column(db, query, gaps["name"], parse_day(gaps["day"])))


def _create(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    start = parse_moment(gaps["day"], gaps["time"])
    check_free(db, start, parse_minutes(gaps["length"]))
    return meeting(gaps["name"], address_of(db, gaps["person"]), start, parse_minutes(gaps["length"]))


CHECKS: dict[str, Check] = {
    "cancel_first": _cancel_first,
    "rename_last": _rename_last,
    "push_back": _push_back,
    "cancel_next_named": _cancel_next_named,
    "rename_next_named": _rename_next_named,
    "cancel_next_with": _cancel_next_with,
    "catch_up": _catch_up,
    "clear_part_of_day": _clear_part_of_day,
    "cancel_all_with": _cancel_all_with,
    "cancel_all_named": _cancel_all_named,
    "create": _create,
}
