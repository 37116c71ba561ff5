from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.metrics.pass_k import repeat_metrics


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_chances_are_those_of_runs_drawn_without_replacement(outcomes: list[list[bool]]) -> None:
    found = repeat_metrics(outcomes)
    most = max(map(len, outcomes))
    assert found["trials"] == most and found["runs"].keys() == {str(len(task)) for task in outcomes}
    for k in range(1, most + 1):
        enough = [task for task in outcomes if len(task) >= k]
        draws = [[*combinations(task, k)] for task in enough]
        any_of = sum(sum(map(any, some)) / len(some) for some in draws) / len(enough)
        all_of = sum(sum(map(all, some)) / len(some) for some in draws) / len(enough)
        assert found["tasks"][str(k)] == len(enough)
        assert found["pass@k"][str(k)]["value"] == pytest.approx(any_of)
        assert found["pass^k"][str(k)]["value"] == pytest.approx(all_of)


def test_no_tasks_have_no_chances() -> None:
    empty = {"trials": 0, "pass@k": {}, "pass^k": {}, "tasks": {}, "runs": {}}
    assert repeat_metrics([]) == empty
    assert repeat_metrics([[], []], trials=3) == {**empty, "trials": 3, "runs": {"0": 2}}


def test_tasks_of_a_cluster_are_drawn_together() -> None:
    outcomes = [[True, True]] * 20 + [[False, False]] * 20
    alone = repeat_metrics(outcomes)["pass^k"]["2"]
    together = repeat_metrics(outcomes, clusters=["a"] * 20 + ["b"] * 20)["pass^k"]["2"]
    assert together["value"] == alone["value"] == 0.5
    assert together["high"] - together["low"] == 1.0 > alone["high"] - alone["low"]
