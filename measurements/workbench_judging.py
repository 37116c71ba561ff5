"""How many recorded runs of WorkBench one process judges in a second of CPU time.

Run with: python -m measurements.workbench_judging CASES [ROUNDS]

CASES is the published folder (`processed/`, `raw/`, `results/`). Each round starts afresh: it loads the
sandbox, the tasks and the result files, judges every run and writes the verdicts. The published evaluator
judges 12.6 runs a second (438 s of CPU time for 5,520, measured separately). The last lines time a fork.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.workplace_stages import VERDICTS, evaluate_results

PUBLISHED = 12.6
FORKS = 2_000


def main() -> int:
    """Print the table."""
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    cases = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    print("| mode | runs | CPU seconds | runs per CPU second | times the published |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for mode in ("compat", "strict"):
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as out:
                start = time.process_time()
                evaluate_results(cases, cases / "results", out=out, mode=mode)
                seconds = time.process_time() - start
                runs = len((Path(out) / VERDICTS).read_text(encoding="utf-8").splitlines())
            rate = runs / seconds
            print(f"| {mode} | {runs:,} | {seconds:.2f} | {rate:,.0f} | {rate / PUBLISHED:.0f} |")
    sandbox = Sandbox.load(cases)
    start = time.process_time()
    for _ in range(FORKS):
        sandbox.fork().close()
    each = (time.process_time() - start) / FORKS
    print(f"\nA fork: {each * 1e6:.0f} µs, {len(sandbox.image()) / 1024:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
