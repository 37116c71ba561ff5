"""The page of a tool graph: one `graph_desc.html` that opens from disk and makes no network request."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import write_text
from toolassay.graph import Link, ToolGraph
from toolassay.graph.links import TypedLinks
from toolassay.report.circular_layout import Circle, CirclePlace, Point, arrange
from toolassay.report.style import ACCENT, NO_TYPE, given_type, is_complete, type_colours, types_by_use
from toolassay.report.type_graph import type_counts
from toolassay.signatures import details_of
from toolassay.text_formatting import count_of
from toolassay.tools import Tool

MOST_TOOLS = 5_000
MOST_LINKS = 100_000
MOST_SHOWN = 1_200
"""With more links than this, only those of the selected tool are drawn."""

# In pixels at zoom 1: the room of a tool along its ring, the distance of rings, and the least radius.
_SLOT, _RING, _SMALLEST = 22.0, 260.0, 170.0
_PER_RING = 320  # tools; with more on one ring the circle is too large for a screen


def page_data(graph: ToolGraph) -> dict[str, Any]:
    """The data of the page as a JSON object: tools with places, types with colours, and links.

    Places are in pixels at zoom 1, y downwards. `rule` is how the page gets the links: `listed` (from
    `links`), `complete` (every tool to every other) or `types` (from the tools' types). `curves` has four
    numbers for each link: for each of its two control points, how far along the line from source to target it
    is (a share of its length) and how far off the line (pixels).

    Raises:
        UsageError: too many tools, or too many listed links, for a page.
    """
    if len(graph) > MOST_TOOLS:
        raise _too_many(graph)
    rule = "complete" if is_complete(graph) else "types" if _follows_from_types(graph) else "listed"
    shown = rule != "complete" and graph.number_of_links <= MOST_SHOWN
    if rule == "listed" and graph.number_of_links > MOST_LINKS:
        raise _too_many(graph)
    library = graph.library
    rings = math.ceil(len(graph) / _PER_RING)
    circle = arrange(library, rings=rings)
    radius = max(_SMALLEST, circle.slots / rings * _SLOT / math.tau)
    links = list(graph.links()) if shown or rule == "listed" else []
    colours = type_colours([*types_by_use(library), NO_TYPE])
    if not library.has_types:
        colours[NO_TYPE] = ACCENT
    kinds = list(dict.fromkeys([*colours, *(link.type for link in links)]))
    number_of = {kind: number for number, kind in enumerate(kinds)}
    counts = type_counts(graph)
    return {
        "dependency_type": graph.dependency_type,
        "rule": rule,
        "show_all": shown,
        "number_of_links": graph.number_of_links,
        "types": [
            {
                "name": kind,
                "colour": colours.get(kind, colours[NO_TYPE]),
                "givers": counts.givers[kind],
                "links": counts.links[kind],
            }
            for kind in kinds
        ],
        "tools": [_tool(tool, circle.places[tool.id], radius, number_of) for tool in library],
        "links": [[library.index(a), library.index(b), number_of[kind]] for a, b, kind in links],
        "curves": [_curve(link, circle, radius) for link in links] if shown else [],
    }


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


def _tool(tool: Tool, place: CirclePlace, radius: float, number_of: Mapping[str, int]) -> dict[str, Any]:
    x, y = _point(place, radius)
    return {
        "id": tool.id,
        "description": tool.description,
        "takes": [number_of[kind] for kind in tool.inputs],
        "gives": [number_of[kind] for kind in tool.outputs],
        "parameters": [[item.name, item.type, item.description] for item in tool.parameters],
        **details_of(tool),
        "colour": number_of[given_type(tool)],
        "x": round(x, 1),
        "y": round(y, 1),
        "angle": round(-place.angle, 4),
    }


def _point(place: CirclePlace, radius: float) -> Point:
    x, y = place.at(radius + _RING * place.ring)
    return x, -y


def _curve(link: Link, circle: Circle, radius: float) -> list[float]:
    (ax, ay), (bx, by) = (_point(circle.places[tool], radius) for tool in (link.source, link.target))
    across, down = bx - ax, by - ay
    length = math.hypot(across, down)
    numbers: list[float] = []
    for x, y in circle.controls(link.source, link.target, radius):
        x, y = x - ax, -y - ay
        numbers.append(round((x * across + y * down) / length**2, 3))
        numbers.append(round((y * across - x * down) / length, 1))
    return numbers


def write_graph_page(graph: ToolGraph, path: Path) -> Path:
    """Write the page of a tool graph, with zoom, search, and the description and neighbours of each tool.

    The same graph gives the same bytes. The page contains the graph library (Cytoscape.js, MIT licence) and
    the data; its content security policy forbids connections and all scripts but its own two.

    Args:
        graph: the tool graph.
        path: the file to write; its folder is created if missing.

    Returns:
        `path`.

    Raises:
        UsageError: too many tools or links for a page.
        ToolassayError: the file cannot be written.
    """
    style, script = _resource("pages", "graph_page.css"), _resource("pages", "graph_page.js")
    library = _resource("vendor", "cytoscape.min.js")
    page = render_page(
        "graph_page.html",
        policy=content_policy(scripts=[library, script], styles=[style]),
        style=style,
        library=library,
        script=script,
        data=json_for_script(page_data(graph)),
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

    pages = PackageLoader("toolassay.report", "pages")
    environment = Environment(
        loader=pages, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template(template).render(values)


def _resource(folder: str, name: str) -> str:
    return files("toolassay.report").joinpath(folder, name).read_text(encoding="utf-8")


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
