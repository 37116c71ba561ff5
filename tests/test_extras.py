"""Packages beyond the core ones come with the checkout."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
@pytest.mark.parametrize(("given", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_numpy_starts_the_threads_that_the_user_asks_for(given: dict[str, str], threads: int) -> None:
    code = (
        "import os; from toolassay.extras import import_numpy; import_numpy(); import numpy;"
        "print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | given, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        str(min(threads, len(os.sched_getaffinity(0)))),
        str(given.get("OPENBLAS_NUM_THREADS")),
    ]
