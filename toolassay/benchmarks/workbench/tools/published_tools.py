"""The published tools: e-mail and the directory, the calendar, visits and plots, project boards, customers.

Replies and side effects are those of the published program.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from toolassay.benchmarks.workbench.records import Moment, Record, Records
from toolassay.benchmarks.workbench.sandbox import (
    CALENDAR,
    CUSTOMERS,
    DIRECTORY,
    EMAILS,
    PLOTS,
    TASKS,
    VISITS,
    Sandbox,
)
from toolassay.benchmarks.workbench.tools.tool import (
    Search,
    ToolFailure,
    look_up,
    parse_moment,
    remove_rows,
    tool,
)

# Results of a search for e-mails, events or customers, as in the published program.
_AT_MOST = 5


@tool("email")
def send_email(sandbox: Sandbox, recipient: Any = None, subject: Any = None, body: Any = None) -> str:
    """The e-mail is added to the outbox with the sandbox's current time."""
    if not recipient or not subject or not body:
        return "Recipient, subject, or body not provided."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    _send(sandbox, recipient.lower(), subject, body)
    return "Email sent successfully."


@tool("email")
def delete_email(sandbox: Sandbox, email_id: Any = None) -> str:
    """Deletes every e-mail with this id."""
    return remove_rows(sandbox, EMAILS, "Email", email_id)


@tool("email")
def forward_email(sandbox: Sandbox, email_id: Any = None, recipient: Any = None) -> str:
    """Sends the same body with `FW: ` before the subject."""
    if not email_id or not recipient:
        return "Email ID or recipient not provided."
    mail = Records(sandbox, EMAILS).first(email_id)
    if mail is None:
        return "Email not found."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    _send(sandbox, recipient.lower(), f"FW: {mail['subject']}", mail["body"])
    return "Email forwarded successfully."


@tool("email")
def reply_email(sandbox: Sandbox, email_id: Any = None, body: Any = None) -> str:
    """The subject stays unchanged (no `Re: `), as in the published program."""
    if not email_id or not body:
        return "Email ID or body not provided."
    mail = Records(sandbox, EMAILS).first(email_id)
    if mail is None:
        return "Email not found."
    _send(sandbox, mail["sender/recipient"].lower(), mail["subject"], body)
    return "Email replied successfully."


@tool("email")
def get_email_information_by_id(sandbox: Sandbox, email_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, EMAILS, "Email", email_id, field)


@tool("email")
def search_emails(sandbox: Sandbox, query: Any = "", date_min: Any = None, date_max: Any = None) -> Any:
    """The first 5 matches, newest first.

    Raises:
        ToolFailure: both original mail and mail sent during the task match. The program of 2024 fails there
            because it cannot sort texts and timestamps together.
    """
    words = query.lower().split()
    mails = Records(sandbox, EMAILS)
    rows = mails.all()
    texts = mails.derived(_texts)
    positions: Sequence[int] = range(len(rows))
    for word in words:
        positions = [position for position in positions if word in texts[position]]
    matches = [rows[position] for position in positions]
    edition = sandbox.edition
    if not edition.appends_mail and len({isinstance(mail["sent_datetime"], Moment) for mail in matches}) > 1:
        raise ToolFailure("cannot order mail that was there and mail sent since: search for fewer e-mails")
    matches.sort(key=lambda mail: mail["sent_datetime"], reverse=True)
    for bound, keeps in ((date_min, operator.ge), (date_max, operator.le)):
        if bound and (matches or edition.appends_mail):
            day = _day(sandbox, bound)
            matches = [mail for mail in matches if keeps(_day(sandbox, mail["sent_datetime"]), day)]
    return [dict(mail) for mail in matches[:_AT_MOST]] or edition.replies["mail"]


def _day(sandbox: Sandbox, text: Any) -> date:
    moment = parse_moment(text, sandbox.now)
    if moment is None:
        raise ToolFailure(f"not a day: {text!r}; write YYYY-MM-DD")
    return moment.date()


def _is_address(text: Any) -> bool:
    return "@" in text and "." in text


def _texts(mails: Sequence[Record]) -> list[str]:
    """The text of each mail that is searched, without case."""
    return [f"{mail['subject']} {mail['body']} {mail['sender/recipient']}".lower() for mail in mails]


