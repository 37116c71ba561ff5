"""From a model's answer to the `result` of a raw record."""

from __future__ import annotations

from typing import Any

from toolassay.answers import Answer, read_answer

KEYS = ("task_steps", "user_request", "invoking_graph")


def read_instruction(text: str, finish_reason: str | None = None) -> tuple[dict[str, Any] | None, Answer]:
    """The instruction in an answer, or None where one of its three parts is missing or cut off.

    Returns:
        The object with `task_steps`, `user_request`, `invoking_graph` and, if there, `check_by_teacher`;
        and how the answer was read.
    """
    answer = read_answer(text, keys=KEYS, finish_reason=finish_reason)
    value = answer.value
    if value is None or answer.truncated:
        return None, answer
    graph = value.get("invoking_graph")
    complete = (
        isinstance(value.get("task_steps"), list)
        and isinstance(value.get("user_request"), str)
        and isinstance(graph, dict)
        and isinstance(graph.get("nodes"), list)
    )
    return (value if complete else None), answer
