"""Every published number: `measurements/classic_parity.py`, case by case."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from measurements import classic_parity as parity
from toolassay.benchmarks.classic.scoring.leaderboard import published_rows

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
    ours = parity.compat_metrics(rows)["stability"]
    assert ours != defect
    assert ours == parity.compat_metrics(parity.rows_of(parity.DEFECTS[case], cases))["stability"]


def test_the_published_leaderboard_is_whole(reference: Path) -> None:
    path = reference / "classic/published_leaderboard.csv"
    lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    names = {"GPT-o3.5-mini": "o3-mini"}
    wanted = {
        (
            line["domain"],
            names.get(line["model_as_printed"], line["model_as_printed"]),
            line["metric"],
            float(line["mean"]),
        )
        for line in lines
    }
    domains = {line["domain"] for line in lines}
    found = {
        (one, model, *row)
        for one in domains
        for model, means in published_rows(one).items()
        for row in means.items()
    }
    assert found == wanted and len(found) == 141
    assert len(wanted) == 141
