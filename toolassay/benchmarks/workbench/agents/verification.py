"""Re-runs a recorded task: the answers come from the journal, and the calls are executed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolassay.benchmarks.workbench.agents.episode import Episode, WorkbenchAgentSettings
from toolassay.benchmarks.workbench.agents.inference import OVERFLOW
from toolassay.benchmarks.workbench.judge.error_classes import CONTEXT_OVERFLOW
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import Task
from toolassay.models import ChatRequest, ChatResponse, ModelError, ToolCall
from toolassay.models.errors import TIME_LIMIT


class JournalModel:
    """A model that replays the answers recorded in a journal entry.

    Args:
        entry: of a completed task.
    """

    name = "recorded"

    def __init__(self, entry: Mapping[str, Any]) -> None:
        talks = [*entry.get("discarded", ()), entry.get("messages", ())]
        self._says = [message for talk in talks for message in talk if message["role"] == "assistant"]
        self._says.reverse()
        self._overflows = entry.get("outcome") == OVERFLOW
        self._refuses = entry.get("outcome") == "refused"
        self._timed_out = entry.get("limit") == "time"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """The next recorded answer.

        Raises:
            ModelError: the recorded conversation has no further answer.
        """
        if not self._says:
            raise ModelError(
                "the recorded conversation ends here",
                outcome="context overflow" if self._overflows else "not run",
                kind=TIME_LIMIT if self._timed_out else "failed",
            )
        said = self._says.pop()
        calls = [
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in said.get("tool_calls", ())
        ]
        refused = self._refuses and not self._says
        return ChatResponse(said["content"] or "", tool_calls=tuple(calls), refused=refused)

    async def close(self) -> None:
        """Do nothing: the model holds no resources."""


async def rerun_entry(
    task: Task, sandbox: Sandbox, settings: WorkbenchAgentSettings, entry: Mapping[str, Any]
) -> dict[str, Any]:
    """Recompute the journal entry of a completed task from the recorded answers alone.

    Args:
        task: the task.
        sandbox: the state before every run.
        settings: of the run.
        entry: the recorded entry.

    Returns:
        `query`, `function_calls`, `outcome`, `error` and `observations`.
    """
    # The re-run must stop where the run did. A run ended by its context or by time made one more request,
    # which got no answer; `JournalModel` then raises the same error.

    further = entry.get("outcome") == OVERFLOW or entry.get("limit") == "time"
    settings = replace(settings, max_steps=max(1, int(entry.get("steps", 0)) + further))
    episode = Episode(task, sandbox, settings)
    try:
        end = await episode.run(JournalModel(entry), {})
    except ModelError as error:
        message = CONTEXT_OVERFLOW if error.outcome == OVERFLOW else str(error)
        end = {"outcome": error.outcome, "error": message}
    finally:
        episode.close()
    made = {"function_calls": [], "observations": [], **episode.progress}
    return {
        "query": task.query,
        "outcome": end["outcome"],
        "error": end["error"],
        "function_calls": made["function_calls"],
        "observations": made["observations"],
    }
