"""A real Dask cluster on this machine for tests: a scheduler and workers, each a process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from tests.support.running import ROOT
from toolassay.engines import ShardTask

_ADDRESS = re.compile(r"Scheduler at:\s+tcp://127\.0\.0\.1:(\d+)")


class DaskWorkers:
    """Starts `dask scheduler` and `dask worker`, as the documentation shows, on a free port.

    Args:
        folder: For the files of the workers.
        workers: Their number.
        more: Environment variables of the workers.
    """

    def __init__(self, folder: Path, workers: int = 2, **more: str) -> None:
        pytest.importorskip("distributed")
        # What the workers import: this checkout, and the tasks of tests.
        paths = os.pathsep.join((str(ROOT), str(ROOT / "tests" / "engines")))
        self._environment = {**os.environ, "PYTHONPATH": paths}
        self._folder = folder
        self._processes: list[subprocess.Popen[str]] = []
        try:
            scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
            assert scheduler.stderr is not None
            found = next(filter(None, map(_ADDRESS.search, scheduler.stderr)), None)
            assert found is not None, "the scheduler did not start"
            # A pipe that nobody reads would fill, and stop the scheduler.
            threading.Thread(target=scheduler.stderr.read, daemon=True).start()
            self.engine = f"dask://127.0.0.1:{found[1]}"
            self._environment |= more
            worker = ("worker", f"tcp://127.0.0.1:{found[1]}", "--nworkers", str(workers), "--nthreads", "1")
            self._start(*worker, "--no-dashboard", "--local-directory", str(folder))
        except BaseException:
            self.close()
            raise

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        with (self._folder / f"{arguments[0]}.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                cwd=self._folder,
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE if arguments[0] == "scheduler" else log,
                text=True,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill(self, number: int) -> None:
        """End the scheduler (0) or the workers (1) with -9."""
        process = self._processes[number]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End all processes and their children."""
        for number, process in enumerate(self._processes):
            if process.poll() is None:
                self.kill(number)


class WrappedEngine:
    """An engine that disturbs another one; subclasses say how in `map`."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    @property
    def workers(self) -> int:
        return int(self.engine.workers)

    def close(self) -> None:
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class KillsAWorker(WrappedEngine):
    """A Dask engine that kills one of its workers with -9 when the first result has arrived.

    Args:
        cluster: The engine.
        during: The task whose first result it waits for; None for any.
    """

    def __init__(self, cluster: Any, during: type[Any] | None = None) -> None:
        super().__init__(cluster)
        self._during = during
        self.killed: list[int] = []

    def map(self, task: ShardTask[Any, Any], shards: Iterable[Any]) -> Iterator[Any]:
        for result in self.engine.map(task, shards):
            if not self.killed and isinstance(task, self._during or object):
                self.killed.append(next(iter(self.engine._client.run(os.getpid).values())))
                os.kill(self.killed[0], signal.SIGKILL)
            yield result
