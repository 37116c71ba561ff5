from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders import links_of
from toolassay.benchmarks.taskbench.scoring.strict import StrictItem, score_plan
from toolassay.graph import DependencyType
from toolassay.metrics.f1 import MatchCounts, f1
from toolassay.plans.normalised_plan import Plan, PlanReader, steps_text
from toolassay.tools.library import Tool, ToolLibrary

unhurried = settings(deadline=None)  # the first assignment imports scipy
NAMES = ["Alpha", "Beta", "Two Words"]
LIBRARY = ToolLibrary(
    [
        Tool("Alpha", inputs=("text",), outputs=("image",)),
        Tool("Beta", inputs=("image",), outputs=("text",)),
        Tool("Two Words", inputs=("text",)),
    ]
)
RESOURCE = PlanReader(LIBRARY, "resource")
TEMPORAL = PlanReader(LIBRARY, "temporal")

names = st.sampled_from(NAMES)
texts = st.sampled_from(
    ["x.png", "7", "hello", "<node-0>", "<node-1>", "<node-2>", "see <node-1>", "<node-9>"]
)
resource_arguments = st.lists(texts | st.integers(0, 9), max_size=3)
temporal_arguments = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("ab"), "value": texts}), max_size=3
)
links = st.lists(st.fixed_dictionaries({"source": names, "target": names}), max_size=3)


