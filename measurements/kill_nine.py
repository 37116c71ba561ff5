"""200 random kill -9 over one run of inference against a server on loopback, then the same command again.

    python -m measurements.kill_nine [--kills 200] [--requests 9000] [--seed 0]

Fails unless every id is there once, the predictions are byte-identical with those of an undisturbed run,
and no request whose answer was in the journal was sent again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.killing import kill_often
from toolassay.console.tables import Table
from toolassay.testkit import FakeServer


def main() -> None:
    """Kill, finish, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--requests", type=int, default=9000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()

    server = FakeServer()
    server.start()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        survived = kill_often(Path(name), server, kills=asked.kills, requests=asked.requests, seed=asked.seed)
    server.stop()
    heads = ("requests", "kills", "requests sent", "sent again", "same bytes", "each id once", "seconds")
    answered = ("yes" if one else "NO" for one in (survived.same_bytes, survived.each_once))
    numbers = (f"{asked.requests:,}", f"{survived.killed}", f"{survived.sent:,}", f"{survived.sent_again}")
    print(Table(heads, [(*numbers, *answered, f"{time.perf_counter() - began:.0f}")], "rrrrllr").markdown())
    if survived.sent_again or not (survived.same_bytes and survived.each_once):
        sys.exit("a run that was killed is not what it should be")


if __name__ == "__main__":
    main()
