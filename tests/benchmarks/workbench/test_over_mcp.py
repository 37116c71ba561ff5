"""Calls of an agent over MCP get the verdicts of the same calls made directly."""

from __future__ import annotations

from pathlib import Path

from measurements.workbench_over_mcp import compare
from toolassay.benchmarks.workbench.tasks import read_tasks

DATA = Path(__file__).parents[3] / "data_workbench"


def test_verdicts_over_mcp_are_the_direct_ones(tmp_path: Path) -> None:
    tasks = read_tasks(DATA)[::115]
    found = compare(DATA, tasks, tmp_path)
    assert all(one.differ == one.outcomes_differ == 0 for one in found.values())
    gold = found["ground truth"]
    assert gold.correct == len(tasks) and gold.calls == sum(len(task.answer) for task in tasks)
    for name in ("without the last call", "those of the next task"):
        assert found[name].correct < len(tasks)
        assert found[name].outcomes == sum(bool(task.answer) for task in tasks)
