"""One colour a resource type, told apart by most colour-blind readers, on a light and on a dark ground.

The colours are those of Paul Tol's schemes "bright" and "muted" (Colour Schemes, SRON/EPS/TN/09-002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from toolassay.graph import ToolGraph
from toolassay.tools import Tool, ToolLibrary

NO_TYPE = ""
NEUTRAL = "#8A8F98"
ACCENT = "#4477AA"

_USUAL = {"text": "#4477AA", "image": "#EE6677", "audio": "#228833", "video": "#AA3377", "url": "#CCBB44"}
_OTHERS = (
    "#66CCEE",
    "#CC6677",
    "#44AA99",
    "#882255",
    "#999933",
    "#6F5FC4",
    "#DDAA55",
    "#117733",
    "#AA4499",
    "#88CCEE",
)


def type_colours(types: Iterable[str]) -> dict[str, str]:
    """A colour for every type, in the given order; neutral where the colours run out, or for no type.

    >>> type_colours(["text", "table", ""])
    {'text': '#4477AA', 'table': '#66CCEE', '': '#8A8F98'}
    """
    free = iter(_OTHERS)
    return {
        kind: NEUTRAL if kind == NO_TYPE else _USUAL.get(kind) or next(free, NEUTRAL)
        for kind in dict.fromkeys(types)
    }


def given_type(tool: Tool) -> str:
    """The type a tool is coloured by: the first one it gives, or `NO_TYPE`."""
    return tool.outputs[0] if tool.outputs else NO_TYPE


def types_by_use(library: ToolLibrary) -> list[str]:
    """Every resource type of a library, the one most tools touch first, then by name."""
    uses = Counter(kind for tool in library for kind in dict.fromkeys((*tool.inputs, *tool.outputs)))
    return sorted(uses, key=lambda kind: (-uses[kind], kind))


def is_complete(graph: ToolGraph) -> bool:
    """Whether every tool can follow every other."""
    size = len(graph)
    return graph.dependency_type == "temporal" and graph.number_of_links == size * (size - 1)
