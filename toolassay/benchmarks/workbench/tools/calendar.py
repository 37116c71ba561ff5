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
    optional,
    parse_moment,
    remove_rows,
    required,
    tool,
)

DOMAIN = "calendar"
_FIELDS = "event_name, participant_email, event_start or duration"
_NEEDED = {
    "event_name": "Event name",
    "participant_email": "Participant email",
    "event_start": "Event start",
    "duration": "Event duration",
}
_AT_MOST = 5


@tool(
    DOMAIN,
    "Put a meeting into the calendar. Returns the id of the new event.",
    changes_state=True,
    event_name=required("What the meeting is called."),
    participant_email=required("E-mail address of the colleague to meet."),
    event_start=required("When it starts: YYYY-MM-DD HH:MM:SS."),
    duration=required("How many minutes it lasts, e.g. 30."),
)
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


@tool(
    DOMAIN,
    "Remove an event from the calendar.",
    changes_state=True,
    event_id=required("Id of the event, 8 digits."),
)
def delete_event(sandbox: Sandbox, event_id: Any = None) -> str:
    """Deletes every event with this id."""
    return remove_rows(sandbox, CALENDAR, "Event", event_id)


@tool(
    DOMAIN,
    "Change one detail of an event.",
    changes_state=True,
    event_id=required("Id of the event, 8 digits."),
    field=required(f"Which detail: {_FIELDS}."),
    new_value=required("What it is to be from now on."),
)
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


@tool(
    DOMAIN,
    "Look up one detail of an event.",
    event_id=required("Id of the event, 8 digits."),
    field=required(f"Which detail: {_FIELDS}."),
)
def get_event_information_by_id(sandbox: Sandbox, event_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, CALENDAR, "Event", event_id, field)


@tool(
    DOMAIN,
    "Find events by words and by time: the first 5 that fit.",
    query=optional("What the event's name or the participant's address contains."),
    time_min=optional("The event starts then or later: YYYY-MM-DD HH:MM:SS; a date alone is its midnight."),
    time_max=optional("The event starts then or earlier: YYYY-MM-DD HH:MM:SS; a date alone is its midnight."),
)
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
