"""The templates of requests in one domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    FIRST_EMAIL_DAY,
    NOW,
    PEOPLE,
    PRODUCTS,
    PROJECT,
    SALES,
    STATUSES,
    TODAY,
    YESTERDAY,
    Row,
    SeededRandom,
    Tables,
    address,
    daily,
    person_of,
    sent_day,
    start,
    text,
    texts,
)
from toolassay.benchmarks.workbench.generate.template import (
    DURATIONS,
    FIRST_VISIT,
    METRICS,
    SOURCES,
    Condition,
    FilledTemplate,
    Mix,
    any_day,
    between,
    call,
    change,
    clock_text,
    day_text,
    race,
    template,
    threshold,
    weekday_text,
    working_days,
)

_CRM = "customer_relationship_manager"
_CHARTS = ("bar", "line", "scatter")


def _of_each(tool: str, key: str, found: Iterable[Row], **more: str) -> tuple[WorkbenchCall, ...]:
    return tuple(call(tool, **{key: text(row, key)}, **more) for row in found)


def _set_in_each(
    tool: str, key: str, found: Iterable[Row], field: str, value: str
) -> tuple[WorkbenchCall, ...]:
    return _of_each(tool, key, found, field=field, new_value=value)


_delete = partial(_of_each, "calendar.delete_event", "event_id")
_delete_emails = partial(_of_each, "email.delete_email", "email_id")
delete_customers = partial(_of_each, f"{_CRM}.delete_customer", "customer_id")
"""The ground-truth calls that delete customers."""
_update = partial(_set_in_each, "calendar.update_event", "event_id")
_update_tasks = partial(_set_in_each, "project_management.update_task", "task_id")
update_customers = partial(_set_in_each, f"{_CRM}.update_customer", "customer_id")
"""The ground-truth calls that set one field of each customer."""


def _plot(first: date, last: date, metric: str, kind: str) -> WorkbenchCall:
    value = METRICS.get(metric) or SOURCES[metric]
    return call(
        "analytics.create_plot", time_min=str(first), time_max=str(last), value_to_plot=value, plot_type=kind
    )


@template(Mix(one=10), "analytics")
def _plot_since(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    since, metric, kind = any_day(rng), rng.pick(list(METRICS)), rng.pick(_CHARTS)
    slots = {"kind": kind, "metric": metric, "since": day_text(since)}
    return FilledTemplate(slots, (_plot(since, YESTERDAY, metric, kind),))


@template(Mix(one=10), "analytics")
def _one_day(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, metric = any_day(rng), rng.pick(list(METRICS))
    return FilledTemplate({"metric": metric, "day": day_text(day)}, (_plot(day, day, metric, "histogram"),))


@template(Mix(many=10), "analytics")
def _two_histograms(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    first = any_day(rng)
    last = first + timedelta(days=rng.between(2, (YESTERDAY - first).days))
    metric, other = rng.some(list(METRICS), 2)
    slots = {"metric": metric, "other": other, "first": day_text(first), "last": day_text(last)}
    return FilledTemplate(slots, tuple(_plot(first, last, each, "histogram") for each in (metric, other)))


def _line_if(
    condition: Condition | None, slots: Mapping[str, str], last: date = YESTERDAY
) -> FilledTemplate | None:
    if condition is None:
        return None
    plot = _plot(condition.since, last, condition.metric, "line")
    return FilledTemplate({**condition.slots, **slots}, (plot,) if condition.holds else ())


@template(Mix(2, 8), "analytics")
def _threshold(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    return _line_if(threshold(tables, rng), {})


@template(Mix(many=10), "analytics")
def _two_bars(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    since = any_day(rng)
    metric, other = rng.some(list(METRICS), 2)
    slots = {"metric": metric, "other": other, "since": day_text(since)}
    return FilledTemplate(slots, tuple(_plot(since, YESTERDAY, each, "bar") for each in (metric, other)))


@template(Mix(6, 4), "analytics")
def _recent_threshold(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    days = rng.pick([7, 14, 21, 28, 35, 42])
    return _line_if(threshold(tables, rng, TODAY - timedelta(days=days)), {"days": str(days)})


@template(Mix(5, 5), "analytics")
def _change_since(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since = any_day(rng)
    return _line_if(change(tables, rng, since, YESTERDAY), {"since": day_text(since)})


@template(Mix(8, 2), "analytics")
def _change_since_weekday(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since = YESTERDAY - timedelta(days=rng.between(1, 6))
    return _line_if(change(tables, rng, since, YESTERDAY), {"since": weekday_text(since)})


@template(Mix(5, 5), "analytics")
def _week_on_week(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    last = YESTERDAY - timedelta(days=rng.between(0, 13))
    first = last - timedelta(days=7)
    slots = {"first": weekday_text(first), "last": weekday_text(last)}
    return _line_if(change(tables, rng, first, last), slots, last)


@template(Mix(none=8, many=2), "analytics")
def _faster_growth(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    found = race(tables, rng)
    if found is None:
        return None
    plots = tuple(_plot(found.since, YESTERDAY, found.slots[gap], "line") for gap in ("metric", "other"))
    return FilledTemplate(found.slots, plots if found.holds else ())


@template(Mix(one=10), "analytics")
def _popular_source(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    since, rank = any_day(rng), rng.pick(["most", "fewest"])
    totals = {source: sum(between(daily(tables, source), since)) for source in SOURCES}
    wanted = (max if rank == "most" else min)(totals.values())
    winners = [source for source, total in totals.items() if total == wanted]
    # Whether a source without a visit has the fewest, or is not compared, is a matter of opinion.
    if len(winners) > 1 or not wanted:
        return None
    return FilledTemplate(
        {"rank": rank, "since": day_text(since)}, (_plot(since, YESTERDAY, winners[0], "line"),)
    )


@template(Mix(none=6, many=4), "analytics")
def _source_against_source(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    weeks = rng.between(2, 12)
    since = TODAY - timedelta(weeks=weeks)
    first, second = rng.some(list(SOURCES), 2)
    totals = [sum(between(daily(tables, source), since)) for source in (first, second)]
    if since < FIRST_VISIT or totals[0] == totals[1]:
        return None
    slots = {"first": first, "second": second, "weeks": str(weeks), "since": day_text(since)}
    plots = tuple(_plot(since, YESTERDAY, source, "bar") for source in (first, second))
    return FilledTemplate(slots, plots if totals[0] > totals[1] else ())


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


@template(Mix(one=10), "calendar")
def _cancel_first(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day = rng.pick(tables.future_days(least=2))
    return FilledTemplate({"day": day_text(day)}, _delete(tables.events_on(day)[:1]))


@template(Mix(one=10), "calendar")
def _rename_last(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, name = rng.pick(tables.future_days(least=2)), _new_name(rng)
    event = tables.events_on(day)[-1]
    return FilledTemplate({"day": weekday_text(day), "name": name}, _update([event], "event_name", name))


@template(Mix(one=10), "calendar")
def _push_back(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    event = rng.pick(tables.future_events())
    person = person_of(text(event, "participant_email"))
    first = next(
        e for e in tables.events_on(start(event).date()) if e["participant_email"] == address(person)
    )
    delay = rng.pick(["half an hour", "one hour", "an hour and a half", "two hours"])
    minutes = {"half an hour": 30, "one hour": 60, "an hour and a half": 90, "two hours": 120}[delay]
    later = start(first) + timedelta(minutes=minutes)
    if not tables.is_free(later, int(text(first, "duration")), but=first):
        return None
    slots = {"person": person, "day": day_text(start(first).date()), "delay": delay}
    return FilledTemplate(slots, _update([first], "event_start", str(later)))


@template(Mix(one=10), "calendar")
def _cancel_next_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name = text(rng.pick(tables.future_events()), "event_name")
    return FilledTemplate({"name": name}, _delete(tables.future_events(name=name)[:1]))


@template(Mix(one=10), "calendar")
def _rename_next_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, new = text(rng.pick(tables.future_events()), "event_name"), _new_name(rng)
    event = tables.future_events(name=name)[0]
    return FilledTemplate({"name": name, "new": new}, _update([event], "event_name", new))


@template(Mix(1, 9), "calendar")
def _cancel_next_with(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, limit = rng.pick(PEOPLE), rng.pick(working_days()[2:])
    found = [event for event in tables.future_events(person=person) if start(event).date() < limit]
    return FilledTemplate({"person": person, "limit": weekday_text(limit)}, _delete(found[:1]))


@template(Mix(5, 5), "calendar")
def _catch_up(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, days, day = rng.pick(PEOPLE), rng.between(5, 25), rng.pick(working_days())
    since = NOW - timedelta(days=days)
    met = any(since <= start(event) < NOW for event in tables.events(person=person))
    free = tables.first_free(day, 30)
    if free is None:
        return None
    slots = {"person": person, "days": str(days), "since": day_text(since.date()), "day": weekday_text(day)}
    return FilledTemplate(slots, () if met else (book("Catch-up", person, free, 30),))


@template(Mix(2, 1, 7), "calendar")
def _clear_part_of_day(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    day, side = rng.pick(tables.future_days()), rng.pick(["before", "after"])
    moment = datetime(day.year, day.month, day.day, rng.between(10, 15))
    found = [
        event
        for event in tables.events_on(day)
        if (start(event) < moment if side == "before" else start(event) > moment)
    ]
    return FilledTemplate(
        {"day": weekday_text(day), "side": side, "time": clock_text(moment)}, _delete(found)
    )


@template(Mix(none=0, one=2, many=8), "calendar")
def _cancel_all_with(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, day = rng.pick(PEOPLE), rng.pick(working_days()[:6])
    found = [event for event in tables.future_events(person=person) if start(event).date() >= day]
    return FilledTemplate({"person": person, "day": day_text(day)}, _delete(found))


@template(Mix(3, 5, 2), "calendar")
def _cancel_all_named(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, day = rng.pick(list[str](texts("events")["held"])), rng.pick(working_days()[:8])
    found = [event for event in tables.future_events(name=name) if start(event).date() >= day]
    return FilledTemplate({"name": name, "day": day_text(day)}, _delete(found))


@template(Mix(one=10), "calendar")
def _create(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, day, name = rng.pick(PEOPLE), rng.pick(working_days()), _new_name(rng)
    moment = datetime(day.year, day.month, day.day, rng.between(9, 15), rng.pick([0, 30]))
    length = rng.pick(list(DURATIONS))
    if not tables.is_free(moment, DURATIONS[length]):
        return None
    slots = {
        "person": person,
        "day": day_text(day),
        "name": name,
        "time": clock_text(moment),
        "length": length,
    }
    return FilledTemplate(slots, (book(name, person, moment, DURATIONS[length]),))


def add_customer(name: str, person: str, **more: str) -> WorkbenchCall:
    """The ground-truth call that adds a lead."""
    return call(
        "customer_relationship_manager.add_customer",
        customer_name=name,
        assigned_to_email=address(person),
        status="Lead",
        **more,
    )


def new_customer(rng: SeededRandom) -> str:
    """The name of a person who is not a customer."""
    return rng.pick(list[str](texts("customers")["new_names"]))


@template(Mix(one=10), _CRM)
def _set_status(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    status = rng.pick([status for status in STATUSES if status != customer["status"]])
    slots = {"customer": text(customer, "customer_name"), "status": status}
    return FilledTemplate(slots, update_customers([customer], "status", status))


@template(Mix(one=10), _CRM)
def _delete_one(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    return FilledTemplate({"customer": text(customer, "customer_name")}, delete_customers([customer]))


@template(Mix(one=10), _CRM)
def _add_lead(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, person, product = new_customer(rng), rng.pick(SALES), rng.pick(PRODUCTS)
    slots = {"customer": name, "person": person, "product": product}
    return FilledTemplate(slots, (add_customer(name, person, product_interest=product),))


@template(Mix(one=10), _CRM)
def _hand_over_one(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    owner = person_of(text(customer, "assigned_to_email"))
    to = rng.pick([person for person in SALES if person != owner])
    slots = {"customer": text(customer, "customer_name"), "to": to}
    return FilledTemplate(slots, update_customers([customer], "assigned_to_email", address(to)))


@template(Mix(1, 1, 8), _CRM)
def _hand_over_leads(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, to = rng.some(SALES, 2)
    product = rng.pick(PRODUCTS)
    found = [lead for lead in tables.leads(person) if lead["product_interest"] == product]
    slots = {"person": person, "to": to, "product": product.lower()}
    return FilledTemplate(slots, update_customers(found, "assigned_to_email", address(to)))


@template(Mix(none=0, one=2, many=8), _CRM)
def _hand_over_stages(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), stages = rng.some(SALES, 2), rng.some(STATUSES, 2)
    product = rng.pick(PRODUCTS)
    owned = tables.customers(assigned_to_email=address(person), product_interest=product)
    found = [customer for customer in owned if customer["status"] in stages]
    slots = {"person": person, "to": to, "product": product.lower()}
    slots |= {"first": stages[0], "second": stages[1]}
    return FilledTemplate(slots, update_customers(found, "assigned_to_email", address(to)))


@template(Mix(2, 5, 3), _CRM)
def _delete_stage(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, status, product = rng.pick(SALES), rng.pick(STATUSES), rng.pick(PRODUCTS)
    found = tables.customers(assigned_to_email=address(person), status=status, product_interest=product)
    slots = {"person": person, "status": status, "product": product.lower()}
    return FilledTemplate(slots, delete_customers(found))


@template(Mix(none=5, many=5), _CRM)
def _give_up(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    product, days = rng.pick(PRODUCTS), rng.between(20, 59)
    limit = TODAY - timedelta(days=days)
    found = [
        customer
        for customer in tables.customers(status="Proposal", product_interest=product)
        if text(customer, "last_contact_date") < str(limit)
    ]
    slots = {"product": product.lower(), "days": str(days), "limit": day_text(limit)}
    return FilledTemplate(slots, update_customers(found, "status", "Lost"))


def send(person: str, subject: str, body: str) -> WorkbenchCall:
    """The ground-truth call that sends an e-mail."""
    return call("email.send_email", recipient=address(person), subject=subject, body=body)


def letter(rng: SeededRandom, kind: str) -> dict[str, str]:
    """The texts of an e-mail: `subject` and `body`, for some kinds also `else_subject` and `else_body`."""
    return rng.pick(list[dict[str, str]](texts("emails")["messages"][kind]))


def _forward(mails: Iterable[Row], *people: str) -> tuple[WorkbenchCall, ...]:
    return tuple(
        call("email.forward_email", email_id=text(mail, "email_id"), recipient=address(person))
        for mail in mails
        for person in people
    )


def _reply(mail: Row, body: str) -> tuple[WorkbenchCall, ...]:
    return (call("email.reply_email", email_id=text(mail, "email_id"), body=body),)


def _answer(rng: SeededRandom) -> str:
    return rng.pick(list[str](texts("emails")["outgoing"]["replies"]))


@template(Mix(one=10), "email")
def _delete_last(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person = rng.pick(PEOPLE)
    return FilledTemplate({"person": person}, _delete_emails(tables.emails(sender=person)[:1]))


@template(Mix(1, 5, 4), "email")
def _delete_recent(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, days = rng.pick(PEOPLE), rng.between(3, 12)
    since = TODAY - timedelta(days=days)
    found = [mail for mail in tables.emails(sender=person) if sent_day(mail) >= since]
    return FilledTemplate(
        {"person": person, "days": str(days), "since": day_text(since)}, _delete_emails(found)
    )


@template(Mix(one=10), "email")
def _send(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, letters = rng.pick(PEOPLE), texts("emails")["outgoing"]
    subject, body = rng.pick(list(zip(letters["subjects"], letters["bodies"], strict=True)))
    return FilledTemplate(
        {"person": person, "subject": subject, "body": body}, (send(person, subject, body),)
    )


@template(Mix(one=10), "email")
def _reply_about(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    some, body = rng.pick(tables.email), _answer(rng)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    mail = tables.emails(sender=person, subject=subject)[0]
    return FilledTemplate({"person": person, "subject": subject, "body": body}, _reply(mail, body))


@template(Mix(one=9, many=1), "email")
def _forward_period(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    some = rng.pick(tables.email)
    person, subject = person_of(text(some, "sender/recipient")), text(some, "subject")
    first = max(FIRST_EMAIL_DAY, sent_day(some) - timedelta(days=rng.between(0, 6)))
    last = min(YESTERDAY, sent_day(some) + timedelta(days=rng.between(7, 28)))
    to = rng.pick([other for other in PEOPLE if other != person])
    found = [m for m in tables.emails(sender=person, subject=subject) if first <= sent_day(m) <= last]
    slots = {"person": person, "subject": subject, "first": day_text(first), "last": day_text(last), "to": to}
    return FilledTemplate(slots, _forward(reversed(found), to))


@template(Mix(one=10), "email")
def _forward_about(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    mail = tables.emails(subject=text(rng.pick(tables.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to = rng.pick([other for other in PEOPLE if other != person])
    return FilledTemplate({"subject": text(mail, "subject"), "to": to}, _forward([mail], to))


@template(Mix(one=10), "email")
def _forward_from(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, to = rng.some(PEOPLE, 2)
    return FilledTemplate({"person": person, "to": to}, _forward(tables.emails(sender=person)[:1], to))


@template(Mix(many=10), "email")
def _forward_to_two(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    mail = tables.emails(subject=text(rng.pick(tables.email), "subject"))[0]
    person = person_of(text(mail, "sender/recipient"))
    to, other = rng.some([name for name in PEOPLE if name != person], 2)
    return FilledTemplate(
        {"subject": text(mail, "subject"), "to": to, "other": other}, _forward([mail], to, other)
    )


@template(Mix(one=10), "email")
def _reply_latest(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, body = rng.pick(PEOPLE), _answer(rng)
    return FilledTemplate({"person": person, "body": body}, _reply(tables.emails(sender=person)[0], body))


_OPEN = ("Backlog", "In Progress", "In Review")


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


def _deadline(rng: SeededRandom) -> date:
    return TODAY + timedelta(days=rng.between(1, 12))


def _up_to(tables: Tables, person: str, last: date, *lists: str) -> list[Row]:
    return tables.tasks(person, *lists, before=last + timedelta(days=1))


@template(Mix(6, 4), "project_management")
def _to_review(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), _deadline(rng)
    found = _up_to(tables, person, last, "In Progress")
    return FilledTemplate(
        {"person": person, "last": day_text(last)}, _update_tasks(found, "list_name", "In Review")
    )


@template(Mix(one=10), "project_management", name="create")
def _create_task(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    board = rng.pick(list(BOARDS))
    person, due = rng.pick(BOARDS[board]), _deadline(rng)
    name = rng.pick(list[str](texts("tasks")["boards"][board]["new"]))
    slots = {"board": board, "name": name, "person": person, "due": weekday_text(due)}
    return FilledTemplate(slots, (create(name, person, due, board),))


@template(Mix(none=5, many=5), "project_management")
def _start_due(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, limit = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(-2, 4))
    found = tables.tasks(person, "Backlog", before=limit)
    return FilledTemplate(
        {"person": person, "limit": day_text(limit)}, _update_tasks(found, "list_name", "In Progress")
    )


@template(Mix(none=0, one=2, many=8), "project_management")
def _complete(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(6, 13))
    found = _up_to(tables, person, last, "In Review")
    return FilledTemplate(
        {"person": person, "last": day_text(last)}, _update_tasks(found, "list_name", "Completed")
    )


@template(Mix(4, 4, 2), "project_management")
def _stand_in(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), last = rng.some(PROJECT, 2), _deadline(rng)
    found = _up_to(tables, person, last, "In Progress")
    slots = {"person": person, "to": to, "last": weekday_text(last)}
    return FilledTemplate(slots, _update_tasks(found, "assigned_to_email", address(to)))


@template(Mix(3, 5, 2), "project_management")
def _back_to_backlog(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(-2, 6))
    found = _up_to(tables, person, last, "In Progress", "In Review")
    return FilledTemplate(
        {"person": person, "last": day_text(last)}, _update_tasks(found, "list_name", "Backlog")
    )


@template(Mix(none=3, many=7), "project_management")
def _give_unstarted(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), limit = rng.some(PROJECT, 2), (TODAY - timedelta(days=rng.between(0, 2)))
    found = tables.tasks(person, "Backlog", before=limit)
    slots = {"person": person, "to": to, "limit": day_text(limit)}
    return FilledTemplate(slots, _update_tasks(found, "assigned_to_email", address(to)))


@template(Mix(one=10), "project_management")
def _give_most_urgent(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, to = rng.some(PROJECT, 2)
    found = sorted(tables.tasks(person, *_OPEN), key=lambda task: text(task, "due_date"))
    if len(found) < 2 or found[0]["due_date"] == found[1]["due_date"]:
        return None
    return FilledTemplate(
        {"person": person, "to": to}, _update_tasks(found[:1], "assigned_to_email", address(to))
    )
