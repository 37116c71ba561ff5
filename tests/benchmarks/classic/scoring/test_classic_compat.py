"""The published counting: small cases of our own, and every number of `measurements/classic_parity.py`."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurements import classic_parity as parity
from tests.support.shop_chats import RIGHT, answers, rows
from toolassay.benchmarks.classic.scoring.compat import (
    compat_metrics,
)
from toolassay.benchmarks.classic.scoring.leaderboard import published_means
from toolassay.metrics.pass_k import pass_at_k, pass_hat_k

CHOICES = st.sampled_from(["return", "track", "milk", None, ""])
PREDICTIONS = st.fixed_dictionaries(dict.fromkeys(RIGHT, CHOICES))


@settings(max_examples=30)
@given(st.lists(PREDICTIONS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(trials: list[dict[tuple[str, int], Any]], dice: Random) -> None:
    values = [value for trial, changed in enumerate(trials) for value in answers(changed, trial)]
    first = json.dumps(compat_metrics(rows(values)))
    for _ in range(10):
        dice.shuffle(values)
        assert json.dumps(compat_metrics(rows(values))) == first


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 7))
def test_estimates_are_means_over_all_draws(passed: list[bool], k: int) -> None:
    draws = list(combinations(passed, k))
    n, c = len(passed), sum(passed)
    at, hat = (sum(map(rule, draws)) / len(draws) if draws else 0 for rule in (any, all))
    assert pass_at_k(n, c, k) == pytest.approx(at)
    assert pass_hat_k(n, c, k) == pytest.approx(hat)


def test_an_axis_without_a_value_says_why() -> None:
    values = [value for value in answers() if not value["y_workflow_uuids"]]
    metrics = compat_metrics(rows(values))
    assert metrics["stability"] is None
    assert metrics["notes"] == {"stability": "domain:all: no message has a label"}
    assert metrics["accuracy"]["domain:shop"]["row_pass@1"] == 1.0
    missing = compat_metrics(rows([*answers(), *answers(trial=1)[1:-1]]))
    assert missing["accuracy"] is None
    assert "'c4' lacks a trial: it has 1 of 2" in missing["notes"]["accuracy"]


def test_slow_answers_are_left_out_of_latency_and_so_is_a_domain_that_has_no_others() -> None:
    values = [
        {**value, "time_to_pred": 60.001 if value["domain_uuid"] == "farm" else 60.0} for value in answers()
    ]
    metrics = compat_metrics(rows(values))
    assert list(metrics["latency"]) == ["domain:all", "domain:shop"]
    assert metrics["latency"]["domain:all"]["time_to_pred_total"] == 240.0
    assert list(metrics["cost"]) == ["domain:all", "domain:farm", "domain:shop"]


PARTS = {"estimators": 278, "security": 4}


def test_nothing_differs_from_what_was_published(reference: Path) -> None:
    found = parity.comparisons(reference / "classic")
    assert len(found) == 19 + len(PARTS)
    for case, compared in found.items():
        assert [line for line in compared if not parity.same(*line[1:])] == [], case
        assert len(compared) >= PARTS.get(case, 7)


@pytest.mark.parametrize(
    "case",
    ["hazard_reloaded_from_results_csv", "hazard_reloaded_no_none_from_csv", "order_min_swapped"],
)
def test_a_published_defect_is_not_made_again(reference: Path, case: str) -> None:
    cases = reference / "classic"
    rows = parity.rows_of(case, cases)
    defect = parity.expected(cases)["cases"][case]["metrics"]["stability"]
    ours = compat_metrics(rows)["stability"]
    assert ours != defect
    assert ours == compat_metrics(parity.rows_of(parity.DEFECTS[case], cases))["stability"]


def test_the_published_leaderboard_is_whole(reference: Path) -> None:
    path = reference / "classic/published_leaderboard.csv"
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    for line in lines:
        model = line["model_as_printed"].replace("GPT-o3.5-mini", "o3-mini")
        assert published_means(line["domain"])[model][line["metric"]] == float(line["mean"])
    domains = {line["domain"] for line in lines}
    assert sum(len(means) for one in domains for means in published_means(one).values()) == len(lines) == 141
