"""The data folder: the same bytes from any SQLite, and nothing of anybody's lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.generate.company import draw_tables
from toolassay.benchmarks.workbench.generate.data_folder import sandbox_of, stable_image, write_folder
from toolassay.benchmarks.workbench.generate.generated_tasks import GeneratedTask, draw_tasks
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.files import sha256_of

SEED = 0


@pytest.fixture(scope="module")
def tasks() -> list[GeneratedTask]:
    return draw_tasks(draw_tables(SEED), SEED)


@pytest.fixture
def folder(tmp_path: Path, tasks: list[GeneratedTask]) -> Path:
    write_folder(tmp_path / "data", sandbox_of(draw_tables(SEED)), tasks, SEED)
    return tmp_path / "data"


def test_the_sandbox_and_the_tasks_can_be_read_back(folder: Path, tasks: list[GeneratedTask]) -> None:
    sandbox = Sandbox.load(folder)
    assert (str(sandbox.now), sandbox.user) == ("2023-11-30 00:00:00", "Robin")
    assert not sandbox.overwrites
    read = read_tasks(folder)
    assert [(task.query, task.answer, task.group) for task in read] == [
        (task.query, task.answer, task.group) for task in tasks
    ]


@pytest.mark.parametrize("build", ["OFF", "ON"])
def test_a_build_that_leaves_old_bytes_in_pages_makes_no_difference(folder: Path, build: str) -> None:
    sandbox = Sandbox.load(folder).fork()
    sandbox.connection.execute(f"PRAGMA secure_delete = {build}")
    sandbox.connection.execute("UPDATE emails SET body = body || ' and more'")
    sandbox.connection.execute("UPDATE emails SET body = replace(body, ' and more', '')")
    assert stable_image(sandbox) == (folder / "sandbox.sqlite").read_bytes()


def test_benchmark_json_counts_what_is_there(folder: Path) -> None:
    about = json.loads((folder / "benchmark.json").read_text())
    assert about["benchmark"] == "workbench"
    assert about["generation"] == {"generator": 1, "seed": SEED}
    assert about["tasks"]["all"] == {
        "tasks": 690,
        "templates": 69,
        "wordings": 207,
        "no_call": 122,
        "one_call": 416,
        "several_calls": 152,
        "most_calls": 11,
    }
    assert about["rows"]["customers"] == 200
    assert about["sha256"] == {name: sha256_of(folder / name) for name in ("sandbox.sqlite", "tasks.jsonl")}


def test_what_was_generated_is_replaced(folder: Path, tasks: list[GeneratedTask]) -> None:
    write_folder(folder, sandbox_of(draw_tables(5)), tasks, 5)
    assert json.loads((folder / "benchmark.json").read_text())["generation"]["seed"] == 5
