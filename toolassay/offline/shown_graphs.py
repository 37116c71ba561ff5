"""The graph of the tools that a prompt shows: a known one, or what the tools imply."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from toolassay.graph import DependencyType, ToolGraph
from toolassay.prompts.signatures import read_shown
from toolassay.prompts.templates import read_tool_sentence
from toolassay.tools.library import ToolLibrary

_KEPT = 16  # libraries: a server is sent the same tools with each request


class ShownGraphs:
    """Graphs of the tools that prompts show.

    An inference prompt shows the tools, not the links between them, and of temporal tools the names of the
    parameters only; a back-instruct prompt shows the tools of the sample, not the others. Without a known
    graph the links are those that the types imply.

    Args:
        known: graphs of tools that prompts may show.
    """

    def __init__(self, known_graphs: Sequence[ToolGraph] = ()) -> None:
        self._known_graphs = known_graphs
        self.graph = lru_cache(_KEPT)(self._graph_of)

    def _graph_of(self, tools: str, kind: DependencyType, part: bool) -> ToolGraph:
        """The graph of the tools shown, one a line: known, or as the tools imply it.

        Args:
            tools: the lines.
            kind: of dependency.
            part: a known graph may have more tools than are shown.

        Raises:
            ValueError: a line is neither JSON nor a sentence of ours.
            ToolassayError: the objects are no tools.
        """
        # Not splitlines: a description may hold line separators that JSON leaves as they are.
        lines = [tool_of_line(line) for line in tools.split("\n")]
        shown_library = ToolLibrary.from_json(lines, normalise_types=False)
        for graph in self._known_graphs:
            fits = (
                all(name in graph.library for name in shown_library.ids)
                if part
                else graph.library.ids == shown_library.ids
            )
            if fits and graph.dependency_type == kind:
                return graph if part else _as_shown(graph, shown_library)
        return ToolGraph.build(shown_library, kind)


def tool_of_line(line: str) -> Any:
    """The tool that a line shows, as an object of `tool_desc.json`.

    Raises:
        ValueError: neither JSON nor a sentence of ours.
    """
    return read_shown(read_tool_sentence(line) if line.startswith("- ") else json.loads(line))


def _as_shown(graph: ToolGraph, shown_library: ToolLibrary) -> ToolGraph:
    """A known graph with the descriptions of the prompt, where these differ."""
    tools = [
        tool
        if tool.description == (text := shown_library[tool.id].description)
        else replace(tool, description=text, raw={**tool.raw, "desc": text})
        for tool in graph.library
    ]
    return graph if tools == list(graph.library) else replace(graph, library=graph.library.with_tools(tools))
