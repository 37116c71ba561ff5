"""Customers."""

from __future__ import annotations

import re

from toolassay.offline.agent.desk import Made, Steps, customer_in, customers
from toolassay.offline.agent.reading import Reading
from toolassay.offline.agent.work.several import assign_customer

_STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
_PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")


def calls(reading: Reading, condition: bool) -> Steps[list[Made] | None]:
    """Add, change, hand over, delete."""
    if not reading.has("crm", "customers?", "leads?", "do business", "status", "proposals?"):
        return None
    products = reading.named(_PRODUCTS)
    if reading.has("lost") and reading.days and products:
        found = yield from customers(product_interest=products[0], status="Proposal")
        late = [row for row in found if row["last_contact_date"] < str(min(reading.days))]
        return [_update(row["customer_id"], "status", "Lost") for row in late]
    if products and len(reading.people) == 2:
        return (yield from _hand_over(reading, products[0]))
    if products and reading.people and reading.has("deleted?", "leave our crm"):
        status = reading.named(_STATUSES)[0]
        found = yield from customers(
            assigned_to_email=reading.people[0], product_interest=products[0], status=status
        )
        return [_delete(row["customer_id"]) for row in found]
    if products and reading.people and reading.has("add", "enter", "new lead", "has come in"):
        name, _ = yield from customer_in(reading.request)
        arguments = {"customer_name": name, "assigned_to_email": reading.people[0], "status": "Lead"}
        added = {**arguments, "product_interest": products[0]}
        return [("customer_relationship_manager.add_customer", added)]
    _, customer = yield from customer_in(reading.request)
    if customer is None:
        return []
    statuses = reading.named(_STATUSES)
    if statuses:
        return [_update(customer["customer_id"], "status", statuses[-1])]
    if reading.people:
        return [assign_customer(customer["customer_id"], reading.people[0])]
    return [_delete(customer["customer_id"])]


def _hand_over(reading: Reading, product: str) -> Steps[list[Made]]:
    statuses = reading.named(_STATUSES) or ["Lead"]
    to, owner = reading.people
    if re.search(rf"(?<!belongs )\bto {owner.partition('.')[0]}\b", reading.request, re.IGNORECASE):
        to, owner = owner, to
    made = []
    for status in statuses:
        found = yield from customers(assigned_to_email=owner, product_interest=product, status=status)
        made += [assign_customer(row["customer_id"], to) for row in found]
    return made


def _update(customer_id: str, field: str, value: str) -> Made:
    arguments = {"customer_id": customer_id, "field": field, "new_value": value}
    return ("customer_relationship_manager.update_customer", arguments)


def _delete(customer_id: str) -> Made:
    return ("customer_relationship_manager.delete_customer", {"customer_id": customer_id})
