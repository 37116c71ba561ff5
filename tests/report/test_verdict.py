"""Which model leads, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.registry import benchmark_named
from toolassay.console.text_formatting import two_digits
from toolassay.evaluation.items import ItemTable
from toolassay.metrics.confidence_interval import NOTHING, Interval
from toolassay.reports.axes import Axes, Cost, Latency
from toolassay.reports.decision import Verdict, sentences
from toolassay.reports.requirements import least_items, quantile_bounds, quantities
from toolassay.reports.scoreboard import Contender, ModelReport, Place, rank


def table(scores: Sequence[float], ids: Sequence[str] | None = None) -> ItemTable:
    """Items with one score, each its own cluster."""
    names = ids or [f"i{number}" for number in range(len(scores))]
    return ItemTable(
        Path("m.items.jsonl"),
        {name: number for number, name in enumerate(names)},
        ("correct",),
        np.array(scores, dtype=float)[:, None],
        np.arange(len(scores)),
        np.zeros(len(scores), dtype=np.int64),
    )


def contender(name: str, right: int, of: int, **more: Any) -> Contender:
    """A model with the first `right` of `of` items right."""
    return Contender(name, [table([1.0] * right + [0.0] * (of - right))], **more)


def spoken(places: Sequence[Place], **measured: Any) -> list[str]:
    """The verdict on tasks; `measured` are axes of the leader."""
    axes = Axes(benchmark_named("workbench").about, "d", places[0].name, 9, NOTHING, **measured)
    known = {axes.model: ModelReport(axes, places[0], quantities(axes, [], []))}
    return sentences(places, known, noun="task", measure="of the tasks are right")


def test_a_clear_leader_leads_significantly() -> None:
    places = rank([contender("b", 20, 100), contender("a", 60, 100)], "correct", resamples=500)
    verdict = Verdict("correct", places)
    found = verdict.to_json()
    assert (found["leader"], found["runner_up"], found["n"], found["n_needed"]) == ("a", "b", 100, None)
    assert found["difference"] == pytest.approx(0.4)
    assert found["low"] <= 0.4 <= found["high"]
    assert found["p"] < 0.01
    first, second = spoken(
        places, cost=Cost(1.5, None), latency=Latency(2.0, 3.0), harm=Interval(0.03, None, None)
    )
    assert first.startswith("a leads: 60.0 % of the tasks are right, 40.0 points more than b, which is")
    assert second == (
        "a costs 1.50 USD per 1,000 tasks, takes 2.0 s (median) and makes unwanted changes in 3.0 % of the "
        "tasks."
    )


def test_models_that_cannot_be_told_apart_are_not_ranked_in_words() -> None:
    places = rank([contender("a", 31, 60), contender("b", 30, 60)], "correct", resamples=500)
    (first, _) = spoken(places)
    needed = places[1].n_needed
    assert needed is not None
    assert needed > 60
    assert first.startswith(
        "a and b do not differ significantly on 60 tasks: a (51.7 % of the tasks are right) is"
    )
    assert first.endswith(f"about {two_digits(needed)} would be needed.")


def test_equal_models_share_a_rank() -> None:
    places = rank(
        [contender("b", 5, 9), contender("a", 5, 9), contender("c", 1, 9)], "correct", resamples=100
    )
    assert [(place.name, place.rank) for place in places] == [("a", 1), ("b", 1), ("c", 3)]
    assert spoken(places)[0].startswith("a, b and c do not differ significantly on 9 tasks")


def test_baselines_come_last_and_partial_runs_after_complete_ones() -> None:
    places = rank(
        [
            contender("random", 9, 9, is_ranked=False),
            contender("partial", 8, 9, is_complete=False),
            contender("whole", 3, 9),
        ],
        "correct",
        resamples=100,
    )
    assert [(place.name, place.rank) for place in places] == [("whole", 1), ("partial", 2), ("random", None)]


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_difference_is_that_of_the_leader_to_the_second(first: int, second: int) -> None:
    places = rank([contender("a", first, 30), contender("b", second, 30)], "correct", resamples=50)
    found = Verdict("correct", places).to_json()
    assert found["difference"] == pytest.approx(abs(first - second) / 30)
    assert places[0].score >= places[1].score


@pytest.mark.parametrize("quantile", [0.5, 0.95])
def test_the_bounds_of_a_quantile_hold_it_as_often_as_promised(quantile: float) -> None:
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        low, high = quantile_bounds(generator.random(150).tolist(), quantile)
        held += low <= quantile <= high
    assert held >= 0.93 * 400


@pytest.mark.parametrize("quantile", [0.5, 0.95])
def test_the_least_number_of_items_is_the_first_with_an_upper_bound(quantile: float) -> None:
    least = least_items(quantile)
    assert quantile_bounds([1.0] * least, quantile)[1] == 1.0
    assert quantile_bounds([1.0] * (least - 1), quantile)[1] == float("inf")


def test_of_equal_models_the_one_that_does_less_harm_is_first() -> None:
    places = rank(
        [contender("a", 5, 9, harm=0.2), contender("b", 5, 9, harm=0.1), contender("c", 5, 9, harm=0.3)],
        "correct",
        resamples=100,
    )
    assert [place.name for place in places] == ["b", "a", "c"]


def test_partial_runs_are_ranked_by_the_items_of_both() -> None:
    ids = [f"i{number}" for number in range(300)]
    easy = Contender("a", [table([1.0] * 80 + [0.0] * 20, ids[:100])], is_complete=False)
    more = Contender("b", [table([1.0] * 98 + [0.0] * 202, ids)], is_complete=False)
    places = rank([easy, more], "correct", resamples=500)
    assert [(place.name, place.rank) for place in places] == [("b", 1), ("a", 2)]
    assert [place.score for place in places] == pytest.approx([98 / 300, 0.8])
    first, _ = spoken(places)
    assert first.startswith(
        "b leads: 32.7 % of the tasks are right, 18.0 points more than a on the tasks that both"
    )


def test_a_leader_that_is_worse_on_what_both_have_does_not_lead() -> None:
    # On what two share, a beats b, b beats c, and c beats a.
    shared = {pair: [f"{pair}{number}" for number in range(100)] for pair in ("ab", "bc", "ca")}
    runs = [
        Contender(name, [table([1.0] * 100 + [0.0] * 100, [*shared[won], *shared[lost]])], is_complete=False)
        for name, won, lost in (("a", "ab", "ca"), ("b", "bc", "ab"), ("c", "ca", "bc"))
    ]
    first, _ = spoken(rank(runs, "correct", resamples=500))
    assert first.startswith("a is first with 50.0 % of the tasks are right, but c is 100.0 points better on")
    assert "n = 100" in first and "leads" not in first


def test_an_id_with_another_label_is_another_item() -> None:
    one, two = table([1.0, 0.0]), table([0.0, 0.0])
    two.labels[0] = 7
    places = rank([Contender("a", [one]), Contender("b", [two])], "correct", resamples=100)
    assert places[1].n == 1
