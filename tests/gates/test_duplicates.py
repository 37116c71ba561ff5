"""Requests that repeat one another, as gates tell it."""

from __future__ import annotations

from pathlib import Path

from tests.support.running import write_lines
from toolassay.gates.duplicate_gates import repeat_gate
from toolassay.gates.gate import Finding, Gate
from toolassay.gates.labelled_set import LabelledSet
from toolassay.variety.near_duplicates import Thresholds

CROP = "Crop the photo of the hives on our roof, example.jpg, and put its caption into Italian."


def labelled(path: Path, *requests: str, tools: tuple[str, ...] = ()) -> LabelledSet:
    lines = [
        {
            "id": f"id-{line}",
            "user_request": request,
            "task_nodes": [{"task": tool, "arguments": []} for tool in tools[line - 1 : line]],
        }
        for line, request in enumerate(requests, start=1)
    ]
    write_lines(path, lines)
    return LabelledSet.read(path)


def findings(gate: Gate, labels: LabelledSet) -> list[list[Finding]]:
    return [gate.check(gold) for gold in labels]


def test_exact_duplicates_are_rejected_and_near_ones_put_in_quarantine(tmp_path: Path) -> None:
    requests = CROP, CROP.upper(), f"Hello! {CROP} Quickly, please.", "Pay the council tax."
    labels = labelled(tmp_path / "data.json", *requests)
    first, exact, (near,), other = findings(repeat_gate(labels), labels)
    assert first == other == []
    assert exact == [Finding("duplicate", "reject", "has the same words as 'id-1' (line 1)", "user_request")]
    assert near.state == "quarantine" and near.reason == "is 88% similar in wording to 'id-1' (line 1)"


def test_the_plan_is_reported(tmp_path: Path) -> None:
    labels = labelled(tmp_path / "data.json", CROP, CROP, CROP, tools=("crop", "crop", "mail"))
    _, (same,), (other,) = findings(repeat_gate(labels), labels)
    assert same.reason.endswith("(line 1) and has the same plan")
    assert other.reason.endswith("(line 1), but its plan or its numbers differ")


def test_line_numbers_distinguish_items_of_one_id(tmp_path: Path) -> None:
    write_lines(tmp_path / "data.json", [{"id": 1, "user_request": CROP}] * 2)
    labels = LabelledSet.read(tmp_path / "data.json")
    assert [len(found) for found in findings(repeat_gate(labels), labels)] == [0, 1]


def test_without_a_request_there_is_nothing_to_compare(tmp_path: Path) -> None:
    labels = labelled(tmp_path / "data.json", "", " ")
    for gate in (repeat_gate(labels), repeat_gate(labels, labels)):
        assert [found[0].state for found in findings(gate, labels)] == ["not applicable"] * 2


def test_contamination_names_the_other_set(tmp_path: Path) -> None:
    mine = labelled(tmp_path / "data.json", "Pay the council tax.", CROP)
    theirs = labelled(tmp_path / "others.json", CROP.lower(), CROP)
    reason = "has the same words as 'id-1' (line 1) of the other set"
    expected = [[], [Finding("contamination", "reject", reason, "user_request")]]
    assert findings(repeat_gate(mine, theirs), mine) == expected


def test_the_threshold_is_an_option(tmp_path: Path) -> None:
    longer = f"{CROP} Then mail the picture to my neighbour Emil and to my aunt Zoe in Lyon."
    labels = labelled(tmp_path / "data.json", CROP, longer)
    found = [findings(repeat_gate(labels, None, Thresholds(one)), labels)[1] for one in (0.5, 0.9)]
    assert [len(one) for one in found] == [1, 0]
