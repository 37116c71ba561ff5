"""Operations on the records of a world: what they return, change and refuse."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.worlds.operations import RefusedError, WorldState, new_key
from toolassay.worlds.world import AnyOperation, World

WORLD = msgspec.convert(
    {
        "now": "2026-03-02T09:00:00+00:00",
        "things": {
            "guest": {"key": "id"},
            "room": {"key": "no"},
            "booking": {
                "key": "id",
                "references": {"guest_id": "guest", "room_no": "room"},
                "defaults": {"state": "open", "made": "${date}"},
            },
        },
        "records": {
            "guest": [
                {"id": "G-1", "name": "Ann Lee", "tags": ["early"]},
                {"id": "G-2", "name": "Bo Marsh", "tags": []},
            ],
            "room": [{"no": 1, "price": 80}, {"no": 2, "price": 60.5}, {"no": 3, "price": 80}],
            "booking": [
                {"id": "B-7", "guest_id": "G-1", "room_no": 1, "start": "2026-03-04", "end": "2026-03-06"},
                {"id": "B-8", "guest_id": "G-2", "room_no": 2, "start": "2026-03-09", "end": "2026-03-10"},
            ],
        },
        "tools": {},
        "settings": {"open": True, "balance": 100},
    },
    World,
)


def operation(op: str, **fields: Any) -> AnyOperation:
    made: AnyOperation = msgspec.convert({"op": op, **fields}, AnyOperation)
    return made


def done(one: AnyOperation, state: WorldState | None = None, **arguments: Any) -> Any:
    return (state or WorldState(WORLD)).carry_out(one, arguments)


def refusal(one: AnyOperation, state: WorldState | None = None, **arguments: Any) -> str:
    state = state or WorldState(WORLD)
    before = copy.deepcopy(state.places())
    with pytest.raises(RefusedError) as caught:
        done(one, state, **arguments)
    assert state.places() == before
    return str(caught.value)


def by(field: str, argument: str = "", test: str = "is", **more: Any) -> dict[str, Any]:
    return {"field": field, "argument": argument, "test": test, **more}


@pytest.mark.parametrize(
    ("where", "arguments", "numbers"),
    [
        ([], {}, [1, 2, 3]),
        ([by("price", "most", "at_most")], {"most": 70}, [2]),
        ([by("price", "most", "at_most")], {}, [1, 2, 3]),
        ([by("price", "most", "at_most")], {"most": None}, [1, 2, 3]),
        ([by("price", "least", "above")], {"least": "60.5"}, []),  # a text is compared with no number
        ([by("no", "numbers", "in")], {"numbers": ["1", 3]}, [1, 3]),
        ([by("no", "number", "not")], {"number": 2}, [1, 3]),
        ([by("", "query", "contains")], {"query": "60.5"}, [2]),
        ([by("price", value=80)], {}, [1, 3]),
    ],
)
def test_conditions_choose_records(where: Any, arguments: dict[str, Any], numbers: list[int]) -> None:
    listed = operation("list", thing="room", where=where, result={"$each": "${record.no}"})
    assert done(listed, **arguments) == numbers


def test_a_list_is_sorted_and_paged() -> None:
    result = {"numbers": {"$each": "${record.no}"}, "total": "${total}", "more": "${more}"}
    listed = operation("list", thing="room", sort="-price", limit="limit", page="page", most=2, result=result)
    assert done(listed) == {"numbers": [1, 3], "total": 3, "more": True}
    assert done(listed, page=2) == {"numbers": [2], "total": 3, "more": False}
    assert done(listed, limit=1, page=3) == {"numbers": [2], "total": 3, "more": False}
    assert "no whole number" in refusal(listed, limit="many")


def test_a_path_goes_across_references() -> None:
    listed = operation(
        "list",
        thing="booking",
        where=[by("guest_id.name", "name", "starts")],
        result={"$each": "${record.id}"},
    )
    assert done(listed, name="Bo") == ["B-8"]
    shown = operation(
        "get", thing="booking", where=[by("id", "id")], result="${record.guest_id.name} in ${record.room_no}"
    )
    assert done(shown, id="B-7") == "Ann Lee in 1"


def test_what_is_not_there_is_refused() -> None:
    shown = operation("get", thing="room", where=[by("no", "number")])
    assert done(shown, number="2") == {"no": 2, "price": 60.5}, "a number is the same as its digits"
    assert refusal(shown, number=9) == "there is no room with no 9"
    assert refusal(shown) == "it needs number"


BOOK = operation(
    "create",
    thing="booking",
    fields={name: f"${{arguments.{name}}}" for name in ("guest_id", "room_no", "start", "end")},
    unless=[
        {
            "thing": "booking",
            "where": [by("room_no", "room_no"), by("start", "end", "below"), by("end", "start", "above")],
        }
    ],
    result={"id": "${record.id}", "nights": {"$days": ["${record.start}", "${record.end}"]}},
)


def test_a_new_record_has_a_key_and_defaults() -> None:
    state = WorldState(WORLD)
    stay: dict[str, Any] = {"guest_id": "G-1", "start": "2026-03-06", "end": "2026-03-09"}
    assert done(BOOK, state, room_no=1, **stay) == {"id": "B-9", "nights": 3}
    assert state.records["booking"][-1] == {
        "id": "B-9", **stay, "room_no": 1, "state": "open", "made": "2026-03-02"
    }  # fmt: skip
    assert refusal(BOOK, state, room_no=1, **stay) == "booking 'B-9' stands in the way"
    assert refusal(BOOK, room_no=7, **stay) == "there is no room 7"


def test_a_list_leaves_out_what_is_taken() -> None:
    free = operation(
        "list",
        thing="room",
        unless=[
            {
                "thing": "booking",
                "field": "room_no",
                "where": [by("start", "end", "below"), by("end", "start", "above")],
            }
        ],
        result={"$each": "${record.no}"},
    )
    assert done(free, start="2026-03-05", end="2026-03-09") == [2, 3]


def test_a_record_that_others_refer_to_is_kept() -> None:
    gone = operation(
        "delete", thing="guest", where=[by("id", "id")], unless=[{"thing": "booking", "field": "guest_id"}]
    )
    assert refusal(gone, id="G-1") == "booking 'B-7' stands in the way"


def test_an_update_needs_a_state_and_keeps_what_is_not_given() -> None:
    state = WorldState(WORLD)
    change = operation(
        "update",
        thing="room",
        where=[by("no", "number")],
        fields={"price": "${arguments.price}", "note": "${arguments.note}"},
        only_if=[by("price", test="above", value=70)],
    )
    assert done(change, state, number=1, price=90) == {"no": 1, "price": 90}
    assert refusal(change, state, number=2, price=90) == "the room has 60.5 as price"
    everything = operation(
        "update", thing="room", where=[], fields={"price": 5}, every=True, result="${count}"
    )
    assert done(everything, state) == 3 and {room["price"] for room in state.records["room"]} == {5}


def test_a_value_enters_a_list_once() -> None:
    state = WorldState(WORLD)
    tag = operation("relate", thing="guest", where=[by("id", "id")], field="tags", value="${arguments.tag}")
    untag = operation(
        "relate", thing="guest", where=[by("id", "id")], field="tags", value="${arguments.tag}", remove=True
    )
    assert done(tag, state, id="G-2", tag="late")["tags"] == ["late"]
    assert refusal(tag, state, id="G-2", tag="late") == "'late' is in tags already"
    assert done(untag, state, id="G-2", tag="late")["tags"] == []
    assert refusal(untag, state, id="G-2", tag="late") == "'late' is not in tags already"


def test_settings_calculate_and_hold_back() -> None:
    state = WorldState(WORLD)
    pay = operation(
        "setting",
        name="balance",
        value={"$subtract": ["${settings.balance}", "${arguments.amount}"]},
        needs=[by("open", value=True), by("balance", "amount", "at_least")],
    )
    assert done(pay, state, amount=30.5) == 69.5
    assert refusal(pay, state, amount=70) == "balance is 69.5; needed: at least 70"
    assert done(operation("setting", name="open", value=False), state) is False
    assert refusal(pay, state, amount=1) == "open is False; needed: is True"


def test_what_happens_besides_is_undone_with_it() -> None:
    pay = operation("setting", name="balance", value={"$subtract": ["${settings.balance}", "${first.price}"]})
    hire = operation(
        "update",
        thing="room",
        where=[by("no", "number")],
        fields={"hired": True},
        also=[{**msgspec.to_builtins(pay), "needs": [by("balance", test="above", value=50)]}],
    )
    state = WorldState(WORLD)
    assert done(hire, state, number=1) == {"no": 1, "price": 80, "hired": True}
    assert state.settings["balance"] == 20
    assert refusal(hire, state, number=2) == "balance is 20; needed: above 50"


@pytest.mark.parametrize(
    ("one", "arguments", "value"),
    [
        (operation("clock", result="${date}"), {}, "2026-03-02"),
        (
            operation(
                "convert", amount="n", source="a", target="b", factors={"C": [1, 0], "K": [1, -273.15]}
            ),
            {"n": 20, "a": "c", "b": "K"},
            293.15,
        ),
        (
            operation("shift", time="t", units={"days": "d", "hours": "-h"}),
            {"t": "2026-02-28T10:00:00", "d": 1, "h": 2},
            "2026-03-01T08:00:00",
        ),
        (operation("shift", time="t", units={"weeks": "w"}), {"t": 86_400, "w": 1}, 691_200.0),
        (
            operation("distance", places=["a", "b", "c", "d"]),
            {"a": 48.8566, "b": 2.3522, "c": 51.5074, "d": -0.1278},
            343.557,  # Paris to London
        ),
        (operation("declared", result={"text": "about ${arguments.x}"}), {"x": "oak"}, {"text": "about oak"}),
    ],
)
def test_computations(one: AnyOperation, arguments: dict[str, Any], value: Any) -> None:
    assert done(one, **arguments) == value


@pytest.mark.parametrize(
    ("one", "arguments"),
    [
        (operation("convert", amount="n", source="a", target="b", factors={"m": [1, 0]}), {"n": 1, "a": "m"}),
        (operation("shift", time="t", units={}), {"t": "soon"}),
        (operation("shift", time="t", units={"days": "d"}), {"t": 0, "d": 1e300}),
        (operation("distance", places=["a", "a", "a", "a"]), {"a": 120}),
        (operation("declared", exists={"guest": "guest"}), {"guest": ["G-1", "G-9"]}),
    ],
)
def test_what_cannot_be_computed_is_refused(one: AnyOperation, arguments: dict[str, Any]) -> None:
    assert refusal(one, **arguments)


@given(
    st.lists(
        st.integers(0, 10**9) | st.uuids().map(str) | st.from_regex(r"[A-Z]{2}-[0-9]{1,4}", fullmatch=True)
    )
)
def test_new_keys_are_new(keys: list[Any]) -> None:
    key = new_key("thing", keys)
    assert str(key) not in map(str, keys) and type(key) is (type(keys[-1]) if keys else str)


def test_a_result_has_further_records() -> None:
    stays = {"thing": "booking", "where": [by("guest_id", value="${record.id}")], "sort": "-start"}
    shown = operation(
        "get",
        thing="guest",
        where=[by("id", "id")],
        lists={"stays": stays},
        result={
            "name": "${record.name}",
            "stays": {"$each": {"id": "${record.id}", "price": "${record.room_no.price}"}, "$of": "stays"},
        },
    )
    assert done(shown, id="G-1") == {"name": "Ann Lee", "stays": [{"id": "B-7", "price": 80}]}


def test_each_item_of_a_list_makes_a_record_or_none_does() -> None:
    invite = operation(
        "create", thing="guest", each="names", fields={"id": "${item}"}, result={"$each": "${record.id}"}
    )
    assert done(invite, names=["G-5", "G-6"]) == ["G-5", "G-6"]
    assert "already" in refusal(invite, names=["G-7", "G-1"])
    assert refusal(invite, names="G-8") == "names is no list"


def test_a_template_goes_across_an_argument_that_names_a_record() -> None:
    ask = operation(
        "declared",
        exists={"room": "room"},
        result="It costs ${arguments.room.price}.",
        also=[{"op": "setting", "name": "balance", "value": "${arguments.room.price}"}],
    )
    state = WorldState(WORLD)
    assert done(ask, state, room=2) == "It costs 60.5." and state.settings["balance"] == 60.5


def test_conditions_on_arguments_and_alternatives() -> None:
    check = operation(
        "declared",
        needs=[
            by("", "day", "form", value="YYYY-MM-DD"),
            by("", "start", "below", value="${arguments.end}"),
            by("", "method", "in", value=["CARD", "CASH"]),
        ],
    )
    assert done(check, day="2026-03-02", start=1, end=2, method="CARD") == "done"
    assert done(check) == "done"
    assert refusal(check, day="2 March") == "day is '2 March'; needed: form 'YYYY-MM-DD'"
    assert refusal(check, start=3, end=2) == "start is 3; needed: below 2"
    assert refusal(check, method="GOLD") == "method is 'GOLD'; needed: in ['CARD', 'CASH']"
    paid = operation(
        "declared", needs=[{"any": [by("open", value=False), by("", "method", "in", value=["CARD", "CASH"])]}]
    )
    assert done(paid, method="CARD") == "done"
    needed = "open is True; needed: is False, or method is 'GOLD'; needed: in ['CARD', 'CASH']"
    assert refusal(paid, method="GOLD") == needed
    either = operation(
        "list",
        thing="room",
        where=[{"any": [by("no", value=3), by("price", "p")]}],
        result={"$each": "${record.no}"},
    )
    assert done(either, p=60.5) == [2, 3]
