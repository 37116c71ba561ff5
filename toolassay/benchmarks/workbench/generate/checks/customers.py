"""Checks of requests about customers."""

from __future__ import annotations

import sqlite3

from toolassay.benchmarks.workbench.generate.checks.expected import (
    Check,
    ExpectedChanges,
    Gaps,
    changed,
    gone,
    new,
)
from toolassay.benchmarks.workbench.generate.checks.lookups import (
    address_of,
    column,
    days_before_today,
    parse_day,
)

_TABLE = "customers"
_IDS = f"SELECT customer_id FROM {_TABLE} WHERE "


def _named(db: sqlite3.Connection, gaps: Gaps) -> list[str]:
    found = column(db, _IDS + "customer_name = ?", gaps["customer"])
    if len(found) != 1:
        raise ValueError(f"{len(found)} customers are called {gaps['customer']}")
    return found


def leads(db: sqlite3.Connection, first_name: str) -> list[str]:
    """The ids of the customers in the stage Lead that are assigned to a person."""
    return column(db, _IDS + "assigned_to_email = ? AND status = 'Lead'", address_of(db, first_name))


def _set_status(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed(_TABLE, _named(db, gaps), "status", gaps["status"])


def _delete_one(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return gone(_TABLE, _named(db, gaps))


def lead(db: sqlite3.Connection, name: str, assignee: str, **more: str) -> ExpectedChanges:
    """One lead to add.

    Raises:
        ValueError: a customer has this name already.
    """
    if column(db, _IDS + "customer_name = ?", name):
        raise ValueError(f"{name} is a customer already")
    return new(_TABLE, customer_name=name, assigned_to_email=assignee, status="Lead", **more)


def _add_lead(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return lead(db, gaps["customer"], address_of(db, gaps["person"]), product_interest=gaps["product"])


def _hand_over_one(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    return changed(_TABLE, _named(db, gaps), "assigned_to_email", address_of(db, gaps["to"]))


def _hand_over_leads(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "assigned_to_email = ? AND status = 'Lead' AND lower(product_interest) = ?"
    found = column(db, query, address_of(db, gaps["person"]), gaps["product"])
    return changed(_TABLE, found, "assigned_to_email", address_of(db, gaps["to"]))


def _hand_over_stages(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "assigned_to_email = ? AND status IN (?, ?) AND lower(product_interest) = ?"
    found = column(db, query, address_of(db, gaps["person"]), gaps["first"], gaps["second"], gaps["product"])
    return changed(_TABLE, found, "assigned_to_email", address_of(db, gaps["to"]))


def _delete_stage(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    query = _IDS + "assigned_to_email = ? AND status = ? AND lower(product_interest) = ?"
    return gone(_TABLE, column(db, query, address_of(db, gaps["person"]), gaps["status"], gaps["product"]))


def _give_up(db: sqlite3.Connection, gaps: Gaps) -> ExpectedChanges:
    limit = parse_day(gaps["limit"])
    if limit != days_before_today(int(gaps["days"])):
        raise ValueError("the two ways to name the limit differ")
    query = _IDS + "status = 'Proposal' AND lower(product_interest) = ? AND last_contact_date < ?"
    return changed(_TABLE, column(db, query, gaps["product"], limit), "status", "Lost")


CHECKS: dict[str, Check] = {
    "set_status": _set_status,
    "delete_one": _delete_one,
    "add_lead": _add_lead,
    "hand_over_one": _hand_over_one,
    "hand_over_leads": _hand_over_leads,
    "hand_over_stages": _hand_over_stages,
    "delete_stage": _delete_stage,
    "give_up": _give_up,
}
