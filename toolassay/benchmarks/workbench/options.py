"""Options of `infer` and `evaluate` for WorkBench folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolassay.episodes.own_agent import AgentFunction

MAX_STEPS = 20
MAX_SECONDS = 120.0


@dataclass(frozen=True)
class WorkplaceOptions:
    """Options of `infer` for WorkBench folders.

    Attributes:
        agent: "native" (tool calls), "react" (actions in text) or "react_published" (actions parsed as in the
            published agent); None for "native".
        toolkit: Tools offered to the agent: "all", or those of the task's "domains"; None for "all".
        resample: Maximum retries of a task in which the agent called no tool.
        resample_temperature: Sampling temperature of these retries.
        max_steps: Maximum model answers per task.
        max_seconds: Maximum seconds of all answers of a task; see `WorkbenchAgentSettings`.
        act_without_confirmation: Say in the prompt not to ask for confirmation.
        allow_tools: Run the `tools.py` of the data folder, which is Python code.
        agent_command: Command line of an agent to run instead of a model, or an `AgentFunction`.
    """

    agent: str | None = None
    toolkit: str | None = None
    resample: int = 0
    resample_temperature: float = 0.5
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    act_without_confirmation: bool = False
    allow_tools: bool = False
    agent_command: str | AgentFunction | None = None


@dataclass(frozen=True)
class WorkplaceScoring:
    """Options of `evaluate` and `verify` for WorkBench folders.

    Attributes:
        allow_tools: Run the `tools.py` of the data folder, which is Python code.
    """

    allow_tools: bool = False
