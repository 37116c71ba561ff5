"""The page of a tool graph: one `graph_desc.html` that opens from disk and makes no network request.

In the page of a schema graph, people can correct the links; it exports their edits as a file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import shlex
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from toolassay.console.text_formatting import count_of, without_controls
from toolassay.errors import UsageError
from toolassay.files.data_files import write_text
from toolassay.graph import ToolGraph
from toolassay.graph.dependencies import Kind, Origin
from toolassay.graph.links import TypedLinks
from toolassay.prompts.signatures import details_of
from toolassay.reports.graph_picture import Circle, ToolGroups, arrange, tool_groups, type_counts
from toolassay.reports.style import NEUTRAL, NO_TYPE, is_complete
from toolassay.tools.argument_schemas import Schema, properties_at, resolve
from toolassay.tools.library import Tool
from toolassay.tools.output_paths import EACH, Part, path_text

MOST_REASONS = 6_000_000
"""Characters of reasons in a page; the links with the lowest scores lose theirs first."""

_MOST_PATHS = 60  # places of a schema that the editor of a link offers
# Levels of a schema whose places the editor offers.
_DEEPEST = 5


def link_data(graph: ToolGraph, *, most: int) -> dict[str, Any]:
    """The data of a schema graph's links, the best first.

    `links` has a list for each: numbers of source and target, score, `type`, `fields` (a flat list of pairs),
    `reasons`, `kind`, `origin`, `count`, further keys. Types, fields and reasons are numbers of `texts`, kind
    and origin of `kinds` and `origins`. `paths` and `arguments` have, for each tool, the number of an item of
    `path_sets`: the places in its result and its arguments, as numbers of `texts`.

    Args:
        graph: A schema graph.
        most: Maximum number of links.
    """
    texts: dict[str, int] = {}
    path_sets: dict[tuple[int, ...], int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def number_of(texts_of_place: Iterable[str]) -> int:
        return path_sets.setdefault(tuple(map(number, texts_of_place)), len(path_sets))

    kinds = get_args(Kind)
    origins = get_args(Origin)
    library = graph.library
    characters_left = MOST_REASONS
    links: list[list[Any]] = []
    for link in sorted(graph.dependencies(), key=lambda link: -link.score)[:most]:
        characters_left -= sum(len(reason) for reason in link.reasons if reason not in texts)
        links.append(
            [
                library.index(link.source),
                library.index(link.target),
                round(link.score, 3),
                number(link.type),
                [number(path) for pair in link.fields for path in pair],
                [number(reason) for reason in link.reasons] if characters_left >= 0 else [],
                kinds.index(link.kind),
                origins.index(link.origin),
                link.count,
                *([dict(link.further)] if link.further else []),
            ]
        )
    return {
        "links": links,
        "kinds": kinds,
        "origins": origins,
        # The first path into a result, "", is the whole result.
        "paths": [number_of(["", *_places(tool.output_schema or {})]) for tool in library],
        "arguments": [
            number_of(
                _places(tool.input_schema)
                if tool.input_schema is not None
                else [parameter.name for parameter in tool.parameters]
            )
            for tool in library
        ],
        "places": list(path_sets),
        "texts": list(texts),
        "without_reasons": characters_left < 0,
    }


def _places(root: Schema) -> Iterator[str]:
    """The places of a schema, those near its root first.

    >>> item = {"type": "object", "properties": {"id": {}}}
    >>> list(_places({"properties": {"page": {}, "results": {"type": "array", "items": item}}}))
    ['page', 'results', 'results[]', 'results[].id']
    """
    queue: deque[tuple[tuple[Part, ...], Any]] = deque([((), root)])
    n_paths = 0
    while queue:
        parts, schema = queue.popleft()
        if parts:
            n_paths += 1
            yield path_text(parts)
        if n_paths == _MOST_PATHS:
            return
        if len(parts) < _DEEPEST:
            items = _items(schema, root)
            inside = [(EACH, items)] if items is not None else []
            inside += [(property_.name, property_.schema) for property_ in properties_at(schema, root)]
            queue.extend(((*parts, part), below) for part, below in inside[: _MOST_PATHS - n_paths])


def _items(schema: Any, root: Schema) -> Any:
    """The schema of a list's items, also where the list is one of several alternatives."""
    resolved = resolve(schema, root)
    if "items" in resolved:
        return resolved["items"]
    for keyword in ("anyOf", "oneOf", "allOf"):
        parts = resolved.get(keyword)
        for part in parts if isinstance(parts, list) else []:
            if "items" in (alternative := resolve(part, root)):
                return alternative["items"]
    return None


