"""What the checks of a world find by calling its tools."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolassay.tools.library import Tool, ToolLibrary, parameters_of
from toolassay.worlds.checks import used_things, without, world_flaws
from toolassay.worlds.world import World

FILM = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def tool(name: str, output: Any = None, /, **arguments: str) -> Tool:
    schema = {
        "type": "object",
        "properties": {argument: {"type": kind} for argument, kind in arguments.items()},
        "required": list(arguments),
    }
    return Tool(name, parameters=parameters_of(schema), input_schema=schema, output_schema=output)


LIBRARY = ToolLibrary(
    [
        tool("get_film", FILM, film_id="integer"),
        tool("rate_film", None, film_id="integer", stars="integer"),
        tool("find_films", None, words="string"),
    ]
)
GET = {"op": "get", "thing": "film", "where": [{"field": "id", "argument": "film_id"}]}
RATE = {
    "op": "update",
    "thing": "film",
    "where": [{"field": "id", "argument": "film_id"}],
    "fields": {"stars": "${arguments.stars}"},
}
FIND = {"op": "list", "thing": "film", "where": [{"field": "", "argument": "words", "test": "contains"}]}


def world(**changed: Any) -> World:
    tools = {"get_film": GET, "rate_film": RATE, "find_films": FIND, **changed.pop("tools", {})}
    content = {
        "now": "2026-03-02",
        "things": {"film": {"key": "id"}},
        "records": {"film": [{"id": 1, "title": "Up"}, {"id": 2, "title": "Her"}]},
        "tools": {name: operation for name, operation in tools.items() if operation is not None},
        **changed,
    }
    made: World = msgspec.convert(content, World)
    return made


def test_a_world_that_works_has_no_flaws() -> None:
    assert world_flaws(world(), LIBRARY) == []


def test_an_argument_that_must_be_in_a_list_gets_one_of_it() -> None:
    needs = [{"argument": "words", "test": "in", "value": ["Up", "Her"]}]
    assert world_flaws(world(tools={"find_films": {**FIND, "where": [], "needs": needs}}), LIBRARY) == []


@pytest.mark.parametrize(
    ("tools", "tool", "reason"),
    [
        ({"find_films": None}, "find_films", "neither in tools nor in uncovered"),
        ({"hum": GET}, "hum", "no such tool"),
        ({"get_film": {**GET, "thing": "movie"}}, "get_film", "'movie' is none of the things"),
        ({"get_film": {**GET, "where": [{"field": "id", "argument": "no"}]}}, "get_film", "no argument 'no'"),
        ({"get_film": {**GET, "where": [{"field": "name", "value": 1}]}}, "get_film", "has a field 'name'"),
        ({"get_film": {**GET, "where": []}}, "get_film", ""),
        (
            {"get_film": {**GET, "result": {"id": "${record.title}"}}},
            "get_film",
            "does not fit the output schema",
        ),
        ({"rate_film": {**RATE, "fields": {"seen": True}}}, "rate_film", "'stars' has no effect"),
        (
            {"rate_film": {**RATE, "needs": [{"field": "open", "value": True}]}},
            "rate_film",
            "no setting 'open'",
        ),
        (
            {"rate_film": {**RATE, "only_if": [{"field": "title", "value": "Jaws"}]}},
            "rate_film",
            "no call was accepted",
        ),
        (
            {"rate_film": {**RATE, "where": [{"field": "id", "argument": "film_id", "test": "not"}]}},
            "rate_film",
            "",
        ),
    ],
)
def test_flaws_are_named_with_their_tool(tools: Any, tool: str, reason: str) -> None:
    found = world_flaws(world(tools=tools), LIBRARY)
    if reason:
        assert [flaw.tool for flaw in found] == [tool] and reason in found[0].reason
    else:
        assert found == []  # it names no record by a value that there is not


def test_a_tool_that_accepts_the_name_of_no_record_is_found() -> None:
    loose = [{"field": "id", "argument": "film_id", "test": "in"}, {"field": "title", "value": "Up"}]
    made = world(tools={"rate_film": {**RATE, "where": loose}})
    assert world_flaws(made, LIBRARY) == []
    lax = {**RATE, "op": "create", "thing": "rating", "fields": {"film": "${arguments.film_id}", "n": 1}}
    del lax["where"]
    more = {"film": {"key": "id"}, "rating": {"key": "id"}}
    (flaw,) = world_flaws(world(tools={"rate_film": lax}, things=more), LIBRARY)
    assert flaw.reason == "the required argument 'stars' has no effect"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"records": {"film": [{"id": 1}, {"id": "1"}]}}, "different values as 'id'"),
        ({"records": {"film": [{"title": "Up"}]}}, "different values as 'id'"),
        ({"records": {"movie": []}}, "'movie' has records"),
        (
            {"things": {"film": {"key": "id", "references": {"title": "film"}}}},
            "there is no film 'Up'",
        ),
    ],
)
def test_records_are_checked_first(changed: Any, reason: str) -> None:
    found = world_flaws(world(**changed), LIBRARY)
    assert found[0].tool == "" and reason in found[0].reason


def test_what_does_not_work_is_left_out_with_its_reason() -> None:
    made = world(tools={"find_films": {**FIND, "limit": "most"}})
    left = without(made, world_flaws(made, LIBRARY))
    assert [(one.tool, one.reason) for one in left.uncovered] == [
        ("find_films", "the tool has no argument 'most'")
    ]
    assert world_flaws(left, LIBRARY) == []


def test_things_that_nothing_is_about_go() -> None:
    things = {
        "film": {"key": "id", "references": {"maker": "person"}},
        "person": {"key": "id"},
        "town": {"key": "id"},
    }
    assert [*used_things(world(things=things)).things] == ["film", "person"]
