"""A server of the SDK that keeps notes with owners: `notes_server.py FILE [MODE]`.

It appends the name of each called tool to the file of the variable CALLS. The mode "crash" ends the process
at the first call, "refuse" refuses every call.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any, TypedDict

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
SEED = [
    {"note_id": "N-101", "owner": "Nora Hughes", "title": "Spring menu"},
    {"note_id": "N-102", "owner": "Liam Ortega", "title": "Boat repair"},
    {"note_id": "N-103", "owner": "Nora Hughes", "title": "Train times"},
]


class Note(TypedDict):
    """A note."""

    note_id: str
    owner: str
    title: str


class Notes(TypedDict):
    """Some notes."""

    notes: list[Note]


def main(place: str, mode: str = "") -> None:
    """Serve until the input ends."""
    logging.disable(logging.CRITICAL)  # a traceback for each refused call takes half a second
    file = Path(place)
    server = MCPServer("notes")

    def load(name: str) -> list[Any]:
        if "CALLS" in os.environ:
            with Path(os.environ["CALLS"]).open("a") as log:
                log.write(f"{name}\n")
        if mode == "crash":
            os._exit(3)
        if mode == "refuse":
            raise ToolError("the library is closed")
        return list(json.loads(file.read_text()))

    def one(notes: list[Any], note_id: str) -> Any:
        found = next((note for note in notes if note["note_id"] == note_id), None)
        if found is None:
            raise ToolError(f"there is no note {note_id}")
        return found

    def save(notes: list[Any]) -> None:
        file.write_text(json.dumps(notes))

    @server.tool(annotations=READS)
    def list_notes() -> Notes:
        """List all notes."""
        return {"notes": load("list_notes")}

    @server.tool(annotations=READS)
    def get_note(note_id: str) -> Note:
        """Get a note by its ID."""
        found: Note = one(load("get_note"), note_id)
        return found

    @server.tool(annotations=READS)
    def search_notes(owner: str) -> Notes:
        """Search the notes of an owner."""
        return {"notes": [note for note in load("search_notes") if note["owner"] == owner]}

    @server.tool()
    def create_note(title: str, owner: str) -> str:
        """Create a note."""
        notes = load("create_note")
        save([*notes, {"note_id": f"N-{101 + len(notes)}", "owner": owner, "title": title}])
        return f"Created {title}"

    @server.tool()
    def rename_note(note_id: str, owner: str, new_title: str) -> str:
        """Rename a note of an owner."""
        notes = load("rename_note")
        note = one(notes, note_id)
        if note["owner"] != owner:
            raise ToolError(f"{note_id} is not a note of {owner}")
        note["title"] = new_title
        save(notes)
        return "Renamed"

    @server.tool()
    def delete_notes(note_ids: list[str]) -> str:
        """Delete notes by their IDs; those that are not there are left out."""
        notes = load("delete_notes")
        kept = [note for note in notes if note["note_id"] not in note_ids]
        if len(kept) < len(notes):
            save(kept)
        return "Deleted"

    server.run("stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
