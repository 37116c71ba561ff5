"""What an agent is asked, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Workflow:
    """Something an agent may start.

    Args:
        id: of `workflow_uuid`.
        name: as people say it; one of its own within a domain, whatever the case of its letters.
        description: may be empty.
        domain: of `domain_uuid`.
    """

    id: str
    name: str
    description: str
    domain: str


@dataclass(frozen=True)
class Turn:
    """A message of a chat, of the user or of the bot as it was recorded."""

    sender: Literal["user", "bot"]
    content: str


@dataclass(frozen=True)
class Question:
    """All that an agent sees.

    Args:
        id: of the message to answer: conversation, two hyphens, the place of the message in it.
        domain: of the chat.
        turns: the chat up to the user message to answer, which is the last.
        candidates: the workflows of the domain, in the order of the table.
    """

    id: str
    domain: str
    turns: tuple[Turn, ...]
    candidates: tuple[Workflow, ...]


@dataclass(frozen=True)
class Example:
    """A question and what is right.

    Args:
        number: its place in the table of messages, from 0 (`example_idx`).
        conversation: of `conversation_uuid`.
        request_idx: the place of the user message among those of its chat, as the table has it.
        question: what the agent sees.
        labels: ids of the workflows that are right, the first one first; empty where none is.
        response: the bot's recorded reply to the message; no agent sees it before it has answered.
    """

    number: int
    conversation: str
    request_idx: int
    question: Question
    labels: tuple[str, ...]
    response: str = ""

    @property
    def id(self) -> str:
        """Of its question."""
        return self.question.id

    @property
    def domain(self) -> str:
        """Of its chat."""
        return self.question.domain

    def accepts(self, workflow: str | None) -> bool:
        """Whether naming this workflow, or none, is right."""
        return workflow in self.labels if workflow is not None else not self.labels
