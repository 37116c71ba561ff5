"""Agents asked with a model that says one thing after the other."""

from __future__ import annotations

import asyncio

from answering import Scripted, ask_of

from toolassay.benchmarks.classic.agents.workflow_choice import Agent, QuestionRequests, WorkflowChoice
from toolassay.benchmarks.classic.data import Question
from toolassay.models import ChatResponse, ModelError, ToolCall


def calls(*names: str) -> ChatResponse:
    """An answer that calls functions."""
    made = tuple(ToolCall(f"c{number}", name, "{}") for number, name in enumerate(names))
    return ChatResponse("", "tool_calls", tool_calls=made)


def choose(
    agent: Agent, asked: Question, *says: ChatResponse | ModelError
) -> tuple[WorkflowChoice, Scripted]:
    """What an agent makes of answers."""
    model = Scripted(*says)
    return asyncio.run(
        agent.choose(asked, QuestionRequests(ask_of(model, key=asked.id), {"temperature": 0.2}))
    ), model
