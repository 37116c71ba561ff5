"""The customers: 200 of them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from toolassay.benchmarks.workbench.generate.dice import Dice
from toolassay.benchmarks.workbench.generate.tables.ids import with_ids
from toolassay.benchmarks.workbench.generate.texts import texts
from toolassay.benchmarks.workbench.generate.world import SALES, YESTERDAY, address

COUNT = 200
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")
FIRST_DAY = date(2023, 10, 1)
_WITHOUT_PHONE, _WITHOUT_NOTES = 100, 44


def customers(seed: int) -> list[dict[str, Any]]:
    """Customers with different names, the latest contact first; half lack a phone, some notes."""
    dice = Dice(seed, "customer_relationship_manager")
    words = texts("customers")
    names = dice.some([f"{a} {b}" for a in words["first_names"] for b in words["last_names"]], COUNT)
    rows = [_customer(dice, name) for name in names]
    for row in dice.some(rows, _WITHOUT_PHONE):
        row["customer_phone"] = None
    for row in dice.some(rows, _WITHOUT_NOTES):
        row["notes"] = None
    rows.sort(key=lambda row: row["last_contact_date"], reverse=True)
    return with_ids(dice, "customer_id", rows)


def _customer(dice: Dice, name: str) -> dict[str, Any]:
    contact = FIRST_DAY + timedelta(days=dice.below((YESTERDAY - FIRST_DAY).days + 1))
    company = dice.pick(texts("customers")["companies"])
    return {
        "assigned_to_email": address(dice.pick(SALES)),
        "customer_name": name,
        "customer_email": f"{name.lower().replace(' ', '.')}@{company}.example",
        "customer_phone": f"{dice.between(201, 989)}-555-01{dice.below(100):02}",
        "last_contact_date": str(contact),
        "product_interest": dice.pick(PRODUCTS),
        "status": dice.pick(STATUSES),
        "follow_up_by": str(contact + timedelta(days=dice.between(7, 30))),
        "notes": _notes(dice, contact),
    }


def _notes(dice: Dice, contact: date) -> str:
    """One to three dated sentences, the last of the day of the last contact."""
    days = sorted({contact - timedelta(days=dice.between(1, 40)) for _ in range(dice.between(0, 2))})
    sentences = dice.some(texts("customers")["notes"], len(days) + 1)
    return " ".join(f"{day}: {text}" for day, text in zip([*days, contact], sentences, strict=True))
