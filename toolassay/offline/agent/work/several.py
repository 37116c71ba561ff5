"""Requests that go through several domains: a task, a meeting, an e-mail, leads; this or otherwise that."""

from __future__ import annotations

import re
from collections import Counter

from toolassay.offline.agent.desk import Made, Steps, customer_in, customers, events, first_gap, tasks
from toolassay.offline.agent.reading import Reading, the_first
from toolassay.offline.agent.work.mail import send

BOARDS = ("Back end", "Front end", "Design")
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
_OTHERWISE = ("otherwise", "if not", "if it was not", "with none", "without", "with no such day", "with no")


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """Everything that a request wants done under its condition, or otherwise."""
    if reading.has("fewest", "least busy", "smallest number"):
        return (yield from _lead_for_least_busy(reading))
    names = re.findall(r"(?<!\w)'([^']*)'(?!\w)", reading.request)
    texts = re.findall(r'"([^"]*)"', reading.request)
    other = reading.has(*_OTHERWISE) and bool(texts)
    conditional = bool(reading.metrics) or reading.has("before today")
    first = reading.has("first on", "earliest meeting", "first meeting")
    if first and reading.has("participant", "whom") and texts:
        (row, *_) = yield from events(reading.days[0], reading.days[0])
        return [send(row["participant_email"], row["event_name"], texts[0])]
    to_meet = reading.minutes is not None and reading.has("book", "schedule", "meeting", "minutes")
    if not (
        conditional or (to_meet and names and reading.has("if", "unless", "check", "has", "have", "did"))
    ):
        return None
    made: list[Made] = []
    person = reading.people[0] if reading.people else ""
    if not condition:
        if other and reading.has("leads?") and len(reading.people) > 2:
            owner, to = _owner_and_heir(reading)
            made += yield from _share_leads(owner, to)
            made.append(send(to, *texts[-2:]))
        elif other:
            made.append(send(person, *texts[-2:]))
        return made
    if reading.has("board"):
        made.append((yield from _task(reading, person, names.pop(0))))
    if to_meet and names:
        made += yield from _meeting(reading, person, names[0])
    if reading.has("leads?", "customers with the status") and len(reading.people) == 1:
        found = yield from customers(assigned_to_email=person, status="Lead")
        made += [_delete(row["customer_id"]) for row in found]
    if len(texts) == 4 or (texts and not other):
        made.append(send(person, *texts[:2]))
    return made


def _task(reading: Reading, person: str, name: str) -> Steps[Made]:
    board = reading.named(BOARDS)[0]
    if not person:
        counted = [name for name in reading.named(LISTS) if name != "Backlog"] or ["Completed"]
        done = yield from tasks(board=board, list_name=counted[0])
        person = Counter(row["assigned_to_email"] for row in done).most_common(1)[0][0]
    due = the_first(day for day in reading.days if day > reading.today)
    return create_task(name, person, board, str(due))


def create_task(name: str, person: str, board: str, due: str) -> Made:
    """A new task in the backlog."""
    arguments = {"task_name": name, "assigned_to_email": person, "list_name": "Backlog"}
    return ("project_management.create_task", {**arguments, "due_date": due, "board": board})


def _meeting(reading: Reading, person: str, name: str) -> Steps[list[Made]]:
    if not person:
        _, customer = yield from customer_in(reading.request)
        person = customer["assigned_to_email"] if customer else ""
    day = [day for day in reading.days if day > reading.today][-1]
    minutes = 30
    if reading.has("gap", "free", "free time"):
        start = yield from first_gap(day, minutes)
    else:
        start = f"{day} {reading.times[0]}"
    if start is None or not person:
        return []
    arguments = {"event_name": name, "participant_email": person, "event_start": start}
    return [("calendar.create_event", {**arguments, "duration": str(minutes)})]


def _owner_and_heir(reading: Reading) -> tuple[str, str]:
    """Whose leads go to whom: the owner stands before "'s leads", or after "that" or "of"."""
    for pattern in (r"(\w+)'s leads", r"lead that (\w+) has", r"customers of (\w+) with"):
        if found := re.search(pattern, reading.request):
            owner = the_first(person for person in reading.people if person.startswith(found[1].lower()))
            return owner, the_first(person for person in reading.people[1:] if person != owner)
    raise LookupError("nobody's leads")


def _share_leads(owner: str, to: str) -> Steps[list[Made]]:
    found = yield from customers(assigned_to_email=owner, status="Lead")
    return [assign_customer(row["customer_id"], to) for row in found]


def assign_customer(customer_id: str, to: str) -> Made:
    """A customer gets another colleague."""
    arguments = {"customer_id": customer_id, "field": "assigned_to_email", "new_value": to}
    return ("customer_relationship_manager.update_customer", arguments)


def _delete(customer_id: str) -> Made:
    return ("customer_relationship_manager.delete_customer", {"customer_id": customer_id})


def _lead_for_least_busy(reading: Reading) -> Steps[list[Made]]:
    board = reading.named(BOARDS)[0]
    wanted = reading.named(LISTS)[0]
    found = yield from tasks(board=board)
    counts = {row["assigned_to_email"]: 0 for row in found}
    for row in found:
        counts[row["assigned_to_email"]] += row["list_name"] == wanted
    person = min(counts, key=lambda address: (counts[address], address))
    name, _ = yield from customer_in(reading.request)
    return [
        (
            "customer_relationship_manager.add_customer",
            {"customer_name": name, "assigned_to_email": person, "status": "Lead"},
        )
    ]
