from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import named
from tests.support.small_libraries import BARE, OFFICE, STUDIO, check, label, told
from toolassay.gates.schema_gate import SchemaGate
from toolassay.tools.library import ToolLibrary

STUDIO_GATE, OFFICE_GATE = SchemaGate(STUDIO), SchemaGate(OFFICE)


@pytest.mark.parametrize(
    "record",
    [
        label(("Image Editor", ["make it blue", "example.JPG"])),
        label(("Painter", ["a fox"]), ("Image Editor", ["<node-0>", "greener"])),
        label(("Downloader", ["www.example.com/page"])),
        label(("Clock", None), ("Printer", ["<node-0>"])),
        label(("Painter", ["a fox"]), task_steps=None),
    ],
)
def test_valid_resource_plans_pass(record: dict[str, Any]) -> None:
    assert check(STUDIO_GATE, record) == []


@pytest.mark.parametrize(
    ("nodes", "state", "where", "words"),
    [
        ([("image_editor", ["a", "b.jpg"])], "reject", "task_nodes[0].task", "repair writes 'Image Editor'"),
        ([("Painter", ["example.wav"])], "reject", "task_nodes[0].arguments[0]", "an audio file"),
        ([("Describer", ["a red fox at dawn"])], "reject", "task_nodes[0].arguments[0]", "a plain text"),
        ([("Describer", ["fox_picture"])], "quarantine", "task_nodes[0].arguments[0]", "names no image file"),
        ([("Describer", ["https://x.org/9"])], "quarantine", "task_nodes[0].arguments[0]", "a web address"),
        ([("Splicer", ["a.wav"])], "reject", "task_nodes[0].arguments", "no argument gives the audio"),
        ([("Painter", ["a", "b"])], "reject", "task_nodes[0].arguments[1]", "'b' is one argument too many"),
        ([("Painter", [["a"]])], "reject", "task_nodes[0].arguments[0]", "a list"),
        ([("Painter", "a fox")], "reject", "task_nodes[0].arguments", "is malformed"),
        ([("Painter", ["…"])], "reject", "task_nodes[0].arguments[0]", "which says nothing"),
        ([("Painter", ["None"])], "quarantine", "task_nodes[0].arguments[0]", "which says nothing"),
        ([("Painter", ["\u200b"])], "reject", "task_nodes[0].arguments", "no argument gives the text"),
        (
            [("Speaker", ["a"]), ("Describer", ["<node-0>"])],
            "reject",
            "task_nodes[1].arguments[0]",
            "the output of 'Speaker' (audio)",
        ),
    ],
)
def test_invalid_resource_calls_are_reported(nodes: Any, state: str, where: str, words: str) -> None:
    findings = check(STUDIO_GATE, label(*nodes))
    assert (state, where) in told(findings)
    assert any(words in finding.reason for finding in findings)


@pytest.mark.parametrize(
    "record",
    [
        label(("send_mail", named(to="anna@example.com", text="Hello <node-0>"))),
        label(("make_note", named(text="tea")), ("send_mail", named(to="make_note", text="<node-0>"))),
        label(("lock_up", None), ("make_note", named(text="tea"))),
        label(("book_room", named(day="29 February", seats="two", note="none"))),
        label(("make_note", named(text="N/A")), user_request="Note that N/A stands for nothing."),
    ],
)
def test_valid_temporal_plans_pass(record: dict[str, Any]) -> None:
    assert check(OFFICE_GATE, record) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "state", "where", "words"),
    [
        ("book_room", named(day="Monday", seats="many"), "reject", "[1].value", "a whole number"),
        ("book_room", named(day="Monday"), "reject", "", "no value for 'seats'"),
        ("book_room", named(Day="Monday", seats=3), "reject", "[0].name", "not 'Day'"),
        ("send_mail", named(to="my boss", text="hi"), "reject", "[0].value", "an e-mail address"),
        ("make_note", named(text=7), "quarantine", "[0].value", "a number"),
        ("make_note", [*named(text="a"), *named(text="b")], "reject", "[1]", "twice"),
        ("set_heating", named(mode="hot"), "reject", "[0].value", "none of eco, warm"),
        ("set_heating", named(mode="very eco"), "quarantine", "[0].value", "none of eco, warm"),
        ("lock_up", named(door="front"), "reject", "[0].name", "takes no parameters"),
        ("book_room", named(day="2026-02-31", seats=3), "reject", "[0].value", "a day that no calendar has"),
        ("make_note", named(text="tbd"), "reject", "[0].value", "'tbd' says no value for 'text'"),
        ("make_note", named(text="unknown"), "quarantine", "[0].value", "says no value for 'text'"),
    ],
)
def test_invalid_temporal_calls_are_reported(
    tool: str, arguments: Any, state: str, where: str, words: str
) -> None:
    findings = check(OFFICE_GATE, label((tool, arguments)))
    assert (state, f"task_nodes[0].arguments{where}") in told(findings)
    assert any(words in finding.reason for finding in findings)


def test_what_a_library_marks_as_optional_may_be_missing() -> None:
    tools = [
        {"id": "a", "required": ["x"], "parameters": [{"name": "x"}, {"name": "y"}]},
        {"id": "b", "parameters": [{"name": "x", "required": True}, {"name": "y"}]},
        {"id": "c", "parameters": [{"name": "x"}, {"name": "y", "default": 1}]},
        {"id": "d", "parameters": [{"name": "x"}, {"name": "y", "description": "unit (optional)"}]},
    ]
    gate = SchemaGate(type(OFFICE)(ToolLibrary.from_json(tools), "temporal"))
    for tool in "abcd":
        assert check(gate, label((tool, named(x="1")))) == []
        assert told(check(gate, label((tool, named(y="1"))))) == [("reject", "task_nodes[0].arguments")]


def test_gold_without_arguments_is_not_applicable_but_its_tools_must_be_known() -> None:
    gate = SchemaGate(BARE)
    assert told(check(gate, label(("search", None), ("book", None)))) == [("not applicable", "")]
    assert told(check(gate, label(("search", None), ("fly", None)))) == [("reject", "task_nodes[1].task")]
    assert told(check(STUDIO_GATE, label(("Painter", None), ("Describer", None)))) == [("not applicable", "")]


def test_a_single_call_without_what_it_needs_has_lost_it() -> None:
    assert told(check(STUDIO_GATE, label(("Painter", None)))) == [("quarantine", "task_nodes[0]")]
    assert told(check(OFFICE_GATE, label(("lock_up", None)))) == [("not applicable", "")]
