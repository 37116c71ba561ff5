"""Which tools and links of a library the gold plans use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log
from typing import Any

from toolassay.graph import ToolGraph
from toolassay.tools import ToolLibrary

Ends = tuple[str, str]


def tool_coverage(uses: Mapping[str, int], library: ToolLibrary) -> dict[str, Any]:
    """How the calls are spread over the tools.

    Args:
        uses: of each tool that plans name, in how many plans it stands.
        library: all tools.

    Returns:
        `tools`, `used` and its `share`; `evenness`: the entropy of the uses over its largest value (Pielou
        1966), 1 where all tools are used alike; `never_used` in library order; `unknown`: tools that no
        library has, with their uses; `uses` of the library's tools, most used first.
    """
    used = {tool: uses.get(tool, 0) for tool in library.ids}
    total = sum(used.values())
    shares = [count / total for count in used.values() if count]
    return {
        "tools": len(used),
        "used": len(shares),
        "share": len(shares) / len(used),
        "evenness": -sum(share * log(share) for share in shares) / log(len(used)) if len(used) > 1 else None,
        "never_used": [tool for tool, count in used.items() if not count],
        "unknown": {tool: count for tool, count in uses.items() if tool not in library},
        "uses": dict(Counter(used).most_common()),
    }


def link_coverage(uses: Mapping[Ends, int], graph: ToolGraph, *, most: int = 10) -> dict[str, Any]:
    """How many of the possible links the plans use; a link is a pair of tools, of whatever types.

    Looks at each tool and at each link that is used, never at each pair of tools.

    Args:
        uses: of each link that plans name, in how many plans it stands.
        graph: the tool graph.
        most: how many of the links used most are named.
    """
    known = {ends: count for ends, count in uses.items() if graph.link_types(*ends)}
    possible = sum(len(graph.numbered.successors(place)) for place in range(len(graph)))
    return {
        "possible": possible,
        "used": len(known),
        "share": len(known) / possible if possible else None,
        "used_once": sum(count == 1 for count in known.values()),
        "not_in_graph": len(uses) - len(known),
        "most_used": [[*ends, count] for ends, count in Counter(known).most_common(most)],
    }
