"""`toolassay execute` through the command line: workplaces, Python functions, the simulator, predictions."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from tests.support.builders import (
    NOTE_FUNCTIONS,
    ROOT,
    agents_folder,
    imported_tool,
    label_of,
    node,
    workbench_folder,
    write_labels,
    write_predictions,
)
from tests.support.own_workplace import workplace
from tests.support.running import Finished, inside, lines_of, process, write_lines
from tests.support.wheels import installed
from toolassay import evaluate, execute, infer
from toolassay.benchmarks.taskbench.item_details import plan_answers
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.evaluation.items import read_executed, read_items
from toolassay.executors import McpExecution
from toolassay.plans.execution_record import read_executions
from toolassay.records.data_folder import DataFolder

Capture = pytest.CaptureFixture[str]


FIRST = label_of(
    "first", node("list_notes"), node("read_note", name="<node-0>[0]"), links=[("list_notes", "read_note")]
)
WRITES = label_of("writes", node("write_note", name="new", text="hello"))
MISSING = label_of("missing", node("read_note", name="nothing"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with imported functions and three labels; the functions and a workspace are beside it."""
    (tmp_path / "notes_tools.py").write_text(NOTE_FUNCTIONS)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("first note")
    (workspace / "b.txt").write_text("second note")
    folder = tmp_path / "data"
    source = tmp_path / "notes_tools.py"
    done = inside("import", "python", source, "--data_dir", folder, "--allow_tools")
    assert done.code == 0, done.err
    write_labels(folder, [FIRST, WRITES, MISSING])
    return folder


def run(notes: Path, *more: str | Path, consent: bool = True) -> Finished:
    place = notes.parent
    given: list[str | Path] = ["--functions", place / "notes_tools.py", "--workspace", place / "workspace"]
    given += ["--fresh", "worker"]
    consents = ["--allow_tools", "--allow_writes"] if consent else []
    return inside("execute", "--data_dir", notes, "--executor", "python", *given, *consents, *more)


def test_functions_run_in_dependency_order_and_their_results_are_recorded(notes: Path) -> None:
    done = run(notes)
    assert done.code == 0, done.err
    first, writes, missing = read_executions(notes / "executions.jsonl")
    assert first.outcome == "ran"
    assert [(call.node, call.tool, call.arguments, call.result) for call in first.calls] == [
        (0, "list_notes", {}, ["a", "b"]),
        (1, "read_note", {"name": "a"}, "first note"),
    ]
    assert first.answer == ("first note",)
    assert first.changes == {}
    assert writes.changes is not None
    assert set(writes.changes) == {"new.txt"}
    assert missing.outcome == "failed"
    assert sorted(path.name for path in (notes.parent / "workspace").iterdir()) == ["a.txt", "b.txt"]
    assert "No such file" in missing.reason


SAME = {"task_nodes": [node("read_note", name="a")], "task_links": []}
OTHER = {"task_nodes": [node("read_note", name="b")], "task_links": []}


def test_alternatives_are_executed_like_the_gold_and_compared(notes: Path) -> None:
    fact = {"facts": [{"from": "<node-1>"}]}
    overwritten = {"task_nodes": [node("write_note", name="new", text="bye")], "task_links": []}
    missing = {"task_nodes": [node("read_note", name="nothing")], "task_links": []}
    unknown = {"task_nodes": [node("shred")], "task_links": []}
    itself = {"task_nodes": WRITES["task_nodes"], "task_links": []}
    twice = {"task_nodes": [*WRITES["task_nodes"]] * 2, "task_links": []}
    labels = [
        {**FIRST, "alternatives": [SAME, OTHER, missing]},
        {**FIRST, **fact, "id": "told", "alternatives": [SAME, OTHER]},
        {**WRITES, "facts": [], "alternatives": [overwritten, itself, twice, unknown, SAME]},
        {**MISSING, "alternatives": [SAME]},
    ]
    write_labels(notes, labels)
    done = run(notes, "--workers", "1")
    assert done.code == 0, done.err
    assert "9 alternatives: 3 do the same as the gold plan" in done.out
    first, told, writes, failed = read_executions(notes / "executions.jsonl")
    assert first.alternatives and told.alternatives and writes.alternatives
    assert [verdict.outcome for verdict in first.alternatives] == ["same", "differs", "failed"]
    assert first.alternatives[1].reason == "it gives another answer"
    assert "No such file" in first.alternatives[2].reason
    assert [verdict.outcome for verdict in told.alternatives] == ["same", "differs"]
    assert told.alternatives[1].reason == "its results lack 'first note', which the person must be told"
    assert [verdict.outcome for verdict in writes.alternatives] == ["differs", "same", "failed", "differs"]
    assert writes.alternatives[0].reason == "it leaves another state (1 missed, 1 unwanted)"
    assert writes.alternatives[3].reason == "it leaves another state (1 missed, 0 unwanted)"
    assert failed.alternatives is UNSET  # its gold did not run
    assert "alternatives" not in lines_of(notes / "executions.jsonl")[3]
    written = (notes / "executions.jsonl").read_bytes()
    calls = (notes / "execution/journal.jsonl").read_bytes()
    assert run(notes, "--workers", "1").code == 0
    assert (notes / "executions.jsonl").read_bytes() == written
    assert (notes / "execution/journal.jsonl").read_bytes() == calls, "nothing ran again"


