"""The calendar."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolassay.offline.agent.desk import Made, Steps, emails, events, first_gap
from toolassay.offline.agent.reading import Reading, the_first


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """Create, move, rename, cancel."""
    if not condition:
        return []
    days, texts = reading.days, reading.quoted
    person = reading.people[0] if reading.people else ""
    if reading.has("e-mail") and texts:
        found = yield from emails(texts[0], days[0], days[0])
        sender = the_first(row["sender/recipient"] for row in found if row["subject"] == texts[0])
        return [_create(texts[0], sender, f"{days[-1]} {reading.times[0]}", reading.minutes or 30)]
    if reading.has("gap", "free time", "as early as i am free") and texts:
        gap = yield from first_gap(days[-1], 30)
        return [_create(texts[0], person, gap, 30)] if gap else []
    if texts and days and reading.times and person:
        return [_create(texts[0], person, f"{days[0]} {reading.times[0]}", reading.minutes or 30)]
    if reading.has("later", "postpone", "move the start") and reading.minutes:
        found = yield from events(days[0], days[0], person)
        start = datetime.fromisoformat(found[0]["event_start"]) + timedelta(minutes=reading.minutes)
        return [_update(found[0]["event_id"], "event_start", str(start))]
    if reading.has("starts last", "latest", "final"):
        found = yield from events(days[0], days[0])
        return [_update(found[-1]["event_id"], "event_name", texts[0])]
    if texts and not days:
        found = yield from events(reading.today, None, texts[0])
        row = the_first(row for row in found if row["event_name"].lower() == texts[0].lower())
        return [
            _update(row["event_id"], "event_name", texts[1]) if len(texts) > 1 else _delete(row["event_id"])
        ]
    if texts:
        found = yield from events(days[0], None, texts[0])
        return [_delete(row["event_id"]) for row in found]
    if reading.times:
        found = yield from events(days[0], days[0])
        before, limit = reading.has("before"), f"{days[0]} {reading.times[0]}"
        return [
            _delete(row["event_id"])
            for row in found
            if (row["event_start"] < limit if before else row["event_start"] > limit)
        ]
    if person and reading.has("before", "ahead of", "until"):
        found = yield from events(reading.today, days[0] - timedelta(days=1), person)
        return [_delete(row["event_id"]) for row in found[:1]]
    if person:
        found = yield from events(days[0], None, person)
        return [_delete(row["event_id"]) for row in found]
    found = yield from events(days[0], days[0])
    return [_delete(found[0]["event_id"])]


def _create(name: str, person: str, start: str, minutes: int) -> Made:
    arguments = {"event_name": name, "participant_email": person, "event_start": start}
    return ("calendar.create_event", {**arguments, "duration": str(minutes)})


def _update(event_id: str, field: str, value: str) -> Made:
    return ("calendar.update_event", {"event_id": event_id, "field": field, "new_value": value})


def _delete(event_id: str) -> Made:
    return ("calendar.delete_event", {"event_id": event_id})
