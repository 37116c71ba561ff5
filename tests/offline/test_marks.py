from __future__ import annotations

from pathlib import Path

from toolassay.benchmarks.workbench.tasks import fingerprint, read_tasks
from toolassay.runs.outcomes import (
    BASELINE,
    BUILT_IN_PROGRAM,
    ON_PUBLISHED_REQUESTS,
    RULES_AT_HAND,
    mark_of,
    marked,
)


def test_the_offline_agent_is_marked_on_requests_that_its_rules_were_written_with() -> None:
    mark = mark_of("offline", {"benchmark": "workbench", "tasks": "x", "wordings": "toolassay"})
    assert mark is RULES_AT_HAND and mark.is_baseline
    assert f"{ON_PUBLISHED_REQUESTS} %" in mark.line


def test_scores_of_the_bundled_tasks_from_before_that_part_are_marked_too(root: Path) -> None:
    tasks = fingerprint(read_tasks(root / "data_workbench"))[:12]
    assert (
        mark_of("offline", {"toolassay": "0.1.0", "benchmark": "workbench", "tasks": tasks}) is RULES_AT_HAND
    )


def test_on_other_tasks_the_agent_is_marked_as_built_in_and_models_are_not() -> None:
    bundled = {"benchmark": "workbench", "wordings": "toolassay"}
    assert mark_of("gpt-4", bundled) is None
    assert mark_of("offline", {"benchmark": "workbench", "tasks": "0123456789ab"}) is BUILT_IN_PROGRAM
    assert mark_of("offline", {}) is BUILT_IN_PROGRAM and BUILT_IN_PROGRAM.is_baseline


def test_baselines_are_marked_whatever_they_were_scored_on() -> None:
    assert mark_of("nothing", {}) is mark_of("random", {"benchmark": "classic"}) is BASELINE
    assert marked("random", BASELINE) == "random (baseline)"
