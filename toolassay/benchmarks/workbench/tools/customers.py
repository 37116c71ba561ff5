"""Tools for the sales team's customers. Replies and side effects are those of the published program."""

from __future__ import annotations

import operator
from typing import Any

from toolassay.benchmarks.workbench.records import Record, Records
from toolassay.benchmarks.workbench.sandbox import CUSTOMERS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import Search, ToolFailure, remove_rows, tool

DOMAIN = "customer_relationship_manager"
_EMAILS = ("customer_email", "assigned_to_email")
_AT_MOST = 5
_WRONG_FIELD = (
    "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', "
    "'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'"
)


@tool(DOMAIN)
def update_customer(
    sandbox: Sandbox, customer_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """The value is checked before the customer is looked up. The assignee is not checked, as in the published
    program.
    """
    if not customer_id or not field or not new_value:
        return "Customer ID, field, or new value not provided."
    if field in ("status", "product_interest") and not add_customer.allows(field, new_value):
        noun, choices = field.capitalize().replace("_", " "), add_customer.arguments[field].choices
        return f"{noun} not valid. Please choose from: {', '.join(map(repr, choices))}"
    if field in _EMAILS:
        new_value = new_value.lower()
    customers = Records(sandbox, CUSTOMERS)
    if customers.first(customer_id) is None:
        return "Customer not found."
    if field not in CUSTOMERS.columns:
        return _WRONG_FIELD
    customers.change(customer_id, field, new_value)
    return "Customer updated successfully."


@tool(DOMAIN)
def add_customer(sandbox: Sandbox, **given: Any) -> str:
    """No value is checked, and all customers are relabelled, as in the published program."""
    if not all(map(given.get, ("customer_name", "assigned_to_email", "status"))):
        return "Please provide all required fields: customer_name, assigned_to_email, status."
    customers = Records(sandbox, CUSTOMERS)
    customer_id = f"{customers.next_id():08d}"
    emails = {name: given[name].lower() for name in _EMAILS if given.get(name)}
    customers.append({"customer_id": customer_id, "notes": "", **given, **emails}, label=len(customers))
    customers.renumber()
    return customer_id


@tool(DOMAIN)
def delete_customer(sandbox: Sandbox, customer_id: Any = None) -> str:
    """Deletes every customer with this id."""
    return remove_rows(sandbox, CUSTOMERS, "Customer", customer_id)


@tool(DOMAIN)
def search_customers(sandbox: Sandbox, **given: Any) -> Any:
    """The first 5 matches, in table order."""
    if not any(given.values()):
        return "No search parameters provided. Please provide at least one parameter."
    search, found = Search(literal=sandbox.edition.is_literal), list(Records(sandbox, CUSTOMERS).all())
    for column in ("customer_name", "customer_email", "product_interest", "status", "assigned_to_email"):
        if pattern := given.get(column):
            found = search.contains(found, pattern, column)
    for column in ("last_contact_date", "follow_up_by"):
        found = _between(found, column, given.get(f"{column}_min"), given.get(f"{column}_max"))
    return [dict(customer) for customer in found[:_AT_MOST]]


def _between(rows: list[Record], column: str, first: Any, last: Any) -> list[Record]:
    """The rows whose day is within the bounds. Days are compared as text; rows without a day are left out."""
    for bound, keeps in ((first, operator.ge), (last, operator.le)):
        if not bound:
            continue
        if not isinstance(bound, str):
            raise ToolFailure(f"a day is text, not {type(bound).__name__}; write YYYY-MM-DD")
        rows = [row for row in rows if row[column] is not None and keeps(row[column], bound)]
    return rows
