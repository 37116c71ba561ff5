"""Arguments for one's own tools: valid, related, stated, and refused where no sentence can hold them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import pytest
from builders import difficult_tools, workshop_tools
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolassay.gates.gate import Background
from toolassay.gates.grounding.gate import GroundingGate
from toolassay.gates.schema import SchemaGate
from toolassay.gold import Gold
from toolassay.offline.fed_arguments import FedArgument
from toolassay.offline.own_tools.arguments import (
    DrawnArguments,
    StatedValue,
    UnfillableError,
    draw_arguments,
    unfillable,
)
from toolassay.tools import Tool, ToolLibrary

DRAWS = 30


def tool_with(
    properties: Mapping[str, Any],
    *,
    tool_id: str = "do_it",
    required: list[str] | None = None,
    **keywords: Any,
) -> Tool:
    """A tool with these properties, all of them required unless `required` names some."""
    needed = list(properties) if required is None else required
    schema = {"type": "object", "properties": dict(properties), "required": needed, **keywords}
    return Tool(tool_id, input_schema=schema)


def draws(tool: Tool, count: int = DRAWS, **further: Any) -> list[DrawnArguments]:
    """Draws with different seeds, each checked against the schema."""
    found = [draw_arguments(tool, random.Random(seed), **further) for seed in range(count)]
    checker = Draft202012Validator(
        dict(tool.input_schema or {}), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    for one in found:
        if "fed" not in further:
            checker.validate(dict(one.arguments))
    return found


def values(schema: Mapping[str, Any], name: str = "x", tool_id: str = "do_it") -> set[Any]:
    """The values that draws give to one required argument."""
    return {one.arguments[name] for one in draws(tool_with({name: schema}, tool_id=tool_id))}


def only(schema: Mapping[str, Any], name: str = "x") -> StatedValue:
    """The stated value of one required argument, in the first draw."""
    return draws(tool_with({name: schema}), 1)[0].stated[0]


def _is_day(text: str) -> bool:
    return date.fromisoformat(text).isoformat() == text


def test_the_same_seed_gives_the_same_arguments() -> None:
    tool = tool_with({"guest_name": {"type": "string"}, "nights": {"type": "integer"}})
    first, again = (draw_arguments(tool, random.Random(4)) for _ in range(2))
    assert first == again
    assert len({json.dumps(dict(one.arguments)) for one in draws(tool)}) > 20


@pytest.mark.parametrize("name", ["city", "email", "guest_name", "title", "description"])
def test_a_name_never_overrides_the_type_or_the_values(name: str) -> None:
    assert values({"enum": ["a1", "b2"]}, name) <= {"a1", "b2"}
    assert all(isinstance(one, int) for one in values({"type": "integer"}, name))
    assert all(_is_day(one) for one in values({"type": "string", "format": "date"}, name))


def test_an_arrival_of_type_date_is_a_date() -> None:
    library = ToolLibrary.from_json(
        [{"id": "book", "desc": "Book", "parameters": [{"name": "arrival", "type": "date", "desc": ""}]}]
    )
    drawn = draw_arguments(library["book"], random.Random(1))
    assert _is_day(drawn.arguments["arrival"])
    assert drawn.stated[0].kind == "date"


def test_choices_of_a_description_are_the_only_values() -> None:
    schema = {"type": "string", "description": "single, double or suite"}
    assert values(schema, "room_type") == {"single", "double", "suite"}
    assert only(schema, "room_type").evidence == "description"


def test_an_empty_choice_is_drawn_only_without_others() -> None:
    assert values({"enum": ["none", "unknown", "red"]}) == {"red"}
    assert values({"enum": ["none", "unknown"]}) == {"none", "unknown"}


def test_a_constant_is_given_but_not_stated() -> None:
    drawn = draws(tool_with({"kind": {"const": "room"}, "city": {"type": "string"}}), 1)[0]
    assert drawn.arguments["kind"] == "room"
    assert [one.path for one in drawn.stated] == [("city",)]


def test_codes_are_like_the_example_but_vary() -> None:
    found = values({"type": "string", "examples": ["se-28529731"]}, "label_id")
    assert len(found) > 20
    assert all(one.startswith("se-") and len(one) == 11 and one[3:].isdigit() for one in found)


def test_a_placeholder_is_no_example() -> None:
    assert values({"type": "string", "examples": ["YOUR_TENANT_ID", "string"]}, "city").isdisjoint(
        {"YOUR_TENANT_ID", "string"}
    )


def test_dates_are_spelled_as_the_description_says() -> None:
    found = values({"type": "string", "description": "Day of the visit (DD/MM/YYYY)"}, "day")
    assert all(one[2] == one[5] == "/" and len(one) == 10 for one in found)


def test_a_default_that_says_nothing_is_not_stated() -> None:
    assert "x" not in values({"type": "string", "default": "x"}, "city")
    assert values({"enum": ["asc", "desc"], "default": "asc"}, "sort") == {"desc"}


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 5}, {3, 4, 5}),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5}, {4}),
        ({"type": "integer", "multipleOf": 25, "minimum": 90, "maximum": 130}, {100, 125}),
        ({"type": "integer", "description": "Stars from 1 to 3"}, {1, 2, 3}),
        ({"type": "number", "minimum": 0, "maximum": 0.1, "multipleOf": 0.1}, {0, 0.1}),
    ],
)
def test_numbers_are_inside_their_bounds(schema: dict[str, Any], allowed: set[float]) -> None:
    found = values(schema, "amount")
    assert found and found <= allowed


def test_texts_match_pattern_and_length() -> None:
    found = values({"type": "string", "pattern": "^BN[0-9a-f]{6}$", "maxLength": 8}, "sid")
    assert len(found) > 20
    assert all(one.startswith("BN") and len(one) == 8 for one in found)
    assert all(
        40 <= len(one) <= 90 for one in values({"type": "string", "minLength": 40, "maxLength": 90}, "note")
    )


def test_a_value_is_text_as_json_shows_it() -> None:
    assert only({"type": "number", "enum": [12.5]} | {"enum": [12.5, 13.5]}).text in ("12.5", "13.5")
    assert only({"type": "boolean"}).text in ("true", "false")


def test_what_begins_comes_before_what_ends() -> None:
    names = [
        ("check_in", "check_out"),
        ("dateFrom", "dateTo"),
        ("since", "until"),
        ("created_after", "created_before"),
    ]
    for start, end in names:
        for form in ({"format": "date"}, {"format": "date-time"}, {}):
            schema = {"type": "string", "description": "a date", **form}
            for one in draws(tool_with({end: schema, start: schema}), 10):
                assert one.arguments[start] < one.arguments[end]


def test_an_arrival_begins_a_stay_and_ends_a_flight() -> None:
    day = {"type": "string", "format": "date"}
    for tool_id, begins, ends in (
        ("book_room", "arrival", "departure"),
        ("find_flight", "departure", "arrival"),
    ):
        for one in draws(tool_with({"arrival": day, "departure": day}, tool_id=tool_id), 10):
            assert one.arguments[begins] < one.arguments[ends]


def test_nights_are_those_between_the_days() -> None:
    day = {"type": "string", "format": "date"}
    tool = tool_with({"check_in": day, "nights": {"type": "integer"}, "check_out": day})
    for one in draws(tool):
        first, last = (date.fromisoformat(one.arguments[name]) for name in ("check_in", "check_out"))
        assert (last - first).days == one.arguments["nights"]


def test_the_least_is_below_the_most() -> None:
    number = {"type": "number", "minimum": 0}
    for one in draws(tool_with({"max_price": number, "min_price": number})):
        assert one.arguments["min_price"] < one.arguments["max_price"]


def test_two_values_of_one_kind_differ() -> None:
    city = {"type": "string"}
    currency = {"type": "string", "description": "ISO 4217 code"}
    tool = tool_with(
        {"origin_city": city, "destination_city": city, "from_currency": currency, "to_currency": currency}
    )
    for one in draws(tool):
        assert one.arguments["origin_city"] != one.arguments["destination_city"]
        assert one.arguments["from_currency"] != one.arguments["to_currency"]


def test_a_person_and_a_place_agree_in_all_their_values() -> None:
    text = {"type": "string"}
    tool = tool_with({"guest_name": text, "guest_email": text, "city": text, "country": text})
    countries = {"Lisbon": "Portugal", "Oslo": "Norway", "Tokyo": "Japan", "Lima": "Peru"}
    for one in draws(tool):
        first = one.arguments["guest_name"].split()[0].lower()
        assert one.arguments["guest_email"].startswith(first)
        assert countries.get(one.arguments["city"], one.arguments["country"]) == one.arguments["country"]


def test_at_most_two_optional_arguments_that_a_person_would_mention() -> None:
    text = {"type": "string"}
    named = {"city": text, "guest_name": text, "email": text}
    never = {
        "page_token": text,
        "X-Request-ID": text,
        "fields": text,
        "api_key": text,
        "limit": {"type": "integer"},
    }
    old = {"country": {"type": "string", "deprecated": True}, "phone": {"type": "string", "readOnly": True}}
    tool = tool_with({**named, **never, **old, "wait": {"type": "boolean"}}, required=[])
    given_names = [set(one.arguments) for one in draws(tool)]
    assert set.union(*given_names) == set(named)
    assert {len(names) for names in given_names} <= {1, 2}


@pytest.mark.parametrize(
    ("schema", "name", "why"),
    [
        ({"type": "string"}, "password", "secret"),
        ({"type": "string", "description": "Your API key."}, "key", "secret"),
        ({"type": "string", "format": "binary"}, "file", "nothing that a person writes"),
        ({"type": "string", "description": "A JSON string."}, "filter_text", "nothing that a person writes"),
        ({"type": "string", "minLength": 500}, "text", "nothing that a person writes"),
        ({"type": "string"}, "operation", "choices that the schema does not list"),
        ({"type": "object", "minProperties": 1}, "values", "any names"),
        ({"type": "string", "enum": []}, "x", "no value"),
    ],
)
def test_what_no_sentence_can_state_is_refused(schema: dict[str, Any], name: str, why: str) -> None:
    with pytest.raises(UnfillableError, match=why):
        draw_arguments(tool_with({name: schema}), random.Random(1))


def test_too_many_and_too_deep_values_are_refused() -> None:
    text = {"type": "string"}
    with pytest.raises(UnfillableError, match="more than 8"):
        draw_arguments(tool_with({f"name_{letter}": text for letter in "abcdefghi"}), random.Random(1))
    deep: dict[str, Any] = text
    for name in "edcba":
        deep = {"type": "object", "properties": {name: deep}, "required": [name]}
    with pytest.raises(UnfillableError, match="deeper"):
        draw_arguments(Tool("t", input_schema=deep), random.Random(1))


def test_unfillable_names_the_tools_and_the_reasons() -> None:
    library = ToolLibrary(
        [tool_with({"password": {"type": "string"}}, tool_id="a"), tool_with({}, tool_id="b")]
    )
    assert unfillable(library) == {"a": "'password' is a secret"}
    fed = FedArgument(("password",), 0, "<node-0>.password", ("password",))
    assert unfillable(library, {"a": [fed]}) == {}


def test_a_fed_argument_is_a_reference_and_is_not_stated() -> None:
    room = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "floor": {"type": "integer"}},
        "required": ["id", "floor"],
    }
    tool = tool_with(
        {"room": room, "rooms": {"type": "array", "items": {"type": "integer"}}}, required=["room"]
    )
    fed = (
        FedArgument(("room", "id"), 0, "<node-0>.id", ("id",)),
        FedArgument(("rooms",), 0, "<node-0>.ids[*]", ("ids", "[]")),
    )
    for one in draws(tool, fed=fed):
        assert one.arguments["room"]["id"] == "<node-0>.id"
        assert one.arguments["rooms"] == "<node-0>.ids[*]"
        assert isinstance(one.arguments["room"]["floor"], int)
        assert [stated.path for stated in one.stated] == [("room", "floor")]


def test_a_fed_argument_chooses_the_alternative_that_has_it() -> None:
    text = {"type": "string"}
    options = [
        {"properties": {name: text, "note": text}, "required": [name], "type": "object"}
        for name in ("city", "room_id")
    ]
    tool = Tool("t", input_schema={"type": "object", "anyOf": options})
    fed = (FedArgument(("room_id",), 0, "<node-0>", ()),)
    assert all(
        one.arguments["room_id"] == "<node-0>" and "city" not in one.arguments for one in draws(tool, fed=fed)
    )


def test_known_values_are_used_and_converted_to_the_type() -> None:
    inner = {"type": "object", "properties": {"season": {"type": "integer"}}}
    tool = tool_with({"show": {"type": "string"}, "filter": inner}, required=["show"])
    one = draws(tool, 1, known={"show": "Falling Leaves", "filter.season": "3"})[0]
    assert one.arguments == {"show": "Falling Leaves", "filter": {"season": 3}}
    assert {stated.evidence for stated in one.stated} == {"related"}
    with pytest.raises(UnfillableError, match="earlier call"):
        draw_arguments(tool, random.Random(1), known={"filter.season": "three"})


def test_taken_texts_are_not_repeated_while_others_are_free() -> None:
    tool = tool_with({"color": {"enum": ["red", "green"]}, "city": {"type": "string"}})
    for one in draws(tool, taken=["red", "Oslo", "Rome"]):
        assert one.arguments["color"] == "green"
        assert one.arguments["city"] not in ("Oslo", "Rome")
    assert draws(tool_with({"color": {"enum": ["red", "dark red"]}}), 3, taken=["red"])


def test_alternatives_merged_parts_and_conditions_are_valid() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    schema = {
        "type": "object",
        "$defs": {"base": {"type": "object", "properties": {"city": text}, "required": ["city"]}},
        "allOf": [
            {"$ref": "#/$defs/base"},
            {"properties": {"kind": {"enum": ["bus", "train"]}}, "required": ["kind"]},
        ],
        "if": {"properties": {"kind": {"const": "bus"}}},
        "then": {"properties": {"seats": number}, "required": ["seats"]},
        "else": {"properties": {"coach": number}, "required": ["coach"]},
        "oneOf": [
            {"properties": {"email": text}, "required": ["email"]},
            {"properties": {"phone": text}, "required": ["phone"]},
        ],
        "dependentRequired": {"email": ["title"]},
        "properties": {"title": text},
    }
    seen = draws(Tool("t", input_schema=schema))
    assert {"email" in one.arguments for one in seen} == {True, False}
    assert all("title" in one.arguments for one in seen if "email" in one.arguments)
    assert any("seats" in one.arguments for one in seen) and any("coach" in one.arguments for one in seen)


def test_parts_that_forbid_each_other_are_refused() -> None:
    closed = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    schema = {
        "type": "object",
        "allOf": [closed, {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
    }
    with pytest.raises(UnfillableError, match="requires and forbids 'b'"):
        draw_arguments(Tool("t", input_schema=schema), random.Random(1))


def test_a_recursive_schema_ends() -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/node"}}}
    optional = {"$defs": {"node": node}, "type": "object", "properties": {"top": {"$ref": "#/$defs/node"}}}
    assert draws(Tool("t", input_schema={**optional, "required": ["top"]}), 3)
    endless = {**optional, "$defs": {"node": {**node, "required": ["child"]}}, "required": ["top"]}
    with pytest.raises(UnfillableError):
        draw_arguments(Tool("t", input_schema=endless), random.Random(1))
    circle = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/properties/a"}}}
    with pytest.raises(UnfillableError, match="ref"):
        draw_arguments(Tool("t", input_schema=circle), random.Random(1))


def test_values_of_tools_without_schema_are_texts() -> None:
    parameters = [
        {"name": "arrival", "type": "date", "desc": "Day of arrival"},
        {"name": "guests", "type": "integer", "desc": "How many"},
        {"name": "meal", "type": "enum: breakfast, dinner", "desc": "Which meal"},
        {"name": "rooms", "type": "list[integer]", "desc": "Room numbers"},
        {"name": "pickup_time", "type": "datetime", "desc": ""},
    ]
    library = ToolLibrary.from_json([{"id": "book", "desc": "Book a stay", "parameters": parameters}])
    gate = SchemaGate(Background(library, "temporal"))
    for seed in range(DRAWS):
        drawn = draw_arguments(library["book"], random.Random(seed))
        assert all(isinstance(one, str) for one in drawn.arguments.values())
        pickup = drawn.arguments["pickup_time"]
        assert datetime.fromisoformat(pickup).isoformat(" ", "minutes") == pickup
        assert drawn.arguments["meal"] in ("breakfast", "dinner")
        assert not [one for one in gate.check(_gold("book", drawn)) if one.state != "not applicable"]


def _gold(tool_id: str, drawn: DrawnArguments) -> Gold:
    stated = " and ".join(f"the {one.path[-1]} '{one.text}'" for one in drawn.stated)
    arguments = [{"name": name, "value": value} for name, value in drawn.arguments.items()]
    plan = [{"task": tool_id, "arguments": arguments}]
    return Gold.of({"id": "1", "user_request": f"Please do it with {stated}.", "task_nodes": plan})


@pytest.mark.parametrize("tools", [workshop_tools(), difficult_tools()], ids=["workshop", "difficult"])
def test_the_gates_accept_a_request_that_states_the_texts(tools: Any) -> None:
    library = ToolLibrary.from_json(tools)
    background = Background(library, "temporal")
    gates = (SchemaGate(background), GroundingGate(background))
    refused = unfillable(library)
    assert len(refused) < len(library)
    for tool in library:
        for seed in range(0 if tool.id in refused else 5):
            gold = _gold(tool.id, draw_arguments(tool, random.Random(seed)))
            findings = [one for gate in gates for one in gate.check(gold) if one.state != "not applicable"]
            assert not findings, (tool.id, gold.request)


SCALARS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(
        lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span},
        st.integers(-50, 5000),
        st.integers(0, 40),
    ),
    st.builds(
        lambda low, step: {"type": "number", "minimum": low, "multipleOf": step},
        st.integers(0, 90),
        st.sampled_from([0.25, 0.5, 3, 7]),
    ),
    st.builds(
        lambda least, more: {"type": "string", "minLength": least, "maxLength": least + more},
        st.integers(0, 60),
        st.integers(0, 20),
    ),
    st.builds(
        lambda form: {"type": "string", "format": form}, st.sampled_from(["date", "email", "uuid", "ipv4"])
    ),
    st.builds(
        lambda given: {"enum": given}, st.lists(st.sampled_from(["a", "b c", 3, 4.5, True]), min_size=1)
    ),
    st.just({"type": ["string", "null"], "pattern": "^[a-z]{2}-\\d+$"}),
    st.just({"type": "boolean"}),
)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(
            lambda item, least: {"type": "array", "items": item, "minItems": least}, inner, st.integers(0, 2)
        ),
        st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
        st.builds(lambda one, other: {"oneOf": [one, other]}, inner, inner),
        st.builds(lambda one, other: {"allOf": [one, other]}, inner, inner),
        st.builds(
            lambda found, count: {"type": "object", "properties": found, "required": list(found)[:count]},
            st.dictionaries(
                st.sampled_from(["city", "start_date", "end_date", "id", "note"]), inner, max_size=3
            ),
            st.integers(0, 3),
        ),
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    schema=SCHEMAS,
    name=st.sampled_from(["city", "email", "amount", "date", "x", "guests"]),
    seed=st.integers(0, 9),
)
def test_drawn_arguments_are_never_invalid(schema: dict[str, Any], name: str, seed: int) -> None:
    root = {"type": "object", "properties": {name: schema}, "required": [name]}
    try:
        drawn = draw_arguments(Tool("find_city", input_schema=root), random.Random(seed))
    except UnfillableError as error:
        assert str(error)
        return
    checker = Draft202012Validator(root, format_checker=Draft202012Validator.FORMAT_CHECKER)
    checker.validate(dict(drawn.arguments))
    for one in drawn.stated:
        value: Any = drawn.arguments
        for part in one.path:
            value = value[part]
        assert value == one.value
        assert one.text == (value if isinstance(value, str) else json.dumps(value))
        assert one.text and one.text == one.text.strip() and "\n" not in one.text


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "allOf",
                    "anyOf",
                    "items",
                    "enum",
                    "minimum",
                    "pattern",
                    "$ref",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=JSON)
def test_a_broken_schema_is_refused_or_filled_but_never_fails(schema: Any) -> None:
    tool = Tool("t", input_schema={"type": "object", "properties": {"x": schema}, "required": ["x"]})
    try:
        drawn = draw_arguments(tool, random.Random(1))
    except UnfillableError as error:
        assert str(error)
    else:
        assert "x" in drawn.arguments


@pytest.mark.parametrize(
    "text",
    [
        "a, " * 40_000,
        "'a', " * 20_000,
        "(" * 100_000,
        "e.g. " * 20_000,
        "between 1 and " * 8_000,
        "a|" * 50_000,
    ],
)
def test_a_hostile_description_does_not_hang(text: str) -> None:
    assert draws(tool_with({"x": {"type": "string", "description": text}}), 2)


@pytest.mark.parametrize(
    "pattern", ["((((a{99}){99}){99}){99})", "(a*)*b", "(?:){65535}", "[^\\s\\S]", "\\p{Han}+", "("]
)
def test_a_hostile_pattern_is_refused_or_met(pattern: str) -> None:
    try:
        drawn = draw_arguments(tool_with({"x": {"type": "string", "pattern": pattern}}), random.Random(1))
    except UnfillableError as error:
        assert "'x'" in str(error)
    else:
        assert len(drawn.arguments["x"]) <= 200
