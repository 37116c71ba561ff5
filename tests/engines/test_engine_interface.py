"""Engines of one process and of several; tests/end_to_end/test_engines.py kills them in real stages."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import environment
from tests.support.shard_tasks import CannotStart, Squares
from toolassay.engines import Engine, OneProcess
from toolassay.engines.processes import Processes
from toolassay.errors import ToolassayError, UsageError


@pytest.mark.parametrize("engine", [OneProcess(), Processes(1), Processes(3)])
def test_results_come_in_the_order_of_the_shards(engine: Engine, tmp_path: Path) -> None:
    with engine:
        assert list(engine.map(Squares(tmp_path), range(25))) == [n * n for n in range(25)]
        assert list(engine.map(Squares(tmp_path), [])) == []


def test_the_shard_of_a_killed_process_runs_again(tmp_path: Path) -> None:
    found = list(Processes(2).map(Squares(tmp_path, deadly=7), range(20)))
    assert (tmp_path / "died").exists()
    assert found == [n * n for n in range(20)]


def test_a_shard_that_kills_every_process_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolassayError, match="4 workers died one after the other on this machine"):
        list(Processes(2).map(Squares(tmp_path, deadly=3, always=True), range(20)))


@pytest.mark.parametrize("engine", [OneProcess(), Processes(2)])
def test_an_error_of_a_shard_arrives_whole(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"numbers\.json:5: 5 is wrong\. Fix: write another") as caught:
        list(engine.map(Squares(tmp_path, wrong=5), range(9)))
    assert (caught.value.exit_code, caught.value.line) == (2, 5)


def test_few_shards_are_ahead_of_the_one_that_is_waited_for(tmp_path: Path) -> None:
    taken: list[int] = []

    def shards() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    found = Processes(2).map(Squares(tmp_path), shards())
    assert next(found) == 0
    assert len(taken) <= 6


SCRIPT = """
import fcntl, os, signal, sys
from toolassay.engines.processes import Processes

class Task:
    def start(self):
        return lambda shard: shard

if __name__ == "__main__":
    locked = open(sys.argv[1], "w")
    fcntl.flock(locked, fcntl.LOCK_EX)
    for number in Processes(2).map(Task(), range(100)):
        if number == 50:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_a_killed_main_process(tmp_path: Path) -> None:
    """Otherwise they would wait for shards for ever, and hold the locks of the run's files."""
    import fcntl

    script, locked = tmp_path / "script.py", tmp_path / "locked"
    script.write_text(SCRIPT, encoding="utf-8")
    # Returns when every process that has its standard output open has ended.
    done = subprocess.run(
        [sys.executable, script, locked], env=environment(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGKILL
    with locked.open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if a worker has it


def test_a_task_that_cannot_start_is_an_error_and_no_death(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"executions\.jsonl:1: is no execution of a plan"):
        list(Processes(2).map(CannotStart(), range(5)))
    assert "Traceback" not in capfd.readouterr().err