def test_code_runs_and_writes_only_with_consent(notes: Path) -> None:
    done = run(notes, consent=False)
    assert done.code == 2 and "--allow_tools" in done.error
    assert not (notes / "executions.jsonl").exists()
    done = run(notes, "--allow_tools", consent=False)
    assert done.code == 0 and "--allow_writes" in done.err
    assert {one.outcome for one in read_executions(notes / "executions.jsonl")} == {"not_allowed"}


def test_other_settings_are_refused_and_force_keeps_what_was_there(notes: Path) -> None:
    run(notes)
    done = run(notes, "--fresh", "plan")
    assert done.code == 2
    assert "fresh: 'worker' -> 'plan'" in done.error
    done = run(notes, "--fresh", "plan", "--force")
    assert done.code == 0, done.err
    assert "kept the earlier executions" in done.err
    assert [one.outcome for one in read_executions(notes / "executions.jsonl")] == ["ran", "ran", "failed"]


def test_predictions_are_judged_by_answer_and_state(notes: Path) -> None:
    run(notes)
    other_way = [node("read_note", name="a")]  # another plan, the same answer
    harmful = [node("write_note", name="a", text="oops"), node("write_note", name="new", text="hello")]
    plans = {
        "first": {"task_steps": [], "task_nodes": other_way, "task_links": []},
        "writes": {"task_steps": [], "task_nodes": harmful, "task_links": []},
        "missing": None,
    }
    write_predictions(notes, "model", plans)
    done = run(notes, "--predictions", "model")
    assert done.code == 0, done.err
    verdicts = {line["id"]: line for line in lines_of(notes / "metrics/outcomes/model.items.jsonl")}
    assert set(verdicts) == {"first", "writes"}  # the gold plan of the third did not run
    assert verdicts["first"]["correct"]
    assert not verdicts["writes"]["correct"]
    assert (verdicts["writes"]["unwanted"], verdicts["writes"]["missed"]) == (1, 0)
    assert json.loads((notes / "metrics/outcomes/model.json").read_text())["correct"] == 1
    harm = {
        key: answer.harm for key, answer in plan_answers(DataFolder(notes), notes / "predictions", "model")
    }
    assert harm["writes"] == ["write_note"] and not harm["first"]


def test_every_trial_is_executed_and_counts(notes: Path) -> None:
    run(notes)
    wrong = {**FIRST, "task_nodes": [node("list_notes")], "task_links": []}
    for trial, first in enumerate((FIRST, wrong, None)):
        place = notes / "predictions" / (f"trials/{trial}" if trial else "") / "model.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        write_lines(place, [{"id": "first", "result": first}, {"id": "writes", "result": WRITES}])
    evaluate(notes, llm="model")
    done = run(notes, "--predictions", "model")
    assert done.code == 0, done.err
    lines = {line["id"]: line for line in lines_of(notes / "metrics/outcomes/model.items.jsonl")}
    assert lines["first"]["correct"] is True  # of the first trial
    assert lines["first"]["scores"]["outcome"] == pytest.approx(1 / 3)
    runs = [(run["trial"], run["scores"]["outcome"]) for run in lines["first"]["trials"]]
    assert runs == [(0, 1.0), (1, 0.0), (2, 0.0)]
    (item,) = (one for one in read_items(notes / "metrics/model.items.jsonl") if one.id == "first")
    assert item.scores["outcome"] == pytest.approx(1 / 3)
    # Executions of fewer trials than were scored do not rank.
    shutil.rmtree(notes / "predictions/trials/2")
    evaluate(notes, llm="model")
    executed = read_executed(notes / "metrics/model.items.jsonl")
    assert executed is not None and "other trials than now" in executed.problem


def test_predictions_need_executed_gold_plans_in_the_same_environment(notes: Path) -> None:
    write_predictions(notes, "model", {"first": None})
    done = run(notes, "--predictions", "model")
    assert done.code == 2
    assert "without --predictions" in done.error
    run(notes)
    (notes.parent / "workspace" / "c.txt").write_text("a third note")
    done = run(notes, "--predictions", "model")
    assert done.code == 2
    assert "execute the gold plans again" in done.error


