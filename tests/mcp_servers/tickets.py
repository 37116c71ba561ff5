"""A server without packages that keeps tickets in an SQLite database: `tickets.py FILE`."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .standard_streams import READS, CallRefused, serve, tool
else:  # as a script
    from standard_streams import READS, CallRefused, serve, tool

TEXT = {"type": "string"}
SEED = [
    (7, "Printer on fire", "open", "Zoë Brandt", "2026-12-03"),
    (8, "No sound in room 4", "open", "Ben Ortiz", "2026-12-01"),
    (9, "New keyboard", "closed", "Zoë Brandt", "2026-11-20"),
]
COLUMNS = ("id", "title", "state", "assignee", "due")
TOOLS = [
    tool("list_tickets", "List all tickets.", READS),
    tool("get_closing_time", "Get the time at which the desk closes, as text.", READS),
    tool("close_ticket", "Close a ticket.", id={"type": "integer"}),
    tool("delete_ticket", "Delete a ticket for good.", id={"type": "integer"}),
    tool("write_note", "Write a text to a file of notes.", file=TEXT, text=TEXT),
]


def make_desk(file: Path) -> None:
    """Write the database."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(file) as base:
        base.execute(f"CREATE TABLE tickets ({', '.join(COLUMNS)})")
        base.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", SEED)
    base.close()


def called(name: str, arguments: dict[str, Any]) -> Any:
    """The result of a call."""
    database = Path(sys.argv[1])
    if name == "get_closing_time":
        return "17:30"
    if name == "write_note":
        database.with_name(arguments["file"]).write_text(arguments["text"])
        return {"written": arguments["file"]}
    with sqlite3.connect(database) as base:
        rows = base.execute("SELECT * FROM tickets ORDER BY id").fetchall()
        if name == "list_tickets":
            return {"tickets": [dict(zip(COLUMNS, row, strict=True)) for row in rows]}
        if arguments["id"] not in [row[0] for row in rows]:
            raise CallRefused(f"there is no ticket {arguments['id']}")
        change = "UPDATE tickets SET state = 'closed'" if name == "close_ticket" else "DELETE FROM tickets"
        base.execute(f"{change} WHERE id = ?", (arguments["id"],))
    return {"id": arguments["id"], "done": True}


if __name__ == "__main__":
    serve("tickets", TOOLS, called)
