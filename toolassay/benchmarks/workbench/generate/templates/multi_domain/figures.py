"""Requests that make tasks, meetings and e-mails of the web site's figures."""

from __future__ import annotations

from datetime import date, timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.tasks import LISTS
from toolassay.benchmarks.workbench.generate.templates.calendar import book
from toolassay.benchmarks.workbench.generate.templates.conditions import race, threshold
from toolassay.benchmarks.workbench.generate.templates.email import letter, send
from toolassay.benchmarks.workbench.generate.templates.facts import first_free, tasks, working_days
from toolassay.benchmarks.workbench.generate.templates.project_management import create
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template
from toolassay.benchmarks.workbench.generate.templates.wording import weekday_text
from toolassay.benchmarks.workbench.generate.world import BOARDS, TODAY, World


def team_task(dice: Dice, metric: str) -> tuple[dict[str, str], Call]:
    """A new task 'Improve …' for somebody on their board; fills board, person, due."""
    board = dice.pick(list(BOARDS))
    person, due = dice.pick(BOARDS[board]), due_day(dice)
    slots = {"board": board, "person": person, "due": weekday_text(due)}
    return slots, create(f"Improve {metric}", person, due, board)


def due_day(dice: Dice) -> date:
    """A working day of the next two weeks."""
    return dice.pick([day for day in working_days() if day <= TODAY + timedelta(days=15)])


def _task(world: World, dice: Dice) -> Filled:
    found = threshold(world, dice)
    slots, task = team_task(dice, found.metric)
    return Filled({**found.slots, **slots}, (task,) if found.holds else ())


def _task_for_most(world: World, dice: Dice) -> Filled | None:
    found, board, due = threshold(world, dice), dice.pick(list(BOARDS)), due_day(dice)
    state = dice.pick(LISTS)
    load = {person: len(tasks(world, person, state)) for person in BOARDS[board]}
    best = [person for person, count in load.items() if count == max(load.values())]
    if len(best) > 1:
        return None
    slots = {**found.slots, "board": board, "list": state, "due": weekday_text(due)}
    task = create(f"Improve {found.metric}", best[0], due, board)
    return Filled(slots, (task,) if found.holds else ())


def _race_task(world: World, dice: Dice) -> Filled | None:
    found = race(world, dice)
    if found is None:
        return None
    slots, task = team_task(dice, found.slots["other"])
    return Filled({**found.slots, **slots}, (task,) if found.holds else ())


def _task_or_praise(world: World, dice: Dice) -> Filled:
    found = threshold(world, dice)
    slots, task = team_task(dice, found.metric)
    words = letter(dice, "steady")
    mail = send(slots["person"], f"Recent figures for {found.metric}", **words)
    return Filled({**found.slots, **slots, **words}, (task if found.holds else mail,))


def _race_task_and_meeting(world: World, dice: Dice) -> Filled | None:
    found, day = race(world, dice), dice.pick(working_days())
    free = first_free(world, day, 30)
    if found is None or free is None:
        return None
    slots, task = team_task(dice, found.slots["other"])
    calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    return Filled({**found.slots, **slots, "day": weekday_text(day)}, calls if found.holds else ())


def _task_and_meeting_or_praise(world: World, dice: Dice) -> Filled | None:
    found, day = threshold(world, dice), dice.pick(working_days())
    free = first_free(world, day, 30)
    if free is None:
        return None
    slots, task = team_task(dice, found.metric)
    words = letter(dice, "steady")
    slots |= {"day": weekday_text(day), **words}
    calls: tuple[Call, ...] = (send(slots["person"], f"Recent figures for {found.metric}", **words),)
    if found.holds:
        calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    return Filled({**found.slots, **slots}, calls)


TEMPLATES = (
    Template("multi_domain.task", ("analytics", "project_management"), Mix(3, 7), _task),
    Template("multi_domain.task_for_most", ("analytics", "project_management"), Mix(3, 7), _task_for_most),
    Template("multi_domain.race_task", ("analytics", "project_management"), Mix(6, 4), _race_task),
    Template(
        "multi_domain.task_or_praise",
        ("analytics", "email", "project_management"),
        Mix(one=10),
        _task_or_praise,
    ),
    Template(
        "multi_domain.race_task_and_meeting",
        ("analytics", "calendar", "project_management"),
        Mix(none=5, many=5),
        _race_task_and_meeting,
    ),
    Template(
        "multi_domain.task_and_meeting_or_praise",
        ("analytics", "calendar", "email", "project_management"),
        Mix(none=0, one=2, many=8),
        _task_and_meeting_or_praise,
    ),
)