@pytest.fixture
def ledger(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A folder with an executed gold plan, and how its server, which has a module of its own, is started."""
    key = {"key": {"type": "string"}}
    tools = [imported_tool(name, "Does.", key, ["key"]) for name in ("look", "add")]
    folder = agents_folder(tmp_path / "data", tools, {"one": "Add x"}, ("look", {"key": "x"}))
    for name in ("ledger.py", "standard_streams.py"):
        (tmp_path / name).write_bytes((ROOT / "tests/mcp_servers" / name).read_bytes())
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed/ledger.txt").touch()
    server = shlex.join([sys.executable, str(tmp_path / "ledger.py"), str(tmp_path / "record.jsonl")])
    given: dict[str, Any] = {"executor": "mcp", "server": server, "allow_writes": True}
    given["workspace"] = str(tmp_path / "seed")
    assert execute(folder, **given).counts == {"ran": 1}
    return folder, given


@pytest.mark.parametrize("edited", ["ledger.py", "standard_streams.py"])
def test_a_changed_server_is_said(ledger: tuple[Path, dict[str, Any]], tmp_path: Path, edited: str) -> None:
    folder, given = ledger
    assert execute(folder, **given).counts == {"ran": 1}  # what the server writes does not count
    gold = [{"task": "look", "arguments": [{"name": "key", "value": "x"}]}]
    plan = {"task_steps": [""], "task_nodes": gold, "task_links": []}
    (folder / "predictions").mkdir()
    write_lines(folder / "predictions/m.json", [{"id": "one", "user_request": "Add x", "result": plan}])
    with (tmp_path / edited).open("a") as stream:
        stream.write("# edited")
    of_predictions: dict[str, Any] = {"predictions": "m"}
    for more in ({}, of_predictions):
        with pytest.raises(UsageError, match=rf"{edited} changed"):
            execute(folder, **given, **more)

    async def agent(request: str, session: Any) -> str:
        return "done"

    told: list[str] = []
    used = McpExecution(server=given["server"], workspace=given["workspace"])
    infer(
        folder,
        llm="mine",
        agent=agent,
        executor="mcp",
        executor_options=used,
        allow_writes=True,
        screen=Screen(told.append),
    )
    assert [edited in line for line in told if "gold" in line] == [True]
    assert execute(folder, **given, force=True).counts == {"ran": 1}
    assert len(list(folder.glob("execution.*"))) == 1
    assert execute(folder, **given, predictions="m").outcome is not None


def test_gold_of_an_earlier_version_has_no_fingerprint_and_goes_on(
    ledger: tuple[Path, dict[str, Any]],
) -> None:
    folder, given = ledger
    manifest = folder / "execution/manifest.json"
    content = json.loads(manifest.read_text())
    before = dict(content["settings"])
    content["settings"] = {key: value for key, value in before.items() if not key.startswith("program")}
    assert content["settings"] != before
    manifest.write_text(json.dumps(content))
    assert execute(folder, **given).counts == {"ran": 1}
    assert json.loads(manifest.read_text())["settings"] == before


@pytest.mark.parametrize("name", ["world", "simulate"])
def test_a_world_needs_no_server(notes: Path, name: str) -> None:
    done = inside("execute", "--data_dir", notes, "--executor", name)
    assert done.code == 0, done.err
    assert {one.executor for one in read_executions(notes / "executions.jsonl")} == {"world"}


def test_ground_truth_of_a_workplace_runs_on_its_sandbox(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "work", slice(None, None, 60))
    done = inside("execute", "--data_dir", folder, "--executor", "workbench")
    assert done.code == 0, done.err
    executions = list(read_executions(folder / "executions.jsonl"))
    assert len(executions) == 12
    assert {one.outcome for one in executions} == {"ran"}
    assert any(one.changes for one in executions)


def test_a_workplace_of_ones_own_needs_consent_to_run_its_tools(tmp_path: Path) -> None:
    task = {"query": "Write hello.", "answer": ['notes.write.func(text="hello")']}
    folder = workplace(tmp_path / "own", tasks=[task])
    arguments = ["execute", "--data_dir", folder, "--executor", "workbench"]
    assert "--allow_tools" in inside(*arguments).error  # type: ignore[arg-type]
    done = inside(*arguments, "--allow_tools")  # type: ignore[arg-type]
    assert done.code == 0, done.err
    (execution,) = read_executions(folder / "executions.jsonl")
    assert execution.answer == (3,)
    assert list(execution.changes or {}) == ['notes/{"id": 3, "text": "hello"}']


def test_an_unknown_executor_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no executor 'docker'.*mcp, python, world, workbench"):
        execute(tmp_path, executor="docker")


def test_an_executor_comes_as_an_installed_package(notes: Path, tmp_path: Path) -> None:
    place = tmp_path / "site"
    place.mkdir()
    package = installed(ROOT / "tests" / "packages" / "dice_executor", place)
    path = f"{ROOT}{os.pathsep}{package}"
    arguments = ["--data_dir", str(notes), "--executor", "dice", "--sides", "20", "--seed", "3"]
    done = process("execute", *arguments, cwd=tmp_path, PYTHONPATH=path)
    assert done.code == 0, done.err
    executions = list(read_executions(notes / "executions.jsonl"))
    assert {one.executor for one in executions} == {"dice"}
    # The list of notes is a number here, which has no first item.
    assert [one.outcome for one in executions] == ["failed", "ran", "ran"]
    assert all(1 <= call.result <= 20 for one in executions for call in one.calls)
    assert executions[1].changes == {"rolls": {"before": 0, "after": 1}}
    assert "--sides" in process("execute", "--help-all", cwd=tmp_path, PYTHONPATH=path).out
