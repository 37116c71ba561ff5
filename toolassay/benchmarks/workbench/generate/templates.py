"""The templates of requests: those in one domain, and those across domains, which depend on other data."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    FIRST_EMAIL_DAY,
    LISTS,
    PEOPLE,
    PRODUCTS,
    PROJECT,
    SALES,
    STATUSES,
    TODAY,
    YESTERDAY,
    Row,
    address,
    daily,
    person_of,
    sent_day,
    start,
    text,
    texts,
)
from toolassay.benchmarks.workbench.generate.draft import (
    DURATIONS,
    FIRST_VISIT,
    METRICS,
    SOURCES,
    Calls,
    Condition,
    Draft,
    between,
    call,
    clock_text,
    template,
    working_days,
)

_CRM = "customer_relationship_manager"


def _of_each(tool: str, key: str, rows: Iterable[Row], **more: str) -> Calls:
    return [call(tool, **{key: text(row, key)}, **more) for row in rows]


def _set_in_each(tool: str, key: str, rows: Iterable[Row], field: str, value: str) -> Calls:
    return _of_each(tool, key, rows, field=field, new_value=value)


_delete = partial(_of_each, "calendar.delete_event", "event_id")
_delete_emails = partial(_of_each, "email.delete_email", "email_id")
delete_customers = partial(_of_each, f"{_CRM}.delete_customer", "customer_id")
"""The ground-truth calls that delete customers."""
_update = partial(_set_in_each, "calendar.update_event", "event_id")
_update_tasks = partial(_set_in_each, "project_management.update_task", "task_id")
update_customers = partial(_set_in_each, f"{_CRM}.update_customer", "customer_id")
"""The ground-truth calls that set one field of each customer."""


def _plot(first: date, last: date, kind: str, *metrics: str) -> Calls:
    period = {"time_min": str(first), "time_max": str(last)}
    for metric in metrics:
        value = METRICS.get(metric) or SOURCES[metric]
        yield call("analytics.create_plot", **period, value_to_plot=value, plot_type=kind)


@template("analytics.plot_since")
def _plot_since(draft: Draft) -> Calls:
    since = draft.any_day()
    metric = draft.pick("metric", METRICS)
    return _plot(since, YESTERDAY, draft.pick("kind", ("bar", "line", "scatter")), metric)


@template("analytics.one_day")
def _one_day(draft: Draft) -> Calls:
    day = draft.any_day("day")
    return _plot(day, day, "histogram", draft.pick("metric", METRICS))


@template("analytics.two_histograms")
def _two_histograms(draft: Draft) -> Calls:
    first = draft.any_day("first")
    last = draft.day("last", first + timedelta(days=draft.rng.between(2, (YESTERDAY - first).days)))
    return _plot(first, last, "histogram", *draft.two("metric", "other", METRICS))


def _line_if(condition: Condition, last: date = YESTERDAY) -> Calls:
    return _plot(condition.since, last, "line", condition.metric) if condition.holds else []


@template("analytics.threshold")
def _threshold(draft: Draft) -> Calls:
    return _line_if(draft.threshold())


@template("analytics.two_bars")
def _two_bars(draft: Draft) -> Calls:
    return _plot(draft.any_day(), YESTERDAY, "bar", *draft.two("metric", "other", METRICS))


@template("analytics.recent_threshold")
def _recent_threshold(draft: Draft) -> Calls:
    days = draft.pick("days", ("7", "14", "21", "28", "35", "42"))
    return _line_if(draft.threshold(TODAY - timedelta(days=int(days))))


@template("analytics.change_since")
def _change_since(draft: Draft) -> Calls:
    return _line_if(draft.change(draft.any_day(), YESTERDAY))


@template("analytics.change_since_weekday")
def _change_since_weekday(draft: Draft) -> Calls:
    since = draft.weekday("since", YESTERDAY - timedelta(days=draft.rng.between(1, 6)))
    return _line_if(draft.change(since, YESTERDAY))


@template("analytics.week_on_week")
def _week_on_week(draft: Draft) -> Calls:
    last = draft.weekday("last", YESTERDAY - timedelta(days=draft.rng.between(0, 13)))
    first = draft.weekday("first", last - timedelta(days=7))
    return _line_if(draft.change(first, last), last)


@template("analytics.faster_growth")
def _faster_growth(draft: Draft) -> Calls:
    condition = draft.race()
    if not condition.holds:
        return []
    return _plot(condition.since, YESTERDAY, "line", condition.metric, draft.gaps["other"])


@template("analytics.popular_source")
def _popular_source(draft: Draft) -> Calls:
    since = draft.any_day()
    rank = draft.pick("rank", ("most", "fewest"))
    totals = {source: sum(between(daily(draft.tables, source), since)) for source in SOURCES}
    wanted = (max if rank == "most" else min)(totals.values())
    winners = [source for source, total in totals.items() if total == wanted]
    draft.require(len(winners) == 1 and wanted > 0)
    return _plot(since, YESTERDAY, "line", *winners)


@template("analytics.source_against_source")
def _source_against_source(draft: Draft) -> Calls:
    weeks = draft.rng.between(2, 12)
    draft.gaps["weeks"] = str(weeks)
    since = draft.day("since", TODAY - timedelta(weeks=weeks))
    sources = draft.two("first", "second", SOURCES)
    totals = [sum(between(daily(draft.tables, source), since)) for source in sources]
    draft.require(since >= FIRST_VISIT and totals[0] != totals[1])
    return _plot(since, YESTERDAY, "bar", *sources) if totals[0] > totals[1] else []


def book(name: str, person: str, when: datetime, minutes: int) -> WorkbenchCall:
    """The ground-truth call that adds a meeting."""
    return call(
        "calendar.create_event",
        event_name=name,
        participant_email=address(person),
        event_start=str(when),
        duration=str(minutes),
    )


def _new_name(draft: Draft, gap: str = "name") -> str:
    return draft.pick(gap, texts("events")["new"])


@template("calendar.cancel_first")
def _cancel_first(draft: Draft) -> Calls:
    day = draft.day("day", draft.rng.pick(draft.tables.future_days(least=2)))
    return _delete(draft.tables.events_on(day)[:1])


@template("calendar.rename_last")
def _rename_last(draft: Draft) -> Calls:
    day = draft.weekday("day", draft.rng.pick(draft.tables.future_days(least=2)))
    return _update(draft.tables.events_on(day)[-1:], "event_name", _new_name(draft))


_DELAYS = {"half an hour": 30, "one hour": 60, "an hour and a half": 90, "two hours": 120}


@template("calendar.push_back")
def _push_back(draft: Draft) -> Calls:
    some = draft.rng.pick(draft.tables.future_events())
    day = draft.day("day", start(some).date())
    draft.gaps["person"] = person_of(text(some, "participant_email"))
    same = (row["participant_email"] == some["participant_email"] for row in draft.tables.events_on(day))
    first = draft.tables.events_on(day)[list(same).index(True)]
    later = start(first) + timedelta(minutes=_DELAYS[draft.pick("delay", _DELAYS)])
    draft.require(draft.tables.is_free(later, int(text(first, "duration")), but=first))
    return _update([first], "event_start", str(later))


def _future_name(draft: Draft) -> str:
    draft.gaps["name"] = text(draft.rng.pick(draft.tables.future_events()), "event_name")
    return draft.gaps["name"]


@template("calendar.cancel_next_named")
def _cancel_next_named(draft: Draft) -> Calls:
    return _delete(draft.tables.future_events(name=_future_name(draft))[:1])


@template("calendar.rename_next_named")
def _rename_next_named(draft: Draft) -> Calls:
    name = _future_name(draft)
    new = _new_name(draft, "new")
    return _update(draft.tables.future_events(name=name)[:1], "event_name", new)


@template("calendar.cancel_next_with")
def _cancel_next_with(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    limit = draft.weekday("limit", draft.rng.pick(working_days()[2:]))
    events = draft.tables.future_events(person=person)
    return _delete([event for event in events if start(event).date() < limit][:1])


@template("calendar.catch_up")
def _catch_up(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    since = draft.days_ago(5, 25)
    free = draft.first_free(draft.working_day())
    return [] if draft.tables.met(person, since) else [book("Catch-up", person, free, 30)]


@template("calendar.clear_part_of_day")
def _clear_part_of_day(draft: Draft) -> Calls:
    day = draft.weekday("day", draft.rng.pick(draft.tables.future_days()))
    before = draft.pick("side", ("before", "after")) == "before"
    moment = datetime(day.year, day.month, day.day, draft.rng.between(10, 15))
    draft.gaps["time"] = clock_text(moment)
    events = draft.tables.events_on(day)
    is_deleted = operator.lt if before else operator.gt
    return _delete(event for event in events if is_deleted(start(event), moment))


@template("calendar.cancel_all_with")
def _cancel_all_with(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    day = draft.day("day", draft.rng.pick(working_days()[:6]))
    return _delete(event for event in draft.tables.future_events(person=person) if start(event).date() >= day)


@template("calendar.cancel_all_named")
def _cancel_all_named(draft: Draft) -> Calls:
    name = draft.pick("name", texts("events")["held"])
    day = draft.day("day", draft.rng.pick(working_days()[:8]))
    return _delete(event for event in draft.tables.future_events(name=name) if start(event).date() >= day)


@template("calendar.create")
def _create(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    day = draft.day("day", draft.rng.pick(working_days()))
    name = _new_name(draft)
    moment = draft.moment(day, 15)
    minutes = DURATIONS[draft.pick("length", DURATIONS)]
    draft.require(draft.tables.is_free(moment, minutes))
    yield book(name, person, moment, minutes)


def add_customer(name: str, person: str, **more: str) -> WorkbenchCall:
    """The ground-truth call that adds a lead."""
    owner = address(person)
    return call(f"{_CRM}.add_customer", customer_name=name, assigned_to_email=owner, status="Lead", **more)


def new_customer(draft: Draft) -> str:
    """The name of a person who is not a customer, in the gap `customer`."""
    return draft.pick("customer", texts("customers")["new_names"])


@template("customers.set_status")
def _set_status(draft: Draft) -> Calls:
    customer = draft.customer()
    status = draft.pick("status", [status for status in STATUSES if status != customer["status"]])
    return update_customers([customer], "status", status)


@template("customers.delete_one")
def _delete_one(draft: Draft) -> Calls:
    return delete_customers([draft.customer()])


@template("customers.add_lead")
def _add_lead(draft: Draft) -> Calls:
    name = new_customer(draft)
    person = draft.pick("person", SALES)
    yield add_customer(name, person, product_interest=draft.pick("product", PRODUCTS))


@template("customers.hand_over_one")
def _hand_over_one(draft: Draft) -> Calls:
    customer = draft.customer()
    others = [person for person in SALES if address(person) != customer["assigned_to_email"]]
    return update_customers([customer], "assigned_to_email", address(draft.pick("to", others)))


@template("customers.hand_over_leads")
def _hand_over_leads(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", SALES)
    product = draft.product()
    leads = [lead for lead in draft.tables.leads(person) if lead["product_interest"] == product]
    return update_customers(leads, "assigned_to_email", address(to))


@template("customers.hand_over_stages")
def _hand_over_stages(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", SALES)
    stages = draft.two("first", "second", STATUSES)
    owned = draft.tables.customers(assigned_to_email=address(person), product_interest=draft.product())
    customers = [customer for customer in owned if customer["status"] in stages]
    return update_customers(customers, "assigned_to_email", address(to))


@template("customers.delete_stage")
def _delete_stage(draft: Draft) -> Calls:
    owner = address(draft.pick("person", SALES))
    status = draft.pick("status", STATUSES)
    columns = {"assigned_to_email": owner, "status": status, "product_interest": draft.product()}
    return delete_customers(draft.tables.customers(**columns))


@template("customers.give_up")
def _give_up(draft: Draft) -> Calls:
    product = draft.product()
    limit = draft.days_ago(20, 59, "limit")
    proposals = draft.tables.customers(status="Proposal", product_interest=product)
    customers = [customer for customer in proposals if text(customer, "last_contact_date") < str(limit)]
    return update_customers(customers, "status", "Lost")


def send(person: str, subject: str, body: str) -> WorkbenchCall:
    """The ground-truth call that sends an e-mail."""
    return call("email.send_email", recipient=address(person), subject=subject, body=body)


def _forward(mails: Iterable[Row], *people: str) -> Calls:
    for mail in mails:
        for person in people:
            yield call("email.forward_email", email_id=text(mail, "email_id"), recipient=address(person))


def _reply(mail: Row, body: str) -> Calls:
    yield call("email.reply_email", email_id=text(mail, "email_id"), body=body)


def _answer(draft: Draft) -> str:
    return draft.pick("body", texts("emails")["outgoing"]["replies"])


def _subject(draft: Draft) -> tuple[Row, str, str]:
    """A random e-mail, its sender and its subject, in the gap `subject`."""
    mail = draft.rng.pick(draft.tables.email)
    draft.gaps["subject"] = text(mail, "subject")
    return mail, person_of(text(mail, "sender/recipient")), draft.gaps["subject"]


@template("email.delete_last")
def _delete_last(draft: Draft) -> Calls:
    return _delete_emails(draft.tables.emails(sender=draft.pick("person", PEOPLE))[:1])


@template("email.delete_recent")
def _delete_recent(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    since = draft.days_ago(3, 12)
    return _delete_emails(mail for mail in draft.tables.emails(sender=person) if sent_day(mail) >= since)


@template("email.send")
def _send(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    letters = texts("emails")["outgoing"]
    subject, body = draft.rng.pick(list(zip(letters["subjects"], letters["bodies"], strict=True)))
    draft.gaps |= {"subject": subject, "body": body}
    yield send(person, subject, body)


@template("email.reply_about")
def _reply_about(draft: Draft) -> Calls:
    _, person, subject = _subject(draft)
    body = _answer(draft)
    draft.gaps["person"] = person
    return _reply(draft.tables.emails(sender=person, subject=subject)[0], body)


@template("email.forward_period")
def _forward_period(draft: Draft) -> Calls:
    mail, person, subject = _subject(draft)
    draft.gaps["person"] = person
    before, after = (timedelta(days=draft.rng.between(*days)) for days in ((0, 6), (7, 28)))
    first = draft.day("first", max(FIRST_EMAIL_DAY, sent_day(mail) - before))
    last = draft.day("last", min(YESTERDAY, sent_day(mail) + after))
    to = draft.pick("to", [other for other in PEOPLE if other != person])
    mails = reversed(draft.tables.emails(sender=person, subject=subject))
    return _forward((mail for mail in mails if first <= sent_day(mail) <= last), to)


def _newest_about(draft: Draft) -> tuple[Row, list[str]]:
    """The newest e-mail with a random subject, and everybody but its sender."""
    _, _, subject = _subject(draft)
    mail = draft.tables.emails(subject=subject)[0]
    return mail, [name for name in PEOPLE if address(name) != mail["sender/recipient"]]


@template("email.forward_about")
def _forward_about(draft: Draft) -> Calls:
    mail, others = _newest_about(draft)
    return _forward([mail], draft.pick("to", others))


@template("email.forward_from")
def _forward_from(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", PEOPLE)
    return _forward(draft.tables.emails(sender=person)[:1], to)


@template("email.forward_to_two")
def _forward_to_two(draft: Draft) -> Calls:
    mail, others = _newest_about(draft)
    return _forward([mail], *draft.two("to", "other", others))


@template("email.reply_latest")
def _reply_latest(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    body = _answer(draft)
    return _reply(draft.tables.emails(sender=person)[0], body)


def create(name: str, person: str, due: date, board: str) -> WorkbenchCall:
    """The ground-truth call that adds a task to the backlog of a board."""
    return call(
        "project_management.create_task",
        task_name=name,
        assigned_to_email=address(person),
        list_name="Backlog",
        due_date=str(due),
        board=board,
    )


def _deadline(draft: Draft, low: int = 1, high: int = 12) -> date:
    return TODAY + timedelta(days=draft.rng.between(low, high))


def _up_to(draft: Draft, person: str, last: date, *lists: str) -> list[Row]:
    return draft.tables.tasks(person, *lists, before=last + timedelta(days=1))


@template("project_management.to_review")
def _to_review(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    last = draft.day("last", _deadline(draft))
    return _update_tasks(_up_to(draft, person, last, "In Progress"), "list_name", "In Review")


@template("project_management.create")
def _create_task(draft: Draft) -> Calls:
    board = draft.pick("board", BOARDS)
    person = draft.pick("person", BOARDS[board])
    due = draft.weekday("due", _deadline(draft))
    yield create(draft.pick("name", texts("tasks")["boards"][board]["new"]), person, due, board)


@template("project_management.start_due")
def _start_due(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    limit = draft.day("limit", _deadline(draft, -2, 4))
    return _update_tasks(draft.tables.tasks(person, "Backlog", before=limit), "list_name", "In Progress")


@template("project_management.complete")
def _complete(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    last = draft.day("last", _deadline(draft, 6, 13))
    return _update_tasks(_up_to(draft, person, last, "In Review"), "list_name", "Completed")


@template("project_management.stand_in")
def _stand_in(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", PROJECT)
    last = draft.weekday("last", _deadline(draft))
    return _update_tasks(_up_to(draft, person, last, "In Progress"), "assigned_to_email", address(to))


@template("project_management.back_to_backlog")
def _back_to_backlog(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    last = draft.day("last", _deadline(draft, -2, 6))
    return _update_tasks(_up_to(draft, person, last, "In Progress", "In Review"), "list_name", "Backlog")


@template("project_management.give_unstarted")
def _give_unstarted(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", PROJECT)
    limit = draft.day("limit", TODAY - timedelta(days=draft.rng.between(0, 2)))
    tasks = draft.tables.tasks(person, "Backlog", before=limit)
    return _update_tasks(tasks, "assigned_to_email", address(to))


@template("project_management.give_most_urgent")
def _give_most_urgent(draft: Draft) -> Calls:
    person, to = draft.two("person", "to", PROJECT)
    tasks = draft.tables.tasks(person, "Backlog", "In Progress", "In Review")
    tasks.sort(key=lambda task: text(task, "due_date"))
    draft.require(len(tasks) > 1 and tasks[0]["due_date"] != tasks[1]["due_date"])
    return _update_tasks(tasks[:1], "assigned_to_email", address(to))


@template("multi_domain.silent_customer")
def _silent_customer(draft: Draft) -> Calls:
    customer = draft.customer()
    since = draft.days_ago(14, 42)
    day = draft.working_day()
    free = draft.first_free(day)
    owner = person_of(text(customer, "assigned_to_email"))
    if text(customer, "last_contact_date") < str(since):
        yield book(f"Update on {customer['customer_name']}", owner, free, 30)


@template("multi_domain.meet_sender")
def _meet_sender(draft: Draft) -> Calls:
    mail = draft.rng.pick(draft.tables.email)
    day = draft.working_day()
    minutes = DURATIONS[draft.pick("length", DURATIONS)]
    moment = draft.moment(day, 15)
    subject = text(mail, "subject")
    draft.require(draft.tables.is_free(moment, minutes))
    draft.gaps["subject"] = subject
    draft.day("sent", sent_day(mail))
    yield book(subject, person_of(text(mail, "sender/recipient")), moment, minutes)


@template("multi_domain.quiet_colleague")
def _quiet_colleague(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    since = draft.days_ago(2, 8)
    day = draft.working_day()
    moment = draft.moment(day, 16)
    draft.require(draft.tables.is_free(moment, 30))
    if not any(sent_day(mail) >= since for mail in draft.tables.emails(sender=person)):
        yield book(f"Catch up with {person}", person, moment, 30)


@template("multi_domain.overdue_meeting")
def _overdue_meeting(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    free = draft.first_free(draft.working_day())
    if draft.tables.overdue(person):
        yield book("Overdue tasks", person, free, 30)


@template("multi_domain.figure_meeting")
def _figure_meeting(draft: Draft) -> Calls:
    condition = draft.threshold()
    person = draft.pick("person", PEOPLE)
    free = draft.first_free(draft.working_day())
    draft.require(condition.holds)
    yield book(f"Discuss {condition.metric}", person, free, 30)


@template("multi_domain.remind")
def _remind(draft: Draft) -> Calls:
    day = draft.weekday("day", draft.rng.pick(draft.tables.future_days()))
    words = draft.letter("reminder")
    event = draft.tables.events_on(day)[0]
    yield send(person_of(text(event, "participant_email")), text(event, "event_name"), words["body"])


@template("multi_domain.not_met")
def _not_met(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    since = draft.days_ago(3, 20)
    words = draft.letter("not_met")
    if not draft.tables.met(person, since):
        yield send(person, **words)


@template("multi_domain.nothing_planned")
def _nothing_planned(draft: Draft) -> Calls:
    person = draft.pick("person", PEOPLE)
    last = draft.weekday("last", draft.rng.pick(working_days()[1:]))
    words = draft.letter("nothing_planned")
    if not any(start(event).date() <= last for event in draft.tables.future_events(person=person)):
        yield send(person, **words)


def _send_either(person: str, words: Mapping[str, str], *, first: bool) -> WorkbenchCall:
    """The e-mail with the first subject and body of a letter, or with the others."""
    which = "" if first else "else_"
    return send(person, words[f"{which}subject"], words[f"{which}body"])


@template("multi_domain.praise_or_ask")
def _praise_or_ask(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    words = draft.letter("late_or_on_time")
    yield _send_either(person, words, first=bool(draft.tables.overdue(person)))


@template("multi_domain.figure_message")
def _figure_message(draft: Draft) -> Calls:
    condition = draft.threshold()
    person = draft.pick("person", PEOPLE)
    metric = condition.metric
    bound = f"{draft.gaps['direction']} {draft.gaps['threshold']}"
    if condition.holds:
        yield send(person, f"Update on {metric}", f"I saw {metric} {bound}. Do you know why?")


@template("multi_domain.praise_or_meet")
def _praise_or_meet(draft: Draft) -> Calls:
    person = draft.pick("person", PROJECT)
    free = draft.first_free(draft.working_day())
    words = draft.letter("late_meeting_or_on_time")
    late = bool(draft.tables.overdue(person))
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


@template("multi_domain.task")
def _task(draft: Draft) -> Calls:
    condition = draft.threshold()
    task = team_task(draft, condition.metric)
    return [task] if condition.holds else []


@template("multi_domain.task_for_most")
def _task_for_most(draft: Draft) -> Calls:
    condition = draft.threshold()
    board = draft.pick("board", BOARDS)
    due = due_day(draft)
    state = draft.pick("list", LISTS)
    load = {person: len(draft.tables.tasks(person, state)) for person in BOARDS[board]}
    best = [person for person, count in load.items() if count == max(load.values())]
    draft.require(len(best) == 1)
    if condition.holds:
        yield create(f"Improve {condition.metric}", best[0], due, board)


@template("multi_domain.race_task")
def _race_task(draft: Draft) -> Calls:
    condition = draft.race()
    task = team_task(draft, draft.gaps["other"])
    return [task] if condition.holds else []


@template("multi_domain.task_or_praise")
def _task_or_praise(draft: Draft) -> Calls:
    condition = draft.threshold()
    task = team_task(draft, condition.metric)
    words = draft.letter("steady")
    mail = send(draft.gaps["person"], f"Recent figures for {condition.metric}", **words)
    yield task if condition.holds else mail


@template("multi_domain.race_task_and_meeting")
def _race_task_and_meeting(draft: Draft) -> Calls:
    try:
        condition = draft.race()
    finally:  # the day is drawn even if the race is too close
        day = draft.working_day()
    free = draft.first_free(day)
    task = team_task(draft, draft.gaps["other"])
    if not condition.holds:
        return []
    return [task, book(f"Discuss {condition.metric}", draft.gaps["person"], free, 30)]


@template("multi_domain.task_and_meeting_or_praise")
def _task_and_meeting_or_praise(draft: Draft) -> Calls:
    condition = draft.threshold()
    free = draft.first_free(draft.working_day())
    task = team_task(draft, condition.metric)
    words = draft.letter("steady")
    person = draft.gaps["person"]
    if condition.holds:
        return [task, book(f"Discuss {condition.metric}", person, free, 30)]
    return [send(person, f"Recent figures for {condition.metric}", **words)]


@template("multi_domain.lead_for_least_busy")
def _lead_for_least_busy(draft: Draft) -> Calls:
    name = new_customer(draft)
    board = draft.pick("board", BOARDS)
    state = draft.pick("list", LISTS)
    # The first address in alphabetical order, where several people have as few tasks.
    load = {person: len(draft.tables.tasks(person, state)) for person in sorted(BOARDS[board], key=address)}
    yield add_customer(name, min(load, key=load.__getitem__))


@template("multi_domain.drop_leads")
def _drop_leads(draft: Draft) -> Calls:
    condition = draft.threshold()
    person = draft.pick("person", SALES)
    return delete_customers(draft.tables.leads(person)) if condition.holds else []


@template("multi_domain.drop_leads_and_tell")
def _drop_leads_and_tell(draft: Draft) -> Calls:
    condition = draft.threshold(direction="above")
    person = draft.pick("person", SALES)
    words = draft.letter("enough_leads_or_not")
    if condition.holds:
        yield from delete_customers(draft.tables.leads(person))
    yield _send_either(person, words, first=condition.holds)


@template("multi_domain.improve_or_share_leads")
def _improve_or_share_leads(draft: Draft) -> Calls:
    condition = draft.threshold()
    day = draft.working_day()
    owner, to = draft.two("owner", "to", SALES)
    free = draft.first_free(day)
    task = team_task(draft, condition.metric)
    words = draft.letter("more_leads")
    leads = draft.tables.leads(owner)
    if condition.holds:
        return [task, book(f"Discuss {condition.metric}", draft.gaps["person"], free, 30)]
    return [*update_customers(leads, "assigned_to_email", address(to)), send(to, **words)]
