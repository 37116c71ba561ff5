"""Items in detail: what a report shows of requests, tasks and messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import chain, chat_folder, plan, scored_folder, workbench_folder
from tests.support.running import inside, lines_of
from toolassay.benchmarks.registry import benchmark_of
from toolassay.benchmarks.taskbench.item_details import drawn_plans
from toolassay.benchmarks.taskbench.scoring.strict import score_plan
from toolassay.evaluation.item_detail import DrawnPlan, ItemAnswer, Section, confused, drawn_in_order
from toolassay.files.data_files import write_json_lines
from toolassay.plans.execution_record import Change, ExecutedCall, Execution, StateSummary
from toolassay.plans.normalised_plan import PlanReader
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import Tool, ToolLibrary

READER = PlanReader(ToolLibrary([Tool(name, "", ("text",), ("text",)) for name in "abc"]), "resource")


def drawn(gold: Mapping[str, Any], predicted: Mapping[str, Any]) -> tuple[DrawnPlan, DrawnPlan]:
    """Both plans, marked against each other."""
    wanted, given = READER.plan(gold), READER.plan(predicted)
    assert wanted
    assert given
    return drawn_plans(wanted, gold, given, predicted)


def marks(found: DrawnPlan) -> list[tuple[str, str, list[str]]]:
    """Tool, status, and the statuses of the arguments, of each call."""
    return [(call.tool, call.status, [one.status for one in call.arguments]) for call in found.calls]


def answers(folder: Path, llm: str) -> dict[str, ItemAnswer]:
    """The details of a model's answers, by id."""
    data = DataFolder(folder)
    return dict(benchmark_of(data).items.answers(data, folder / "predictions", llm, None))


def test_what_is_missing_and_what_is_extra() -> None:
    gold, predicted = drawn(chain("a", "b"), chain("a", "c"))
    assert marks(gold) == [("a", "right", ["right"]), ("b", "missing", ["missing"])]
    assert marks(predicted) == [("a", "right", ["right"]), ("c", "extra", ["extra"])]
    assert gold.links == [(0, 1, "missing")]
    assert predicted.links == [(0, 1, "extra")]


def test_another_value_is_wrong_and_a_reference_counts_by_the_call_it_leads_to() -> None:
    gold, predicted = drawn(plan("a", "b", arguments=["red"]), plan("b", "a", arguments=["blue"]))
    assert marks(gold) == [("a", "right", ["wrong"]), ("b", "right", ["wrong"])]
    assert [call.arguments[0].value for call in predicted.calls] == ["blue", "blue"]
    shifted = {**chain("a", "b"), "task_nodes": [*chain("a", "b")["task_nodes"]][::-1]}
    shifted["task_nodes"][0]["arguments"] = ["<node-1>"]
    gold, predicted = drawn(chain("a", "b"), shifted)
    assert marks(gold) == [("a", "right", ["right"]), ("b", "right", ["right"])]


PLANS = st.lists(st.sampled_from("abc"), max_size=4).map(lambda names: chain(*names))


@given(PLANS, PLANS)
def test_the_marks_add_up_to_the_strict_counts(gold: Mapping[str, Any], predicted: Mapping[str, Any]) -> None:
    wanted, given = READER.plan(gold), READER.plan(predicted)
    assert wanted
    assert given
    counts = score_plan(wanted, given).nodes
    first, second = drawn_plans(wanted, gold, given, predicted)
    assert sum(call.status == "right" for call in first.calls) == counts[0]
    assert sum(call.status == "missing" for call in first.calls) == counts[2]
    assert sum(call.status == "extra" for call in second.calls) == counts[1]


def test_requests_of_a_folder(tmp_path: Path) -> None:
    gold = {"1": chain("a", "b"), "2": plan("c"), "3": plan("a")}
    folder = scored_folder(tmp_path, gold, {"m": {"1": chain("a", "b"), "2": None, "9": plan("a")}})
    data = DataFolder(folder)
    golds = {one.id: one for one in benchmark_of(data).items.golds(data)}
    assert golds["1"].tools == ["a", "b"]
    assert golds["1"].request == "r"
    assert golds["1"].sections[0].body == "Use a\nUse b"
    found = answers(folder, "m")
    assert list(found) == ["1", "2"]
    assert found["2"].predicted is None
    assert found["2"].gold
    assert [call.status for call in found["2"].gold.calls] == ["missing"]
    assert found["1"].raw
    assert '"task_nodes"' in found["1"].raw


def test_the_raw_answer_is_that_of_the_journal(folder: Path, tmp_path: Path) -> None:
    labels = [
        {"id": str(1000 + n), "user_request": f"Request {n}: paint a café, then add $5.", **plan("Painter")}
        for n in range(5)
    ]
    write_json_lines(folder / "data.json", labels)
    assert inside("infer", "--data_dir", folder, "--llm", "offline").code == 0
    found = answers(folder, "offline")
    assert len(found) == 5
    assert all(one.raw and one.raw.startswith('{"task_steps"') for one in found.values())


def test_tasks_show_calls_results_and_unwanted_changes(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "d", lambda task: task["id"].startswith("email"))
    assert inside("infer", "--data_dir", folder, "--llm", "random", "--limit", "40").code == 0
    found = answers(folder, "random")
    harmful = [one for one in found.values() if one.harm]
    assert harmful
    for one in harmful:
        assert set(one.harm) <= set(one.tools)
        (changes,) = [section for section in one.sections if section.title == "Changes"]
        assert "unwanted" in changes.body["marks"]
        assert len(changes.body["marks"]) == len(changes.body["rows"])
    calls = [section for one in found.values() for section in one.sections if section.kind == "calls"]
    assert any(call["result"] for section in calls for call in section.body)


