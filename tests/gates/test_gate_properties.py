"""What holds of the gates and of repair whatever a label holds."""

from __future__ import annotations

import copy
import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import difficult_tools, named
from tests.support.small_libraries import BARE, FOLDERS, OFFICE, ROOT, STUDIO, background_of, label
from toolassay.gates.gate import STATES, Background, Gate
from toolassay.gates.graph_gate import GraphGate, WiringGate
from toolassay.gates.repair import repair
from toolassay.gates.schema_gate import SchemaGate
from toolassay.plans.gold import Gold
from toolassay.records.dataset import read_labels
from toolassay.tools.library import ToolLibrary

DIFFICULT = Background(ToolLibrary.from_json(difficult_tools()), "temporal")
BACKGROUNDS = (STUDIO, OFFICE, BARE, DIFFICULT)


def gates(background: Background) -> tuple[Gate, ...]:
    return SchemaGate(background), GraphGate(background), WiringGate(background)


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


tools = st.sampled_from([*STUDIO.library.ids, *OFFICE.library.ids, "painter", "Book_Room", "unknown", ""])
TEXTS = """a fox|a.jpg|b.wav|c.MP4|http://[x|https://x.org/a.png|<node-0>|<node-1>|<node-2>|<Node_1>|node-0
|on <node-1>|output of Painter|Painter|${x}|2026-05-14|42|\0|"""
words = st.sampled_from(TEXTS.split("|"))
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=6)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["day", "seats", "note", "to", "text", "mode", "Text"])
arguments = anything | st.lists(
    anything | st.fixed_dictionaries({"name": names | anything, "value": anything}), max_size=3
)
nodes = anything | st.lists(
    anything | st.fixed_dictionaries({"task": tools | anything}, optional={"arguments": arguments}),
    max_size=4,
)
links = anything | st.lists(
    anything | st.fixed_dictionaries({"source": tools | anything, "target": tools | anything}), max_size=4
)
records = st.fixed_dictionaries(
    {},
    optional={
        "user_request": anything,
        "task_steps": anything,
        "task_nodes": nodes,
        "task_links": links,
        "sampled_nodes": nodes | st.lists(tools, max_size=3),
        "sampled_links": links,
        "n_tools": anything,
        "type": anything,
    },
)
HUGE = 10**5000
JUNK = {
    "user_request": deep(50_000),
    "task_steps": "[" * 100_000,
    "task_nodes": [
        {"task": "Painter", "arguments": [deep(50_000), HUGE, float("nan"), "<node-" + "9" * 5000 + ">"]},
        {"task": "Painter", "arguments": HUGE},
        {"task": "book_room", "arguments": named(day=deep(50_000), seats=HUGE, note=-HUGE)},
        {"task": "set_heating", "arguments": named(mode=HUGE)},
        {"task": "make_note", "arguments": "[" * 100_000},
        {"task": "Image Editor", "arguments": ["x" * 1_000_000, "<" * 100_000]},
        {"task": "Cutter" * 10_000, "arguments": {"value": deep(50_000)}},
    ],
    "task_links": [{"source": deep(50_000), "target": HUGE}],
    "n_tools": deep(50_000),
    "type": deep(50_000),
}


def test_very_large_junk_is_reported_too() -> None:
    # Not as an example of the tests below: hypothesis itself cannot write it down.
    for background in BACKGROUNDS:
        hold(background, JUNK)
        mended, _ = repair(JUNK, background)
        assert repair(mended, background)[1] == []


def hold(background: Background, record: dict[str, Any]) -> None:
    for gate in gates(background):
        for finding in gate.check(Gold.of({**record, "id": 1})):
            assert finding.gate == gate.name
            assert finding.state in STATES[1:]
            assert finding.reason
            assert len(finding.reason) < 2000
            assert "\n" not in finding.reason


@given(records)
def test_gates_never_raise(record: dict[str, Any]) -> None:
    for background in BACKGROUNDS:
        hold(background, record)


