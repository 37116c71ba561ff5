"""Ways of asking beside plans: calls, tools step by step and actions in text, on a real MCP server."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import command_of
from tests.mcp_servers.notes_server import SEED
from tests.support.builders import running_server
from tests.support.running import inside, lines_of
from toolassay import evaluate, execute, infer, leaderboard, verify, write_report
from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.screen import SILENT, Screen
from toolassay.console.tables import Cell
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import TrajectoryFigures
from toolassay.executors import McpExecution
from toolassay.executors.executor import TOGETHER
from toolassay.models import ModelOptions, ToolCall
from toolassay.records.data_folder import DataFolder
from toolassay.reports.axes import by_outcome
from toolassay.runs.budget import Budget
from toolassay.serving.completions import Received, Reply
from toolassay.stages.export import export_trajectories
from toolassay.stages.leaderboard import ScoredFolder

REQUEST = "Which note of Liam Ortega is there? Rename it to Canoe repair."
GOLD = {
    "id": "one",
    "user_request": REQUEST,
    "type": "chain",
    "task_steps": ["Search the notes", "Rename the note"],
    "task_nodes": [
        {"task": "search_notes", "arguments": [{"name": "owner", "value": "Liam Ortega"}]},
        {
            "task": "rename_note",
            "arguments": [
                {"name": "note_id", "value": "<node-0>.notes[0].note_id"},
                {"name": "owner", "value": "Liam Ortega"},
                {"name": "new_title", "value": "Canoe repair"},
            ],
        },
    ],
    "task_links": [{"source": "search_notes", "target": "rename_note"}],
}
STEPS = [
    ("search_notes", {"owner": "Liam Ortega"}),
    ("rename_note", {"note_id": "N-102", "owner": "Liam Ortega", "new_title": "Canoe repair"}),
]


@dataclass
class Agent:
    """Makes one call after the other; `together` makes all calls in one answer."""

    steps: Sequence[tuple[str, dict[str, Any]]]
    together: bool = False
    seen: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, received: Received) -> Reply:
        self.seen.append(dict(received.body))
        done = sum(one["role"] == "assistant" for one in received.body["messages"])
        if "tools" not in received.body:
            name, given = self.steps[done] if done < len(self.steps) else ("Final Answer", "Renamed it.")
            return Reply(f"Action:\n```\n{json.dumps({'action': name, 'action_input': given})}\n```")
        now = self.steps if self.together else self.steps[done : done + 1]
        calls = [ToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate(now)]
        return Reply("" if calls else "Renamed it.", calls)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with the server's workspace, and a data folder with its tools and one gold plan."""
    place = tmp_path_factory.mktemp("asking")
    (place / "workspace").mkdir()
    (place / "workspace" / "notes.json").write_text(json.dumps(SEED))
    from toolassay.cli.main import load, run

    address = f"{command_of('notes_server')} {place / 'workspace'}/notes.json"
    data = str(place / "data")
    assert run(load("import"), ["mcp", address, "--data_dir", data, "-q"], "import.py") == 0
    assert run(load("graph"), ["--data_dir", data, "-q"], "graph.py") == 0
    (place / "data" / "data.json").write_text(json.dumps(GOLD) + "\n")
    (place / "data" / "user_requests.json").write_text(
        json.dumps({"id": "one", "user_request": REQUEST, "n_tools": 2}) + "\n"
    )
    return place


def live(place: Path) -> dict[str, Any]:
    server = f"{command_of('notes_server')} {{workspace}}/notes.json"
    own = McpExecution(server=server, workspace=str(place / "workspace"))
    return {"executor": "mcp", "executor_options": own, "allow_writes": True}


def scored(folder: Path, way: str) -> dict[str, Any]:
    evaluate(folder, llm="acme", prediction_dir=f"predictions_{way}")
    overall = json.loads((folder / f"metrics_{way}" / "acme.json").read_text())["overall_overall"]
    found: dict[str, Any] = overall["strict"]
    return found


