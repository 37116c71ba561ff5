"""Boards."""

from __future__ import annotations

import re

from toolassay.offline.agent.desk import Made, Row, Steps, tasks
from toolassay.offline.agent.reading import Reading, the_first
from toolassay.offline.agent.work.several import BOARDS, create_task

_WORDS = {
    "Backlog": r"backlog|never started|still in the backlog",
    "In Progress": r"in progress",
    "In Review": r"in review",
    "Completed": r"completed|done",
}


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """A new task, or tasks that get another list or another colleague."""
    if not reading.has("tasks?", "backlog", "in review", "in progress") or not reading.people:
        return None
    if reading.quoted:
        due, board = str(reading.days[-1]), reading.named(BOARDS)[0]
        return [create_task(reading.quoted[0], reading.people[0], board, due)]
    owner = _owner(reading)
    found = yield from tasks(assigned_to_email=owner)
    if reading.has("most urgent", "due first", "earliest due date"):
        open_ones = [row for row in found if row["list_name"] != "Completed"]
        row = min(open_ones, key=lambda row: str(row["due_date"]))
        return [_update(row, "assigned_to_email", _other(reading, owner))]
    source, target = _lists(reading)
    limit = str(reading.days[-1])
    strict = reading.has("before")
    chosen = [
        row
        for row in found
        if row["list_name"] in source and (row["due_date"] < limit if strict else row["due_date"] <= limit)
    ]
    field, value = ("list_name", target) if target else ("assigned_to_email", _other(reading, owner))
    return [_update(row, field, value) for row in chosen]


def _lists(reading: Reading) -> tuple[set[str], str | None]:
    """From which lists and into which; into none where only the colleague changes."""
    places = {
        name: [found.start() for found in re.finditer(words, reading.bare)] for name, words in _WORDS.items()
    }
    if len(reading.people) > 1:
        return {name for name in ("Backlog", "In Progress", "In Review") if places[name]}, None
    if reading.has("back into the backlog", "return", "to the backlog"):
        return {"In Progress", "In Review"}, "Backlog"
    if places["Backlog"]:
        return {"Backlog"}, "In Progress"
    if places["In Progress"]:
        return {"In Progress"}, "In Review"
    return {"In Review"}, "Completed"


def _owner(reading: Reading) -> str:
    """Whose tasks they are: who stands before "'s", or after "of", "while" or "helps out"."""
    patterns = (
        r"(\w+)'s (?:tasks|backlog)",
        r"(?:tasks? of|While|helps out|of|whatever) (\w+)",
        r"(\w+) (?:is ill|never started)",
    )
    for pattern in patterns:
        for found in re.finditer(pattern, reading.request):
            for person in reading.people:
                if person.startswith(f"{found[1].lower()}."):
                    return person
    return reading.people[0]


def _other(reading: Reading, owner: str) -> str:
    return the_first(person for person in reading.people if person != owner)


def _update(row: Row, field: str, value: str) -> Made:
    return ("project_management.update_task", {"task_id": row["task_id"], "field": field, "new_value": value})
