"""Requests that end in a meeting, after a look elsewhere."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.templates.calendar import book
from toolassay.benchmarks.workbench.generate.templates.conditions import threshold
from toolassay.benchmarks.workbench.generate.templates.facts import (
    emails,
    first_free,
    is_free,
    overdue,
    sent_day,
    text,
    working_days,
)
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template
from toolassay.benchmarks.workbench.generate.templates.wording import (
    DURATIONS,
    clock_text,
    day_text,
    weekday_text,
)
from toolassay.benchmarks.workbench.generate.world import PEOPLE, PROJECT, TODAY, World, person_of


def _silent_customer(world: World, dice: Dice) -> Filled | None:
    customer, days, day = (
        dice.pick(world.customer_relationship_manager),
        dice.between(14, 42),
        dice.pick(working_days()),
    )
    since, free = TODAY - timedelta(days=days), first_free(world, day, 30)
    if free is None:
        return None
    name, owner = text(customer, "customer_name"), person_of(text(customer, "assigned_to_email"))
    silent = text(customer, "last_contact_date") < str(since)
    slots = {"customer": name, "days": str(days), "since": day_text(since), "day": weekday_text(day)}
    return Filled(slots, (book(f"Update on {name}", owner, free, 30),) if silent else ())


def _meet_sender(world: World, dice: Dice) -> Filled | None:
    mail, day, length = dice.pick(world.email), dice.pick(working_days()), dice.pick(list(DURATIONS))
    moment = datetime(day.year, day.month, day.day, dice.between(9, 15), dice.pick([0, 30]))
    if not is_free(world, moment, DURATIONS[length]):
        return None
    subject, sender = text(mail, "subject"), person_of(text(mail, "sender/recipient"))
    slots = {
        "subject": subject,
        "sent": day_text(sent_day(mail)),
        "day": weekday_text(day),
        "time": clock_text(moment),
        "length": length,
    }
    return Filled(slots, (book(subject, sender, moment, DURATIONS[length]),))


def _quiet_colleague(world: World, dice: Dice) -> Filled | None:
    person, days, day = dice.pick(PEOPLE), dice.between(2, 8), dice.pick(working_days())
    since = TODAY - timedelta(days=days)
    moment = datetime(day.year, day.month, day.day, dice.between(9, 16), dice.pick([0, 30]))
    if not is_free(world, moment, 30):
        return None
    wrote = any(sent_day(mail) >= since for mail in emails(world, sender=person))
    slots = {
        "person": person,
        "days": str(days),
        "since": day_text(since),
        "day": weekday_text(day),
        "time": clock_text(moment),
    }
    return Filled(slots, () if wrote else (book(f"Catch up with {person}", person, moment, 30),))


def _overdue_meeting(world: World, dice: Dice) -> Filled | None:
    person, day = dice.pick(PROJECT), dice.pick(working_days())
    free = first_free(world, day, 30)
    if free is None:
        return None
    calls = (book("Overdue tasks", person, free, 30),) if overdue(world, person) else ()
    return Filled({"person": person, "day": weekday_text(day)}, calls)


def _figure_meeting(world: World, dice: Dice) -> Filled | None:
    found, person, day = threshold(world, dice), dice.pick(PEOPLE), dice.pick(working_days())
    free = first_free(world, day, 30)
    if free is None or not found.holds:
        return None
    slots = {**found.slots, "person": person, "day": weekday_text(day)}
    return Filled(slots, (book(f"Discuss {found.metric}", person, free, 30),))


TEMPLATES = (
    Template(
        "multi_domain.silent_customer",
        ("customer_relationship_manager", "calendar"),
        Mix(4, 6),
        _silent_customer,
    ),
    Template("multi_domain.meet_sender", ("email", "calendar"), Mix(one=10), _meet_sender),
    Template("multi_domain.quiet_colleague", ("email", "calendar"), Mix(7, 3), _quiet_colleague),
    Template("multi_domain.overdue_meeting", ("project_management", "calendar"), Mix(4, 6), _overdue_meeting),
    Template("multi_domain.figure_meeting", ("analytics", "calendar"), Mix(one=10), _figure_meeting),
)
