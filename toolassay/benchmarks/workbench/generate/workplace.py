"""A world as a sandbox, and the sandbox as bytes that are the same everywhere."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.world import NOW, PEOPLE, USER, World, address
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.sandbox.sandbox import Rows
from toolassay.benchmarks.workbench.sandbox.schema import TABLES, create_statements


def sandbox_of(world: World) -> Sandbox:
    """The sandbox with the tables of a world and its directory.

    Mail sent after a deletion is appended, and replaces no other mail.
    """
    visits = [[*list(visit.values())[:-1], int(visit["user_engaged"] == "True")] for visit in world.analytics]
    tables: dict[str, Rows] = {
        "calendar_events": [list(row.values()) for row in world.calendar],
        "emails": [list(row.values()) for row in world.email],
        "visits": visits,
        "tasks": [list(row.values()) for row in world.project_management],
        "customers": [list(row.values()) for row in world.customer_relationship_manager],
        "directory": [[email] for email in sorted(map(address, PEOPLE))],
    }
    return Sandbox.of(tables, now=NOW, user=USER, overwrites=False)


def stable_image(sandbox: Sandbox) -> bytes:
    """The sandbox as an SQLite file: the same bytes from every release and build of SQLite.

    Rows are written in one order, and what pages do not use is zero, as some builds have it by default.
    A database that was never a file has neither a change counter nor the number of a release in its header.
    """
    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in ("PRAGMA page_size = 4096", "PRAGMA secure_delete = ON", *create_statements()):
            copy.execute(statement)
        for table in ("sandbox", "added_columns", *(layout.name for layout in TABLES)):
            for row in sandbox.connection.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                copy.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        return copy.serialize()
    finally:
        copy.close()
