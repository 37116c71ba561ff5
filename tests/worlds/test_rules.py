"""The world that rules write for a library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of
from tests.worlds.test_checks import tool
from toolassay import SILENT, import_tools
from toolassay.records.data_folder import DataFolder
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.worlds.checks import world_flaws
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.rules import world_by_rules
from toolassay.worlds.world import World

GUEST = {
    "type": "object",
    "properties": {
        "guest_id": {"type": "string"},
        "name": {"type": "string"},
        "city": {"type": "string"},
        "state": {"enum": ["new", "regular"]},
    },
    "required": ["guest_id", "name", "city", "state"],
}
STAY = {
    "type": "object",
    "properties": {
        "stay_id": {"type": "integer"},
        "guest_id": {"type": "string"},
        "start_day": {"type": "string", "format": "date"},
        "end_day": {"type": "string", "format": "date"},
    },
    "required": ["stay_id", "guest_id", "start_day", "end_day"],
}
GUESTS = {
    "type": "object",
    "properties": {"guests": {"type": "array", "items": GUEST}, "total": {"type": "integer"}},
}
LIBRARY = ToolLibrary(
    [
        tool("create_guest", GUEST, name="string", city="string"),
        tool("get_guest", GUEST, guest_id="string"),
        tool("list_guests", GUESTS, city="string", limit="integer"),
        tool("search_guests", GUESTS, query="string"),
        tool("update_guest", GUEST, guest_id="string", city="string"),
        tool("delete_guest", None, guest_id="string"),
        tool("create_stay", STAY, guest_id="string", start_day="string", end_day="string"),
        tool("get_stay", STAY, stay_id="integer"),
        tool("calculate_tip", {"type": "number"}, sum="number"),
    ]
)


@pytest.fixture(scope="module")
def world() -> World:
    return world_by_rules(LIBRARY, 3)


def called(world: World, name: str, state: WorldState | None = None, /, **arguments: Any) -> Any:
    return (state or WorldState(world)).carry_out(world.tools[name], arguments)


def test_tools_are_covered_or_named(world: World) -> None:
    assert [one.tool for one in world.uncovered] == ["calculate_tip"]
    assert world_flaws(world, LIBRARY) == []


def test_records_fit_the_schemas_and_each_other(world: World) -> None:
    for guest in world.records["guest"]:
        assert ArgumentValidator(GUEST).problems(guest) == []
        assert "name-" not in guest["name"] and guest["city"][0].isupper()
    keys = {guest["guest_id"] for guest in world.records["guest"]}
    assert {stay["guest_id"] for stay in world.records["stay"]} <= keys
    assert all(stay["start_day"] <= stay["end_day"] for stay in world.records["stay"])
    assert world.things["stay"].references == {"guest_id": "guest"}


def test_a_library_is_a_service_with_state(world: World) -> None:
    state = WorldState(world)
    made = called(world, "create_guest", state, name="Ann Lee", city="Faro")
    assert called(world, "get_guest", state, guest_id=made["guest_id"])["name"] == "Ann Lee"
    found = called(world, "list_guests", state, city="Faro", limit=5)
    assert made in found["guests"] and found["total"] >= 1
    assert called(world, "search_guests", state, query="lee ann")["guests"] == [made]
    changed = called(world, "update_guest", state, guest_id=made["guest_id"], city="Oslo")
    assert changed == {**made, "city": "Oslo"}
    called(world, "delete_guest", state, guest_id=made["guest_id"])
    with pytest.raises(RefusedError):
        called(world, "get_guest", state, guest_id=made["guest_id"])
    with pytest.raises(RefusedError, match="there is no guest"):
        called(world, "create_stay", guest_id="nobody", start_day="2026-03-03", end_day="2026-03-04")


def test_a_seed_fixes_it_and_another_gives_another(world: World) -> None:
    assert world_by_rules(LIBRARY, 3) == world
    assert world_by_rules(LIBRARY, 4).digest != world.digest


def test_tools_of_published_libraries_return_files_and_sentences() -> None:
    paint = Tool("Text-to-Image", inputs=("text",), outputs=("image",))
    world = world_by_rules(ToolLibrary([paint]))
    first, again, other = (called(world, paint.id, text=text) for text in ("a fox", "a fox", "an owl"))
    assert first == again != other and first.endswith(".png")


def test_a_real_servers_tools_get_a_world(tmp_path: Path) -> None:
    """Of 16 tools of the booking desk, 14 are covered; rules do not know what "pay" does."""
    server = command_of("booking_desk", str(tmp_path / "desk.db"))
    import_tools("mcp", server, tmp_path / "data", screen=SILENT)
    library = DataFolder(tmp_path / "data").library()
    world = world_by_rules(library)
    assert {one.tool for one in world.uncovered} == {"pay_invoice", "refund_payment"}
    assert [*world.things] == ["customer", "room", "booking", "invoice", "payment"]
