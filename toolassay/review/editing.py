"""A label that a reviewer mends: what was changed, what becomes of the rest, and what the gates say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.gates.gate import Finding, Gate
from toolassay.gold import Gold
from toolassay.review.samples import PARTS, drawn_shape


class Checked(NamedTuple):
    """What is to be said of a label before it is saved.

    Attributes:
        faults: parts that have the wrong form; such a label cannot be saved.
        findings: of the gates; with a rejection among them it is saved only if the reviewer insists.
    """

    faults: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def rejections(self) -> tuple[str, ...]:
        """Why gates reject it."""
        return tuple(
            f"{finding.gate}: {finding.reason}" for finding in self.findings if finding.state == "reject"
        )


def changed_parts(record: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the parts that differ from the label.

    Raises:
        UsageError: something else than the four parts is given.

    >>> changed_parts({"user_request": "Hi", "task_links": []}, {"user_request": "Ho", "task_links": []})
    {'user_request': 'Ho'}
    """
    strange = [key for key in parts if key not in PARTS]
    if strange:
        raise UsageError(f"'{strange[0]}' cannot be edited", fix=f"edit {', '.join(PARTS)}")
    return {key: parts[key] for key in PARTS if key in parts and parts[key] != record.get(key)}


def edited(record: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The label with the changed parts in it, and what follows from them.

    The shape and the number of tools are those of the mended plan. What was sampled is what the request was
    written for; once a person has mended the plan against that, the plan is what the request asks for, and
    takes its place. What a critic said of the label as it was no longer counts.
    """
    label = {**record, **parts}
    if not parts:
        return label
    if "check_by_teacher" in label:
        label["check_by_teacher"] = None
    if "task_nodes" not in parts and "task_links" not in parts:
        return label
    gold = Gold.of(label)
    tools = [node.tool for node in gold.nodes]
    if "type" in label:
        label["type"] = drawn_shape(gold)
    if "n_tools" in label:
        label["n_tools"] = len(tools)
    if gold.sampled_nodes is not None and Counter(gold.sampled_nodes) != Counter(tools):
        label["sampled_nodes"] = [{"task": tool} for tool in tools]
    if gold.sampled_links is not None and Counter(gold.sampled_links) != Counter(gold.links):
        label["sampled_links"] = [{"source": source, "target": target} for source, target in gold.links]
    return label


def check(label: Mapping[str, Any], gates: Sequence[Gate]) -> Checked:
    """Look at a label as the gates do."""
    gold = Gold.of(label)
    findings = [finding for gate in gates for finding in gate.check(gold)]
    return Checked(tuple(f"{fault.where} {fault.reason}" for fault in gold.faults), tuple(findings))
