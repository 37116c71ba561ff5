"""Engines for tests: a real Dask cluster, and processes that are killed at a certain call."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from running import ROOT, environment

_PATIENCE = 120  # seconds until the cluster has to be there, on a busy machine


def killed_at(call: str, number: int, marker: Path) -> dict[str, str]:
    """Environment variables of a command one of whose processes kills itself with SIGKILL, once.

    Args:
        call: the function, "module:Class.method".
        number: of its call in that process.
        marker: a file that does not exist; it does afterwards.
    """
    path = os.pathsep.join([str(ROOT / "tests" / "engines" / "kill_once"), str(ROOT)])
    return {"KILL_CALL": call, "KILL_AT": str(number), "KILL_ONCE": str(marker), "PYTHONPATH": path}


@contextmanager
def dask_cluster(place: Path, **more: str) -> Iterator[str]:
    """A scheduler and two workers with a nanny each, in another working directory; the value of `--engine`.

    Args:
        place: a folder for their files, which is made.
        more: environment variables of the workers.
    """
    from distributed import Client

    place.mkdir()
    address = f"tcp://127.0.0.1:{_free_port()}"
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, **variables: str) -> None:
        with (place / f"{arguments[0]}.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
                    cwd=place,
                    env=environment(**variables),
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])
        numbers = ("--nthreads", "1", "--nworkers", "2", "--local-directory", str(place))
        start("worker", address, *numbers, **more)
        # Retries until the scheduler is there.
        connect = Client(address, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
        with connect as client:
            client.wait_for_workers(2, timeout=_PATIENCE)
        yield f"dask://{address.removeprefix('tcp://')}"
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGKILL)  # the processes of the workers are in this group too
            process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
