"""What the offline models say to a chat request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest
from toolassay.offline.model import OfflineModel
from toolassay.offline.tasks import PlanTask
from toolassay.serving.completions import Received, Reply, text_of
from toolassay.serving.conversations import conversation_task
from toolassay.serving.prompts import PromptReader
from toolassay.serving.tool_calls import calls_of, graph_of

WHAT_IT_KNOWS = (
    "This server answers by rules, not with a language model. It knows the built-in prompts of toolassay "
    "infer (for all three benchmarks) and toolassay generate, and plans calls where a request brings tools; "
    "this was neither."
)
NO_TOOL = "None of the tools fits this request."
DONE = "The calls are done."
_KEPT = 16  # libraries


class OfflineAnswers:
    """Plans, steps of an agent, choices, requests with gold plans and tool calls, by the offline models.

    A prompt that is none of ours is answered with a sentence that says so.

    Args:
        known: graphs that prompts will show the tools of (see `PromptReader`).
    """

    def __init__(self, known: Sequence[ToolGraph] = ()) -> None:
        self._reader = PromptReader(known)
        self._model = OfflineModel()
        self._functions = lru_cache(_KEPT)(graph_of)

    async def __call__(self, received: Received) -> Reply:
        """Answer a request.

        Raises:
            UsageError: `tools` is malformed.
        """
        if (asked := conversation_task(received.body)) is not None:
            response = await self._model.complete(ChatRequest([], task=asked))
            return Reply(response.text, response.tool_calls)
        tools = received.body.get("tools")
        if tools and received.body.get("tool_choice") != "none":
            return await self._call_tools(received, tools)
        task = self._reader.task(received.prompt)
        if task is None:
            return Reply(WHAT_IT_KNOWS)
        response = await self._model.complete(ChatRequest([], task=task))
        return Reply(response.text)

    async def _call_tools(self, received: Received, tools: object) -> Reply:
        """All calls at once; when their results come back, the end."""
        messages = received.body["messages"]
        if messages[-1].get("role") == "tool":
            return Reply(DONE)
        try:
            graph = self._functions(json.dumps(tools))
        except (ValueError, TypeError) as error:
            raise UsageError(f"'tools' cannot be read: {error}") from error
        asked = [text_of(message) for message in messages if message.get("role") == "user"]
        task = PlanTask(asked[-1] if asked else received.prompt, graph)
        response = await self._model.complete(ChatRequest([], task=task))
        calls = calls_of(json.loads(response.text), json.loads(json.dumps(tools)))
        return Reply(tool_calls=calls) if calls else Reply(NO_TOOL)
