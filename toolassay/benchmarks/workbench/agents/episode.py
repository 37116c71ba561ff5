"""One task in the hands of one agent: ask, carry out, tell, until it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolassay.benchmarks.workbench.agents.forms import Form, Message, form_of, presentable
from toolassay.benchmarks.workbench.agents.hands import Hands
from toolassay.benchmarks.workbench.agents.settings import AgentSettings
from toolassay.benchmarks.workbench.judge.classes import ITERATION_LIMIT
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import Tool, toolset_of
from toolassay.files import readable
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ToolCall
from toolassay.offline.tasks import AgentTask

MOST_CALLS = 100
"""Calls of one answer that are carried out."""
_TOO_MANY = f"Error: not carried out: more than {MOST_CALLS} calls in one answer"
NO_ANSWER = "The model said nothing that can be read."
_PROGRESS = ("messages", "observations", "function_calls", "steps", "seconds", "discarded")


class Episode:
    """One task on its own copy of the sandbox.

    Args:
        task: what is asked; the agent sees its request alone.
        sandbox: as every run finds it.
        settings: of the agent.
        progress: of an episode that was stopped, as `progress` gave it: it goes on from there.
        form: of the agent, if it is shared with other episodes.
        tools: as the agent sees them; None for those that the settings give it.
    """

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        settings: AgentSettings,
        progress: Mapping[str, Any] | None = None,
        form: Form | None = None,
        *,
        tools: Sequence[Tool] | None = None,
    ) -> None:
        self._task, self._sandbox, self._settings = task, sandbox, settings
        self._form = form or form_of(settings.agent)
        self._toolset = toolset_of(sandbox)
        self._tools = settings.tools(task, self._toolset) if tools is None else tools
        known = progress or {}
        self._messages: list[Message] = [*known.get("messages", self._start())]
        self._observations: list[str] = [*known.get("observations", ())]
        self._steps: int = known.get("steps", 0)
        self._seconds: float = known.get("seconds", 0.0)
        self._discarded: list[list[Message]] = [*known.get("discarded", ())]
        self._hands = Hands(sandbox, self._tools, known.get("function_calls", ()))

    @property
    def progress(self) -> dict[str, Any]:
        """All that was said and done so far, for the journal; empty before the first answer."""
        if not self._steps and not self._discarded:
            return {}
        values = (
            *(self._messages, self._observations, self._hands.calls),
            *(self._steps, self._seconds, self._discarded),
        )
        return dict(zip(_PROGRESS, values, strict=True))

    async def run(self, model: ChatModel, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Go on until the agent is done or a limit is reached.

        Args:
            model: who decides.
            parameters: of its requests, beside the tools.

        Returns:
            `outcome` (answered, malformed, refused), `response` (the last word) and `error` (of an agent that
            came to no end; else empty).

        Raises:
            ModelError: no answer; `progress` has what there is.
        """
        while self._steps < self._settings.max_steps and self._seconds < self._settings.max_seconds:
            response = _readable(await model.complete(self.next_request(parameters)))
            self._steps += 1
            self._seconds += response.seconds or 0.0
            turn = self._form.read(response, self._steps)
            self._messages.append(turn.message)
            if response.refused:
                return _end("refused", response.text, "The model refused.")
            if turn.asked:
                told = [
                    self._hands.do(call) if place < MOST_CALLS else _TOO_MANY
                    for place, call in enumerate(turn.asked)
                ]
                self._hands.rest()
                self._observations += told
                self._messages += self._form.observations(turn.asked, told)
                continue
            if not self._observations and len(self._discarded) < self._settings.resample:
                self._begin_again()
                continue
            if turn.final is None:
                return _end("malformed", response.text, NO_ANSWER)
            return _end("answered", turn.final, "")
        return _end("answered", "", ITERATION_LIMIT)

    def next_request(self, parameters: Mapping[str, Any]) -> ChatRequest:
        """What the model is asked next.

        Args:
            parameters: of the request, beside the tools.
        """
        sent = [presentable(message, self._toolset) for message in self._messages]
        parameters = {**parameters, **self._form.parameters(self._tools)}
        if self._discarded:
            parameters["temperature"] = self._settings.resample_temperature
        return ChatRequest(sent, parameters, None, self._work(), role="agent", item=self._task.id)

    def close(self) -> None:
        """Free the memory."""
        self._hands.close()

    def _start(self) -> list[Message]:
        return [
            {
                "role": "system",
                "content": self._form.system(self._sandbox, self._tools),
            },
            {"role": "user", "content": self._task.query},
        ]

    def _begin_again(self) -> None:
        self._discarded.append(self._messages)
        self._messages = self._start()
        self._steps, self._seconds = 0, 0.0

    def _work(self) -> AgentTask:
        react = self._settings.agent == "react"
        return AgentTask(self._task.query, self._sandbox.now, tuple(self._observations), react, self._tools)


def _end(outcome: str, response: str, error: str) -> dict[str, Any]:
    return {"outcome": outcome, "response": response, "error": error}


def _readable(response: ChatResponse) -> ChatResponse:
    """The response in text that files and other servers take."""
    calls = tuple(
        ToolCall(*map(readable, (call.id, call.name, call.arguments))) for call in response.tool_calls
    )
    return replace(response, text=readable(response.text), tool_calls=calls)
