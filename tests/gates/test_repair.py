from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.builders import named
from tests.support.small_libraries import OFFICE, STUDIO, label
from toolassay.gates.graph_gate import GraphGate, WiringGate
from toolassay.gates.repair import repair
from toolassay.gates.schema_gate import SchemaGate
from toolassay.plans.gold import Gold

CHAIN = label(
    ("Painter", ["a fox"]),
    ("Image Editor", ["<node-0>", "greener"]),
    ("Describer", ["<node-1>"]),
    links="Painter>Image_Editor Image_Editor>Describer",
    n_tools=3,
    type="chain",
)
ROOM = label(
    ("book_room", named(day="Monday", seats="4")),
    ("send_mail", named(to="a@b.c", text="book_room")),
    links="book_room>send_mail",
    n_tools=2,
    type="chain",
)


def kinds(record: dict[str, Any], clean: dict[str, Any] = CHAIN) -> list[str]:
    """The kinds of repair of a bent label, which must come back clean and itself be left as it is."""
    kept = copy.deepcopy(record)
    background = STUDIO if clean is CHAIN else OFFICE
    mended, repairs = repair(record, background)
    assert record == kept
    assert mended == clean
    assert repair(mended, background) == (mended, [])
    return [change.kind for change in repairs]


def bent(change: Callable[[dict[str, Any]], Any], clean: dict[str, Any] = CHAIN) -> dict[str, Any]:
    record = copy.deepcopy(clean)
    change(record)
    return record


def argument(node: int, place: int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        record["task_nodes"][node]["arguments"][place] = value

    return change


def test_names_of_tools_everywhere() -> None:
    text = json.dumps(CHAIN).replace('"Image Editor"', '"image_editor"')
    assert kinds(json.loads(text)) == ["tool name"] * 6
    _, repairs = repair(json.loads(text), STUDIO)
    assert [change.where for change in repairs] == [
        "task_nodes[1].task",
        "sampled_nodes[1].task",
        "task_links[0].target",
        "task_links[1].source",
        "sampled_links[0].target",
        "sampled_links[1].source",
    ]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (argument(0, 0, {"name": "prompt", "value": "a fox"}), "form"),
        (argument(2, 0, "<Node-1>"), "reference"),
        (argument(2, 0, "<output of Image Editor>"), "reference"),
        (argument(2, 0, "[the picture of step 2]"), "reference"),
        (lambda r: r["task_links"].append(dict(r["task_links"][0])), "duplicate link"),
    ],
)
def test_a_label_bent_mechanically_comes_back(change: Callable[[dict[str, Any]], Any], kind: str) -> None:
    assert kinds(bent(change)) == [kind]


def test_a_temporal_reference_is_respelled_as_the_name_of_its_tool() -> None:
    assert kinds(bent(argument(1, 1, {"name": "text", "value": "Book Room"}), ROOM), ROOM) == ["reference"]


def test_a_number_where_a_text_is_due_is_written_as_one() -> None:
    mended, (change,) = repair(label(("Image Editor", ["a.jpg", 2])), STUDIO)
    assert mended["task_nodes"][0]["arguments"] == ["a.jpg", "2"]
    assert change == ("form", "task_nodes[0].arguments[1]", 2, "2")


def test_nodes_that_stand_by_name_are_put_in_the_order_of_the_steps() -> None:
    def change(record: dict[str, Any]) -> None:
        painter, editor, describer = record["task_nodes"]
        record["task_nodes"] = [
            {**describer, "arguments": ["<node-1>"]},
            {**editor, "arguments": ["<node-2>", "greener"], "output": "kept"},
            painter,
        ]

    record = bent(change)
    mended, repairs = repair(record, STUDIO)
    assert repairs == [("order", "task_nodes", [0, 1, 2], [2, 1, 0])]
    assert mended["task_nodes"][1].pop("output") == "kept"
    assert mended == CHAIN


def test_steps_that_follow_the_nodes_go_along() -> None:
    record = label(("Describer", ["<node-1>"]), ("Painter", ["a fox"]), links="Painter>Describer")
    mended, repairs = repair(record, STUDIO)
    assert [node["task"] for node in mended["task_nodes"]] == ["Painter", "Describer"]
    assert mended["task_steps"] == ["Step 1: Use Painter", "Step 2: Use Describer"]
    assert [change.where for change in repairs] == ["task_nodes", "task_steps"]


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["task_nodes"][1].update(task="Image Edit"),
        lambda r: r["task_nodes"][0].update(arguments={"x": 1}),
        argument(2, 0, "<node-7>"),
        argument(2, 0, "[the picture of step 1]"),  # no link says so
        lambda r: (
            r["task_links"].reverse() or r["task_links"][0].update(source="Describer", target="Painter")
        ),
        lambda r: r.update(task_links=[{"source": "Image Editor", "target": "Painter"}, r["task_links"][1]]),
    ],
)
def test_a_wrong_plan_stays_wrong(change: Callable[[dict[str, Any]], Any]) -> None:
    mended, repairs = repair(bent(change), STUDIO)
    gates = (SchemaGate(STUDIO), GraphGate(STUDIO), WiringGate(STUDIO))
    assert any(gate.check(Gold.of(mended)) for gate in gates)
    assert repairs == []
