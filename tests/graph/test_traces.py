"""Links from recorded calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.test_recorded_calls import trace_file
from tests.support.builders import imported_tool
from tests.support.dependency_lists import dependency_lists
from toolassay.graph import Dependency, FieldPair
from toolassay.graph.traces import Traced, is_distinctive, lower_bound, merge, trace_dependencies
from toolassay.tools.library import ToolLibrary

TEXT = {"type": "string"}
LIBRARY = ToolLibrary.from_json(
    {
        "nodes": [
            imported_tool("search", "Finds films.", {"query": TEXT, "page": {"type": "integer"}}),
            imported_tool("details", "Shows a film.", {"movie_id": {"type": "integer"}}),
            imported_tool(
                "rate",
                "Rates films.",
                {
                    "ids": {"type": "array", "items": {"type": "integer"}},
                    "rating": {"type": "object", "properties": {"film": TEXT}},
                    "status": {"enum": ["watched_2024", "open"]},
                },
            ),
        ]
    }
)
FOUND = {"results": [{"id": 60312, "title": "Heat of the night"}, {"id": 60313, "title": "Cold"}]}


def call(tool: str, result: Any = None, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "result": result}


def traced(path: Path, *sequences: Any) -> Traced:
    return trace_dependencies([trace_file(path, *sequences)], LIBRARY)


def link(path: Path, source: str, target: str, *sequences: Any) -> Dependency | None:
    found = traced(path, *sequences).dependencies
    return next((one for one in found if (one.source, one.target) == (source, target)), None)


def test_a_value_that_reappears_is_a_dependency_with_its_path(tmp_path: Path) -> None:
    sequence = [call("search", FOUND, query="heat"), call("details", {"title": "Cold"}, movie_id=60313)]
    assert traced(tmp_path, sequence, sequence).dependencies == [
        Dependency(
            "search",
            "details",
            "movie_id",
            lower_bound(2, 2),
            (FieldPair("results[].id", "movie_id"),),
            (
                "2 of 2 recorded calls took `movie_id` from `results[].id`",
                "2 of 2 recorded calls of `search` came directly before `details`",
            ),
            "dependency",
            "trace",
            2,
        )
    ]


def test_items_fill_a_list_and_properties_a_nested_argument(tmp_path: Path) -> None:
    taken = call("rate", ids=[60312, 60313], rating={"film": "Heat of the night"})
    found = link(tmp_path, "search", "rate", [call("search", FOUND), taken])
    assert found is not None
    assert set(found.fields) == {
        FieldPair("results[].id", "ids"),
        FieldPair("results[].title", "rating.film"),
    }


def test_the_order_alone_is_observed(tmp_path: Path) -> None:
    first, other = [call("search"), call("rate")], [call("search"), call("details"), call("rate")]
    found = {(one.source, one.target): one for one in traced(tmp_path, first, first, other).dependencies}
    assert set(found) == {("search", "rate"), ("search", "details"), ("details", "rate")}
    rate = found["search", "rate"]
    assert (rate.kind, rate.type, rate.count, rate.fields) == ("observed", "order", 2, ())
    assert rate.score == lower_bound(2, 3)
    assert rate.reasons == ("2 of 3 recorded calls of `search` came directly before `rate`",)


@pytest.mark.parametrize(
    "sequence",
    [
        [call("details", movie_id=60312), call("search", FOUND), call("details", movie_id=60312)],
        {"request": "Show film 60312.", "calls": [call("search", FOUND), call("details", movie_id=60312)]},
    ],
    ids=["an earlier argument", "the request"],
)
def test_a_value_that_was_known_before_is_not_taken(sequence: Any, tmp_path: Path) -> None:
    found = link(tmp_path, "search", "details", sequence)
    assert found is not None and found.kind == "observed"


def test_a_result_that_repeats_its_argument_is_no_source(tmp_path: Path) -> None:
    sequence = [
        call("search", FOUND),
        call("details", {"id": 60312}, movie_id=60312),
        call("rate", ids=[60312]),
    ]
    found = {(one.source, one.target): one.kind for one in traced(tmp_path, sequence).dependencies}
    assert found["search", "rate"] == "dependency"
    assert found["details", "rate"] == "observed"


def test_the_latest_result_is_the_source(tmp_path: Path) -> None:
    sequence = [call("search", FOUND), call("details", {"similar": 60312}), call("rate", ids=[60312])]
    found = {(one.source, one.target): one.kind for one in traced(tmp_path, sequence).dependencies}
    assert found["details", "rate"] == "dependency"
    assert ("search", "rate") not in found


def test_calls_of_one_message_do_not_take_each_others_results(tmp_path: Path) -> None:
    made = [
        {"id": 1, "function": {"name": "search"}},
        {"id": 2, "function": {"name": "details", "arguments": '{"movie_id": 60312}'}},
    ]
    results = [{"role": "tool", "tool_call_id": number, "content": '{"id": 60312}'} for number in (1, 2)]
    assert traced(tmp_path, [{"role": "assistant", "tool_calls": made}, *results]).dependencies == []


def test_failed_calls_and_unknown_tools_are_counted_and_no_evidence(tmp_path: Path) -> None:
    failed = {**call("search", FOUND), "error": "timeout"}
    found = traced(tmp_path, [failed, call("think", FOUND), call("details", movie_id=60312)], [call("think")])
    assert (found.dependencies, found.sequences, found.calls, found.failed) == ([], 2, 1, 1)
    assert found.unknown == {"think": 2}


def test_other_sources_and_own_ideas_are_told_apart(tmp_path: Path) -> None:
    """A value from a third tool leaves the score as it is; a value from no result lowers it."""
    taken = [call("search", FOUND), call("rate"), call("details", movie_id=60312)]
    elsewhere = [call("search", FOUND), call("rate", {"film": 70001}), call("details", movie_id=70001)]
    invented = [call("search", FOUND), call("rate"), call("details", movie_id=80001)]
    alone = link(tmp_path, "search", "details", taken)
    with_other = link(tmp_path, "search", "details", taken, elsewhere)
    with_own = link(tmp_path, "search", "details", taken, invented)
    assert alone and with_other and with_own
    assert (alone.score, with_other.score, with_own.score) == (
        lower_bound(1, 1),
        lower_bound(1, 1),
        lower_bound(1, 2),
    )
    assert with_other.reasons[0].endswith("from `results[].id`; 1 more took it from other tools")
    assert with_own.reasons[0].startswith("1 of 2 recorded calls")


def test_a_place_below_a_name_that_is_data_is_no_field(tmp_path: Path) -> None:
    sequence = [call("search", {"films": {"film_60312": {"id": 60312}}}), call("details", movie_id=60312)]
    found = link(tmp_path, "search", "details", sequence)
    assert found is not None and found.kind == "observed"


@pytest.mark.parametrize(
    ("value", "argument", "expected"),
    [
        (True, "movie_id", False),
        ("", "movie_id", False),
        (603, "movie_id", True),
        (603, "page", False),
        (60312, "page", True),
        (5000, "page", False),
        (2024, "year", False),
        (2994.5, "amount", True),
        ("heat", "query", False),
        ("one_way", "kind", False),
        ("HAT110", "flight", True),
        ("JFK", "origin", False),
        ("JFK", "airportCode", True),
        ("2024-05-20", "day", False),
        ("2024-05-20T18:30:11Z", "since", True),
        ("Heat of the night", "query", True),
        ("watched_2024", "status", False),
        ("x" * 501, "query", False),
    ],
)
def test_distinctive_values(value: Any, argument: str, expected: bool) -> None:
    assert is_distinctive(value, (argument,), LIBRARY["rate"]) is expected


def test_a_lower_bound_grows_with_the_number_of_calls() -> None:
    assert lower_bound(0, 0) == lower_bound(0, 9) == 0
    assert lower_bound(1, 1) < 0.3 < lower_bound(2, 2) < lower_bound(20, 20) < 1
    assert lower_bound(12, 14) == pytest.approx(0.648, abs=0.001)


def test_the_published_airline_recordings(reference: Path) -> None:
    names = ["get_user_details", "get_reservation_details", "search_direct_flight", "book_reservation"]
    library = ToolLibrary.from_json([imported_tool(name, "", {}) for name in [*names, "cancel_reservation"]])
    found = trace_dependencies([reference / "taubench" / "gpt-4o-airline.json"], library)
    links = {(one.source, one.target): one for one in found.dependencies}
    # 18 of 200 have no call; one call is recorded twice with the same id.
    assert (found.sequences, found.unknown["think"]) == (182, 91)
    details = links["get_user_details", "get_reservation_details"]
    assert details.fields == (FieldPair("reservations[]", "reservation_id"),)
    assert details.score > 0.95
    booked = links["search_direct_flight", "book_reservation"]
    assert booked.fields[0] == FieldPair("[].flight_number", "flights[].flight_number")
    assert links["get_user_details", "cancel_reservation"].kind == "dependency"


VALUES = st.sampled_from(
    [60312, "60312", 60313, "HAT110", "open", 7, None, True, "Heat of the night", 2994.5]
)
NESTED = st.recursive(
    VALUES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "at_2024"]), inner, max_size=3),
    ),
    max_leaves=6,
)
CALLS = st.fixed_dictionaries(
    {
        "tool": st.sampled_from([*LIBRARY.ids, "unknown"]),
        "arguments": st.dictionaries(st.sampled_from(["movie_id", "ids", "rating"]), NESTED, max_size=2),
        "result": NESTED,
        "error": st.sampled_from([None, None, "timeout"]),
    }
)


@given(st.lists(st.lists(CALLS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_every_recording_gives_one_valid_link_for_each_pair(
    tmp_path_factory: pytest.TempPathFactory, sequences: list[Any]
) -> None:
    found = traced(tmp_path_factory.mktemp("calls"), *sequences).dependencies
    pairs = [(one.source, one.target) for one in found]
    assert len(set(pairs)) == len(pairs)
    assert all(source != target for source, target in pairs)
    for one in found:
        assert 0 < one.score < 1 and one.count > 0 and one.reasons
        assert (one.kind == "dependency") == bool(one.fields)
        assert Dependency.from_json(one.to_json()).fields == one.fields


# Merging


DERIVED = Dependency("a", "b", "x", 0.5, (FieldPair("id", "x"), FieldPair("name", "y")), ("named alike",))
FLOW = Dependency("a", "b", "x", 0.6, (FieldPair("items[].id", "x"),), ("3 of 3",), "dependency", "trace", 3)


def test_recorded_values_come_first_and_raise_the_score() -> None:
    (both,) = merge([DERIVED], [FLOW])
    assert both.score == pytest.approx(0.8)
    assert both.fields == (FieldPair("items[].id", "x"), FieldPair("name", "y"))
    assert both.reasons == ("3 of 3", "named alike")
    assert (both.type, both.kind, both.origin, both.count) == ("x", "dependency", "trace", 3)


@given(dependency_lists(), dependency_lists())
def test_a_merge_has_one_link_for_each_pair(derived: list[Dependency], found: list[Dependency]) -> None:
    merged = merge(derived, found)
    pairs = [(one.source, one.target) for one in merged]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == {(one.source, one.target) for one in [*derived, *found]}
    scores = {(one.source, one.target): one.score for one in derived}
    for one in merged:
        assert scores.get((one.source, one.target), 0) <= one.score <= 1
        assert len({pair.target for pair in one.fields}) == len(one.fields)
        assert (one.type in {pair.target for pair in one.fields}) or not one.fields


def test_only_arguments_that_a_tool_has_are_filled(tmp_path: Path) -> None:
    wrapped = {"args": [], "kwargs": {"movie_id": 60312, "note": 60313}}
    found = link(tmp_path, "search", "details", [call("search", FOUND), call("details", **wrapped)])
    assert found is not None and found.fields == (FieldPair("results[].id", "movie_id"),)


def test_a_call_that_is_not_read_is_counted_apart_and_no_evidence(tmp_path: Path) -> None:
    other = call("details", {"title": "Cold"}, typed_values=[{"key": "movie_id", "value": 60312}])
    no_result = {
        "messages": [{"role": "assistant", "tool_calls": [{"id": "a", "name": "details", "args": {}}]}]
    }
    failed = {**call("search", FOUND), "error": "timeout"}
    found = traced(tmp_path, [call("search", FOUND), other], no_result, [failed])
    assert (found.dependencies, found.calls, found.failed) == ([], 1, 1)
    assert found.unread == {"typed_values": 1, "id, name, args": 1}
