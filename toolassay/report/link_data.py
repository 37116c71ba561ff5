"""The links of a schema graph as data of its page: compact, with every text once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, get_args

from toolassay.argument_schemas import Schema, properties_at, resolve
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Kind, Origin
from toolassay.output_paths import EACH, Part, path_text
from toolassay.tools import Tool

MOST_REASONS = 6_000_000
"""Characters of reasons in a page; the links with the lowest scores lose theirs first."""

_MOST_PATHS = 60  # places of a schema that the editor of a link offers
_DEEPEST = 5


class _Texts:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def link_data(graph: ToolGraph, *, most: int) -> dict[str, Any]:
    """The data of a schema graph's links, the best first.

    `links` has a list for each: numbers of source and target, score, `type`, `fields` (a flat list of pairs),
    `reasons`, `kind`, `origin`, `count`, further keys. Types, fields and reasons are numbers of `texts`, kind
    and origin of `kinds` and `origins`. `paths` and `arguments` have, for each tool, the number of an item of
    `places`: the places in its result and its arguments, as numbers of `texts`.

    Args:
        graph: A schema graph.
        most: Maximum number of links.
    """
    texts = _Texts()
    kinds, origins = get_args(Kind), get_args(Origin)
    library = graph.library
    left = MOST_REASONS
    links: list[list[Any]] = []
    for link in sorted(graph.dependencies(), key=lambda one: -one.score)[:most]:
        left -= sum(len(reason) for reason in link.reasons if reason not in texts.numbers)
        links.append(
            [
                library.index(link.source),
                library.index(link.target),
                round(link.score, 3),
                texts(link.type),
                [texts(path) for pair in link.fields for path in pair],
                [texts(reason) for reason in link.reasons] if left >= 0 else [],
                kinds.index(link.kind),
                origins.index(link.origin),
                link.count,
                *([dict(link.further)] if link.further else []),
            ]
        )
    places: dict[tuple[int, ...], int] = {}

    def number_of(found: Iterator[str]) -> int:
        return places.setdefault(tuple(map(texts, found)), len(places))

    return {
        "links": links,
        "kinds": kinds,
        "origins": origins,
        "paths": [number_of(_result_places(tool)) for tool in library],
        "arguments": [number_of(_argument_places(tool)) for tool in library],
        "places": list(places),
        "texts": list(texts.numbers),
        "without_reasons": left < 0,
    }


def _result_places(tool: Tool) -> Iterator[str]:
    """The paths into the result of a tool; the first, "", is the whole result."""
    yield ""
    if tool.output_schema is not None:
        yield from _places(tool.output_schema)


def _argument_places(tool: Tool) -> Iterator[str]:
    if tool.input_schema is not None:
        return _places(tool.input_schema)
    return iter([parameter.name for parameter in tool.parameters])


def _places(root: Schema) -> Iterator[str]:
    """The places of a schema, those near its root first.

    >>> item = {"type": "object", "properties": {"id": {}}}
    >>> list(_places({"properties": {"page": {}, "results": {"type": "array", "items": item}}}))
    ['page', 'results', 'results[]', 'results[].id']
    """
    queue: deque[tuple[tuple[Part, ...], Any]] = deque([((), root)])
    found = 0
    while queue:
        parts, schema = queue.popleft()
        if parts:
            found += 1
            yield path_text(parts)
        if found == _MOST_PATHS:
            return
        if len(parts) < _DEEPEST:
            items = _items(schema, root)
            inside = [(EACH, items)] if items is not None else []
            inside += [(one.name, one.schema) for one in properties_at(schema, root)]
            queue.extend(((*parts, part), below) for part, below in inside[: _MOST_PATHS - found])


def _items(schema: Any, root: Schema) -> Any:
    """The schema of a list's items, also where the list is one of several alternatives."""
    resolved = resolve(schema, root)
    if "items" in resolved:
        return resolved["items"]
    for keyword in ("anyOf", "oneOf", "allOf"):
        parts = resolved.get(keyword)
        for part in parts if isinstance(parts, list) else []:
            if "items" in (found := resolve(part, root)):
                return found["items"]
    return None
