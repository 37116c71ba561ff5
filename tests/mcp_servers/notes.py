"""A server that keeps notes: `notes.py folder FOLDER` or `notes.py database FILE`.

It appends the number of its process to the file of the variable PIDS.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .standard_streams import READS, serve, tool
else:
    from standard_streams import READS, serve, tool

NAME = {"name": {"type": "string"}}
NOTE = {**NAME, "text": {"type": "string"}}
REPEATABLE = {"readOnlyHint": False, "idempotentHint": True}
DESTRUCTIVE = {"readOnlyHint": False, "destructiveHint": True}

Call = Callable[[str, dict[str, Any]], Any]


def notes_in_a_folder(folder: Path) -> tuple[list[dict[str, Any]], Call]:
    """Notes as files; a name is a path, relative to the working directory unless it is absolute."""

    def call(tool: str, given: dict[str, Any]) -> Any:
        if tool == "list_notes":
            return sorted(path.name for path in folder.iterdir() if path.is_file())
        if tool == "where":
            return f"in {Path.cwd()}"
        name = given["name"]
        note = Path(name) if "/" in name else folder / name
        if tool == "read_note":
            return note.read_text()
        if tool == "size":
            return {"name": name, "words": len(note.read_text().split())}
        if tool == "write_note":
            note.write_text(given["text"])
            return str(note.absolute())
        if tool == "append_note":
            with note.open("a") as file:
                file.write(given["text"])
            return f"appended {len(given['text'])} characters"
        note.unlink()
        return f"deleted {name}"

    tools = [
        tool("list_notes", "The names of all notes.", READS),
        tool("read_note", "The text of a note.", READS, **NAME),
        tool("size", "The number of words of a note.", READS, **NAME),
        tool("where", "The working directory.", READS),
        tool("write_note", "Write a note; its path.", REPEATABLE, **NOTE),
        tool("append_note", "Append to a note.", None, **NOTE),
        tool("delete_note", "Delete a note.", DESTRUCTIVE, **NAME),
    ]
    return tools, call


def notes_in_a_database(file: Path) -> tuple[list[dict[str, Any]], Call]:
    """Notes as rows, on one connection that stays open."""
    base = sqlite3.connect(file)
    base.execute("CREATE TABLE IF NOT EXISTS notes (name TEXT, text TEXT)")
    base.commit()

    def call(tool: str, given: dict[str, Any]) -> Any:
        if tool == "list_notes":
            return [name for (name,) in base.execute("SELECT name FROM notes ORDER BY name")]
        with base:
            if tool == "append_note":
                base.execute("INSERT INTO notes VALUES (?, ?)", (given["name"], given["text"]))
                return f"there are {base.execute('SELECT count(*) FROM notes').fetchone()[0]} notes"
            count = base.execute("DELETE FROM notes WHERE name = ?", (given["name"],)).rowcount
        return f"deleted {given['name']}" if count else f"Error: there is no note {given['name']}"

    tools = [
        tool("list_notes", "The names of all notes.", READS),
        tool("append_note", "Add a note.", None, **NOTE),
        tool("delete_note", "Delete a note.", DESTRUCTIVE, **NAME),
    ]
    return tools, call


def main(kind: str, place: str) -> None:
    """Serve until the input ends."""
    if "PIDS" in os.environ:
        with Path(os.environ["PIDS"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    serve("notes", *(notes_in_a_folder if kind == "folder" else notes_in_a_database)(Path(place)))


if __name__ == "__main__":
    main(*sys.argv[1:])
