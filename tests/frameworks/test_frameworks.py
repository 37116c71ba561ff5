"""Agents of other makers, without a line of ours in them, get the verdicts of the built-in loop.

    python -m venv FOLDER && FOLDER/bin/pip install -r tests/frameworks/requirements.txt
    TOOLASSAY_FRAMEWORKS=FOLDER python -m pytest -m framework

A scripted model stands behind the relay; the tools are an MCP server, and a workplace.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from measurements.gold_agent import Calls, GoldModel, executed_workplace, gold_calls
from tests.mcp_servers import command_of
from tests.support.builders import running_server, workbench_folder, write_labels
from tests.support.running import lines_of
from toolassay import build_graph, evaluate, execute, import_tools, infer
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.executors import McpExecution
from toolassay.models import ModelOptions

pytestmark = pytest.mark.framework
PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
LIST = ("list_bookings", {"state": "OPEN"})
CANCEL = ("cancel_booking", {"booking_id": "BK-71"})
INVOICE = ("create_invoice", {"booking_id": "BK-76"})
PAY = ("pay_invoice", {"invoice_id": "IN-42", "method": "CARD"})
REQUESTS: Mapping[str, tuple[Calls, Calls]] = {
    "Cancel the first open booking.": ([LIST, CANCEL], [LIST, CANCEL]),
    "Make the invoice of BK-76.": ([INVOICE], [("create_invoice", {"booking_id": "BK-72"}), INVOICE]),
    "Pay IN-42 by card.": ([PAY], [("pay_invoice", {**PAY[1], "method": "CASH"})]),
    "List the open bookings.": ([LIST], []),
}
"""By request, the gold calls and those of the model: right, right after a refusal, wrong, none."""


@pytest.fixture
def python() -> str:
    """The interpreter that has the frameworks."""
    folder = os.environ.get("TOOLASSAY_FRAMEWORKS")
    if not folder:
        pytest.skip("TOOLASSAY_FRAMEWORKS is not set; this file says how to make one")
    return str(Path(folder).resolve() / "bin" / "python")


def by_both(
    folder: Path, calls: Mapping[str, Calls], program: str, given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What the built-in loop and a program did and got for it, with the same model."""
    found = []
    with running_server(GoldModel(calls)) as server:
        ways: list[dict[str, Any]] = [{"ask": "tools"}, {"agent_command": program}]
        for way in ways:
            done = infer(folder, llm="scripted", options=ModelOptions(server.base), **way, **given)
            assert done.summary.outcomes == {"answered": len(calls)}
    for name in ("tools", "agents"):
        evaluate(folder, llm="scripted", prediction_dir=f"predictions_{name}")
        scores = json.loads((folder / f"metrics_{name}/scripted.json").read_text())["overall_overall"]
        used = lines_of(folder / f"predictions_{name}/runs/scripted/ledger.jsonl")
        made = lines_of(folder / f"predictions_{name}/executions/scripted.jsonl")
        found.append(
            {
                "plans": {
                    one["id"]: one["result"] for one in lines_of(folder / f"predictions_{name}/scripted.json")
                },
                "scores": [
                    scores["strict"][metric]["value"] for metric in ("exact_match", "node_f1", "edge_f1")
                ],
                "outcomes": lines_of(folder / f"metrics_{name}/outcomes/scripted.items.jsonl"),
                "answers": len(used),
                "results": [
                    [(one["tool"], one["arguments"], one["result"]) for one in line["calls"]] for line in made
                ],
            }
        )
        assert all(one["prompt_tokens"] and one["completion_tokens"] for one in used)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_an_agent_on_an_mcp_server_gets_the_verdicts_of_the_built_in_loop(
    python: str, program: Path, tmp_path: Path
) -> None:
    folder, desk = tmp_path / "desk", tmp_path / "workspace"
    desk.mkdir()
    import_tools("mcp", command_of("booking_desk", str(tmp_path / "listed.db")), folder)
    build_graph(folder, dependency_type="schema")
    write_labels(
        folder,
        [
            {
                "id": str(place),
                "user_request": request,
                "type": "chain",
                "n_tools": len(gold),
                "task_steps": [name for name, _ in gold],
                "task_nodes": [
                    {"task": tool, "arguments": [{"name": name, "value": made[name]} for name in made]}
                    for tool, made in gold
                ],
                "task_links": [],
            }
            for place, (request, (gold, _)) in enumerate(REQUESTS.items())
        ],
    )
    server = f"{command_of('booking_desk')} {{workspace}}/desk.db"
    options = McpExecution(server=server, workspace=str(desk))
    execute(folder, executor="mcp", options=options, allow_writes=True)
    given = {"executor": "mcp", "executor_options": options, "allow_writes": True}
    calls = {request: made for request, (_, made) in REQUESTS.items()}
    loop, agent = by_both(folder, calls, shlex.join([python, str(program)]), given)
    assert agent == loop
    assert [one["correct"] for one in loop["outcomes"]] == [True, True, False, False]
    assert loop["answers"] == sum(map(len, calls.values())) + len(calls)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_an_agent_on_workbench_gets_its_verdicts(python: str, program: Path, tmp_path: Path) -> None:
    def is_taken(task: Mapping[str, Any]) -> bool:
        return task["id"] in taken

    with_calls = [task for task in read_tasks(Path("data_workbench")) if task.answer]
    taken = {task.id for task in [*with_calls[:2], *with_calls[-2:]]}
    workplace, folder = workbench_folder(tmp_path / "workplace", is_taken), tmp_path / "folder"
    given = executed_workplace(workplace, folder, read_tasks(workplace))
    first, *others = gold = gold_calls(folder)
    calls = {**gold, first: gold[first][:-1]}
    loop, agent = by_both(folder, calls, shlex.join([python, str(program)]), given)
    assert agent == loop
    with running_server(GoldModel(calls)) as server:
        infer(workplace, llm="scripted", options=ModelOptions(server.base))
    evaluate(workplace, llm="scripted")
    metrics = json.loads((workplace / "metrics/scripted.json").read_text())["overall_overall"]
    assert [one["correct"] for one in agent["outcomes"]] == [False, *[True] * len(others)]
    assert metrics["strict"]["correct"] == len(others)
