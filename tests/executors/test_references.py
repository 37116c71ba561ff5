"""References in arguments become values, of the type that their place asks for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.executors.executor import CallResult
from toolassay.executors.plan_run import PossibleItem, Unresolvable, resolve_arguments
from toolassay.tools.output_paths import Part, Reference, reference_text

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def resolved(text: str, result: Any, kind: Any = None) -> Any:
    """What an argument becomes whose schema has this type."""
    result = result if isinstance(result, CallResult) else CallResult.of(result)
    schema = None if kind is None else {"properties": {"a": {"type": kind}}}
    return resolve_arguments({"a": text}, {0: result}, schema)["a"]


@pytest.mark.parametrize(
    ("result", "kind", "value"),
    [
        (7, "string", "7"),
        ("7", "integer", 7),
        ("7.5", "number", 7.5),
        (7.0, "integer", 7),
        (7, ["number", "string"], 7),
        ("true", "boolean", True),
        ("[1, 2]", "array", [1, 2]),
        ('{"b": 1}', "object", {"b": 1}),
        ({"b": 1}, "string", '{"b": 1}'),
        ("oak", "integer", "oak"),  # the tool refuses it, and says why
        (None, "string", None),
        (True, "integer", True),
        (True, "string", "true"),
        ("7", None, "7"),
    ],
)
def test_a_result_takes_the_type_of_its_place(result: Any, kind: Any, value: Any) -> None:
    found = resolved("<node-0>", result, kind)
    assert found == value
    assert type(found) is type(value)


@given(values, st.data())
def test_a_path_leads_to_what_it_names(value: Any, data: st.DataObject) -> None:
    path: list[Part] = []
    inner = value
    while isinstance(inner, list | dict) and inner and data.draw(st.booleans()):
        part = data.draw(st.sampled_from(sorted(inner)) if isinstance(inner, dict) else st.just(0))
        if isinstance(part, str) and (('"]' in part and "'" in part) or "']" in part or part == "[]"):
            break  # a name that no path can write
        path.append(part)
        inner = inner[part]
    assert resolved(reference_text(Reference(0, tuple(path))), value) == inner


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<node-0>.films[9].id", r"the result of call 0 has no 'films\[9\]'"),
        ("<node-0>.film", "the result of call 0 has no 'film'"),
        ("<node-0>.films.id", "the result of call 0 has no 'films.id'"),
        ("<node-0>.title[*]", r"the result of call 0 has no 'title\[\]'"),
        ("<node-3>", "there is no result of call 3"),
        ("about <node-3>", "there is no result of call 3"),
    ],
)
def test_what_a_result_does_not_have_is_named(text: str, reason: str) -> None:
    with pytest.raises(Unresolvable, match=reason):
        resolved(text, {"films": [{"id": 1}], "title": "all"})


def test_an_only_item_that_came_without_its_list_is_the_first() -> None:
    item = PossibleItem({"id": 41}, "")
    assert resolved("<node-0>[0].id", item) == 41
    assert resolved("<node-0>[].id", item) == [41]
    assert resolved("<node-0>.id", item) == 41
    assert resolved("<node-0>[0]", PossibleItem("oak", "oak")) == "oak"
    for text in ("<node-0>[1].id", "<node-0>[0].name"):
        with pytest.raises(Unresolvable):
            resolved(text, item)
    for result in (CallResult.of({"id": 41}), PossibleItem([], "[]")):
        with pytest.raises(Unresolvable):
            resolved("<node-0>[0].id", result)


def test_a_reference_inside_a_text_is_the_result_as_a_model_reads_it() -> None:
    result = CallResult({"id": 7}, "the seventh")
    assert resolved("of <node-0>, <node-x>", result) == "of the seventh, <node-x>"
    assert resolved("<node-0>", result) == {"id": 7}
    assert resolved("<node-0>", result, "string") == "the seventh"
    # What a result says is not taken for a reference.
    assert resolved("see <node-0>", CallResult.of("<node-1>")) == "see <node-1>"
    assert resolved("<node-0>", CallResult.of("<node-1>.id")) == "<node-1>.id"


def test_places_within_objects_and_lists_have_types_of_their_own() -> None:
    schema = {
        "properties": {
            "order": {
                "type": "object",
                "properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}}},
            }
        },
        "$defs": {"Line": {"type": "object", "properties": {"amount": {"type": "integer"}}}},
    }
    found = resolve_arguments(
        {"order": {"lines": [{"amount": "<node-0>"}, {"amount": 2}], "<node-0>": True}},
        {0: CallResult.of("3")},
        schema,
    )
    assert found == {"order": {"lines": [{"amount": 3}, {"amount": 2}], "<node-0>": True}}
