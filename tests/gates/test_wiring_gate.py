from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import named
from tests.support.small_libraries import BARE, OFFICE, STUDIO, check, label, told
from toolassay.gates.graph_gate import WiringGate

GATE, OFFICE_GATE, BARE_GATE = WiringGate(STUDIO), WiringGate(OFFICE), WiringGate(BARE)


def painted(argument: Any, links: str = "Painter>Describer", **others: Any) -> dict[str, Any]:
    return label(("Painter", ["a fox"]), ("Describer", [argument]), links=links, **others)


def test_references_and_links_that_agree_pass() -> None:
    assert check(GATE, painted("<node-0>")) == []
    assert check(GATE, label(("Painter", ["a fox"]))) == []
    twice = label(
        ("Painter", ["a fox"]), ("Painter", ["a hen"]), ("Describer", ["<node-1>"]), links="Painter>Describer"
    )
    assert check(GATE, twice) == []


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("<node-2>", "refers to node 2, but the plan has 2 nodes"),
        ("<node-1>", "refers to its own node"),
        ("<Node-0>", "not spelled like a reference: <node-0>"),
        ("output of node 0", "not spelled"),
        ("Painter", "names a step, but is not a reference like <node-0>"),
        ("${picture}", "mentions another step"),
        ("<node-99999999999999999999999999>", "mentions another step"),
    ],
)
def test_references_to_nothing_or_in_another_spelling_are_rejected(argument: str, words: str) -> None:
    findings = check(GATE, painted(argument))
    assert ("reject", "task_nodes[1].arguments[0]") in told(findings)
    assert any(words in finding.reason for finding in findings)


def test_references_within_lists_and_objects_are_followed() -> None:
    record = label(("send_mail", named(to=["a@b.c", "<node-7>"], text={"body": ["<node-0>"]})))
    assert told(check(OFFICE_GATE, record)) == [
        ("reject", "task_nodes[0].arguments[0].value[1]"),
        ("reject", "task_nodes[0].arguments[1].value.body[0]"),
    ]


def test_what_the_user_said_is_no_reference() -> None:
    assert check(GATE, label(("Painter", ["[the result]"]), user_request="Paint [the result]")) == []


def test_a_reference_inside_a_text_is_doubtful_and_one_to_nothing_is_wrong() -> None:
    def spoken(text: str) -> dict[str, Any]:
        return label(("Describer", ["a.jpg"]), ("Speaker", [text]), links="Describer>Speaker")

    assert told(check(GATE, spoken("News: <node-0>"))) == [("quarantine", "task_nodes[1].arguments[0]")]
    assert ("reject", "task_nodes[1].arguments[0]") in told(check(GATE, spoken("News: <node-7>")))


def test_later_nodes_cannot_be_referred_to() -> None:
    record = label(("Describer", ["<node-1>"]), ("Painter", ["a fox"]), links="Painter>Describer")
    (finding,) = check(GATE, record)
    assert (finding.state, finding.where) == ("reject", "task_nodes[0].arguments[0]")
    assert "repair sorts the nodes" in finding.reason
    record = label(
        ("Describer", ["<node-1>"]), ("Painter", ["<node-0>"]), links="Painter>Describer Describer>Painter"
    )
    assert "form a cycle" in check(GATE, record)[0].reason


def test_an_output_of_the_wrong_type_is_reported() -> None:
    record = label(("Speaker", ["hello"]), ("Describer", ["<node-0>"]), links="Speaker>Describer")
    (finding,) = check(GATE, record)
    assert "is the output of 'Speaker' (audio), but 'Describer' takes image" in finding.reason


def without_links(record: dict[str, Any]) -> dict[str, Any]:
    """The label without its key for links."""
    return {key: value for key, value in record.items() if key != "task_links"}


def test_links_and_references_say_the_same() -> None:
    (finding,) = check(GATE, painted("<node-0>", "Describer>Painter"))
    assert (finding.state, finding.where) == ("reject", "task_links[0]")
    assert "'Describer' -> 'Painter' has the wrong direction" in finding.reason
    (finding,) = check(GATE, painted("b.jpg"))
    assert "no argument of 'Describer' refers to 'Painter'" in finding.reason
    (finding,) = check(GATE, painted("<node-0>", ""))
    assert "there is no link 'Painter' -> 'Describer'" in finding.reason


def test_a_label_that_lists_no_links_is_doubtful_if_its_arguments_refer() -> None:
    for lacking in (without_links(painted("<node-0>", "")), painted("<node-0>", "", task_links=None)):
        assert told(check(GATE, lacking)) == [("quarantine", "task_links")]
    assert check(GATE, without_links(painted("b.jpg"))) == []
    assert check(GATE, without_links(label(("Painter", ["a fox"])))) == []


def test_temporal_links_form_no_cycle() -> None:
    record = label(
        ("make_note", named(text="a")), ("lock_up", []), links="make_note>lock_up lock_up>make_note"
    )
    assert [f.state for f in check(OFFICE_GATE, record)] == ["reject"]
    assert (
        "cycle"
        in check(
            OFFICE_GATE, label(("lock_up", []), ("make_note", named(text="a")), links="lock_up>lock_up")
        )[0].reason
    )
    twice = label(("lock_up", []), ("lock_up", []), ("make_note", named(text="a")), links="lock_up>lock_up")
    assert check(OFFICE_GATE, twice) == []


@pytest.mark.parametrize(
    ("nodes", "steps", "state"),
    [
        (["search", "book"], ["Call search", "Call book"], "reject"),
        (["book", "search"], ["Call search", "Call book"], "reject"),  # nodes by name: the steps decide
        (["book", "search"], ["Call book", "Call search"], None),
        (["search", "book"], ["Look", "Reserve"], "quarantine"),  # only the nodes say so
        (["book", "search"], ["Look", "Reserve"], None),
        (["book", "search", "pay"], ["Call search", "Call book", "Call pay"], "quarantine"),
    ],
)
def test_a_link_against_the_order_is_reported(nodes: list[str], steps: list[str], state: str | None) -> None:
    record = label(*((tool, None) for tool in nodes), links="book>search", task_steps=steps)
    *found, last = check(BARE_GATE, record)
    assert last.state == "not applicable"
    assert [finding.state for finding in found] == ([state] if state else [])


def test_temporal_references_by_name_and_place() -> None:
    def mail(text: str) -> dict[str, Any]:
        return label(
            ("make_note", named(text="a")),
            ("send_mail", named(to="a@b.c", text=text)),
            links="make_note>send_mail",
        )

    assert check(OFFICE_GATE, mail("make_note")) == []
    assert check(OFFICE_GATE, mail("<node-0>")) == []
    assert told(check(OFFICE_GATE, mail("<node-4>"))) == [("reject", "task_nodes[1].arguments[1].value")]
    assert told(check(OFFICE_GATE, mail("<node-1>"))) == [("reject", "task_nodes[1].arguments[1].value")]
    assert told(check(OFFICE_GATE, mail("output of make_note"))) == [
        ("quarantine", "task_nodes[1].arguments[1].value")
    ]