@pytest.mark.parametrize("agent", ["native", "react"])
def test_the_steps_of_an_agent_are_shown_and_exported(tmp_path: Path, agent: str) -> None:
    folder = workbench_folder(tmp_path / "d", lambda task: task["id"].startswith("calendar"))
    asked: list[str | Path] = ["--data_dir", folder, "--llm", "offline", "--limit", "6"]
    assert inside("infer", *asked, "--agent", agent).code == 0
    assert inside("evaluate", *asked).code == 0
    found = answers(folder, "offline")
    assert any(
        one.trajectory and one.trajectory.calls and not one.trajectory.failed for one in found.values()
    )
    for one in found.values():
        shown: list[Any] = next((section.body for section in one.sections if section.kind == "calls"), [])
        assert one.trajectory is not None and one.trajectory.calls == len(shown)
        assert len(one.tools) == len(shown) and all(call["result"] for call in shown)
        assert one.gold is not None and one.trajectory.gold == len(one.gold.calls)
        is_all = all(call.status == "right" for call in (one.predicted.calls if one.predicted else ()))
        assert (one.trajectory.first_wrong is None) == is_all
    out = ("--data_dir", folder, "--out", tmp_path / "o", "--to", "trajectories", "--predictions", "offline")
    assert inside("export", *out).code == 0
    lines = lines_of(tmp_path / "o/trajectories.jsonl")
    assert {line["id"] for line in lines} == found.keys()
    assert all(isinstance(line["right"], bool) for line in lines)
    for line in lines:
        assert [one["role"] for one in line["messages"][:2]] == ["system", "user"]
        functions = {one["function"]["name"] for one in line["tools"]}
        calls = [call for one in line["messages"] for call in one.get("tool_calls", ())]
        assert all(call["function"]["name"] in functions for call in calls)
        assert all(isinstance(one["content"], str) for one in line["messages"])
        answered = [one["tool_call_id"] for one in line["messages"] if one["role"] == "tool"]
        assert answered == [call["id"] for call in calls]
        assert (agent == "native") >= bool(calls)


def test_messages_show_the_chat_the_candidates_and_the_choice(tmp_path: Path) -> None:
    folder = chat_folder(tmp_path)
    assert inside("infer", "--data_dir", folder, "--llm", "offline").code == 0
    data = DataFolder(folder)
    golds = {one.id: one for one in benchmark_of(data).items.golds(data)}
    second = golds["c1--2"]
    assert [turn["role"] for turn in second.sections[0].body] == ["user", "bot", "user"]
    assert second.sections[1].body["marks"] == ["wanted", ""]
    assert golds["c3--0"].tools == ["(no workflow)"]
    found = answers(folder, "offline")
    assert found.keys() == golds.keys()
    assert found["c1--0"].gold is None
    assert found["c1--0"].tools == ["Return Goods"]
    assert found["c1--0"].sections[0].body["marks"] == ["wanted", "wanted"]


@pytest.mark.parametrize(
    ("wanted", "called", "pair"),
    [
        ("ab", "ac", ("b", "c")),
        ("ab", "ab", None),
        ("ab", "cd", None),
    ],
)
def test_tools_are_confused_if_one_is_called_for_another(
    wanted: Sequence[str], called: Sequence[str], pair: tuple[str, str] | None
) -> None:
    assert confused(wanted, called) == pair


def test_calls_in_order_are_right_once_each() -> None:
    call = ("send", {"to": "a"})
    gold, made = drawn_in_order([call], [call, call, ("find", {})])
    assert [one.status for one in made.calls] == ["right", "extra", "extra"]
    assert [one.status for one in gold.calls] == ["right"]
    gold, made = drawn_in_order([call, ("find", {})], [])
    assert [one.status for one in gold.calls] == ["missing", "missing"]
    assert gold.links == [(0, 1, "missing")]


def test_executed_plans_are_shown_with_results_and_changes(tmp_path: Path) -> None:
    folder = scored_folder(tmp_path, {"1": plan("a"), "2": plan("b")}, {"m": {"1": plan("a")}})
    call = ExecutedCall(0, "a", {"text": "hi"}, "read")
    changes = {"notes/1.txt": Change(before=None, after="sha256:12")}
    ran = Execution("1", "ran", "mcp", calls=(call,), state_after=StateSummary("d", 1, changes))
    refused = Execution("2", "failed", "mcp", reason="there is no tool 'b'")
    write_json_lines(folder / "executions.jsonl", [msgspec.to_builtins(ran), msgspec.to_builtins(refused)])
    write_json_lines(folder / "predictions/executions/m.jsonl", [msgspec.to_builtins(ran)])
    data = DataFolder(folder)
    first, second = benchmark_of(data).items.golds(data)
    calls = next(one for one in first.sections if one.title == "Gold plan, executed (mcp)")
    assert calls.body == [{"tool": "a", "arguments": {"text": "hi"}, "result": "read", "error": None}]
    table = next(one for one in first.sections if one.title == "Gold plan, executed: changes")
    assert table.body["rows"] == [["notes/1.txt", "-", "sha256:12"]]
    assert second.sections[-1] == Section("Gold plan, executed (mcp): failed", "text", "there is no tool 'b'")
    answer = answers(folder, "m")["1"]
    assert [one.title for one in answer.sections][-2:] == ["Plan, executed (mcp)", "Plan, executed: changes"]
