"""The tables of the published workplace: names, columns and files."""

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
"""The judged domains, named as in the tools and the published files."""


@dataclass(frozen=True)
class Layout:
    """One table.

    Besides `columns`, every published table has `row`, a number that is never reused and defines the order,
    and `label`, the row's index label in the published program (pandas).

    Args:
        name: the table's name in the SQLite file.
        columns: in published order, key columns first; the first column is the id.
        domain: the domain whose state the table is; None for tables that are not judged.
        file: the published file below `processed/`, if there is one.
        verbatim: columns compared with case; all others are compared without.
        key: the columns that identify a row across two states; empty for tables compared by content.
        generated: columns that the database fills in for a new row; they are not compared.
        references: columns that hold a generated id of another table, with the name of that table.
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
        """The id column."""
        return self.columns[0]

    def id_of(self, cells: Sequence[Any]) -> Any:
        """A row's id in a verdict: one key column as it is, several as a JSON list; None without a key.

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
    """Quote a column name for SQL.

    >>> quoted("inbox/outbox")
    '"inbox/outbox"'
    """
    return '"' + name.replace('"', '""') + '"'


def create_statements() -> list[str]:
    """The SQL statements that create the empty tables."""
    statements = [
        "CREATE TABLE sandbox (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        # Columns that a tool added to the calendar. Their cells are JSON in calendar_events.added: agents
        # choose the names, and a name in the schema would have to be quoted and checked everywhere.
        "CREATE TABLE added_columns (number INTEGER PRIMARY KEY, name NOT NULL UNIQUE)",
    ]
    for table in TABLES:
        columns = ["row INTEGER PRIMARY KEY AUTOINCREMENT", "label INTEGER NOT NULL"]
        columns += [quoted(name) for name in table.columns]
        if table is CALENDAR:
            columns.append("added TEXT")
        if table is EMAILS:
            # 1 if a tool wrote `sent_datetime`: the published program then holds a timestamp, not a text.
            columns.append("moment INTEGER NOT NULL DEFAULT 0")
        statements.append(f"CREATE TABLE {table.name} ({', '.join(columns)})")
    return statements
