"""Makes the workspace of `data_desk/`: the database of a guesthouse with a busy spring.

python -m measurements.guesthouse_stock data_desk/workspace/desk.db
"""

from __future__ import annotations

import sqlite3
import sys
from datetime import date, timedelta
from pathlib import Path
from random import Random

from examples.booking_desk import SCHEMA

TODAY = date(2026, 3, 2)
CUSTOMERS = (
    ("Ines Kaya", "Porto"),
    ("Tom Reed", "Ghent"),
    ("Mei Sato", "Porto"),
    ("Ola Berg", "Turku"),
    ("Lucia Ferri", "Turin"),
    ("Jonas Weber", "Graz"),
    ("Amara Diallo", "Ghent"),
    ("Petra Novak", "Brno"),
    ("Sam Doyle", "Cork"),
    ("Hanna Lind", "Turku"),
    ("Rui Costa", "Porto"),
    ("Elif Aydin", "Izmir"),
    ("Noah Peeters", "Ghent"),
    ("Clara Blanc", "Lyon"),
)
ROOMS = (
    ("Single", 68),
    ("Single", 74),
    ("Single", 74),
    ("Double", 95),
    ("Double", 98),
    ("Double", 112),
    ("Double", 120),
    ("Suite", 160),
    ("Suite", 185),
)
STAYS = 34
MEALS = ("Breakfast", "Half board")


def main(file: str) -> int:
    """Write the database; an existing one is replaced."""
    rng = Random(7)
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    customers = [(f"CU-{311 + number}", *row) for number, row in enumerate(CUSTOMERS)]
    rooms = [(f"R-{number}", *row) for number, row in enumerate(ROOMS, 1)]
    bookings: list[tuple[str, str, str, str, str, str, str]] = []
    invoices: list[tuple[str, str, int, str]] = []
    payments: list[tuple[str, str, str, str]] = []
    while len(bookings) < STAYS:
        room, _, price = rng.choice(rooms)
        first = TODAY + timedelta(days=rng.randrange(-60, 90))
        last = first + timedelta(days=rng.choice((1, 2, 2, 3, 3, 4, 5, 7)))
        state = rng.choices(("OPEN", "CANCELLED"), (4, 1))[0]
        is_taken = any(
            other[2] == room and other[6] == "OPEN" and str(first) < other[4] and other[3] < str(last)
            for other in bookings
        )
        if is_taken and state == "OPEN":
            continue
        key = f"BK-{71 + len(bookings)}"
        guest = rng.choice(customers[:-1])[0]  # the last one has never been there
        bookings.append((key, guest, room, str(first), str(last), rng.choice(MEALS), state))
        if state == "OPEN" and (first < TODAY or rng.random() < 0.3):
            is_paid = rng.random() < 0.55
            invoice = f"IN-{41 + len(invoices)}"
            invoices.append((invoice, key, price * (last - first).days, "PAID" if is_paid else "DUE"))
            if is_paid:
                kind = rng.choices(("RECEIVED", "REFUNDED"), (5, 1))[0]
                method = rng.choice(("CARD", "CASH", "TRANSFER"))
                payments.append((f"PA-{21 + len(payments)}", invoice, method, kind))
    with sqlite3.connect(path) as base:
        base.executescript(SCHEMA)
        for table, rows in (
            ("customers", customers),
            ("rooms", rooms),
            ("bookings", bookings),
            ("invoices", invoices),
            ("payments", payments),
        ):
            base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    base.close()
    print(f"{path}: {len(bookings)} bookings, {len(invoices)} invoices, {len(payments)} payments")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
