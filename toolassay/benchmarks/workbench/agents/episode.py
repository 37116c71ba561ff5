"""One task in the hands of one agent: ask, carry out, tell, until it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from toolassay.benchmarks.workbench.agents.forms import Form, Message, form_of, presentable
from toolassay.benchmarks.workbench.agents.hands import Hands
from toolassay.benchmarks.workbench.agents.settings import AgentSettings
from toolassay.benchmarks.workbench.judge.classes import ITERATION_LIMIT
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import Tool, toolset_of
from toolassay.files import readable
from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError, ToolCall
from toolassay.models.errors import TIME_LIMIT
from toolassay.offline.tasks import AgentTask

MOST_CALLS = 100
"""Calls of one answer that are carried out."""
_TOO_MANY = f"Error: not carried out: more than {MOST_CALLS} calls in one answer"
NO_ANSWER = "The model said nothing that can be read."
Limit = Literal["steps", "time"]
"""What ended a task before its agent did; the published error names both in one sentence."""
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
        self._form = form or form_of(settings.agent, structured=settings.is_structured)
        self._toolset = toolset_of(sandbox)
        self._tools = settings.tools(task, self._toolset) if tools is None else tools
        known = progress or {}
        self._messages: list[Message] = [*known.get("messages", self._start())]
        self._observations: list[str] = [*known.get("observations", ())]
        self._steps: int = known.get("steps", 0)
        self._seconds: float = known.get("seconds", 0.0)
        self._discarded: list[list[Message]] = [*known.get("discarded", ())]
        self._cut_off: bool = known.get("cut_off", False)
        self._reasoning: list[dict[str, Any]] = [*known.get("reasoning", ())]
        self._hands = Hands(sandbox, self._tools, known.get("function_calls", ()))

    @property
    def progress(self) -> dict[str, Any]:
        """All that was said and done so far, for the journal; empty before an answer, or a time limit.

        `cut_off`, where the last answer ended at a token limit; `reasoning`, where the model's thoughts were
        sent apart: a list of `try` (from 0), `step` (from 1) and `text`.
        """
        if not self._steps and not self._discarded and not self._seconds:
            return {}
        values = (
            *(self._messages, self._observations, self._hands.calls),
            *(self._steps, self._seconds, self._discarded),
        )
        some = {"cut_off": self._cut_off, "reasoning": self._reasoning}
        always = dict(zip(_PROGRESS, values, strict=True))
        return always | {name: value for name, value in some.items() if value}

    async def run(self, model: ChatModel, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Go on until the agent is done or a limit is reached.

        Args:
            model: who decides.
            parameters: of its requests, beside the tools.

        Returns:
            `outcome` (answered, malformed, refused), `response` (the last word), `error` (of an agent that
            came to no end; else empty) and, where a limit ended the task, `limit` ("steps" or "time").

        Raises:
            ModelError: no answer; `progress` has what there is.
        """
        while self._steps < self._settings.max_steps and self._seconds < self._settings.max_seconds:
            try:
                response = _readable(await model.complete(self.next_request(parameters)))
            except ModelError as error:
                if error.kind != TIME_LIMIT:
                    raise
                self._seconds = self._settings.max_seconds  # the attempt took all that was left
                break
            self._steps += 1
            self._seconds += response.seconds or 0.0
            self._note(response)
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
        limit: Limit = "time" if self._seconds >= self._settings.max_seconds else "steps"
        return {**_end("answered", "", ITERATION_LIMIT), "limit": limit}

    def next_request(self, parameters: Mapping[str, Any]) -> ChatRequest:
        """What the model is asked next.

        Args:
            parameters: of the request, beside the tools.
        """
        sent = [presentable(message, self._toolset) for message in self._messages]
        parameters = {**parameters, **self._form.parameters(self._tools)}
        if self._discarded:
            parameters["temperature"] = self._settings.resample_temperature
        left = self._settings.max_seconds - self._seconds
        return ChatRequest(sent, parameters, left, self._work(), role="agent", item=self._task.id)

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

    def _note(self, response: ChatResponse) -> None:
        """Keep what the conversation does not hold: thoughts are not sent back."""
        self._cut_off = response.is_cut_off
        if response.reasoning:
            place = {"try": len(self._discarded), "step": self._steps}
            self._reasoning.append({**place, "text": response.reasoning})

    def _begin_again(self) -> None:
        self._discarded.append(self._messages)
        self._messages = self._start()
        self._steps, self._seconds = 0, 0.0

    def _work(self) -> AgentTask:
        react = self._settings.agent != "native"
        return AgentTask(self._task.query, self._sandbox.now, tuple(self._observations), react, self._tools)


def _end(outcome: str, response: str, error: str) -> dict[str, Any]:
    return {"outcome": outcome, "response": response, "error": error}


def _readable(response: ChatResponse) -> ChatResponse:
    """The response in text that files and other servers take."""
    calls = tuple(
        ToolCall(*map(readable, (call.id, call.name, call.arguments))) for call in response.tool_calls
    )
    text, reasoning = readable(response.text), readable(response.reasoning)
    return replace(response, text=text, reasoning=reasoning, tool_calls=calls)
