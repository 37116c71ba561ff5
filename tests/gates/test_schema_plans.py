"""Plans of schema graphs in the gates and repairs: references to parts of results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import named
from tests.support.schema_graphs import CINEMA, link
from tests.support.small_libraries import check, label, told
from toolassay.gates.gate import Background
from toolassay.gates.graph_gate import GraphGate, WiringGate
from toolassay.gates.grounding import GroundingGate
from toolassay.gates.repair import repair
from toolassay.gates.schema_gate import SchemaGate
from toolassay.graph import ToolGraph

BACKGROUND = Background(CINEMA.library, "schema", CINEMA)
SCHEMA, GRAPH, WIRING = SchemaGate(BACKGROUND), GraphGate(BACKGROUND), WiringGate(BACKGROUND)
KNOWN = GroundingGate(BACKGROUND)
PLACE = "task_nodes[1].arguments[0].value"
LINK = "search_movies>movie_details"


def details(movie: Any, *, links: str = LINK) -> dict[str, Any]:
    nodes = ("search_movies", named(query="dogs")), ("movie_details", named(movie_id=movie))
    return label(*nodes, links=links, user_request="Search for dogs.")


def shows(movie: Any) -> dict[str, Any]:
    place = {"cinema": "Odeon", "movie_id": movie}
    nodes = ("search_movies", named(query="dogs")), ("list_shows", named(filter=place))
    return label(*nodes, links="search_movies>list_shows", user_request="Search for dogs in the Odeon.")


def compared(ids: Any) -> dict[str, Any]:
    nodes = ("search_movies", named(query="dogs")), ("compare_movies", named(ids=ids))
    return label(*nodes, links="search_movies>compare_movies", user_request="Search for dogs.")


@pytest.mark.parametrize(
    "record",
    [
        details("<node-0>.results[0].id"),
        shows("<node-0>.results[1].id"),
        compared("<node-0>.results[*].id"),
        compared(["<node-0>.results[0].id", "<node-0>.results[1].id"]),
        details('<node-0>.results[title="Dogs"].id'),
        details("<node-0>.results[max title].id"),
        details('<node-0>.results[title="Dogs"][each].id'),
        shows("<node-0>.results[min title first].id"),
        compared('<node-0>.results[title="Dogs"][*].id'),
        label(
            ("search_movies", named(query="dogs")),
            ("movie_details", named(movie_id="<node-0>.results[each].id")),
            ("compare_movies", named(ids="<node-1>[*].id")),
            links=f"{LINK} movie_details>compare_movies",
            user_request="Search for dogs and compare.",
        ),
        label(
            ("list_shows", named(filter={"cinema": "Odeon", "movie_id": 7})),
            ("open_doors", named(cinema="Odeon")),
            links="list_shows>open_doors",
            user_request="List the shows of 7 in the Odeon.",
        ),
    ],
)
def test_valid_references_pass_every_gate(record: dict[str, Any]) -> None:
    for gate in (SCHEMA, GRAPH, WIRING, KNOWN):
        assert check(gate, record) == [], gate.name
    assert repair(record, BACKGROUND)[1] == []


def test_a_step_may_repeat_a_reference_of_the_step_before_it() -> None:
    plan = label(
        ("search_movies", named(query="dogs")),
        ("movie_details", named(movie_id="<node-0>.results[0].id")),
        ("compare_movies", named(ids=["<node-1>.id", "<node-0>.results[0].id"])),
        links="search_movies>movie_details movie_details>compare_movies",
        user_request="Search for dogs and compare.",
    )
    assert check(WIRING, plan) == []
    assert repair(plan, BACKGROUND)[1] == []
    apart = plan | {"task_links": plan["task_links"][1:]}
    assert "but there is no link 'search_movies' -> 'compare_movies'" in str(check(WIRING, apart))


@pytest.mark.parametrize(
    ("record", "place", "reason"),
    [
        (details("<node-0>.results[0].name"), PLACE, "returns no 'results[0].name'"),
        (details("<node-0>.id"), PLACE, "'search_movies' returns no 'id'"),
        (details("<node-0>.results[max price].id"), PLACE, "returns no 'results[0].price'"),
        (details('<node-0>.results[owner.name="Ann"].id'), PLACE, "returns no 'results[0].owner.name'"),
        (shows("<node-0>.name"), f"{PLACE}.movie_id", "returns no 'name'"),
        (details("<node-2>.id"), PLACE, "the plan has 2 nodes"),
        (details("<node-0>.results[0].id", links=""), "task_nodes[1].arguments", "there is no link"),
        (details(7), "task_links[0]", "no argument of 'movie_details' refers to 'search_movies'"),
    ],
)
def test_wrong_references_are_rejected(record: dict[str, Any], place: str, reason: str) -> None:
    (finding,) = check(WIRING, record)
    assert (finding.state, finding.where) == ("reject", place)
    assert reason in finding.reason


def test_a_part_that_the_graph_names_is_right_whatever_the_schema_says() -> None:
    links = [link("search_movies", "movie_details", ("results[].movie.key", "movie_id"), origin="trace")]
    graph = ToolGraph.of_dependencies(CINEMA.library, links)
    gate = WiringGate(Background(CINEMA.library, "schema", graph))
    assert check(gate, details("<node-0>.results[0].movie.key")) == []
    assert told(check(gate, details("<node-0>.results[0].key"))) == [("reject", PLACE)]


@pytest.mark.parametrize(
    ("record", "place"),
    [
        (details("<node-0>"), PLACE),
        (details("<node-0>.results"), PLACE),
        (details("<node-0>.results[*].id"), PLACE),
        (details('<node-0>.results[title="Dogs"]'), PLACE),
        (details('<node-0>.results[title="Dogs"][*].id'), PLACE),
        (compared("<node-0>.results[each].id"), PLACE),
        (shows("<node-0>.results[0].genre_ids"), f"{PLACE}.movie_id"),
        (compared("<node-0>.total"), PLACE),
    ],
)
def test_a_list_an_object_and_a_single_value_do_not_replace_each_other(
    record: dict[str, Any], place: str
) -> None:
    (finding,) = check(SCHEMA, record)
    assert (finding.state, finding.where) == ("reject", place)
    assert " takes a" in finding.reason


def test_a_link_that_the_graph_does_not_have_is_held_back() -> None:
    nodes = ("search_movies", named(query="dogs")), ("person_details", named(person_id="<node-0>.total"))
    assert told(check(GRAPH, label(*nodes, links="search_movies>person_details"))) == [
        ("quarantine", "task_links[0]")
    ]


def test_references_to_parts_are_moved_with_their_nodes() -> None:
    late = "movie_details", named(movie_id="<node-1>.results[0].id")
    turned = [late, ("search_movies", named(query="dogs"))]
    repaired, _ = repair(label(*turned, links=LINK, task_steps=[]), BACKGROUND)
    assert [node["task"] for node in repaired["task_nodes"]] == ["search_movies", "movie_details"]
    assert repaired["task_nodes"][1]["arguments"] == named(movie_id="<node-0>.results[0].id")
