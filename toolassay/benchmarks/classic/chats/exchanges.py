"""Rows of one chat put together: a user message and all that follows it until the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolassay.benchmarks.classic.chats.chat import Exchange
from toolassay.benchmarks.classic.data.table import Row

FIGURES = ("cost", "latency", "tokens")
"""What a row may tell of an answer."""


@dataclass(frozen=True)
class RawMessage:
    """A row, when it was written, and by whom: `user`, `bot` or `human`."""

    place: tuple[str, float]
    sender: str
    row: Row


def count_greetings(chat: Sequence[RawMessage]) -> int:
    """How many bot messages come before the first of the user."""
    first = next((number for number, message in enumerate(chat) if message.sender == "user"), len(chat))
    return sum(message.sender == "bot" for message in chat[:first])


def exchanges_of(chat: Sequence[RawMessage]) -> Iterator[Exchange]:
    """The exchanges of a chat whose messages are in order."""
    current: Exchange | None = None
    human = False
    for message in chat:
        if message.sender == "user":
            if current is not None:
                yield current
            current = Exchange(message.row["text"], human=human)
            human = False
        elif current is None:
            human = human or message.sender == "human"
            continue
        elif message.sender == "human":
            current = replace(current, human=True)
        else:
            current = replace(current, bot=f"{current.bot}\n{message.row['text']}".strip("\n"))
        current = _with_figures(current, message.row)
    if current is not None:
        yield current


def _with_figures(exchange: Exchange, row: Row) -> Exchange:
    """An exchange with what a row tells beside its text; the first row that tells something counts."""
    return replace(
        exchange,
        workflow=exchange.workflow or row.get("workflow").strip(),
        cost=exchange.cost or row.get("cost").strip(),
        latency=exchange.latency or row.get("latency").strip(),
        tokens=exchange.tokens or row.get("tokens").strip(),
    )
