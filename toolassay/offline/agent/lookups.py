"""Searches through the tools, page by page.

Each generator yields calls and is sent what they returned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

PlannedCall = tuple[str, dict[str, str]]
FoundRow = dict[str, Any]
Result = TypeVar("Result")
Steps = Generator[Sequence[PlannedCall], list[str], Result]

OPENS, CLOSES = 9, 18  # o'clock
_NAME = re.compile(r"[A-Z][\w’'-]+ (?:[a-z]{2,3} )?[A-Z][\w-]+")
_VERB = re.compile(r"\b(?:Add|Assign|Delete|Enter|Hand|Move|Put|Remove|Set|In Progress|In Review)\b ?")


def call_tool(name: str, /, **arguments: str) -> Steps[Any]:
    """Call one tool; what it returned, read as JSON where it is any."""
    (told,) = yield [(name, arguments)]
    try:
        return json.loads(told)
    except ValueError:
        return told


def rows(name: str, /, **arguments: str) -> Steps[list[FoundRow]]:
    """Call a tool that finds rows; none where it says anything else."""
    found = yield from call_tool(name, **arguments)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def colleague_addresses() -> Steps[list[str]]:
    """The addresses of all colleagues."""
    found = yield from call_tool("company_directory.find_email_address", name="@")
    return [str(address) for address in found] if isinstance(found, list) else []


def events(first: date, last: date | None = None, query: str = "") -> Steps[list[FoundRow]]:
    """The meetings from one day to another, by start; the tool tells five at a time."""
    until = {} if last is None else {"time_max": f"{last} 23:59:59"}
    begin, found = f"{first} 00:00:00", list[FoundRow]()
    while True:
        page = yield from rows("calendar.search_events", query=query, time_min=begin, **until)
        found += page
        if len(page) < 5:
            return sorted(found, key=lambda row: str(row["event_start"]))
        begin = str(datetime.fromisoformat(page[-1]["event_start"]) + timedelta(seconds=1))


def emails(query: str, first: date | None = None, last: date | None = None) -> Steps[list[FoundRow]]:
    """The e-mails received that hold some words, newest first; the tool tells five at a time."""
    bounds = {name: str(day) for name, day in (("date_min", first), ("date_max", last)) if day}
    found: dict[str, FoundRow] = {}
    while True:
        page = yield from rows("email.search_emails", query=query, **bounds)
        new = [row for row in page if row["email_id"] not in found]
        found |= {row["email_id"]: row for row in new}
        if len(page) < 5 or not new:
            return [row for row in found.values() if row["inbox/outbox"] == "inbox"]
        bounds["date_max"] = str(page[-1]["sent_datetime"])[:10]


def customers(**arguments: str) -> Steps[list[FoundRow]]:
    """Customers, those spoken to last first; the tool tells five at a time."""
    found: dict[str, FoundRow] = {}
    while True:
        page = yield from rows("customer_relationship_manager.search_customers", **arguments)
        new = [row for row in page if row["customer_id"] not in found]
        found |= {row["customer_id"]: row for row in new}
        if len(page) < 5 or not new or page[-1]["last_contact_date"] is None:
            return list(found.values())
        arguments["last_contact_date_max"] = page[-1]["last_contact_date"]


def tasks(**arguments: str) -> Steps[list[FoundRow]]:
    """Tasks on the boards."""
    return (yield from rows("project_management.search_tasks", **arguments))


def customer_in(request: str) -> Steps[tuple[str, FoundRow | None]]:
    """The first customer named in a request; a name that no customer has, if there is none."""
    names = list(dict.fromkeys(_NAME.findall(_VERB.sub("", request))))
    for name in names:
        found = yield from rows("customer_relationship_manager.search_customers", customer_name=name)
        if found:
            return name, found[0]
    return (names[0] if names else ""), None


def first_gap(day: date, minutes: int) -> Steps[str | None]:
    """The earliest start on a day that leaves so many minutes free."""
    busy = yield from events(day, day)
    free = datetime(day.year, day.month, day.day, OPENS)
    length = timedelta(minutes=minutes)
    for row in busy:
        start = datetime.fromisoformat(row["event_start"])
        if start - free >= length:
            break
        free = max(free, start + timedelta(minutes=int(row["duration"])))
    closes = datetime(day.year, day.month, day.day, CLOSES)
    return str(free) if free + length <= closes else None


def figures(metric: str, first: date, last: date) -> Steps[dict[str, float]]:
    """The daily figures of a metric, or of a traffic source."""
    tools = {
        "total_visits": "total_visits_count",
        "user_engaged": "engaged_users_count",
        "session_duration_seconds": "get_average_session_duration",
    }
    bounds = {"time_min": str(first), "time_max": str(last)}
    if metric not in tools:
        bounds["traffic_source"] = metric
    found = yield from call_tool(f"analytics.{tools.get(metric, 'traffic_source_count')}", **bounds)
    return dict(found) if isinstance(found, dict) else {}
