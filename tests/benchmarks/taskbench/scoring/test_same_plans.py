"""A prediction that is spelled like the gold plan takes a shorter way to the same scores."""

from __future__ import annotations

import copy
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.scoring.compat import CompatReader, Converted
from toolassay.benchmarks.taskbench.scoring.strict import exact_item, score_plan
from toolassay.metrics.rouge import rouge
from toolassay.metrics.rouge_batch import batch_rouge
from toolassay.normalised_plan import PlanReader, same_plan
from toolassay.tools import Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [Tool(id="Painter", outputs=("image",)), Tool(id="Text_Reader", outputs=("text",)), Tool(id="C")]
)
KINDS: tuple[Literal["resource", "temporal"], ...] = ("resource", "temporal")

words = st.sampled_from(
    ["a.jpg", "<node-0>", "<node-1>", "<node-7>", "<node-", "7", " x ", "", "see <node-0>"]
)
odd = st.none() | st.booleans() | st.integers(0, 2) | st.floats() | st.lists(words, max_size=2)
named = st.fixed_dictionaries({"name": words, "value": words | odd})
nodes = st.fixed_dictionaries(
    {"task": st.sampled_from(["Painter", "Text_Reader", "Text Reader", "C", "ghost"])},
    optional={"arguments": st.lists(words | odd | named, max_size=3)},
)
links = st.fixed_dictionaries({"source": words, "target": words}) | odd
plans = st.fixed_dictionaries(
    {"task_nodes": st.lists(nodes, max_size=4)},
    optional={
        "task_links": st.lists(links, max_size=3) | st.none(),
        "task_steps": st.lists(words | odd, max_size=3) | odd,
    },
)


@pytest.mark.parametrize("kind", KINDS)
@given(plan=plans, borrows=st.booleans())
def test_a_plan_known_to_be_the_gold_has_the_scores_of_a_comparison(
    kind: Literal["resource", "temporal"], plan: dict[str, Any], borrows: bool
) -> None:
    other = copy.deepcopy(plan)
    compat = CompatReader(LIBRARY, kind, with_steps=True)
    previous = Converted("text", "earlier") if borrows else None
    assert compat.item(plan, other, previous, is_same=True) == compat.item(plan, other, previous)
    reader = PlanReader(LIBRARY, kind)
    gold, predicted = reader.plan(plan), reader.plan(other)
    assert gold is not None
    assert predicted is not None
    assert exact_item(gold) == score_plan(gold, predicted)


@given(plan=plans)
def test_a_copy_is_the_same_plan(plan: dict[str, Any]) -> None:
    assert same_plan(plan, copy.deepcopy(plan))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            {"task_nodes": [{"task": "C", "arguments": [1]}]},
            {"task_nodes": [{"task": "C", "arguments": [True]}]},
        ),
        ({"task_nodes": [{"a": "1", "b": "2"}]}, {"task_nodes": [{"b": "2", "a": "1"}]}),
        ({"task_nodes": [], "task_links": []}, {"task_nodes": [], "task_links": None}),
        ({"task_nodes": [], "task_steps": ["a"]}, {"task_nodes": [], "task_steps": ["b"]}),
        ({"task_nodes": []}, None),
        ({"task_nodes": []}, []),
    ],
)
def test_another_spelling_is_another_plan(one: dict[str, Any], other: Any) -> None:
    assert not same_plan(one, other)


def test_a_plan_that_is_nested_too_deeply_is_compared_in_full() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    plan = {"task_nodes": [{"task": "C", "arguments": deep}]}
    assert not same_plan(plan, {"task_nodes": [{"task": "C", "arguments": [deep[0]]}]})


@pytest.mark.parametrize("odd", ["\ud800", ["\udfff"]])
def test_a_value_that_is_written_with_difficulty_is_compared_in_full(odd: Any) -> None:
    plan = {"task_nodes": [{"task": "C", "arguments": [odd]}]}
    assert not same_plan(plan, copy.deepcopy(plan))


@given(texts=st.lists(st.sampled_from(["a b", "a b\nc", "", "!", "a", "b a\na"]), max_size=6))
def test_equal_and_different_texts_of_one_batch_keep_their_places(texts: list[str]) -> None:
    pairs = [(one, other) for one in texts for other in texts]
    assert batch_rouge(pairs).tolist() == [pytest.approx(list(rouge(*pair))) for pair in pairs]
