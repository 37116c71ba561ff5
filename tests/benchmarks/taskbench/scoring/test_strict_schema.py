"""Strict scores of plans of schema graphs: references to parts of results, wherever they are."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bench_bookings import LIBRARY, PLANS, renumbered
from tests.support.builders import node, plan_of
from toolassay.benchmarks.taskbench.scoring.strict import StrictItem, score_plan
from toolassay.metrics.f1 import MatchCounts
from toolassay.plans.normalised_plan import Plan, PlanReader, plan_digest

READER = PlanReader(LIBRARY, "schema")
GOLD = PLANS[max(PLANS, key=len)]
BOOKED = PLANS["Find a workbench that is free on 2031-04-02, and book it for 3 hours."]


def read(value: Any, reader: PlanReader = READER) -> Plan:
    found = reader.plan(value)
    assert found is not None
    return found


def scores(gold: Any, predicted: Any) -> StrictItem:
    return score_plan(read(gold), read(predicted))


def booked(bench_id: Any, **more: Any) -> dict[str, Any]:
    """The plan `BOOKED` with another value for the bench."""
    return {**BOOKED, "task_nodes": [BOOKED["task_nodes"][0], node("book_bench", bench_id=bench_id, hours=3)]}


paths = st.sampled_from(["", ".id", ".items[0].id", ".items[*].id", ".a['b c'][2]"])
literals = st.integers() | st.booleans() | st.text(alphabet="abc 1é", max_size=4)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    """A plan that calls each tool at most once, with values, references, and both in lists and objects."""
    tools = draw(st.permutations(LIBRARY.ids))[: draw(st.integers(1, 4))]
    nodes, links = [], []
    for place, tool in enumerate(tools):
        given = {}
        for name in draw(st.sets(st.sampled_from("pqr"))):
            value = draw(literals)
            if place and draw(st.booleans()):
                source = draw(st.integers(0, place - 1))
                value = f"<node-{source}>{draw(paths)}"
                links.append((tools[source], tool))
            given[name] = draw(st.sampled_from([value, [value], {"in": [value, 1]}]))
        nodes.append(node(tool, **given))
    return plan_of(*nodes, links=tuple(dict.fromkeys(links)))


@given(plans())
def test_a_plan_equals_itself_in_every_score(value: dict[str, Any]) -> None:
    item = scores(value, value)
    assert item.is_exact and item.edit_similarity == 1
    assert item.argument_names == item.argument_values


@given(plans(), plans(), st.data())
def test_the_order_of_nodes_changes_neither_counts_nor_digest(
    gold: Any, other: Any, data: st.DataObject
) -> None:
    places = data.draw(st.permutations(range(len(other["task_nodes"]))))
    moved = renumbered(other, places)
    before, after = scores(gold, other), scores(gold, moved)
    assert (before.nodes, before.edges) == (after.nodes, after.edges)
    assert (before.argument_names, before.argument_values) == (after.argument_names, after.argument_values)
    assert plan_digest(read(other)) == plan_digest(read(moved))
    assert scores(other, moved).is_exact


@given(plans(), st.data())
def test_a_wrong_path_costs_its_value_and_no_other_score(value: Any, data: st.DataObject) -> None:
    referring = [
        (place, number)
        for place, call in enumerate(value["task_nodes"])
        for number, argument in enumerate(call["arguments"])
        if "<node-" in str(argument["value"])
    ]
    if not referring:
        return
    place, number = data.draw(st.sampled_from(referring))
    changed = copy.deepcopy(value)
    changed["task_nodes"][place]["arguments"][number]["value"] = longer_path(
        changed["task_nodes"][place]["arguments"][number]["value"]
    )
    item, whole = scores(value, changed), scores(value, value)
    assert whole.argument_values is not None
    right = whole.argument_values.true_positives
    assert item.argument_values == MatchCounts(right - 1, 1, 1)
    assert (item.nodes, item.edges, item.argument_names, item.edit_similarity) == (
        whole.nodes,
        whole.edges,
        whole.argument_names,
        1,
    )
    assert plan_digest(read(value)) != plan_digest(read(changed))


def longer_path(value: Any) -> Any:
    """The value with another path in its reference."""
    if isinstance(value, str):
        return f"{value}.other" if value.startswith("<node-") else value
    if isinstance(value, list):
        return [longer_path(one) for one in value]
    return {key: longer_path(one) for key, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "spelling",
    [
        "<node-0>.benches.0.id",
        " <node-0>.benches[0].id ",
        "'<node-0>.benches[0].id'",
        "<node-0>['benches'][0][\"id\"]",
        "<node-00>.benches[0].id",
    ],
)
def test_the_spelling_of_a_path_does_not_count(spelling: str) -> None:
    assert scores(BOOKED, booked(spelling)).is_exact
    assert plan_digest(read(BOOKED)) == plan_digest(read(booked(spelling)))


@pytest.mark.parametrize("spelling", ["<node-0>.benches[].id", "<node-0>.benches[*].id"])
def test_all_items_have_two_spellings_and_are_not_the_first(spelling: str) -> None:
    assert scores(booked("<node-0>.benches[*].id"), booked(spelling)).is_exact
    assert not scores(BOOKED, booked(spelling)).is_exact


def test_without_a_list_of_links_the_references_are_the_links() -> None:
    nested = {key: value for key, value in GOLD.items() if key != "task_links"}
    assert scores(GOLD, nested).edges == MatchCounts(3, 0, 0)
    wrong = copy.deepcopy(nested)
    wrong["task_nodes"][2]["arguments"][2]["value"] = {"bench_ids": "<node-0>.elsewhere"}
    assert scores(GOLD, wrong).edges == MatchCounts(3, 0, 0)
    wrong["task_nodes"][2]["arguments"][2]["value"] = {"bench_ids": ["B1"]}
    assert scores(GOLD, wrong).edges == MatchCounts(2, 0, 1)


def test_paths_of_temporal_plans_are_text_as_before() -> None:
    reader = PlanReader(LIBRARY, "temporal")
    gold, other = (read(booked(f"<node-0>.benches{end}"), reader) for end in ("[0]", ".0"))
    assert not score_plan(gold, other).is_exact
