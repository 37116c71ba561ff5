"""The records of `data_raw.json`: a sample, what a model wrote for it, and the critics' verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.backinstruct.critics import FOLLOW, Follow, RuleVerdict, rule_critic
from toolassay.backinstruct.teacher_review import read_review
from toolassay.dataset import Sample, form_of
from toolassay.tools import ToolLibrary


def sample_id(sample: Sample) -> str:
    """The id of a sample, made of its seed and index."""
    return numbered_id(sample.seed, sample.index)


def numbered_id(seed: int, index: int) -> str:
    """The id of sample `index` of a seed.

    >>> numbered_id(7, 12)
    '7-00012'
    """
    return f"{seed}-{index:05d}"


def raw_record(
    sample: Sample, library: ToolLibrary, result: Mapping[str, Any], *, follow: Follow = "strict"
) -> dict[str, Any]:
    """The record in the published form, with the critics' verdicts added under `critics`.

    Args:
        sample: The sample.
        library: The tools.
        result: What the model wrote.
        follow: "seed" if the sample was only an idea, with which a plan is not compared.
    """
    nodes, links = plan_of(result)
    rule = RuleVerdict(node=True, link=True)
    if follow == "strict":
        sampled = ((link.source, link.target) for link in sample.links)
        rule = rule_critic(sample.nodes, sampled, (name for name, _ in nodes), links)
    teacher = read_review(result.get("check_by_teacher")).verdict
    return {
        "id": sample_id(sample),
        "seed": sample.seed,
        "method": sample.shape,
        "number_of_tools": len(sample.nodes),
        "sampled_nodes": [
            {"id": tool.id, "input-type": list(tool.inputs), "output-type": list(tool.outputs)}
            if tool.is_resource
            else {"id": tool.id}
            for tool in map(library.__getitem__, sample.nodes)
        ],
        "sampled_links": written_links(sample),
        "result": dict(result),
        "critics": {"node": rule.node, "link": rule.link, "both": rule.both, "llm": teacher},
        **form_of(result.get("user_request")),
        **({FOLLOW: follow} if follow == "seed" else {}),
    }


def written_links(sample: Sample) -> list[dict[str, Any]]:
    """The links of a sample as a record has them; those of a schema graph with `fields` and `shared`."""
    links: list[dict[str, Any]] = [{"source": link.source, "target": link.target} for link in sample.links]
    for link, pairs in zip(links, sample.fields, strict=False):
        link["fields"] = [pair.to_json() for pair in pairs]
    for link, pairs in zip(links, sample.shared, strict=False):
        if pairs:
            link["shared"] = [pair.to_json() for pair in pairs]
    return links


def plan_of(result: Mapping[str, Any]) -> tuple[list[tuple[str, Any]], list[tuple[str, str]]]:
    """Nodes as (tool, inputs) and links as (source, target) of a result; malformed ones are skipped."""
    graph = result.get("invoking_graph")
    graph = graph if isinstance(graph, Mapping) else {}
    raw_nodes, raw_links = graph.get("nodes"), graph.get("links")
    nodes = [
        (name, node.get("input", node.get("arguments")))
        for node in (raw_nodes if isinstance(raw_nodes, list) else [])
        if isinstance(node, Mapping) and isinstance(name := node.get("id", node.get("task")), str)
    ]
    links = [
        (link["source"], link["target"])
        for link in (raw_links if isinstance(raw_links, list) else [])
        if isinstance(link, Mapping)
        and isinstance(link.get("source"), str)
        and isinstance(link.get("target"), str)
    ]
    return nodes, links