def _plans(arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    nodes = st.lists(st.fixed_dictionaries({"task": names, "arguments": arguments}), max_size=5)
    return st.fixed_dictionaries({"task_nodes": nodes}, optional={"task_links": links})


plans = st.tuples(st.just("resource"), _plans(resource_arguments), _plans(resource_arguments)) | st.tuples(
    st.just("temporal"), _plans(temporal_arguments), _plans(temporal_arguments)
)
Pair = tuple[DependencyType, dict[str, Any], dict[str, Any]]


def _read(kind: DependencyType, value: Any) -> Plan:
    plan = (RESOURCE if kind == "resource" else TEMPORAL).plan(value)
    assert plan is not None
    return plan


def _item(gold: dict[str, Any], predicted: dict[str, Any], kind: DependencyType = "resource") -> StrictItem:
    return score_plan(_read(kind, gold), _read(kind, predicted))


def _scores(item: StrictItem) -> list[float]:
    assert item.argument_names is not None
    assert item.argument_values is not None
    parts = (item.nodes, item.edges, item.argument_names, item.argument_values)
    return [*(f1(*part, empty=1.0) for part in parts), item.edit_similarity, float(item.is_exact)]


def _never_above(after: StrictItem, before: StrictItem) -> None:
    assert all(new <= old + 1e-12 for new, old in zip(_scores(after), _scores(before), strict=True))


def _plan(*calls: tuple[str, list[Any]], links: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    plan: dict[str, Any] = {"task_nodes": [{"task": name, "arguments": given} for name, given in calls]}
    if links is not None:
        plan["task_links"] = links_of(links)
    return plan


@unhurried
@given(plans)
def test_a_copy_is_perfect(pair: Pair) -> None:
    kind, gold, _ = pair
    assert _scores(_item(gold, copy.deepcopy(gold), kind)) == [1.0] * 6


@unhurried
@given(plans)
def test_scores_are_shares(pair: Pair) -> None:
    kind, gold, predicted = pair
    assert all(0 <= score <= 1 for score in _scores(_item(gold, predicted, kind)))


@unhurried
@given(plans, names | st.just("Invented"), temporal_arguments, resource_arguments, st.integers(0, 5))
def test_another_call_helps_nowhere(
    pair: Pair,
    name: str,
    temporal: list[Any],
    resource: list[Any],
    place: int,
) -> None:
    kind, gold, predicted = pair
    size = len(predicted["task_nodes"])
    place %= size + 1
    if _count(predicted, name) < _count(gold, name):
        name = "Invented"
    call = {"task": name, "arguments": resource if kind == "resource" else temporal}
    for node in (*predicted["task_nodes"], call):  # out of the plan, a reference would become another one
        node["arguments"] = [one for one in node["arguments"] if all(at < size for at in _mentioned(one))]
    more = copy.deepcopy(predicted)
    more["task_nodes"].insert(place, call)
    for node in more["task_nodes"]:
        node["arguments"] = _renumbered(node["arguments"], place)
    _never_above(_item(gold, more, kind), _item(gold, predicted, kind))


def _mentioned(argument: Any) -> list[int]:
    return [int(digits) for digits in re.findall(r"<node-(\d+)>", str(argument))]


def _renumbered(value: Any, place: int) -> Any:
    """A call was put in at `place`: references to those behind it are one higher."""
    if isinstance(value, str):
        return re.sub(
            r"<node-(\d+)>", lambda found: f"<node-{int(found[1]) + (int(found[1]) >= place)}>", value
        )
    if isinstance(value, list):
        return [_renumbered(one, place) for one in value]
    if isinstance(value, dict):
        return {key: _renumbered(one, place) for key, one in value.items()}
    return value


def test_very_many_calls_too_many_are_compared_no_more() -> None:
    gold = _plan(("Alpha", ["right"]), ("Beta", ["b"]), links=[])
    item = _item(gold, _plan(*[("Alpha", ["right"])] * 500, ("Beta", ["b"]), links=[]))
    assert item.nodes == MatchCounts(2, 499, 0)
    assert item.argument_values == MatchCounts(1, 500, 1)


def test_a_reference_to_a_call_that_matches_nothing_has_no_type() -> None:
    gold = _plan(("Two Words", []), ("Alpha", ["see <node-0>"]))  # "see …" is a text
    nowhere = _plan(("Two Words", []), ("Alpha", ["<node-2>"]))
    more = _plan(("Two Words", []), ("Alpha", ["<node-2>"]), ("Beta", []))  # a tool the gold does not use
    assert _item(gold, nowhere).argument_names == _item(gold, more).argument_names == MatchCounts(0, 1, 1)
    # The name of a parameter does not depend on what it refers to.
    named = [{"name": "a", "value": "<node-2>"}]
    temporal = _plan(("Alpha", [{"name": "a", "value": "<node-0>"}]), ("Beta", []))
    assert _item(
        temporal, _plan(("Alpha", named), ("Beta", []), ("Beta", [])), "temporal"
    ).argument_names == (MatchCounts(1, 0, 0))


def _count(plan: dict[str, Any], name: str) -> int:
    return sum(node["task"] == name for node in plan["task_nodes"])


@unhurried
@given(plans)
def test_a_missing_plan_misses_all_the_gold(pair: Pair) -> None:
    kind, gold, _ = pair
    item, perfect = score_plan(_read(kind, gold), Plan([], [], [], None)), _item(gold, gold, kind)
    assert item.nodes == MatchCounts(0, 0, perfect.nodes.true_positives)
    assert item.edges == MatchCounts(0, 0, perfect.edges.true_positives)
    assert perfect.argument_values is not None
    assert item.argument_values == MatchCounts(0, 0, perfect.argument_values.true_positives)


def test_repeated_tools_are_matched_by_their_arguments() -> None:
    gold = _plan(("Alpha", ["one text"]), ("Alpha", ["two texts"]), ("Beta", ["<node-1>"]))
    swapped = _plan(("Alpha", ["two texts"]), ("Alpha", ["one text"]), ("Beta", ["<node-0>"]))
    item = _item(gold, swapped)
    assert item.argument_values == MatchCounts(3, 0, 0)
    assert item.edges == MatchCounts(1, 0, 0)
    # The reference to the other of the two calls is a wrong value; links are pairs of names.
    other = _item(
        gold, _plan(*[(n["task"], n["arguments"]) for n in swapped["task_nodes"][:2]], ("Beta", ["<node-1>"]))
    )
    assert (other.edges, other.argument_values) == (MatchCounts(1, 0, 0), MatchCounts(2, 1, 1))


@pytest.mark.parametrize("kind", ["resource", "temporal"])
@pytest.mark.parametrize("links", [None, [], [("Alpha", "Beta")], [("Alpha", "Beta"), ("Beta", "Gamma")]])
def test_references_are_links_stated_or_not(kind: DependencyType, links: Any) -> None:
    form: list[list[Any]] = [["<node-0>"], ["<node-1>"]]
    if kind == "temporal":
        form = [[{"name": "of", "value": f"see {value}"}] for (value,) in form]
    calls = [("Alpha", []), ("Beta", form[0]), ("Gamma", form[1])]
    gold = _plan(*calls, links=[("Alpha", "Beta"), ("Beta", "Gamma")])
    assert _item(gold, _plan(*calls, links=links), kind).is_exact
    assert _item(_plan(*calls, links=links), gold, kind).is_exact
    more = [*(links or ()), ("Gamma", "Alpha")]
    assert _item(gold, _plan(*calls, links=more), kind).edges == MatchCounts(2, 1, 0)
    without = _plan(("Alpha", []), ("Beta", []), ("Gamma", []), links=links)
    assert _item(gold, without, kind).edges == MatchCounts(len(links or ()), 0, 2 - len(links or ()))


def test_a_reference_of_a_call_too_many_is_a_link_too_many() -> None:
    gold = _plan(("Alpha", []), ("Beta", ["<node-0>"]), links=[])
    extra = _plan(("Alpha", []), ("Beta", []), ("Beta", ["<node-0>"]), links=[])
    assert _item(gold, extra).edges == MatchCounts(0, 1, 1)


@pytest.mark.parametrize(
    "form",
    [
        '["red.png", "<node-1>"]',
        {"image": "red.png", "text": "<node-1>"},
        [{"image": "red.png"}, {"text": "<node-1>"}],
        [{"name": "image", "value": "red.png"}, {"name": "text", "value": "<node-1>"}],
        ["red.png", {"text": "<node-1>"}],
    ],
)
def test_resources_have_no_names(form: Any) -> None:
    gold = _plan(("Alpha", ["red.png", "<node-1>"]), ("Beta", ["a cafe\u0301"]))
    assert _item(gold, _plan(("Alpha", form), ("Beta", ["a caf\u00e9"]))).is_exact


def test_repeated_links_are_counted() -> None:
    gold = _plan(("Alpha", []), ("Beta", []), links=[("Alpha", "Beta")])
    twice = _plan(("Alpha", []), ("Beta", []), links=[("Alpha", "Beta")] * 2)
    assert _item(gold, twice).edges == MatchCounts(1, 1, 0)


def test_arguments_of_a_wrong_tool_are_wrong() -> None:
    counts = _item(_plan(("Alpha", ["hello"])), _plan(("Beta", ["hello"]))).argument_values
    assert counts == MatchCounts(0, 1, 1)


def test_gold_without_arguments_gives_no_argument_scores() -> None:
    gold = RESOURCE.plan({"task_nodes": [{"task": "Alpha"}], "task_links": []})
    predicted = RESOURCE.plan(_plan(("Alpha", ["hello"])))
    assert gold is not None
    assert predicted is not None
    item = score_plan(gold, predicted)
    assert (item.argument_names, item.argument_values) == (None, None)


def test_unusable_plans() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    unusable: list[Any] = [
        None,
        [],
        "text",
        {},
        {"task_nodes": None},
        {"task_nodes": ["Alpha"]},
        {"task_nodes": [{"task": 5}]},
        {"task_nodes": [{"arguments": []}]},
        {"task_nodes": [{"task": "Alpha", "arguments": [deep]}]},
    ]
    assert [RESOURCE.plan(value) for value in unusable] == [None] * len(unusable)


def test_odd_arguments_and_links_count_as_wrong_not_as_nothing() -> None:
    gold = _plan(("Alpha", ["hello"]), links=[])
    odd = {"task_nodes": [{"task": "Alpha", "arguments": "hello"}], "task_links": ["Alpha"]}
    item = _item(gold, odd)
    assert item.argument_values == MatchCounts(0, 1, 1)
    assert item.edges == MatchCounts(0, 1, 0)


def test_steps_text_of_odd_steps() -> None:
    assert steps_text(["a", {"task": "b"}, {"x": 1}, 5]) == 'a\nb\n{"x": 1}\n5'
    assert steps_text(None) is None
