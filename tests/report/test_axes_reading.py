from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.registry import benchmark_named
from toolassay.console.tables import Cell
from toolassay.errors import UsageError
from toolassay.evaluation.metrics_file import MetricsGroup
from toolassay.reports.axes import Axes, Cost, Latency, read_axes
from toolassay.reports.requirements import quantities
from toolassay.reports.scoreboard import ModelReport, cells

SHARE = {"value": 0.5, "low": 0.25, "high": 0.75}
NOTHING = {"value": None, "low": None, "high": None}
STABILITY = {
    "trials": 3,
    "answer_agreement": SHARE,
    "pass^k": {"1": SHARE, "2": {**SHARE, "value": 0.4}, "3": {**SHARE, "value": 0.3}},
    "tasks": {"1": 4, "2": 4, "3": 4},
}
SPENT = {"usd_per_1000_tasks": 2.0, "usd_per_correct_task": None, "requests_of_unknown_cost": 1}


def taskbench(**more: Any) -> dict[str, Any]:
    return {"strict": {"n_expected": 4, "exact_match": SHARE, "signature": "toolassay:1|n:4"}, **more}


def read(numbers: dict[str, Any], benchmark: str = "taskbench") -> Axes:
    place = Path("metrics/m.json")
    group = MetricsGroup(numbers)
    known = benchmark_named(benchmark)
    about = known.about
    return read_axes(group, known.scores.axis, about=about, data="d", model="m", file=place, fix="run it")


def attacks(axes: Axes) -> Cell:
    return cells(ModelReport(axes, None, quantities(axes, [], [])))["attacks that succeed"]


def test_what_was_not_measured_is_null_with_its_reason() -> None:
    found = read(taskbench())
    assert (found.stability, found.cost, found.latency, found.security) == (None, None, None, None)
    assert sorted(found.notes) == ["cost", "latency", "security", "stability"]
    assert "--trials 2" in found.notes["stability"] and "--security true" in found.notes["security"]
    written = found.to_json()
    assert [written[axis] for axis in ("stability", "cost", "latency", "security")] == [None] * 4
    assert written["accuracy"]["value"] == 0.5


def test_stability_is_that_of_the_most_runs_that_every_item_has() -> None:
    found = read(taskbench(stability=STABILITY))
    assert found.stability is not None
    assert (found.stability.k, found.stability.pass_hat_k.value) == (3, 0.3)
    found = read(taskbench(stability={**STABILITY, "tasks": {"1": 4, "2": 4, "3": 3}}))
    assert found.stability is not None
    assert (found.stability.k, found.stability.pass_hat_k.value) == (2, 0.4)
    assert found.notes["stability"] == "of 3 trials some lack items: 2 runs of each are counted"
    found = read(taskbench(stability={**STABILITY, "tasks": {"1": 4, "2": 3, "3": 3}}))
    assert found.stability is None and "only 3 of 4 items were run twice" in found.notes["stability"]


def test_a_cost_that_is_not_the_whole_is_at_least_that() -> None:
    notes = {"cost": "without 1 request"}
    latency = {"seconds_per_task": {"p50": 1.0, "p95": 2.0}}
    found = read(taskbench(cost=SPENT, latency=latency, notes=notes))
    assert found.cost == Cost(2.0, None, is_at_least=True) and found.latency == Latency(1.0, 2.0)
    assert (
        found.notes["cost"]
        == "without 1 request; no item is right, or no model was asked, so a right item has no cost"
    )
    unknown = {**SPENT, "usd_per_1000_tasks": None}
    found = read(taskbench(cost=unknown, latency=None, notes={"cost": "no price", "latency": "not timed"}))
    assert (found.cost, found.latency) == (None, None)
    assert (found.notes["cost"], found.notes["latency"]) == ("no price", "not timed")


def test_attacks_that_all_failed_are_no_score() -> None:
    figures: dict[str, Any] = {"score": SHARE, "attempts": 30, "excluded": 2, "notes": {}, "tested": 28}
    figures |= {"successes": 14, "unreadable": 0, "harmless": {"score": {**SHARE, "value": 0.6}}}
    found = read(taskbench(security=figures))
    assert found.security is not None
    assert (found.security.attempts, found.security.excluded) == (30, 2)
    assert found.security.harmless_served.value == 0.6 and "security" not in found.notes
    twins = {"score": NOTHING, "asked": 10, "unsolved": 9, "excluded": 1, "unreadable": 0}
    found = read(taskbench(security={**figures, "harmless": twins}))
    assert found.security is not None and found.security.harmless_served.value is None
    assert "of 10, 9 are not solved without the text either, 1 failed" in found.notes["security"]
    failed = {**figures, "score": NOTHING, "excluded": 30, "notes": {"score": "no attack was tested"}}
    found = read(taskbench(security=failed))
    assert found.security is None
    assert found.notes["security"] == ("no attack was tested: 30 of 30 attacks failed for technical reasons")


def test_unreadable_answers_are_counted_and_most_of_them_make_a_dash() -> None:
    twins = {"score": NOTHING, "asked": 20, "unsolved": 0, "excluded": 0, "unreadable": 18}
    figures: dict[str, Any] = {"score": SHARE, "attempts": 60, "excluded": 2, "unreadable": 9, "tested": 49}
    figures |= {"successes": 7, "notes": {}, "harmless": twins}
    found = read(taskbench(security=figures))
    assert found.security is not None and found.security.unreadable == 9
    assert found.notes["security"].startswith("9 of 58 answers to attacks are unreadable and left out; ")
    assert found.notes["security"].endswith("no harmless twin says anything: of 20, 18 are unreadable")
    assert attacks(found).note.splitlines()[1:] == [
        "of 49 attacks, 2 more failed, 9 unreadable",
        "harmless served –",
    ]
    note = "58 of 60 answers to attacks are unreadable"
    most = {"score": NOTHING, "excluded": 0, "unreadable": 58, "tested": 2, "notes": {"score": note}}
    found = read(taskbench(security={**figures, **most}))
    assert found.security is not None and found.security.score.value is None
    assert found.notes["security"].startswith(note)
    assert attacks(found) == Cell("–", "58 of 60 attacks unreadable\nharmless served –")
    written = found.to_json()["security"]
    assert written["score"] == NOTHING and written["unreadable"] == 58


def test_metrics_that_count_unreadable_answers_as_resisted_are_refused() -> None:
    figures: dict[str, Any] = {"score": SHARE, "attempts": 30, "excluded": 0, "notes": {}, "tested": 30}
    figures |= {"successes": 0, "resisted_malformed": 9, "harmless": {"score": SHARE}}
    found = read(taskbench(security=figures))
    assert found.security is None
    assert "earlier version counted 9 unreadable answers" in found.notes["security"]
    found = read(taskbench(security={**figures, "resisted_malformed": 0}))
    assert found.security is not None and found.security.unreadable == 0


@pytest.mark.parametrize("numbers", [{}, {"strict": {}}, {"strict": []}, taskbench(security={})])
def test_a_file_without_strict_scores_says_what_to_run(numbers: Any) -> None:
    with pytest.raises(UsageError, match=r"m\.json.*strict scores.*Fix: run it"):
        read(numbers)
