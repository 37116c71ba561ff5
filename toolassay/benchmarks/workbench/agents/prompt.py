"""The system prompt of an agent, and what an offline model reads in its requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import WorkplaceTool, listing
from toolassay.episodes.call_formats import REACT
from toolassay.models.wire_format import text_of
from toolassay.offline.model_tasks import AgentTask
from toolassay.prompts.templates import fixed_text, template_file

_SITUATION = template_file("benchmarks/workbench", "situation")
# Matches "You are the office assistant of Sam. It is Thursday, 2023-11-30, 00:00; remember this date", the
# prompt with the published tools; not "You are the assistant of …", the prompt with user-defined tools.
_MOMENT = re.compile(
    r"You are the office assistant of .*?\. It is [^,]+, (\d{4}-\d\d-\d\d, \d\d:\d\d); remember this date",
    re.DOTALL,
)


_ACT = template_file("benchmarks/workbench", "act")


def system_prompt(sandbox: Sandbox, agent: str, tools: Sequence[WorkplaceTool], *, act: bool = False) -> str:
    """The role, the user, the time and the house rules; for actions in text, also tools and format.

    Args:
        sandbox: the workplace.
        agent: the call format.
        tools: the tools offered.
        act: say not to ask for confirmation.
    """
    role = "office assistant" if sandbox.toolset is None else "assistant"
    customs = f"{sandbox.customs} " if sandbox.customs else ""
    situation = fixed_text("workbench_situation", _SITUATION)
    text = situation.format(role=role, user=sandbox.user, now=sandbox.now, customs=customs)
    text += fixed_text("workbench_act", _ACT) if act else ""
    if agent == "native":
        return text
    return text + fixed_text("workbench_react", REACT).format(tools=listing(tools))


def moment_of(system: str) -> datetime | None:
    """The current time, to the minute, in a system prompt for the published tools; None in any other text."""
    match = _MOMENT.match(system)
    return datetime.strptime(match[1], "%Y-%m-%d, %H:%M") if match else None


_OBSERVATION = "Observation: "


def prompted_agent_task(body: Mapping[str, Any], shown: object = None) -> AgentTask | None:
    """The task in a request of an agent, and what its calls returned; None for another prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        shown: ignored.
    """
    react = not body.get("tools")
    messages = body["messages"]
    try:
        if [message["role"] for message in messages[:2]] != ["system", "user"]:
            return None
        if (now := moment_of(_text(messages[0]))) is None:
            return None
        role = "user" if react else "tool"
        turns = [_text(message) for message in messages[2:] if message["role"] == role]
        observations = tuple(text.removeprefix(_OBSERVATION) if react else text for text in turns)
        return AgentTask(_text(messages[1]), now, observations, react)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # looks like ours and is not


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content")) or ""
