"""Arguments of imported tools: checked by their input schema, repaired, and grounded value by value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import named, workshop_tools
from tests.support.small_libraries import check, label, told
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.gates.gate import Background
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.repair import repair
from toolassay.gates.schema_gate import SchemaGate
from toolassay.tools.library import ToolLibrary

WORKSHOP = Background(ToolLibrary.from_json(workshop_tools()), "temporal")
GATE = SchemaGate(WORKSHOP)
KNOWN = GroundingGate(WORKSHOP)
BOOKING: dict[str, Any] = {"bench": "B2", "day": "2026-05-14", "hours": 3}
MEMBER: dict[str, Any] = {"member": {"name": "Ann Lee", "email": "ann@example.org"}, "plan": "yearly"}


def booked(**changes: Any) -> dict[str, Any]:
    return label(("book_bench", named(**{**BOOKING, **changes})))


@pytest.mark.parametrize(
    "record",
    [
        booked(hours=3.0),
        label(("add_member", named(member={**MEMBER["member"], "phone": None}, plan="monthly"))),
        label(("close_day", [])),
        label(("user.profile", [{"name": "user.name", "value": "owl"}])),
        label(("report_damage", named(machine="saw", severity="low", parts=["belt"]))),
    ],
)
def test_valid_arguments_pass(record: dict[str, Any]) -> None:
    assert check(GATE, record) == []


@pytest.mark.parametrize(
    "values",
    [
        {"hours": "<node-0>"},
        {"guests": ["Ann", "<node-0>"]},
        {"day": "find_benches"},
    ],
)
def test_a_reference_is_valid_in_every_place(values: dict[str, Any]) -> None:
    nodes = [("find_benches", named(day="2026-05-14")), ("book_bench", named(**{**BOOKING, **values}))]
    assert check(GATE, label(*nodes)) == []
    member = {"name": "<node-0>", "email": "<node-0>"}
    whole = label(
        ("find_benches", named(day="2026-05-14")), ("add_member", named(member=member, plan="<node-0>"))
    )
    assert check(GATE, whole) == []


@pytest.mark.parametrize(
    ("tool", "values", "where", "words"),
    [
        ("book_bench", {**BOOKING, "hours": "4"}, "[2].value", "is not of type 'integer'"),
        ("book_bench", {**BOOKING, "hours": 9}, "[2].value", "9 is greater than the maximum of 8"),
        ("book_bench", {**BOOKING, "seat": "1"}, "[3].name", "not 'seat'"),
        ("book_bench", {"bench": "B2", "hours": 1}, "", "no value for 'day'"),
        (
            "order_material",
            {"project": "shelf", "lines": [{"material": "oak", "amount": 0, "unit": "piece"}]},
            "[1].value[0].amount",
            "'lines[0].amount' of 'order_material': 0 is less than or equal to the minimum of 0",
        ),
        (
            "add_member",
            {**MEMBER, "member": {"name": "<name>", "email": "ann@example.org"}},
            "[0].value.name",
            "'<name>' says no value for 'member.name'",
        ),
    ],
)
def test_invalid_arguments_are_rejected_with_place_and_reason(
    tool: str, values: dict[str, Any], where: str, words: str
) -> None:
    findings = check(GATE, label((tool, named(**values))))
    assert told(findings) == [("reject", f"task_nodes[0].arguments{where}")]
    assert words in findings[0].reason


def test_a_violated_format_is_for_a_person() -> None:
    findings = check(GATE, booked(day="14 May 2026"))
    assert told(findings) == [("quarantine", "task_nodes[0].arguments[1].value")]
    assert findings[0].reason == "'day' of 'book_bench': '14 May 2026' is not a 'date'"


def test_an_invalid_input_schema_names_file_line_and_tool(tmp_path: Path) -> None:
    tools = workshop_tools()
    tools["nodes"][1]["input_schema"]["properties"]["hours"]["minimum"] = "one"
    write_json(tmp_path / "tool_desc.json", tools)
    library = ToolLibrary.load(tmp_path / "tool_desc.json")
    with pytest.raises(UsageError) as caught:
        SchemaGate(Background(library, "temporal"))
    lines = (tmp_path / "tool_desc.json").read_text().splitlines()
    assert '"input_schema"' in lines[(caught.value.line or 0) - 1]
    text = str(caught.value)
    assert "'input_schema' of tool 'book_bench' is not valid" in text and "properties.hours.minimum" in text
    assert "\n" not in text


def test_repair_renumbers_references_inside_of_values() -> None:
    nodes = [
        ("book_bench", named(**{**BOOKING, "guests": ["<node-1>"]})),
        ("find_benches", named(day="2026-05-14")),
    ]
    record = label(
        *nodes, links="find_benches>book_bench", task_steps=["Step 1: Use find_benches", "Step 2: book_bench"]
    )
    repaired, _ = repair(record, WORKSHOP)
    assert [node["task"] for node in repaired["task_nodes"]] == ["find_benches", "book_bench"]
    assert repaired["task_nodes"][1]["arguments"][3]["value"] == ["<node-0>"]
    near = label(
        ("find_benches", named(day="2026-05-14")),
        ("book_bench", named(**{**BOOKING, "guests": ["<Node 0>"]})),
    )
    fixed, _ = repair(near, WORKSHOP)
    assert fixed["task_nodes"][1]["arguments"][3]["value"] == ["<node-0>"]


@pytest.mark.parametrize(
    ("tool", "values", "request_text", "state"),
    [
        (
            "book_bench",
            {**BOOKING, "guests": ["Ann", "Bo"]},
            "Bench B2 for three hours on 14 May 2026, with Ann and Bo",
            None,
        ),
        (
            "book_bench",
            {**BOOKING, "guests": ["Ann", "Zoe"]},
            "Bench B2 for 3 hours on 2026-05-14, with Ann",
            "quarantine",
        ),
        ("add_member", MEMBER, "Add Ann Lee, ann@example.com, to the yearly plan", "reject"),
        (
            "order_material",
            {"project": "shelf", "lines": [{"material": "oak", "amount": 4, "unit": "piece"}]},
            "Order 4 litres of oak for the shelf project, 1 litre at a time",
            "reject",
        ),
        ("search-notes", {"query": "oak", "limit": 10}, "Search the notes for oak", None),
    ],
)
def test_each_value_inside_of_an_argument_must_be_grounded(
    tool: str, values: dict[str, Any], request_text: str, state: str | None
) -> None:
    findings = check(KNOWN, label((tool, named(**values)), user_request=request_text))
    assert [finding.state for finding in findings] == ([] if state is None else [state])
