"""Small workplaces of one's own for tests: a folder, or what is in it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.own.own_sandbox import OwnSandbox
from toolassay.benchmarks.workbench.tools import toolset_of
from toolassay.benchmarks.workbench.workplace import load_own

NOTES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'a'), (2, 'b');"
WRITE = '''
@tool("notes")
def write(db, text: str) -> int:
    """Write a note."""
    return db.execute("INSERT INTO notes (text) VALUES (?)", [text]).lastrowid
'''
IMPORTS = """
import sqlite3
from typing import Literal
from toolassay.workplace import ToolError, now, tool, user
"""


def database(path: Path, sql: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()
    return path


def workplace(
    folder: Path, *, sql: str = NOTES, tools: str = WRITE, tasks: list[Any] | None = None, **facts: Any
) -> Path:
    """A folder with a database, tools (without their imports) and tasks."""
    folder.mkdir()
    database(folder / "sandbox.sqlite", sql)
    (folder / "tools.py").write_text(IMPORTS + tools)
    lines = [json.dumps({"domains": ["notes"], "answer": [], **task}) for task in tasks or [{"query": "Hi"}]]
    (folder / "tasks.jsonl").write_text("\n".join(lines))
    about = {"benchmark": "workbench", "tools": "tools.py", "now": "2024-02-28 09:30:00", "user": "Kim"}
    (folder / "benchmark.json").write_text(json.dumps(about | facts))
    return folder


def sandbox(folder: Path, **parts: Any) -> OwnSandbox:
    return load_own(workplace(folder, **parts))


def call(place: OwnSandbox, name: str, **arguments: Any) -> Any:
    return toolset_of(place).call(place, name, arguments)
