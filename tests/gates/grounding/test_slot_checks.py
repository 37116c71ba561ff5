"""Values of the request in the wrong slot, and the same slots filled right."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import node
from toolassay.gates.gate import Background, Finding
from toolassay.gates.grounding import GroundingGate
from toolassay.plans.gold import Gold
from toolassay.tools.library import ToolLibrary


def check(request: str, *, about: Any = None, **arguments: Any) -> list[Finding]:
    """The findings on a plan of one call."""
    kinds = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}
    parameters = [
        {"name": name, "type": kinds[type(value)], "desc": (about or {}).get(name, "")}
        for name, value in arguments.items()
    ]
    library = ToolLibrary.from_json({"nodes": [{"id": "act", "desc": "Acts.", "parameters": parameters}]})
    label = {"id": 1, "user_request": request, "task_nodes": [node("act", **arguments)]}
    return GroundingGate(Background(library, "temporal")).check(Gold.of(label))


def states(findings: list[Finding]) -> list[str]:
    return [finding.state for finding in findings]


@pytest.mark.parametrize(
    ("request_text", "right", "state"),
    [
        ("Move 50 from savings to checking", {"from_account": "savings", "to_account": "checking"}, "reject"),
        ("A train from Oslo to Bergen, please", {"origin": "Oslo", "destination": "Bergen"}, "reject"),
        ("Convert 20 from euros to dollars", {"from_currency": "EUR", "to_currency": "USD"}, "reject"),
        ("Fly to Rome, leaving Paris", {"origin": "Paris", "destination": "Rome"}, "reject"),
        ("I go to Rome and Paris is home", {"origin": "Paris", "destination": "Rome"}, "quarantine"),
    ],
)
def test_the_ends_of_a_way_are_not_exchanged(request_text: str, right: dict[str, str], state: str) -> None:
    assert check(request_text, **right) == []
    wrong = dict(zip(right, reversed(right.values()), strict=True))
    findings = check(request_text, **wrong)
    assert states(findings) == [state]
    assert all(repr(value) in findings[0].reason for value in wrong.values())


def test_the_ends_of_a_change_are_not_exchanged() -> None:
    request = "Heat it from 25 degrees to 100 degrees"
    assert check(request, initial_temperature=25.0, final_temperature=100.0) == []
    assert states(check(request, initial_temperature=100.0, final_temperature=25.0)) == ["reject"]
    assert check("Cool it from 100 to 25", initial_temperature=100, final_temperature=25) == []


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("2027-05-14", "2027-05-16", "reject"),
        ("2027-05-14T10:00", "2027-05-14T11:30", "reject"),
        ("09:00", "17:30", "quarantine"),
        (3, 8, "reject"),
    ],
)
def test_a_start_is_not_after_its_end(first: Any, second: Any, state: str) -> None:
    request = f"Between {first} and {second}"
    assert check(request, start=first, end=second) == []
    findings = check(request, start=second, end=first)
    assert states(findings) == [state]
    assert "after" in findings[0].reason


def test_a_departure_may_be_after_an_arrival_that_is_named_second() -> None:
    assert (
        check("Leave on 2027-05-16, arrive on 2027-05-14", departure="2027-05-16", arrival="2027-05-14") == []
    )


@pytest.mark.parametrize(
    ("request_text", "name", "wrong", "right"),
    [
        ("Set it for ninety minutes", "duration_hours", 90, 1.5),
        ("Ship 5 pounds of tea", "weight_kg", 5, None),
        ("Run 12 km", "distance_miles", 12, None),
        ("Heat it to 180 celsius", "temperature_fahrenheit", 180, None),
    ],
)
def test_a_unit_is_that_of_the_slot(request_text: str, name: str, wrong: Any, right: Any) -> None:
    (finding,) = check(request_text, **{name: wrong})
    assert finding.state == "reject"
    assert right is None or check(request_text, **{name: right}) == []


def test_what_is_said_of_another_call_is_no_contradiction() -> None:
    library = ToolLibrary.from_json(
        {
            "nodes": [
                {"id": "book", "desc": "Books.", "parameters": [{"name": "breakfast", "type": "boolean"}]}
            ]
        }
    )
    nodes = [
        {"task": "book", "arguments": [{"name": "breakfast", "value": value}]} for value in (True, False)
    ]
    request = "A room with breakfast for Ann, and one without breakfast for Bo"
    gold = Gold.of({"id": 1, "user_request": request, "task_nodes": nodes})
    assert GroundingGate(Background(library, "temporal")).check(gold) == []


def test_a_switch_that_is_not_mentioned_may_be_anything() -> None:
    for value in (True, False):
        assert check("Book a room", breakfast=value, no_smoking=value) == []


@pytest.mark.parametrize(
    ("request_text", "right", "state"),
    [
        ("A table for 2 adults and 3 children", {"adults": 2, "children": 3}, "reject"),
        ("Order 12 boxes with 5 pens each", {"boxes": 12, "pens": 5}, "reject"),
        ("3 nights for 2 of us", {"nights": 3, "persons": 2}, "quarantine"),
    ],
)
def test_numbers_are_not_exchanged(request_text: str, right: dict[str, int], state: str) -> None:
    assert check(request_text, **right) == []
    assert states(check(request_text, **dict(zip(right, reversed(right.values()), strict=True)))) == [state]


@pytest.mark.parametrize(
    ("request_text", "value", "state"),
    [
        ("Mail anne@x.org", "anna@x.org", "reject"),
        ("Mail Anne", "anna@x.org", "quarantine"),
        ("Print report-2026.pdf", "report-2025.pdf", "reject"),
        ("See example.com/a", "example.com/b", "reject"),
        ("Order AB-1234", "AB-1235", "quarantine"),
        ("On 17 October 2027", "2027-10-18", "quarantine"),
        ("Call +61 2 5550 9325", "+61 2 5550 9326", "reject"),
        ("At 7:45 pm", "19:46", "quarantine"),
    ],
)
def test_only_what_the_request_states_instead_is_a_contradiction(
    request_text: str, value: str, state: str
) -> None:
    assert states(check(request_text, what=value)) == [state]


def test_what_another_slot_has_is_no_contradiction() -> None:
    assert states(check("Mail a@x.org", first="a@x.org", second="b@x.org")) == ["quarantine"]
    assert states(check("Mail a@x.org", first="c@x.org", second="b@x.org")) == ["reject", "reject"]


def test_a_number_with_a_comma_has_its_unit() -> None:
    assert states(check("Send 2,500 grams of walnuts", weight_kg=2500)) == ["reject"]
    assert check("Send 2,500 grams of walnuts", weight_grams=2500) == []


def test_a_departure_is_not_after_the_return() -> None:
    request = "Out 17 September 2026, back 24 September 2026"
    assert check(request, depart="2026-09-17", return_on="2026-09-24") == []
    assert states(check(request, depart="2026-09-24", return_on="2026-09-17")) == ["reject"]