def _send(sandbox: Sandbox, recipient: Any, subject: Any, body: Any) -> None:
    mails = Records(sandbox, EMAILS)
    number = f"{mails.next_id():0{8 if sandbox.edition.appends_mail else 1}d}"
    cells = (number, "outbox", recipient, subject, f"{sandbox.now:%Y-%m-%d %H:%M:%S}", body)
    row = dict(zip(EMAILS.columns, cells, strict=True)) | {"moment": 1}
    if sandbox.edition.appends_mail or not sandbox.overwrites:
        mails.append(row, mails.next_label())
    # The published program uses the number of rows as the new label. After a deletion another row may have
    # that label, and is then overwritten.
    elif not mails.overwrite(row, len(mails)):
        mails.append(row, len(mails))


DIRECTORY_DOMAIN = "company_directory"


@tool(DIRECTORY_DOMAIN)
def find_email_address(sandbox: Sandbox, name: Any = "") -> Any:
    """All addresses that contain the name."""
    if name == "":
        return "Name not provided."
    rows = Records(sandbox, DIRECTORY).all()
    edition = sandbox.edition
    found = Search(literal=edition.is_literal).contains(rows, name.lower(), "email_address")
    return [row["email_address"] for row in found] or edition.replies["address"]


_NEEDED = {
    "event_name": "Event name",
    "participant_email": "Participant email",
    "event_start": "Event start",
    "duration": "Event duration",
}


@tool("calendar")
def create_event(sandbox: Sandbox, **given: Any) -> str:
    """The new event gets label 0, as in the published program, which does not renumber the calendar."""
    for name, noun in _NEEDED.items():
        if not given.get(name):
            return f"{noun} not provided."
    given["participant_email"] = given["participant_email"].lower()
    events = Records(sandbox, CALENDAR)
    event_id = f"{events.next_id():08d}"
    events.append({"event_id": event_id, **given}, label=0)
    return event_id


@tool("calendar")
def delete_event(sandbox: Sandbox, event_id: Any = None) -> str:
    """Deletes every event with this id."""
    return remove_rows(sandbox, CALENDAR, "Event", event_id)


@tool("calendar")
def update_event(sandbox: Sandbox, event_id: Any = None, field: Any = None, new_value: Any = None) -> str:
    """A field that is not a column becomes a new column, as in the published program."""
    if not event_id or not field or not new_value:
        return "Event ID, field, or new value not provided."
    if isinstance(field, bool):
        raise ToolFailure("a field is text, not a truth value")
    events = Records(sandbox, CALENDAR)
    if events.first(event_id) is None:
        return "Event not found."
    if field == "participant_email":
        new_value = new_value.lower()
    events.change(event_id, field, new_value)
    return "Event updated successfully."


@tool("calendar")
def get_event_information_by_id(sandbox: Sandbox, event_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, CALENDAR, "Event", event_id, field)


@tool("calendar")
def search_events(sandbox: Sandbox, query: Any = "", time_min: Any = None, time_max: Any = None) -> Any:
    """The first 5 matches, in table order."""
    rows = Records(sandbox, CALENDAR).all()
    edition = sandbox.edition
    search = Search(literal=edition.is_literal)
    matches = search.either_contains(rows, query, "event_name", "participant_email")
    for bound, is_least in ((time_min, True), (time_max, False)):
        if bound and matches:
            limit = parse_moment(bound, sandbox.now)
            kept = []
            for event in matches:
                time = parse_moment(event["event_start"], sandbox.now)
                if time is not None and is_least and edition.searches_ends:
                    time += timedelta(minutes=int(event["duration"]))
                if time is not None and limit is not None and (time >= limit if is_least else time <= limit):
                    kept.append(event)
            matches = kept
    return [dict(event) for event in matches[:_AT_MOST]] or edition.replies["event"]


@tool("analytics")
def create_plot(sandbox: Sandbox, **given: Any) -> Any:
    """Record the path of a plot. No picture is drawn: the judges compare the paths."""
    first, last, value, kind = map(given.get, ("time_min", "time_max", "value_to_plot", "plot_type"))
    if not first:
        return "Start date not provided."
    if not last:
        return "End date not provided."
    if not create_plot.allows("value_to_plot", value):
        return sandbox.edition.replies["value"]
    if not create_plot.allows("plot_type", kind):
        return sandbox.edition.replies["plot"]
    path = f"plots/{first}_{last}_{value}_{kind}.png"
    plots = Records(sandbox, PLOTS)
    plots.append({"file_path": path}, label=len(plots))
    return path


