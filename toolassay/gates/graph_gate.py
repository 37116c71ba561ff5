"""The gate "graph": nodes and links equal the sampled ones, and the tool graph allows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolassay.backinstruct.critics import Spellings, rule_critic
from toolassay.dataset import is_paths, shape_of
from toolassay.gates.fit import can_feed
from toolassay.gates.gate import Background, Finding, listed, tool_spellings
from toolassay.gold import Ends, Gold
from toolassay.text_formatting import count_of


class GraphGate:
    """Compares a plan with its sampled nodes and links, like the published rule critic, and with the graph.

    A label without sampled nodes and links is checked against the tool graph alone.
    """

    name = "graph"

    def __init__(self, background: Background) -> None:
        self._background = background
        self._names = tool_spellings(background.library)

    def check(self, gold: Gold) -> list[Finding]:
        """One finding for each difference from the sample, and for each link that is impossible."""
        findings = [
            Finding(self.name, "reject", f"{fault.where} {fault.reason}", fault.where)
            for fault in gold.faults
            if fault.where.startswith("sampled_")
        ]
        findings += self._ends(gold)
        nodes, links = sample_of(gold)
        if nodes is not None:
            findings += self._nodes(gold, nodes)
        if links is not None:
            findings += self._links(gold, links)
        known = self._possible(gold)
        findings += known or []
        findings += self._shape(gold)
        if not findings and nodes is None and links is None and known is None:
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
        tools = [node.tool for node in gold.nodes]
        if rule_critic(sampled, sample_of(gold)[1] or (), tools, ()).node:
            return []
        names = Spellings([*sampled, *(end for link in sample_of(gold)[1] or () for end in link)])
        had, wanted = Counter(map(names.read, tools)), Counter(sampled)
        reason = _difference("the plan", listed((wanted - had).elements()), listed((had - wanted).elements()))
        return [Finding(self.name, "reject", reason, "task_nodes")]

    def _links(self, gold: Gold, sampled: Sequence[Ends]) -> list[Finding]:
        nodes = sample_of(gold)[0] or ()
        if rule_critic(nodes, sampled, (), gold.links).link:
            return []
        names = Spellings([*nodes, *(end for link in sampled for end in link)])
        had = {(names.read(source), names.read(target)): (source, target) for source, target in gold.links}
        lacking = [link for link in dict.fromkeys(sampled) if link not in had]
        extra = [link for link in had if link not in sampled]
        reason = _difference("the plan", _arrows(lacking, "the link"), _arrows(extra, "the link"))
        return [
            Finding(self.name, "reject", reason, place_of(gold, had[extra[0]]) if extra else "task_links")
        ]

    def _possible(self, gold: Gold) -> list[Finding] | None:
        """Links that the tool graph does not have; None if it cannot decide about any link of the plan."""
        graph, library = self._background.graph, self._background.library
        by_types = self._background.kind == "resource"
        if not by_types and (graph is None or graph.is_implied):
            return None  # any order is possible
        findings, looked = [], False
        for link in dict.fromkeys(gold.links):
            source, target = map(self._names.meant, link)
            if source is None or target is None or source == target:
                continue
            looked = True
            if graph is not None and graph.link_types(source, target):
                continue
            first, second = library[source], library[target]
            typed = by_types and first.is_resource and second.is_resource
            if typed and not can_feed(first, second, self._background):
                gives, takes = ", ".join(first.outputs) or "nothing", ", ".join(second.inputs) or "nothing"
                why = f"'{source}' gives {gives}, '{target}' takes {takes}"
                reason = f"the link {_arrow(link)} is impossible: {why}"
                findings.append(Finding(self.name, "reject", reason, place_of(gold, link)))
            elif graph is not None:
                reason = f"the tool graph has no link {_arrow(link)}"
                findings.append(Finding(self.name, "quarantine", reason, place_of(gold, link)))
        return findings if looked else None

    def _shape(self, gold: Gold) -> list[Finding]:
        """One finding if the label calls the plan a chain or a single call, and its links form neither."""
        declared, tools = gold.record.get("type"), [node.tool for node in gold.nodes]
        if declared not in ("single", "chain") or not tools or len(set(tools)) < len(tools):
            return []
        if gold.record.get("task_links") is None:
            return []
        shape = shape_of(len(tools), set(gold.links), tools=tools)
        if shape == declared or (declared == "chain" and shape == "single"):
            return []
        made_of = f"{count_of(len(tools), 'node')} and {count_of(len(gold.links), 'link')}"
        what = "are not connected" if is_paths(len(tools), set(gold.links)) else f"make a {shape}"
        reason = f"the label calls the plan a {declared}, but its {made_of} {what}"
        return [Finding(self.name, "quarantine", reason, "type")]


def sample_of(gold: Gold) -> tuple[Sequence[str] | None, Sequence[Ends] | None]:
    """The sampled tools and links of a label; None for what the label does not hold.

    An empty list of sampled nodes beside a plan with nodes counts as absent, not as "nothing was sampled".
    """
    nodes, links = gold.sampled_nodes, gold.sampled_links
    if not nodes and gold.nodes:
        return None, links or None
    return nodes, links


def place_of(gold: Gold, link: Ends) -> str:
    """The path of a link in its label; "task_links" if the list does not hold it."""
    written = gold.record.get("task_links")
    for place, item in enumerate(written if isinstance(written, list) else []):
        if isinstance(item, dict) and (item.get("source"), item.get("target")) == link:
            return f"task_links[{place}]"
    return "task_links"


def _arrow(link: Ends) -> str:
    return f"{listed([link[0]])} -> {listed([link[1]])}"


def _arrows(links: Sequence[Ends], what: str) -> str:
    return ", ".join(f"{what} {_arrow(link)}" for link in links[:4]) + (" and more" if len(links) > 4 else "")


def _difference(who: str, lacking: str, extra: str) -> str:
    lacks = f"lacks {lacking} of the sample" if lacking else ""
    has = f"has {extra}, which {'was' if 'and' not in extra else 'were'} not sampled" if extra else ""
    return f"{who} {' and '.join(filter(None, (lacks, has)))}"
