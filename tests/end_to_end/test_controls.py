"""The gate "controls" at the release of a set, and the baseline `nothing` as an agent."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import HERE
from tests.mcp_servers.tickets import make_desk
from tests.support.evaluating import metrics_of
from tests.support.running import ids, inside, lines_of, write_lines
from toolassay import build_graph, evaluate, import_tools, infer, verify, write_report
from toolassay.errors import UsageError
from toolassay.executors import McpExecution
from toolassay.runs.outcomes import BASELINE
from toolassay.stages.release import release
from toolassay.stages.settings import LiveSettings

# Request, calls and facts of each sample.
SAMPLES: dict[str, tuple[str, list[tuple[str, dict[str, Any]]], list[dict[str, Any]]]] = {
    "due": (
        "When is the ticket about the printer due?",
        [("list_tickets", {})],
        [{"from": "<node-0>.tickets[0].due"}],
    ),
    "close": ("Please close ticket 8, the sound works again.", [("close_ticket", {"id": 8})], []),
    # The rule reads the stars as emphasis, so that it finds the title in no text.
    "wrong replay": (
        "What is the closed ticket about?",
        [("list_tickets", {})],
        [{"from": "<node-0>.tickets[2].title"}],
    ),
    "idle": ("Have a look at all tickets for me.", [("list_tickets", {})], []),
    "gossip": (
        "At which hour does the desk shut?",
        [("get_closing_time", {})],
        [{"from": "<node-0>.result"}],
    ),
}


def raw(name: str) -> dict[str, Any]:
    """A line of `data_raw.json`."""
    request, calls, facts = SAMPLES[name]
    nodes = [
        {"id": tool, "arguments": [{"name": key, "value": value} for key, value in given.items()]}
        for tool, given in calls
    ]
    return {
        "id": name,
        "seed": 0,
        "sampled_nodes": [{"id": tool} for tool, _ in calls],
        "sampled_links": [],
        "result": {
            "task_steps": ["Step 1: do it"],
            "user_request": request,
            "invoking_graph": {"nodes": nodes, "links": []},
            "facts": facts,
        },
    }


def live(place: Path) -> McpExecution:
    server = f"{sys.executable} {HERE / 'tickets.py'} {{workspace}}/desk.db"
    return McpExecution(server=server, workspace=str(place / "desk"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk, and a folder with its tools and generated samples."""
    place = tmp_path_factory.mktemp("controls")
    make_desk(place / "desk" / "desk.db")
    with sqlite3.connect(place / "desk" / "desk.db") as base:
        base.execute("UPDATE tickets SET title = '--' WHERE id = 9")
    base.close()
    import_tools("mcp", f"{sys.executable} {HERE / 'tickets.py'} {place}/desk/desk.db", place / "mine")
    build_graph(place / "mine", dependency_type="schema")
    write_lines(place / "mine" / "data_raw.json", [raw(name) for name in SAMPLES])
    return place


@pytest.fixture(scope="module")
def released(place: Path) -> Path:
    """The folder, released."""
    release(place / "mine", live=LiveSettings("mcp", live(place), allow_writes=True))
    return place / "mine"


def test_a_release_leaves_out_what_controls_do_not_judge_as_they_must(released: Path) -> None:
    assert ids(released / "data.json") == ["due", "close"]
    lines = {line["id"]: line for line in lines_of(released / "gates.jsonl")}
    reasons = {
        name: finding["reason"]
        for name, line in lines.items()
        for finding in line["findings"]
        if finding["gate"] == "controls"
    }
    for name, word in (("wrong replay", "replay"), ("idle", "does nothing"), ("gossip", "reading tools")):
        assert word in reasons.pop(name)
        assert lines[name]["gates"]["controls"] == "quarantine"
        assert lines[name]["level"] == ("reject" if name == "idle" else "quarantine")
    assert reasons == {}
    assert "| controls |" in (released / "funnel.md").read_text()


def test_what_other_tools_return_is_read_from_the_released_folder(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        (folder / name).write_bytes((place / "mine" / name).read_bytes())
    write_lines(folder / "data_raw.json", [raw("due"), raw("gossip")])
    seen = {"get_closing_time": [{"arguments": {}, "result": '{"result": "16:00"}'}]}
    (folder / "results.json").write_text(json.dumps(seen))
    release(folder, live=LiveSettings("mcp", live(place), allow_writes=True))
    assert ids(folder / "data.json") == ["due", "gossip"]


@pytest.mark.parametrize("way", ["tools", "react"])
def test_the_baseline_nothing_is_an_agent(released: Path, place: Path, way: str) -> None:
    given: dict[str, Any] = {"executor": "mcp", "executor_options": live(place), "allow_writes": True}
    done = infer(released, llm="nothing", ask=way, **given)
    assert done.summary.complete
    lines = lines_of(released / f"predictions_{way}/nothing.json")
    assert [(line.get("answer", ""), line["result"]["task_nodes"]) for line in lines] == [("", [])] * 2
    evaluate(released, llm="nothing", prediction_dir=f"predictions_{way}")
    judged = lines_of(released / f"metrics_{way}/outcomes/nothing.items.jsonl")
    assert [(line["ran"], line["correct"], line["facts"]) for line in judged] == [
        (True, False, 0),
        (True, False, None),  # it asks for no answer
    ]
    assert metrics_of(released, "nothing", f"metrics_{way}")["strict"]["exact_match"]["value"] == 0
    shown = inside(
        "evaluate", "--data_dir", released, "--prediction_dir", f"predictions_{way}", "--llm", "all"
    )
    assert "nothing (baseline)" in shown.out and BASELINE.line in shown.out
    assert verify(released, llm="nothing", prediction_dir=f"predictions_{way}").is_equal
    report = write_report(released, prediction_dir=f"predictions_{way}", out=released / f"report_{way}")
    assert [(run.model, run.mark, run.accuracy.value) for run in report.runs] == [("nothing", BASELINE, 0)]
    assert sum("controls, in no score: 2" in note for note in report.notes) == 1
    with pytest.raises(UsageError, match="--engine"):
        infer(released, llm="nothing", ask=way, engine="local:2", **given)
    again = infer(released, llm="nothing", ask=way, **given)
    assert again.summary.complete


@pytest.mark.parametrize("llm", ["random", "offline"])
def test_other_built_in_models_make_plans_only(released: Path, llm: str) -> None:
    with pytest.raises(UsageError, match="makes plans only"):
        infer(released, llm=llm, ask="tools")
