"""Templates of requests across domains: meetings, e-mails, tasks and leads that depend on other data."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    LISTS,
    NOW,
    PEOPLE,
    PROJECT,
    SALES,
    TODAY,
    SeededRandom,
    Tables,
    address,
    person_of,
    sent_day,
    start,
    text,
)
from toolassay.benchmarks.workbench.generate.single_domain import (
    add_customer,
    book,
    create,
    delete_customers,
    letter,
    new_customer,
    send,
    update_customers,
)
from toolassay.benchmarks.workbench.generate.template import (
    DURATIONS,
    FilledTemplate,
    Mix,
    clock_text,
    day_text,
    race,
    template,
    threshold,
    weekday_text,
    working_days,
)

_CRM = "customer_relationship_manager"


@template(Mix(4, 6), _CRM, "calendar")
def _silent_customer(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    customer, days, day = (
        rng.pick(tables.customer_relationship_manager),
        rng.between(14, 42),
        rng.pick(working_days()),
    )
    since, free = TODAY - timedelta(days=days), tables.first_free(day, 30)
    if free is None:
        return None
    name, owner = text(customer, "customer_name"), person_of(text(customer, "assigned_to_email"))
    silent = text(customer, "last_contact_date") < str(since)
    slots = {"customer": name, "days": str(days), "since": day_text(since), "day": weekday_text(day)}
    return FilledTemplate(slots, (book(f"Update on {name}", owner, free, 30),) if silent else ())


@template(Mix(one=10), "email", "calendar")
def _meet_sender(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    mail, day, length = rng.pick(tables.email), rng.pick(working_days()), rng.pick(list(DURATIONS))
    moment = datetime(day.year, day.month, day.day, rng.between(9, 15), rng.pick([0, 30]))
    if not tables.is_free(moment, DURATIONS[length]):
        return None
    subject, sender = text(mail, "subject"), person_of(text(mail, "sender/recipient"))
    slots = {
        "subject": subject,
        "sent": day_text(sent_day(mail)),
        "day": weekday_text(day),
        "time": clock_text(moment),
        "length": length,
    }
    return FilledTemplate(slots, (book(subject, sender, moment, DURATIONS[length]),))


@template(Mix(7, 3), "email", "calendar")
def _quiet_colleague(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, days, day = rng.pick(PEOPLE), rng.between(2, 8), rng.pick(working_days())
    since = TODAY - timedelta(days=days)
    moment = datetime(day.year, day.month, day.day, rng.between(9, 16), rng.pick([0, 30]))
    if not tables.is_free(moment, 30):
        return None
    wrote = any(sent_day(mail) >= since for mail in tables.emails(sender=person))
    slots = {
        "person": person,
        "days": str(days),
        "since": day_text(since),
        "day": weekday_text(day),
        "time": clock_text(moment),
    }
    return FilledTemplate(slots, () if wrote else (book(f"Catch up with {person}", person, moment, 30),))


@template(Mix(4, 6), "project_management", "calendar")
def _overdue_meeting(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, day = rng.pick(PROJECT), rng.pick(working_days())
    free = tables.first_free(day, 30)
    if free is None:
        return None
    calls = (book("Overdue tasks", person, free, 30),) if tables.overdue(person) else ()
    return FilledTemplate({"person": person, "day": weekday_text(day)}, calls)


@template(Mix(one=10), "analytics", "calendar")
def _figure_meeting(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found, person, day = threshold(tables, rng), rng.pick(PEOPLE), rng.pick(working_days())
    free = tables.first_free(day, 30)
    if free is None or not found.holds:
        return None
    slots = {**found.slots, "person": person, "day": weekday_text(day)}
    return FilledTemplate(slots, (book(f"Discuss {found.metric}", person, free, 30),))


@template(Mix(one=10), "email", "calendar")
def _remind(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, words = rng.pick(tables.future_days()), letter(rng, "reminder")
    event = tables.events_on(day)[0]
    person = person_of(text(event, "participant_email"))
    mail = send(person, text(event, "event_name"), words["body"])
    return FilledTemplate({"day": weekday_text(day), **words}, (mail,))


@template(Mix(2, 8), "email", "calendar")
def _not_met(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, days = rng.pick(PEOPLE), rng.between(3, 20)
    since = NOW - timedelta(days=days)
    met = any(since <= start(event) < NOW for event in tables.events(person=person))
    words = letter(rng, "not_met")
    slots = {"person": person, "days": str(days), "since": day_text(since.date()), **words}
    return FilledTemplate(slots, () if met else (send(person, **words),))


@template(Mix(4, 6), "email", "calendar")
def _nothing_planned(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PEOPLE), rng.pick(working_days()[1:])
    planned = any(start(event).date() <= last for event in tables.future_events(person=person))
    words = letter(rng, "nothing_planned")
    slots = {"person": person, "last": weekday_text(last), **words}
    return FilledTemplate(slots, () if planned else (send(person, **words),))


@template(Mix(one=10), "email", "project_management")
def _praise_or_ask(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, words = rng.pick(PROJECT), letter(rng, "late_or_on_time")
    if tables.overdue(person):
        mail = send(person, words["subject"], words["body"])
    else:
        mail = send(person, words["else_subject"], words["else_body"])
    return FilledTemplate({"person": person, **words}, (mail,))


@template(Mix(2, 8), "analytics", "email")
def _figure_message(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    found, person = threshold(tables, rng), rng.pick(PEOPLE)
    slots = {**found.slots, "person": person}
    metric, bound = found.metric, f"{slots['direction']} {slots['threshold']}"
    mail = send(person, f"Update on {metric}", f"I saw {metric} {bound}. Do you know why?")
    return FilledTemplate(slots, (mail,) if found.holds else ())


@template(Mix(none=0, one=5, many=5), "email", "calendar", "project_management")
def _praise_or_meet(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, day = rng.pick(PROJECT), rng.pick(working_days())
    free = tables.first_free(day, 30)
    if free is None:
        return None
    words = letter(rng, "late_meeting_or_on_time")
    calls: tuple[WorkbenchCall, ...] = (send(person, words["else_subject"], words["else_body"]),)
    if tables.overdue(person):
        mail = send(person, words["subject"], words["body"])
        calls = (book("Overdue tasks", person, free, 30), mail)
    return FilledTemplate({"person": person, "day": weekday_text(day), **words}, calls)


def team_task(rng: SeededRandom, metric: str) -> tuple[dict[str, str], WorkbenchCall]:
    """A new task "Improve …" for a person on their board.

    Returns:
        The gaps `board`, `person` and `due`, and the ground-truth call.
    """
    board = rng.pick(list(BOARDS))
    person, due = rng.pick(BOARDS[board]), due_day(rng)
    slots = {"board": board, "person": person, "due": weekday_text(due)}
    return slots, create(f"Improve {metric}", person, due, board)


def due_day(rng: SeededRandom) -> date:
    """A random working day of the next two weeks."""
    return rng.pick([day for day in working_days() if day <= TODAY + timedelta(days=15)])


@template(Mix(3, 7), "analytics", "project_management")
def _task(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    found = threshold(tables, rng)
    slots, task = team_task(rng, found.metric)
    return FilledTemplate({**found.slots, **slots}, (task,) if found.holds else ())


@template(Mix(3, 7), "analytics", "project_management")
def _task_for_most(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found, board, due = threshold(tables, rng), rng.pick(list(BOARDS)), due_day(rng)
    state = rng.pick(LISTS)
    load = {person: len(tables.tasks(person, state)) for person in BOARDS[board]}
    best = [person for person, count in load.items() if count == max(load.values())]
    if len(best) > 1:
        return None
    slots = {**found.slots, "board": board, "list": state, "due": weekday_text(due)}
    task = create(f"Improve {found.metric}", best[0], due, board)
    return FilledTemplate(slots, (task,) if found.holds else ())


@template(Mix(6, 4), "analytics", "project_management")
def _race_task(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found = race(tables, rng)
    if found is None:
        return None
    slots, task = team_task(rng, found.slots["other"])
    return FilledTemplate({**found.slots, **slots}, (task,) if found.holds else ())


@template(Mix(one=10), "analytics", "email", "project_management")
def _task_or_praise(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    found = threshold(tables, rng)
    slots, task = team_task(rng, found.metric)
    words = letter(rng, "steady")
    mail = send(slots["person"], f"Recent figures for {found.metric}", **words)
    return FilledTemplate({**found.slots, **slots, **words}, (task if found.holds else mail,))


@template(Mix(none=5, many=5), "analytics", "calendar", "project_management")
def _race_task_and_meeting(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found, day = race(tables, rng), rng.pick(working_days())
    free = tables.first_free(day, 30)
    if found is None or free is None:
        return None
    slots, task = team_task(rng, found.slots["other"])
    calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    return FilledTemplate({**found.slots, **slots, "day": weekday_text(day)}, calls if found.holds else ())


@template(Mix(none=0, one=2, many=8), "analytics", "calendar", "email", "project_management")
def _task_and_meeting_or_praise(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found, day = threshold(tables, rng), rng.pick(working_days())
    free = tables.first_free(day, 30)
    if free is None:
        return None
    slots, task = team_task(rng, found.metric)
    words = letter(rng, "steady")
    slots |= {"day": weekday_text(day), **words}
    calls: tuple[WorkbenchCall, ...] = (send(slots["person"], f"Recent figures for {found.metric}", **words),)
    if found.holds:
        calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    return FilledTemplate({**found.slots, **slots}, calls)


@template(Mix(one=10), _CRM, "project_management")
def _lead_for_least_busy(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, board = new_customer(rng), rng.pick(list(BOARDS))
    state = rng.pick(LISTS)
    load = {address(person): len(tables.tasks(person, state)) for person in BOARDS[board]}
    chosen = min(sorted(load), key=load.__getitem__)
    person = next(person for person in BOARDS[board] if address(person) == chosen)
    return FilledTemplate({"customer": name, "board": board, "list": state}, (add_customer(name, person),))


@template(Mix(none=1, many=9), "analytics", _CRM)
def _drop_leads(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    found, person = threshold(tables, rng), rng.pick(SALES)
    calls = delete_customers(tables.leads(person))
    return FilledTemplate({**found.slots, "person": person}, calls if found.holds else ())


@template(Mix(none=0, one=1, many=9), "analytics", _CRM, "email")
def _drop_leads_and_tell(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    found, person = threshold(tables, rng, direction="above"), rng.pick(SALES)
    words = letter(rng, "enough_leads_or_not")
    calls: tuple[WorkbenchCall, ...] = (send(person, words["else_subject"], words["else_body"]),)
    if found.holds:
        calls = (*delete_customers(tables.leads(person)), send(person, words["subject"], words["body"]))
    slots = {key: value for key, value in found.slots.items() if key != "direction"}
    return FilledTemplate({**slots, "person": person, **words}, calls)


@template(Mix(many=10), "analytics", "calendar", "email", "project_management", _CRM)
def _improve_or_share_leads(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found, day = threshold(tables, rng), rng.pick(working_days())
    owner, to = rng.some(SALES, 2)
    free = tables.first_free(day, 30)
    if free is None:
        return None
    slots, task = team_task(rng, found.metric)
    words = letter(rng, "more_leads")
    calls: tuple[WorkbenchCall, ...] = (
        *update_customers(tables.leads(owner), "assigned_to_email", address(to)),
        send(to, **words),
    )
    if found.holds:
        calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    slots |= {"day": weekday_text(day), "owner": owner, "to": to, **words}
    return FilledTemplate({**found.slots, **slots}, calls)
