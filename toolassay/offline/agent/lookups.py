"""Searches through the tools, page by page.

Each generator yields calls and receives what they returned.
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

# o'clock
OPENS = 9
# Hour at which the working day of the bundled workplace ends.
CLOSES = 18
# "Ann Lee" and "Ann van Dam", but not "Ann".
_NAME = re.compile(r"[A-Z][\w’'-]+ (?:[a-z]{2,3} )?[A-Z][\w-]+")
# Capitalised words that are no part of a name after them: "Add " of "Add Ann Lee".
_VERB = re.compile(r"\b(?:Add|Assign|Delete|Enter|Hand|Move|Put|Remove|Set|In Progress|In Review)\b ?")


def call_tool(name: str, /, **arguments: str) -> Steps[Any]:
    """Call one tool. Returns its result, parsed as JSON if possible."""
    (result,) = yield [(name, arguments)]
    try:
        return json.loads(result)
    except ValueError:
        return result


def rows(name: str, /, **arguments: str) -> Steps[list[FoundRow]]:
    """Call a tool that finds rows. Any other result counts as none."""
    result = yield from call_tool(name, **arguments)
    return [row for row in result if isinstance(row, dict)] if isinstance(result, list) else []


def colleague_addresses() -> Steps[list[str]]:
    result = yield from call_tool("company_directory.find_email_address", name="@")
    return [str(address) for address in result] if isinstance(result, list) else []


def events(first: date, last: date | None = None, query: str = "") -> Steps[list[FoundRow]]:
    """The meetings from one day to another, by start. The tool returns five per call."""
    until = {} if last is None else {"time_max": f"{last} 23:59:59"}
    begin = f"{first} 00:00:00"
    found_rows = list[FoundRow]()
    while True:
        page = yield from rows("calendar.search_events", query=query, time_min=begin, **until)
        found_rows += page
        if len(page) < 5:
            return sorted(found_rows, key=lambda row: str(row["event_start"]))
        begin = str(datetime.fromisoformat(page[-1]["event_start"]) + timedelta(seconds=1))


def _pages(name: str, key: str, day: str, until: str, arguments: dict[str, str]) -> Steps[list[FoundRow]]:
    """All rows of a tool that returns five per call, the latest first.

    Args:
        name: of the tool.
        key: column of the ids.
        day: column of the day by which the rows are sorted.
        until: parameter with the last day.
        arguments: of the first call.
    """
    rows_by_key: dict[str, FoundRow] = {}
    while True:
        page = yield from rows(name, **arguments)
        new = {row[key]: row for row in page if row[key] not in rows_by_key}
        rows_by_key |= new
        if len(page) < 5 or not new or page[-1][day] is None:
            return list(rows_by_key.values())
        arguments = {**arguments, until: str(page[-1][day])[:10]}


def emails(query: str, first: date | None = None) -> Steps[list[FoundRow]]:
    """The received e-mails that contain `query`, newest first."""
    arguments = {"query": query} | ({"date_min": str(first)} if first else {})
    sent_emails = yield from _pages("email.search_emails", "email_id", "sent_datetime", "date_max", arguments)
    return [row for row in sent_emails if row["inbox/outbox"] == "inbox"]


def customers(**arguments: str) -> Steps[list[FoundRow]]:
    """Customers, the latest contact first."""
    name = "customer_relationship_manager.search_customers"
    day = "last_contact_date"
    return (yield from _pages(name, "customer_id", day, f"{day}_max", arguments))


def tasks(**arguments: str) -> Steps[list[FoundRow]]:
    return (yield from rows("project_management.search_tasks", **arguments))


def customer_in(request: str) -> Steps[tuple[str, FoundRow | None]]:
    """The first customer named in a request; without one, the first name in it and None."""
    names = list(dict.fromkeys(_NAME.findall(_VERB.sub("", request))))
    for name in names:
        matching = yield from rows("customer_relationship_manager.search_customers", customer_name=name)
        if matching:
            return name, matching[0]
    return (names[0] if names else ""), None


def first_gap(day: date) -> Steps[str | None]:
    """The earliest start of half an hour of free time on a day, between 9:00 and 18:00."""
    busy = yield from events(day, day)
    free = datetime(day.year, day.month, day.day, OPENS)
    length = timedelta(minutes=30)
    for row in busy:
        start = datetime.fromisoformat(row["event_start"])
        if start - free >= length:
            break
        free = max(free, start + timedelta(minutes=int(row["duration"])))
    closes = datetime(day.year, day.month, day.day, CLOSES)
    return str(free) if free + length <= closes else None


def figures(metric: str, first: date, last: date) -> Steps[dict[str, float]]:
    """The values of a metric, or the visits from a traffic source, by day."""
    tools = {
        "total_visits": "total_visits_count",
        "user_engaged": "engaged_users_count",
        "session_duration_seconds": "get_average_session_duration",
    }
    bounds = {"time_min": str(first), "time_max": str(last)}
    if metric not in tools:
        bounds["traffic_source"] = metric
    result = yield from call_tool(f"analytics.{tools.get(metric, 'traffic_source_count')}", **bounds)
    return dict(result) if isinstance(result, dict) else {}
