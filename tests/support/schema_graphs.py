"""A small schema graph of imported tools: a cinema, with lists, nested arguments and an observed link."""

from __future__ import annotations

from typing import Any

from tests.support.builders import imported_tool
from toolassay.graph import Dependency, FieldPair, ToolGraph
from toolassay.tools.library import ToolLibrary

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _items(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _object(**properties)}


_IDS = {"type": "array", "items": _NUMBER}
_FILTER = _object(cinema=_TEXT, movie_id=_NUMBER) | {"required": ["cinema", "movie_id"]}


def cinema_tools() -> dict[str, Any]:
    """The `tool_desc.json` of the cinema."""
    nodes = [
        imported_tool(
            "search_movies",
            "Searches for movies.",
            {"query": _TEXT},
            ["query"],
            output=_object(results=_items(id=_NUMBER, title=_TEXT, genre_ids=_IDS), total=_NUMBER),
        ),
        imported_tool(
            "movie_details",
            "Gets the details of a movie.",
            {"movie_id": _NUMBER, "language": _TEXT},
            ["movie_id"],
            output=_object(id=_NUMBER, director=_object(id=_NUMBER), genre_ids=_IDS),
        ),
        imported_tool(
            "person_details",
            "Gets the details of a person.",
            {"person_id": _NUMBER},
            ["person_id"],
            output=_object(id=_NUMBER, name=_TEXT),
        ),
        imported_tool(
            "list_shows",
            "Lists the shows of a movie in a cinema.",
            {"filter": _FILTER},
            ["filter"],
            output=_items(show_id=_NUMBER, hall=_TEXT),
        ),
        imported_tool(
            "book_seats",
            "Books seats for a show.",
            {"show_id": _NUMBER, "seats": {"type": "integer", "minimum": 1, "maximum": 8}, "hall": _TEXT},
            ["show_id", "seats", "hall"],
        ),
        imported_tool(
            "compare_movies",
            "Compares several movies.",
            {"ids": _IDS, "genre_ids": _IDS},
            ["ids"],
            output=_object(best=_NUMBER),
        ),
        imported_tool("open_doors", "Opens the doors of a cinema.", {"cinema": _TEXT}, ["cinema"]),
    ]
    return {"nodes": nodes}


def link(source: str, target: str, *fields: tuple[str, str], score: float = 1.0, **more: Any) -> Dependency:
    """A link with its fields."""
    pairs = tuple(FieldPair(*pair) for pair in fields)
    return Dependency(source, target, pairs[0].target if pairs else "order", score, pairs, **more)


LINKS = (
    link("search_movies", "movie_details", ("results[].id", "movie_id"), score=0.9),
    link("search_movies", "list_shows", ("results[].id", "filter.movie_id"), score=0.8),
    link(
        "search_movies",
        "compare_movies",
        ("results[].id", "ids"),
        ("results[].genre_ids", "genre_ids"),
        score=0.7,
    ),
    link("movie_details", "person_details", ("director.id", "person_id"), score=0.9),
    link("movie_details", "list_shows", ("id", "filter.movie_id"), score=0.6),
    link("movie_details", "compare_movies", ("id", "ids"), ("genre_ids", "genre_ids"), score=0.5),
    link("compare_movies", "movie_details", ("best", "movie_id"), score=0.5),
    link("compare_movies", "list_shows", ("best", "filter.movie_id"), score=0.4),
    link("list_shows", "book_seats", ("[].show_id", "show_id"), ("[].hall", "hall"), score=0.9),
    link("book_seats", "open_doors", kind="observed", score=0.3),
    link("list_shows", "open_doors", kind="observed", score=0.3),
)
CINEMA = ToolGraph.of_dependencies(ToolLibrary.from_json(cinema_tools()), LINKS)
