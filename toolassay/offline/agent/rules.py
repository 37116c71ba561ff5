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
_CREATE_TASK = "project_management.create_task"
_UPDATE_TASK = "project_management.update_task"
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
    texts = reading.texts
    past = reading.past
    if reading.has("forward", "pass"):
        return (yield from _forward_emails(reading, texts))
    if reading.has("reply", "answer"):
        subject = texts[0] if len(texts) > 1 and not texts[0].endswith((".", "!", "?")) else None
        if len(texts) > 1 and subject is None:
            subject = texts[1]
        body = first_of(text for text in texts if text != subject)
        matching = yield from emails(" ".join(filter(None, (reading.people[0], subject))))
        return [_call("email.reply_email", matching[0]["email_id"], body)]
    if reading.has("delete", "remove", "get rid", "clear"):
        matching = yield from emails(reading.people[0], min(past, default=None))
        return [
            _call("email.delete_email", row["email_id"])
            for row in (matching if past else matching[:1])
            if row["sender/recipient"] == reading.people[0]
        ]
    return [_call("email.send_email", reading.people[0], texts[0], texts[1])] if len(texts) > 1 else None


def _forward_emails(reading: ParsedRequest, texts: list[str]) -> Steps[list[PlannedCall]]:
    subject = texts[0] if texts else None
    past_days = sorted(reading.past)
    to = list(reading.people)
    sender = None
    if past_days or subject is None:
        first_person, second_person = reading.people[:2]
        receiver = _named_by(reading, r"(?:to|Forward) (\w+)\b(?= all| the|\.|\?|,)") or first_person
        to = [receiver]
        sender = second_person if receiver == first_person else first_person
    matching = yield from emails(" ".join(filter(None, (sender, subject))))
    if past_days:
        chosen = [
            row for row in matching if str(past_days[0]) <= row["sent_datetime"][:10] <= str(past_days[-1])
        ][::-1]
    else:
        chosen = matching[:1]
    return [_call("email.forward_email", row["email_id"], person) for row in chosen for person in to]


def _named_by(reading: ParsedRequest, *patterns: str) -> str | None:
    """The first colleague whose first name one of these patterns finds."""
    names = (match[1].lower() for pattern in patterns for match in re.finditer(pattern, reading.request))
    named_people = (person for name in names for person in reading.people if person.startswith(f"{name}."))
    return next(named_people, None)


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
    calls: list[PlannedCall] = []
    person = reading.people[0] if reading.people else ""
    if not condition:
        if other and reading.has("leads?") and len(reading.people) > 2:
            owner = _named_by(reading, r"(\w+)'s leads", r"lead that (\w+) has", r"customers of (\w+) with")
            to = first_of(colleague for colleague in reading.people[1:] if colleague != owner)
            leads = yield from customers(assigned_to_email=owner or "", status="Lead")
            calls += [_call(_UPDATE_CUSTOMER, row["customer_id"], "assigned_to_email", to) for row in leads]
            calls.append(_call("email.send_email", to, *texts[-2:]))
        elif other:
            calls.append(_call("email.send_email", person, *texts[-2:]))
        return calls
    if reading.has("board"):
        calls.append((yield from _task_for(reading, person, names.pop(0))))
    if to_meet and names:
        calls += yield from _meeting_with(reading, person, names[0])
    if reading.has("leads?") and len(reading.people) == 1:
        leads = yield from customers(assigned_to_email=person, status="Lead")
        calls += [_call(f"{_CRM}.delete_customer", row["customer_id"]) for row in leads]
    if len(texts) == 4 or (texts and not other):
        calls.append(_call("email.send_email", person, *texts[:2]))
    return calls


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
    start = (yield from first_gap(day)) if is_free else f"{day} {reading.times[0]}"
    return [_call("calendar.create_event", name, person, start, 30)] if start and person else []


def _lead_for_least_busy(reading: ParsedRequest) -> Steps[list[PlannedCall]]:
    board = reading.named(BOARDS)[0]
    list_name = reading.named(LISTS)[0]
    board_tasks = yield from tasks(board=board)
    counts = {row["assigned_to_email"]: 0 for row in board_tasks}
    for row in board_tasks:
        counts[row["assigned_to_email"]] += row["list_name"] == list_name
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
        due = str(reading.days[-1])
        board = reading.named(BOARDS)[0]
        return [_call(_CREATE_TASK, reading.quoted[0], reading.people[0], "Backlog", due, board)]
    patterns = r"(\w+)'s (?:tasks|backlog)", r"(?:tasks? of|While|helps out|of|whatever) (\w+)"
    owner = _named_by(reading, *patterns, r"(\w+) (?:is ill|never started)") or reading.people[0]
    owned_tasks = yield from tasks(assigned_to_email=owner)
    if reading.has("due first", "earliest due date"):
        open_ones = [row for row in owned_tasks if row["list_name"] != "Completed"]
        row = min(open_ones, key=lambda row: str(row["due_date"]))
        return [_call(_UPDATE_TASK, row["task_id"], "assigned_to_email", _other_person(reading, owner))]
    source, target = _source_and_target_lists(reading)
    limit = str(reading.days[-1])
    strict = reading.has("before")
    chosen = [
        row
        for row in owned_tasks
        if row["list_name"] in source and (row["due_date"] < limit if strict else row["due_date"] <= limit)
    ]
    field, value = ("list_name", target) if target else ("assigned_to_email", _other_person(reading, owner))
    return [_call(_UPDATE_TASK, row["task_id"], field, value) for row in chosen]


