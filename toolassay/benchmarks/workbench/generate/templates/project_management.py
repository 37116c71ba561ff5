"""Templates of requests about tasks on the project boards."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    PROJECT,
    TODAY,
    Row,
    Tables,
    address,
    texts,
)
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.templates.lookups import tasks, text
from toolassay.benchmarks.workbench.generate.templates.template import (
    FilledTemplate,
    Mix,
    Template,
    call,
    day_text,
    weekday_text,
)

_PROJECT = ("project_management",)
_OPEN = ("Backlog", "In Progress", "In Review")


def create(name: str, person: str, due: date, board: str) -> WorkbenchCall:
    """The ground-truth call that adds a task to the backlog of a board."""
    return call(
        "project_management.create_task",
        task_name=name,
        assigned_to_email=address(person),
        list_name="Backlog",
        due_date=str(due),
        board=board,
    )


def _update(found: Iterable[Row], field: str, value: str) -> tuple[WorkbenchCall, ...]:
    return tuple(
        call("project_management.update_task", task_id=text(task, "task_id"), field=field, new_value=value)
        for task in found
    )


def _deadline(rng: SeededRandom) -> date:
    return TODAY + timedelta(days=rng.between(1, 12))


def _late(rng: SeededRandom) -> date:
    """A day of the last three, so that some tasks were due before it."""
    return TODAY - timedelta(days=rng.between(0, 2))


def _up_to(tables: Tables, person: str, last: date, *lists: str) -> list[Row]:
    return tasks(tables, person, *lists, before=last + timedelta(days=1))


def _to_review(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), _deadline(rng)
    found = _up_to(tables, person, last, "In Progress")
    return FilledTemplate(
        {"person": person, "last": day_text(last)}, _update(found, "list_name", "In Review")
    )


def _create(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    board = rng.pick(list(BOARDS))
    person, due = rng.pick(BOARDS[board]), _deadline(rng)
    name = rng.pick(list[str](texts("tasks")["boards"][board]["new"]))
    slots = {"board": board, "name": name, "person": person, "due": weekday_text(due)}
    return FilledTemplate(slots, (create(name, person, due, board),))


def _start_due(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, limit = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(-2, 4))
    found = tasks(tables, person, "Backlog", before=limit)
    return FilledTemplate(
        {"person": person, "limit": day_text(limit)}, _update(found, "list_name", "In Progress")
    )


def _complete(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(6, 13))
    found = _up_to(tables, person, last, "In Review")
    return FilledTemplate(
        {"person": person, "last": day_text(last)}, _update(found, "list_name", "Completed")
    )


def _stand_in(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), last = rng.some(PROJECT, 2), _deadline(rng)
    found = _up_to(tables, person, last, "In Progress")
    slots = {"person": person, "to": to, "last": weekday_text(last)}
    return FilledTemplate(slots, _update(found, "assigned_to_email", address(to)))


def _back_to_backlog(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, last = rng.pick(PROJECT), TODAY + timedelta(days=rng.between(-2, 6))
    found = _up_to(tables, person, last, "In Progress", "In Review")
    return FilledTemplate({"person": person, "last": day_text(last)}, _update(found, "list_name", "Backlog"))


def _give_unstarted(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), limit = rng.some(PROJECT, 2), _late(rng)
    found = tasks(tables, person, "Backlog", before=limit)
    slots = {"person": person, "to": to, "limit": day_text(limit)}
    return FilledTemplate(slots, _update(found, "assigned_to_email", address(to)))


def _give_most_urgent(tables: Tables, rng: SeededRandom) -> FilledTemplate | None:
    person, to = rng.some(PROJECT, 2)
    found = sorted(tasks(tables, person, *_OPEN), key=lambda task: text(task, "due_date"))
    if len(found) < 2 or found[0]["due_date"] == found[1]["due_date"]:
        return None
    return FilledTemplate({"person": person, "to": to}, _update(found[:1], "assigned_to_email", address(to)))


TEMPLATES = (
    Template("project_management.to_review", _PROJECT, Mix(6, 4), _to_review),
    Template("project_management.create", _PROJECT, Mix(one=10), _create),
    Template("project_management.start_due", _PROJECT, Mix(none=5, many=5), _start_due),
    Template("project_management.complete", _PROJECT, Mix(none=0, one=2, many=8), _complete),
    Template("project_management.stand_in", _PROJECT, Mix(4, 4, 2), _stand_in),
    Template("project_management.back_to_backlog", _PROJECT, Mix(3, 5, 2), _back_to_backlog),
    Template("project_management.give_unstarted", _PROJECT, Mix(none=3, many=7), _give_unstarted),
    Template("project_management.give_most_urgent", _PROJECT, Mix(one=10), _give_most_urgent),
)
