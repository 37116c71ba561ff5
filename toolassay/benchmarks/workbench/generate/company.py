"""The fictitious company of the generated workplace: people, boards, dates, the type of its five tables,
and the hand-written texts in `data/`.
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
"""The current time, a Thursday at midnight: nothing has happened today yet."""

TODAY = NOW.date()
YESTERDAY = date(2023, 11, 29)
"""The last day with visits and e-mails."""

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
    """The first name of a colleague, by e-mail address.

    >>> person_of("mei.fong@larkfield.example")
    'Mei'
    """
    return next(person for person, known in _ADDRESSES.items() if known == email)


@dataclass(frozen=True, eq=False)
class Tables:
    """The five tables. A row maps the published column names to strings (None: no value).

    Two objects never compare equal, so that one can be the key of a cache.
    """

    calendar: Sequence[Row]
    email: Sequence[Row]
    analytics: Sequence[Row]
    project_management: Sequence[Row]
    customer_relationship_manager: Sequence[Row]
