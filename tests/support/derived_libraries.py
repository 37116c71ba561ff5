"""Small libraries for tests of the derivation: operations with paths, MCP tools, and schemas in short."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from toolassay.graph import Dependency
from toolassay.graph.derive import derive_dependencies
from toolassay.graph.derive.fields import Given, Taken, route_of
from toolassay.graph.derive.given_fields import given_fields, taken_fields
from toolassay.tools.library import Tool, ToolLibrary

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}


def record(*texts: str, **fields: Any) -> dict[str, Any]:
    """An object with text fields and others, which are schemas."""
    return {"type": "object", "properties": {**dict.fromkeys(texts, TEXT), **fields}}


def many(items: Any) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": items}


def operation(
    route: str,
    gives: Any = None,
    *,
    needs: Schema | None = None,
    takes: Schema | None = None,
    description: str = "",
    **keywords: Any,
) -> dict[str, Any]:
    """An operation of an API as an import writes it; its id is its route.

    Args:
        route: "GET /movie/{movie_id}"; the parameters of the path are required whole numbers.
        gives: The schema of its result.
        needs: Further required arguments.
        takes: Optional arguments.
        description: Of the operation.
        keywords: Further keywords of the schema of its arguments, such as `$defs`.
    """
    method, path = route.split(" ")
    # "movie_id" of "/movie/{movie_id}".
    required = {**dict.fromkeys(re.findall(r"{(\w+)}", path), NUMBER), **(needs or {})}
    name = f"{method.lower()}{re.sub(r'[^a-z_A-Z]+', '-', path)}".strip("-")
    source = {"kind": "openapi", "name": name, "method": method, "path": path, "server": "films"}
    return _tool(route, gives, required, takes or {}, description, source, keywords)


def mcp_tool(
    name: str,
    gives: Any = None,
    *,
    needs: Schema | None = None,
    takes: Schema | None = None,
    description: str = "",
    server: str = "shop",
) -> dict[str, Any]:
    """A tool of an MCP server; without `gives` its result has no schema."""
    source = {"kind": "mcp", "name": name, "server": server}
    return _tool(name, gives, needs or {}, takes or {}, description, source, {})


def _tool(
    name: str,
    gives: Any,
    needs: Schema,
    takes: Schema,
    description: str,
    source: dict[str, Any],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    schema = {"type": "object", "properties": {**needs, **takes}, "required": list(needs), **keywords}
    tool = {"id": name, "desc": description, "input_schema": schema, "source": source}
    return tool if gives is None else {**tool, "output_schema": gives}


def library_of(*tools: Mapping[str, Any]) -> ToolLibrary:
    """The library of some entries of `tool_desc.json`."""
    return ToolLibrary.from_json({"nodes": [dict(tool) for tool in tools]})


def tool_of(tool: Mapping[str, Any]) -> Tool:
    """The tool of one entry."""
    return library_of(tool).tools[0]


def links_of(*tools: Mapping[str, Any]) -> dict[tuple[str, str], Dependency]:
    """The derived links by the ids of both tools."""
    return by_pair(derive_dependencies(library_of(*tools)))


def by_pair(links: Iterable[Dependency]) -> dict[tuple[str, str], Dependency]:
    return {(link.source, link.target): link for link in links}


def pairs_of(link: Dependency) -> list[tuple[str, str]]:
    """The fields of a link as pairs of paths."""
    return [(pair.source, pair.target) for pair in link.fields]


def given_of(tool: Mapping[str, Any], *wanted: str) -> dict[str, Given]:
    """The fields of a result by path; `wanted` are the things that arguments refer to."""
    one = tool_of(tool)
    return {given.path: given for given in given_fields(one, route_of(one), frozenset(wanted))}


def things_of(given: Given) -> dict[str, float]:
    """What a field may be of, with the certainty: {"movie": 0.95}."""
    return {" ".join(owner.thing): owner.certainty for owner in given.owners}


def taken_of(tool: Mapping[str, Any]) -> dict[str, Taken]:
    """The arguments of a tool that may come from elsewhere, by path."""
    one = tool_of(tool)
    return {taken.path: taken for taken in taken_fields(one, route_of(one))}


# A small film service.

FILM = record("title", "overview", id=NUMBER, vote_average={"type": "number"})
SEARCH = operation(
    "GET /search/movie",
    record(results=many(FILM), page=NUMBER, total_results=NUMBER),
    needs={"query": TEXT},
    takes={"page": NUMBER},
    description="Search movies by title.",
)
DETAIL = operation("GET /movie/{movie_id}", FILM, description="The details of a movie.")
REVIEWS = operation(
    "GET /movie/{movie_id}/reviews",
    record(id=NUMBER, page=NUMBER, results=many(record("author", "content", "id"))),
    description="The reviews of a movie.",
)
REVIEW = operation(
    "GET /review/{review_id}",
    record("id", "author", "content", media_id=NUMBER),
    needs={"review_id": TEXT},
    description="The details of a review.",
)
FILMS = (SEARCH, DETAIL, REVIEWS, REVIEW)
