"""From a model's answer to the `result` of a prediction line, in the published form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from toolassay.answers import ParsedAnswer, read_answer, shown_forms
from toolassay.benchmarks.taskbench.prompt import built_in
from toolassay.graph import DependencyType
from toolassay.prompt_templates import turns_of

PLAN_KEYS = ("task_steps", "task_nodes", "task_links")
_REQUIRED = ("task_steps", "task_nodes")  # what every prompt asks for; links only the temporal one

_PLAN_VARIANTS = {
    "task_steps": ("tool_steps", "taskSteps", "steps"),
    "task_nodes": ("tool_nodes", "taskNodes", "nodes"),
    "task_links": ("tool_links", "taskLinks", "links", "edges"),
}
_NODE_VARIANTS = {
    "task": ("tool", "tool_name", "task_name", "name", "id"),
    "arguments": ("args", "parameters", "inputs", "input"),
}
_LINK_VARIANTS = {"source": ("from", "src"), "target": ("to", "dst")}
_ARGUMENT_VARIANTS = {"name": ("key", "parameter")}


def read_plan(
    text: str, dependency_type: DependencyType, finish_reason: str | None = None
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """The plan in a model's answer, and how it was read.

    What the model said is kept, right or wrong: unknown tools, wrong types, a step too many. Only the
    names of keys are brought to the published ones (`steps` for `task_steps`, `id` for a node's `task`,
    `from` for a link's `source`, …), and only where the published key is absent; temporal arguments
    given as one object become a list of `{"name": …, "value": …}`. Keys outside the published form are
    dropped at the top and kept below.

    Of several plans the last complete one with steps and nodes counts. The form that the prompt shows,
    repeated, is no plan. An answer is a plan if it has a list `task_nodes` of objects with a text `task`, as
    the scores need it; any other has a `problem`.

    Args:
        text: the answer as it came.
        dependency_type: "resource" or "temporal"; says what arguments look like.
        finish_reason: why the model stopped, as the provider says.

    Returns:
        The plan, with the keys `task_steps`, `task_nodes`, `task_links` as far as the answer has them,
        in this order; None if there is no object with one of them. What is no complete plan is returned as
        far as it goes: it is the answer only if `ParsedAnswer.problem` is None.

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


def problem_of(plan: Any) -> str | None:
    """Why the scores cannot use a plan; None if they can.

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
    """The plans that the prompts show as the form of an answer, that of the worked example included."""
    worked = turns_of(built_in(f"example_{dependency_type}"))[1]["content"]
    texts = (built_in(dependency_type), built_in(f"reformat_{dependency_type}"), worked)
    return shown_forms(texts, keys=PLAN_KEYS, required=_REQUIRED)


def _read_variants(text: str, finish_reason: str | None) -> ParsedAnswer | None:
    """A plan under other names. Its nodes must be there: `steps` alone is too common a word."""
    variants = [key for keys in _PLAN_VARIANTS.values() for key in keys]
    answer = read_answer(text, keys=variants, finish_reason=finish_reason)
    if answer.value is None or answer.value.keys().isdisjoint(_PLAN_VARIANTS["task_nodes"]):
        return None
    return answer


def _published_form(value: Mapping[str, Any], dependency_type: DependencyType) -> dict[str, Any]:
    record = _renamed(value, _PLAN_VARIANTS)
    plan = {key: _decoded(record[key]) for key in PLAN_KEYS if key in record}
    if isinstance(plan.get("task_nodes"), list):
        plan["task_nodes"] = [_node(node, dependency_type) for node in plan["task_nodes"]]
    if isinstance(plan.get("task_links"), list):
        plan["task_links"] = [_renamed(link, _LINK_VARIANTS) for link in plan["task_links"]]
    return plan


def _decoded(item: Any) -> Any:
    """A list written as JSON inside a string, as the hub's data have it; anything else as it is."""
    if not isinstance(item, str) or not item.lstrip().startswith("["):
        return item
    try:
        value = json.loads(item)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # not JSON, or nothing that could be written again
        return item
    return value


def _node(node: Any, dependency_type: DependencyType) -> Any:
    node = _renamed(node, _NODE_VARIANTS)
    if dependency_type != "temporal" or not isinstance(node, dict) or "arguments" not in node:
        return node
    arguments = node["arguments"]
    if isinstance(arguments, dict):
        # Parameter names as keys, the way function calls are written.
        arguments = [{"name": name, "value": value} for name, value in arguments.items()]
    elif isinstance(arguments, list):
        arguments = [_renamed(argument, _ARGUMENT_VARIANTS) for argument in arguments]
    return {**node, "arguments": arguments}


def _renamed(record: Any, variants: Mapping[str, Sequence[str]]) -> Any:
    """The record with each absent key filled from the first variant it has; anything else as it is.

    A number never stands for a tool or a list: an `id` of 0 is a place, not a name.
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
