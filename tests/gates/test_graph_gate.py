from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import named
from tests.support.small_libraries import BARE, OFFICE, STUDIO, check, label, plain, told
from toolassay.gates.gate import Background
from toolassay.gates.graph_gate import GraphGate
from toolassay.graph import ToolGraph

GATE = GraphGate(STUDIO)
PLAN = label(
    ("Painter", ["a fox"]),
    ("Describer", ["<node-0>"]),
    ("Speaker", ["<node-1>"]),
    links="Painter>Describer Describer>Speaker",
)


def link(source: str, target: str) -> dict[str, str]:
    return {"source": source, "target": target}


def test_a_plan_that_is_its_sample_passes() -> None:
    assert check(GATE, PLAN) == []
    assert check(GATE, {**PLAN, "sampled_nodes": ["speaker", "Painter", "Describer"]}) != []


def test_what_is_missing_and_extra_is_named() -> None:
    record = {**PLAN, "sampled_nodes": ["Painter", "Describer", "Cutter"]}
    (finding,) = check(GATE, record)
    assert (finding.state, finding.where) == ("reject", "task_nodes")
    assert "lacks 'Cutter' of the sample and has 'Speaker'" in finding.reason
    record = {**PLAN, "task_links": [link("Painter", "Describer"), link("Speaker", "Describer")]}
    findings = check(GATE, record)
    assert "lacks the link 'Describer' -> 'Speaker'" in findings[0].reason
    assert findings[0].where == "task_links[1]"
    assert any("is impossible: 'Speaker' gives audio, 'Describer' takes image" in f.reason for f in findings)


def test_a_link_to_no_node_of_the_plan_is_rejected() -> None:
    record = plain({**PLAN, "task_links": [link("Painter", "Dubber")]})
    assert ("reject", "task_links[0]") in told(check(GATE, record))


def test_without_a_sample_the_tool_graph_decides() -> None:
    assert check(GATE, plain(PLAN)) == []
    assert check(GATE, {**PLAN, "sampled_nodes": [], "sampled_links": []}) == []
    single = plain(label(("Painter", ["a fox"])))
    assert told(check(GATE, single)) == [("not applicable", "")]
    assert told(check(GraphGate(OFFICE), plain(label(("lock_up", [])))))[0][0] == "not applicable"


def test_a_link_that_a_listed_graph_lacks_is_doubtful(tmp_path: Path) -> None:
    path = tmp_path / "graph_desc.json"
    path.write_text(
        '{"nodes": [{"id": "search"}, {"id": "book"}, {"id": "pay"}], '
        '"links": [{"source": "search", "target": "book", "type": "complete"}]}'
    )
    gate = GraphGate(Background(BARE.library, "temporal", ToolGraph.load(path)))
    plan = plain(label(("search", None), ("book", None), links="search>book"))
    assert check(gate, plan) == []
    plan = plain(label(("book", None), ("pay", None), links="book>pay"))
    assert told(check(gate, plan)) == [("quarantine", "task_links[0]")]


@pytest.mark.parametrize(("kind", "count"), [("chain", 1), ("dag", 0), ("single", 1), (None, 0)])
def test_a_chain_that_is_none_is_doubtful(kind: str | None, count: int) -> None:
    nodes = [(tool, named(text="a")) for tool in ("make_note", "send_mail", "lock_up")]
    record = plain(label(*nodes, links="make_note>send_mail make_note>lock_up", type=kind))
    assert len([f for f in check(GraphGate(OFFICE), record) if f.where == "type"]) == count


def test_without_a_graph_resource_types_still_decide() -> None:
    gate = GraphGate(Background(STUDIO.library, "resource"))
    turned = plain(label(("Speaker", ["hi"]), ("Describer", ["a.jpg"]), links="Speaker>Describer"))
    assert told(check(gate, turned)) == [("reject", "task_links[0]")]
    assert check(gate, plain(PLAN)) == []
