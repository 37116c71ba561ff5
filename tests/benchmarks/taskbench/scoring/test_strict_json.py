"""Strict scores of imported tools: arguments are compared as JSON values."""

from __future__ import annotations

from typing import Any

import pytest
from builders import workshop_tools
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.scoring.compat import CompatReader
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.normalised_plan import Plan, PlanReader, comparable_json, plan_digest
from toolassay.tools import Parameter, Tool, ToolLibrary

LIBRARY = ToolLibrary.from_json(workshop_tools())
READER = PlanReader(LIBRARY, "temporal")
LINE = {"material": "oak", "amount": 2, "unit": "metre"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def plan(tool: str, *values: Any, name: str = "lines", reader: PlanReader = READER) -> Plan:
    """A plan of calls of one tool, each with one argument."""
    nodes = [{"task": tool, "arguments": [{"name": name, "value": value}]} for value in values]
    found = reader.plan({"task_nodes": nodes, "task_links": []})
    assert found is not None
    return found


def is_equal(one: Any, other: Any) -> bool:
    first, second = plan("order_material", one), plan("order_material", other)
    equal = score_plan(first, second).is_exact
    assert (plan_digest(first) == plan_digest(second)) is equal
    return equal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([LINE], [dict(reversed(LINE.items()))]),
        ([{**LINE, "amount": 2}], [{**LINE, "amount": 2.0}]),
        (4, 4.0),
        (1e20, 10**20),
        (" oak ", "'oak'"),
        ([{**LINE, "material": " oak"}], [LINE]),
        ('[{"material": "oak", "amount": 2, "unit": "metre"}]', [LINE]),  # as structured output must write it
        ([], []),
    ],
)
def test_equal_values(one: Any, other: Any) -> None:
    assert is_equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (4, "4"),
        (True, 1),
        (True, "true"),
        ([1], [True]),
        (["a", "b"], ["b", "a"]),
        ([1], 1),
        ({"a": 1}, {"a": "1"}),
        ([LINE], [{**LINE, "amount": 3}]),
        ([LINE], [LINE, LINE]),
        ("07", "7"),
        ("7.0", "7"),
        (None, ""),
        ([], {}),
    ],
)
def test_different_values(one: Any, other: Any) -> None:
    assert not is_equal(one, other)


def test_null_for_an_optional_argument_is_no_argument() -> None:
    gold = {"task_nodes": [{"task": "book_bench", "arguments": [{"name": "bench", "value": "B2"}]}]}
    given_null = [{"name": "bench", "value": "B2"}, {"name": "guests", "value": None}]
    predicted = READER.plan({"task_nodes": [{"task": "book_bench", "arguments": given_null}]})
    wanted = READER.plan(gold)
    assert wanted is not None and predicted is not None
    assert score_plan(wanted, predicted).is_exact


def test_references_inside_of_values_are_links_and_follow_their_nodes() -> None:
    nodes = [
        {"task": "find_benches", "arguments": []},
        {
            "task": "order_material",
            "arguments": [{"name": "lines", "value": [{**LINE, "material": "<node-0>"}]}],
        },
    ]
    turned = [
        {
            "task": "order_material",
            "arguments": [{"name": "lines", "value": [{**LINE, "material": "<node-1>"}]}],
        },
        {"task": "find_benches", "arguments": []},
    ]
    first, second = READER.plan({"task_nodes": nodes}), READER.plan({"task_nodes": turned})
    assert first is not None and second is not None
    assert first.references == [(0, 1)]
    assert score_plan(first, second).is_exact
    assert plan_digest(first) == plan_digest(second)


def test_published_tools_are_compared_as_before() -> None:
    reader = PlanReader(ToolLibrary([Tool("a", parameters=(Parameter("p"),))]), "temporal")
    assert (
        plan("a", "4", name="p", reader=reader).arguments == plan("a", 4, name="p", reader=reader).arguments
    )
    assert (
        plan("a", True, name="p", reader=reader).arguments
        == plan("a", "True", name="p", reader=reader).arguments
    )


@given(json_values)
def test_a_value_equals_itself_and_no_text_equals_another_kind_of_value(value: Any) -> None:
    key = comparable_json(value)
    assert key == comparable_json(value)
    assert isinstance(value, str) or all(
        key != comparable_json(text) for text in (str(value), repr(value), key[1:])
    )


def test_compat_scores_read_every_json_value() -> None:
    arguments = [
        {"name": "lines", "value": [LINE]},
        {"name": "n", "value": None},
        {"name": "m", "value": 1.5},
    ]
    label = {
        "task_steps": ["a"],
        "task_nodes": [{"task": "order_material", "arguments": arguments}],
        "task_links": [],
    }
    item = CompatReader(LIBRARY, "temporal", with_steps=False).item(label, label)
    assert item.is_scored and item.argument_values.true_positives == 3
