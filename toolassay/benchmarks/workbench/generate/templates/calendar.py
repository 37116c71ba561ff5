"""Requests about the calendar."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.templates.facts import (
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
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template, call
from toolassay.benchmarks.workbench.generate.templates.wording import (
    DURATIONS,
    clock_text,
    day_text,
    weekday_text,
)
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import NOW, PEOPLE, Row, World, address, person_of

_CALENDAR = ("calendar",)


def _delete(found: Iterable[Row]) -> tuple[Call, ...]:
    return tuple(call("calendar.delete_event", event_id=text(event, "event_id")) for event in found)


def _update(event: Row, field: str, value: str) -> tuple[Call, ...]:
    return (call("calendar.update_event", event_id=text(event, "event_id"), field=field, new_value=value),)


def book(name: str, person: str, when: datetime, minutes: int) -> Call:
    """The call that books a meeting."""
    return call(
        "calendar.create_event",
        event_name=name,
        participant_email=address(person),
        event_start=str(when),
        duration=str(minutes),
    )


def _new_name(dice: Dice) -> str:
    return dice.pick(list[str](texts("events")["new"]))


def _cancel_first(world: World, dice: Dice) -> Filled:
    day = dice.pick(future_days(world, least=2))
    return Filled({"day": day_text(day)}, _delete(events_on(world, day)[:1]))


def _rename_last(world: World, dice: Dice) -> Filled:
    day, name = dice.pick(future_days(world, least=2)), _new_name(dice)
    event = events_on(world, day)[-1]
    return Filled({"day": weekday_text(day), "name": name}, _update(event, "event_name", name))


def _push_back(world: World, dice: Dice) -> Filled | None:
    event = dice.pick(future_events(world))
    person = person_of(text(event, "participant_email"))
    first = next(
        e for e in events_on(world, start(event).date()) if e["participant_email"] == address(person)
    )
    delay = dice.pick(["half an hour", "one hour", "an hour and a half", "two hours"])
    minutes = {"half an hour": 30, "one hour": 60, "an hour and a half": 90, "two hours": 120}[delay]
    later = start(first) + timedelta(minutes=minutes)
    if not is_free(world, later, int(text(first, "duration")), but=first):
        return None
    slots = {"person": person, "day": day_text(start(first).date()), "delay": delay}
    return Filled(slots, _update(first, "event_start", str(later)))


def _cancel_next_named(world: World, dice: Dice) -> Filled:
    name = text(dice.pick(future_events(world)), "event_name")
    return Filled({"name": name}, _delete(future_events(world, name=name)[:1]))


def _rename_next_named(world: World, dice: Dice) -> Filled:
    name, new = text(dice.pick(future_events(world)), "event_name"), _new_name(dice)
    event = future_events(world, name=name)[0]
    return Filled({"name": name, "new": new}, _update(event, "event_name", new))


def _cancel_next_with(world: World, dice: Dice) -> Filled:
    person, limit = dice.pick(PEOPLE), dice.pick(working_days()[2:])
    found = [event for event in future_events(world, person=person) if start(event).date() < limit]
    return Filled({"person": person, "limit": weekday_text(limit)}, _delete(found[:1]))


def _catch_up(world: World, dice: Dice) -> Filled | None:
    person, days, day = dice.pick(PEOPLE), dice.between(5, 25), dice.pick(working_days())
    since = NOW - timedelta(days=days)
    met = any(since <= start(event) < NOW for event in events(world, person=person))
    free = first_free(world, day, 30)
    if free is None:
        return None
    slots = {"person": person, "days": str(days), "since": day_text(since.date()), "day": weekday_text(day)}
    return Filled(slots, () if met else (book("Catch-up", person, free, 30),))


def _clear_part_of_day(world: World, dice: Dice) -> Filled:
    day, side = dice.pick(future_days(world)), dice.pick(["before", "after"])
    moment = datetime(day.year, day.month, day.day, dice.between(10, 15))
    found = [
        event
        for event in events_on(world, day)
        if (start(event) < moment if side == "before" else start(event) > moment)
    ]
    return Filled({"day": weekday_text(day), "side": side, "time": clock_text(moment)}, _delete(found))


def _cancel_all_with(world: World, dice: Dice) -> Filled:
    person, day = dice.pick(PEOPLE), dice.pick(working_days()[:6])
    found = [event for event in future_events(world, person=person) if start(event).date() >= day]
    return Filled({"person": person, "day": day_text(day)}, _delete(found))


def _cancel_all_named(world: World, dice: Dice) -> Filled:
    name, day = dice.pick(list[str](texts("events")["held"])), dice.pick(working_days()[:8])
    found = [event for event in future_events(world, name=name) if start(event).date() >= day]
    return Filled({"name": name, "day": day_text(day)}, _delete(found))


def _create(world: World, dice: Dice) -> Filled | None:
    person, day, name = dice.pick(PEOPLE), dice.pick(working_days()), _new_name(dice)
    moment = datetime(day.year, day.month, day.day, dice.between(9, 15), dice.pick([0, 30]))
    length = dice.pick(list(DURATIONS))
    if not is_free(world, moment, DURATIONS[length]):
        return None
    slots = {
        "person": person,
        "day": day_text(day),
        "name": name,
        "time": clock_text(moment),
        "length": length,
    }
    return Filled(slots, (book(name, person, moment, DURATIONS[length]),))


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
