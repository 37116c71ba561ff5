"""The review of a sample while it is generated: the gates that need no other sample, and critics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.backinstruct.generator import Problem, Review, Tried
from toolassay.backinstruct.labels import Labeller
from toolassay.dataset import Sample
from toolassay.gates.critic import reviewed
from toolassay.gates.gate import Background, level_of
from toolassay.gates.gate_pipeline import rule_gates
from toolassay.gold import Gold
from toolassay.graph import ToolGraph
from toolassay.runs.items import Ask


def sample_review(graph: ToolGraph, critics: Sequence[str] = (), tried: Tried | None = None) -> Review:
    """A function that says why a sample would not pass.

    Args:
        graph: The tool graph.
        critics: Names of models that judge what the gates let pass.
        tried: Executes the plan of what the gates let pass.
    """
    labeller = Labeller(graph.library, graph.dependency_type)
    background = Background(graph.library, graph.dependency_type, graph)
    gates = rule_gates(background)

    async def review(sample: Sample, record: Mapping[str, Any], ask: Ask) -> list[Problem]:
        label, problems = labeller.label(record)
        if label is None:
            return [Problem("format", problem) for problem in problems]
        gold = Gold.of(label)
        found = [
            Problem(gate.name, f"{finding.reason}{f' ({finding.where})' if finding.where else ''}")
            for gate in gates
            for finding in gate.check(gold)
            if level_of([finding.state]) != "pass"
        ]
        if tried is not None and not found:
            found += [Problem(*one) for one in await ask.once(lambda: tried(sample, record))]
        for critic in critics if not found else ():
            verdict = await reviewed(critic, gold, background, ask)
            if verdict.verdict == "fail":
                found.append(Problem("llm critic", f"a reviewer says: {verdict.conclusion}"))
        return found

    return review
