"""Checks of requests about e-mail."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.expected import Check, ExpectedChanges, Gaps, gone, mail
from toolassay.benchmarks.workbench.generate.checks.lookups import (
    address_of,
    column,
    days_before_today,
    parse_day,
)

# The id is appended to the time, so that `max` gives the newest e-mail's id as the last 8 characters.
_NEWEST = "SELECT max(sent_datetime || email_id) FROM emails WHERE "
_ID_LENGTH = 8


def _newest(db: sqlite3.Connection, where: str, *values: str) -> str:
    (found,) = column(db, _NEWEST + where, *values)
    return found[-_ID_LENGTH:]


def _last_from(db: sqlite3.Connection, gaps: Gaps) -> str:
    return _newest(db, '"sender/recipient" = ?', address_of(db, gaps["person"]))


def _last_about(db: sqlite3.Connection, gaps: Gaps) -> str:
    return _newest(db, "subject = ?", gaps["subject"])


def _copy(db: sqlite3.Connection, email_id: str, to: str) -> ExpectedChanges:
    ((subject, body),) = db.execute("SELECT subject, body FROM emails WHERE email_id = ?", (email_id,))
    return mail(address_of(db, to), f"FW: {subject}", body)


def _answer(db: sqlite3.Connection, email_id: str, body: str) -> ExpectedChanges:
    ((sender, subject),) = db.execute(
        'SELECT "sender/recipient", subject FROM emails WHERE email_id = ?', (email_id,)
    )
    return mail(sender, subject, body)


def _delete_last(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return gone("emails", [_last_from(db, gaps)])


def _delete_recent(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since = parse_day(gaps["since"])
    if since != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the period differ")
    query = 'SELECT email_id FROM emails WHERE "sender/recipient" = ? AND sent_datetime >= ?'
    return gone("emails", column(db, query, address_of(db, gaps["person"]), since))


def _send(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return mail(address_of(db, gaps["person"]), gaps["subject"], gaps["body"])


def _reply_about(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    where = '"sender/recipient" = ? AND subject = ?'
    return _answer(db, _newest(db, where, address_of(db, gaps["person"]), gaps["subject"]), gaps["body"])


def _forward_period(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = (
        'SELECT email_id FROM emails WHERE "sender/recipient" = ? AND subject = ? '
        "AND date(sent_datetime) BETWEEN ? AND ? ORDER BY sent_datetime"
    )
    days = parse_day(gaps["first"]), parse_day(gaps["last"])
    found = ExpectedChanges()
    for email_id in column(db, query, address_of(db, gaps["person"]), gaps["subject"], *days):
        found += _copy(db, email_id, gaps["to"])
    return found


def _forward_about(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _copy(db, _last_about(db, gaps), gaps["to"])


def _forward_from(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _copy(db, _last_from(db, gaps), gaps["to"])


def _forward_to_two(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    email_id = _last_about(db, gaps)
    return _copy(db, email_id, gaps["to"]) + _copy(db, email_id, gaps["other"])


def _reply_latest(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _answer(db, _last_from(db, gaps), gaps["body"])


CHECKS: dict[str, Check] = {
    "delete_last": _delete_last,
    "delete_recent": _delete_recent,
    "send": _send,
    "reply_about": _reply_about,
    "forward_period": _forward_period,
    "forward_about": _forward_about,
    "forward_from": _forward_from,
    "forward_to_two": _forward_to_two,
    "reply_latest": _reply_latest,
}
