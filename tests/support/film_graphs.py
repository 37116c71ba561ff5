"""A small schema graph for the tests of its picture and page: a library of films on two servers."""

from __future__ import annotations

from typing import Any

from tests.support.builders import imported_tool
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import FieldPair
from toolassay.tools.library import ToolLibrary

HOSTILE = "<img src=x onerror=alert(1)>"

_ID = {"type": "integer"}
_FOUND = {
    "type": "object",
    "properties": {
        "page": {"type": "integer"},
        "results": {"type": "array", "items": {"type": "object", "properties": {"id": _ID, "title": {}}}},
    },
}


def _tool(name: str, tag: str, takes: dict[str, Any], gives: dict[str, Any] | None = None) -> dict[str, Any]:
    return imported_tool(name, f"{name} of films.", takes, output=gives) | {"tags": [tag]}


def film_library() -> ToolLibrary:
    """Five tools with three tags."""
    nested = {"type": "object", "properties": {"film_id": _ID, "since": {"type": "string"}}}
    return ToolLibrary.from_json(
        [
            _tool("search_film", "search", {"query": {"type": "string"}}, _FOUND),
            _tool("film_details", "film", {"film_id": _ID}, {"properties": {"id": _ID, "cast_id": _ID}}),
            _tool("film_reviews", "film", {"filter": nested}, {"properties": {"text": {}}}),
            _tool("actor", "cast", {"actor_id": _ID}),
            _tool(HOSTILE, "film", {HOSTILE: {"type": "string"}}),
        ]
    )


def film_links() -> list[Dependency]:
    """Links from every origin but a person, among them one observed order."""
    return [
        Dependency(
            "search_film",
            "film_details",
            "film_id",
            0.95,
            (FieldPair("results[].id", "film_id"),),
            ("`results[].id` is the id of a film", "both are integers"),
        ),
        Dependency(
            "search_film",
            "film_reviews",
            "filter.film_id",
            0.8,
            (FieldPair("results[].id", "filter.film_id"),),
            ("both are integers",),
            origin="trace",
            count=7,
        ),
        Dependency(
            "film_details",
            "actor",
            "actor_id",
            0.45,
            (FieldPair("cast_id", "actor_id"),),
            ("names are alike",),
            origin="description",
            further=(("verdict", {"keep": True, "reason": "a cast has actors"}),),
        ),
        Dependency("film_reviews", "film_details", score=0.2, kind="observed", origin="trace", count=2),
        Dependency("actor", HOSTILE, HOSTILE, 0.3, (FieldPair("", HOSTILE),), (HOSTILE,)),
    ]


def film_graph() -> ToolGraph:
    """The graph of these tools and links."""
    return ToolGraph.of_dependencies(film_library(), film_links())
