"""In which order the steps of a plan are carried out, as far as the plan says so beside its links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import networkx as nx

from toolassay.backinstruct.critics import same_tool
from toolassay.gold import Ends, Gold

Order = dict[str, int]


def order_of_steps(steps: Sequence[str], tools: Sequence[str]) -> Order | None:
    """The place of each tool in the steps, if each step names first a tool of its own; else None.

    >>> order_of_steps(["Step 1: Call b", "Step 2: Call a with what b gave"], ["a", "b"])
    {'b': 0, 'a': 1}
    """
    names = {same_tool(tool): tool for tool in tools}
    if len(names) < len(tools) or len(steps) != len(tools):
        return None
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    order: Order = {}
    for place, step in enumerate(steps):
        match = pattern.search(same_tool(step[:2000]))
        if match is None or names[match[0]] in order:
            return None
        order[names[match[0]]] = place
    return order


def order_of_nodes(tools: Sequence[str]) -> Order | None:
    """The place of each tool among the nodes; None where nodes stand by name, or a tool stands twice."""
    by_name = list(tools) == sorted(tools) or [*map(same_tool, tools)] == sorted(map(same_tool, tools))
    if by_name or len(set(tools)) < len(tools):
        return None
    return {tool: place for place, tool in enumerate(tools)}


def witnesses(gold: Gold) -> tuple[Order | None, Order | None]:
    """What the steps and what the nodes of a plan say of its order."""
    tools = [node.tool for node in gold.nodes]
    return order_of_steps(gold.steps, tools), order_of_nodes(tools)


def says(order: Order | None, link: Ends) -> bool | None:
    """Whether an order has the ends of a link in its direction; None where it does not say."""
    if order is None or link[0] not in order or link[1] not in order or link[0] == link[1]:
        return None
    return order[link[0]] < order[link[1]]


def circle(links: Iterable[Ends], tools: Iterable[str]) -> list[str]:
    """Tools whose links go in a circle, in its order; empty where there is none.

    Links name tools: where one is used twice, what looks like a circle need not be one.
    """
    often = Counter(tools)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(link for link in links if max(often[link[0]], often[link[1]]) < 2)
    try:
        return [source for source, *_ in nx.find_cycle(graph)]
    except nx.NetworkXNoCycle:
        return []
