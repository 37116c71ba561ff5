"""Requests that end in an e-mail, after a look elsewhere."""

from __future__ import annotations

from datetime import timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.templates.calendar import book
from toolassay.benchmarks.workbench.generate.templates.conditions import threshold
from toolassay.benchmarks.workbench.generate.templates.email import letter, send
from toolassay.benchmarks.workbench.generate.templates.facts import (
    events,
    events_on,
    first_free,
    future_days,
    future_events,
    overdue,
    start,
    text,
    working_days,
)
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template
from toolassay.benchmarks.workbench.generate.templates.wording import day_text, weekday_text
from toolassay.benchmarks.workbench.generate.world import NOW, PEOPLE, PROJECT, World, person_of


def _remind(world: World, dice: Dice) -> Filled:
    day, words = dice.pick(future_days(world)), letter(dice, "reminder")
    event = events_on(world, day)[0]
    person = person_of(text(event, "participant_email"))
    mail = send(person, text(event, "event_name"), words["body"])
    return Filled({"day": weekday_text(day), **words}, (mail,))


def _not_met(world: World, dice: Dice) -> Filled:
    person, days = dice.pick(PEOPLE), dice.between(3, 20)
    since = NOW - timedelta(days=days)
    met = any(since <= start(event) < NOW for event in events(world, person=person))
    words = letter(dice, "not_met")
    slots = {"person": person, "days": str(days), "since": day_text(since.date()), **words}
    return Filled(slots, () if met else (send(person, **words),))


def _nothing_planned(world: World, dice: Dice) -> Filled:
    person, last = dice.pick(PEOPLE), dice.pick(working_days()[1:])
    planned = any(start(event).date() <= last for event in future_events(world, person=person))
    words = letter(dice, "nothing_planned")
    slots = {"person": person, "last": weekday_text(last), **words}
    return Filled(slots, () if planned else (send(person, **words),))


def _praise_or_ask(world: World, dice: Dice) -> Filled:
    person, words = dice.pick(PROJECT), letter(dice, "late_or_on_time")
    if overdue(world, person):
        mail = send(person, words["subject"], words["body"])
    else:
        mail = send(person, words["else_subject"], words["else_body"])
    return Filled({"person": person, **words}, (mail,))


def _figure_message(world: World, dice: Dice) -> Filled:
    found, person = threshold(world, dice), dice.pick(PEOPLE)
    slots = {**found.slots, "person": person}
    metric, bound = found.metric, f"{slots['direction']} {slots['threshold']}"
    mail = send(person, f"Update on {metric}", f"I saw {metric} {bound}. Do you know why?")
    return Filled(slots, (mail,) if found.holds else ())


def _praise_or_meet(world: World, dice: Dice) -> Filled | None:
    person, day = dice.pick(PROJECT), dice.pick(working_days())
    free = first_free(world, day, 30)
    if free is None:
        return None
    words = letter(dice, "late_meeting_or_on_time")
    calls: tuple[Call, ...] = (send(person, words["else_subject"], words["else_body"]),)
    if overdue(world, person):
        mail = send(person, words["subject"], words["body"])
        calls = (book("Overdue tasks", person, free, 30), mail)
    return Filled({"person": person, "day": weekday_text(day), **words}, calls)


TEMPLATES = (
    Template("multi_domain.remind", ("email", "calendar"), Mix(one=10), _remind),
    Template("multi_domain.not_met", ("email", "calendar"), Mix(2, 8), _not_met),
    Template("multi_domain.nothing_planned", ("email", "calendar"), Mix(4, 6), _nothing_planned),
    Template("multi_domain.praise_or_ask", ("email", "project_management"), Mix(one=10), _praise_or_ask),
    Template("multi_domain.figure_message", ("analytics", "email"), Mix(2, 8), _figure_message),
    Template(
        "multi_domain.praise_or_meet",
        ("email", "calendar", "project_management"),
        Mix(none=0, one=5, many=5),
        _praise_or_meet,
    ),
)
