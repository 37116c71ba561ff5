"""Requests about leads that depend on other domains."""

from __future__ import annotations

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.tasks import LISTS
from toolassay.benchmarks.workbench.generate.templates import customers as crm
from toolassay.benchmarks.workbench.generate.templates.calendar import book
from toolassay.benchmarks.workbench.generate.templates.conditions import threshold
from toolassay.benchmarks.workbench.generate.templates.email import letter, send
from toolassay.benchmarks.workbench.generate.templates.facts import first_free, leads, tasks, working_days
from toolassay.benchmarks.workbench.generate.templates.multi_domain.figures import team_task
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template
from toolassay.benchmarks.workbench.generate.templates.wording import weekday_text
from toolassay.benchmarks.workbench.generate.world import BOARDS, SALES, World, address

_CRM = "customer_relationship_manager"


def _lead_for_least_busy(world: World, dice: Dice) -> Filled:
    name, board = crm.new_name(dice), dice.pick(list(BOARDS))
    state = dice.pick(LISTS)
    load = {address(person): len(tasks(world, person, state)) for person in BOARDS[board]}
    chosen = min(sorted(load), key=load.__getitem__)
    person = next(person for person in BOARDS[board] if address(person) == chosen)
    return Filled({"customer": name, "board": board, "list": state}, (crm.add(name, person),))


def _drop_leads(world: World, dice: Dice) -> Filled:
    found, person = threshold(world, dice), dice.pick(SALES)
    calls = crm.delete(leads(world, person))
    return Filled({**found.slots, "person": person}, calls if found.holds else ())


def _drop_leads_and_tell(world: World, dice: Dice) -> Filled:
    found, person = threshold(world, dice, direction="above"), dice.pick(SALES)
    words = letter(dice, "enough_leads_or_not")
    calls: tuple[Call, ...] = (send(person, words["else_subject"], words["else_body"]),)
    if found.holds:
        calls = (*crm.delete(leads(world, person)), send(person, words["subject"], words["body"]))
    slots = {key: value for key, value in found.slots.items() if key != "direction"}
    return Filled({**slots, "person": person, **words}, calls)


def _improve_or_share_leads(world: World, dice: Dice) -> Filled | None:
    found, day = threshold(world, dice), dice.pick(working_days())
    owner, to = dice.some(SALES, 2)
    free = first_free(world, day, 30)
    if free is None:
        return None
    slots, task = team_task(dice, found.metric)
    words = letter(dice, "more_leads")
    calls: tuple[Call, ...] = (
        *crm.update(leads(world, owner), "assigned_to_email", address(to)),
        send(to, **words),
    )
    if found.holds:
        calls = (task, book(f"Discuss {found.metric}", slots["person"], free, 30))
    slots |= {"day": weekday_text(day), "owner": owner, "to": to, **words}
    return Filled({**found.slots, **slots}, calls)


TEMPLATES = (
    Template(
        "multi_domain.lead_for_least_busy", (_CRM, "project_management"), Mix(one=10), _lead_for_least_busy
    ),
    Template("multi_domain.drop_leads", ("analytics", _CRM), Mix(none=1, many=9), _drop_leads),
    Template(
        "multi_domain.drop_leads_and_tell",
        ("analytics", _CRM, "email"),
        Mix(none=0, one=1, many=9),
        _drop_leads_and_tell,
    ),
    Template(
        "multi_domain.improve_or_share_leads",
        ("analytics", "calendar", "email", "project_management", _CRM),
        Mix(many=10),
        _improve_or_share_leads,
    ),
)
