"""40 random kill -9 over one run of an agent on an MCP server that lives on, then the same command again.

    python -m measurements.agent_kills [--kills 40] [--requests 150] [--seed 0]

Fails if a writing call reached the server twice, an answer that was in the journal was requested again, a
request in doubt has a prediction, or an answered one lacks a call.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.support.agent_killing import kill_agents
from toolassay.testkit import FakeServer


def main() -> None:
    """Kill, finish, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--requests", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()

    model = FakeServer()
    model.start()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        survived = kill_agents(Path(name), model, kills=asked.kills, requests=asked.requests, seed=asked.seed)
    model.stop()
    print(f"{time.perf_counter() - began:.0f} s: {survived}")
    if survived.added_twice or survived.paid_twice or survived.scored_in_doubt or survived.incomplete:
        sys.exit("a run that was killed is not what it should be")


if __name__ == "__main__":
    main()
