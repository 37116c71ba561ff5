"""Tools for the sales team's customers. Replies and side effects are those of the published program."""

from __future__ import annotations

import operator
from typing import Any

from toolassay.benchmarks.workbench.records import Record, Records
from toolassay.benchmarks.workbench.sandbox import CUSTOMERS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import (
    Search,
    ToolFailure,
    optional,
    remove_rows,
    required,
    tool,
)

DOMAIN = "customer_relationship_manager"
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
_EMAILS = ("customer_email", "assigned_to_email")
_AT_MOST = 5
_FIELDS = (
    "customer_name, assigned_to_email, customer_email, customer_phone, last_contact_date, product_interest, "
    "status, notes or follow_up_by"
)
_WRONG_STATUS = f"Status not valid. Please choose from: {', '.join(map(repr, STATUSES))}"
_WRONG_PRODUCT = f"Product interest not valid. Please choose from: {', '.join(map(repr, PRODUCTS))}"
_WRONG_FIELD = (
    "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', "
    "'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'"
)


@tool(
    DOMAIN,
    "Change one detail of a customer.",
    changes_state=True,
    customer_id=required("Id of the customer, 8 digits."),
    field=required(f"Which detail: {_FIELDS}."),
    new_value=required("What it is to be from now on."),
)
def update_customer(
    sandbox: Sandbox, customer_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """The value is checked before the customer is looked up. The assignee is not checked, as in the published
    program.
    """
    if not customer_id or not field or not new_value:
        return "Customer ID, field, or new value not provided."
    if field == "status" and new_value not in STATUSES:
        return _WRONG_STATUS
    if field == "product_interest" and new_value not in PRODUCTS:
        return _WRONG_PRODUCT
    if field in _EMAILS:
        new_value = new_value.lower()
    customers = Records(sandbox, CUSTOMERS)
    if customers.first(customer_id) is None:
        return "Customer not found."
    if field not in CUSTOMERS.columns:
        return _WRONG_FIELD
    customers.change(customer_id, field, new_value)
    return "Customer updated successfully."


@tool(
    DOMAIN,
    "Add a customer. Returns the new customer's id.",
    changes_state=True,
    customer_name=required("First and last name."),
    assigned_to_email=required("E-mail address of the colleague who looks after the customer."),
    status=required("How far the sale is.", *STATUSES),
    customer_email=optional("The customer's e-mail address."),
    customer_phone=optional("The customer's telephone number."),
    last_contact_date=optional("When somebody last spoke to the customer: YYYY-MM-DD."),
    product_interest=optional("What the customer may buy.", *PRODUCTS),
    notes=optional("Anything else worth knowing."),
    follow_up_by=optional("By when somebody is to speak to the customer again: YYYY-MM-DD."),
)
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


@tool(
    DOMAIN,
    "Remove a customer.",
    changes_state=True,
    customer_id=required("Id of the customer, 8 digits."),
)
def delete_customer(sandbox: Sandbox, customer_id: Any = None) -> str:
    """Deletes every customer with this id."""
    return remove_rows(sandbox, CUSTOMERS, "Customer", customer_id)


@tool(
    DOMAIN,
    "Find customers: the first 5 that fit everything that is given.",
    customer_name=optional("What the name contains."),
    customer_email=optional("What the customer's address contains."),
    product_interest=optional("What the product contains."),
    status=optional("What the status contains."),
    assigned_to_email=optional("What the address of the colleague contains."),
    last_contact_date_min=optional("Last spoken to on that day or later: YYYY-MM-DD."),
    last_contact_date_max=optional("Last spoken to on that day or earlier: YYYY-MM-DD."),
    follow_up_by_min=optional("To be spoken to on that day or later: YYYY-MM-DD."),
    follow_up_by_max=optional("To be spoken to on that day or earlier: YYYY-MM-DD."),
)
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
