"""Choices read again out of the answers that a journal holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolassay.benchmarks.classic.agents.asking import Asking
from toolassay.benchmarks.classic.agents.choice import Agent
from toolassay.benchmarks.classic.agents.order import ordered
from toolassay.benchmarks.classic.data import Question
from toolassay.models import ChatRequest, ChatResponse, ModelError

READ = ("answered", "malformed", "refused")
"""Ends that an agent came to by reading answers; the others say that there was none."""


class _Nobody:
    """No model: all that is asked for must be known."""

    name = "nobody"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        raise ModelError("the journal holds no answer to this request")

    async def close(self) -> None: ...


async def made_anew(question: Question, agent: Agent, order: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A journal entry with the choice that its answers give now.

    Args:
        question: as the table has it.
        agent: who reads.
        order: of the candidates.
        entry: of the journal; one without a choice comes back as it is.

    Raises:
        KeyError, TypeError, AttributeError: its answers cannot be read.
    """
    if entry.get("outcome") not in READ:
        return dict(entry)
    ask = Asking(_Nobody(), {}, question.id, entry["answers"])
    try:
        choice = await agent.choose(ordered(question, order), ask)
    except ModelError as error:
        return {**entry, "workflow": None, "outcome": "not run", "error": str(error)}
    return {**entry, **asdict(choice)}
