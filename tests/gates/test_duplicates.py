"""Requests that repeat one another, as gates tell it."""

from __future__ import annotations

from toolassay.gates.duplicate_gates import ContaminationGate, DuplicateGate
from toolassay.gates.gate import Finding, Gate
from toolassay.gold import Gold
from toolassay.variety.near_duplicates import Thresholds

CROP = "Crop the photo of the hives on our roof, example.jpg, and put its caption into Italian."


def golds(*requests: str, tools: tuple[str, ...] = ()) -> list[Gold]:
    return [
        Gold.of(
            {
                "id": f"id-{line}",
                "user_request": request,
                "task_nodes": [{"task": tool, "arguments": []} for tool in tools[line - 1 : line]],
            },
            line,
        )
        for line, request in enumerate(requests, start=1)
    ]


def test_exact_duplicates_are_rejected_and_near_ones_put_in_quarantine() -> None:
    labels = golds(CROP, CROP.upper(), f"Hello! {CROP} Quickly, please.", "Pay the council tax.")
    gate: Gate = DuplicateGate(labels)
    assert gate.check(labels[0]) == gate.check(labels[3]) == []
    assert gate.check(labels[1]) == [
        Finding("duplicate", "reject", "has the same words as 'id-1' (line 1)", "user_request")
    ]
    (near,) = gate.check(labels[2])
    assert near.state == "quarantine" and near.reason == "is 88% similar in wording to 'id-1' (line 1)"


def test_the_plan_is_reported() -> None:
    labels = golds(CROP, CROP, CROP, tools=("crop", "crop", "mail"))
    gate = DuplicateGate(labels)
    assert gate.check(labels[1])[0].reason.endswith("(line 1) and has the same plan")
    assert gate.check(labels[2])[0].reason.endswith("(line 1), but its plan or its numbers differ")


def test_line_numbers_distinguish_items_of_one_id() -> None:
    labels = [Gold.of({"id": 1, "user_request": CROP}, line) for line in (1, 2)]
    gate = DuplicateGate(labels)
    assert [len(gate.check(label)) for label in labels] == [0, 1]


def test_without_a_request_there_is_nothing_to_compare() -> None:
    labels = golds("", " ")
    for gate in (DuplicateGate(labels), ContaminationGate(labels, labels)):
        assert [gate.check(label)[0].state for label in labels] == ["not applicable"] * 2


def test_contamination_names_the_other_set() -> None:
    mine, theirs = golds("Pay the council tax.", CROP), golds(CROP.lower(), CROP)
    gate: Gate = ContaminationGate(mine, theirs)
    assert gate.check(mine[0]) == []
    assert gate.check(mine[1]) == [
        Finding(
            "contamination",
            "reject",
            "has the same words as 'id-1' (line 1) of the other set",
            "user_request",
        )
    ]


def test_the_threshold_is_an_option() -> None:
    labels = golds(CROP, f"{CROP} Then mail the picture to my neighbour Emil and to my aunt Zoe in Lyon.")
    assert DuplicateGate(labels, Thresholds(0.5)).check(labels[1])
    assert not DuplicateGate(labels, Thresholds(0.9)).check(labels[1])
