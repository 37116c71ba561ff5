"""The task behind each prompt. The built-in models act on the task instead of reading the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from toolassay.dataset import Sample
from toolassay.graph import DependencyType, ToolGraph
from toolassay.tools import ToolLibrary


@dataclass(frozen=True, slots=True)
class BackInstructTask:
    """Write a request, its steps and its gold plan for a sampled subgraph; with `check`, judge them too."""

    sample: Sample
    library: ToolLibrary
    dependency_type: DependencyType
    check: bool = False


@dataclass(frozen=True, slots=True)
class CritiqueTask:
    """Judge whether an instruction (as back-instruct answers it) is executable and correct.

    Without a `sample` its links are held against its own arguments, as far as it has any.
    """

    sample: Sample | None
    request: str
    instruction: Mapping[str, Any]
    library: ToolLibrary
    dependency_type: DependencyType


@dataclass(frozen=True, slots=True)
class PlanTask:
    """Plan the tool calls for a request. The gold plan is not in here, and never may be."""

    request: str
    graph: ToolGraph


@dataclass(frozen=True, slots=True)
class ReformatTask:
    """Turn an answer that could not be read into strict JSON, its meaning unchanged."""

    text: str


@runtime_checkable
class OfflineTask(Protocol):
    """Work that answers itself: what the offline model does for a benchmark that is installed beside ours."""

    def offline_answer(self) -> str:
        """The answer of the offline model, as text that is parsed like any other. Never the gold."""
        ...


class CallableTool(Protocol):
    """A tool as an agent is offered it."""

    @property
    def name(self) -> str:
        """Its name in actions that are written as text."""
        ...

    @property
    def function_name(self) -> str:
        """Its name for model interfaces, which allow fewer characters."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of its arguments."""
        ...


@dataclass(frozen=True, slots=True)
class AgentTask:
    """Say what to do next about a request. The ground truth is not in here, and never may be.

    `observations` are what the calls made so far returned, as text, in their order; `react` asks for the
    next action in text instead of as a tool call; `tools` are those offered.
    """

    request: str
    now: datetime
    observations: tuple[str, ...] = ()
    react: bool = False
    tools: Sequence[CallableTool] = ()


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """Choose what to start by a chat, or nothing. What is right is not in here, and never may be.

    `chat` holds (user or bot, text), the message to answer last; `candidates` hold (name, description), and
    one is chosen by its name; `nothing` is the name for none; `as_call` asks for the call of a function so
    named instead of a JSON object.
    """

    chat: tuple[tuple[str, str], ...]
    candidates: tuple[tuple[str, str], ...]
    nothing: str
    as_call: bool = False
