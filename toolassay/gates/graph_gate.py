"""The gates "graph" and "wiring".

"graph": nodes and links equal the sampled ones, and the tool graph allows them. "wiring": the references
between nodes, and whether links and the order of steps agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from toolassay.backinstruct.critics import Spellings, same_tool
from toolassay.console.text_formatting import count_of
from toolassay.gates.gate import Finding, RuleGate, State, listed, shown
from toolassay.gates.references import (
    PlanValue,
    ReferenceReader,
    ReferenceReading,
    arguments_of,
    can_feed,
    fault_of,
    is_order_only,
    texts_in,
)
from toolassay.graph.dependencies import fields_of
from toolassay.plans.gold import Ends, Gold, GoldNode
from toolassay.records.dataset import is_paths, shape_of
from toolassay.tools.output_paths import Reference


class GraphGate(RuleGate):
    """Compares a plan with its sampled nodes and links, like the published rule critic, and with the graph.

    A label without sampled nodes and links is checked against the tool graph alone; one whose sample was only
    an idea is compared with neither.
    """

    name = "graph"
    judges = frozenset({"plan"})
    goes_to = "plan"

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each difference from the sample, and for each link that is impossible."""
        findings = [
            Finding(self.name, "reject", f"{fault.where} {fault.reason}", fault.where)
            for fault in gold.faults
            if fault.where.startswith("sampled_")
        ]
        findings += self._ends(gold)
        follows = not gold.follows_seed
        nodes, links = sample_of(gold) if follows else (None, None)
        if nodes is not None:
            findings += self._nodes(gold, nodes)
        if links is not None:
            findings += self._links(gold, links)
        link_findings = self._possible(gold) if follows else []
        findings += link_findings or []
        findings += self._shape(gold)
        if not findings and nodes is None and links is None and link_findings is None:
            reason = (
                "the label has no sampled nodes or links, and the tool graph does not decide about its links"
            )
            return [Finding(self.name, "not applicable", reason)]
        return findings

    def _ends(self, gold: Gold) -> list[Finding]:
        tools = {node.tool for node in gold.nodes}
        nearly = Spellings(tools)
        findings = []
        for link in dict.fromkeys(gold.links):
            strange = [end for end in link if end not in tools]
            if strange and gold.nodes:
                fix = "; repair writes the tool's name" if all(map(nearly.meant, strange)) else ""
                reason = f"the link {_arrow(link)} names {listed(strange)}, no node of the plan{fix}"
                findings.append(Finding(self.name, "reject", reason, place_of(gold, link)))
        return findings

    def _nodes(self, gold: Gold, sampled: Sequence[str]) -> list[Finding]:
        names = Spellings([*sampled, *(end for link in sample_of(gold)[1] or () for end in link)])
        had = Counter(names.read(node.tool) for node in gold.nodes)
        wanted = Counter(sampled)
        if had == wanted:
            return []
        reason = _difference(listed((wanted - had).elements()), listed((had - wanted).elements()))
        return [Finding(self.name, "reject", reason, "task_nodes")]

    def _links(self, gold: Gold, sampled: Sequence[Ends]) -> list[Finding]:
        names = Spellings([*(sample_of(gold)[0] or ()), *(end for link in sampled for end in link)])
        had = {(names.read(source), names.read(target)): (source, target) for source, target in gold.links}
        lacking = [link for link in dict.fromkeys(sampled) if link not in had]
        extra = [link for link in had if link not in sampled]
        if not lacking and not extra:
            return []
        reason = _difference(_arrows(lacking), _arrows(extra))
        return [
            Finding(self.name, "reject", reason, place_of(gold, had[extra[0]]) if extra else "task_links")
        ]

    def _possible(self, gold: Gold) -> list[Finding] | None:
        """Links that the tool graph does not have; None if it cannot decide about any link of the plan."""
        graph = self.background.graph
        library = self.background.library
        by_types = self.background.kind == "resource"
        if not by_types and (graph is None or graph.is_implied):
            return None  # any order is possible
        findings = []
        looked = False
        for link in dict.fromkeys(gold.links):
            source, target = map(self.tool_names.meant, link)
            if source is None or target is None or source == target:
                continue
            looked = True
            if graph is not None and graph.link_types(source, target):
                continue
            first = library[source]
            second = library[target]
            typed = by_types and first.is_resource and second.is_resource
            if typed and not can_feed(first, second, self.background):
                gives = ", ".join(first.outputs) or "nothing"
                takes = ", ".join(second.inputs) or "nothing"
                why = f"'{source}' gives {gives}, '{target}' takes {takes}"
                reason = f"the link {_arrow(link)} is impossible: {why}"
                findings.append(Finding(self.name, "reject", reason, place_of(gold, link)))
            elif graph is not None:
                reason = f"the tool graph has no link {_arrow(link)}"
                findings.append(Finding(self.name, "quarantine", reason, place_of(gold, link)))
        return findings if looked else None

    def _shape(self, gold: Gold) -> list[Finding]:
        """One finding if the label calls the plan a chain or a single call, and its links form neither."""
        declared = gold.record.get("type")
        tools = [node.tool for node in gold.nodes]
        if declared not in ("single", "chain") or not tools or len(set(tools)) < len(tools):
            return []
        if gold.record.get("task_links") is None:
            return []
        shape = shape_of(len(tools), set(gold.links), tools=tools)
        if shape == declared or (declared == "chain" and shape == "single"):
            return []
        made_of = f"{count_of(len(tools), 'node')} and {count_of(len(gold.links), 'link')}"
        fault = "are not connected" if is_paths(len(tools), set(gold.links)) else f"make a {shape}"
        reason = f"the label calls the plan a {declared}, but its {made_of} {fault}"
        return [Finding(self.name, "quarantine", reason, "type")]


