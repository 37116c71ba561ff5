"""Work orders with real values: what a call takes of them, and what wins over them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.argument_values.drawn_values import UnfillableError, draw_arguments
from toolassay.argument_values.fed_arguments import FedArgument
from toolassay.graph import FieldPair, Link
from toolassay.offline.work_order import real_arguments, unfillable, write_work_order
from toolassay.offline.writer.english import ToolNames
from toolassay.records.dataset import Sample
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import Tool, ToolLibrary

TEXT = {"type": "string"}


def tool(name: str, required: str, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return Tool(name, description=f"{name.replace('_', ' ').capitalize()}.", input_schema=schema)


SHOW = tool("show_commit", "repository commit", repository=TEXT, commit=TEXT, lines={"type": "integer"})
ROWS: dict[str, dict[str, list[Any]]] = {
    "show_commit": {
        "repository": ["alpha", "beta", "beta"],
        "commit": ["1f3a9c2d", "9c77e01b", "77aa01c2"],
        "lines": [None, 3, None],
    }
}
PAIRS = {("alpha", "1f3a9c2d", None), ("beta", "9c77e01b", 3), ("beta", "77aa01c2", None)}


@given(st.integers(0, 10_000))
def test_values_of_one_call_stay_together(seed: int) -> None:
    rng = Random(seed)
    drawn = draw_arguments(SHOW, rng, given=real_arguments(ROWS, "show_commit", rng))
    given_values = drawn.arguments
    assert (given_values["repository"], given_values["commit"], given_values.get("lines")) in PAIRS


def test_a_row_that_agrees_with_what_the_call_has_is_chosen() -> None:
    for seed in range(20):
        row = real_arguments(ROWS, "show_commit", Random(seed), {"repository": ["beta"]})
        assert row is not None and row["repository"] == "beta"


def test_a_list_takes_its_items_in_order_and_has_no_others() -> None:
    one = tool("open_pages", "names", names={"type": "array", "items": TEXT})
    for seed in range(20):
        drawn = draw_arguments(one, Random(seed), given={"names": ["Ann Moss", "Bo Lind"]})
        assert drawn.arguments == {"names": ["Ann Moss", "Bo Lind"]}


def test_a_fed_argument_wins_over_a_real_one() -> None:
    fed = [FedArgument(("commit",), 0, "<node-0>.id", ("id",))]
    drawn = draw_arguments(SHOW, Random(1), fed=fed, given={"repository": "alpha", "commit": "1f3a9c2d"})
    assert drawn.arguments == {"repository": "alpha", "commit": "<node-0>.id"}
    assert drawn.stated == [("repository", "alpha")]


@pytest.mark.parametrize("real", [{"commit": "x" * 3}, {"lines": "many"}, {"lines": 2.5}])
def test_a_real_value_that_the_schema_forbids_is_refused_and_not_replaced(real: dict[str, Any]) -> None:
    strict = tool("show", "commit", commit={"type": "string", "minLength": 8}, lines={"type": "integer"})
    with pytest.raises(UnfillableError, match="does not take the value"):
        draw_arguments(strict, Random(1), given=real)
    assert unfillable([strict], {"show": {name: [one] for name, one in real.items()}})


@given(st.integers(0, 1000), st.sampled_from(["4", 4, "9c", "x"]))
def test_every_call_with_real_values_is_valid(seed: int, value: Any) -> None:
    one = tool("get_item", "number", number={"type": ["integer", "string"]}, kind={"enum": ["a", "b"]})
    try:
        drawn = draw_arguments(one, Random(seed), given={"number": value})
    except UnfillableError:
        return
    assert ArgumentValidator(one.input_schema or {}).problems(drawn.arguments) == []


REMOVE = tool("delete_note", "note_id", note_id=TEXT)
READ = tool("read_note", "note_id", note_id=TEXT)
FIND = tool("find_note", "words", words=TEXT)
LIBRARY = ToolLibrary([FIND, REMOVE, READ])
SAMPLE = Sample(
    0,
    1,
    "dag",
    ("find_note", "delete_note", "read_note"),
    (Link("find_note", "delete_note", "note_id"), Link("find_note", "read_note", "note_id")),
    ((FieldPair("id", "note_id"),), (FieldPair("id", "note_id"),)),
    ((), ()),
)


def written(values: Any) -> dict[str, Any]:
    return write_work_order(
        SAMPLE, LIBRARY, "schema", ToolNames([tool.id for tool in LIBRARY]), values=values
    )


def test_what_is_removed_is_removed_last_where_values_are_real() -> None:
    real = {"find_note": {"words": ["spring menu"]}}
    names = [node["id"] for node in written(real)["invoking_graph"]["nodes"]]
    assert names == ["find_note", "read_note", "delete_note"]
    assert [node["id"] for node in written(None)["invoking_graph"]["nodes"]] == list(SAMPLE.nodes)


def test_references_follow_the_new_order() -> None:
    nodes = written({"find_note": {"words": ["spring menu"]}})["invoking_graph"]["nodes"]
    assert [node["arguments"][0]["value"] for node in nodes] == ["spring menu", "<node-0>.id", "<node-0>.id"]


def test_after_a_refusal_calls_that_no_link_orders_change_places() -> None:
    library = ToolLibrary([FIND, READ, tool("edit_note", "note_id", note_id=TEXT), REMOVE])
    names = ("find_note", "read_note", "edit_note", "delete_note")
    sample = Sample(0, 1, "dag", names, SAMPLE.links, SAMPLE.fields, SAMPLE.shared)
    orders = set()
    for attempt in range(8):
        order = write_work_order(
            sample, library, "schema", ToolNames(library.ids), attempt, {"find_note": {"words": ["menu"]}}
        )
        orders.add(tuple(node["id"] for node in order["invoking_graph"]["nodes"]))
    assert {order.index("edit_note") < order.index("read_note") for order in orders} == {True, False}
    assert {order.index("find_note") < order.index("read_note") for order in orders} == {True}
    assert {order[-1] for order in orders} == {"delete_note"}


def test_what_calls_share_is_a_value_that_both_took() -> None:
    library = ToolLibrary([READ, tool("edit_note", "note_id line", note_id=TEXT, line=TEXT)])
    link, same = Link("read_note", "edit_note", "note_id"), FieldPair("note_id", "note_id")
    sample = Sample(0, 1, "chain", ("read_note", "edit_note"), (link,), ((),), ((same,),))
    values = {
        "read_note": {"note_id": ["N-1", "N-2", "N-3"]},
        "edit_note": {"note_id": ["N-3"], "line": ["Milk"]},
    }
    for attempt in range(6):
        order = write_work_order(sample, library, "schema", ToolNames(library.ids), attempt, values)
        first, second = (
            [one["value"] for one in node["arguments"]] for node in order["invoking_graph"]["nodes"]
        )
        assert (first, second) == (["N-3"], ["N-3", "Milk"])
