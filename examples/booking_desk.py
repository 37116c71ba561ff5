"""An MCP server that keeps a guesthouse: `booking_desk.py FILE`; a missing database is made.

It needs the package `mcp`. Its day is that of the variable TOOLASSAY_TODAY, else that of the clock.

It writes and refuses: unknown ids, cancelled bookings, overlapping or past dates, an end before the start,
values that are not listed, an invoice that is paid. Results are objects with a schema, bare objects, and JSON
as text.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it for lists of these before Python 3.12

READS = ToolAnnotations(read_only_hint=True)
# The values are in descriptions only, as on many servers.
Day = Annotated[str, Field(description="Date, YYYY-MM-DD.")]
RoomType = Annotated[str, Field(description="Either 'Single', 'Double' or 'Suite'.")]
Meals = Annotated[str, Field(description="Meals: `Breakfast` or `Half board`")]
State = Annotated[str, Field(description="State [Enum]: OPEN, CANCELLED")]
Method = Annotated[str, Field(description="One of: CARD, CASH, TRANSFER")]
SCHEMA = """
CREATE TABLE customers (customer_id TEXT PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE rooms (room_id TEXT PRIMARY KEY, type TEXT, price INTEGER);
CREATE TABLE bookings (booking_id TEXT PRIMARY KEY, customer_id TEXT, room_id TEXT, start_date TEXT,
                       end_date TEXT, meals TEXT, state TEXT);
CREATE TABLE invoices (invoice_id TEXT PRIMARY KEY, booking_id TEXT, amount INTEGER, state TEXT);
CREATE TABLE payments (payment_id TEXT PRIMARY KEY, invoice_id TEXT, method TEXT, state TEXT);
"""


class Customer(TypedDict):
    """A customer."""

    customer_id: str
    name: str
    city: str


class Room(TypedDict):
    """A room."""

    room_id: str
    type: str
    price: int


class Booking(TypedDict):
    """A booking."""

    booking_id: str
    customer_id: str
    room_id: str
    start_date: str
    end_date: str
    meals: str
    state: str


class Invoice(TypedDict):
    """An invoice."""

    invoice_id: str
    booking_id: str
    amount: int
    state: str


def seed(base: sqlite3.Connection) -> None:
    """Make the tables with rows: two of six bookings are cancelled, two of three invoices are paid."""
    base.executescript(SCHEMA)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "customers": [
            ("CU-311", "Ines Kaya", "Porto"),
            ("CU-312", "Tom Reed", "Ghent"),
            ("CU-313", "Mei Sato", "Porto"),
            ("CU-314", "Ola Berg", "Turku"),
        ],
        "rooms": [("R-1", "Single", 70), ("R-2", "Double", 95), ("R-3", "Suite", 160), ("R-4", "Double", 98)],
        "bookings": [
            ("BK-71", "CU-311", "R-1", "2025-03-02", "2025-03-05", "Breakfast", "OPEN"),
            ("BK-72", "CU-312", "R-2", "2025-04-10", "2025-04-12", "Half board", "CANCELLED"),
            ("BK-73", "CU-313", "R-2", "2025-05-01", "2025-05-04", "Breakfast", "OPEN"),
            ("BK-74", "CU-311", "R-3", "2025-06-20", "2025-06-22", "Breakfast", "OPEN"),
            ("BK-75", "CU-314", "R-4", "2025-07-11", "2025-07-15", "Half board", "CANCELLED"),
            ("BK-76", "CU-312", "R-4", "2031-08-08", "2031-08-09", "Half board", "OPEN"),
        ],
        "invoices": [
            ("IN-41", "BK-71", 210, "PAID"),
            ("IN-42", "BK-73", 285, "DUE"),
            ("IN-43", "BK-74", 320, "PAID"),
        ],
        "payments": [("PA-21", "IN-41", "CARD", "RECEIVED"), ("PA-22", "IN-43", "CASH", "REFUNDED")],
    }
    for table, given in rows.items():
        base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(given[0]))})", given)
    base.commit()


class Desk:
    """The database, with the refusals that several tools have."""

    def __init__(self, file: Path) -> None:
        is_new = not file.exists()
        self.base = sqlite3.connect(file, check_same_thread=False)
        self.base.row_factory = sqlite3.Row
        if is_new:
            seed(self.base)

    def rows(self, table: str, **conditions: Any) -> list[Any]:
        """The rows with these values."""
        where = " AND ".join(f"{name} = ?" for name in conditions) or "1"
        found = self.base.execute(f"SELECT * FROM {table} WHERE {where}", [*conditions.values()])
        return [dict(row) for row in found]

    def one(self, table: str, key: str, value: str) -> Any:
        """The row with a key, or a refusal."""
        found = self.rows(table, **{key: value})
        if not found:
            raise ToolError(f"no {key} {value!r} in {table}")
        return found[0]

    def open_booking(self, booking_id: str) -> Any:
        """A booking that is not cancelled, or a refusal."""
        found = self.one("bookings", "booking_id", booking_id)
        if found["state"] == "CANCELLED":
            raise ToolError("the booking is cancelled")
        return found

    def check_dates(self, room_id: str, start: str, end: str, but: str = "") -> None:
        """Refuse dates that a room cannot be booked for."""
        try:
            first, last = date.fromisoformat(start), date.fromisoformat(end)
        except ValueError:
            raise ToolError("a date is written YYYY-MM-DD") from None
        if first < date.fromisoformat(os.environ.get("TOOLASSAY_TODAY") or str(date.today())):
            raise ToolError(f"{start} is in the past")
        if last <= first:
            raise ToolError("the end must be after the start")
        if last - first > timedelta(days=60):
            raise ToolError("a stay has at most 60 days")
        for one in self.rows("bookings", room_id=room_id, state="OPEN"):
            if one["booking_id"] != but and start < one["end_date"] and one["start_date"] < end:
                raise ToolError(f"{room_id} is taken from {one['start_date']} to {one['end_date']}")

    def add(self, table: str, prefix: str, *values: Any) -> str:
        """Add a row; its key."""
        number = self.base.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        key = f"{prefix}-{500 + number}"
        with self.base:
            self.base.execute(
                f"INSERT INTO {table} VALUES ({', '.join('?' * (len(values) + 1))})", [key, *values]
            )
        return key

    def set(self, table: str, key: str, value: str, **columns: Any) -> Any:
        """Change a row; the row after it."""
        names = ", ".join(f"{name} = ?" for name in columns)
        with self.base:
            self.base.execute(f"UPDATE {table} SET {names} WHERE {key} = ?", [*columns.values(), value])
        return self.one(table, key, value)


def listed(name: str, value: str, *allowed: str) -> None:
    """Refuse a value that is not one of those."""
    if value not in allowed:
        raise ToolError(f"{name} must be one of {allowed}")


def customers(server: MCPServer, desk: Desk) -> None:
    """Tools about customers and rooms."""

    @server.tool(annotations=READS)
    def list_customers() -> list[Customer]:
        """List all customers."""
        return desk.rows("customers")

    @server.tool(annotations=READS, structured_output=False)
    def find_customers(query: str) -> str:
        """Search the customers by name or city."""
        found = [one for one in desk.rows("customers") if query.casefold() in str([*one.values()]).casefold()]
        return json.dumps(found)

    @server.tool(annotations=READS)
    def get_customer(customer_id: str) -> dict[str, Any]:
        """Get a customer by ID."""
        return dict(desk.one("customers", "customer_id", customer_id))

    @server.tool()
    def add_customer(name: str, city: str) -> Customer:
        """Add a customer."""
        key = desk.add("customers", "CU", name, city)
        return {"customer_id": key, "name": name, "city": city}

    @server.tool(annotations=READS)
    def list_rooms(type: RoomType) -> list[Room]:
        """List the rooms of a type."""
        listed("type", type, "Single", "Double", "Suite")
        return desk.rows("rooms", type=type)

    @server.tool(annotations=READS)
    def find_free_rooms(start_date: Day, end_date: Day) -> list[Room]:
        """Find the rooms that are free from a day to another."""
        found: list[Room] = []
        for room in desk.rows("rooms"):
            try:
                desk.check_dates(room["room_id"], start_date, end_date)
            except ToolError as error:
                if "is taken" not in str(error):
                    raise
            else:
                found.append(room)
        return found


def bookings(server: MCPServer, desk: Desk) -> None:
    """Tools about bookings, invoices and payments."""

    @server.tool(annotations=READS)
    def list_bookings(state: State) -> list[Booking]:
        """List the bookings of a state."""
        listed("state", state, "OPEN", "CANCELLED")
        return desk.rows("bookings", state=state)

    @server.tool(annotations=READS)
    def get_booking(booking_id: str) -> Booking:
        """Get a booking by ID."""
        found: Booking = desk.one("bookings", "booking_id", booking_id)
        return found

    @server.tool()
    def create_booking(
        customer_id: str, room_id: str, start_date: Day, end_date: Day, meals: Meals
    ) -> Booking:
        """Book a room for a customer."""
        desk.one("customers", "customer_id", customer_id)
        desk.one("rooms", "room_id", room_id)
        listed("meals", meals, "Breakfast", "Half board")
        desk.check_dates(room_id, start_date, end_date)
        key = desk.add("bookings", "BK", customer_id, room_id, start_date, end_date, meals, "OPEN")
        found: Booking = desk.one("bookings", "booking_id", key)
        return found

    @server.tool()
    def change_dates(booking_id: str, start_date: Day, end_date: Day) -> dict[str, Any]:
        """Change the dates of a booking."""
        found = desk.open_booking(booking_id)
        desk.check_dates(found["room_id"], start_date, end_date, booking_id)
        return dict(desk.set("bookings", "booking_id", booking_id, start_date=start_date, end_date=end_date))

    @server.tool(structured_output=False)
    def cancel_booking(booking_id: str) -> str:
        """Cancel a booking."""
        desk.open_booking(booking_id)
        desk.set("bookings", "booking_id", booking_id, state="CANCELLED")
        return json.dumps({"success": True})

    @server.tool(annotations=READS, structured_output=False)
    def list_invoices() -> str:
        """List all invoices."""
        return json.dumps(desk.rows("invoices"))

    @server.tool()
    def create_invoice(booking_id: str) -> Invoice:
        """Create the invoice of a booking."""
        booking = desk.open_booking(booking_id)
        if desk.rows("invoices", booking_id=booking_id):
            raise ToolError("the booking has an invoice")
        room = desk.one("rooms", "room_id", booking["room_id"])
        nights = date.fromisoformat(booking["end_date"]) - date.fromisoformat(booking["start_date"])
        key = desk.add("invoices", "IN", booking_id, room["price"] * nights.days, "DUE")
        found: Invoice = desk.one("invoices", "invoice_id", key)
        return found

    @server.tool()
    def pay_invoice(invoice_id: str, method: Method) -> dict[str, Any]:
        """Pay an invoice."""
        if desk.one("invoices", "invoice_id", invoice_id)["state"] == "PAID":
            raise ToolError("the invoice is paid already")
        listed("method", method, "CARD", "CASH", "TRANSFER")
        desk.set("invoices", "invoice_id", invoice_id, state="PAID")
        return {
            "payment_id": desk.add("payments", "PA", invoice_id, method, "RECEIVED"),
            "invoice_id": invoice_id,
        }

    @server.tool(annotations=READS)
    def list_payments() -> dict[str, Any]:
        """List all payments."""
        return {"payments": desk.rows("payments")}

    @server.tool(structured_output=False)
    def refund_payment(payment_id: str) -> str:
        """Refund a payment."""
        if desk.one("payments", "payment_id", payment_id)["state"] == "REFUNDED":
            return json.dumps({"success": False, "message": "it is refunded already"})
        desk.set("payments", "payment_id", payment_id, state="REFUNDED")
        return json.dumps({"success": True, "payment_id": payment_id})


def main(file: str) -> None:
    """Serve until the input ends."""
    logging.disable(logging.CRITICAL)  # a traceback for each refused call takes half a second
    server, desk = MCPServer("desk"), Desk(Path(file))
    customers(server, desk)
    bookings(server, desk)
    server.run("stdio")


if __name__ == "__main__":
    main(sys.argv[1])