def sample_of(gold: Gold) -> tuple[Sequence[str] | None, Sequence[Ends] | None]:
    """The sampled tools and links of a label; None for what the label does not hold.

    An empty list of sampled nodes beside a plan with nodes counts as absent, not as "nothing was sampled".
    """
    nodes = gold.sampled_nodes
    links = gold.sampled_links
    if not nodes and gold.nodes:
        return None, links or None
    return nodes, links


def place_of(gold: Gold, link: Ends) -> str:
    """The path of a link in its label; "task_links" if the list does not hold it."""
    written = gold.record.get("task_links")
    for position, item in enumerate(written if isinstance(written, list) else []):
        if isinstance(item, dict) and (item.get("source"), item.get("target")) == link:
            return f"task_links[{position}]"
    return "task_links"


def _arrow(link: Ends) -> str:
    return f"{listed([link[0]])} -> {listed([link[1]])}"


def _arrows(links: Sequence[Ends]) -> str:
    return ", ".join(f"the link {_arrow(link)}" for link in links[:4]) + (
        " and more" if len(links) > 4 else ""
    )


def _difference(lacking: str, extra: str) -> str:
    lacks = f"lacks {lacking} of the sample" if lacking else ""
    verb = "were" if "and" in extra else "was"
    has = f"has {extra}, which {verb} not sampled" if extra else ""
    return f"the plan {' and '.join(filter(None, (lacks, has)))}"


Order = dict[str, int]
"""The position of each tool, from 0."""


def order_of_steps(steps: Sequence[str], tools: Sequence[str]) -> Order | None:
    """The position of each tool in the steps; None unless each step first names a different tool.

    >>> order_of_steps(["Step 1: Call b", "Step 2: Call a with what b gave"], ["a", "b"])
    {'b': 0, 'a': 1}
    """
    names = {same_tool(tool): tool for tool in tools}
    if len(names) < len(tools) or len(steps) != len(tools):
        return None
    order: Order = {}
    for position, step in enumerate(steps):
        text = same_tool(step[:2000])
        # The first name, and the longest there: "image search by image" is not "image search".
        mentions = [
            (match.start(), -len(name), name)
            for name in names
            if name in text and (match := _whole(name).search(text))
        ]
        if not mentions or names[min(mentions)[2]] in order:
            return None
        order[names[min(mentions)[2]]] = position
    return order


