"""What an agent can do in the library. Each function is a tool; the agent sees its docstring."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import Any, Literal

from toolassay.workplace import ToolError, now, tool

Shelf = Literal["adults", "children", "archive"]


@tool("catalogue", reads_only=True)
def find_books(db: sqlite3.Connection, text: str = "", shelf: Shelf | None = None) -> list[dict[str, Any]]:
    """Find books, and how many copies are free to be lent.

    Args:
        text: Part of the title or of the author's name; all books if it is empty.
        shelf: Only books on this shelf.
    """
    found = db.execute(
        "SELECT *, copies - (SELECT count(*) FROM open_loans o WHERE o.book_id = b.book_id) AS free "
        "FROM books b WHERE instr(lower(title || ' ' || author), lower(?)) AND shelf = coalesce(?, shelf)",
        [text, shelf],
    )
    return [dict(book) for book in found]


@tool("catalogue")
def add_copies(db: sqlite3.Connection, book_id: str, count: int = 1) -> str:
    """Enter new copies of a book.

    Args:
        book_id: The book.
        count: How many.
    """
    if count < 1:
        raise ToolError("count is 1 or more")
    return _one(
        db.execute("UPDATE books SET copies = copies + ? WHERE book_id = ?", [count, book_id]), "book"
    )


@tool("catalogue")
def move_book(db: sqlite3.Connection, book_id: str, shelf: Shelf) -> str:
    """Put a book on another shelf.

    Args:
        book_id: The book.
        shelf: Where to.
    """
    return _one(db.execute("UPDATE books SET shelf = ? WHERE book_id = ?", [shelf, book_id]), "book")


@tool("desk", reads_only=True)
def find_members(db: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    """Find members by name, with the loans they have not brought back.

    Args:
        name: Part of the name.
    """
    members = db.execute("SELECT * FROM members WHERE instr(lower(name), lower(?))", [name]).fetchall()
    loans = "SELECT loan_id, book_id, due_on FROM open_loans WHERE member_id = ?"
    return [
        {**dict(m), "loans": [dict(loan) for loan in db.execute(loans, [m["member_id"]])]} for m in members
    ]


@tool("desk")
def change_email(db: sqlite3.Connection, member_id: str, email: str) -> str:
    """Enter a member's new e-mail address.

    Args:
        member_id: The member.
        email: The new address.
    """
    return _one(db.execute("UPDATE members SET email = ? WHERE member_id = ?", [email, member_id]), "member")


@tool("desk")
def lend(db: sqlite3.Connection, book_id: str, member_id: str, days: int = 21) -> str:
    """Lend a copy of a book to a member.

    Args:
        book_id: The book.
        member_id: The member.
        days: For how long.
    """
    book = db.execute("SELECT copies FROM books WHERE book_id = ?", [book_id]).fetchone()
    (lent,) = db.execute("SELECT count(*) FROM open_loans WHERE book_id = ?", [book_id]).fetchone()
    if book is None or lent >= book["copies"]:
        raise ToolError("no copy is free")
    due = (now(db) + timedelta(days=days)).date()
    db.execute(
        "INSERT INTO loans (book_id, member_id, due_on) VALUES (?, ?, ?)", [book_id, member_id, str(due)]
    )
    return f"Lent until {due}."


@tool("desk")
def give_back(db: sqlite3.Connection, loan_id: int) -> str:
    """Enter that a book came back today.

    Args:
        loan_id: The loan.
    """
    open_one = "WHERE loan_id = ? AND returned_on IS NULL"
    return _one(db.execute(f"UPDATE loans SET returned_on = date('now') {open_one}", [loan_id]), "open loan")


@tool("desk")
def extend(db: sqlite3.Connection, loan_ids: list[int], days: int) -> str:
    """Give loans more time, counted from the day on which they are due. All are extended, or none.

    Args:
        loan_ids: The loans.
        days: How many days more.
    """
    for loan_id in loan_ids:
        later = (
            "UPDATE loans SET due_on = date(due_on, ? || ' days') WHERE loan_id = ? AND returned_on IS NULL"
        )
        _one(db.execute(later, [days, loan_id]), "open loan")
    return "Done."


def _one(done: sqlite3.Cursor, what: str) -> str:
    if done.rowcount != 1:
        raise ToolError(f"there is no such {what}")
    return "Done."
