from __future__ import annotations

from collections.abc import Mapping

import pytest

from toolassay.benchmarks.taskbench.scoring.strict import HallucinationCounter, Hallucinations
from toolassay.graph import ToolGraph
from toolassay.normalised_plan import PlanReader
from toolassay.tools import Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [
        Tool("Two_Words", inputs=("text",), outputs=("image",)),
        Tool("See", inputs=("image",), outputs=("text",)),
    ]
)
READER = PlanReader(LIBRARY, "resource")
GRAPH = ToolGraph.build(LIBRARY, "resource")


def _count(plan: Mapping[str, object], graph: ToolGraph | None = GRAPH) -> Hallucinations:
    read = READER.plan(plan)
    assert read is not None
    return HallucinationCounter(LIBRARY, graph, READER).count(read)


def test_names_meet_as_they_do_in_the_scores() -> None:
    nodes = [{"task": "Two Words"}, {"task": "Two_Words"}, {"task": "See"}, {"task": "see"}]
    assert _count({"task_nodes": nodes})[:2] == (1, 4)


@pytest.mark.parametrize(
    ("source", "target", "invented"),
    [("Two Words", "See", 0), ("See", "See", 1), ("Two Words", "Nothing", 1)],
)
def test_a_link_exists_if_the_graph_has_it(source: str, target: str, invented: int) -> None:
    plan = {"task_nodes": [{"task": "See"}], "task_links": [{"source": source, "target": target}]}
    assert _count(plan)[2:] == (invented, 1)


def test_without_a_graph_the_ends_decide() -> None:
    plan = {
        "task_nodes": [],
        "task_links": [{"source": "See", "target": "See"}, {"source": "x", "target": "See"}],
    }
    assert _count(plan, None)[2:] == (1, 2)


def test_references_are_links_where_there_is_no_list() -> None:
    nodes = [{"task": "See", "arguments": []}, {"task": "See", "arguments": ["<node-0>"]}]
    assert _count({"task_nodes": nodes})[2:] == (1, 1)
