"""Templates of requests across domains: meetings, e-mails, tasks and leads that depend on other data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    LISTS,
    PEOPLE,
    PROJECT,
    SALES,
    TODAY,
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
    new_customer,
    send,
    update_customers,
)
from toolassay.benchmarks.workbench.generate.template import (
    DURATIONS,
    Calls,
    Draft,
    Mix,
    template,
    working_days,
)

_CRM = "customer_relationship_manager"


@template(Mix(4, 6), _CRM, "calendar")
def _silent_customer(draft: Draft) -> Calls:
    customer, since, day = draft.customer(), draft.days_ago(14, 42), draft.working_day()
    free, owner = draft.first_free(day), person_of(text(customer, "assigned_to_email"))
    if text(customer, "last_contact_date") < str(since):
        yield book(f"Update on {customer['customer_name']}", owner, free, 30)


@template(Mix(one=10), "email", "calendar")
def _meet_sender(draft: Draft) -> Calls:
    mail, day = draft.rng.pick(draft.tables.email), draft.working_day()
    minutes = DURATIONS[draft.pick("length", DURATIONS)]
    moment, subject = draft.moment(day, 15), text(mail, "subject")
    draft.require(draft.tables.is_free(moment, minutes))
    draft.gaps["subject"] = subject
    draft.day("sent", sent_day(mail))
    yield book(subject, person_of(text(mail, "sender/recipient")), moment, minutes)


@template(Mix(7, 3), "email", "calendar")
def _quiet_colleague(draft: Draft) -> Calls:
    person, since, day = draft.pick("person", PEOPLE), draft.days_ago(2, 8), draft.working_day()
    moment = draft.moment(day, 16)
    draft.require(draft.tables.is_free(moment, 30))
    if not any(sent_day(mail) >= since for mail in draft.tables.emails(sender=person)):
        yield book(f"Catch up with {person}", person, moment, 30)


@template(Mix(4, 6), "project_management", "calendar")
def _overdue_meeting(draft: Draft) -> Calls:
    person, free = draft.pick("person", PROJECT), draft.first_free(draft.working_day())
    if draft.tables.overdue(person):
        yield book("Overdue tasks", person, free, 30)


@template(Mix(one=10), "analytics", "calendar")
def _figure_meeting(draft: Draft) -> Calls:
    found, person = draft.threshold(), draft.pick("person", PEOPLE)
    free = draft.first_free(draft.working_day())
    draft.require(found.holds)
    yield book(f"Discuss {found.metric}", person, free, 30)


@template(Mix(one=10), "email", "calendar")
def _remind(draft: Draft) -> Calls:
    day = draft.weekday("day", draft.rng.pick(draft.tables.future_days()))
    words, event = draft.letter("reminder"), draft.tables.events_on(day)[0]
    yield send(person_of(text(event, "participant_email")), text(event, "event_name"), words["body"])


@template(Mix(2, 8), "email", "calendar")
def _not_met(draft: Draft) -> Calls:
    person, since, words = draft.pick("person", PEOPLE), draft.days_ago(3, 20), draft.letter("not_met")
    if not draft.tables.met(person, since):
        yield send(person, **words)


@template(Mix(4, 6), "email", "calendar")
def _nothing_planned(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    last, words = draft.weekday("last", draft.rng.pick(working_days()[1:])), draft.letter("nothing_planned")
    if not any(start(event).date() <= last for event in draft.tables.future_events(person=person)):
        yield send(person, **words)


def _send_either(person: str, words: Mapping[str, str], *, first: bool) -> WorkbenchCall:
    """The e-mail with the first subject and body of a letter, or with the others."""
    which = "" if first else "else_"
    return send(person, words[f"{which}subject"], words[f"{which}body"])


@template(Mix(one=10), "email", "project_management")
def _praise_or_ask(draft: Draft) -> Calls:
    person, words = draft.pick("person", PROJECT), draft.letter("late_or_on_time")
    yield _send_either(person, words, first=bool(draft.tables.overdue(person)))


@template(Mix(2, 8), "analytics", "email")
def _figure_message(draft: Draft) -> Calls:
    found, person = draft.threshold(), draft.pick("person", PEOPLE)
    metric, bound = found.metric, f"{draft.gaps['direction']} {draft.gaps['threshold']}"
    if found.holds:
        yield send(person, f"Update on {metric}", f"I saw {metric} {bound}. Do you know why?")


@template(Mix(none=0, one=5, many=5), "email", "calendar", "project_management")
def _praise_or_meet(draft: Draft) -> Calls:
    person, free = draft.pick("person", PROJECT), draft.first_free(draft.working_day())
    words, late = draft.letter("late_meeting_or_on_time"), bool(draft.tables.overdue(person))
    if late:
        yield book("Overdue tasks", person, free, 30)
    yield _send_either(person, words, first=late)


def team_task(draft: Draft, metric: str) -> WorkbenchCall:
    """A new task "Improve …" for a person on their board. Gaps: board, person, due."""
    board = draft.pick("board", BOARDS)
    person = draft.pick("person", BOARDS[board])
    return create(f"Improve {metric}", person, due_day(draft), board)


def due_day(draft: Draft) -> date:
    """A working day of the next two weeks, in the gap `due`."""
    days = [day for day in working_days() if day <= TODAY + timedelta(days=15)]
    return draft.weekday("due", draft.rng.pick(days))


@template(Mix(3, 7), "analytics", "project_management")
def _task(draft: Draft) -> Calls:
    found = draft.threshold()
    task = team_task(draft, found.metric)
    return [task] if found.holds else []


@template(Mix(3, 7), "analytics", "project_management")
def _task_for_most(draft: Draft) -> Calls:
    found, board = draft.threshold(), draft.pick("board", BOARDS)
    due, state = due_day(draft), draft.pick("list", LISTS)
    load = {person: len(draft.tables.tasks(person, state)) for person in BOARDS[board]}
    best = [person for person, count in load.items() if count == max(load.values())]
    draft.require(len(best) == 1)
    if found.holds:
        yield create(f"Improve {found.metric}", best[0], due, board)


@template(Mix(6, 4), "analytics", "project_management")
def _race_task(draft: Draft) -> Calls:
    found = draft.race()
    task = team_task(draft, draft.gaps["other"])
    return [task] if found.holds else []


@template(Mix(one=10), "analytics", "email", "project_management")
def _task_or_praise(draft: Draft) -> Calls:
    found = draft.threshold()
    task, words = team_task(draft, found.metric), draft.letter("steady")
    mail = send(draft.gaps["person"], f"Recent figures for {found.metric}", **words)
    yield task if found.holds else mail


@template(Mix(none=5, many=5), "analytics", "calendar", "project_management")
def _race_task_and_meeting(draft: Draft) -> Calls:
    try:
        found = draft.race()
    finally:  # the day is drawn even if the race is too close
        day = draft.working_day()
    free, task = draft.first_free(day), team_task(draft, draft.gaps["other"])
    return [task, book(f"Discuss {found.metric}", draft.gaps["person"], free, 30)] if found.holds else []


@template(Mix(none=0, one=2, many=8), "analytics", "calendar", "email", "project_management")
def _task_and_meeting_or_praise(draft: Draft) -> Calls:
    found, free = draft.threshold(), draft.first_free(draft.working_day())
    task, words = team_task(draft, found.metric), draft.letter("steady")
    person = draft.gaps["person"]
    if found.holds:
        return [task, book(f"Discuss {found.metric}", person, free, 30)]
    return [send(person, f"Recent figures for {found.metric}", **words)]


@template(Mix(one=10), _CRM, "project_management")
def _lead_for_least_busy(draft: Draft) -> Calls:
    name, board = new_customer(draft), draft.pick("board", BOARDS)
    state = draft.pick("list", LISTS)
    # The first address in alphabetical order, where several people have as few tasks.
    load = {person: len(draft.tables.tasks(person, state)) for person in sorted(BOARDS[board], key=address)}
    yield add_customer(name, min(load, key=load.__getitem__))


@template(Mix(none=1, many=9), "analytics", _CRM)
def _drop_leads(draft: Draft) -> Calls:
    found, person = draft.threshold(), draft.pick("person", SALES)
    return delete_customers(draft.tables.leads(person)) if found.holds else []


@template(Mix(none=0, one=1, many=9), "analytics", _CRM, "email")
def _drop_leads_and_tell(draft: Draft) -> Calls:
    found, person = draft.threshold(direction="above"), draft.pick("person", SALES)
    words = draft.letter("enough_leads_or_not")
    if found.holds:
        yield from delete_customers(draft.tables.leads(person))
    yield _send_either(person, words, first=found.holds)


@template(Mix(many=10), "analytics", "calendar", "email", "project_management", _CRM)
def _improve_or_share_leads(draft: Draft) -> Calls:
    found, day = draft.threshold(), draft.working_day()
    owner, to = draft.two("owner", "to", SALES)
    free, task = draft.first_free(day), team_task(draft, found.metric)
    words, leads = draft.letter("more_leads"), draft.tables.leads(owner)
    if found.holds:
        return [task, book(f"Discuss {found.metric}", draft.gaps["person"], free, 30)]
    return [*update_customers(leads, "assigned_to_email", address(to)), send(to, **words)]
