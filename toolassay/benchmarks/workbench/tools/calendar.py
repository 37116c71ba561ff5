"""Tools for the calendar. Replies and side effects are those of the published program."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from toolassay.benchmarks.workbench.records import Records
from toolassay.benchmarks.workbench.sandbox import CALENDAR, Sandbox
from toolassay.benchmarks.workbench.tools.tool import (
    Search,
    ToolFailure,
    look_up,
    parse_moment,
    remove_rows,
    tool,
)

DOMAIN = "calendar"
_NEEDED = {
    "event_name": "Event name",
    "participant_email": "Participant email",
    "event_start": "Event start",
    "duration": "Event duration",
}
_AT_MOST = 5


@tool(DOMAIN)
def create_event(sandbox: Sandbox, **given: Any) -> str:
    """The new event gets label 0, as in the published program, which does not renumber the calendar."""
    for name, noun in _NEEDED.items():
        if not given.get(name):
            return f"{noun} not provided."
    given["participant_email"] = given["participant_email"].lower()
    events = Records(sandbox, CALENDAR)
    event_id = f"{events.next_id():08d}"
    events.append({"event_id": event_id, **given}, label=0)
    return event_id


@tool(DOMAIN)
def delete_event(sandbox: Sandbox, event_id: Any = None) -> str:
    """Deletes every event with this id."""
    return remove_rows(sandbox, CALENDAR, "Event", event_id)


@tool(DOMAIN)
def update_event(sandbox: Sandbox, event_id: Any = None, field: Any = None, new_value: Any = None) -> str:
    """A field that is not a column becomes a new column, as in the published program."""
    if not event_id or not field or not new_value:
        return "Event ID, field, or new value not provided."
    if isinstance(field, bool):
        raise ToolFailure("a field is text, not a truth value")
    events = Records(sandbox, CALENDAR)
    if events.first(event_id) is None:
        return "Event not found."
    if field == "participant_email":
        new_value = new_value.lower()
    events.change(event_id, field, new_value)
    return "Event updated successfully."


@tool(DOMAIN)
def get_event_information_by_id(sandbox: Sandbox, event_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, CALENDAR, "Event", event_id, field)


@tool(DOMAIN)
def search_events(sandbox: Sandbox, query: Any = "", time_min: Any = None, time_max: Any = None) -> Any:
    """The first 5 matches, in table order."""
    rows = Records(sandbox, CALENDAR).all()
    edition = sandbox.edition
    search = Search(literal=edition.is_literal)
    found = search.either_contains(rows, query, "event_name", "participant_email")
    for bound, is_least in ((time_min, True), (time_max, False)):
        if bound and found:
            limit = parse_moment(bound, sandbox.now)
            kept = []
            for event in found:
                time = parse_moment(event["event_start"], sandbox.now)
                if time is not None and is_least and edition.searches_ends:
                    time += timedelta(minutes=int(event["duration"]))
                if time is not None and limit is not None and (time >= limit if is_least else time <= limit):
                    kept.append(event)
            found = kept
    return [dict(event) for event in found[:_AT_MOST]] or edition.replies["event"]
