"""Which tools the offline writer can write about, and which need a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import islice

from toolassay.errors import UsageError
from toolassay.graph import ToolGraph
from toolassay.graph.links import ListedLinks, NumberedLink
from toolassay.offline.work_order import RealValues
from toolassay.screen import WARNING
from toolassay.tools import ToolLibrary

_MOST_NAMED = 8  # tools in a warning


def fillable(
    graph: ToolGraph,
    say: Callable[[str], None],
    values: RealValues | None = None,
    unusable: Collection[str] = (),
) -> tuple[ToolGraph, Mapping[str, str]]:
    """The graph without the tools that the offline writer cannot write about, and these with the reasons.

    A warning names them.

    Args:
        graph: The graph.
        say: Receives the warning.
        values: Values that exist on a server.
        unusable: Tools of which a server accepted no call.

    Raises:
        UsageError: No tool is left.
    """
    from toolassay.offline.writer.instruction import needs_model

    problems = needs_model(graph.library, graph.dependency_type, values)
    problems |= {name: "the server accepted no call of it" for name in unusable if name in graph.library}
    if not problems:
        return graph, {}
    named = "; ".join(f"{name} ({problem})" for name, problem in islice(problems.items(), _MOST_NAMED))
    more = f"; {len(problems) - _MOST_NAMED:,} more" if len(problems) > _MOST_NAMED else ""
    if len(problems) == len(graph):
        raise UsageError(
            f"the offline writer cannot write about any tool: {named}{more}", fix="name a model: --llm MODEL"
        )
    say(f"{WARNING}left out, the offline writer cannot write about (needs --llm MODEL): {named}{more}")
    kept = [number for number, tool in enumerate(graph.library) if tool.id not in problems]
    library = ToolLibrary([graph.library.tools[number] for number in kept])
    reasons = {name: f"{reason} (needs --llm MODEL)" for name, reason in problems.items()}
    if graph.is_implied:
        return ToolGraph.build(library, graph.dependency_type), reasons
    if graph.dependency_type == "schema":
        known = (link for link in graph.dependencies() if link.source in library and link.target in library)
        return ToolGraph.of_dependencies(library, known), reasons
    new = {number: place for place, number in enumerate(kept)}
    links = (
        NumberedLink(new[source], new[target], kind)
        for source, target, kind in graph.numbered
        if source in new and target in new
    )
    return ToolGraph(library, graph.dependency_type, ListedLinks(len(library), links)), reasons
