"""The agent's rules, one per domain of the office workplace (Styles et al., 2024) and one for
requests that span several domains.

A rule turns a parsed request into calls. It returns None if the request belongs to another rule, and an
empty list if there is nothing to do.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta

from toolassay.files.data_files import package_data
from toolassay.offline.agent.lookups import (
    PlannedCall,
    Steps,
    customer_in,
    customers,
    emails,
    events,
    figures,
    first_gap,
    tasks,
)
from toolassay.offline.agent.parsed_request import TRAFFIC_SOURCES, ParsedRequest, first_of

_CRM = "customer_relationship_manager"
_CREATE_TASK, _UPDATE_TASK = "project_management.create_task", "project_management.update_task"
_UPDATE_CUSTOMER = f"{_CRM}.update_customer"
# The tools that change something, each with its parameters.
_PARAMETERS: dict[str, list[str]] = package_data(__package__, "parameters.json")


def _call(tool: str, *values: object) -> PlannedCall:
    return tool, dict(zip(_PARAMETERS[tool], map(str, values), strict=False))


def email_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Send, answer, forward or delete e-mails."""
    if not reading.has("e-?mails?", "e-mailed", "sent me", "write to", "wrote"):
        return None
    if not condition:
        return []
    texts, past = reading.texts, reading.past
    if reading.has("forward", "pass"):
        return (yield from _forward_emails(reading, texts))
    if reading.has("reply", "answer"):
        subject = texts[0] if len(texts) > 1 and not texts[0].endswith((".", "!", "?")) else None
        if len(texts) > 1 and subject is None:
            subject = texts[1]
        body = first_of(text for text in texts if text != subject)
        found = yield from emails(" ".join(filter(None, (reading.people[0], subject))))
        return [_call("email.reply_email", found[0]["email_id"], body)]
    if reading.has("delete", "remove", "get rid", "clear"):
        found = yield from emails(reading.people[0], min(past, default=None))
        return [
            _call("email.delete_email", row["email_id"])
            for row in (found if past else found[:1])
            if row["sender/recipient"] == reading.people[0]
        ]
    return [_call("email.send_email", reading.people[0], texts[0], texts[1])] if len(texts) > 1 else None


def _forward_emails(reading: ParsedRequest, texts: list[str]) -> Steps[list[PlannedCall]]:
    subject = texts[0] if texts else None
    past = sorted(reading.past)
    to, sender = list(reading.people), None
    if past or subject is None:
        one, other = reading.people[:2]
        receiver = _named_by(reading, r"(?:to|Forward) (\w+)\b(?= all| the|\.|\?|,)") or one
        to, sender = [receiver], other if receiver == one else one
    found = yield from emails(" ".join(filter(None, (sender, subject))))
    if past:
        chosen = [row for row in found if str(past[0]) <= row["sent_datetime"][:10] <= str(past[-1])][::-1]
    else:
        chosen = found[:1]
    return [_call("email.forward_email", row["email_id"], person) for row in chosen for person in to]


def _named_by(reading: ParsedRequest, *patterns: str) -> str | None:
    """The first colleague whose first name one of these patterns finds."""
    names = (found[1].lower() for one in patterns for found in re.finditer(one, reading.request))
    found = (person for name in names for person in reading.people if person.startswith(f"{name}."))
    return next(found, None)


BOARDS = ("Back end", "Front end", "Design")
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
_OTHERWISE = ("otherwise", "if not", "if it was not", "with none", "without", "with no such day")


def multi_domain_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """The calls of all domains, under the condition of the request or its "otherwise"."""
    if reading.has("fewest", "smallest number"):
        return (yield from _lead_for_least_busy(reading))
    names = re.findall(r"(?<!\w)'([^']*)'(?!\w)", reading.request)
    texts = reading.texts
    other = reading.has(*_OTHERWISE) and bool(texts)
    conditional = bool(reading.metrics) or reading.has("before today")
    first = reading.has("first on", "earliest meeting", "first meeting")
    if first and reading.has("participant", "whom") and texts:
        (row, *_) = yield from events(reading.days[0], reading.days[0])
        return [_call("email.send_email", row["participant_email"], row["event_name"], texts[0])]
    to_meet = reading.minutes is not None and reading.has("meeting", "minutes")
    if not (conditional or (to_meet and names and reading.has("if", "check", "have"))):
        return None
    made: list[PlannedCall] = []
    person = reading.people[0] if reading.people else ""
    if not condition:
        if other and reading.has("leads?") and len(reading.people) > 2:
            owner = _named_by(reading, r"(\w+)'s leads", r"lead that (\w+) has", r"customers of (\w+) with")
            to = first_of(one for one in reading.people[1:] if one != owner)
            found = yield from customers(assigned_to_email=owner or "", status="Lead")
            made += [_call(_UPDATE_CUSTOMER, row["customer_id"], "assigned_to_email", to) for row in found]
            made.append(_call("email.send_email", to, *texts[-2:]))
        elif other:
            made.append(_call("email.send_email", person, *texts[-2:]))
        return made
    if reading.has("board"):
        made.append((yield from _task_for(reading, person, names.pop(0))))
    if to_meet and names:
        made += yield from _meeting_with(reading, person, names[0])
    if reading.has("leads?") and len(reading.people) == 1:
        found = yield from customers(assigned_to_email=person, status="Lead")
        made += [_call(f"{_CRM}.delete_customer", row["customer_id"]) for row in found]
    if len(texts) == 4 or (texts and not other):
        made.append(_call("email.send_email", person, *texts[:2]))
    return made


