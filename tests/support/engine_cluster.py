"""Engines for tests: a real Dask cluster, and processes that are killed at a certain call."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.dask_workers import DaskWorkers
from tests.support.running import ROOT

_PATIENCE = 120  # seconds until the cluster has to be there, on a busy machine


def killed_at(call: str, number: int, marker: Path, how: signal.Signals = signal.SIGKILL) -> dict[str, str]:
    """Environment variables of a command one of whose processes sends itself a signal, once.

    Args:
        call: the function, "module:Class.method".
        number: of its call in that process.
        marker: a file that does not exist; it does afterwards.
        how: the signal.
    """
    path = os.pathsep.join([str(ROOT / "tests" / "engines" / "kill_once"), str(ROOT)])
    return {
        "KILL_CALL": call,
        "KILL_AT": str(number),
        "KILL_ONCE": str(marker),
        "KILL_SIGNAL": str(int(how)),
        "PYTHONPATH": path,
    }


@contextmanager
def dask_cluster(place: Path, **more: str) -> Iterator[str]:
    """A scheduler and two workers, both there, in another working directory; the value of `--engine`.

    Args:
        place: a folder for their files, which is made.
        more: environment variables of the workers.
    """
    from distributed import Client

    place.mkdir()
    cluster = DaskWorkers(place, 2, **more)
    connect: Any = Client
    try:
        with connect(cluster.engine.replace("dask", "tcp"), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=_PATIENCE)
        yield cluster.engine
    finally:
        cluster.close()
