from __future__ import annotations

from typing import Any

import pytest

from toolassay.graph import DependencyType
from toolassay.normalised_plan import PlanReader, plan_digest
from toolassay.tools import Parameter, Tool, ToolLibrary


def digest(
    *nodes: tuple[str, list[Any]],
    links: list[tuple[str, str]] | None = None,
    kind: DependencyType = "resource",
) -> int:
    tool = Tool("a", inputs=("text",), outputs=("text",), parameters=(Parameter("p"),))
    value: dict[str, Any] = {"task_nodes": [{"task": name, "arguments": given} for name, given in nodes]}
    if links is not None:
        value["task_links"] = [{"source": source, "target": target} for source, target in links]
    plan = PlanReader(ToolLibrary([tool]), kind).plan(value)
    assert plan is not None
    return plan_digest(plan)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("a", ["x"]), ("b", ["<node-0>"])], [("b", ["<node-1>"]), ("a", ["x"])]),
        ([("a", ["7", "x"])], [("a", ["x", 7.0])]),
        ([("a_b", ["x"])], [("a b", [" 'x' "])]),
        # Two calls of one tool that only what they point to tells apart.
        (
            [("a", ["x"]), ("a", ["y"]), ("b", ["<node-0>"]), ("b", ["<node-1>"])],
            [("a", ["y"]), ("a", ["x"]), ("b", ["<node-0>"]), ("b", ["<node-1>"])],
        ),
    ],
)
def test_plans_that_say_the_same_share_a_number(one: Any, other: Any) -> None:
    assert digest(*one) == digest(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("a", ["x"])], [("a", ["X"])]),
        ([("a", ["x"])], [("a", ["x"]), ("a", ["x"])]),
        ([("a", ["x"]), ("b", ["<node-0>"])], [("a", ["x"]), ("b", ["<node-5>"])]),
        (
            [("a", ["x"]), ("a", ["y"]), ("b", ["<node-0>", "z"])],
            [("a", ["x"]), ("a", ["y"]), ("b", ["<node-1>", "z"])],
        ),
        ([("a", ["<node-0>"])], [("a", ["<a>"])]),
    ],
)
def test_plans_that_say_something_else_do_not(one: Any, other: Any) -> None:
    assert digest(*one) != digest(*other)
