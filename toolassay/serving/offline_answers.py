"""`OfflineAnswers`: answers chat requests with the offline models, function calling included."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ToolCall
from toolassay.offline.model_tasks import PlanTask
from toolassay.offline.offline_model import OfflineModel
from toolassay.serving.completions import Received, Reply, text_of
from toolassay.serving.prompt_reader import PromptReader, conversation_task
from toolassay.tools import Tool, ToolLibrary, parameters_of

_KINDS = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


def graph_of(tools: str) -> ToolGraph:
    """The functions in a request's `tools`, as a temporal graph.

    Args:
        tools: The `tools` as JSON text.

    Raises:
        UsageError: There is no function, or two have the same name.
        ValueError: An entry is not a function.
    """
    return ToolGraph.build(ToolLibrary([_tool(item) for item in json.loads(tools)]), "temporal")


def calls_of(plan: Mapping[str, Any], tools: Sequence[Any]) -> list[ToolCall]:
    """The tool calls of a plan, without ids; values that do not have the type of their schema are omitted."""
    schemas = {item["function"]["name"]: _properties(item["function"]) for item in tools}
    calls = []
    for node in plan["task_nodes"]:
        typed = {
            argument["name"]: _typed(argument["value"], schemas[node["task"]].get(argument["name"], {}))
            for argument in node["arguments"]
        }
        arguments = {name: value for name, value in typed.items() if value is not None}
        calls.append(ToolCall("", node["task"], json.dumps(arguments, ensure_ascii=False)))
    return calls


def _tool(item: Any) -> Tool:
    function = item.get("function") if isinstance(item, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError("every entry of 'tools' needs a function with a name")
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {"type": "object"}
    description = str(function.get("description") or "")
    return Tool(function["name"], description, parameters=parameters_of(schema), input_schema=schema)


def _properties(function: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    schema = function.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: value if isinstance(value, dict) else {} for name, value in properties.items()}


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a text to the number or boolean that its schema requires; None if it is not one.

    Other values have their type already.

    >>> _typed("3", {"type": "integer"}), _typed("three", {"type": "integer"}), _typed("3", {})
    (3, None, '3')
    """
    wanted = _KINDS.get(str(schema.get("type")))
    if wanted is None or not isinstance(value, str):
        return value
    try:
        read = json.loads(value.casefold())
    except ValueError:
        return None
    return read if type(read) in wanted else None


WHAT_IT_KNOWS = (
    "This server answers by rules, not with a language model. It knows the built-in prompts of toolassay "
    "infer (for all three benchmarks) and toolassay generate, and plans calls for requests with tools; "
    "this request is neither."
)
NO_TOOL = "None of the tools fits this request."
DONE = "The calls are done."
_KEPT = 16  # graphs of functions that are cached


class OfflineAnswers:
    """Answers with the offline models: plans, agent steps, choices, Back-Instruct samples and tool calls.

    The answer to any other prompt is `WHAT_IT_KNOWS`.

    Args:
        known: Graphs whose tools prompts will show (see `PromptReader`).
    """

    def __init__(self, known: Sequence[ToolGraph] = ()) -> None:
        self._reader = PromptReader(known)
        self._model = OfflineModel()
        self._functions = lru_cache(_KEPT)(graph_of)

    async def __call__(self, received: Received) -> Reply:
        """Answer a request.

        Raises:
            UsageError: Its `tools` are malformed.
        """
        if (asked := conversation_task(received.body, self._reader.graphs)) is not None:
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
        """Make all calls in one turn; after their results, end the conversation."""
        messages = received.body["messages"]
        if messages[-1].get("role") == "tool":
            return Reply(DONE)
        try:
            graph = self._functions(json.dumps(tools))
        except (ValueError, TypeError) as error:
            raise UsageError(f"'tools' cannot be parsed: {error}") from error
        asked = [text_of(message) for message in messages if message.get("role") == "user"]
        task = PlanTask(asked[-1] if asked else received.prompt, graph)
        response = await self._model.complete(ChatRequest([], task=task))
        calls = calls_of(json.loads(response.text), json.loads(json.dumps(tools)))
        return Reply(tool_calls=calls) if calls else Reply(NO_TOOL)
