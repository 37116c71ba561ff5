"""Models that do not differ are told apart rarely: `measurements/null_comparisons.py`, but shorter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from measurements import null_comparisons as benchmark

RUNS = 300


@pytest.fixture(scope="module")
def pool(root: Path) -> Any:
    return benchmark.planner_scores(root, ("data_multimedia",))


@pytest.mark.slow
def test_false_alarms_in_clusters(pool: Any) -> None:
    alarms = benchmark.count_alarms(pool, RUNS, seed=2)
    shares = {name: alarms.by_p[name] / RUNS for name in pool.metrics if name != "exact_match"}
    assert all(0.015 <= share <= 0.085 for share in shares.values()), shares
    assert all(alarms.by_interval[name] / RUNS <= 0.1 for name in pool.metrics)
    assert alarms.by_p["exact_match"] / RUNS <= 0.065, "few items differ: an exact test is cautious"
    assert alarms.family / RUNS <= 0.065


@pytest.mark.slow
def test_mcnemar_does_not_cry_wolf_over_single_items(pool: Any) -> None:
    alarms = benchmark.count_alarms(benchmark.single_items(pool), RUNS, seed=3)
    assert alarms.by_mcnemar["exact_match"] == RUNS
    assert alarms.by_p["exact_match"] / RUNS <= 0.065
    assert alarms.family / RUNS <= 0.065
