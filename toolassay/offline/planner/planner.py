"""The offline planner: select and order tools, fill and link arguments, and word the steps."""

from __future__ import annotations

import re
from typing import Any

from toolassay.graph import ToolGraph
from toolassay.offline.planner.mentions import Mentions
from toolassay.offline.planner.plan_arguments import fill_parameters, fill_resources, with_references
from toolassay.offline.planner.tool_selection import Retriever, select_tools
from toolassay.offline.writer.english import first_sentence, verbs
from toolassay.records.dataset import TaskGraph
from toolassay.tools.library import Tool


class Planner:
    """Plans tool calls from nothing but the request, the tools' descriptions and the tool graph.

    It knows no gold plan, learns from none, and returns the same plan for the same request.

    Args:
        graph: the tools and their links. The retriever is fitted to the tools once.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> library = ToolLibrary([
    ...     Tool("Image-to-Text", "Reads the text in an image.", ("image",), ("text",)),
    ...     Tool("Translation", "Translates a text.", ("text",), ("text",)),
    ... ])
    >>> planner = Planner(ToolGraph.build(library, "resource"))
    >>> plan = planner.plan("Read the text in 'menu.jpg', then translate it")
    >>> [(node["task"], node["arguments"]) for node in plan.nodes]
    [('Image-to-Text', ['menu.jpg']), ('Translation', ['<node-0>'])]
    """

    def __init__(self, graph: ToolGraph) -> None:
        self._graph = graph
        self._retriever = Retriever(graph.library)

    def plan(self, request: str) -> TaskGraph:
        """A plan for a request, with its nodes in order of use; empty if the request mentions no tool.

        Resource tools get one argument per input (`<node-j>` is the output of the earlier node j). Tools with
        parameters get `{"name": …, "value": …}` for each parameter for which the request has a value; in a
        schema graph, links fill theirs with references.
        """
        mentions = Mentions(request)
        evidence = self._retriever.evidence(mentions.without_values) or self._retriever.evidence(request)
        if evidence is None:
            return TaskGraph([], [], [])
        chosen = select_tools(evidence, self._graph)
        numbers = [evidence.tools[position] for position in chosen]
        tools = [self._graph.library.tools[number] for number in numbers]
        places = [float(evidence.places[position]) for position in chosen]
        arguments: list[list[Any]]
        if self._graph.dependency_type == "resource":
            inputs, pairs = fill_resources(self._graph, numbers, places, mentions)
            arguments = [[*values] for values in inputs]
        else:
            taken_starts: set[int] = set()
            arguments = [
                list(fill_parameters(tool, mentions, position, taken_starts))
                for tool, position in zip(tools, places, strict=True)
            ]
            if self._graph.dependency_type == "schema":
                arguments, pairs = with_references(self._graph, tools, arguments)
            else:
                pairs = [
                    (node, node + 1)
                    for node in range(len(numbers) - 1)
                    if self._graph.numbered.types(numbers[node], numbers[node + 1])
                ]
        return TaskGraph(
            steps=[
                f"Step {number}: {_step(tool, values)}"
                for number, (tool, values) in enumerate(zip(tools, arguments, strict=True), start=1)
            ],
            nodes=[
                {"task": tool.id, "arguments": values} for tool, values in zip(tools, arguments, strict=True)
            ],
            links=[{"source": tools[source].id, "target": tools[target].id} for source, target in pairs],
        )


def _step(tool: Tool, arguments: list[Any]) -> str:
    """A step in the wording of the published steps."""
    if arguments and isinstance(arguments[0], dict):
        values = " and ".join(f"{argument['name']}: '{argument['value']}'" for argument in arguments)
        return f"Call {tool.id} with {values}"
    verb = "Use" if tool.is_resource else "Call"
    sentence = first_sentence(tool.description).rstrip(".")
    # The words before details: "Read text" of "Read text, such as signs"; all of "Read text as it is".
    purpose = re.split(r"[,:;(]| such as ", sentence, maxsplit=1)[0].strip()
    first, _, remainder = purpose.partition(" ")
    bases = (first, first.removesuffix("s"), first.removesuffix("es"), f"{first.removesuffix('ies')}y")
    base = next((base_form.lower() for base_form in bases if base_form.lower() in verbs()), None)
    if base is not None:
        return f"{verb} {tool.id} to {base} {remainder}".strip()
    return f"{verb} {tool.id}: {purpose}" if purpose else f"{verb} {tool.id}"
