"""The engine dask:// on a real cluster of two workers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.builders import chain, scored_folder
from tests.support.dask_workers import DaskWorkers, KillsAWorker
from toolassay.benchmarks.taskbench.evaluation import evaluate_folder
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring import scorer
from toolassay.engines import Engine, open_engine
from toolassay.errors import ToolassayError, UsageError
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.records.data_folder import DataFolder

pytest.importorskip("distributed")
dask_cluster = pytest.importorskip("toolassay.engines.dask_cluster")


class Halves:
    """Halves even numbers; an odd one is an error for the user."""

    def start(self) -> Callable[[int], int]:
        return halved


def halved(number: int) -> int:
    if number % 2:
        raise UsageError(f"{number} is odd", file="numbers.json", line=number, fix="write an even number")
    return number // 2


def test_results_come_in_the_order_of_the_shards_and_errors_whole(cluster: DaskWorkers) -> None:
    with open_engine(cluster.engine) as engine:
        assert list(engine.map(Halves(), range(0, 60, 2))) == list(range(30))
        with pytest.raises(UsageError, match=r"numbers\.json:5: 5 is odd\. Fix: write an even number"):
            list(engine.map(Halves(), [2, 4, 5, 6]))
        assert list(engine.map(Halves(), [2])) == [1]  # the engine goes on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dead", "error"),
    [
        (0, "the connection to the Dask scheduler at .* was lost"),
        (1, "has had no worker for 0.5 seconds"),
    ],
)
def test_a_cluster_that_goes_away_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead: int, error: str
) -> None:
    monkeypatch.setattr(dask_cluster, "_LOOK", 0.2)
    monkeypatch.setattr(dask_cluster, "_NO_WORKER", 0.5)
    cluster = DaskWorkers(tmp_path, 1)
    with open_engine(cluster.engine) as engine:
        results = engine.map(Halves(), range(0, 10**6, 2))
        assert next(results) == 0
        cluster.kill(dead)
        with pytest.raises(ToolassayError, match=error):
            for _ in results:
                pass
    cluster.close()


def build_folder(path: Path) -> Path:
    """Two hundred plans, some of them wrong."""
    chance = random.Random(3)
    gold = {str(number): chain(*chance.choices("abc", k=chance.randint(1, 4))) for number in range(200)}
    wrong = {key: plan if chance.random() < 0.6 else chain("a", "c") for key, plan in gold.items()}
    return scored_folder(path, gold, {"m": wrong}, tools="abc")


def scored_files(folder: Path, engine: Engine | None) -> list[bytes]:
    """The metrics and the items that an evaluation writes."""
    choices = PlanScoring(splits=("all",), n_tools=("all",), resamples=100)
    evaluate_folder(DataFolder(folder), "m", choices, ScoringSettings(engine=engine))
    return [(folder / "metrics" / f"m.{ending}").read_bytes() for ending in ("json", "items.jsonl")]


def test_an_evaluation_has_the_same_bytes_also_if_a_worker_is_killed(
    cluster: DaskWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "CHUNK", 5)
    folder = build_folder(tmp_path)
    expected = scored_files(folder, None)
    with open_engine("local:2") as local:
        assert scored_files(folder, local) == expected
    with open_engine(cluster.engine) as dask:
        assert scored_files(folder, dask) == expected
        killer = KillsAWorker(dask)
        assert scored_files(folder, killer) == expected
        assert killer.killed
