"""The task behind each prompt, on which built-in models act instead of the prompt, and forms of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from toolassay.files.data_files import unescaped_json
from toolassay.graph import DependencyType, ToolGraph
from toolassay.models import ChatResponse, ToolCall
from toolassay.records.dataset import Sample
from toolassay.tools.library import ToolLibrary


@dataclass(frozen=True, slots=True)
class BackInstructTask:
    """Write a request, its steps and its gold plan for a sampled subgraph; with `check`, review them too.

    Each `attempt` is another request. `values` exist on a server: `{tool: {argument: [value, …]}}`.
    """

    sample: Sample
    library: ToolLibrary
    dependency_type: DependencyType
    check: bool = False
    attempt: int = 0
    values: Mapping[str, Mapping[str, Sequence[Any]]] | None = None


@dataclass(frozen=True, slots=True)
class CritiqueTask:
    """Judge whether an instruction, in the form of back-instruct answers, is executable and correct.

    Without a `sample` its links are compared with its own arguments, if it has any.
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
    """Turn an answer that could not be parsed into strict JSON of the same meaning."""

    text: str


@runtime_checkable
class OfflineTask(Protocol):
    """Work that answers itself: what the offline model does for a benchmark that is installed beside ours."""

    def offline_answer(self) -> str:
        """The answer of the offline model, as text that is parsed like any other. Never the gold."""
        ...


class CallableTool(Protocol):
    """A tool that an agent may call."""

    @property
    def name(self) -> str:
        """Its name in actions in text form."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of its arguments."""
        ...


@dataclass(frozen=True, slots=True)
class AgentTask:
    """Decide the next step of an agent. The ground truth is not in here, and never may be.

    Attributes:
        observations: what the calls so far returned, as text, in order.
        react: whether the next action is requested as text instead of a tool call.
        tools: those that the agent may call.
    """

    request: str
    now: datetime
    observations: tuple[str, ...] = ()
    react: bool = False
    tools: Sequence[CallableTool] = ()


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """Choose the workflow for a chat, or none. The label is not in here, and never may be.

    Attributes:
        chat: pairs of sender ("user" or "bot") and text; the last message is the one to answer.
        candidates: pairs of name and description; the answer is a name.
        nothing: the name for no workflow.
        as_call: whether the answer is requested as a call of a function of that name, not as a JSON object.
    """

    chat: tuple[tuple[str, str], ...]
    candidates: tuple[tuple[str, str], ...]
    nothing: str
    as_call: bool = False


def choice_answer(task: ChoiceTask, name: str) -> ChatResponse:
    """The answer that chooses a name, in the form that the task requests."""
    if task.as_call:
        return ChatResponse("", "tool_calls", tool_calls=(ToolCall("call_0", name, "{}"),))
    return ChatResponse(unescaped_json({"workflow": name}))


def react_action(name: str, action_input: object) -> str:
    """An action in the text form of ReAct agents; the name "Final Answer" ends the task."""
    action = unescaped_json({"action": name, "action_input": action_input})
    return f"Action:\n```\n{action}\n```"


def agent_calls(task: AgentTask, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> ChatResponse:
    """The answer of an agent that makes calls, each a tool and its arguments; as text only the first."""
    if task.react:
        return ChatResponse(react_action(*calls[0]))
    texts = ((name.replace(".", "__"), unescaped_json(arguments)) for name, arguments in calls)
    tool_calls = (
        ToolCall(f"call_{number}", *text_pair)
        for number, text_pair in enumerate(texts, start=len(task.observations))
    )
    return ChatResponse("", "tool_calls", tool_calls=tuple(tool_calls))


def agent_end(task: AgentTask, text: str = "Done.") -> ChatResponse:
    """The answer of an agent that ends a task."""
    return ChatResponse(react_action("Final Answer", text) if task.react else text)
