"""Templates of requests about customers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from toolassay.benchmarks.workbench.calls import WorkbenchCall
from toolassay.benchmarks.workbench.generate.company import (
    SALES,
    TODAY,
    Row,
    Tables,
    address,
    person_of,
    texts,
)
from toolassay.benchmarks.workbench.generate.seeded_random import SeededRandom
from toolassay.benchmarks.workbench.generate.tables import PRODUCTS, STATUSES
from toolassay.benchmarks.workbench.generate.templates.lookups import customers, leads, text
from toolassay.benchmarks.workbench.generate.templates.template import (
    FilledTemplate,
    Mix,
    Template,
    call,
    day_text,
)

_CUSTOMERS = ("customer_relationship_manager",)


def update(found: Iterable[Row], field: str, value: str) -> tuple[WorkbenchCall, ...]:
    """The ground-truth calls that set one field of each customer."""
    return tuple(
        call(
            "customer_relationship_manager.update_customer",
            customer_id=text(customer, "customer_id"),
            field=field,
            new_value=value,
        )
        for customer in found
    )


def delete(found: Iterable[Row]) -> tuple[WorkbenchCall, ...]:
    """The ground-truth calls that delete customers."""
    return tuple(
        call("customer_relationship_manager.delete_customer", customer_id=text(customer, "customer_id"))
        for customer in found
    )


def add(name: str, person: str, **more: str) -> WorkbenchCall:
    """The ground-truth call that adds a lead."""
    return call(
        "customer_relationship_manager.add_customer",
        customer_name=name,
        assigned_to_email=address(person),
        status="Lead",
        **more,
    )


def new_name(rng: SeededRandom) -> str:
    """The name of a person who is not a customer."""
    return rng.pick(list[str](texts("customers")["new_names"]))


def _set_status(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    status = rng.pick([status for status in STATUSES if status != customer["status"]])
    slots = {"customer": text(customer, "customer_name"), "status": status}
    return FilledTemplate(slots, update([customer], "status", status))


def _delete_one(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    return FilledTemplate({"customer": text(customer, "customer_name")}, delete([customer]))


def _add_lead(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    name, person, product = new_name(rng), rng.pick(SALES), rng.pick(PRODUCTS)
    slots = {"customer": name, "person": person, "product": product}
    return FilledTemplate(slots, (add(name, person, product_interest=product),))


def _hand_over_one(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    customer = rng.pick(tables.customer_relationship_manager)
    owner = person_of(text(customer, "assigned_to_email"))
    to = rng.pick([person for person in SALES if person != owner])
    slots = {"customer": text(customer, "customer_name"), "to": to}
    return FilledTemplate(slots, update([customer], "assigned_to_email", address(to)))


def _hand_over_leads(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, to = rng.some(SALES, 2)
    product = rng.pick(PRODUCTS)
    found = [lead for lead in leads(tables, person) if lead["product_interest"] == product]
    slots = {"person": person, "to": to, "product": product.lower()}
    return FilledTemplate(slots, update(found, "assigned_to_email", address(to)))


def _hand_over_stages(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    (person, to), stages = rng.some(SALES, 2), rng.some(STATUSES, 2)
    product = rng.pick(PRODUCTS)
    owned = customers(tables, assigned_to_email=address(person), product_interest=product)
    found = [customer for customer in owned if customer["status"] in stages]
    slots = {"person": person, "to": to, "product": product.lower()}
    slots |= {"first": stages[0], "second": stages[1]}
    return FilledTemplate(slots, update(found, "assigned_to_email", address(to)))


def _delete_stage(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    person, status, product = rng.pick(SALES), rng.pick(STATUSES), rng.pick(PRODUCTS)
    found = customers(tables, assigned_to_email=address(person), status=status, product_interest=product)
    slots = {"person": person, "status": status, "product": product.lower()}
    return FilledTemplate(slots, delete(found))


def _give_up(tables: Tables, rng: SeededRandom) -> FilledTemplate:
    product, days = rng.pick(PRODUCTS), rng.between(20, 59)
    limit = TODAY - timedelta(days=days)
    found = [
        customer
        for customer in customers(tables, status="Proposal", product_interest=product)
        if text(customer, "last_contact_date") < str(limit)
    ]
    slots = {"product": product.lower(), "days": str(days), "limit": day_text(limit)}
    return FilledTemplate(slots, update(found, "status", "Lost"))


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