def _task_for(reading: ParsedRequest, person: str, name: str) -> Steps[PlannedCall]:
    board = reading.named(BOARDS)[0]
    if not person:
        done = yield from tasks(board=board, list_name=[*reading.named(LISTS[1:]), "Completed"][0])
        person = Counter(row["assigned_to_email"] for row in done).most_common(1)[0][0]
    due = first_of(day for day in reading.days if day > reading.today)
    return _call(_CREATE_TASK, name, person, "Backlog", due, board)


def _meeting_with(reading: ParsedRequest, person: str, name: str) -> Steps[list[PlannedCall]]:
    if not person:
        _, customer = yield from customer_in(reading.request)
        person = customer["assigned_to_email"] if customer else ""
    day = [day for day in reading.days if day > reading.today][-1]
    is_free = reading.has("gap", "free")
    start = (yield from first_gap(day, 30)) if is_free else f"{day} {reading.times[0]}"
    return [_call("calendar.create_event", name, person, start, 30)] if start and person else []


def _lead_for_least_busy(reading: ParsedRequest) -> Steps[list[PlannedCall]]:
    board = reading.named(BOARDS)[0]
    wanted = reading.named(LISTS)[0]
    found = yield from tasks(board=board)
    counts = {row["assigned_to_email"]: 0 for row in found}
    for row in found:
        counts[row["assigned_to_email"]] += row["list_name"] == wanted
    person = min(counts, key=lambda address: (counts[address], address))
    name, _ = yield from customer_in(reading.request)
    return [_call(f"{_CRM}.add_customer", name, person, "Lead")]


_LIST_PATTERNS = {
    "Backlog": "backlog|never started",
    "In Progress": "in progress",
    "In Review": "in review",
}


def board_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Create a task, or move tasks to another list or another colleague."""
    if not reading.has("tasks?", "backlog", "in review", "in progress") or not reading.people:
        return None
    if reading.quoted:
        due, board = str(reading.days[-1]), reading.named(BOARDS)[0]
        return [_call(_CREATE_TASK, reading.quoted[0], reading.people[0], "Backlog", due, board)]
    patterns = r"(\w+)'s (?:tasks|backlog)", r"(?:tasks? of|While|helps out|of|whatever) (\w+)"
    owner = _named_by(reading, *patterns, r"(\w+) (?:is ill|never started)") or reading.people[0]
    found = yield from tasks(assigned_to_email=owner)
    if reading.has("due first", "earliest due date"):
        open_ones = [row for row in found if row["list_name"] != "Completed"]
        row = min(open_ones, key=lambda row: str(row["due_date"]))
        return [_call(_UPDATE_TASK, row["task_id"], "assigned_to_email", _other_person(reading, owner))]
    source, target = _source_and_target_lists(reading)
    limit = str(reading.days[-1])
    strict = reading.has("before")
    chosen = [
        row
        for row in found
        if row["list_name"] in source and (row["due_date"] < limit if strict else row["due_date"] <= limit)
    ]
    field, value = ("list_name", target) if target else ("assigned_to_email", _other_person(reading, owner))
    return [_call(_UPDATE_TASK, row["task_id"], field, value) for row in chosen]


def _source_and_target_lists(reading: ParsedRequest) -> tuple[set[str], str | None]:
    """The lists that tasks leave, and the list they enter; None if only the colleague changes."""
    named = [name for name, words in _LIST_PATTERNS.items() if re.search(words, reading.bare)]
    if len(reading.people) > 1:
        return {*named}, None
    if reading.has("back into the backlog", "to the backlog"):
        return {"In Progress", "In Review"}, "Backlog"
    source = named[0] if named else "In Review"
    return {source}, LISTS[LISTS.index(source) + 1]


def _other_person(reading: ParsedRequest, owner: str) -> str:
    return first_of(person for person in reading.people if person != owner)


_STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
_PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")


def customer_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Add, change, hand over or delete customers."""
    if not reading.has("crm", "customers?", "leads?"):
        return None
    products = reading.named(_PRODUCTS)
    if reading.has("lost") and reading.days and products:
        found = yield from customers(product_interest=products[0], status="Proposal")
        late = [row for row in found if row["last_contact_date"] < str(min(reading.days))]
        return [_call(_UPDATE_CUSTOMER, row["customer_id"], "status", "Lost") for row in late]
    if products and len(reading.people) == 2:
        return (yield from _hand_over_customers(reading, products[0]))
    if products and reading.people and reading.has("deleted?"):
        status = reading.named(_STATUSES)[0]
        found = yield from customers(
            assigned_to_email=reading.people[0], product_interest=products[0], status=status
        )
        return [_call(f"{_CRM}.delete_customer", row["customer_id"]) for row in found]
    if products and reading.people and reading.has("add", "new lead"):
        name, _ = yield from customer_in(reading.request)
        return [_call(f"{_CRM}.add_customer", name, reading.people[0], "Lead", products[0])]
    _, customer = yield from customer_in(reading.request)
    if customer is None:
        return []
    statuses = reading.named(_STATUSES)
    if statuses:
        return [_call(_UPDATE_CUSTOMER, customer["customer_id"], "status", statuses[-1])]
    if reading.people:
        return [_call(_UPDATE_CUSTOMER, customer["customer_id"], "assigned_to_email", reading.people[0])]
    return [_call(f"{_CRM}.delete_customer", customer["customer_id"])]


