"""The collector on an executor in memory: what is called, what is kept, and what is refuted."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    OpenExecutor,
    Refusal,
    State,
)
from toolassay.graph import Dependency, FieldPair
from toolassay.live_values import collector as module
from toolassay.live_values.candidates import Known
from toolassay.live_values.collector import Collector
from toolassay.tools.library import Tool, ToolLibrary

Function = Callable[[dict[str, Any], Mapping[str, Any]], Any]


def text_tool(name: str, *required: str, **more: Any) -> Tool:
    properties = {one: {"type": "string"} for one in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, description=name.replace("_", " ").capitalize() + ".", input_schema=schema, **more)


class Memory(OpenExecutor):
    """Tools as functions of a state; each environment starts with a new one."""

    def __init__(self, functions: Mapping[str, Function], *, isolated: bool = True, reads: str = "") -> None:
        self.functions, self.is_isolated, self.reads = functions, isolated, reads.split()
        self.calls: Counter[str] = Counter()
        self.environments = 0

    def is_read_only(self, tool: Tool) -> bool:
        return tool.id in self.reads

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        self.environments += 1
        yield MemoryEnvironment(self)


class MemoryEnvironment:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.held: dict[str, Any] = {"people": {"P-1": "Ann", "P-2": "Bo", "P-3": "Cy"}}

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        self.memory.calls[tool.id] += 1
        return CallResult.of(self.memory.functions[tool.id](self.held, arguments))

    async def state(self) -> State | None:
        return {"people": dict(self.held["people"])}


def list_people(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
    return {"people": [{"person_id": one, "name": name} for one, name in held["people"].items()]}


def get_person(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
    if arguments["person_id"] not in held["people"]:
        raise Refusal(f"no person {arguments['person_id']}")
    return {"person_id": arguments["person_id"], "name": held["people"][arguments["person_id"]]}


def remove_person(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
    held["people"].pop(arguments["person_id"], None)
    return "ok"


def check_name(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
    if held["people"].get(arguments["person_id"]) != arguments["name"]:
        raise Refusal("they do not belong together")
    held["people"][arguments["person_id"]] += "!"
    return "marked"


def hang(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
    raise EnvironmentFailure("no answer after 30 s")


TOOLS = ToolLibrary(
    [text_tool("list_people"), text_tool("get_person", "person_id"), text_tool("remove_person", "person_id")]
)
FUNCTIONS: dict[str, Function] = {
    "list_people": list_people,
    "get_person": get_person,
    "remove_person": remove_person,
    "mark_person": check_name,
    "hang_up": hang,
}
READS = "list_people get_person"


def collector(
    memory: Memory, library: ToolLibrary = TOOLS, *, consent: bool = True, **more: Any
) -> Collector:
    return Collector(memory, library, Known(), allow_writes=consent, seed=1, **more)


async def test_what_one_tool_returns_the_next_takes() -> None:
    found = await collector(Memory(FUNCTIONS, reads=READS)).collect()
    assert set(found.values["get_person"]["person_id"]) == {"P-1", "P-2", "P-3"}
    assert found.schemas["list_people"]["properties"]["people"]["type"] == "array"
    assert found.changing == {"remove_person"}
    assert found.unusable == {}


@pytest.mark.parametrize(("isolated", "consent"), [(False, True), (True, False), (False, False)])
async def test_a_tool_that_is_not_read_only_is_called_only_on_a_copy_with_consent(
    isolated: bool, consent: bool
) -> None:
    memory = Memory(FUNCTIONS, isolated=isolated, reads=READS)
    one = collector(memory, consent=consent)
    found = await one.collect()
    link = Dependency("get_person", "remove_person", fields=(FieldPair("person_id", "person_id"),))
    await one.try_links([link], TOOLS)
    assert memory.calls["remove_person"] == 0
    assert memory.calls["get_person"] > 0
    assert "remove_person" not in found.values


async def test_a_verb_of_reading_is_no_mark_on_a_server_as_it_is() -> None:
    memory = Memory(FUNCTIONS, isolated=False)
    found = await collector(memory).collect()
    assert not memory.calls
    assert found.values == {}


async def test_values_that_belong_together_are_used_together() -> None:
    library = ToolLibrary([*TOOLS.tools[:2], text_tool("mark_person", "person_id", "name")])
    found = await collector(Memory(FUNCTIONS, reads=READS), library).collect()
    rows = set(zip(*found.values["mark_person"].values(), strict=True))
    assert rows == {("P-1", "Ann"), ("P-2", "Bo"), ("P-3", "Cy")}


async def test_a_call_that_changes_nothing_is_not_kept_beside_one_that_does() -> None:
    def remove(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
        return remove_person(held, arguments) if arguments["person_id"] == "P-2" else "ok"

    memory = Memory(FUNCTIONS | {"remove_person": remove}, reads=READS)
    found = await collector(memory).collect()
    assert found.values["remove_person"] == {"person_id": ["P-2"]}


async def test_a_tool_that_finds_nothing_with_any_value_is_named_and_keeps_its_values() -> None:
    found = await collector(
        Memory(FUNCTIONS | {"get_person": lambda *_: {"people": []}}, reads=READS)
    ).collect()
    assert found.fruitless == {"get_person"}
    assert set(found.values["get_person"]["person_id"]) == {"P-1", "P-2", "P-3"}


async def test_a_tool_that_does_not_answer_is_left_and_the_others_are_collected() -> None:
    library = ToolLibrary([*TOOLS.tools, text_tool("hang_up", "person_id")])
    memory = Memory(FUNCTIONS, reads=READS)
    found = await collector(memory, library).collect()
    assert memory.calls["hang_up"] == 2
    assert found.unusable == {"hang_up": "no answer after 30 s"}
    assert found.values["remove_person"]


async def test_a_server_that_never_answers_ends_the_collection() -> None:
    memory = Memory(dict.fromkeys(FUNCTIONS, hang), reads=READS)
    with pytest.raises(EnvironmentFailure):
        await collector(memory).collect()
    assert sum(memory.calls.values()) <= 6


async def test_no_more_calls_are_made_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (0, 1, 2, 7, 20):
        monkeypatch.setattr(module, "MOST_CALLS", most)
        memory = Memory(FUNCTIONS, reads=READS)
        one = collector(memory)
        await one.collect()
        link = Dependency("list_people", "get_person", fields=(FieldPair("people[].name", "person_id"),))
        await one.try_links([link] * 5, TOOLS)
        assert sum(memory.calls.values()) == one.observation.calls <= most


async def test_a_link_that_works_stays_and_one_that_no_trial_gets_to_work_is_refuted() -> None:
    memory = Memory(FUNCTIONS, reads=READS)
    one = collector(memory)
    await one.collect()
    schema = one.observation.schemas["list_people"]
    library = ToolLibrary([text_tool("list_people", output_schema=schema), *TOOLS.tools[1:]])
    good = Dependency("list_people", "remove_person", fields=(FieldPair("people[].person_id", "person_id"),))
    wrong = Dependency("list_people", "get_person", fields=(FieldPair("people[].name", "person_id"),))
    await one.try_links([good, wrong], library)
    assert one.observation.refuted == {("list_people", "get_person"): "no person Cy"}


async def test_links_between_tools_that_read_are_tried_in_one_environment() -> None:
    memory, fresh = Memory(FUNCTIONS, reads=READS), Memory(FUNCTIONS, reads=READS)
    one = collector(memory, fresh=fresh)
    await one.collect()
    fresh.environments = 0
    fields = [(FieldPair(f"people[].{name}", "person_id"),) for name in ("person_id", "name", "age")]
    reading = [Dependency("list_people", "get_person", fields=one) for one in fields]
    schema = one.observation.schemas["list_people"]
    library = ToolLibrary([text_tool("list_people", output_schema=schema), *TOOLS.tools[1:]])
    await one.try_links(reading, library)
    assert fresh.calls["get_person"] > 3 and fresh.environments == 1
    assert one.observation.refuted.keys() == {("list_people", "get_person")}
    writing = [Dependency("list_people", "remove_person", fields=one) for one in fields[1:]]
    await one.try_links(writing, library)
    assert fresh.environments > 2


async def test_a_refusal_for_the_state_of_each_row_does_not_refute_a_link() -> None:
    def remove(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
        if (one := arguments["person_id"]) not in held["people"]:
            raise Refusal(f"no person {one}")
        if one != "P-9":  # which no list has
            raise Refusal("the person is on leave")
        return remove_person(held, arguments)

    one = collector(Memory(FUNCTIONS | {"remove_person": remove}, reads=READS))
    await one.collect()
    library = ToolLibrary(
        [text_tool("list_people", output_schema=one.observation.schemas["list_people"]), *TOOLS.tools[1:]]
    )
    link = Dependency("list_people", "remove_person", fields=(FieldPair("people[].person_id", "person_id"),))
    await one.try_links([link], library)
    assert (one.observation.refuted, one.observation.idle) == ({}, {("list_people", "remove_person")})


async def test_values_that_a_refusal_lists_are_tried_next() -> None:
    def list_rooms(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
        if arguments["type"] not in ("Loft", "Attic"):
            raise Refusal("type must be one of ('Loft', 'Attic')")
        return [{"room": arguments["type"]}]

    library = ToolLibrary([text_tool("list_rooms", "type")])
    found = await collector(Memory({"list_rooms": list_rooms}, reads="list_rooms"), library).collect()
    assert set(found.values["list_rooms"]["type"]) == {"Loft", "Attic"}


async def test_a_whole_text_in_the_place_of_a_value_refutes_a_link_although_the_server_takes_it() -> None:
    memory = Memory({**FUNCTIONS, "list_people": lambda held, arguments: "There are two people:\nAnn\nBo"})
    one = collector(memory, ToolLibrary([*TOOLS.tools]))
    await one.collect()
    await one.try_links(
        [Dependency("list_people", "remove_person", fields=(FieldPair("", "person_id"),))], TOOLS
    )
    assert ("list_people", "remove_person") in one.observation.refuted


@pytest.mark.parametrize("refused", [{"error": "no person"}, {"success": False}, "Error: no person"])
async def test_a_result_that_reports_an_error_is_no_accepted_call(refused: Any) -> None:
    def get(held: dict[str, Any], arguments: Mapping[str, Any]) -> Any:
        return get_person(held, arguments) if arguments["person_id"] in held["people"] else refused

    one = collector(Memory(FUNCTIONS | {"get_person": get, "list_people": lambda *_: refused}, reads=READS))
    found = await one.collect()
    assert "get_person" not in found.values
    assert set(found.unusable) == {"list_people", "get_person"}


async def test_the_same_seed_collects_the_same() -> None:
    first, second = [await collector(Memory(FUNCTIONS, reads=READS)).collect() for _ in range(2)]
    assert first == second