# Beyond these the page is refused: each tool and each listed link is a row of its data.
MOST_TOOLS = 5_000
MOST_LINKS = 100_000
MOST_SHOWN = 1_200
"""With more links than this, only those of the selected tool are drawn, in a schema graph also the best."""

# In pixels at zoom 1: the room of a tool along its ring, the distance of rings, and the least radius.
_SLOT = 22.0
_RING = 260.0
_SMALLEST = 170.0
_PER_RING = 320  # tools; with more on one ring the circle is too large for a screen


def page_data(graph: ToolGraph) -> dict[str, Any]:
    """The data of the page as a JSON object: tools with places, types with colours, and links.

    Places are in pixels at zoom 1, y downwards. `rule` is how the page gets the links: `listed` (from
    `links`), `complete` (every tool to every other), `types` (from the tools' types) or `dependencies` (see
    `link_data`). In a schema graph, `types` are the groups of the tools.

    Raises:
        UsageError: too many tools, or too many listed links, for a page.
    """
    if len(graph) > MOST_TOOLS:
        raise _too_many(graph)
    schema = graph.dependency_type == "schema"
    if is_complete(graph):
        rule = "complete"
    elif schema:
        rule = "dependencies"
    else:
        rule = "types" if _follows_from_types(graph) else "listed"
    shows_all = not schema and rule != "complete" and graph.number_of_links <= MOST_SHOWN
    if rule == "listed" and graph.number_of_links > MOST_LINKS:
        raise _too_many(graph)
    library = graph.library
    groups = tool_groups(graph)
    rings = math.ceil(len(graph) / _PER_RING)
    circle = arrange(library, rings=rings, groups=groups)
    radius = max(_SMALLEST, circle.slots / rings * _SLOT / math.tau)
    links = list(graph.links()) if shows_all or rule == "listed" else []
    kinds = list(dict.fromkeys([*groups.colours, *(link.type for link in links)]))
    number_of = {kind: number for number, kind in enumerate(kinds)}
    givers, counts = _counts(graph, groups)
    data = {
        "dependency_type": graph.dependency_type,
        "rule": rule,
        "show_all": shows_all,
        "number_of_links": graph.number_of_links,
        "most_shown": MOST_SHOWN,
        "group_noun": groups.noun,
        "types": [
            {
                "name": kind,
                "colour": groups.colours.get(kind, groups.colours.get(NO_TYPE, NEUTRAL)),
                "givers": givers[kind],
                "links": counts[kind],
            }
            for kind in kinds
        ],
        "tools": [_tool(tool, circle, radius, number_of, groups) for tool in library],
        "links": [[library.index(a), library.index(b), number_of[kind]] for a, b, kind in links],
    }
    return data | (link_data(graph, most=MOST_LINKS) if schema else {})


def _counts(graph: ToolGraph, groups: ToolGroups) -> tuple[Counter[str], Counter[str]]:
    """The number of tools that give each type and of its links; in a schema graph, those of each group."""
    if graph.dependency_type != "schema":
        counts = type_counts(graph)
        return counts.givers, counts.links
    links: Counter[str] = Counter()
    for (source, _), number in groups.links(graph).items():
        links[source] += number
    return Counter(groups.of.values()), links


def _too_many(graph: ToolGraph) -> UsageError:
    return UsageError(
        f"{count_of(len(graph), 'tool')} and {count_of(graph.number_of_links, 'link')} are too many for a "
        f"page (up to {MOST_TOOLS:,} tools, or {MOST_LINKS:,} links that do not follow from the types)",
        fix="make the page of a smaller tool_desc.json",
    )


