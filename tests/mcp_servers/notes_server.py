"""A server that keeps notes with owners: `notes_server.py FILE [MODE]`.

It appends the name of each called tool to the file of the variable CALLS. The mode "crash" ends the process
at the first call, "refuse" refuses every call.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .standard_streams import READS, CallRefused, serve, tool
else:  # as a script
    from standard_streams import READS, CallRefused, serve, tool

SEED = [
    {"note_id": "N-101", "owner": "Nora Hughes", "title": "Spring menu"},
    {"note_id": "N-102", "owner": "Liam Ortega", "title": "Boat repair"},
    {"note_id": "N-103", "owner": "Nora Hughes", "title": "Train times"},
]
TEXT = {"type": "string"}
NOTE = {"type": "object", "properties": dict.fromkeys(SEED[0], TEXT), "required": [*SEED[0]]}
TOOLS = [
    tool("list_notes", "List all notes.", READS),
    {**tool("get_note", "Get a note by its ID.", READS, note_id=TEXT), "outputSchema": NOTE},
    tool("search_notes", "Search the notes of an owner.", READS, owner=TEXT),
    tool("create_note", "Create a note.", title=TEXT, owner=TEXT),
    tool("rename_note", "Rename a note of an owner.", note_id=TEXT, owner=TEXT, new_title=TEXT),
    tool(
        "delete_notes",
        "Delete notes by their IDs; those that are not there are left out.",
        note_ids={"type": "array", "items": TEXT},
    ),
]


class Notes:
    """The tools, on a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.notes: list[dict[str, str]] = []

    def one(self, note_id: str) -> dict[str, str]:
        found = next((note for note in self.notes if note["note_id"] == note_id), None)
        if found is None:
            raise CallRefused(f"there is no note {note_id}")
        return found

    def save(self, notes: list[dict[str, str]], said: str) -> str:
        self.file.write_text(json.dumps(notes))
        return said

    def list_notes(self) -> Any:
        return {"notes": self.notes}

    def get_note(self, note_id: str) -> Any:
        return self.one(note_id)

    def search_notes(self, owner: str) -> Any:
        return {"notes": [note for note in self.notes if note["owner"] == owner]}

    def create_note(self, title: str, owner: str) -> Any:
        new = {"note_id": f"N-{101 + len(self.notes)}", "owner": owner, "title": title}
        return self.save([*self.notes, new], f"Created {title}")

    def rename_note(self, note_id: str, owner: str, new_title: str) -> Any:
        note = self.one(note_id)
        if note["owner"] != owner:
            raise CallRefused(f"{note_id} is not a note of {owner}")
        note["title"] = new_title
        return self.save(self.notes, "Renamed")

    def delete_notes(self, note_ids: list[str]) -> Any:
        return self.save([note for note in self.notes if note["note_id"] not in note_ids], "Deleted")


def main(place: str, mode: str = "") -> None:
    """Serve until the input ends."""

    def call(name: str, arguments: dict[str, Any]) -> Any:
        if "CALLS" in os.environ:
            with Path(os.environ["CALLS"]).open("a") as log:
                log.write(f"{name}\n")
        if mode == "crash":
            os._exit(3)
        if mode == "refuse":
            raise CallRefused("the library is closed")
        if name not in {one["name"] for one in TOOLS}:
            raise CallRefused(f"there is no tool {name}")
        notes = Notes(Path(place))
        notes.notes = json.loads(notes.file.read_text())
        return getattr(notes, name)(**arguments)

    serve("notes", TOOLS, call)


if __name__ == "__main__":
    main(*sys.argv[1:])
