"""A chat as a series of exchanges, and how the rows of a raw chat are grouped into exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolassay.benchmarks.classic.csv_table import CsvRow


@dataclass(frozen=True)
class Exchange:
    """A user message and what came back.

    Args:
        user: the message.
        bot: the replies to it, a line each; empty where there were none.
        human: whether a person of the team wrote too.
        workflow: that the bot started, as it was recorded; may be empty.
        cost, latency, tokens: of the answer, as recorded; may be empty.
    """

    user: str
    bot: str = ""
    human: bool = False
    workflow: str = ""
    cost: str = ""
    latency: str = ""
    tokens: str = ""


@dataclass(frozen=True)
class Chat:
    """A conversation within one domain, in order."""

    id: str
    domain: str
    exchanges: tuple[Exchange, ...]

    @property
    def workflow(self) -> str:
        """The first workflow that the bot started; empty where it started none."""
        return next((exchange.workflow for exchange in self.exchanges if exchange.workflow), "")


def count_messages(chats: Sequence[Chat]) -> int:
    """How many user messages there are.

    >>> count_messages([Chat("a", "hr", (Exchange("hi"), Exchange("leave?")))])
    2
    """
    return sum(len(chat.exchanges) for chat in chats)


FIGURES = ("cost", "latency", "tokens")
"""What a row may tell of an answer."""


@dataclass(frozen=True)
class RawMessage:
    """A row, when it was written, and by whom: `user`, `bot` or `human`."""

    place: tuple[str, float]
    sender: str
    row: CsvRow


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


def _with_figures(exchange: Exchange, row: CsvRow) -> Exchange:
    """An exchange with what a row tells beside its text; the first row that tells something counts."""
    return replace(
        exchange,
        workflow=exchange.workflow or row.get("workflow").strip(),
        cost=exchange.cost or row.get("cost").strip(),
        latency=exchange.latency or row.get("latency").strip(),
        tokens=exchange.tokens or row.get("tokens").strip(),
    )