@tool("analytics")
def total_visits_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "count(*)", time_min, time_max)


@tool("analytics")
def engaged_users_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "sum(user_engaged)", time_min, time_max)


@tool("analytics")
def traffic_source_count(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None, traffic_source: Any = None
) -> dict[str, int]:
    """Days without visits are not in the result; days without visits from the source count 0."""
    if not traffic_source:
        return _by_day(sandbox, "count(*)", time_min, time_max)
    return _by_day(sandbox, "sum(traffic_source = ?)", time_min, time_max, traffic_source)


@tool("analytics")
def get_average_session_duration(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None
) -> dict[str, float]:
    """Mean duration in seconds by day. A call without bounds turns the stored durations into floats, as
    in the program of 2024.
    """
    if not time_min and not time_max and sandbox.edition.converts_durations:
        sandbox.connection.execute(
            "UPDATE visits SET session_duration_seconds = CAST(session_duration_seconds AS REAL)"
        )
    return _by_day(sandbox, "avg(CAST(session_duration_seconds AS REAL))", time_min, time_max)


@tool("analytics")
def get_visitor_information_by_id(sandbox: Sandbox, visitor_id: Any = None) -> Any:
    """All visits of the visitor."""
    if not visitor_id:
        return "Visitor ID not provided."
    visits = Records(sandbox, VISITS).derived(_by_visitor).get(visitor_id, ())
    return [
        {**visit, "user_engaged": bool(visit["user_engaged"])} for visit in visits
    ] or "Visitor not found."


def _by_visitor(visits: Sequence[Record]) -> dict[Any, list[Record]]:
    records: dict[Any, list[Record]] = {}
    for visit in visits:
        records.setdefault(visit["visitor_id"], []).append(visit)
    return records


def _by_day(sandbox: Sandbox, value: str, time_min: Any, time_max: Any, *parameters: Any) -> dict[str, Any]:
    """One aggregate per day, in order. `value` is an SQL expression; days are compared as text."""
    conditions = []
    for sign, bound in ((">=", time_min), ("<=", time_max)):
        if not bound:
            continue
        if not isinstance(bound, str):
            raise ToolFailure(f"a day is text, not {type(bound).__name__}; write YYYY-MM-DD")
        conditions.append(f"date_of_visit {sign} ?")
        parameters += (bound,)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    day = "date_of_visit"
    query = f"SELECT {day}, {value} FROM visits {where} GROUP BY {day} ORDER BY {day}"
    return dict(sandbox.connection.execute(query, parameters))


# Results of a search for tasks in editions with literal searches; others return all.
_MOST_TASKS = 200
_WRONG_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."


@tool("project_management")
def create_task(sandbox: Sandbox, **given: Any) -> str:
    """All tasks are relabelled, as in the published program."""
    if not all(map(given.get, TASKS.columns[1:])):
        return "Missing task details."
    tasks = Records(sandbox, TASKS)
    given["assigned_to_email"] = given["assigned_to_email"].lower()
    for field in ("assigned_to_email", "list_name", "board"):
        if wrong := _wrong(tasks, field, given[field]):
            return wrong
    task_id = f"{tasks.next_id():08d}"
    tasks.append({"task_id": task_id, **given}, label=len(tasks))
    tasks.renumber()
    return task_id


@tool("project_management")
def delete_task(sandbox: Sandbox, task_id: Any = None) -> str:
    """Deletes every task with this id."""
    return remove_rows(sandbox, TASKS, "Task", task_id)


@tool("project_management")
def update_task(sandbox: Sandbox, task_id: Any = None, field: Any = None, new_value: Any = None) -> str:
    """The value is checked before the task is looked up."""
    if not task_id or not field or not new_value:
        return "Task ID, field, or new value not provided."
    tasks = Records(sandbox, TASKS)
    if field == "assigned_to_email":
        new_value = new_value.lower()
    if wrong := _wrong(tasks, field, new_value):
        return wrong
    if tasks.first(task_id) is None:
        return "Task not found."
    if field not in TASKS.columns:
        return "Field not valid."
    tasks.change(task_id, field, new_value)
    return "Task updated successfully."


@tool("project_management")
def get_task_information_by_id(sandbox: Sandbox, task_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, TASKS, "Task", task_id, field)


