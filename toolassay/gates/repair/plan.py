"""What a label says of its plan as a whole: links once, steps as a list, its size and shape."""

from __future__ import annotations

import re
from typing import Any

from toolassay.backinstruct.critics import rule_critic
from toolassay.dataset import SHAPES, shape_of
from toolassay.gates.gate import Background
from toolassay.gates.graph import sample_of
from toolassay.gates.repair.changes import Record, Repair, gold_of, nodes_of
from toolassay.gold import Gold

_STEP = re.compile(r"(?<!^)(?=\bstep\s*\d+\s*[:.)])", re.IGNORECASE)


def mend_links(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Each link once. Where a tool is called twice, two links of one name may be two links."""
    for key in ("task_links", "sampled_links"):
        links, gold = record.get(key), gold_of(record)
        tools = [node.tool for node in gold.nodes]
        if not isinstance(links, list) or len(set(tools)) < len(tools):
            continue
        kept: list[Any] = []
        seen: set[tuple[str, str]] = set()
        for place, link in enumerate(links):
            plain = isinstance(link, dict) and set(link) == {"source", "target"}
            if not plain or not all(isinstance(end, str) for end in link.values()):
                kept.append(link)
            elif (link["source"], link["target"]) in seen:
                repairs.append(Repair("duplicate link", f"{key}[{place}]", link, None))
            else:
                seen.add((link["source"], link["target"]))
                kept.append(link)
        if len(kept) < len(links):
            record = {**record, key: kept}
    return record


def mend_steps(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """Steps written as one text, a line (or a "Step 1:") each."""
    steps = record.get("task_steps")
    if not isinstance(steps, str) or not steps.strip():
        return record
    lines = [line.strip() for line in steps.splitlines() if line.strip()]
    if len(lines) == 1:
        lines = [part.strip() for part in _STEP.split(lines[0]) if part.strip()]
    repairs.append(Repair("steps", "task_steps", steps, lines))
    return {**record, "task_steps": lines}


def mend_size(record: Record, background: Background, repairs: list[Repair]) -> Record:
    """`n_tools` and `type` that contradict the plan, if nothing says that the plan is what is wrong.

    That a plan is called a chain and its links make none is no slip of the pen: that is left for the gate
    of the graph. A path that is called a dag is one (the published sampler calls some so).
    """
    gold = gold_of(record)
    size = len(gold.nodes)
    if size != len(nodes_of(record)) or not size or not _is_sample(gold):
        return record
    if "n_tools" in record and not (record["n_tools"] is not True and record["n_tools"] == size):
        repairs.append(Repair("size", "n_tools", record["n_tools"], size))
        record = {**record, "n_tools": size}
    said = record.get("type")
    if "type" not in record or record.get("task_links") is None:
        return record
    known = isinstance(said, str) and said in SHAPES
    if (
        not known
        or (size == 1 and said != "single")
        or (size > 1 and said == "single" and gold.sampled_nodes)
    ):
        shape = shape_of(size, gold.links, tools=[node.tool for node in gold.nodes])
        repairs.append(Repair("shape", "type", said, shape))
        record = {**record, "type": shape}
    return record


def _is_sample(gold: Gold) -> bool:
    """Whether the plan is its sample, if it has one."""
    nodes, links = sample_of(gold)
    tools = [node.tool for node in gold.nodes]
    if any(fault.where.startswith(("sampled_", "task_links")) for fault in gold.faults):
        return False
    verdict = rule_critic(nodes or (), links or (), tools, gold.links)
    return (nodes is None or verdict.node) and (links is None or verdict.link)