def _follows_from_types(graph: ToolGraph) -> bool:
    """Whether the links are exactly those that the tools' types imply, even if a file lists them."""
    if graph.dependency_type != "resource" or not all(tool.is_resource for tool in graph.library):
        return False
    implied = TypedLinks(graph.library)
    if implied.count() != graph.number_of_links:
        return False
    return graph.is_implied or all(
        kind in implied.types(source, target) for source, target, kind in graph.numbered
    )


def _tool(
    tool: Tool, circle: Circle, radius: float, number_of: Mapping[str, int], groups: ToolGroups
) -> dict[str, Any]:
    typed = groups.noun == "type"
    position = circle.places[tool.id]
    x, y = position.at(radius + _RING * position.ring)
    return {
        "id": tool.id,
        "description": tool.description,
        "takes": [number_of[kind] for kind in tool.inputs] if typed else [],
        "gives": [number_of[kind] for kind in tool.outputs] if typed else [],
        "parameters": [[item.name, item.type, item.description] for item in tool.parameters],
        **details_of(tool),
        "colour": number_of[groups.of[tool.id]],
        "x": round(x, 1),
        "y": round(-y, 1),
        "angle": round(-position.angle, 4),
    }


def write_graph_page(
    graph: ToolGraph,
    path: Path,
    *,
    edits: Sequence[Mapping[str, Any]] = (),
    folder: str = "DATA_DIR",
) -> Path:
    """Write the page of a tool graph, with zoom, search, and the description and neighbours of each tool.

    The same graph gives the same bytes. The page contains the graph library (Cytoscape.js, MIT licence) and
    the data; its content security policy forbids connections and all scripts but its own two.

    Args:
        graph: the tool graph.
        path: the file to write; its folder is created if missing.
        edits: the edits of `graph_edits.json`, which the page of a schema graph shows.
        folder: the data folder in the command that applies the edits made in such a page.

    Returns:
        `path`.

    Raises:
        UsageError: too many tools or links for a page.
        ToolassayError: the file cannot be written.
    """
    data = page_data(graph)
    scripts = ["graph_page.js"]
    schema = graph.dependency_type == "schema"
    if schema:
        scripts = ["graph_links.js", "graph_editor.js", *scripts]
        data |= {"edits": list(edits), "folder": shlex.quote(folder)}
    style = page_resource("pages", "graph_page.css")
    script = "".join(page_resource("pages", name) for name in scripts)
    library = page_resource("vendor", "cytoscape.min.js")
    page = render_page(
        "graph_page.html",
        schema=schema,
        policy=content_policy(scripts=[library, script], styles=[style]),
        style=style,
        library=library,
        script=script,
        data=json_for_script(data),
    )
    write_text(path, page)
    return path


def render_page(template: str, **values: Any) -> str:
    """Render a template of `report/pages`.

    Every value is escaped for HTML unless the template marks it `safe`. That is for our own style and
    scripts, which must stay byte for byte what the policy's hashes are of, and for `json_for_script`.

    Args:
        template: the file name of the template.
        values: what it names; a name that it has and `values` lacks is an error.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = PackageLoader("toolassay.reports", "pages")
    environment = Environment(
        loader=pages,
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=lambda value: without_controls(value) if type(value) is str else value,  # not `safe` ones
    )
    return environment.get_template(template).render(values)


def page_resource(folder: str, name: str) -> str:
    """A file of `reports/pages` or `reports/vendor` as text."""
    return files("toolassay.reports").joinpath(folder, name).read_text(encoding="utf-8")


def json_for_script(value: Any) -> str:
    r"""JSON that is safe inside a `<script>` element.

    Every `<` is escaped, so neither `</script>` nor `<!--` can occur. So is everything outside ASCII, with
    U+2028 and lone surrogates.

    >>> json_for_script("</script>")
    '"\\u003c/script>"'
    """
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def content_policy(*, scripts: list[str], styles: list[str]) -> str:
    """A content security policy that allows only these inline scripts and styles, by hash."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
