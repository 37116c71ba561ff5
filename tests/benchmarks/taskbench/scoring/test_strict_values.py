"""Values and plans that mean the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import links_of
from toolassay.graph import DependencyType
from toolassay.plans.normalised_plan import PlanReader, comparable, plan_digest, resource_type
from toolassay.tools.library import Parameter, Tool, ToolLibrary

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (7, "7"),
        ("7.50", 7.5),
        (" 'hello' ", "hello"),
        (True, "true"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (10**30, str(10**30)),
        ([7, {"a": 1.0}], [7.0, {"a": 1}]),
        ("'" * 50_000, ""),  # in one pass
    ],
)
def test_same_meaning(one: Any, other: Any) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "A"),
        ("07", 7),
        (1, True),
        ("", None),
        ("7.0000000000000000000000000001", 7),
        ([1, 2], [2, 1]),
        ("don't", "dont"),
        (["7"], [7]),
    ],
)
def test_other_meaning(one: Any, other: Any) -> None:
    assert comparable(one) != comparable(other)


@given(json_values)
def test_any_value_can_be_compared_and_equals_itself(value: Any) -> None:
    assert comparable(value) == comparable(value)
    hash(comparable(value))


@given(st.text())
def test_blanks_and_quotes_around_do_not_matter(text: str) -> None:
    assert comparable(f" '{text}' ") == comparable(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("photo.JPG", "image"),
        ("talk.m4a?x=1", "audio"),
        ("a clip.webm.", "video"),
        ("https://site.icon/page", "text"),
        ("apples.gift", "text"),
        ("notes", "text"),
    ],
)
def test_resource_type_is_a_whole_extension(text: str, kind: str) -> None:
    assert resource_type(text) == kind


def digest(
    *nodes: tuple[str, list[Any]],
    links: list[tuple[str, str]] | None = None,
    kind: DependencyType = "resource",
) -> int:
    tool = Tool("a", inputs=("text",), outputs=("text",), parameters=(Parameter("p"),))
    value: dict[str, Any] = {"task_nodes": [{"task": name, "arguments": given} for name, given in nodes]}
    if links is not None:
        value["task_links"] = links_of(links)
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