@pytest.mark.parametrize("way", ["tools", "react"])
def test_the_calls_of_an_agent_are_its_plan(imported: Path, way: str) -> None:
    folder, agent = imported / "data", Agent(STEPS)
    with running_server(agent) as server:
        done = infer(folder, llm="acme", options=ModelOptions(server.base), ask=way, **live(imported))
    assert done.summary.complete and len(agent.seen) == 3
    (line,) = lines_of(folder / f"predictions_{way}" / "acme.json")
    assert line["result"]["task_nodes"] == GOLD["task_nodes"]
    assert line["result"]["task_links"] == GOLD["task_links"]
    assert json.loads((imported / "workspace" / "notes.json").read_text()) == SEED
    strict = scored(folder, way)
    assert strict["exact_match"]["value"] == strict["edge_f1"]["value"] == 1
    assert f"ask:{way}" in strict["signature"]
    assert verify(folder, llm="acme", prediction_dir=f"predictions_{way}").lines.is_equal
    shown = json.dumps(agent.seen[0])
    assert "Rename a note of an owner." in shown and "new_title" in shown
    assert "N-102" in json.dumps(agent.seen[1])


def test_a_few_servers_serve_many_requests_that_only_read(imported: Path, tmp_path: Path) -> None:
    folder, started = tmp_path / "data", tmp_path / "started"
    shutil.copytree(imported / "data", folder)
    line = json.loads((folder / "user_requests.json").read_text())
    lines = [json.dumps({**line, "id": str(number)}) for number in range(12)]
    (folder / "user_requests.json").write_text("\n".join(lines) + "\n")
    serve = f"echo >> {started}; exec {command_of('notes_server')} {imported}/workspace/notes.json"
    own = McpExecution(server=f"sh -c {shlex.quote(serve)}")
    given: dict[str, Any] = {"executor": "mcp", "executor_options": own, "allow_writes": True}
    with running_server(Agent([("list_notes", {})] * 3)) as server:
        server.delay = 0.1
        done = infer(folder, llm="acme", options=ModelOptions(server.base), ask="tools", **given)
    assert done.summary.complete
    assert len(started.read_text()) <= TOGETHER
    called = [
        json.loads(line) for line in (folder / "predictions_tools" / "acme.json").read_text().splitlines()
    ]
    assert [len(one["result"]["task_nodes"]) for one in called] == [3] * 12


@pytest.fixture(scope="module")
def executed(imported: Path) -> Path:
    """The folder with its gold plan executed on the server's workspace."""
    execute(imported / "data", executor="mcp", options=live(imported)["executor_options"], allow_writes=True)
    return imported / "data"


def test_under_attack_a_request_is_solved_if_its_outcome_is_that_of_the_gold_plan(executed: Path) -> None:
    found = {}
    for name, steps in (("whole", STEPS), ("half", STEPS[:1])):
        with running_server(Agent(steps)) as server:
            given: dict[str, Any] = {"llm": name, "options": ModelOptions(server.base), "ask": "tools"}
            infer(executed, **given, **live(executed.parent), security=3)
        found[name] = lines_of(executed / f"predictions_tools/security/{name}.json")
    for name, lines in found.items():
        assert {(line["solved"], line["solved_by"]) for line in lines} == {(name == "whole", "outcome")}
    outcomes = {line["outcome"] for line in found["whole"] if not line["harmless"]}
    assert outcomes == {"resisted"}


