"""Processes of the engine `local:N`; tests/end_to_end/test_engines.py kills them in real stages."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from running import environment

from toolassay.engines.processes import Processes
from toolassay.errors import UsageError

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


class CannotStart:
    """A task whose files are malformed."""

    def start(self) -> Callable[[int], int]:
        raise UsageError("is no execution of a plan", file="executions.jsonl", line=1, fix="run it again")


def test_a_task_that_cannot_start_is_an_error_and_no_death(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"executions\.jsonl:1: is no execution of a plan"):
        list(Processes(2).map(CannotStart(), range(5)))
    assert "Traceback" not in capfd.readouterr().err
