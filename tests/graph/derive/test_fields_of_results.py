"""What the fields of a result are of, and which arguments refer to things."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.derived_libraries import (
    FILM,
    NUMBER,
    SEARCH,
    TEXT,
    given_of,
    many,
    mcp_tool,
    operation,
    record,
    taken_of,
    things_of,
)

MOVIE = {"$defs": {"Movie": FILM}}
REFERENCE = {"$ref": "#/$defs/Movie"}


@pytest.mark.parametrize(
    "route", ["GET /movie/{movie_id}", "GET /movies", "GET /movie/popular", "GET /search/movie"]
)
def test_an_object_without_a_name_is_what_the_path_names(route: str) -> None:
    field = given_of(operation(route, FILM), "movie")["id"]
    assert things_of(field).get("movie", 0) > 0.89
    assert field.own
    assert field.attribute == "id"
    assert field.kinds == {"integer"}


@pytest.mark.parametrize(
    ("gives", "path"),
    [
        ({**REFERENCE, **MOVIE}, "id"),
        ({**FILM, "title": "Movie"}, "id"),
        ({**many(REFERENCE), **MOVIE}, "[].id"),
        (record(whatever=REFERENCE) | MOVIE, "whatever.id"),
        ({**many({"allOf": [REFERENCE, record("slug")]}), **MOVIE}, "[].slug"),
    ],
)
def test_the_name_of_a_schema_says_what_an_object_is(gives: Any, path: str) -> None:
    field = given_of(operation("GET /trending", gives), "movie")[path]
    assert things_of(field)["movie"] == 1


def test_a_result_is_read_to_a_bounded_depth_and_size() -> None:
    deep: dict[str, Any] = FILM
    for _ in range(12):
        deep = record("id", movie=deep)
    depths = [path.count(".") for path in given_of(operation("GET /movie", deep), "movie")]
    assert max(depths) == 7
    wide = record(**{f"part{n}": record("movie_id") for n in range(4_000)})
    assert len(given_of(operation("GET /part", wide), "movie")) < 3_100


def test_the_fields_in_metadata_are_those_of_the_object_around() -> None:
    pod = record(metadata=record("name", "namespace"), spec=record("nodeName"))
    found = given_of(operation("GET /api/v1/pods", record(items=many(pod))), "pod", "namespace", "node")
    name = found["items[].metadata.name"]
    assert (things_of(name), name.attribute, name.depth, name.own) == ({"pod": 0.95}, "name", 0, True)
    assert name.shape == {"metadata", "spec"}
    assert things_of(found["items[].spec.nodeName"]) == {"node": 1.0}


def test_a_foreign_key_is_of_another_thing_and_an_own_key_is_not() -> None:
    reviews = given_of(operation("GET /reviews", many(record("id", "movie_id"))), "movie", "review")
    assert things_of(reviews["[].movie_id"]) == {"movie": 1.0}
    assert not reviews["[].movie_id"].own
    assert reviews["[].id"].own
    movies = given_of(operation("GET /movies", many(record("movie_id"))), "movie")
    assert movies["[].movie_id"].own


def test_a_number_without_an_attribute_is_a_measure_and_a_truth_value_nothing() -> None:
    truth = {"type": "boolean"}
    fields = record(
        "artist", "year", total_tracks=NUMBER, track=truth, track_number=NUMBER, genre_ids=many(NUMBER)
    )
    found = given_of(operation("GET /albums", many(fields)), "track", "artist", "genre", "year")
    assert set(found) == {"[].artist", "[].track_number", "[].genre_ids[]", "[].total_tracks"}
    assert [path for path, one in found.items() if one.is_measure] == ["[].total_tracks"]
    assert found["[].genre_ids[]"].kinds == {"integer"}


# Arguments


def test_settings_and_free_texts_are_not_taken() -> None:
    settings = (
        "limit",
        "sort_by",
        "query",
        "page",
        "perPage",
        "fields",
        "text",
        "description",
        "api_key",
        "cursor",
    )
    kinds = {
        "adult": {"type": "boolean"},
        "released": {"type": "string", "format": "date"},
        "unit": {"enum": ["a"]},
    }
    tool = operation("GET /a", needs={"movie_id": TEXT, **kinds}, takes=dict.fromkeys(settings, TEXT))
    assert set(taken_of(tool)) == {"movie_id"}
    assert not taken_of(SEARCH)


def test_of_optional_data_within_an_object_ids_are_references() -> None:
    line = {**record("product_id", "colour_id", "remark"), "required": ["product_id"]}
    tool = operation("POST /orders", needs={"lines": many(line), "address": record("city_id", "street")})
    taken = taken_of(tool)
    assert set(taken) == {"lines[].product_id", "lines[].colour_id", "address.city_id"}
    assert [path for path, argument in taken.items() if argument.required] == ["lines[].product_id"]
    tool = operation("POST /playlists", takes={"playlist": record(tracks=many(record("id", "title")))})
    assert set(taken_of(tool)) == {"playlist.tracks[].id"}


def test_ids_are_of_what_is_around_them_or_what_the_path_names() -> None:
    make = operation("POST /events", takes={"venue": record("id"), "title": TEXT})
    assert in_words_of(make) == {"venue.id": "the id of a venue"}
    assert in_words_of(operation("GET /venues/{vid}", needs={"vid": TEXT})) == {"vid": "the id of a venue"}
    either = operation("GET /containers/{name_or_id}", needs={"name_or_id": TEXT})
    assert in_words_of(either) == {"name_or_id": "the id of a container"}


def in_words_of(tool: dict[str, Any]) -> dict[str, str]:
    return {path: argument.meaning for path, argument in taken_of(tool).items()}


@pytest.mark.parametrize(
    ("route", "thing", "before"),
    [
        ("GET /orders/{id}", "order", ("orders",)),
        ("GET /shop/orders/{id}/lines", "order", ("shop", "orders")),
        ("GET /users/{user_id}/orders/{id}", "order", ("users", "orders")),
    ],
)
def test_a_bare_id_in_a_path_is_of_what_is_before_it(route: str, thing: str, before: tuple[str, ...]) -> None:
    taken = taken_of(operation(route))["id"]
    assert (taken.thing, taken.attribute, taken.route, taken.required) == ((thing,), "id", before, True)


def test_the_id_and_name_of_what_a_tool_creates_are_new() -> None:
    needs = {"id": TEXT, "name": TEXT, "customer_id": TEXT}
    assert set(taken_of(operation("POST /orders", needs=needs))) == {"customer_id"}
    assert set(taken_of(mcp_tool("create_order", needs=needs))) == {"customer_id"}
    # An argument whose name is quoted in its path is not bare.
    assert set(taken_of(mcp_tool("create_order", needs={"customer id": TEXT}))) == {"['customer id']"}
    found = taken_of(mcp_tool("get_order", needs=needs))
    assert found["id"].thing == ("order",)
    assert set(found) == set(needs)


def test_arguments_are_read_to_a_bounded_number() -> None:
    assert len(taken_of(operation("GET /a", takes={f"thing{n}_id": TEXT for n in range(900)}))) < 1_000
    nested: dict[str, Any] = {**record("movie_id"), "required": ["movie_id"]}
    for _ in range(5):
        nested = {**record(part=nested), "required": ["part"]}
    assert "part.part.part.part.part.movie_id" not in taken_of(operation("GET /a", needs={"part": nested}))