@tool("project_management")
def search_tasks(sandbox: Sandbox, **given: Any) -> Any:
    """All matches, or the first 200, in table order."""
    if not any(given.values()):
        return "No search parameters provided."
    literal = sandbox.edition.is_literal
    search = Search(literal=literal, case=literal)
    matches = list(Records(sandbox, TASKS).all())
    for column in TASKS.columns[1:]:
        if pattern := given.get(column):
            matches = search.contains(matches, pattern, column)
    return [dict(task) for task in matches[: _MOST_TASKS if literal else None]]


def _wrong(tasks: Records, field: Any, value: Any) -> str:
    """The error message for a field's value; empty if the value is valid."""
    if field == "assigned_to_email" and value not in {task[field] for task in tasks.all()}:
        return _WRONG_ASSIGNEE
    if field in ("list_name", "board") and not create_task.allows(field, value):
        noun = field.removesuffix("_name").capitalize()
        choices = create_task.arguments[field].choices
        return f"{noun} not valid. Please choose from: {', '.join(map(repr, choices))}."
    return ""


CUSTOMERS_DOMAIN = "customer_relationship_manager"
_EMAILS = ("customer_email", "assigned_to_email")
_WRONG_FIELD = (
    "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', "
    "'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'"
)


@tool(CUSTOMERS_DOMAIN)
def update_customer(
    sandbox: Sandbox, customer_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """The value is checked before the customer is looked up. The assignee is not checked, as in the published
    program.
    """
    if not customer_id or not field or not new_value:
        return "Customer ID, field, or new value not provided."
    if field in ("status", "product_interest") and not add_customer.allows(field, new_value):
        noun = field.capitalize().replace("_", " ")
        choices = add_customer.arguments[field].choices
        return f"{noun} not valid. Please choose from: {', '.join(map(repr, choices))}"
    if field in _EMAILS:
        new_value = new_value.lower()
    customers = Records(sandbox, CUSTOMERS)
    if customers.first(customer_id) is None:
        return "Customer not found."
    if field not in CUSTOMERS.columns:
        return _WRONG_FIELD
    customers.change(customer_id, field, new_value)
    return "Customer updated successfully."


@tool(CUSTOMERS_DOMAIN)
def add_customer(sandbox: Sandbox, **given: Any) -> str:
    """No value is checked, and all customers are relabelled, as in the published program."""
    if not all(map(given.get, ("customer_name", "assigned_to_email", "status"))):
        return "Please provide all required fields: customer_name, assigned_to_email, status."
    customers = Records(sandbox, CUSTOMERS)
    customer_id = f"{customers.next_id():08d}"
    emails = {name: given[name].lower() for name in _EMAILS if given.get(name)}
    customers.append({"customer_id": customer_id, "notes": "", **given, **emails}, label=len(customers))
    customers.renumber()
    return customer_id


@tool(CUSTOMERS_DOMAIN)
def delete_customer(sandbox: Sandbox, customer_id: Any = None) -> str:
    """Deletes every customer with this id."""
    return remove_rows(sandbox, CUSTOMERS, "Customer", customer_id)


@tool(CUSTOMERS_DOMAIN)
def search_customers(sandbox: Sandbox, **given: Any) -> Any:
    """The first 5 matches, in table order."""
    if not any(given.values()):
        return "No search parameters provided. Please provide at least one parameter."
    search = Search(literal=sandbox.edition.is_literal)
    matches = list(Records(sandbox, CUSTOMERS).all())
    for column in ("customer_name", "customer_email", "product_interest", "status", "assigned_to_email"):
        if pattern := given.get(column):
            matches = search.contains(matches, pattern, column)
    for column in ("last_contact_date", "follow_up_by"):
        matches = _between(matches, column, given.get(f"{column}_min"), given.get(f"{column}_max"))
    return [dict(customer) for customer in matches[:_AT_MOST]]


def _between(rows: list[Record], column: str, first: Any, last: Any) -> list[Record]:
    """The rows whose day is within the bounds. Days are compared as text; rows without a day are left out."""
    for bound, keeps in ((first, operator.ge), (last, operator.le)):
        if not bound:
            continue
        if not isinstance(bound, str):
            raise ToolFailure(f"a day is text, not {type(bound).__name__}; write YYYY-MM-DD")
        rows = [row for row in rows if row[column] is not None and keeps(row[column], bound)]
    return rows
