"""A chat as it is cleaned, sampled and masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
