"""Checks of requests across domains."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.calendar import met_since
from toolassay.benchmarks.workbench.generate.checks.customers import lead, leads
from toolassay.benchmarks.workbench.generate.checks.expected import (
    NOTHING,
    Check,
    ExpectedChanges,
    Gaps,
    changed,
    gone,
    mail,
    meeting,
    task,
)
from toolassay.benchmarks.workbench.generate.checks.lookups import (
    TODAY,
    address_of,
    check_free,
    column,
    crosses_threshold,
    days_before_today,
    first_free_slot,
    grew_faster,
    has_overdue_tasks,
    parse_day,
    parse_moment,
)
from toolassay.text_values.durations import parse_minutes


def _silent_customer(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since = parse_day(gaps["since"])
    if since != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the period differ")
    query = "SELECT assigned_to_email, last_contact_date FROM customers WHERE customer_name = ?"
    ((owner, contact),) = db.execute(query, (gaps["customer"],))
    if contact >= since:
        return NOTHING
    return meeting(f"Update on {gaps['customer']}", owner, first_free_slot(db, gaps["day"]), 30)


def _meet_sender(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = 'SELECT "sender/recipient" FROM emails WHERE subject = ? AND date(sent_datetime) = ?'
    (sender,) = column(db, query, gaps["subject"], parse_day(gaps["sent"]))
    start = parse_moment(gaps["day"], gaps["time"])
    check_free(db, start, parse_minutes(gaps["length"]))
    return meeting(gaps["subject"], sender, start, parse_minutes(gaps["length"]))


def _quiet_colleague(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    since, person = parse_day(gaps["since"]), address_of(db, gaps["person"])
    if since != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the period differ")
    query = 'SELECT 1 FROM emails WHERE "sender/recipient" = ? AND sent_datetime >= ?'
    if column(db, query, person, since):
        return NOTHING
    check_free(db, parse_moment(gaps["day"], gaps["time"]), 30)
    return meeting(f"Catch up with {gaps['person']}", person, parse_moment(gaps["day"], gaps["time"]), 30)


def _overdue_meeting(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    return (
        meeting("Overdue tasks", person, first_free_slot(db, gaps["day"]), 30)
        if has_overdue_tasks(db, person)
        else NOTHING
    )


def _talk(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return meeting(
        f"Discuss {gaps['metric']}", address_of(db, gaps["person"]), first_free_slot(db, gaps["day"]), 30
    )


def _figure_meeting(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _talk(db, gaps) if crosses_threshold(db, gaps) else NOTHING


def _remind(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    columns = "participant_email, event_name"
    query = f"SELECT {columns} FROM calendar_events WHERE date(event_start) = ? ORDER BY event_start"
    person, name = db.execute(query, (parse_day(gaps["day"]),)).fetchone()
    return mail(person, name, gaps["body"])


def _not_met(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    if met_since(db, gaps):
        return NOTHING
    return _letter(address_of(db, gaps["person"]), gaps)


def _nothing_planned(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    query = "SELECT 1 FROM calendar_events WHERE participant_email = ? AND date(event_start) BETWEEN ? AND ?"
    if column(db, query, person, TODAY, parse_day(gaps["last"])):
        return NOTHING
    return _letter(person, gaps)


def _letter(recipient: str, gaps: Gaps, which: str = "") -> ExpectedChanges:
    return mail(recipient, gaps[f"{which}subject"], gaps[f"{which}body"])


def _praise_or_ask(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    return _letter(person, gaps, "" if has_overdue_tasks(db, person) else "else_")


def _figure_message(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    if not crosses_threshold(db, gaps):
        return NOTHING
    text = f"I saw {gaps['metric']} {gaps['direction']} {gaps['threshold']}. Do you know why?"
    return mail(address_of(db, gaps["person"]), f"Update on {gaps['metric']}", text)


def _praise_or_meet(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    if not has_overdue_tasks(db, person):
        return _letter(person, gaps, "else_")
    return meeting("Overdue tasks", person, first_free_slot(db, gaps["day"]), 30) + _letter(person, gaps)


def _improve(db: sqlite3.Connection, gaps: Gaps, metric: str = "metric") -> ExpectedChanges:
    return task(
        f"Improve {gaps[metric]}", address_of(db, gaps["person"]), parse_day(gaps["due"]), gaps["board"]
    )


def _praise(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    subject = f"Recent figures for {gaps['metric']}"
    return mail(address_of(db, gaps["person"]), subject, gaps["body"])


def _task(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _improve(db, gaps) if crosses_threshold(db, gaps) else NOTHING


def _task_for_most(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = (
        "SELECT assigned_to_email, count(*) FROM tasks WHERE board = ? AND list_name = ? "
        "GROUP BY 1 ORDER BY 2 DESC"
    )
    (best, most), *others = db.execute(query, (gaps["board"], gaps["list"])).fetchall()
    if any(count == most for _, count in others):
        raise ValueError("several people have the most tasks")
    return (
        task(f"Improve {gaps['metric']}", best, parse_day(gaps["due"]), gaps["board"])
        if crosses_threshold(db, gaps)
        else NOTHING
    )


def _raced(db: sqlite3.Connection, gaps: Gaps) -> bool:
    return grew_faster(db, gaps["metric"], gaps["other"], parse_day(gaps["since"]))


def _race_task(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _improve(db, gaps, "other") if _raced(db, gaps) else NOTHING


def _race_task_and_meeting(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _improve(db, gaps, "other") + _talk(db, gaps) if _raced(db, gaps) else NOTHING


def _task_or_praise(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _improve(db, gaps) if crosses_threshold(db, gaps) else _praise(db, gaps)


def _task_and_meeting_or_praise(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return _improve(db, gaps) + _talk(db, gaps) if crosses_threshold(db, gaps) else _praise(db, gaps)


def _lead_for_least_busy(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = (
        "SELECT assigned_to_email FROM tasks WHERE board = ? GROUP BY assigned_to_email "
        "ORDER BY sum(list_name = ?), assigned_to_email LIMIT 1"
    )
    (person,) = column(db, query, gaps["board"], gaps["list"])
    return lead(db, gaps["customer"], person)


def _drop_leads(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return gone("customers", leads(db, gaps["person"])) if crosses_threshold(db, gaps) else NOTHING


def _drop_leads_and_tell(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    person = address_of(db, gaps["person"])
    if not crosses_threshold(db, gaps, "above"):
        return _letter(person, gaps, "else_")
    return gone("customers", leads(db, gaps["person"])) + _letter(person, gaps)


def _improve_or_share_leads(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    if crosses_threshold(db, gaps):
        return _improve(db, gaps) + _talk(db, gaps)
    to = address_of(db, gaps["to"])
    moved = changed("customers", leads(db, gaps["owner"]), "assigned_to_email", to)
    return moved + _letter(to, gaps)


CHECKS: dict[str, Check] = {
    "silent_customer": _silent_customer,
    "meet_sender": _meet_sender,
    "quiet_colleague": _quiet_colleague,
    "overdue_meeting": _overdue_meeting,
    "figure_meeting": _figure_meeting,
    "remind": _remind,
    "not_met": _not_met,
    "nothing_planned": _nothing_planned,
    "praise_or_ask": _praise_or_ask,
    "figure_message": _figure_message,
    "praise_or_meet": _praise_or_meet,
    "task": _task,
    "task_for_most": _task_for_most,
    "race_task": _race_task,
    "task_or_praise": _task_or_praise,
    "race_task_and_meeting": _race_task_and_meeting,
    "task_and_meeting_or_praise": _task_and_meeting_or_praise,
    "lead_for_least_busy": _lead_for_least_busy,
    "drop_leads": _drop_leads,
    "drop_leads_and_tell": _drop_leads_and_tell,
    "improve_or_share_leads": _improve_or_share_leads,
}