def _source_and_target_lists(reading: ParsedRequest) -> tuple[set[str], str | None]:
    """The lists that tasks leave, and the list they enter; None if only the colleague changes."""
    named_lists = [name for name, words in _LIST_PATTERNS.items() if re.search(words, reading.bare)]
    if len(reading.people) > 1:
        return {*named_lists}, None
    if reading.has("back into the backlog", "to the backlog"):
        return {"In Progress", "In Review"}, "Backlog"
    source = named_lists[0] if named_lists else "In Review"
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
        matching = yield from customers(product_interest=products[0], status="Proposal")
        late = [row for row in matching if row["last_contact_date"] < str(min(reading.days))]
        return [_call(_UPDATE_CUSTOMER, row["customer_id"], "status", "Lost") for row in late]
    if products and len(reading.people) == 2:
        return (yield from _hand_over_customers(reading, products[0]))
    if products and reading.people and reading.has("deleted?"):
        status = reading.named(_STATUSES)[0]
        matching = yield from customers(
            assigned_to_email=reading.people[0], product_interest=products[0], status=status
        )
        return [_call(f"{_CRM}.delete_customer", row["customer_id"]) for row in matching]
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
    calls = []
    for status in statuses:
        matching = yield from customers(assigned_to_email=owner, product_interest=product, status=status)
        calls += [_call(_UPDATE_CUSTOMER, row["customer_id"], "assigned_to_email", to) for row in matching]
    return calls


def calendar_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Create, move, rename or cancel meetings."""
    if not condition:
        return []
    days = reading.days
    texts = reading.quoted
    person = reading.people[0] if reading.people else ""
    create = "calendar.create_event"
    minutes = reading.minutes or 30
    if reading.has("e-mail") and texts:
        invitations = yield from emails(texts[0], days[0])
        sent = [row for row in invitations if row["sent_datetime"][:10] == str(days[0])]
        sender = first_of(row["sender/recipient"] for row in sent if row["subject"] == texts[0])
        return [_call(create, texts[0], sender, f"{days[-1]} {reading.times[0]}", minutes)]
    if reading.has("gap") and texts:
        gap = yield from first_gap(days[-1])
        return [_call(create, texts[0], person, gap, 30)] if gap else []
    if texts and days and reading.times and person:
        return [_call(create, texts[0], person, f"{days[0]} {reading.times[0]}", minutes)]
    if reading.has("later", "postpone", "move the start") and reading.minutes:
        meetings = yield from events(days[0], days[0], person)
        start = datetime.fromisoformat(meetings[0]["event_start"]) + timedelta(minutes=reading.minutes)
        return [_call("calendar.update_event", meetings[0]["event_id"], "event_start", str(start))]
    if reading.has("starts last", "latest", "final"):
        meetings = yield from events(days[0], days[0])
        return [_call("calendar.update_event", meetings[-1]["event_id"], "event_name", texts[0])]
    if texts and not days:
        meetings = yield from events(reading.today, None, texts[0])
        row = first_of(row for row in meetings if row["event_name"].lower() == texts[0].lower())
        return [
            _call("calendar.update_event", row["event_id"], "event_name", texts[1])
            if len(texts) > 1
            else _call("calendar.delete_event", row["event_id"])
        ]
    if texts:
        meetings = yield from events(days[0], None, texts[0])
        return [_call("calendar.delete_event", row["event_id"]) for row in meetings]
    if reading.times:
        meetings = yield from events(days[0], days[0])
        before = reading.has("before")
        limit = f"{days[0]} {reading.times[0]}"
        return [
            _call("calendar.delete_event", row["event_id"])
            for row in meetings
            if (row["event_start"] < limit if before else row["event_start"] > limit)
        ]
    if person and reading.has("before", "ahead of"):
        meetings = yield from events(reading.today, days[0] - timedelta(days=1), person)
        return [_call("calendar.delete_event", row["event_id"]) for row in meetings[:1]]
    if person:
        meetings = yield from events(days[0], None, person)
        return [_call("calendar.delete_event", row["event_id"]) for row in meetings]
    meetings = yield from events(days[0], days[0])
    return [_call("calendar.delete_event", meetings[0]["event_id"])]


_PLOT_KINDS = {"bar": ("bar", "bars"), "scatter": ("scatter",), "histogram": ("histogram", "histograms")}


def plot_calls(reading: ParsedRequest, condition: bool) -> Steps[list[PlannedCall] | None]:
    """Plot the metrics that a request names, or the traffic source that it describes."""
    if not reading.has("charts?", "plot", "histograms?", "bars", "line"):
        return None
    if not condition:
        return []
    first = min(reading.past)
    last = max(reading.past)
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
