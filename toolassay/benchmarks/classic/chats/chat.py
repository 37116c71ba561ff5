"""A chat as a sequence of exchanges, and how the rows of a raw chat are grouped into exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolassay.benchmarks.classic.csv_table import CsvRow


@dataclass(frozen=True)
class Exchange:
    """A user message with the replies to it.

    Args:
        user: the message.
        bot: the bot's replies, one per line; empty if there are none.
        human: whether a member of the team wrote as well.
        workflow: the workflow that the bot started, as recorded; may be empty.
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
    """A conversation within one domain; exchanges in order."""

    id: str
    domain: str
    exchanges: tuple[Exchange, ...]

    @property
    def workflow(self) -> str:
        """The first workflow that the bot started; empty if it started none."""
        return next((exchange.workflow for exchange in self.exchanges if exchange.workflow), "")


def count_messages(chats: Sequence[Chat]) -> int:
    """The number of user messages.

    >>> count_messages([Chat("a", "hr", (Exchange("hi"), Exchange("leave?")))])
    2
    """
    return sum(len(chat.exchanges) for chat in chats)


FIGURES = ("cost", "latency", "tokens")
"""Optional columns with measurements of an answer."""


@dataclass(frozen=True)
class RawMessage:
    """A row with its time and its sender: `user`, `bot` or `human`."""

    place: tuple[str, float]
    sender: str
    row: CsvRow


def count_greetings(chat: Sequence[RawMessage]) -> int:
    """The number of bot messages before the first user message."""
    first = next((number for number, message in enumerate(chat) if message.sender == "user"), len(chat))
    return sum(message.sender == "bot" for message in chat[:first])


def exchanges_of(chat: Sequence[RawMessage]) -> Iterator[Exchange]:
    """Group the messages of a chat, which are in order, into exchanges."""
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
    """An exchange with the measurements of a row added. The first row that has a value counts."""
    return replace(
        exchange,
        workflow=exchange.workflow or row.get("workflow").strip(),
        cost=exchange.cost or row.get("cost").strip(),
        latency=exchange.latency or row.get("latency").strip(),
        tokens=exchange.tokens or row.get("tokens").strip(),
    )
