"""Stages on engines: the same bytes in one process, on processes and on a cluster, also after kill -9."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import ROOT, workbench_folder
from tests.support.engine_cluster import dask_cluster, killed_at
from tests.support.running import entries_of, files_below, inside, lines_of, process
from toolassay import evaluate, format_data, generate, infer

SAMPLES, TASKS = 60, 23
MODEL = "toolassay.offline.offline_model:OfflineModel.complete"
JUDGE = "toolassay.benchmarks.workbench.judge.result_verdicts:WorkbenchEvaluator.verdict"
SCORER = "toolassay.benchmarks.taskbench.scoring.scorer:ChunkScorer.score"
# What holds times: of answers, of starts, of each hundred samples.
TIMED = ("ledger.jsonl", "manifest.json", "summary.json", "statistics.json")
GENERATE = ("--llm", "offline", "--seed", "3", "--number_of_samples", str(SAMPLES))


def untimed(folder: Path) -> dict[str, bytes]:
    """The files below a folder that hold no times, journals included."""
    return {name: data for name, data in files_below(folder).items() if Path(name).name not in TIMED}


def tools(folder: Path) -> Path:
    """A data folder with a library and its graph."""
    folder.mkdir()
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        shutil.copy(ROOT / "data_multimedia" / name, folder / name)
    return folder


def requests(folder: Path) -> Path:
    """A data folder with requests."""
    generate(tools(folder), llm="offline", number_of_samples=SAMPLES, seed=3)
    format_data(folder)
    return folder


def tasks(folder: Path) -> Path:
    """A workplace with tasks."""
    return workbench_folder(folder, slice(0, 690, 690 // TASKS))


def scored(folder: Path) -> Path:
    """A workplace with predictions."""
    infer(tasks(folder), llm="offline")
    return folder


def planned(folder: Path) -> Path:
    """A data folder with predicted plans."""
    infer(requests(folder), llm="offline")
    return folder


STAGES = {
    "generate": (tools, MODEL, ("generate", *GENERATE)),
    "infer": (requests, MODEL, ("infer", "--llm", "offline")),
    "agents": (tasks, MODEL, ("infer", "--llm", "offline")),
    "judging": (scored, JUDGE, ("evaluate", "--llm", "offline")),
    "scoring": (planned, SCORER, ("evaluate", "--llm", "offline")),
}


@contextmanager
def engine_of(kind: str, place: Path, **variables: str) -> Iterator[str]:
    """The value of `--engine`."""
    with dask_cluster(place, **variables) if kind == "dask" else nullcontext(kind) as engine:
        yield engine


def run(stage: str, cwd: Path, folder: str, *more: str, **variables: str) -> int:
    _, _, (command, *arguments) = STAGES[stage]
    done = process(command, "--data_dir", folder, *arguments, *more, cwd=cwd, **variables)
    assert "Traceback" not in done.err, done.err
    return done.code


def test_two_processes_generate_and_plan_what_one_does(tmp_path: Path) -> None:
    for name, engine in (("one", None), ("two", "local:2")):
        folder = tools(tmp_path / name)
        _, complete = generate(folder, llm="offline", number_of_samples=SAMPLES, seed=3, engine=engine)
        assert complete
        format_data(folder)
        inference = infer(folder, llm="random", engine=engine)
        assert (inference.written, inference.already, inference.summary.outcomes) == (
            SAMPLES,
            0,
            {"answered": SAMPLES},
        )
        assert infer(folder, llm="random", engine=engine).already == SAMPLES
    assert untimed(tmp_path / "one") == untimed(tmp_path / "two")
    ends = [lines_of(tmp_path / name / "statistics.json")[-1] for name in ("one", "two")]
    assert ends[0]["used"]["requests"] == SAMPLES
    assert without_times(ends[0]) == without_times(ends[1])
    for name in ("one", "two"):
        ledger = lines_of(tmp_path / name / "predictions/runs/random/ledger.jsonl")
        assert [line["role"] for line in ledger] == ["planner"] * SAMPLES


def without_times(value: Any) -> Any:
    """A line of `statistics.json` without the times in it."""
    if isinstance(value, list):
        return [without_times(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {name: part for name, part in value.items() if "time" not in name and "seconds" not in name}
    return {name: without_times(part) for name, part in kept.items()}


def test_two_processes_act_and_judge_like_one(tmp_path: Path) -> None:
    for name, engine in (("one", None), ("two", "local:2")):
        for llm, trials in (("offline", 1), ("random", 2)):
            infer(tasks(tmp_path / name), llm=llm, trials=trials, engine=engine)
    assert untimed(tmp_path / "one") == untimed(tmp_path / "two")
    for save_dir, engine in (("metrics_a", None), ("metrics_b", "local:2")):
        evaluate(tmp_path / "one", llm=["offline", "random"], save_dir=save_dir, engine=engine)
    first, second = (untimed(tmp_path / "one" / name) for name in ("metrics_a", "metrics_b"))
    assert first.keys() >= {"offline.json", "offline.items.jsonl", "random.json", "random.items.jsonl"}
    assert first == second


def test_what_an_engine_does_not_run_is_refused(tmp_path: Path) -> None:
    folder = requests(tmp_path / "data")
    (folder / "data_raw.json").unlink()
    before = files_below(folder)
    for command, arguments, message in (
        ("infer", ("--llm", "gpt-4"), "runs built-in models only, not 'gpt-4'"),
        ("infer", ("--llm", "offline", "--max_requests", "3"), "--max_requests is counted by one process"),
        ("infer", ("--llm", "offline", "--security"), "--engine does not go with --security"),
        ("generate", ("--llm", "offline", "--values_from", "simulate"), "executes plans in one process"),
        ("infer", ("--llm", "offline", "--engine", "local"), "'local' is no engine"),
        (
            "generate",
            ("--llm", "offline", "--save_figure", "--engine", "dask://127.0.0.1:1?files=s3://bucket"),
            "--save_figure draws into the data folder",
        ),
    ):
        done = inside(command, "--data_dir", folder, "--engine", "local:2", *arguments)
        assert done.code == 2, done
        assert message in done.error
    assert files_below(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local:2", "dask"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_worker_changes_no_byte(tmp_path: Path, stage: str, kind: str) -> None:
    if kind == "dask":
        pytest.importorskip("distributed")
    build, call, _ = STAGES[stage]
    build(tmp_path / "data")
    for place in ("one", "many"):
        shutil.copytree(tmp_path / "data", tmp_path / place)
    assert run(stage, tmp_path, "one") == 0
    marker = tmp_path / "killed"
    # The third call: of the items of a shard, some are done. The scorer is called once per shard.
    variables = killed_at(call, 1 if stage == "scoring" else 3, marker)
    on_workers, here = (variables, {}) if kind == "dask" else ({}, variables)
    with engine_of(kind, tmp_path / "cluster", **on_workers) as engine:
        assert run(stage, tmp_path, "many", "--engine", engine, **here) == 0
    assert marker.exists()
    assert untimed(tmp_path / "one") == untimed(tmp_path / "many")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "how"),
    [
        ("generate", signal.SIGKILL),
        ("generate", signal.SIGINT),
        ("infer", signal.SIGKILL),
        ("agents", signal.SIGKILL),
        ("agents", signal.SIGINT),
    ],
)
def test_an_ended_run_is_completed_by_the_same_command(
    tmp_path: Path, stage: str, how: signal.Signals
) -> None:
    build, _, _ = STAGES[stage]
    build(tmp_path / "data")
    for place in ("undisturbed", "disturbed"):
        shutil.copytree(tmp_path / "data", tmp_path / place)
    assert run(stage, tmp_path, "undisturbed") == 0
    variables = killed_at("toolassay.runs.journal:Journal.extend", 3, tmp_path / "killed", how)
    # Ends only when the workers have ended, too: they have its standard output open.
    code = run(stage, tmp_path, "disturbed", "--engine", "local:2", **variables)
    assert code == (130 if how == signal.SIGINT else -signal.SIGKILL)
    journal = min((tmp_path / "disturbed").rglob("journal.jsonl"))  # predictions/ comes before runs/
    begun = [entry["key"] for entry in entries_of(journal)]
    assert 0 < len(begun) < TASKS
    assert run(stage, tmp_path, "disturbed", "--engine", "local:2", **variables) == 0
    assert untimed(tmp_path / "undisturbed") == untimed(tmp_path / "disturbed")
    again = [entry["key"] for entry in entries_of(journal)]
    assert again[: len(begun)] == begun
    assert len(again) == len(set(again))
