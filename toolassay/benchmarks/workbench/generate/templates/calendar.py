"""Templates of requests about the calendar."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    NOW,
    PEOPLE,
    Row,
    Tables,
    address,
    person_of,
    texts,
)
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.templates.lookups import (
    events,
    events_on,
    first_free,
    future_days,
    future_events,
    is_free,
    start,
    text,
    working_days,
)
from toolassay.benchmarks.workbench.generate.templates.template import (
    DURATIONS,
    FilledTemplate,
    Mix,
    Template,
    call,
    clock_text,
    day_text,
    weekday_text,
)

_CALENDAR = ("calendar",)


def _delete(found: Iterable[Row]) -> tuple[WorkbenchCall, ...]:
    return tuple(call("calendar.delete_event", event_id=text(event, "event_id")) for event in found)


def _update(event: Row, field: str, value: str) -> tuple[WorkbenchCall, ...]:
    return (call("calendar.update_event", event_id=text(event, "event_id"), field=field, new_value=value),)


def book(name: str, person: str, when: datetime, minutes: int) -> WorkbenchCall:
    """The ground-truth call that adds a meeting."""
    return call(
        "calendar.create_event",
        event_name=name,
        participant_email=address(person),
        event_start=str(when),
        duration=str(minutes),
    )


def _new_name(rng: SeededRandom) -> str:
    return rng.pick(list[str](texts("events")["new"]))


def _cancel_first(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day = rng.pick(future_days(tables, least=2))
    return FilledTemplate({"day": day_text(day)}, _delete(events_on(tables, day)[:1]))


def _rename_last(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, name = rng.pick(future_days(tables, least=2)), _new_name(rng)
    event = events_on(tables, day)[-1]
    return FilledTemplate({"day": weekday_text(day), "name": name}, _update(event, "event_name", name))


def _push_back(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    event = rng.pick(future_events(tables))
    person = person_of(text(event, "participant_email"))
    first = next(
        e for e in events_on(tables, start(event).date()) if e["participant_email"] == address(person)
    )
    delay = rng.pick(["half an hour", "one hour", "an hour and a half", "two hours"])
    minutes = {"half an hour": 30, "one hour": 60, "an hour and a half": 90, "two hours": 120}[delay]
    later = start(first) + timedelta(minutes=minutes)
    if not is_free(tables, later, int(text(first, "duration")), but=first):
        return None
    slots = {"person": person, "day": day_text(start(first).date()), "delay": delay}
    return FilledTemplate(slots, _update(first, "event_start", str(later)))


def _cancel_next_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name = text(rng.pick(future_events(tables)), "event_name")
    return FilledTemplate({"name": name}, _delete(future_events(tables, name=name)[:1]))


def _rename_next_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, new = text(rng.pick(future_events(tables)), "event_name"), _new_name(rng)
    event = future_events(tables, name=name)[0]
    return FilledTemplate({"name": name, "new": new}, _update(event, "event_name", new))


def _cancel_next_with(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, limit = rng.pick(PEOPLE), rng.pick(working_days()[2:])
    found = [event for event in future_events(tables, person=person) if start(event).date() < limit]
    return FilledTemplate({"person": person, "limit": weekday_text(limit)}, _delete(found[:1]))


def _catch_up(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, days, day = rng.pick(PEOPLE), rng.between(5, 25), rng.pick(working_days())
    since = NOW - timedelta(days=days)
    met = any(since <= start(event) < NOW for event in events(tables, person=person))
    free = first_free(tables, day, 30)
    if free is None:
        return None
    slots = {"person": person, "days": str(days), "since": day_text(since.date()), "day": weekday_text(day)}
    return FilledTemplate(slots, () if met else (book("Catch-up", person, free, 30),))


def _clear_part_of_day(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, side = rng.pick(future_days(tables)), rng.pick(["before", "after"])
    moment = datetime(day.year, day.month, day.day, rng.between(10, 15))
    found = [
        event
        for event in events_on(tables, day)
        if (start(event) < moment if side == "before" else start(event) > moment)
    ]
    return FilledTemplate(
        {"day": weekday_text(day), "side": side, "time": clock_text(moment)}, _delete(found)
    )


def _cancel_all_with(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, day = rng.pick(PEOPLE), rng.pick(working_days()[:6])
    found = [event for event in future_events(tables, person=person) if start(event).date() >= day]
    return FilledTemplate({"person": person, "day": day_text(day)}, _delete(found))


def _cancel_all_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, day = rng.pick(list[str](texts("events")["held"])), rng.pick(working_days()[:8])
    found = [event for event in future_events(tables, name=name) if start(event).date() >= day]
    return FilledTemplate({"name": name, "day": day_text(day)}, _delete(found))


def _create(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, day, name = rng.pick(PEOPLE), rng.pick(working_days()), _new_name(rng)
    moment = datetime(day.year, day.month, day.day, rng.between(9, 15), rng.pick([0, 30]))
    length = rng.pick(list(DURATIONS))
    if not is_free(tables, moment, DURATIONS[length]):
        return None
    slots = {
        "person": person,
        "day": day_text(day),
        "name": name,
        "time": clock_text(moment),
        "length": length,
    }
    return FilledTemplate(slots, (book(name, person, moment, DURATIONS[length]),))


TEMPLATES = (
    Template("calendar.cancel_first", _CALENDAR, Mix(one=10), _cancel_first),
    Template("calendar.rename_last", _CALENDAR, Mix(one=10), _rename_last),
    Template("calendar.push_back", _CALENDAR, Mix(one=10), _push_back),
    Template("calendar.cancel_next_named", _CALENDAR, Mix(one=10), _cancel_next_named),
    Template("calendar.rename_next_named", _CALENDAR, Mix(one=10), _rename_next_named),
    Template("calendar.cancel_next_with", _CALENDAR, Mix(1, 9), _cancel_next_with),
    Template("calendar.catch_up", _CALENDAR, Mix(5, 5), _catch_up),
    Template("calendar.clear_part_of_day", _CALENDAR, Mix(2, 1, 7), _clear_part_of_day),
    Template("calendar.cancel_all_with", _CALENDAR, Mix(none=0, one=2, many=8), _cancel_all_with),
    Template("calendar.cancel_all_named", _CALENDAR, Mix(3, 5, 2), _cancel_all_named),
    Template("calendar.create", _CALENDAR, Mix(one=10), _create),
)
