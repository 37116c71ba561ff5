"""A server of the SDK that keeps notes: `notes.py folder FOLDER` or `notes.py database FILE`.

It appends the number of its process to the file of the variable PIDS.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import TypedDict

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
REPEATABLE = ToolAnnotations(read_only_hint=False, idempotent_hint=True)
DESTRUCTIVE = ToolAnnotations(read_only_hint=False, destructive_hint=True)


class Size(TypedDict):
    """How long a note is."""

    name: str
    words: int


def notes_in_a_folder(server: MCPServer, folder: Path) -> None:
    """Notes as files; a name is a path, relative to the working directory unless it is absolute."""

    def place(name: str) -> Path:
        return Path(name) if "/" in name else folder / name

    @server.tool(annotations=READS)
    def list_notes() -> list[str]:
        """The names of all notes."""
        return sorted(path.name for path in folder.iterdir() if path.is_file())

    @server.tool(annotations=READS)
    def read_note(name: str) -> str:
        """The text of a note."""
        return place(name).read_text()

    @server.tool(annotations=READS)
    def size(name: str) -> Size:
        """The number of words of a note."""
        return {"name": name, "words": len(place(name).read_text().split())}

    @server.tool(annotations=READS)
    def where() -> str:
        """The working directory."""
        return f"in {Path.cwd()}"

    @server.tool(annotations=REPEATABLE)
    def write_note(name: str, text: str) -> str:
        """Write a note; its path."""
        place(name).write_text(text)
        return str(place(name).absolute())

    @server.tool()
    def append_note(name: str, text: str) -> str:
        """Append to a note."""
        with place(name).open("a") as file:
            file.write(text)
        return f"appended {len(text)} characters"

    @server.tool(annotations=DESTRUCTIVE)
    def delete_note(name: str) -> str:
        """Delete a note."""
        place(name).unlink()
        return f"deleted {name}"


def notes_in_a_database(server: MCPServer, file: Path) -> None:
    """Notes as rows, on one connection that stays open."""
    base = sqlite3.connect(file, check_same_thread=False)
    base.execute("CREATE TABLE IF NOT EXISTS notes (name TEXT, text TEXT)")
    base.commit()

    @server.tool(annotations=READS)
    def list_notes() -> list[str]:
        """The names of all notes."""
        return [name for (name,) in base.execute("SELECT name FROM notes ORDER BY name")]

    @server.tool()
    def append_note(name: str, text: str) -> str:
        """Add a note."""
        with base:
            base.execute("INSERT INTO notes VALUES (?, ?)", (name, text))
        return f"there are {base.execute('SELECT count(*) FROM notes').fetchone()[0]} notes"

    @server.tool(annotations=DESTRUCTIVE)
    def delete_note(name: str) -> str:
        """Delete a note."""
        with base:
            count = base.execute("DELETE FROM notes WHERE name = ?", (name,)).rowcount
        return f"Error: there is no note {name}" if not count else f"deleted {name}"


def main(kind: str, place: str) -> None:
    """Serve until the input ends."""
    if "PIDS" in os.environ:
        with Path(os.environ["PIDS"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    server = MCPServer("notes")
    (notes_in_a_folder if kind == "folder" else notes_in_a_database)(server, Path(place))
    server.run("stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
