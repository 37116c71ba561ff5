"""The simulator: valid results for any output schema, and one world for the calls of a plan."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.result_schemas import schemas
from toolassay.executors import SimulateExecutor
from toolassay.executors.executor import (
    CallLimits,
    CallResult,
    Environment,
    EnvironmentFailure,
    ExecutionContext,
    OpenExecutor,
    Refusal,
)
from toolassay.records.data_folder import DataFolder
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import Tool, ToolLibrary, parameters_of
from toolassay.tools.results import is_refusal

CUSTOMER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "status": {"enum": ["active", "blocked"]},
        "created_at": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "name"],
    "additionalProperties": False,
}
ID = {"customer_id": {"type": "integer"}}
NAME = {"name": {"type": "string"}}


def tool(
    name: str,
    properties: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
    *,
    required: Sequence[str] | None = None,
    **more: Any,
) -> Tool:
    """A tool with an `input_schema`; all of its arguments are required unless `required` says otherwise."""
    properties = properties or {}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }
    return Tool(name, parameters=parameters_of(schema), input_schema=schema, output_schema=output, **more)


SHOP = (
    tool("create_customer", {**NAME, "email": {"type": "string"}}, CUSTOMER, required=["name"]),
    tool(
        "get_customer", ID, {"type": "object", "properties": {"customer": CUSTOMER}, "required": ["customer"]}
    ),
    tool(
        "list_customers",
        {"limit": {"type": "integer"}, "status": {"type": "string"}},
        {
            "type": "object",
            "properties": {"items": {"type": "array", "items": CUSTOMER}, "total": {"type": "integer"}},
            "required": ["items", "total"],
        },
        required=[],
    ),
    tool("update_customer", {**ID, **NAME}, CUSTOMER),
    tool("delete_customer", ID),
    tool("cancel_order", {"order_id": {"type": "string"}}),
    tool("get_order", {"order_id": {"type": "string"}}),
)


@asynccontextmanager
async def opened(tools: Sequence[Tool], seed: int = 0, **limits: int) -> AsyncIterator[OpenExecutor]:
    context = ExecutionContext(
        cast(DataFolder, None), ToolLibrary(tools), limits=CallLimits(**limits), seed=seed
    )
    async with SimulateExecutor().open(context, None) as executor:
        yield executor


class World:
    """An environment whose tools are called by name."""

    def __init__(self, environment: Environment, tools: Sequence[Tool]) -> None:
        self._environment, self._tools = environment, {one.id: one for one in tools}

    async def __call__(self, tool_id: str, /, **arguments: Any) -> Any:
        result = await self._environment.call(self._tools[tool_id], arguments)
        assert result == CallResult.of(result.value)
        return result.value

    async def refusal(self, tool_id: str, /, **arguments: Any) -> str:
        with pytest.raises(Refusal) as caught:
            await self(tool_id, **arguments)
        return str(caught.value)

    async def state(self) -> Mapping[str, Any]:
        state = await self._environment.state()
        assert state is not None
        return state


@asynccontextmanager
async def world(tools: Sequence[Tool] = SHOP, seed: int = 0) -> AsyncIterator[World]:
    async with opened(tools, seed) as executor, executor.environment() as environment:
        yield World(environment, tools)


async def result_of(one: Tool, seed: int = 0, /, **arguments: Any) -> Any:
    async with world([one], seed) as call:
        return await call(one.id, **arguments)


# Arguments


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'customer_id' is a required property"),
        ({"customer_id": "seven"}, "argument 'customer_id': 'seven' is not of type 'integer'"),
        ({"customer_id": 7, "colour": 1}, "Additional properties are not allowed ('colour' was unexpected)"),
    ],
)
async def test_invalid_arguments_are_refused(arguments: Mapping[str, Any], words: str) -> None:
    async with world() as call:
        assert await call.refusal("get_customer", **arguments) == words


# Results


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        {"type": ["null", "number"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"const": {"a": [1]}},
        {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"enum": ["x"]}}},
        {"anyOf": [{"type": "null"}, {"type": "null"}]},
        {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "boolean"}}}]},
        {
            "type": "object",
            "properties": {"kind": {"enum": ["a", "b"]}},
            "required": ["kind"],
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"required": ["of_a"]},
            "else": {"required": ["of_b"]},
        },
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "integer"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                        "parent": {"$ref": "#/$defs/node"},
                    },
                    "required": ["value", "children"],
                }
            },
        },
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2, 3]}, "minItems": 3},
    ],
)
@pytest.mark.parametrize("seed", range(2))
async def test_a_result_is_valid(schema: Mapping[str, Any], seed: int) -> None:
    value = await result_of(Tool("get_thing", output_schema=schema), seed)
    assert not ArgumentValidator(schema).problems(value)


async def test_a_result_has_a_value_that_an_argument_of_its_name_takes() -> None:
    said: dict[str, dict[str, Any]] = {
        "order_type": {"type": "string", "description": "Type of the order (Buy/Sell)."},
        "priority": {"type": "integer", "minimum": 1, "maximum": 5},
    }
    bare = {"properties": {name: {"type": one["type"]} for name, one in said.items()}, "required": [*said]}
    for seed in range(8):
        async with world((tool("place_order", said), tool("get_order", {}, bare)), seed) as call:
            found = await call("get_order")
        assert found["order_type"] in ("Buy", "Sell") and 1 <= found["priority"] <= 5


async def test_where_the_type_of_a_result_is_open_it_is_that_which_arguments_take() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "number"}]}
    open_fields = {"latitude": either, "title": either, "id": {"type": "string"}}
    places = {"type": "array", "items": {"properties": open_fields}, "minItems": 1}
    tools = (
        tool("list_places", output=places),
        tool(
            "show",
            {
                "latitude": {"type": ["number", "null"]},
                "title": {"type": "string"},
                "id": {"type": "string", "format": "uuid"},
            },
        ),
    )
    async with world(tools) as call:
        for place in await call("list_places"):
            await call("show", **place)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=schemas(), seed=st.integers(0, 9))
def test_any_satisfiable_schema_has_a_valid_and_repeatable_result(schema: dict[str, Any], seed: int) -> None:
    one = Tool("get_user_report", output_schema=schema)
    value = asyncio.run(result_of(one, seed))
    assert not ArgumentValidator(schema).problems(value)
    assert json.dumps(asyncio.run(result_of(one, seed))) == json.dumps(value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "items": {"const": 1}, "minItems": 10**9},
        {"enum": [1], "type": "string"},
        {"$ref": "#/$defs/none"},
    ],
)
async def test_a_tool_without_a_possible_result_is_missing(schema: Any) -> None:
    one = Tool("get_thing", output_schema={"type": "object", "properties": {"a": schema}, "required": ["a"]})
    async with opened([one]) as executor, executor.environment() as environment:
        with pytest.raises(EnvironmentFailure, match="no result of 'get_thing' can be made"):
            await environment.call(one, {})
        assert executor.missing(one)
        assert not executor.missing(SHOP[0])


async def test_a_result_is_not_larger_than_the_limit() -> None:
    rows = {"type": "array", "items": CUSTOMER}
    one = tool("export_table", {}, {"type": "object", "properties": {"rows": rows}})
    async with opened([one], result_bytes=200) as executor, executor.environment() as environment:
        assert "rows" not in (await environment.call(one, {})).value
    async with opened([SHOP[0]], result_bytes=10) as executor, executor.environment() as environment:
        with pytest.raises(EnvironmentFailure, match="bytes"):
            await environment.call(SHOP[0], {"name": "Ann"})


async def test_a_seed_fixes_results_at_any_concurrency() -> None:
    async def plan(executor: OpenExecutor) -> list[str]:
        async with executor.environment() as environment:
            call = World(environment, SHOP)
            made = await call("create_customer", name="Ann")
            await asyncio.sleep(0)
            seen = [made, await call("list_customers"), await call("get_customer", customer_id=made["id"])]
            return [json.dumps(one) for one in seen]

    async with opened(SHOP, 1) as executor:
        alone = await plan(executor)
        assert executor.identity == {"seed": 1}
    async with opened(SHOP, 1) as executor:
        assert await asyncio.gather(*(plan(executor) for _ in range(5))) == [alone] * 5
    async with opened(SHOP, 2) as executor:
        assert await plan(executor) != alone


# Resources


async def test_a_created_object_can_be_read_changed_and_deleted() -> None:
    async with world() as call:
        made = await call("create_customer", name="Ann Lee", email="ann@example.org")
        number = made["id"]
        assert (made["name"], made["email"]) == ("Ann Lee", "ann@example.org")
        assert (await call("get_customer", customer_id=number))["customer"] == made
        assert made in (await call("list_customers"))["items"]
        changed = await call("update_customer", customer_id=number, name="Ann Poe")
        assert changed == {**made, "name": "Ann Poe"}
        assert await call.state() == {
            f"customer/{number}": {"id": number, "name": "Ann Poe", "email": "ann@example.org"}
        }
        await call("delete_customer", customer_id=number)
        assert await call.refusal("get_customer", customer_id=number) == f"no customer with id '{number}'"
        assert number not in [one["id"] for one in (await call("list_customers"))["items"]]
        assert await call.state() == {}


async def test_an_object_that_was_never_seen_exists_and_is_always_the_same() -> None:
    async with world() as call:
        first = await call("get_customer", customer_id=7)
        assert first["customer"]["id"] == 7
        assert await call("get_customer", customer_id=7) == first
        assert await call("get_customer", customer_id=8) != first
        assert await call.state() == {}
    async with world() as call:
        await call("list_customers")
        assert await call("get_customer", customer_id=7) == first


async def test_listed_objects_can_be_read_and_deleted_ones_are_not_listed() -> None:
    async with world() as call:
        listed = (await call("list_customers"))["items"]
        assert (await call("list_customers"))["items"] == listed
        for one in listed:
            assert (await call("get_customer", customer_id=one["id"]))["customer"] == one
        await call("delete_customer", customer_id=listed[0]["id"])
        left = await call("list_customers")
        assert left["items"] == listed[1:]
        assert left["total"] == len(listed) - 1


async def test_environments_share_nothing() -> None:
    async with opened(SHOP) as executor:
        async with executor.environment() as environment:
            await World(environment, SHOP)("delete_customer", customer_id=7)
        async with executor.environment() as environment:
            assert await environment.state() == {}
            await World(environment, SHOP)("get_customer", customer_id=7)
        assert executor.is_isolated
        assert SimulateExecutor.is_harmless


async def test_an_id_that_exists_cannot_be_created_again() -> None:
    tools = (
        tool("create_branch", {"repo": {"type": "string"}, "name": {"type": "string"}}),
        tool("delete_branch", {"repo": {"type": "string"}, "name": {"type": "string"}}),
    )
    async with world(tools) as call:
        await call("create_branch", repo="a", name="main")
        assert await call.refusal("create_branch", repo="a", name="main") == (
            "a branch with name 'main' exists already"
        )
        await call("create_branch", repo="b", name="main")
        assert sorted(await call.state()) == ["branch/a/main", "branch/b/main"]
        await call("delete_branch", repo="a", name="main")
        await call("create_branch", repo="a", name="main")


async def test_operations_are_known_by_method_and_path() -> None:
    number = {"pet_id": {"type": "integer"}}

    def operation(name: str, method: str, path: str, properties: Mapping[str, Any]) -> Tool:
        return tool(
            name, properties, source={"kind": "openapi", "name": name, "method": method, "path": path}
        )

    tools = (
        operation("addPet", "POST", "/pets", NAME),
        operation("showPetById", "GET", "/pets/{pet_id}", number),
        operation("deletePet", "DELETE", "/pets/{pet_id}", number),
    )
    async with world(tools) as call:
        await call("addPet", name="Rex")
        place = next(iter(await call.state()))
        made = int(place.removeprefix("pet/"))
        assert (await call("showPetById", pet_id=made))["name"] == "Rex"
        await call("deletePet", pet_id=made)
        assert await call.refusal("showPetById", pet_id=made) == f"no pet with id '{made}'"


# Texts, and places for anything


@pytest.mark.parametrize(
    ("outputs", "beginning", "end"),
    [
        (("image",), "image-", ".png"),
        (("Audio",), "audio-", ".mp3"),
        (("text",), "Text ", " of Maker for input a.txt."),
    ],
)
async def test_a_typed_tool_returns_a_file_or_a_text(
    outputs: tuple[str, ...], beginning: str, end: str
) -> None:
    maker = Tool("Maker", inputs=("text",), outputs=outputs)
    made = await result_of(maker, input="a.txt")
    assert made.startswith(beginning)
    assert made.endswith(end)
    assert await result_of(maker, input="a.txt") == made
    assert await result_of(maker, input="b.txt") != made


async def test_arguments_in_a_result_are_no_refusal() -> None:
    create = tool("create_ticket", {"error": {"type": "string"}})
    assert not is_refusal(await result_of(create, error="no paper"))
    assert "no paper" in str(await result_of(create, error="no paper"))


# What the executor says of tools


@pytest.mark.parametrize(
    ("name", "annotations", "expected"),
    [
        ("get_customer", {}, True),
        ("create_customer", {}, False),
        ("get_and_lock", {"readOnlyHint": False}, False),
        ("search_and_replace", {}, False),
        ("search_and_replace", {"readOnlyHint": True}, True),
    ],
)
async def test_reading_tools_are_read_only(name: str, annotations: Mapping[str, Any], expected: bool) -> None:
    one = Tool(name, annotations=annotations)
    async with opened([one]) as executor:
        assert executor.is_read_only(one) is expected
