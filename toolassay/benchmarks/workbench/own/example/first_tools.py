"""What an agent can do in this workplace. Each function is a tool; the agent sees its docstring.

A tool takes the database first, and then arguments with types. Rows know their columns by name. What a call
does is kept when it returns, and undone if it raises; `raise ToolError("…")` tells the agent why. The time is
that of the workplace: `now(db)`, and date('now') in SQL.
"""

from __future__ import annotations

import sqlite3

from toolassay.workplace import tool


@tool("lookup", reads_only=True)
def tables(db: sqlite3.Connection, name: str = "") -> list[str]:
    """The tables and their columns, as SQL.

    Args:
        name: Only this table.
    """
    found = db.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND ? IN ('', name)", [name])
    return [row["sql"] for row in found]
