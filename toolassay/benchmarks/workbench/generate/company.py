"""The company that requests are about: people, boards, dates, its five tables, and the hand-written
texts in `data/`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def texts(name: str) -> Any:
    """The content of `data/{name}.json`."""
    return json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))


Row = Mapping[str, str | None]

NOW = datetime(2023, 11, 30)
"""A Thursday at midnight: nothing of today has happened yet."""

TODAY = NOW.date()
YESTERDAY = date(2023, 11, 29)
"""The last day of the visits and of the mail."""

TEAMS: Mapping[str, Sequence[str]] = texts("people")["teams"]
USER: str = texts("people")["user"]
SALES = tuple(name.split()[0] for name in TEAMS["Sales"])
BOARDS = {
    board: tuple(name.split()[0] for name in people) for board, people in TEAMS.items() if board != "Sales"
}
PROJECT = tuple(name for people in BOARDS.values() for name in people)
PEOPLE = SALES + PROJECT
_ADDRESSES = {
    name.split()[0]: f"{name.lower().replace(' ', '.')}@{texts('people')['domain']}"
    for people in TEAMS.values()
    for name in people
}


def address(person: str) -> str:
    """The e-mail address of a colleague, by first name.

    >>> address("Mei")
    'mei.fong@larkfield.example'
    """
    return _ADDRESSES[person]


def person_of(email: str) -> str:
    """The first name that belongs to a colleague's address.

    >>> person_of("mei.fong@larkfield.example")
    'Mei'
    """
    return next(person for person, known in _ADDRESSES.items() if known == email)


@dataclass(frozen=True, eq=False)
class Tables:
    """The five tables; a row is a mapping of the published column names to text (None: no value).

    Two `Tables` are equal only to themselves, so that what is computed from one can be kept.
    """

    calendar: Sequence[Row]
    email: Sequence[Row]
    analytics: Sequence[Row]
    project_management: Sequence[Row]
    customer_relationship_manager: Sequence[Row]