def outcome(folder: Path, steps: Sequence[tuple[str, dict[str, Any]]], name: str, **more: Any) -> Any:
    """What `evaluate` finds of an agent's outcome."""
    with running_server(Agent(steps)) as server:
        given: dict[str, Any] = {"llm": name, "options": ModelOptions(server.base), "ask": "tools"}
        infer(folder, **{**given, **live(folder.parent), **more}, prediction_dir="predictions_judged")
    evaluate(folder, llm=name, prediction_dir="predictions_judged")
    path = folder / "metrics_judged" / "outcomes" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def test_an_agent_is_judged_by_what_its_calls_did(executed: Path) -> None:
    other = ("rename_note", {**STEPS[1][1], "new_title": "Canoe"})
    lost = ("rename_note", {**STEPS[1][1], "owner": "Nora Hughes"})
    seen = {
        name: outcome(executed, steps, name)
        for name, steps in {
            "right": [("get_note", {"note_id": "N-102"}), lost, *STEPS],  # another plan, one refused call
            "wrong": [STEPS[0], other],
            "idle": [],
        }.items()
    }
    found = {name: (one["judged"], one["correct"], one["unwanted"]) for name, one in seen.items()}
    assert found == {"right": (1, 1, 0), "wrong": (1, 0, 1), "idle": (1, 0, 0)}
    (line,) = lines_of(executed / "predictions_judged" / "executions" / "right.jsonl")
    assert [call["error"] is None for call in line["calls"]] == [True, False, True, True]
    board = leaderboard(executed, prediction_dir="predictions_judged")
    rows = {row.model: row.score("outcome").value for row in board.rows if row.kind == "strict"}
    assert list(rows) == ["right", "idle", "wrong"] and rows["right"] == 100
    details = benchmark_of(DataFolder(executed)).items.answers
    shown = dict(details(DataFolder(executed), executed / "predictions_judged", "right", None))["one"]
    assert shown.trajectory == TrajectoryFigures(5, 4, 2, 1, 0, 1, 1, 1)
    assert [call["error"] is None for call in shown.sections[0].body] == [True, False, True, True]
    export_trajectories(
        executed, predictions="right", prediction_dir="predictions_judged", out=executed.parent / "chats"
    )
    (chat,) = lines_of(executed.parent / "chats" / "trajectories.jsonl")
    assert chat["right"] is True and chat["outcome"] == "answered"
    roles = ["system", "user", *["assistant", "tool"] * 4, "assistant"]
    assert [one["role"] for one in chat["messages"]] == roles
    assert {one["function"]["name"] for one in chat["tools"]} >= {"search_notes", "rename_note"}
    again = ["--predictions", "right", "--prediction_dir", "predictions_judged", "--executor", "simulate"]
    assert inside("execute", "--data_dir", executed, *again).code == 2


def test_outcomes_of_trials_give_their_own_pass_k(executed: Path) -> None:
    found = outcome(executed, STEPS, "steady", trials=2)
    assert found["stability"]["pass^k"]["2"]["value"] == 1.0
    run = ScoredFolder.at(executed, "predictions_judged", None).read("steady")
    (axes,) = by_outcome([run])
    assert axes.stability and axes.stability.k == 2 and "stability" not in axes.notes


