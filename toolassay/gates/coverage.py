"""Coverage of a tool graph by a checked set: which tools and edges have a sample that passes, and why not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolassay.gates.gate import state_of
from toolassay.gates.gate_pipeline import Inspection, kind_of
from toolassay.graph import ToolGraph
from toolassay.tools.library import ToolLibrary

Edge = tuple[str, str]
MOST_LISTED_EDGES = 100_000
"""Edges of a graph that are looked at one by one; of a larger graph only the sampled ones are counted."""
# Tools and edges without a passing sample that are named on the screen, and entries of a list in funnel.json.
_MOST_NAMED = 10
_MOST_IN_FILE = 1_000
NEVER = "no sample has it"


@dataclass
class _Counts:
    sampled: Counter[Any] = field(default_factory=Counter)
    passed: Counter[Any] = field(default_factory=Counter)
    reasons: dict[Any, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, names: Iterable[Any], reason: str) -> None:
        for name in dict.fromkeys(names):
            self.sampled[name] += 1
            if reason:
                self.reasons[name][reason] += 1
            else:
                self.passed[name] += 1

    def extend(self, other: _Counts) -> None:
        self.sampled.update(other.sampled)
        self.passed.update(other.passed)
        for name, reasons in other.reasons.items():
            self.reasons[name].update(reasons)


class SampleCounts:
    """The samples of each tool and each edge, before and after the gates."""

    def __init__(self) -> None:
        self.tools = _Counts()
        self.edges = _Counts()

    def add(self, inspection: Inspection, library: ToolLibrary) -> None:
        """Count one sample: what was sampled, else its plan."""
        gold = inspection.gold
        reason = _reason(inspection)
        nodes = gold.sampled_nodes or tuple(node.tool for node in gold.nodes)
        self.tools.add((name for name in nodes if name in library), reason)
        links = gold.links if gold.sampled_links is None else gold.sampled_links
        self.edges.add(links, reason)

    def extend(self, other: SampleCounts) -> None:
        """Add the counts of the samples that follow."""
        self.tools.extend(other.tools)
        self.edges.extend(other.edges)


def _reason(inspection: Inspection) -> str:
    """Why a sample does not pass: the gate that holds it back, with its first finding; empty if it passes."""
    gate = inspection.held_back_by
    findings = [finding for finding in inspection.findings if finding.gate == gate]
    if gate and findings and state_of(findings):
        return f"{gate}: {kind_of(findings[0].reason)}"
    return gate or ""


class Coverage:
    """Which tools and edges of a graph the samples cover, before and after the gates.

    Args:
        graph: The tool graph.
        left_out: Tools that were not sampled, and why.
    """

    def __init__(self, graph: ToolGraph, left_out: Mapping[str, str] | None = None) -> None:
        self.graph = graph
        self._left_out = left_out or {}
        self._counts = SampleCounts()
        self._tools = self._counts.tools
        self._edges = self._counts.edges

    def extend(self, counts: SampleCounts) -> None:
        """Add the counts of the samples that follow."""
        self._counts.extend(counts)

    @property
    def tools(self) -> Mapping[str, int]:
        """The number of passing samples of each tool of the graph."""
        return {name: self._tools.passed[name] for name in self.graph.library.ids}

    @property
    def edges(self) -> Mapping[Edge, int]:
        """The number of passing samples of each edge; of a graph too large to list, of each sampled edge."""
        edges: Iterable[Edge] = self._edges.sampled
        if self.graph.number_of_links <= MOST_LISTED_EDGES:
            ids = self.graph.library.ids
            edges = ((ids[source], ids[target]) for source, target, _ in self.graph.numbered)
        return {edge: self._edges.passed[edge] for edge in edges}

    def _why_without(self, counts: _Counts, name: Any) -> str:
        """Why a tool or an edge is without a passing sample."""
        if counts.reasons[name]:
            commonest_reason, count = counts.reasons[name].most_common(1)[0]
            return f"{counts.sampled[name]} sampled, none passes; {count} x {commonest_reason}"
        tools = [name] if isinstance(name, str) else list(name)
        left_out = next((tool for tool in tools if tool in self._left_out), None)
        if left_out is None:
            return NEVER
        if name == left_out:
            return f"left out: {self._left_out[left_out]}"
        return f"'{left_out}' is left out"

    def to_json(self) -> dict[str, Any]:
        """The object under `coverage` in `funnel.json`."""
        tools = self.tools
        edges = self.edges
        tools_without = [name for name, count in tools.items() if not count]
        edges_without = [edge for edge, count in edges.items() if not count]
        return {
            "tools": {
                "total": len(tools),
                "sampled": sum(bool(self._tools.sampled[name]) for name in tools),
                "with_passing": sum(map(bool, tools.values())),
                "passing": dict(tools) if len(tools) <= _MOST_IN_FILE else {},
                "without": {
                    name: self._why_without(self._tools, name) for name in tools_without[:_MOST_IN_FILE]
                },
            },
            "edges": {
                "total": self.graph.number_of_links,
                "sampled": len(self._edges.sampled),
                "with_passing": len(self._edges.passed),
                "passing": [[*edge, count] for edge, count in edges.items() if count][:_MOST_IN_FILE],
                "without": [
                    [*edge, self._why_without(self._edges, edge)] for edge in edges_without[:_MOST_IN_FILE]
                ],
            },
        }

    def lines(self) -> list[str]:
        """The lines for the screen: how many tools and edges have a passing sample; which do not, and why."""
        tools = self.tools
        tools_without = [name for name, count in tools.items() if not count]
        edges_without = [edge for edge, count in self.edges.items() if not count]
        lines = [
            f"{len(tools) - len(tools_without):,} of {len(tools):,} tools and {len(self._edges.passed):,} of "
            f"{self.graph.number_of_links:,} edges have a sample that passes"
        ]
        lines += _named("tools", [(name, self._why_without(self._tools, name)) for name in tools_without])
        lines += _named(
            "edges", [(" -> ".join(edge), self._why_without(self._edges, edge)) for edge in edges_without]
        )
        return lines


def _named(noun: str, names_without: list[tuple[str, str]]) -> list[str]:
    """The first ten names without a passing sample, those with the same reason together."""
    if not names_without:
        return []
    by_reason: dict[str, list[str]] = {}
    for name, reason in names_without[:_MOST_NAMED]:
        by_reason.setdefault(reason, []).append(name)
    lines = [f"  {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    if len(names_without) > _MOST_NAMED:
        lines.append(f"  and {len(names_without) - _MOST_NAMED:,} more (funnel.json)")
    return [f"{noun} without a passing sample:", *lines]
