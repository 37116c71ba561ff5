"""Agents asked with a model that says one thing after the other."""

from __future__ import annotations

import asyncio

from tests.support.answering import Scripted, ask_of
from toolassay.benchmarks.classic.agents.choice import WorkflowChoice
from toolassay.benchmarks.classic.agents.inference import ChatItems, ClassicAgentSettings
from toolassay.benchmarks.classic.data import Question
from toolassay.models import ChatResponse, ModelError, ToolCall


def calls(*names: str) -> ChatResponse:
    """An answer that calls functions."""
    made = tuple(ToolCall(f"c{number}", name, "{}") for number, name in enumerate(names))
    return ChatResponse("", "tool_calls", tool_calls=made)


def choose(agent: str, asked: Question, *says: ChatResponse | ModelError) -> tuple[WorkflowChoice, Scripted]:
    """What an agent makes of answers."""
    model = Scripted(*says)
    work = ChatItems(ClassicAgentSettings(agent), {"temperature": 0.2})
    return asyncio.run(work.choose(asked, ask_of(model, key=asked.id))), model