@given(records)
def test_repair_repairs_once_reports_it_and_never_changes_what_it_got(record: dict[str, Any]) -> None:
    kept = copy.deepcopy(record)
    for background in BACKGROUNDS:
        mended, repairs = repair(record, background)
        assert repr(record) == repr(kept)
        again, more = repair(mended, background)
        assert (more, again.keys()) == ([], mended.keys())
        if not repairs:
            assert repr(Gold.of({**mended, "id": 1})) == repr(Gold.of({**record, "id": 1}))


clean = st.sampled_from(
    [
        label(
            ("Painter", ["a fox"]),
            ("Describer", ["<node-0>"]),
            links="Painter>Describer",
            n_tools=2,
            type="chain",
        ),
        label(
            ("Speaker", ["hello"]),
            ("Cutter", ["<node-0>"]),
            ("Splicer", ["<node-0>", "<node-1>"]),
            links="Speaker>Cutter Speaker>Splicer Cutter>Splicer",
            n_tools=3,
            type="dag",
        ),
    ]
)


@given(clean, st.data())
def test_a_replaced_argument_is_reported_or_repaired(record: dict[str, Any], data: st.DataObject) -> None:
    bent = copy.deepcopy(record)
    node = data.draw(st.sampled_from(bent["task_nodes"][1:]))
    place = data.draw(st.integers(0, len(node["arguments"]) - 1))
    node["arguments"][place] = data.draw(words | scalars)
    mended, _ = repair(bent, STUDIO)
    findings = [finding for gate in gates(STUDIO) for finding in gate.check(Gold.of(mended))]
    wires = [sorted(node["arguments"]) for node in record["task_nodes"]]
    assert findings or [sorted(node["arguments"]) for node in mended["task_nodes"]] == wires


@pytest.mark.parametrize("name", FOLDERS)
def test_the_labels_of_the_project_pass(name: str) -> None:
    background = background_of(name)
    for line, record in read_labels(ROOT / f"data_{name}" / "data.json"):
        gold = Gold.of(record, line)
        assert [finding for gate in gates(background) for finding in gate.check(gold)] == []
        assert repair(record, background) == (record, [])


def by_name(record: dict[str, Any]) -> dict[str, Any]:
    """A temporal label as the published formatter leaves it: nodes and links by name, no sample."""
    nodes = sorted(record["task_nodes"], key=lambda node: str(node["task"]))
    links = sorted(record["task_links"], key=lambda link: (link["source"], link["target"]))
    kept = {key: value for key, value in record.items() if not key.startswith("sampled_")}
    return {**kept, "task_nodes": nodes, "task_links": links}


def test_temporal_labels_whose_nodes_stand_by_name_pass_and_turned_links_do_not() -> None:
    background = background_of("dailylifeapis")
    wiring = WiringGate(background)
    for line, record in islice(read_labels(ROOT / "data_dailylifeapis" / "data.json"), 100):
        label = by_name(record)
        gold = Gold.of(label, line)
        states = {finding.state for gate in gates(background) for finding in gate.check(gold)}
        assert states <= {"not applicable"}
        for link in label["task_links"][:1]:
            link["source"], link["target"] = link["target"], link["source"]
            assert [finding.state for finding in wiring.check(Gold.of(label))] == ["reject"]


def test_labels_in_the_form_of_the_hub_pass() -> None:
    background = background_of("multimedia")
    names = {key: f"tool_{key[5:]}" for key in ("task_steps", "task_nodes", "task_links")}
    for _, record in islice(read_labels(ROOT / "data_multimedia" / "data.json"), 50):
        hub = {
            names.get(key, key): json.dumps(value) if isinstance(value, list) else value
            for key, value in record.items()
        }
        hub["instruction"] = hub.pop("user_request")
        assert [finding for gate in gates(background) for finding in gate.check(Gold.of(hub))] == []
        assert repair(hub, background) == (record, [])
