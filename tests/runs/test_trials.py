from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.files import write_json
from toolassay.models import Attempt, ChatRequest, ModelError, ModelOptions
from toolassay.runs import Budget, Ledger
from toolassay.runs.manifest import MANIFEST
from toolassay.runs.prices import Price
from toolassay.runs.trials import Trial, same_settings, trials_of

PRICES = {"m": Price(1.0, 10.0, "2026-01-01")}


def made(trial: Trial, **settings: object) -> None:
    trial.folder.mkdir(parents=True, exist_ok=True)
    trial.output.write_text("")
    write_json(trial.run_folder / MANIFEST, {"settings": settings})


def test_trials_are_found_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (0, 10, 2):
        made(Trial(tmp_path, "a/b", number))
    for name in ("x", "02", "0", "-1"):
        (tmp_path / "trials" / name).mkdir()
    (tmp_path / "trials/3").mkdir()
    assert [trial.number for trial in trials_of(tmp_path, "a/b")] == [0, 2, 10]
    assert [trial.number for trial in trials_of(tmp_path, "other")] == [0]


def test_trials_with_other_settings_are_separated(tmp_path: Path) -> None:
    trials = [Trial(tmp_path, "m", number) for number in range(3)]
    made(trials[0], temperature=0)
    made(trials[1], temperature=0, seed=8)
    made(trials[2], temperature=1)
    assert same_settings(trials) == (trials[:2], trials[2:])


def test_a_seed_is_another_in_each_trial_and_stands_in_its_settings(tmp_path: Path) -> None:
    options = ModelOptions(extra_body={"seed": 7, "top_k": 3})
    first, third = Trial(tmp_path, "m"), Trial(tmp_path, "m", 2)
    assert first.options(options) is options and first.settings(options) == options.settings
    assert third.options(options).extra_body == {"seed": 9, "top_k": 3}
    assert third.settings(options) == {**options.settings, "seed": 9}
    without = ModelOptions(extra_body={"seed": None})
    assert third.options(without) is without and third.settings(without) == without.settings


def test_a_budget_is_that_of_all_trials(tmp_path: Path) -> None:
    trials = [Trial(tmp_path, "m", number) for number in range(3)]
    for trial in trials[:2]:
        with Ledger(trial.run_folder / "ledger.jsonl", prices=PRICES) as books:
            books.after(Attempt("m", "agent", "a", 1, "answered", 200, 100, 20))
    assert len(trials[1].other_ledgers) == 1 and len(trials[2].other_ledgers) == 2
    path, request = trials[2].run_folder / "ledger.jsonl", ChatRequest([{"role": "user", "content": "x"}])
    with Ledger(path, prices=PRICES, budget=Budget(requests=3), beside=trials[2].other_ledgers) as books:
        assert books.totals.requests == 0
        books.before("m", request)
        with pytest.raises(ModelError, match="max_requests 3 leaves no room"):
            books.before("m", request)
