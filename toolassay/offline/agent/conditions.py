"""Whether the condition of a request holds."""

from __future__ import annotations

from datetime import timedelta

from toolassay.offline.agent.desk import Steps, customer_in, emails, events, figures, tasks
from toolassay.offline.agent.reading import Reading


def holds(reading: Reading) -> Steps[bool]:
    """Whether what a request asks for is to be done; True where it sets no condition."""
    if reading.metrics or reading.sources:
        return (yield from _by_figures(reading))
    if reading.has("before today"):
        return (yield from _has_overdue(reading))
    if reading.has("our last contact", "in contact", "last contacted"):
        if not reading.quoted:
            return True
        _, customer = yield from customer_in(reading.request)
        since = min(day for day in reading.days if day < reading.today)
        return customer is not None and str(customer["last_contact_date"]) < str(since)
    if not reading.people or not reading.has("if", "unless", "did", "has there", "check", "am i", "in case"):
        return True
    past = [day for day in reading.days if day < reading.today]
    person = reading.people[0]
    if reading.has("e-mail in the last", "e-mail from", "by e-mail") and past:
        return not (yield from emails(person, min(past)))
    if reading.has("planned", "am i going to meet", "from today"):
        later = [day for day in reading.days if day > reading.today]
        return not (yield from events(reading.today, min(later, default=None), person))
    if past and reading.has("met", "meet", "meeting"):
        return not (yield from events(min(past), reading.today - timedelta(days=1), person))
    return True


def overdue(reading: Reading, person: str) -> Steps[bool]:
    """Whether somebody has a task that should have been done."""
    found = yield from tasks(assigned_to_email=person)
    return any(row["due_date"] < str(reading.today) and row["list_name"] != "Completed" for row in found)


def _has_overdue(reading: Reading) -> Steps[bool]:
    return bool(reading.people) and (yield from overdue(reading, reading.people[0]))


def _by_figures(reading: Reading) -> Steps[bool]:
    past = [day for day in reading.days if day < reading.today]
    if not past:
        return True
    first, last = min(past), max(past)
    if first == last:
        last = reading.today - timedelta(days=1)
    if len(reading.sources) == 2 and reading.has("more", "stronger"):
        one = yield from figures(reading.sources[0], first, last)
        other = yield from figures(reading.sources[1], first, last)
        return sum(one.values()) > sum(other.values())
    if len(reading.metrics) == 2 and reading.has("grow", "growth", "grew"):
        growths = []
        for metric in reading.metrics:
            growths.append((yield from _growth(metric, reading, first, last)))
        return growths[0] > growths[1]
    if reading.percent is not None and reading.has("higher", "lower"):
        growth = yield from _growth(reading.metrics[0], reading, first, last)
        return (growth if reading.has("higher") else -growth) > reading.percent / 100
    if reading.threshold is not None and reading.metrics:
        above, bound = reading.threshold
        found = yield from figures(reading.metrics[0], first, last)
        return any(value > bound if above else value < bound for value in found.values())
    return True


def _growth(metric: str, reading: Reading, first: object, last: object) -> Steps[float]:
    days = sorted(day for day in reading.days if day < reading.today)
    found = yield from figures(metric, days[0], reading.today - timedelta(days=1))
    before, after = found.get(str(first), 0), found.get(str(last), 0)
    return (after - before) / before if before else 0.0
