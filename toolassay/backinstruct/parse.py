"""From a model's answer to the `result` of a raw record."""

from __future__ import annotations

from functools import cache
from typing import Any

from toolassay.answers import Answer, read_answer, shown_forms
from toolassay.backinstruct.prompt import built_in
from toolassay.graph import DependencyType
from toolassay.wordings import turns_of

KEYS = ("task_steps", "user_request", "invoking_graph")


def read_instruction(
    text: str, dependency_type: DependencyType, finish_reason: str | None = None
) -> tuple[dict[str, Any] | None, Answer]:
    """The instruction in an answer, or None where one of its three parts is missing or cut off.

    The form or the worked example that a built-in prompt shows, repeated, is no instruction.

    Returns:
        The object with `task_steps`, `user_request`, `invoking_graph` and, if there, `check_by_teacher`;
        and how the answer was read, with a `problem` where there is no instruction.
    """
    answer = read_answer(text, keys=KEYS, forms=_forms(dependency_type), finish_reason=finish_reason)
    value = answer.value
    if value is None or answer.problem:
        return None, answer
    graph = value.get("invoking_graph")
    complete = (
        isinstance(value.get("task_steps"), list)
        and isinstance(value.get("user_request"), str)
        and isinstance(graph, dict)
        and isinstance(graph.get("nodes"), list)
    )
    return (value, answer) if complete else (None, answer._replace(problem=_INCOMPLETE))


_INCOMPLETE = "there is no list task_steps, text user_request, or invoking_graph with a list nodes"


@cache
def _forms(dependency_type: DependencyType) -> tuple[dict[str, Any], ...]:
    """What the built-in prompts show as the form of an answer, that of the worked example included."""
    worked = turns_of(built_in(f"example_{dependency_type}"))[1]["content"]
    return shown_forms((built_in(dependency_type).replace("$check_key", ""), worked), keys=KEYS)
