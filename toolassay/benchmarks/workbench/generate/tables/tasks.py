"""The project boards: 100 tasks each."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.ids import with_ids
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import BOARDS, PROJECT, TODAY, address

PER_BOARD = 100
_EARLIEST, _LATEST = -3, 13  # days from today
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
_WEIGHTS = (0.5, 0.12, 0.18, 0.2)


def tasks(seed: int) -> list[dict[str, Any]]:
    """Tasks with different names, sorted by due date (three days ago to thirteen days ahead).

    Each board belongs to its team; a third of all people have nothing overdue.
    """
    dice = Dice(seed, "project_management")
    punctual = dice.some(PROJECT, len(PROJECT) // 3)
    rows = [
        _task(dice, board, people, name, punctual)
        for board, people in BOARDS.items()
        for name in dice.some(names(board), PER_BOARD)
    ]
    return with_ids(dice, "task_id", sorted(dice.shuffled(rows), key=lambda row: row["due_date"]))


def names(board: str) -> list[str]:
    """Every task name a board may have."""
    words = texts("tasks")["boards"][board]
    return [work.format(thing) for work in words["work"] for thing in words["things"]]


def _task(dice: Dice, board: str, people: tuple[str, ...], name: str, punctual: list[str]) -> dict[str, Any]:
    person, offset = dice.pick(people), dice.between(_EARLIEST, _LATEST)
    state = dice.weighted(LISTS, _WEIGHTS)
    if offset < 0 and person in punctual:
        state = "Completed"
    return {
        "task_name": name,
        "assigned_to_email": address(person),
        "list_name": state,
        "due_date": str(TODAY + timedelta(days=offset)),
        "board": board,
    }
