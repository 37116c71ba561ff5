"""Parses a model's answer into the `result` of a prediction line, in the published form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from toolassay.answers import ParsedAnswer, read_answer, shown_forms, without_reasoning
from toolassay.benchmarks.taskbench.prompt import built_in
from toolassay.graph import DependencyType
from toolassay.normalised_plan import decoded, published_arguments
from toolassay.prompt_templates import turns_of

PLAN_KEYS = ("task_steps", "task_nodes", "task_links")
_REQUIRED = ("task_steps", "task_nodes")  # the prompts of resource graphs ask for no links

_PLAN_VARIANTS = {
    "task_steps": ("tool_steps", "taskSteps", "steps"),
    "task_nodes": ("tool_nodes", "taskNodes", "nodes"),
    "task_links": ("tool_links", "taskLinks", "links", "edges"),
}
_NODE_VARIANTS = {
    "task": ("tool", "tool_name", "task_name", "name", "function", "function_name", "id", "action"),
    "arguments": ("args", "parameters", "inputs", "input", "params", "kwargs", "tool_input", "action_input"),
}
_LINK_VARIANTS = {"source": ("from", "src"), "target": ("to", "dst")}
_ARGUMENT_VARIANTS = {"name": ("key", "parameter")}


def read_plan(
    text: str, dependency_type: DependencyType, finish_reason: str | None = None
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """Parse the plan in a model's answer.

    Content is kept as the model wrote it, including unknown tools, wrong types and superfluous steps. Only
    key names are changed to the published ones (`steps` to `task_steps`, a node's `id` to `task`, a link's
    `from` to `source`, …), and only if the published key is absent. Arguments with names given as one object
    become a list of `{"name": …, "value": …}`. Unknown keys are dropped at the top level and kept below.

    Of several plans, the last complete one with steps and nodes is used. An answer that repeats the form
    shown in the prompt is not a plan. A plan must have a list `task_nodes` of objects with a string `task`,
    because the scores need it; any other answer has a `problem`.

    Args:
        text: the raw answer.
        dependency_type: determines the form of arguments.
        finish_reason: the provider's reason for the end of the answer.

    Returns:
        The plan, with those of the keys `task_steps`, `task_nodes` and `task_links` that the answer has, in
        this order; None if no object has any of them. An incomplete plan is returned as well: it counts as an
        answer only if `ParsedAnswer.problem` is None.

    >>> read_plan('{"steps": ["Do it"], "nodes": [{"id": "Doer"}], "links": []}', "resource")[0]
    {'task_steps': ['Do it'], 'task_nodes': [{'task': 'Doer'}], 'task_links': []}
    """
    forms = _forms(dependency_type)
    answer = read_answer(text, keys=PLAN_KEYS, required=_REQUIRED, forms=forms, finish_reason=finish_reason)
    if answer.value is None:
        answer = _read_variants(text, finish_reason) or answer
    if answer.value is None:
        return None, answer
    plan = _published_form(answer.value, dependency_type)
    return plan, answer if answer.problem else answer._replace(problem=problem_of(plan))


def is_strict_plan(text: str) -> bool:
    """Whether an answer, from its first brace to its last one, is a plan in JSON with the published keys.

    The published script has every other answer rewritten. Reasoning is removed first.

    >>> plan = '{"task_steps": ["Go"], "task_nodes": [{"task": "a"}]}'
    >>> is_strict_plan(f"Sure: {plan}"), is_strict_plan(plan[:-1])
    (True, False)
    """
    text, _ = without_reasoning(text)
    try:
        plan = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return False
    return isinstance(plan, dict) and set(_REQUIRED) <= plan.keys() and problem_of(plan) is None


def problem_of(plan: Any) -> str | None:
    """The reason why the scores cannot use a plan; None if they can.

    >>> problem_of({"task_nodes": []}), problem_of({"task_steps": []})
    (None, 'the plan has no list task_nodes')
    """
    nodes = plan.get("task_nodes") if isinstance(plan, Mapping) else None
    if not isinstance(nodes, list):
        return "the plan has no list task_nodes"
    if not all(isinstance(node, dict) and isinstance(node.get("task"), str) for node in nodes):
        return "a node of the plan names no tool"
    return None


@cache
def _forms(dependency_type: DependencyType) -> tuple[dict[str, Any], ...]:
    """The plans that the prompts show as the answer format, including that of the worked example."""
    worked = turns_of(built_in(f"example_{dependency_type}"))[1]["content"]
    texts = (built_in(dependency_type), built_in(f"reformat_{dependency_type}"), worked)
    return shown_forms(texts, keys=PLAN_KEYS, required=_REQUIRED)


def _read_variants(text: str, finish_reason: str | None) -> ParsedAnswer | None:
    """A plan with variants of the key names. It needs nodes, because `steps` alone is too common a word."""
    variants = [key for keys in _PLAN_VARIANTS.values() for key in keys]
    answer = read_answer(text, keys=variants, finish_reason=finish_reason)
    if answer.value is None or answer.value.keys().isdisjoint(_PLAN_VARIANTS["task_nodes"]):
        return None
    return answer


def _published_form(value: Mapping[str, Any], dependency_type: DependencyType) -> dict[str, Any]:
    record = _renamed(value, _PLAN_VARIANTS)
    plan = {
        key: decoded(record[key]) if isinstance(record[key], str) else record[key]
        for key in PLAN_KEYS
        if key in record
    }
    if isinstance(plan.get("task_nodes"), list):
        plan["task_nodes"] = [_node(node, dependency_type) for node in plan["task_nodes"]]
    if isinstance(plan.get("task_links"), list):
        plan["task_links"] = [_renamed(link, _LINK_VARIANTS) for link in plan["task_links"]]
    return plan


def _node(node: Any, dependency_type: DependencyType) -> Any:
    if isinstance(node, dict) and isinstance(node.get("function"), dict):
        node = node["function"]  # a call as OpenAI's API has it
    node = _renamed(node, _NODE_VARIANTS)
    if dependency_type == "resource" or not isinstance(node, dict) or "arguments" not in node:
        return node
    arguments = node["arguments"]
    if isinstance(arguments, list):
        arguments = [_renamed(argument, _ARGUMENT_VARIANTS) for argument in arguments]
    return {**node, "arguments": published_arguments(arguments)}


def _renamed(record: Any, variants: Mapping[str, Sequence[str]]) -> Any:
    """The record with each absent key taken from the first variant it has; anything else unchanged.

    A number is never taken for a tool or a list: an `id` of 0 is a position, not a name.
    """
    if not isinstance(record, Mapping):
        return record
    names: dict[str, str] = {}
    for published, others in variants.items():
        if published not in record:
            variant = next(
                (other for other in others if isinstance(record.get(other), str | list | dict)), None
            )
            if variant is not None:
                names[variant] = published
    return {names.get(key, key): item for key, item in record.items()}