def _hand_over_customers(reading: ParsedRequest, product: str) -> Steps[list[PlannedCall]]:
    statuses = reading.named(_STATUSES) or ["Lead"]
    to, owner = reading.people
    if re.search(rf"(?<!belongs )\bto {owner.partition('.')[0]}\b", reading.request, re.IGNORECASE):
        to, owner = owner, to
    made = []
    for status in statuses:
        found = yield from customers(assigned_to_email=owner, product_interest=product, status=status)
        made += [_call(_UPDATE_CUSTOMER, row["customer_id"], "assigned_to_email", to) for row in found]
    return made


def calendar_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Create, move, rename or cancel meetings."""
    if not condition:
        return []
    days, texts = reading.days, reading.quoted
    person = reading.people[0] if reading.people else ""
    create, minutes = "calendar.create_event", reading.minutes or 30
    if reading.has("e-mail") and texts:
        found = yield from emails(texts[0], days[0])
        sent = [row for row in found if row["sent_datetime"][:10] == str(days[0])]
        sender = first_of(row["sender/recipient"] for row in sent if row["subject"] == texts[0])
        return [_call(create, texts[0], sender, f"{days[-1]} {reading.times[0]}", minutes)]
    if reading.has("gap") and texts:
        gap = yield from first_gap(days[-1], 30)
        return [_call(create, texts[0], person, gap, 30)] if gap else []
    if texts and days and reading.times and person:
        return [_call(create, texts[0], person, f"{days[0]} {reading.times[0]}", minutes)]
    if reading.has("later", "postpone", "move the start") and reading.minutes:
        found = yield from events(days[0], days[0], person)
        start = datetime.fromisoformat(found[0]["event_start"]) + timedelta(minutes=reading.minutes)
        return [_call("calendar.update_event", found[0]["event_id"], "event_start", str(start))]
    if reading.has("starts last", "latest", "final"):
        found = yield from events(days[0], days[0])
        return [_call("calendar.update_event", found[-1]["event_id"], "event_name", texts[0])]
    if texts and not days:
        found = yield from events(reading.today, None, texts[0])
        row = first_of(row for row in found if row["event_name"].lower() == texts[0].lower())
        return [
            _call("calendar.update_event", row["event_id"], "event_name", texts[1])
            if len(texts) > 1
            else _call("calendar.delete_event", row["event_id"])
        ]
    if texts:
        found = yield from events(days[0], None, texts[0])
        return [_call("calendar.delete_event", row["event_id"]) for row in found]
    if reading.times:
        found = yield from events(days[0], days[0])
        before, limit = reading.has("before"), f"{days[0]} {reading.times[0]}"
        return [
            _call("calendar.delete_event", row["event_id"])
            for row in found
            if (row["event_start"] < limit if before else row["event_start"] > limit)
        ]
    if person and reading.has("before", "ahead of"):
        found = yield from events(reading.today, days[0] - timedelta(days=1), person)
        return [_call("calendar.delete_event", row["event_id"]) for row in found[:1]]
    if person:
        found = yield from events(days[0], None, person)
        return [_call("calendar.delete_event", row["event_id"]) for row in found]
    found = yield from events(days[0], days[0])
    return [_call("calendar.delete_event", found[0]["event_id"])]


_PLOT_KINDS = {"bar": ("bar", "bars"), "scatter": ("scatter",), "histogram": ("histogram", "histograms")}


def plot_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Plot the metrics that a request names, or the traffic source that it describes."""
    if not reading.has("charts?", "plot", "histograms?", "bars", "line"):
        return None
    if not condition:
        return []
    first, last = min(reading.past), max(reading.past)
    alone = reading.has("alone", "one day", "no other day")
    if first == last and not alone:
        last = reading.today - timedelta(days=1)
    kind = next((kind for kind, words in _PLOT_KINDS.items() if reading.has(*words)), "line")
    values = reading.metrics
    if not values and reading.sources:
        values = [_plot_value(name) for name in reading.sources]
    if not values:
        counts = {}
        for name in TRAFFIC_SOURCES:
            counts[name] = sum((yield from figures(name, first, last)).values())
        best = min if reading.has("fewest") else max
        values = [_plot_value(best(counts, key=counts.__getitem__))]
    return [_call("analytics.create_plot", first, last, value, kind) for value in values]


def _plot_value(source: str) -> str:
    return f"visits_{source.replace(' ', '_')}"
