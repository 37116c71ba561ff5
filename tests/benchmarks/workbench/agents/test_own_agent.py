"""Agents of users on a workplace: a real process that calls the tools over MCP; a function with a model."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import AGENT_KIT, running_server, workbench_folder
from tests.support.running import lines_of, write_lines
from toolassay import evaluate, infer, verify
from toolassay.benchmarks.workbench.calls import parse_call
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.episodes.own_agent import AgentSession
from toolassay.errors import UsageError
from toolassay.executors.executor import Refusal
from toolassay.models import ModelOptions
from toolassay.stages.export import export_trajectories
from toolassay.testkit import FakeServer

IDS = ["email-001", "calendar-001"]
PROGRAM = f"""{AGENT_KIT}
assert "It is Thursday, 2023-11-30" in given["request"]
for tool, arguments in json.load(open(sys.argv[1]))[name]:
    call(tool, **arguments)
print("Done.")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return workbench_folder(tmp_path / "office", lambda task: task["id"] in IDS)


def gold_calls(folder: Path) -> dict[str, list[tuple[str, Any]]]:
    """The ground truth of each task, as calls of functions."""
    parsed = {task.id: [parse_call(text) for text in task.answer] for task in read_tasks(folder)}
    return {
        name: [(call.name.replace(".", "__"), call.arguments) for call in calls if call]
        for name, calls in parsed.items()
    }


def test_a_program_is_judged_by_the_state_that_it_leaves(folder: Path, tmp_path: Path) -> None:
    calls = gold_calls(folder)
    calls["calendar-001"] = [("calendar__vanish", {}), *calls["email-001"]]
    (tmp_path / "calls.json").write_text(json.dumps(calls))
    (tmp_path / "agent.py").write_text(PROGRAM)
    command = shlex.join([sys.executable, str(tmp_path / "agent.py"), str(tmp_path / "calls.json")])
    assert infer(folder, llm="mine", agent_command=command, trials=2).summary.complete
    lines = {line["id"]: line for line in lines_of(folder / "predictions_agents/mine.json")}
    gold = {task.id: list(task.answer) for task in read_tasks(folder)}
    assert lines["email-001"]["function_calls"] == gold["email-001"]
    assert lines["calendar-001"]["function_calls"] == gold["email-001"]
    found = evaluate(folder, llm="mine")
    overall = json.loads(found.path.read_text())["overall_overall"]
    assert found.path.parent.name == "metrics_agents" and overall["outcomes"] == {"answered": 2}
    assert (overall["strict"]["correct"], overall["strict"]["side_effects"]) == (1, 1)
    assert verify(folder, llm="mine").is_equal


def test_a_function_with_a_model_has_a_trajectory(folder: Path, tmp_path: Path) -> None:
    calls = gold_calls(folder)

    async def agent(request: str, session: AgentSession) -> str:
        answer = await session.chat("acme", [{"role": "user", "content": request}], tools=session.tools)
        for name, arguments in calls[str(session.request.id)]:
            await session.call(name, arguments)
        return str(answer["choices"][0]["message"]["content"])

    with running_server() as server:
        assert isinstance(server, FakeServer)
        options = ModelOptions(server.base)
        assert infer(folder, llm="mine", agent=agent, toolkit="domains", options=options).summary.complete
        assert len(server.received) == 2
    found = evaluate(folder, llm="mine")
    assert json.loads(found.path.read_text())["overall_overall"]["strict"]["correct"] == 2
    export_trajectories(folder, predictions="mine", out=tmp_path / "out")
    talks = lines_of(tmp_path / "out/trajectories.jsonl")
    assert [[one["role"] for one in talk["messages"]] for talk in talks] == [["user", "assistant"]] * 2
    assert all(talk["right"] for talk in talks)


def test_an_edited_program_is_refused_and_starts_again(folder: Path, tmp_path: Path) -> None:
    calls = gold_calls(folder)
    (tmp_path / "calls.json").write_text(json.dumps({name: [] for name in IDS}))
    (tmp_path / "agent.py").write_text(PROGRAM)
    command = shlex.join([sys.executable, str(tmp_path / "agent.py"), str(tmp_path / "calls.json")])
    infer(folder, llm="mine", agent_command=command)
    (tmp_path / "calls.json").write_text(json.dumps(calls))
    with pytest.raises(UsageError, match=r"calls\.json changed"):
        infer(folder, llm="mine", agent_command=command)
    infer(folder, llm="mine", agent_command=command, force=True)
    found = evaluate(folder, llm="mine")
    assert json.loads(found.path.read_text())["overall_overall"]["strict"]["correct"] == 2
    assert len(list((folder / "predictions_agents/runs").glob("mine.*/mine.json"))) == 1


def test_a_program_that_makes_its_calls_in_another_order_after_a_kill_is_verified(folder: Path) -> None:
    calls = gold_calls(folder)["calendar-001"]
    start = {"number": 0}

    async def agent(request: str, session: AgentSession) -> str:
        ways = [calls[:1], [("calendar__vanish", {}), *calls]]
        for name, arguments in ways[start["number"]]:
            with suppress(Refusal):
                await session.call(name, arguments)
        return "done"

    infer(folder, llm="mine", agent=agent, ids=["calendar-001"])
    (folder / "predictions_agents/mine.json").unlink()
    journal = folder / "predictions_agents/runs/mine/journal.jsonl"
    write_lines(journal, [line for line in lines_of(journal) if "outcome" not in line])
    start["number"] = 1
    assert infer(folder, llm="mine", agent=agent, ids=["calendar-001"]).summary.complete
    assert verify(folder, llm="mine").is_equal


@pytest.mark.parametrize("given", [{"resample": 1}, {"security": 5}, {"engine": "local:2"}, {"max_steps": 3}])
def test_options_that_do_not_concern_an_agent_are_refused(folder: Path, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"omit|leave"):
        infer(folder, llm="mine", agent_command=sys.executable, **given)