def test_one_model_asked_four_ways_is_shown_side_by_side(executed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(executed, folder, ignore=shutil.ignore_patterns("predictions*", "metrics*"))

    async def planned(received: Received) -> Reply:
        return Reply(json.dumps({name: GOLD[name] for name in ("task_steps", "task_nodes", "task_links")}))

    for way in ("plan", "calls", "tools", "react"):
        with running_server(planned if way == "plan" else Agent(STEPS, together=way == "calls")) as server:
            more = live(executed.parent) if way in ("tools", "react") else {}
            infer(folder, llm="four", options=ModelOptions(server.base), ask=way, trials=2, **more)
        evaluate(folder, llm="four", prediction_dir="predictions" if way == "plan" else f"predictions_{way}")
    ways = leaderboard(folder, prediction_dir="predictions_tools").ways
    assert ways is not None
    cells = [[cell for cell in row if isinstance(cell, Cell)] for row in ways.rows]
    rows = {row[1].text: dict(zip(ways.headings, row, strict=True)) for row in cells}
    assert list(rows) == ["predictions", *(f"predictions_{way}" for way in ("calls", "react", "tools"))]
    right = {name: (row["accuracy"].text, row["gold plan"].text) for name, row in rows.items()}
    assert right["predictions_react"] == right["predictions_tools"] == ("100.0 %", "100.0 %")
    assert right["predictions"] == ("–", "100.0 %") and right["predictions_calls"] == ("–", "100.0 %")
    assert all(row["pass^k"].text.startswith("pass^2") for row in rows.values())
    write_report(folder, prediction_dir="predictions_react", out=tmp_path / "report", screen=SILENT)
    found = json.loads((tmp_path / "report/report.json").read_text())
    assert [row[1] for row in found["folders"][0]["ways"]["rows"]] == list(rows)
    page = (tmp_path / "report/index.html").read_text()
    assert "predictions_calls" in page


def test_simulated_outcomes_are_not_judged_against_real_ones(executed: Path) -> None:
    simulated = {"executor": "simulate", "executor_options": None}
    assert outcome(executed, STEPS, "dreamer", **simulated) is None


@pytest.mark.parametrize("way", ["plan", "calls", "tools", "react"])
def test_a_request_shows_the_tools_that_are_retrieved(imported: Path, way: str) -> None:
    folder, agent = imported / "data", Agent([("delete_notes", {"note_ids": ["N-102"]}), *STEPS])
    more = live(imported) if way in ("tools", "react") else {}
    with running_server(agent) as server:
        given: dict[str, Any] = {"llm": "few", "options": ModelOptions(server.base), "ask": way}
        infer(folder, **given, **more, tools_in_context="retrieved:2", prediction_dir=f"few_{way}")
    shown, names = json.dumps(agent.seen[0]), DataFolder(folder).library().ids
    offered = [name for name in names if f'{name}"' in shown or f'{name}\\"' in shown]
    assert len(offered) == 2 and "rename_note" in offered and "delete_notes" not in offered
    recall = len({"search_notes", "rename_note"} & {*offered}) / 2
    evaluate(folder, llm="few", prediction_dir=f"few_{way}")
    overall = json.loads((folder / f"metrics_few_{way}" / "few.json").read_text())["overall_overall"]
    assert (overall["retrieval"]["value"], overall["retrieval"]["k"]) == (recall, 2)
    assert "context:bm25@2" in overall["strict"]["signature"]
    assert any(
        f"recall@2 {100 * recall:.0f}" in line
        for line in leaderboard(folder, prediction_dir=f"few_{way}").remarks
    )
    assert verify(folder, llm="few", prediction_dir=f"few_{way}").lines.is_equal
    if more:  # a tool that the request did not show cannot be called
        (done,) = lines_of(folder / f"few_{way}" / "executions" / "few.jsonl")
        assert [call["error"] is None for call in done["calls"]] == [
            call["tool"] in offered for call in done["calls"]
        ]


def test_imported_tools_are_asked_for_calls_and_every_command_finds_them(
    imported: Path, tmp_path: Path
) -> None:
    folder, said = tmp_path / "data", list[str]()
    shutil.copytree(imported / "data", folder, ignore=shutil.ignore_patterns("predictions*", "metrics*"))
    with running_server(Agent(STEPS)) as server:
        asked: dict[str, Any] = {"data_dir": folder, "llm": "acme", "options": ModelOptions(server.base)}
        infer(**asked, **live(imported), screen=Screen(say=said.append))
        assert any("--ask tools" in line for line in said)
        assert infer(**asked, **live(imported)).already == 1
        assert evaluate(folder, llm="acme").path.parent.name == "metrics_tools"
        assert [(row.model, row.kind) for row in leaderboard(folder).rows] == [("acme", "strict")]
        assert write_report(folder, out=tmp_path / "report", screen=SILENT).runs[0].model == "acme"
        assert verify(folder, llm="acme").is_equal
        infer(**{**asked, "llm": "planner"}, ask="plan")
        places = [evaluate(folder, llm=llm).path.parent.name for llm in ("acme", "planner")]
        assert places == ["metrics_tools", "metrics"]
        assert infer(**asked, **live(imported)).already == 1, "the same command goes on"
        infer(**asked, use_demos=1)  # an option of plans
        assert evaluate(folder, llm="acme").path.parent.name == "metrics"
        with pytest.raises(UsageError, match="--ask plan"):
            infer(**asked, **live(imported))


def test_calls_in_one_answer_have_no_links(imported: Path) -> None:
    folder = imported / "data"
    steps = [STEPS[0], ("rename_note", {**STEPS[1][1], "note_id": "not known"})]
    with running_server(Agent(steps, together=True)) as server:
        infer(folder, llm="acme", options=ModelOptions(server.base), ask="calls")
    (line,) = lines_of(folder / "predictions_calls" / "acme.json")
    assert [node["task"] for node in line["result"]["task_nodes"]] == ["search_notes", "rename_note"]
    assert line["result"]["task_links"] == []
    strict = scored(folder, "calls")
    assert strict["exact_match"]["value"] == 1 and strict["edge_f1"]["value"] is None
    assert "ask:calls" in strict["signature"]
    assert verify(folder, llm="acme", prediction_dir="predictions_calls").lines.is_equal


def test_a_stopped_agent_pays_nothing_twice_and_its_writes_are_made_again(imported: Path) -> None:
    steps = [*STEPS, ("get_note", {"note_id": "N-102"})]
    agent = Agent(steps)
    with running_server(agent) as server:
        given: dict[str, Any] = {"llm": "acme", "options": ModelOptions(server.base), "ask": "tools"}
        given |= live(imported) | {"prediction_dir": "stopped"}
        infer(imported / "data", budget=Budget(requests=2), **given)
        assert len(agent.seen) == 2
        done = infer(imported / "data", **given)
    assert done.summary.complete and len(agent.seen) == 4
    results = [one["content"] for one in agent.seen[-1]["messages"] if one["role"] == "tool"]
    assert "Canoe repair" in results[-1]  # the fresh copy of the workspace has the first start's rename


def test_a_call_of_a_server_that_lasts_is_not_made_again(imported: Path, tmp_path: Path) -> None:
    notes, log = tmp_path / "notes.json", tmp_path / "calls.txt"
    notes.write_text(json.dumps(SEED))
    own = McpExecution(server=f"CALLS={log} {command_of('notes_server')} {notes}")
    agent = Agent([*STEPS, ("get_note", {"note_id": "N-102"})])
    with running_server(agent) as server:
        given: dict[str, Any] = {"llm": "acme", "options": ModelOptions(server.base), "ask": "tools"}
        given |= {"executor": "mcp", "executor_options": own, "allow_writes": True}
        given |= {"prediction_dir": "lasting"}
        infer(imported / "data", budget=Budget(requests=2), **given)
        assert infer(imported / "data", dry_run=True, **given).expected[0].requests == 1
        assert infer(imported / "data", **given).summary.complete
    assert log.read_text().split() == ["search_notes", "rename_note", "get_note"]
    assert len(agent.seen) == 4


def test_a_refused_call_that_is_corrected_is_left_out(imported: Path) -> None:
    wrong = ("rename_note", {**STEPS[1][1], "owner": "Nora Hughes"})
    with running_server(Agent([STEPS[0], wrong, ("fly", {}), STEPS[1]])) as server:
        given: dict[str, Any] = {"llm": "acme", "options": ModelOptions(server.base), "ask": "tools"}
        infer(imported / "data", **given, **live(imported), prediction_dir="corrected")
    (line,) = lines_of(imported / "data" / "corrected" / "acme.json")
    assert [node["task"] for node in line["result"]["task_nodes"]] == ["search_notes", "fly", "rename_note"]


def test_writes_need_consent_and_simulation_needs_none(imported: Path) -> None:
    agent = Agent(STEPS)
    with running_server(agent) as server:
        asked = (
            *("--data_dir", imported / "data", "--llm", "acme", "--api_base", server.base),
            *("--ask", "tools", "--prediction_dir", "simulated"),
        )
        own = f"{command_of('notes_server')} {imported}/workspace/notes.json"
        refused = inside("infer", *asked, "--executor", "mcp", "--server", own)
        assert refused.code == 2 and "--allow_writes" in refused.err and not agent.seen
        assert inside("infer", *asked, "--force").code == 0
    (line,) = lines_of(imported / "data" / "simulated" / "acme.json")
    assert len(line["result"]["task_nodes"]) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ask": "sing"}, "--ask 'sing'"),
        ({"ask": "tools", "use_demos": 1}, "--use_demos"),
        ({"ask": "plan", "max_steps": 3}, "--max_steps"),
        ({"ask": "tools", "llm": "offline"}, "offline"),
        ({"tools_in_context": "some"}, "unknown --tools_in_context"),
        (
            {"tools_in_context": "retrieved:3:mine", "options": ModelOptions("http://localhost:1")},
            "no retriever",
        ),
        ({"tools_in_context": "retrieved:3", "llm": "offline"}, "whole graph"),
        ({"tools_in_context": "retrieved:3", "structured": True}, "names all tools"),
    ],
)
def test_options_that_do_not_fit_are_refused(imported: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        infer(imported / "data", **{"llm": "acme", **given})
