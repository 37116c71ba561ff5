"""Recovers the task behind a request of our agents, for the offline model behind a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.benchmarks.workbench.agents.native_and_react import moment_of
from toolassay.models.wire_format import text_of
from toolassay.offline.model_tasks import AgentTask

_OBSERVATION = "Observation: "


def prompted_agent_task(body: Mapping[str, Any], shown: object = None) -> AgentTask | None:
    """The task in a request of an agent, and what its calls returned; None for another prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        shown: ignored.
    """
    role = "tool" if body.get("tools") else "user"
    try:
        return _acting(body["messages"], role)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # looks like ours and is not


def _acting(messages: Sequence[Mapping[str, Any]], told_by: str) -> AgentTask | None:
    """The task; its observations are the messages of one role that follow the request."""
    if len(messages) < 2 or messages[0].get("role") != "system" or messages[1].get("role") != "user":
        return None
    now = moment_of(_text(messages[0]))
    if now is None:
        return None
    react = told_by == "user"
    told = [_text(message) for message in messages[2:] if message.get("role") == told_by]
    observations = tuple(text.removeprefix(_OBSERVATION) if react else text for text in told)
    return AgentTask(_text(messages[1]), now, observations, react)


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content")) or ""
