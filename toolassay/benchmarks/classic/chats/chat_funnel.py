"""The funnel of a data set: what each step left out, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.csv_table import write_table
from toolassay.files import write_json
from toolassay.tables import Table

STEPS, DROPPED = "steps.json", "dropped.csv"


@dataclass(frozen=True)
class Drop:
    """A conversation that a step left out, completely or from one of its messages on.

    Args:
        conversation: its id.
        messages: how many user messages went.
        why: the reason, without any words of the conversation.
        kept: how many user messages before them stayed; 0 where the whole conversation went.
    """

    conversation: str
    messages: int
    why: str
    kept: int = 0


@dataclass(frozen=True)
class Step:
    """One row of the funnel.

    Attributes:
        step: its name.
        action: what a filter did; empty for other steps.
        conversations: how many entered.
        messages: how many user messages entered.
        dropped_conversations: how many were left out whole.
        cut_conversations: how many were cut at one of their messages.
        dropped_messages: how many user messages were left out.
        left_conversations: how many conversations are left.
        left_messages: how many user messages are left.
        why: the reason.
        counts: further figures by name.
    """

    step: str
    action: str
    conversations: int
    messages: int
    dropped_conversations: int
    cut_conversations: int
    dropped_messages: int
    left_conversations: int
    left_messages: int
    why: str
    counts: Mapping[str, int]


@dataclass
class ChatFunnel:
    """The steps so far; `conversations` and `messages` (of users) are those that are left.

    >>> funnel = ChatFunnel(conversations=10, messages=14)
    >>> funnel.add("too_short", "fewer than 5 characters", [Drop("c1", 2, "message 0 has 2 characters")])
    >>> funnel.conversations, funnel.messages
    (9, 12)
    """

    conversations: int
    messages: int
    steps: list[Step] = field(default_factory=list)
    drops: list[tuple[str, Drop]] = field(default_factory=list)

    def add(
        self,
        step: str,
        why: str,
        drops: Sequence[Drop] = (),
        *,
        action: str = "",
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Add a step that left out `drops`; the other arguments are those of `Step`."""
        whole = sum(not drop.kept for drop in drops)
        gone = sum(drop.messages for drop in drops)
        conversations, messages = self.conversations, self.messages
        self.conversations, self.messages = conversations - whole, messages - gone
        self.steps.append(
            Step(
                *(step, action, conversations, messages, whole, len(drops) - whole, gone),
                *(self.conversations, self.messages, why, dict(counts or {})),
            )
        )
        self.drops.extend((step, drop) for drop in drops)

    def table(self) -> str:
        """The funnel as a Markdown table."""
        headings = ("step", "conversations left out", "cut", "messages left out", "conversations", "messages")
        rows = [
            (
                *(step.step, step.dropped_conversations, step.cut_conversations, step.dropped_messages),
                *(step.left_conversations, step.left_messages),
            )
            for step in self.steps
        ]
        return Table(headings, rows).markdown()

    def write(self, folder: Path, **facts: Any) -> None:
        """Write `steps.json` (with `facts` before the steps) and `dropped.csv`."""
        write_table(
            folder / DROPPED,
            ("conversation_uuid", "step", "kept_messages", "dropped_messages", "why"),
            ([drop.conversation, step, drop.kept, drop.messages, drop.why] for step, drop in self.drops),
        )
        write_json(folder / STEPS, {**facts, "steps": [asdict(step) for step in self.steps]})
