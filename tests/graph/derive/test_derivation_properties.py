"""What holds of the links of any library, the malformed ones included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.derived_libraries import (
    FILMS,
    NUMBER,
    TEXT,
    by_pair,
    library_of,
    links_of,
    many,
    mcp_tool,
    operation,
    pairs_of,
    record,
)
from tests.support.running import is_the_same_in_every_process
from toolassay.graph.derive import Derivation, derive_dependencies
from toolassay.tools.argument_schemas import declared_at, resolve
from toolassay.tools.output_paths import EACH, parse_path

NAMES = (
    *("id", "movie_id", "movieIDs", "movie", "movies", "person_id", "name", "slug", "key", "items", "data"),
    *("results", "metadata", "parent_id", "review", "reviews", "account_ids", "value", "status", "page"),
    # Names that must be quoted in a path.
    *("a.b_id", "movie's id", 'the "movie" id', "movie id", "0", "", "ids[]", "naïve_id", "影片_id"),
)
LEAVES: tuple[Any, ...] = (
    *(TEXT, NUMBER, {}, True, False, {"type": "boolean"}, {"type": ["string", "null"]}, {"enum": ["a", "b"]}),
    *({"type": "string", "format": "uuid"}, {"type": "string", "enum": ["b", 1, None, []]}),
    *({"$ref": "#"}, {"$ref": "#/$defs/Movie"}, {"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Nothing"}),
)
DEFINITIONS = {
    "Movie": record("id", "title", parent={"$ref": "#/$defs/Movie"}, data={"$ref": "#/$defs/Movie"}),
    "Loop": {"$ref": "#/$defs/Loop"},
}
# Keywords with values that they cannot have.
MALFORMED: tuple[dict[str, Any], ...] = (
    *({"type": 5}, {"type": ["string", 5]}, {"properties": []}, {"properties": {"movie_id": None}}),
    *(
        {"items": [TEXT], "type": "array"},
        {"items": True, "type": "array"},
        {"$ref": 5},
        {"$ref": "elsewhere"},
    ),
    *({"allOf": 5}, {"anyOf": {"a": 1}}, {"oneOf": []}, {"allOf": [True, False, None]}, {"enum": 5}),
    *({"enum": [{"a": 1}, [1], None]}, {"title": 5}, {"format": 7}, {"description": 9}, {"required": "id"}),
    *({"required": [1]}, {"properties": {"movie": {"type": "object", "properties": None}}}, {"const": None}),
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    return st.builds(
        lambda fields, needed: {**record(**fields), "required": list(fields)[:needed]},
        properties,
        st.integers(0, 2),
    )


SCHEMAS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        objects(inner)
        | st.builds(many, inner)
        | st.lists(inner, max_size=2).map(lambda parts: {"allOf": parts})
        | st.lists(inner, max_size=2).map(lambda parts: {"anyOf": parts})
        | objects(inner).map(lambda one: {**one, "title": "Movie"})
    ),
    max_leaves=8,
)  # fmt: skip
ROUTES = (
    *("GET /movies", "GET /movie/{movie_id}", "POST /movies", "DELETE /movie/{movie_id}", "GET /me"),
    *("GET /person/{id}/movies", "GET /reviews", "GET /a/{b}:undelete", "PUT /a.b/{person_id}"),
    "GET /search/movie",
)
TOOL_NAMES = (
    *("list_movies", "get_movie", "create_review", "delete_movie"),
    *("run", "search", "movies", "1", "é"),
)
TEXTS = ("", "Lists movies.", "Gets the id that list_movies returns.", "Returns people, movies; reviews.")


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    definitions = {"$defs": DEFINITIONS}
    gives = draw(st.none() | objects(SCHEMAS) | st.builds(many, SCHEMAS))
    gives = None if gives is None else {**gives, **definitions}
    needs = draw(
        st.dictionaries(st.sampled_from(NAMES), SCHEMAS.filter(lambda one: one is not False), max_size=3)
    )
    description = draw(st.sampled_from(TEXTS))
    if draw(st.booleans()):
        route = draw(st.sampled_from(ROUTES))
        return operation(route, gives, takes=needs, description=description, **definitions)
    name, server = draw(st.sampled_from(TOOL_NAMES)), draw(st.sampled_from(["shop", "movie"]))
    tool = mcp_tool(name, gives, needs=needs, description=description, server=server)
    return {**tool, "input_schema": {**tool["input_schema"], **definitions}}


libraries = st.lists(tools(), min_size=2, max_size=5, unique_by=lambda tool: tool["id"])


def has_place(schema: Any, path: str) -> bool:
    """Whether a schema declares the place that a path names."""
    place = schema
    for part in parse_path(path):
        place = resolve(place, schema)
        for keyword in ("anyOf", "oneOf", "allOf") if part == EACH and "items" not in place else ():
            found = [one for one in place.get(keyword, ()) if "items" in resolve(one, schema)]
            place = resolve(found[0], schema) if found else place
        if part == EACH and "items" in place:
            place = place["items"]
        elif (known := declared_at(place, schema)) and part in known:
            place = known[str(part)]
        else:
            return False
    return True


def facts(*some: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """What is derived, without the texts."""
    return {pair: (link.score, link.type, link.fields, link.origin) for pair, link in links_of(*some).items()}


@given(libraries)
@settings(max_examples=30)
def test_every_link_is_well_formed(some: list[dict[str, Any]]) -> None:
    library = library_of(*some)
    links = derive_dependencies(library)
    assert len(by_pair(links)) == len(links)
    places = [(library.index(link.source), library.index(link.target)) for link in links]
    assert places == sorted(places)
    for link in links:
        assert link.source != link.target
        assert 0 < link.score <= 1
        assert link.kind == ("dependency" if link.fields else "observed")
        assert link.type == (link.fields[0].target if link.fields else "order")
        sources = [source for source, _ in pairs_of(link)]
        targets = [target for _, target in pairs_of(link)]
        assert len(set(targets)) == len(targets), "an argument is filled twice"
        assert len(set(sources)) == len(sources), "a field fills two arguments"
        assert all(has_place(library[link.source].output_schema, path) for path in sources if path)
        assert all(has_place(library[link.target].input_schema, path) for path in targets)
        assert link.reasons
        assert all(reason.strip() and reason.isprintable() for reason in link.reasons)


@given(libraries, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_the_tools_does_not_matter(some: list[dict[str, Any]], random: Any) -> None:
    mixed = random.sample(some, len(some))
    assert facts(*mixed) == facts(*some)


@given(libraries)
@settings(max_examples=40)
def test_what_is_explained_is_what_is_derived(some: list[dict[str, Any]]) -> None:
    library = library_of(*some)
    derivation = Derivation(library)
    links = by_pair(derivation.links())
    for source in library.ids:
        for target in library.ids:
            lines = derivation.explain(source, target)
            assert all(line.strip() for line in lines)
            if (source, target) in links:
                assert derivation.between(source, target) == links[source, target]
                assert (
                    lines[0] == f"score {links[source, target].score:.2f} from {links[source, target].origin}"
                )
            else:
                assert lines[0].startswith("no field") or lines[0].endswith("not a link")


@given(st.lists(st.sampled_from(MALFORMED), min_size=1, max_size=3), st.booleans())
@example([{"allOf": 5}], True)
@settings(max_examples=30)
def test_a_malformed_schema_is_no_obstacle(parts: list[dict[str, Any]], nested: bool) -> None:
    merged = {key: value for part in parts for key, value in part.items()}
    schema = record(movie_id=merged, id=merged, movie=merged, items=merged) if nested else merged
    odd = {"id": "odd", "desc": "Lists movies.", "input_schema": schema, "output_schema": schema}
    links = links_of(*FILMS, odd)
    assert {pair: links.get(pair) is not None for pair in links_of(*FILMS)} == dict.fromkeys(
        links_of(*FILMS), True
    )
    Derivation(library_of(*FILMS, odd)).explain("odd", FILMS[1]["id"])


SCRIPT = """
import json, sys
from toolassay.graph.derive import derive_dependencies
from toolassay.tools.library import ToolLibrary
library = ToolLibrary.from_json(json.loads(sys.argv[1]))
print(json.dumps([repr(one) for one in derive_dependencies(library)]))
"""


def test_links_are_the_same_in_every_process() -> None:
    """Sets of texts have another order in each process, which must not show in the last digit of a score."""
    person = record("name", "known_for", "gender", "birthday", "place_of_birth", "profile_path", id=NUMBER)
    shapes = [
        operation("GET /person/{person_id}", person),
        operation("GET /actor/{actor_id}", record("known_for", "gender", "agent", id=NUMBER)),
        operation("GET /trending", record(results=many(person))),
        operation("GET /movie/{movie_id}/credits", record(cast=many(person), crew=many(person))),
    ]
    library = library_of(*FILMS, *shapes)
    assert is_the_same_in_every_process(SCRIPT, json.dumps(library.to_json()))


def test_2000_tools_with_a_common_argument_have_few_links() -> None:
    """Each of 1,000 lists leads to its detail; the workspace that all take and give is context."""
    letters = "bcdfghjklm"
    tools = [operation("GET /workspaces", many(record("id", "name")), needs={"day": TEXT})]
    wanted = set()
    for one, two, three in product(letters, repeat=3):
        name = f"{one}a{two}o{three}ax"
        found = record("id", "workspace_id", "name")
        listing = f"GET /workspaces/{{workspace_id}}/{name}es"
        detail = f"{listing}/{{{name}_id}}"
        tools += [operation(listing, many(found)), operation(detail, found)]
        for tool in tools[-2:]:
            tool["input_schema"]["properties"] = dict.fromkeys(tool["input_schema"]["properties"], TEXT)
        wanted.add((listing, detail))
    links = links_of(*tools)
    assert wanted <= set(links)
    assert {source for source, _ in set(links) - wanted} == {"GET /workspaces"}
    assert len(links) - len(wanted) <= 60


def test_a_recursive_argument_is_read_to_an_end() -> None:
    """An envelope (`value`, `items`) does not count as depth, so that this was once read for ever."""
    again = {"$ref": "#/$defs/Term"}
    term = record("movie_id", value=again, data=again, content=again, items=many(again))
    definitions: dict[str, Any] = {"$defs": {"Term": term}}
    search = operation("POST /search", needs={"value": again}, **definitions)
    link = links_of(*FILMS, search)["GET /search/movie", "POST /search"]
    assert pairs_of(link) == [("results[].id", "value.movie_id")]
