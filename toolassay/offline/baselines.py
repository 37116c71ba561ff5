"""`--llm nothing` and `--llm random`: what a score is worth that takes no understanding at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from toolassay.errors import ToolassayError
from toolassay.models import ChatRequest, ChatResponse, ModelOptions, ToolCall
from toolassay.offline.model_tasks import AgentTask, CallableTool, ChoiceTask, PlanTask
from toolassay.tools import Tool

MOST_TOOLS = 5
"""Tools of a random plan, and calls of a random agent, at most; each number from 1 on is as likely."""
_DONE = "Done."
_WORD = re.compile(r"\w[^\s,;:!?\"'()]*")  # takes menu.jpg and 5pm, leaves a dash that stands alone
_LONGEST_REQUEST = 10_000  # characters that words are drawn from
Draw = Callable[[Any, Random], ChatResponse]


class Baseline:
    """A model that answers requests, and plays no other role, without looking at what is asked.

    Like the offline model it acts on `ChatRequest.task`, which holds the tools and never the gold. An answer
    depends on the seed, the item and its request alone, not on the order of the calls.

    Args:
        name: "nothing" (an empty plan, no call, no workflow) or "random" (drawn from the tools offered).
        seed: of the draws.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._seed = seed

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer without understanding.

        Raises:
            ToolassayError: the work is not that of `infer`.
        """
        task, is_random = request.task, self.name == "random"
        if isinstance(task, PlanTask):
            return _plan(task, self._dice(request, task.request) if is_random else None)
        if isinstance(task, AgentTask):
            return _turn(task, self._dice(request, task.request) if is_random else None)
        if isinstance(task, ChoiceTask):
            words = "\n".join((task.chat[-1][1], *(name for name, _ in task.candidates)))
            return _choice(task, self._dice(request, words) if is_random else None)
        raise ToolassayError(
            f"'{self.name}' is a baseline and cannot be the {request.role}: it only answers requests",
            fix="name another model",
        )

    async def close(self) -> None:
        """Nothing to let go of."""

    def _dice(self, request: ChatRequest, text: str) -> Random:
        return Random(f"{self._seed}\n{request.item}\n{text}")  # a text seeds alike on every machine


def create(name: str, options: ModelOptions) -> Baseline:
    """The baseline of a name; `seed` in `--extra_body` is its seed, as that of a served model would be."""
    seed = options.extra_body.get("seed")
    return Baseline(name, seed if type(seed) is int else 0)


def _plan(task: PlanTask, dice: Random | None) -> ChatResponse:
    """A plan of the kind of the library: of resources, or of calls with parameters one after the other.

    A resource tool takes the output of an earlier one in one of its slots, as far as it has any; every other
    value is a word of the request.
    """
    steps, nodes, links = list[str](), list[dict[str, Any]](), list[dict[str, str]]()
    library = task.graph.library.tools
    if dice is not None:
        words = _words(task.request)
        tools = dice.sample(library, dice.randint(1, min(MOST_TOOLS, len(library))))
        is_resource = task.graph.dependency_type == "resource"
        for number, tool in enumerate(tools):
            before = dice.randrange(number) if number and is_resource else number - 1
            arguments, linked = _arguments(tool, before, words, dice, is_resource=is_resource)
            steps.append(f"Step {number + 1}: Call {tool.id}")
            nodes.append({"task": tool.id, "arguments": arguments})
            if linked:
                links.append({"source": tools[before].id, "target": tool.id})
    plan = {"task_steps": steps, "task_nodes": nodes, "task_links": links}
    return ChatResponse(json.dumps(plan, ensure_ascii=False))


def _arguments(
    tool: Tool, before: int, words: Sequence[str], dice: Random, *, is_resource: bool
) -> tuple[list[Any], bool]:
    """The arguments of a tool, and whether it follows node `before` (-1 for none)."""
    if not is_resource:
        names = [parameter.name for parameter in tool.parameters]
        return [{"name": name, "value": dice.choice(words)} for name in names], before >= 0
    arguments = [dice.choice(words) for _ in tool.inputs]
    linked = before >= 0 and bool(arguments)
    if linked:
        arguments[dice.randrange(len(arguments))] = f"<node-{before}>"
    return arguments, linked


def _turn(task: AgentTask, dice: Random | None) -> ChatResponse:
    """The next of the calls that the agent drew at its start; it hears nothing of what they return."""
    calls = list[tuple[CallableTool, dict[str, Any]]]()
    if dice is not None and task.tools:
        words = _words(task.request)
        for _ in range(dice.randint(1, MOST_TOOLS)):
            tool = dice.choice(task.tools)
            calls.append((tool, _values(tool.parameters, words, dice)))
    number = len(task.observations)
    if number >= len(calls):
        return ChatResponse(_action("Final Answer", _DONE) if task.react else _DONE)
    tool, values = calls[number]
    if task.react:
        return ChatResponse(_action(tool.name, values))
    call = ToolCall(f"call_{number}", tool.function_name, json.dumps(values, ensure_ascii=False))
    return ChatResponse("", "tool_calls", tool_calls=(call,))


def _action(name: str, given: object) -> str:
    action = json.dumps({"action": name, "action_input": given}, ensure_ascii=False)
    return f"Action:\n```\n{action}\n```"


def _values(schema: Mapping[str, Any], words: Sequence[str], dice: Random) -> dict[str, Any]:
    """A value for each argument that is required, and for every second one that is not."""
    needed = schema.get("required", ())
    return {
        name: _value(argument, words, dice)
        for name, argument in schema.get("properties", {}).items()
        if name in needed or dice.random() < 0.5
    }


def _value(schema: Mapping[str, Any], words: Sequence[str], dice: Random) -> Any:
    """A value of the type that a JSON Schema names first; a text is a word of the request."""
    if choices := schema.get("enum"):
        return dice.choice(list(choices))
    if branches := schema.get("anyOf"):
        return _value(branches[0], words, dice)
    kind = schema.get("type")
    if kind == "array":
        return [_value(schema.get("items", {}), words, dice)]
    if kind == "object":
        return _values(schema, words, dice)
    numbers: dict[Any, Callable[[], Any]] = {
        "boolean": lambda: dice.random() < 0.5,
        "integer": lambda: dice.randint(1, 10),
        "number": lambda: float(dice.randint(1, 10)),
        "null": lambda: None,
    }
    return numbers[kind]() if isinstance(kind, str) and kind in numbers else dice.choice(words)


def _choice(task: ChoiceTask, dice: Random | None) -> ChatResponse:
    """One of the workflows offered, each as likely; none of an empty list."""
    names = [name for name, _ in task.candidates]
    name = dice.choice(names) if dice is not None and names else task.nothing
    if task.as_call:
        return ChatResponse("", "tool_calls", tool_calls=(ToolCall("call_0", name, "{}"),))
    return ChatResponse(json.dumps({"workflow": name}, ensure_ascii=False))


def _words(request: str) -> list[str]:
    return _WORD.findall(request[:_LONGEST_REQUEST]) or ["anything"]
