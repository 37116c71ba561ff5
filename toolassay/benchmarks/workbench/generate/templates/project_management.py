"""Requests about tasks on the project boards."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.templates.facts import tasks, text
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template, call
from toolassay.benchmarks.workbench.generate.templates.wording import day_text, weekday_text
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import BOARDS, PROJECT, TODAY, Row, World, address

_PROJECT = ("project_management",)
_OPEN = ("Backlog", "In Progress", "In Review")


def create(name: str, person: str, due: date, board: str) -> Call:
    """The call that puts a new task into the backlog of a board."""
    return call(
        "project_management.create_task",
        task_name=name,
        assigned_to_email=address(person),
        list_name="Backlog",
        due_date=str(due),
        board=board,
    )


def _update(found: Iterable[Row], field: str, value: str) -> tuple[Call, ...]:
    return tuple(
        call("project_management.update_task", task_id=text(task, "task_id"), field=field, new_value=value)
        for task in found
    )


def _deadline(dice: Dice) -> date:
    return TODAY + timedelta(days=dice.between(1, 12))


def _late(dice: Dice) -> date:
    """A day that some tasks were due before."""
    return TODAY - timedelta(days=dice.between(0, 2))


def _up_to(world: World, person: str, last: date, *lists: str) -> list[Row]:
    return tasks(world, person, *lists, before=last + timedelta(days=1))


def _to_review(world: World, dice: Dice) -> Filled:
    person, last = dice.pick(PROJECT), _deadline(dice)
    found = _up_to(world, person, last, "In Progress")
    return Filled({"person": person, "last": day_text(last)}, _update(found, "list_name", "In Review"))


def _create(world: World, dice: Dice) -> Filled:
    board = dice.pick(list(BOARDS))
    person, due = dice.pick(BOARDS[board]), _deadline(dice)
    name = dice.pick(list[str](texts("tasks")["boards"][board]["new"]))
    slots = {"board": board, "name": name, "person": person, "due": weekday_text(due)}
    return Filled(slots, (create(name, person, due, board),))


def _start_due(world: World, dice: Dice) -> Filled:
    person, limit = dice.pick(PROJECT), TODAY + timedelta(days=dice.between(-2, 4))
    found = tasks(world, person, "Backlog", before=limit)
    return Filled({"person": person, "limit": day_text(limit)}, _update(found, "list_name", "In Progress"))


def _complete(world: World, dice: Dice) -> Filled:
    person, last = dice.pick(PROJECT), TODAY + timedelta(days=dice.between(6, 13))
    found = _up_to(world, person, last, "In Review")
    return Filled({"person": person, "last": day_text(last)}, _update(found, "list_name", "Completed"))


def _stand_in(world: World, dice: Dice) -> Filled:
    (person, to), last = dice.some(PROJECT, 2), _deadline(dice)
    found = _up_to(world, person, last, "In Progress")
    slots = {"person": person, "to": to, "last": weekday_text(last)}
    return Filled(slots, _update(found, "assigned_to_email", address(to)))


def _back_to_backlog(world: World, dice: Dice) -> Filled:
    person, last = dice.pick(PROJECT), TODAY + timedelta(days=dice.between(-2, 6))
    found = _up_to(world, person, last, "In Progress", "In Review")
    return Filled({"person": person, "last": day_text(last)}, _update(found, "list_name", "Backlog"))


def _give_unstarted(world: World, dice: Dice) -> Filled:
    (person, to), limit = dice.some(PROJECT, 2), _late(dice)
    found = tasks(world, person, "Backlog", before=limit)
    slots = {"person": person, "to": to, "limit": day_text(limit)}
    return Filled(slots, _update(found, "assigned_to_email", address(to)))


def _give_most_urgent(world: World, dice: Dice) -> Filled | None:
    person, to = dice.some(PROJECT, 2)
    found = sorted(tasks(world, person, *_OPEN), key=lambda task: text(task, "due_date"))
    if len(found) < 2 or found[0]["due_date"] == found[1]["due_date"]:
        return None
    return Filled({"person": person, "to": to}, _update(found[:1], "assigned_to_email", address(to)))


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
