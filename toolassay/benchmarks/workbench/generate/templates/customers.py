"""Requests about customers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from toolassay.benchmarks.workbench.calls import Call
from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.customers import PRODUCTS, STATUSES
from toolassay.benchmarks.workbench.generate.templates.facts import customers, leads, text
from toolassay.benchmarks.workbench.generate.templates.template import Filled, Mix, Template, call
from toolassay.benchmarks.workbench.generate.templates.wording import day_text
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import SALES, TODAY, Row, World, address, person_of

_CUSTOMERS = ("customer_relationship_manager",)


def update(found: Iterable[Row], field: str, value: str) -> tuple[Call, ...]:
    """The calls that set one field of some customers."""
    return tuple(
        call(
            "customer_relationship_manager.update_customer",
            customer_id=text(customer, "customer_id"),
            field=field,
            new_value=value,
        )
        for customer in found
    )


def delete(found: Iterable[Row]) -> tuple[Call, ...]:
    """The calls that delete some customers."""
    return tuple(
        call("customer_relationship_manager.delete_customer", customer_id=text(customer, "customer_id"))
        for customer in found
    )


def add(name: str, person: str, **more: str) -> Call:
    """The call that adds a lead."""
    return call(
        "customer_relationship_manager.add_customer",
        customer_name=name,
        assigned_to_email=address(person),
        status="Lead",
        **more,
    )


def new_name(dice: Dice) -> str:
    """Somebody who is no customer yet."""
    return dice.pick(list[str](texts("customers")["new_names"]))


def _set_status(world: World, dice: Dice) -> Filled:
    customer = dice.pick(world.customer_relationship_manager)
    status = dice.pick([status for status in STATUSES if status != customer["status"]])
    slots = {"customer": text(customer, "customer_name"), "status": status}
    return Filled(slots, update([customer], "status", status))


def _delete_one(world: World, dice: Dice) -> Filled:
    customer = dice.pick(world.customer_relationship_manager)
    return Filled({"customer": text(customer, "customer_name")}, delete([customer]))


def _add_lead(world: World, dice: Dice) -> Filled:
    name, person, product = new_name(dice), dice.pick(SALES), dice.pick(PRODUCTS)
    slots = {"customer": name, "person": person, "product": product}
    return Filled(slots, (add(name, person, product_interest=product),))


def _hand_over_one(world: World, dice: Dice) -> Filled:
    customer = dice.pick(world.customer_relationship_manager)
    owner = person_of(text(customer, "assigned_to_email"))
    to = dice.pick([person for person in SALES if person != owner])
    slots = {"customer": text(customer, "customer_name"), "to": to}
    return Filled(slots, update([customer], "assigned_to_email", address(to)))


def _hand_over_leads(world: World, dice: Dice) -> Filled:
    person, to = dice.some(SALES, 2)
    product = dice.pick(PRODUCTS)
    found = [lead for lead in leads(world, person) if lead["product_interest"] == product]
    slots = {"person": person, "to": to, "product": product.lower()}
    return Filled(slots, update(found, "assigned_to_email", address(to)))


def _hand_over_stages(world: World, dice: Dice) -> Filled:
    (person, to), stages = dice.some(SALES, 2), dice.some(STATUSES, 2)
    product = dice.pick(PRODUCTS)
    owned = customers(world, assigned_to_email=address(person), product_interest=product)
    found = [customer for customer in owned if customer["status"] in stages]
    slots = {"person": person, "to": to, "product": product.lower()}
    slots |= {"first": stages[0], "second": stages[1]}
    return Filled(slots, update(found, "assigned_to_email", address(to)))


def _delete_stage(world: World, dice: Dice) -> Filled:
    person, status, product = dice.pick(SALES), dice.pick(STATUSES), dice.pick(PRODUCTS)
    found = customers(world, assigned_to_email=address(person), status=status, product_interest=product)
    slots = {"person": person, "status": status, "product": product.lower()}
    return Filled(slots, delete(found))


def _give_up(world: World, dice: Dice) -> Filled:
    product, days = dice.pick(PRODUCTS), dice.between(20, 59)
    limit = TODAY - timedelta(days=days)
    found = [
        customer
        for customer in customers(world, status="Proposal", product_interest=product)
        if text(customer, "last_contact_date") < str(limit)
    ]
    slots = {"product": product.lower(), "days": str(days), "limit": day_text(limit)}
    return Filled(slots, update(found, "status", "Lost"))


TEMPLATES = (
    Template("customers.set_status", _CUSTOMERS, Mix(one=10), _set_status),
    Template("customers.delete_one", _CUSTOMERS, Mix(one=10), _delete_one),
    Template("customers.add_lead", _CUSTOMERS, Mix(one=10), _add_lead),
    Template("customers.hand_over_one", _CUSTOMERS, Mix(one=10), _hand_over_one),
    Template("customers.hand_over_leads", _CUSTOMERS, Mix(1, 1, 8), _hand_over_leads),
    Template("customers.hand_over_stages", _CUSTOMERS, Mix(none=0, one=2, many=8), _hand_over_stages),
    Template("customers.delete_stage", _CUSTOMERS, Mix(2, 5, 3), _delete_stage),
    Template("customers.give_up", _CUSTOMERS, Mix(none=5, many=5), _give_up),
)
