"""The baselines `--llm nothing` and `--llm random`: the scores of models that understand nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from toolassay.argument_values.places import ValuePlace, filled_arguments
from toolassay.errors import ToolassayError
from toolassay.files.data_files import unescaped_json
from toolassay.models import ChatRequest, ChatResponse, ModelOptions
from toolassay.offline.model_tasks import (
    AgentTask,
    ChoiceTask,
    PlanTask,
    agent_calls,
    agent_end,
    choice_answer,
)
from toolassay.tools.library import Tool

MOST_TOOLS = 5
"""The most tools of a random plan and calls of a random agent; each number from 1 on is equally likely."""
# "menu.jpg" and "5pm", but not a dash between blanks.
_WORD = re.compile(r"\w[^\s,;:!?\"'()]*")
_LONGEST_REQUEST = 10_000  # characters that words are drawn from
Draw = Callable[[Any, Random], ChatResponse]


class Baseline:
    """A model for `infer` only, which answers requests without understanding them.

    Like the offline model it acts on `ChatRequest.task`, which holds the tools and never the gold. An answer
    depends only on the seed, the item and its request, not on the order of calls.

    Args:
        name: "nothing" (an empty plan, no call, no workflow) or "random" (drawn from the tools offered).
        seed: of the draws.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self.name = name
        self._seed = seed

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer with nothing, or at random.

        Raises:
            ToolassayError: the task is not one of `infer`.
        """
        task = request.task
        is_random = self.name == "random"
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
        """Do nothing: there is no connection."""

    def _dice(self, request: ChatRequest, text: str) -> Random:
        return Random(f"{self._seed}\n{request.item}\n{text}")  # a text gives the same seed everywhere


def create(name: str, options: ModelOptions) -> Baseline:
    """The baseline of a name. `seed` in `--extra_body` is its seed, as for a served model."""
    seed = options.extra_body.get("seed")
    return Baseline(name, seed if type(seed) is int else 0)


def _plan(task: PlanTask, dice: Random | None) -> ChatResponse:
    """A random plan of resource tools, or of a chain of calls with parameters; None draws the empty plan.

    A resource tool takes the output of an earlier one in one of its inputs, if it has any. Every other value
    is a word of the request.
    """
    steps = list[str]()
    nodes = list[dict[str, Any]]()
    links = list[dict[str, str]]()
    library = task.graph.library.tools
    if dice is not None:
        words = _words(task.request)
        tools = dice.sample(library, dice.randint(1, min(MOST_TOOLS, len(library))))
        is_resource = task.graph.dependency_type == "resource"
        for number, tool in enumerate(tools):
            previous = dice.randrange(number) if number and is_resource else number - 1
            arguments, linked = _arguments(tool, previous, words, dice, is_resource=is_resource)
            steps.append(f"Step {number + 1}: Call {tool.id}")
            nodes.append({"task": tool.id, "arguments": arguments})
            if linked:
                links.append({"source": tools[previous].id, "target": tool.id})
    plan = {"task_steps": steps, "task_nodes": nodes, "task_links": links}
    return ChatResponse(unescaped_json(plan))


def _arguments(
    tool: Tool, previous: int, words: Sequence[str], dice: Random, *, is_resource: bool
) -> tuple[list[Any], bool]:
    """The arguments of a tool, and whether it follows node `previous` (-1 for none)."""
    if not is_resource:
        if tool.input_schema is not None:

            def drawn(place: ValuePlace) -> Any:
                schema = {"enum": place.choices} if place.choices else {"type": place.kind}
                return _value(schema, words, dice)

            return filled_arguments(tool, 2, drawn), previous >= 0
        names = [parameter.name for parameter in tool.parameters]
        return [{"name": name, "value": dice.choice(words)} for name in names], previous >= 0
    inputs = [dice.choice(words) for _ in tool.inputs]
    linked = previous >= 0 and bool(inputs)
    if linked:
        inputs[dice.randrange(len(inputs))] = f"<node-{previous}>"
    return inputs, linked


def _turn(task: AgentTask, dice: Random | None) -> ChatResponse:
    """The next of the calls that the agent drew at its start, whatever the earlier ones returned."""
    calls = list[tuple[str, dict[str, Any]]]()
    if dice is not None and task.tools:
        words = _words(task.request)
        for _ in range(dice.randint(1, MOST_TOOLS)):
            tool = dice.choice(task.tools)
            calls.append((tool.name, _values(tool.parameters, words, dice)))
    left = calls[len(task.observations) :]
    return agent_calls(task, left[:1]) if left else agent_end(task)


def _values(schema: Mapping[str, Any], words: Sequence[str], dice: Random) -> dict[str, Any]:
    """A value for each required argument, and for each optional one with probability 0.5."""
    required = schema.get("required", ())
    return {
        name: _value(argument, words, dice)
        for name, argument in schema.get("properties", {}).items()
        if name in required or dice.random() < 0.5
    }


def _value(schema: Mapping[str, Any], words: Sequence[str], dice: Random) -> Any:
    """A value of the first type of a JSON Schema; a text is a word of the request."""
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
    """One of the candidates, each equally likely; the name for none if there are no candidates."""
    names = [name for name, _ in task.candidates]
    return choice_answer(task, dice.choice(names) if dice is not None and names else task.nothing)


def _words(request: str) -> list[str]:
    return _WORD.findall(request[:_LONGEST_REQUEST]) or ["anything"]
