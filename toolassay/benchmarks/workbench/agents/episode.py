"""One agent on one task: its settings, and the loop that sends the conversation, runs the tool calls and
stops at a limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

from toolassay.benchmarks.workbench.agents.native_and_react import (
    CallFormat,
    Message,
    call_format,
    presentable,
)
from toolassay.benchmarks.workbench.agents.tool_execution import ToolExecutor
from toolassay.benchmarks.workbench.judge.error_classes import ITERATION_LIMIT
from toolassay.benchmarks.workbench.options import MAX_SECONDS, MAX_STEPS
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.benchmarks.workbench.tools import PUBLISHED, Toolset, WorkplaceTool, toolset_of
from toolassay.errors import UsageError
from toolassay.files import readable
from toolassay.models import ChatRequest, ModelError
from toolassay.models.errors import TIME_LIMIT
from toolassay.models.refused_parameters import check_temperature
from toolassay.models.structured_output import Structured
from toolassay.models.wire_format import change_texts
from toolassay.offline.model_tasks import AgentTask
from toolassay.runs.items import Ask

FORMS = ("native", "react", "react_published")
TOOLKIT_CHOICES = ("all", "domains")


@dataclass(frozen=True)
class WorkbenchAgentSettings:
    """Settings of an agent. All of them shape answers, so they are part of the run's manifest.

    Args:
        agent: `native` (tool calls of the model interface), `react` (actions as text), or `react_published`
            (actions as text, parsed exactly as the published agent does).
        toolkit: `all` tools for every task, or only those of the task's `domains`.
        resample: how many times a run that called no tool is restarted.
        max_steps: maximum number of the model's answers.
        max_seconds: maximum sum of the answers' times, in seconds. An answer's time runs from sending the
            request to its last byte, including a queue inside the server, which the client cannot see.
            Waiting for a slot in the client, failed attempts and tool calls do not count.
        resample_temperature: temperature of a restarted run; an identical request would get the same answer.
        structured: whether requests of `react` carry a JSON Schema of the action. "auto": as long as the
            server accepts one. True: a server that refuses it ends the run.

    Raises:
        UsageError: a setting is unknown or out of range.
    """

    agent: str = "native"
    toolkit: str = "all"
    resample: int = 0
    max_steps: int = MAX_STEPS
    max_seconds: float = MAX_SECONDS
    resample_temperature: float = 0.5
    structured: Structured = False

    def __post_init__(self) -> None:
        for flag, value, choices in (
            ("agent", self.agent, FORMS),
            ("toolkit", self.toolkit, TOOLKIT_CHOICES),
        ):
            if value not in choices:
                raise UsageError(
                    f"unknown --{flag} {value!r}", fix=f"for WorkBench choose from {', '.join(choices)}"
                )
        if self.structured and self.agent != "react":
            raise UsageError(
                f"--structured {str(self.structured).lower()}: the agent {self.agent} sends no schema",
                fix="omit it, or choose --agent react",
            )
        if self.resample < 0 or self.max_steps < 1:
            raise UsageError(
                f"--max_steps {self.max_steps}, --resample {self.resample}: out of range",
                fix="give --max_steps 1 or more and --resample 0 or more",
            )
        if not 0 < self.max_seconds < float("inf"):
            raise UsageError(
                f"--max_seconds {self.max_seconds:g} is out of range", fix="give a finite number above 0"
            )
        check_temperature(self.resample_temperature, flag="--resample_temperature")

    @property
    def facts(self) -> dict[str, Any]:
        """The settings for the manifest, without those that have no effect."""
        left_out = {
            *(() if self.resample else ("resample_temperature",)),
            *(() if self.structured else ("structured",)),
        }
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @property
    def is_structured(self) -> bool:
        """Whether requests carry a JSON Schema of the action."""
        return bool(self.structured)

    def tools(self, task: Task, toolset: Toolset = PUBLISHED) -> list[WorkplaceTool]:
        """The tools that the agent gets for a task."""
        return toolset.of_domains(None if self.toolkit == "all" else task.domains)


MOST_CALLS = 100
"""Maximum number of calls in one answer; further ones fail."""
_TOO_MANY = f"Error: not carried out: more than {MOST_CALLS} calls in one answer"
NO_ANSWER = "The model said nothing that can be read."
Limit = Literal["steps", "time"]
"""The limit that ended a task. The published error text does not distinguish them."""


class Episode:
    """One task on its own copy of the sandbox.

    Args:
        task: the task; the agent sees only its request.
        sandbox: the state before every run.
        settings: of the agent.
        form: the call format, if it is shared with other episodes.
        tools: the tools as the agent sees them; None for those of the settings.
    """

    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        settings: WorkbenchAgentSettings,
        form: CallFormat | None = None,
        *,
        tools: Sequence[WorkplaceTool] | None = None,
    ) -> None:
        self._task, self._sandbox, self._settings = task, sandbox, settings
        self._form = form or call_format(settings.agent, structured=settings.is_structured)
        self._toolset = toolset_of(sandbox)
        self._tools = settings.tools(task, self._toolset) if tools is None else tools
        self._messages: list[Message] = self._start()
        self._observations: list[str] = []
        self._steps, self._seconds, self._discarded, self._cut_off = 0, 0.0, 0, False
        self._executor = ToolExecutor(sandbox, self._tools)

    @property
    def record(self) -> dict[str, Any]:
        """The conversation and the calls so far; `cut_off` if the last answer ended at a token limit."""
        made = {"messages": self._messages, "function_calls": self._executor.calls, "steps": self._steps}
        return {**made, **({"cut_off": True} if self._cut_off else {})}

    async def run(self, ask: Ask, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Go on until the agent is done or a limit is reached.

        Args:
            ask: gives the answers of the model, and the results of calls as they were recorded.
            parameters: of its requests, besides the tools.

        Returns:
            `outcome` (answered, malformed or refused), `response` (the final answer), `error` (empty unless
            the agent did not finish) and, if a limit ended the task, `limit` ("steps" or "time").

        Raises:
            ModelError: a request got no answer.
        """
        while self._steps < self._settings.max_steps and self._seconds < self._settings.max_seconds:
            try:
                response = await ask(self.next_request(parameters))
                response = change_texts(response, readable)  # neither files nor servers accept half a pair
            except ModelError as error:
                if error.kind != TIME_LIMIT:
                    raise
                self._seconds = self._settings.max_seconds  # the attempt used up the remaining time
                break
            self._steps += 1
            self._seconds += response.seconds or 0.0
            self._cut_off = response.is_cut_off
            turn = self._form.read(response, self._steps)
            self._messages.append(turn.message)
            if response.refused:
                return _end("refused", response.text, "The model refused.")
            if turn.asked:
                results = [
                    ask.result(partial(self._executor.execute, call)) if place < MOST_CALLS else _TOO_MANY
                    for place, call in enumerate(turn.asked)
                ]
                self._executor.set_aside()
                self._observations += results
                self._messages += self._form.observations(turn.asked, results)
                continue
            # Only a run without any tool call is restarted, so no effect on the workplace has to be undone.
            if not self._observations and self._discarded < self._settings.resample:
                self._discarded += 1
                self._messages = self._start()
                self._steps, self._seconds = 0, 0.0
                continue
            if turn.final is None:
                return _end("malformed", response.text, NO_ANSWER)
            return _end("answered", turn.final, "")
        limit: Limit = "time" if self._seconds >= self._settings.max_seconds else "steps"
        return {**_end("answered", "", ITERATION_LIMIT), "limit": limit}

    def next_request(self, parameters: Mapping[str, Any]) -> ChatRequest:
        """The next request to the model.

        Args:
            parameters: of the request, besides the tools.
        """
        sent = [presentable(message, self._toolset) for message in self._messages]
        parameters = {**parameters, **self._form.parameters(self._tools)}
        if self._discarded:
            parameters["temperature"] = self._settings.resample_temperature
        left = self._settings.max_seconds - self._seconds
        return ChatRequest(sent, parameters, left, self._work(), role="agent")

    def close(self) -> None:
        """Free the memory of the copy."""
        self._executor.close()

    def _start(self) -> list[Message]:
        return [
            {
                "role": "system",
                "content": self._form.system(self._sandbox, self._tools),
            },
            {"role": "user", "content": self._task.query},
        ]

    def _work(self) -> AgentTask:
        react = self._settings.agent != "native"
        return AgentTask(self._task.query, self._sandbox.now, tuple(self._observations), react, self._tools)


def _end(outcome: str, response: str, error: str) -> dict[str, Any]:
    return {"outcome": outcome, "response": response, "error": error}
