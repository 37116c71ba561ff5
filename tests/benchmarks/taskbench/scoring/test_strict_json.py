"""Strict scores of imported tools: arguments are compared as JSON values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import workshop_tools
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.plans.normalised_plan import Plan, PlanReader, comparable_json, plan_digest
from toolassay.tools.library import ToolLibrary

LIBRARY = ToolLibrary.from_json(workshop_tools())
READER = PlanReader(LIBRARY, "temporal")
LINE = {"material": "oak", "amount": 2, "unit": "metre"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def plan(tool: str, *values: Any, name: str = "lines", reader: PlanReader = READER) -> Plan:
    """A plan of calls of one tool, each with one argument."""
    nodes = [{"task": tool, "arguments": [{"name": name, "value": value}]} for value in values]
    found = reader.plan({"task_nodes": nodes, "task_links": []})
    assert found is not None
    return found


def is_equal(one: Any, other: Any) -> bool:
    first, second = plan("order_material", one), plan("order_material", other)
    equal = score_plan(first, second).is_exact
    assert (plan_digest(first) == plan_digest(second)) is equal
    return equal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([LINE], [dict(reversed(LINE.items()))]),
        ([{**LINE, "amount": 2}], [{**LINE, "amount": 2.0}]),
        (" oak ", "'oak'"),
        ('[{"material": "oak", "amount": 2, "unit": "metre"}]', [LINE]),  # as structured output must write it
        ([], []),
    ],
)
def test_equal_values(one: Any, other: Any) -> None:
    assert is_equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (True, "true"),
        (["a", "b"], ["b", "a"]),
        ({"a": 1}, {"a": "1"}),
        ([LINE], [{**LINE, "amount": 3}]),
        ("07", "7"),
        (None, ""),
        ([], {}),
    ],
)
def test_different_values(one: Any, other: Any) -> None:
    assert not is_equal(one, other)


MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
SHIFT = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "hours": {"type": "integer", "default": 8}, "at": MOMENT},
    "required": ["who"],
}
ROSTER = {
    "$defs": {"Shift": SHIFT, "Mood": {"enum": ["calm", "busy"], "default": "calm"}},
    "properties": {
        "team": {"type": "string"},
        "starts": {"anyOf": [MOMENT, {"type": "null"}]},
        "colour": {"enum": ["red", "blue"], "default": "red"},
        "limit": {"type": ["integer", "null"], "default": 10},
        "draft": {"type": "boolean", "default": False},
        "opens": {"type": ["string", "null"], "format": "time"},
        "site": {"type": "string", "format": "uri"},
        "ticket": {"type": "string", "format": "uuid"},
        "seats": {"type": "integer", "default": 5},
        "shifts": {"type": "array", "items": {"$ref": "#/$defs/Shift"}},
        "rules": {"type": "object", "default": {"pause": 1}, "properties": {"pause": {"default": 1}}},
        "breaks": {"type": "object", "additionalProperties": MOMENT},
        "badges": {"anyOf": [{"type": "array", "items": {}, "uniqueItems": True}, {"type": "null"}]},
        "order": {"type": "array", "items": {"type": "string"}},
        "span": {"type": "array", "prefixItems": [MOMENT, {"type": "integer"}]},
        "mood": {"allOf": [{"$ref": "#/$defs/Mood"}], "description": "mood of the day"},
        "pay": {
            "oneOf": [
                {"properties": {"by": {"const": "hour"}, "times": {"default": 1}}},
                {"properties": {"by": {"const": "day"}, "times": {"default": 2}}},
            ]
        },
        "name": {"type": "string"},
        "value": {"type": "number"},
    },
    "required": ["seats"],
}
PLAIN = [
    {"name": "topic", "type": "string"},
    {"name": "language", "type": "string", "default": "en"},
    {"name": "most", "type": "integer", "default": 5},
    {"name": "needed", "type": "string", "default": "x", "required": True},
]
ROSTERS = ToolLibrary.from_json(
    [{"id": "plan_roster", "input_schema": ROSTER}, {"id": "look_up", "parameters": PLAIN}]
)
TICKET = "0a1b2c3d-0000-4000-8000-00000000000f"
NOON = "2031-04-02T12:00:00Z"


def calls_are_equal(one: Any, other: Any, tool: str = "plan_roster") -> bool:
    """Whether strict scores take both arguments, in any form, for those of one call, in either order."""
    found = set()
    for kind in ("temporal", "schema"):
        plans = [
            PlanReader(ROSTERS, kind).plan({"task_nodes": [{"task": tool, "arguments": given}]})
            for given in (one, other)
        ]
        first, second = plans
        assert first is not None and second is not None
        found |= {score_plan(first, second).is_exact, score_plan(second, first).is_exact}
        found.add(plan_digest(first) == plan_digest(second))
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"colour": "red", "limit": 10.0, "draft": False}),
        ({"rules": {}}, {"rules": {"pause": 1}}),
        ({"shifts": [{"who": "Ada"}]}, {"shifts": [{"hours": 8, "who": "Ada", "at": None}]}),
        ({"starts": NOON}, {"starts": "2031-04-02t14:00:00.000+02:00"}),
        ({"breaks": {"first": NOON}}, {"breaks": {"first": "2031-04-02T09:00:00-03:00"}}),
        ({"opens": "10:00Z"}, {"opens": "11:00:00.0+01:00"}),
        ({"site": "https://Ex.org:443?q=%7E"}, {"site": "HTTPS://ex.org/?q=~"}),
        ({"ticket": TICKET}, {"ticket": TICKET.upper()}),
        ({"badges": ["a", {"b": 1}]}, {"badges": [{"b": 1}, "a"]}),
        ({"value": 0.3}, {"value": 0.1 + 0.2}),
        ({"team": "a"}, '{"team": "a"}'),
        ({"team": "a"}, '[{"name": "team", "value": "a"}]'),
        ({"team": "a", "seats": 2}, [{"seats": 2, "team": "a"}]),
        ({"team": "a", "seats": 2}, ['{"team": "a"}', '{"seats": 2}']),
        ({"pay": {"by": "day"}}, {"pay": {"by": "day", "times": 2}}),
        ({}, None),
    ],
)
def test_calls_with_the_same_meaning_are_equal(one: Any, other: Any) -> None:
    assert calls_are_equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"limit": None}),  # null, where the default is another value
        ({}, {"seats": 5}),
        ({}, {"colour": "blue"}),
        ({}, {"rules": {"pause": 2}}),
        ({"opens": "10:00"}, {"opens": "10:00Z"}),
        ({"site": "https://ex.org/a"}, {"site": "https://ex.org/A"}),
        ({"site": "<node-0>.URL"}, {"site": "<node-0>.url"}),
        ({"ticket": TICKET[1:]}, {"ticket": TICKET[1:].upper()}),
        ({"starts": NOON}, {"starts": NOON[:-1]}),  # no date-time to the tool
        ({"starts": "2031-02-30T12:00:00Z"}, {"starts": "2031-02-30T12:00:00+00:00"}),
        ({"order": ["a", "b"]}, {"order": ["b", "a"]}),
        ({"badges": ["a", "a"]}, {"badges": ["a"]}),
        ({"value": 10**30}, {"value": 10**30 + 1}),
        ({"team": "a"}, '{"team": NaN}'),
    ],
)
def test_calls_with_another_meaning_are_not_equal(one: Any, other: Any) -> None:
    assert not calls_are_equal(one, other)


@pytest.mark.parametrize(
    ("given", "equal"),
    [
        ({"topic": "oak", "language": "en", "most": "5"}, True),
        ({"topic": "oak", "language": None}, True),
        ([{"parameter": "topic", "type": "string", "value": "oak"}], True),
        ({"topic": "oak", "language": "EN"}, False),
        ({"topic": "oak", "needed": "x"}, False),
    ],
)
def test_declared_defaults_of_tools_without_a_schema(given: Any, *, equal: bool) -> None:
    assert calls_are_equal({"topic": "oak"}, given, "look_up") is equal


@given(json_values)
def test_a_value_equals_itself_and_no_text_equals_another_kind_of_value(value: Any) -> None:
    key = comparable_json(value)
    assert key == comparable_json(value)
    assert isinstance(value, str) or all(
        key != comparable_json(text) for text in (str(value), repr(value), key[1:])
    )
