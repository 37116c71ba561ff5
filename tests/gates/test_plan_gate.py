"""Calls that cannot be meant, each beside one that can."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import imported_tool, named
from tests.support.schema_graphs import link
from tests.support.small_libraries import check, label, told
from toolassay.gates.gate import Background
from toolassay.gates.graph_gate import WiringGate
from toolassay.gates.plan_gate import PlanGate
from toolassay.graph import FieldPair, ToolGraph
from toolassay.tools.library import ToolLibrary

_TEXT = {"type": "string"}
_USER = {"user_id": _TEXT}
_TAGS = {"tags": {"type": "array", "items": _TEXT}}
_STAY = {"start_date": _TEXT, "end_date": _TEXT}
_PLACE = {"latitude": {"type": "number"}, "longitude": {"type": "number"}}
_MODE = {"mode": {"type": "string", "description": "[Enum]: SOFT, HARD"}}
_OF = {"type": "object", "properties": {"id": _TEXT, "email": _TEXT, "manager_id": _TEXT}}
TOOLS = ToolLibrary.from_json(
    {
        "nodes": [
            imported_tool("get_user", "Gets a user.", _USER, ["user_id"], output=_OF),
            imported_tool(
                "update_user",
                "Updates a user.",
                _USER | {"name": _TEXT, "manager_id": _TEXT} | _MODE,
                ["user_id"],
            ),
            imported_tool("delete_user", "Deletes a user.", _USER | {"team": _TEXT}, ["user_id"]),
            imported_tool(
                "delete_tag", "Deletes a tag of a user.", _USER | {"tag": _TEXT}, ["user_id", "tag"]
            ),
            imported_tool("create_user", "Makes a user.", _USER | {"email": _TEXT}, ["user_id"]),
            imported_tool("add_tags", "Adds tags to a user.", _USER | _TAGS, ["user_id", "tags"]),
            imported_tool("create_stay", "Makes a stay.", _USER | _STAY | _PLACE, ["user_id"]),
            imported_tool("find_stays", "Finds stays.", _STAY | _PLACE, []),
            imported_tool("ask", "Asks somebody.", {"email": _TEXT}, ["email"]),
            imported_tool("log_in", "Logs in.", _USER | {"password": _TEXT, "token": _TEXT}, ["user_id"]),
            imported_tool("send_mail", "Sends a mail.", {"email": _TEXT}, ["email"]),
        ]
    }
)
SHARED = (FieldPair("team", "name"),)
GRAPH = ToolGraph.of_dependencies(
    TOOLS,
    [
        link("get_user", "send_mail", ("email", "email")),
        link("get_user", "add_tags"),
        link("get_user", "ask", ("id", "email")),
        link("delete_user", "update_user", shared=SHARED),
    ],
)
BACKGROUND = Background(TOOLS, "schema", GRAPH)
PLAN, WIRING = PlanGate(BACKGROUND), WiringGate(BACKGROUND)


def states(*calls: tuple[str, dict[str, Any]], links: str = "") -> list[tuple[str, str]]:
    return told(check(PLAN, label(*((tool, named(**values)) for tool, values in calls), links=links)))


@pytest.mark.parametrize(
    ("tool", "right", "wrong", "state"),
    [
        ("update_user", {"user_id": "U-1", "name": "Bo"}, {"user_id": "U-1"}, "reject"),
        ("update_user", {"user_id": "U-1", "name": "Bo"}, {"user_id": "U-1", "name": ""}, "reject"),
        ("update_user", {"user_id": "U-1", "manager_id": "U-2"}, {"user_id": "U-1"}, "reject"),
        ("add_tags", {"user_id": "U-1", "tags": ["a"]}, {"user_id": "U-1", "tags": []}, "reject"),
        (
            "create_stay",
            {"user_id": "U-1", "start_date": "2027-05-01", "end_date": "2027-05-02"},
            {"user_id": "U-1", "start_date": "2027-05-01"},
            "quarantine",
        ),
        ("find_stays", {"latitude": 1.5, "longitude": 2.5}, {"latitude": 1.5}, "quarantine"),
        ("update_user", {"user_id": "U-1", "mode": "SOFT"}, {"user_id": "U-1", "mode": "MILD"}, "quarantine"),
        ("send_mail", {"email": "bo@x.org"}, {"email": "U-1"}, "quarantine"),
        ("get_user", {"user_id": "U-1"}, {"user_id": "bo@x.org"}, "quarantine"),
        ("log_in", {"user_id": "U-1"}, {"user_id": "U-1", "password": "s9Kd2"}, "quarantine"),
    ],
)
def test_a_call_that_cannot_be_meant_is_held_back(
    tool: str, right: dict[str, Any], wrong: dict[str, Any], state: str
) -> None:
    assert states((tool, right)) == []
    assert states((tool, wrong)) == [(state, "task_nodes[0]")]


def test_a_search_may_have_an_open_end() -> None:
    assert states(("find_stays", {"start_date": "2027-05-01"})) == []


def test_an_id_may_be_an_address_where_the_tool_says_so() -> None:
    either = {"user_id": {"type": "string", "description": "The id of a user, or an email."}}
    library = ToolLibrary.from_json({"nodes": [imported_tool("find_lists", "Lists.", either, ["user_id"])]})
    gate = PlanGate(Background(library, "schema", ToolGraph.of_dependencies(library, [])))
    assert told(check(gate, label(("find_lists", named(user_id="bo@x.org"))))) == []


def test_a_secret_may_come_from_an_earlier_call() -> None:
    user = {"user_id": "U-1"}
    assert states(("get_user", user), ("log_in", {**user, "token": "<node-0>.id"})) == []


def test_what_is_deleted_is_used_no_more() -> None:
    gone = ("delete_user", {"user_id": "U-1"})
    used = ("add_tags", {"user_id": "U-1", "tags": ["a"]})
    assert states(gone, used) == [("reject", "task_nodes[1]")]
    assert states(used, gone) == []
    assert states(gone, ("get_user", {"user_id": "U-2"})) == []
    assert states(gone, ("create_user", {"user_id": "U-1"})) == []
    # The tag is gone, not the user.
    assert states(("delete_tag", {"user_id": "U-1", "tag": "a"}), ("get_user", {"user_id": "U-1"})) == []


def test_arguments_that_a_link_shares_are_the_same() -> None:
    first = ("delete_user", {"user_id": "U-1", "team": "red"})
    links = "delete_user>update_user"
    assert states(first, ("update_user", {"user_id": "U-2", "name": "red"}), links=links) == []
    found = states(first, ("update_user", {"user_id": "U-2", "name": "blue"}), links=links)
    assert found == [("quarantine", "task_nodes[1]")]


@pytest.mark.parametrize(
    ("tool", "argument", "reference", "state"),
    [
        ("send_mail", "email", "<node-0>.email", ""),
        ("send_mail", "email", "<node-0>.id", "quarantine"),
        ("send_mail", "email", "<node-0>", "quarantine"),
        ("send_mail", "email", "<node-0>.name", "reject"),
        ("ask", "email", "<node-0>.id", "quarantine"),  # whatever the graph says
        ("add_tags", "user_id", "<node-0>.manager_id", "quarantine"),  # the link gives an order only
    ],
)
def test_a_reference_gives_what_the_graph_fills_the_argument_with(
    tool: str, argument: str, reference: str, state: str
) -> None:
    calls = ("get_user", named(user_id="U-1")), (tool, named(**{argument: reference}))
    found = told(check(WIRING, label(*calls, links=f"get_user>{tool}")))
    assert found == ([(state, "task_nodes[1].arguments[0].value")] if state else [])


def test_a_plan_without_named_arguments_is_not_judged() -> None:
    assert told(check(PLAN, label(("get_user", None)))) == [("not applicable", "")]
