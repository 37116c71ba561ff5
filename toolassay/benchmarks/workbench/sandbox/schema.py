"""The tables of the workplace: names, columns and files as published."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DOMAINS = (
    "calendar",
    "email",
    "analytics",
    "project_management",
    "customer_relationship_manager",
)
"""What is judged, by the names that the tools and the published files use."""


@dataclass(frozen=True)
class Layout:
    """One table.

    Beside `columns`, every published table has `row`, a number that is never used twice and gives the order,
    and `label`, the number by which the published program knows the row.

    Args:
        name: its name in the SQLite file.
        columns: in published order; the first is the id, or the first are, if the key has several.
        domain: whose state it is; None for what is only read.
        file: the published file below `processed/`, if there is one.
        verbatim: columns in which case matters when states are compared.
        key: what a row is known by in two states; nothing: by its content alone.
        generated: columns of which a new row has what the database made up: they do not count.
        references: columns that hold the generated id of a row of another table, and which table.
    """

    name: str
    columns: tuple[str, ...]
    domain: str | None = None
    file: str | None = None
    verbatim: frozenset[str] = frozenset()
    key: tuple[str, ...] = ("row",)
    generated: frozenset[str] = frozenset()
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The column that names a row."""
        return self.columns[0]

    def id_of(self, cells: Sequence[Any]) -> Any:
        """What a verdict calls a row: its id, several as a JSON list; None if it has none.

        >>> Layout("loans", ("book", "member", "due"), key=("book", "member")).id_of(["b1", "m2", "2024"])
        '["b1", "m2"]'
        """
        if len(self.key) > 1:
            return json.dumps(list(cells[: len(self.key)]), ensure_ascii=False, default=str)
        return cells[0] if self.key else None


CALENDAR = Layout(
    "calendar_events",
    ("event_id", "event_name", "participant_email", "event_start", "duration"),
    domain="calendar",
    file="calendar_events.csv",
    generated=frozenset({"event_id"}),
)
EMAILS = Layout(
    "emails",
    ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"),
    domain="email",
    file="emails.csv",
    generated=frozenset({"email_id"}),
)
VISITS = Layout(
    "visits",
    (
        "date_of_visit",
        "visitor_id",
        "page_views",
        "session_duration_seconds",
        "traffic_source",
        "user_engaged",
    ),
    file="analytics_data.csv",
)
PLOTS = Layout("plots", ("file_path",), domain="analytics")
TASKS = Layout(
    "tasks",
    ("task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board"),
    domain="project_management",
    file="project_tasks.csv",
    verbatim=frozenset({"list_name", "board"}),
    generated=frozenset({"task_id"}),
)
CUSTOMERS = Layout(
    "customers",
    (
        "customer_id",
        "assigned_to_email",
        "customer_name",
        "customer_email",
        "customer_phone",
        "last_contact_date",
        "product_interest",
        "status",
        "follow_up_by",
        "notes",
    ),
    domain="customer_relationship_manager",
    file="customer_relationship_manager_data.csv",
    verbatim=frozenset({"status"}),
    generated=frozenset({"customer_id"}),
)
DIRECTORY = Layout("directory", ("email_address",))

TABLES = (CALENDAR, EMAILS, VISITS, PLOTS, TASKS, CUSTOMERS, DIRECTORY)
JUDGED = (CALENDAR, EMAILS, PLOTS, TASKS, CUSTOMERS)


def quoted(name: str) -> str:
    """A column name for SQL.

    >>> quoted("inbox/outbox")
    '"inbox/outbox"'
    """
    return '"' + name.replace('"', '""') + '"'


def create_statements() -> list[str]:
    """The SQL that makes the empty tables."""
    statements = [
        "CREATE TABLE sandbox (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # Columns that a tool added to the calendar; their cells stand, as JSON, in calendar_events.added.
        "CREATE TABLE added_columns (number INTEGER PRIMARY KEY, name NOT NULL UNIQUE)",
    ]
    for table in TABLES:
        columns = ["row INTEGER PRIMARY KEY AUTOINCREMENT", "label INTEGER NOT NULL"]
        columns += [quoted(name) for name in table.columns]
        if table is CALENDAR:
            columns.append("added TEXT")
        if table is EMAILS:
            # 1: `sent_datetime` was written by a tool as a moment, and is not text to the published program.
            columns.append("moment INTEGER NOT NULL DEFAULT 0")
        statements.append(f"CREATE TABLE {table.name} ({', '.join(columns)})")
    return statements