@lru_cache(maxsize=4096)
def _whole(name: str) -> re.Pattern[str]:
    """A whole name: "image search" in "call image search", not in "image searches"."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def order_of_nodes(tools: Sequence[str]) -> Order | None:
    """The position of each tool among the nodes; None if nodes are sorted by name or a tool occurs twice."""
    by_name = list(tools) == sorted(tools) or [*map(same_tool, tools)] == sorted(map(same_tool, tools))
    if by_name or len(set(tools)) < len(tools):
        return None
    return {tool: position for position, tool in enumerate(tools)}


def orders_of(gold: Gold) -> tuple[Order | None, Order | None]:
    """The order of the tools by the steps, and by the nodes; None for an order that does not show it."""
    tools = [node.tool for node in gold.nodes]
    return order_of_steps(gold.steps, tools), order_of_nodes(tools)


def is_in_order(order: Order | None, link: Ends) -> bool | None:
    """Whether the source of a link precedes its target; None if the order does not have both."""
    if order is None or link[0] not in order or link[1] not in order or link[0] == link[1]:
        return None
    return order[link[0]] < order[link[1]]


def find_cycle(links: Iterable[Ends], tools: Iterable[str]) -> list[str]:
    """The tools of a cycle, in its order; empty without a cycle.

    Args:
        links: the links, each a pair of tool names.
        tools: the tools of all nodes. Links of a tool that occurs twice are ignored, because they may belong
            to different nodes.
    """
    often = Counter(tools)
    order: TopologicalSorter[str] = TopologicalSorter()
    for source, target in links:
        if max(often[source], often[target]) < 2:
            order.add(target, source)
    try:
        order.prepare()
    except CycleError as error:
        return list(error.args[1][:-1])
    return []


def leads_to(first: str, second: str, links: Collection[Ends]) -> bool:
    """Whether links lead from one tool to another, over others too.

    >>> leads_to("a", "c", [("a", "b"), ("b", "c")]), leads_to("c", "a", [("a", "b"), ("b", "c")])
    (True, False)
    """
    reached = waiting = {first}
    while waiting := {target for source, target in links if source in waiting} - reached:
        reached = reached | waiting
    return second in reached


Wire = tuple[int, int]
"""A reference: index of the node that gives the output, index of the node that takes it."""


@dataclass
class _Wires:
    """The references of a plan.

    Attributes:
        wires: the resolved references.
        open: indices of nodes with a reference that cannot be resolved.
        backward: the references to a later node, each with its argument.
        first: the node that has a reference first.
        is_free: whether the plan need not follow the tool graph.
    """

    wires: list[Wire] = field(default_factory=list)
    open: set[int] = field(default_factory=set)
    backward: list[tuple[Wire, PlanValue]] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    is_free: bool = False


class WiringGate(RuleGate):
    """Resolves every reference, and compares the links with them, and with the order of the steps.

    Links of resource and schema plans are compared with the references, of temporal and schema plans with
    the order.
    """

    name = "wiring"
    judges = frozenset({"plan", "values"})
    goes_to = "plan"

    def check(self, gold: Gold) -> list[Finding]:
        """Findings for references that do not resolve, point forward or have a wrong type, and for links."""
        if not gold.has_arguments:
            reason = "the gold has no arguments, and so no references"
            return [*self._order(gold), Finding(self.name, "not applicable", reason)]
        reader = ReferenceReader.of(gold)
        wiring = _Wires(is_free=gold.follows_seed)
        findings = [
            finding
            for node in gold.nodes
            for whole in arguments_of(node)
            for argument in texts_in(whole)
            for finding in self._argument(argument, node, reader, wiring)
        ]
        findings += self._backward(wiring)
        if self.background.kind != "temporal":
            findings += self._links(gold, reader, wiring)
        if self.background.kind != "resource":
            findings += self._order(gold)
        return findings

    def _say(self, state: State, reason: str, where: str) -> Finding:
        return Finding(self.name, state, reason, where)

    def _argument(
        self, argument: PlanValue, node: GoldNode, reader: ReferenceReader, wiring: _Wires
    ) -> list[Finding]:
        text = str(argument.value)
        where = argument.where
        reading = reader.read(text, node.place)
        if reading is None:
            return []
        findings = self._spelling(reading, text, where, reader)
        if reading.spelling in ("placeholder", "malformed"):
            wiring.open.add(node.place)
        indices = reading.places[:1] if reading.spelling == "name" else reading.places
        for index in indices:
            if index >= len(reader.tools):
                size = count_of(len(reader.tools), "node")
                reason = f"{shown(text)} refers to node {index}, but the plan has {size}"
                findings.append(self._say("reject", reason, where))
                wiring.open.add(node.place)
            elif index == node.place:
                findings.append(
                    self._say("reject", f"{shown(text)} refers to its own node, {shown(node.tool)}", where)
                )
                wiring.open.add(node.place)
            else:
                wiring.wires.append((index, node.place))
                if index > node.place and reading.spelling != "name":
                    wiring.backward.append(((index, node.place), argument))
                is_repeated = wiring.is_free or wiring.first.setdefault(text, node.place) != node.place
                reference = Reference(index, reading.path)
                findings += self._flow(reference, argument, node, reader, is_repeated=is_repeated)
        return findings

    def _spelling(
        self, reading: ReferenceReading, text: str, where: str, reader: ReferenceReader
    ) -> list[Finding]:
        temporal = self.background.kind == "temporal"
        state: State = "quarantine" if temporal else "reject"
        reason = "mentions another step, but is not a reference"
        if reading.spelling in ("inside", "published"):
            if reading.spelling == "published" and not (reading.path and self.background.kind != "schema"):
                return []
            state = "quarantine"
            reason = "has a reference inside a text, where only a whole argument can be one"
        elif reading.spelling == "near":
            state = "reject"
            reason = f"is not spelled like a reference: <node-{reading.places[0]}>"
        elif reading.spelling == "name":
            if temporal and text.strip() == reader.tools[reading.places[0]]:
                return []  # published temporal plans refer so
            reason = f"names a step, but is not a reference like <node-{reading.places[0]}>"
        return [self._say(state, f"{shown(text)} {reason}", where)]

    def _flow(
        self,
        reference: Reference,
        argument: PlanValue,
        node: GoldNode,
        reader: ReferenceReader,
        *,
        is_repeated: bool,
    ) -> Iterator[Finding]:
        """Findings if the output has another type than the tool takes, or lacks the part that is named."""
        source = self.tool_names.meant(reader.tools[reference.node] or "")
        target = self.tool_names.meant(node.tool)
        if source is None or target is None:
            return
        first = self.background.library[source]
        second = self.background.library[target]
        text = str(argument.value)
        where = argument.where
        if second.inputs and first.is_resource and not can_feed(first, second, self.background):
            gives = ", ".join(first.outputs) or "nothing"
            takes = ", ".join(second.inputs)
            reason = f"{shown(text)} is the output of '{source}' ({gives}), but '{target}' takes {takes}"
            yield self._say("reject", reason, where)
        if self.background.kind == "schema" and reference.node not in reader.repeated:
            given = (node.arguments or ())[argument.place]
            name = str(given.get("name", "")) if isinstance(given, dict) else ""
            fault = fault_of(reference, name, first, second, self.background, is_repeated=is_repeated)
            if fault is not None:
                yield self._say(fault[0], f"{shown(text)}: {fault[1]}", where)

    def _backward(self, wiring: _Wires) -> list[Finding]:
        if not wiring.backward:
            return []
        turned = find_cycle([(str(source), str(target)) for source, target in wiring.wires], ())
        more = (
            "and the references form a cycle"
            if turned
            else "repair sorts the nodes so that all references point back"
        )
        return [
            self._say(
                "reject",
                f"{shown(argument.value)} refers to a later node ({source} after {target}); {more}",
                argument.where,
            )
            for (source, target), argument in wiring.backward
        ]

    def _links(self, gold: Gold, reader: ReferenceReader, wiring: _Wires) -> list[Finding]:
        """Findings for links without a reference and references without a link, compared by tool names."""
        if gold.record.get("task_links") is None:
            if not wiring.wires:
                return []
            reason = "arguments refer to other steps, but the label lists no links"
            return [self._say("quarantine", reason, "task_links")]
        flows = {self._ends(wire, reader): wire for wire in wiring.wires}
        tools = {self.tool_names.read(node.tool) for node in gold.nodes}
        unsure = {self.tool_names.read(reader.tools[index] or "") for index in wiring.open}
        links = {
            (self.tool_names.read(source), self.tool_names.read(target)): (source, target)
            for source, target in gold.links
        }
        findings = []
        turned: set[Ends] = set()
        for link, written in links.items():
            if link in flows or link[1] in unsure or not tools.issuperset(link) or self._is_order_only(link):
                continue
            source, target = map(shown, link)
            back = (link[1], link[0])
            if back in flows and back not in links:
                turned.add(back)
                why = f"{source} takes the output of {target}"
                reason = f"the link {source} -> {target} has the wrong direction: {why}"
            else:
                reason = (
                    f"there is a link {source} -> {target}, but no argument of {target} refers to {source}"
                )
            findings.append(self._say("reject", reason, place_of(gold, written)))
        for (first, second), (_, index) in flows.items():
            if self.background.kind == "schema" and leads_to(first, second, links):
                continue  # a step may repeat an argument of the step before it, which is a reference
            if (first, second) not in links and (first, second) not in turned:
                link_text = f"{shown(first)} -> {shown(second)}"
                reason = (
                    f"{shown(second)} takes the output of {shown(first)}, but there is no link {link_text}"
                )
                findings.append(self._say("reject", reason, f"task_nodes[{index}].arguments"))
        return findings

    def _is_order_only(self, link: Ends) -> bool:
        library = self.background.library
        graph = self.background.graph
        if self.background.kind == "schema":
            # A link that the graph does not have is a matter of the gate "graph".
            dependency = graph.dependency(*link) if graph is not None else None
            return dependency is None or not fields_of(dependency)
        if link[0] not in library or link[1] not in library:
            return False
        return is_order_only(library[link[0]], library[link[1]], self.background)

    def _ends(self, wire: Wire, reader: ReferenceReader) -> Ends:
        source, target = (self.tool_names.read(reader.tools[index] or "") for index in wire)
        return source, target

    def _order(self, gold: Gold) -> list[Finding]:
        """Findings for links that form a cycle, or contradict the order of the steps and of the nodes."""
        tools = [node.tool for node in gold.nodes]
        if turned := find_cycle(gold.links, tools):
            reason = f"the links form a cycle: {' -> '.join(map(shown, [*turned[:8], turned[0]]))}"
            return [self._say("reject", reason, place_of(gold, (turned[0], turned[1 % len(turned)])))]
        steps, nodes = orders_of(gold)
        findings = []
        for link in dict.fromkeys(gold.links):
            by_steps = is_in_order(steps, link)
            by_nodes = is_in_order(nodes, link)
            if by_steps is False and by_nodes is not True:
                reason = f"the link {shown(link[0])} -> {shown(link[1])} contradicts the order of the steps"
                findings.append(self._say("reject", reason, place_of(gold, link)))
            elif by_steps is False or (by_steps is None and by_nodes is False):
                order = "nodes" if by_nodes is False else "steps"
                reason = f"the link {shown(link[0])} -> {shown(link[1])} contradicts the order of the {order}"
                findings.append(self._say("quarantine", reason, place_of(gold, link)))
        return findings
