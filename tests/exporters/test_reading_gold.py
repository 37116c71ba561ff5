"""From a label to a plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.gold_samples import RESOURCE, TEMPORAL, label, named
from toolassay.plans.call_plan import Argument, Call, CallPlan, Unfit, call_plan_of
from toolassay.plans.gold import Gold


def resource(value: dict[str, Any]) -> CallPlan:
    return call_plan_of(Gold.of(value), RESOURCE, "resource")


def temporal(value: dict[str, Any]) -> CallPlan:
    return call_plan_of(Gold.of(value), TEMPORAL, "temporal")


def test_texts_go_to_the_input_of_their_type() -> None:
    plan = resource(label(1, [("Fetch", ["https://a.example"]), ("Edit Image", ["brighter", "<node-0>"])]))

    assert plan.calls == (
        Call("Fetch", (Argument("url", "https://a.example"),)),
        Call("Edit Image", (Argument("text", "brighter"), Argument("image", "<node-0>"))),
    )
    assert (plan.id, plan.links, plan.shape, plan.size) == ("1", ((0, 1),), "chain", 2)


def test_calls_are_put_in_order_and_references_with_them() -> None:
    plan = resource(
        label(1, [("Edit_Image", ["<node-1>"]), ("画", ["a cat, see <node-7>"]), ("Answer", ["b", "c"])])
    )

    assert [call.tool for call in plan.calls] == ["画", "Edit_Image", "Answer"]
    assert plan.calls[0].arguments[0].value == "a cat, see <node-7>"
    assert plan.calls[1].arguments[0].value == "<node-0>"
    assert plan.links == ((0, 1),)


def test_texts_are_typed_as_their_parameters_are() -> None:
    plan = temporal(
        label(
            1,
            [
                ("book", named(seats="4", film_title="12")),
                ("pay", named(amount="9.5", by_card="True")),
                ("tell", named(whom='["Ann"]', when="2026-01-01")),
            ],
        )
    )

    values = [argument.value for call in plan.calls for argument in call.arguments]
    assert values == [4, "12", 9.5, True, ["Ann"], "2026-01-01"]
    (call,) = temporal(label(1, [("pay", named(amount="NaN", by_card="perhaps"))])).calls
    assert [argument.value for argument in call.arguments] == ["NaN", "perhaps"]


def test_the_name_of_a_linked_tool_is_a_reference() -> None:
    nodes: list[tuple[str, list[Any] | None]] = [("book", []), ("tell", named(whom=["book"], when="pay"))]
    plan = temporal(label(1, nodes, links=[("book", "tell")]))

    assert [argument.value for argument in plan.calls[1].arguments] == [["<node-0>"], "pay"]


def test_of_a_tool_called_twice_the_data_says_which_is_linked() -> None:
    plan = resource(
        label(1, [("画", ["a"]), ("画", ["b"]), ("Edit_Image", ["<node-1>"]), ("Edit_Image", ["<node-0>"])])
    )

    assert set(plan.links) == {(1, 2), (0, 3)}


def test_labels_without_arguments() -> None:
    plan = resource(label(1, [("Answer", None), ("画", None)], links=[("Answer", "画")]))

    assert not plan.has_arguments
    assert plan.calls == (Call("Answer", ()), Call("画", ()))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (label(1, [("Gone", ["x"])]), r"task_nodes\[0\]: names the tool 'Gone'"),
        (
            {**label(1, [("画", ["x"])]), "task_nodes": [{"task": "画", "arguments": [" <node-1>"]}]},
            r"task_nodes\[0\]\.arguments\[0\]: refers to <node-1>, but the plan has 1 nodes",
        ),
        (
            label(1, [("画", []), ("Answer", [])], links=[("画", "Answer"), ("Answer", "画")]),
            "depend on each other",
        ),
        (label(1, [("画", named(text="a", other="b"))]), "'other' is not a parameter of '画'"),
        (label(1, [("画", [{"name": "text", "value": "a"}, "b"])]), "mixes named values with others"),
        (label(1, [("画", ["a"])], links=[("画", "Fetch")]), r"task_links\[0\]: links '画' to 'Fetch'"),
        (label(1, [("画", [float("nan")])]), "holds a value that JSON does not have"),
        (label(1, [("画", ["a"])], user_request=None), "user_request: is malformed"),
    ],
)
def test_what_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(Unfit, match=message):
        resource(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (named(seats=1) + named(seats=2), "gives 'seats' twice"),
        (named(price=1), "'price' is not a parameter of 'book'"),
        ([{"name": ["seats"], "value": 1}], "is not a parameter of 'book'"),
    ],
)
def test_what_is_refused_of_parameters(arguments: list[Any], message: str) -> None:
    with pytest.raises(Unfit, match=message):
        temporal(label(1, [("book", arguments)]))


@pytest.mark.parametrize("selector", ["[each]", "[max price].id", '[name="Ann"].id'])
def test_selectors_need_tools_with_schemas(selector: str) -> None:
    text = f"<node-0>.rows{selector}"
    with pytest.raises(Unfit, match="needs tools with schemas"):
        temporal(label(1, [("pay", named(amount=3)), ("tell", named(whom=text))]))
    with pytest.raises(Unfit, match="needs tools with schemas"):
        resource(label(1, [("Fetch", ["https://a.example"]), ("Answer", [{"value": text}, "b"])]))
