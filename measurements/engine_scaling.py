"""Stages on 1, 2 and 4 processes: wall time, and CPU time of the main process and of the workers.

    python -m measurements.engine_scaling [--samples 2000] [--tasks 690] [--rounds 3] [--stages generate,…]

Each row is a process of its own on a copy of the same folder; rounds alternate between the engines, and the
median counts. "in workers" is the share of the CPU time that moves to them; the rest bounds the speed-up on
more cores. The last column compares the bytes of what the stage wrote with those of one process, without the
files that hold times. Wall times mean little on a machine with other work; CPU times mean more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolassay import evaluate, format_data, generate, infer

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("none", "local:1", "local:2", "local:4")
TIMED = ("ledger.jsonl", "manifest.json", "summary.json", "statistics.json")


def tools(folder: Path, samples: int) -> None:
    """A library with its graph."""
    folder.mkdir()
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        shutil.copy(ROOT / "data_multimedia" / name, folder / name)


def requests(folder: Path, samples: int) -> None:
    """Requests with labels."""
    tools(folder, samples)
    generate(folder, llm="offline", number_of_samples=samples, seed=0)
    format_data(folder)


def plans(folder: Path, samples: int) -> None:
    """Predicted plans, drawn at random: scoring takes as long as for others."""
    requests(folder, samples)
    infer(folder, llm="random")


def tasks(folder: Path, count: int) -> None:
    """Tasks of a workplace."""
    folder.mkdir()
    for name in ("benchmark.json", "sandbox.sqlite", "tasks.jsonl"):
        shutil.copy(ROOT / "data_workbench" / name, folder / name)
    lines = (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "tasks.jsonl").write_text("".join(lines[:count]), encoding="utf-8")


def calls(folder: Path, count: int) -> None:
    """Calls of an agent."""
    tasks(folder, count)
    infer(folder, llm="offline")


Stage = tuple[Callable[[Path, int], None], bool, Callable[..., Any]]
STAGES: dict[str, Stage] = {
    "generate": (
        tools,
        False,
        lambda folder, count, **how: generate(folder, llm="offline", number_of_samples=count, seed=0, **how),
    ),
    "infer (planner)": (requests, False, lambda folder, count, **how: infer(folder, llm="offline", **how)),
    "evaluate": (plans, False, lambda folder, count, **how: evaluate(folder, llm="random", **how)),
    "infer (WorkBench agent)": (
        tasks,
        True,
        lambda folder, count, **how: infer(folder, llm="offline", **how),
    ),
    "evaluate (WorkBench)": (
        calls,
        True,
        lambda folder, count, **how: evaluate(folder, llm="offline", **how),
    ),
}


def measured(name: str, folder: Path, count: int, engine: str) -> dict[str, float]:
    """Run a stage in this process."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    before, began = [resource.getrusage(one) for one in who], time.perf_counter()
    STAGES[name][2](folder, count, **({} if engine == "none" else {"engine": engine}))
    wall = time.perf_counter() - began
    cpu = [
        after.ru_utime + after.ru_stime - old.ru_utime - old.ru_stime
        for old, after in zip(before, (resource.getrusage(one) for one in who), strict=True)
    ]
    return {"wall": wall, "main": cpu[0], "workers": cpu[1]}


def written(folder: Path) -> dict[str, bytes]:
    """The files below a folder that hold no times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in TIMED
    }


def rows(name: str, count: int, rounds: int) -> None:
    """Measure a stage and print its rows."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        STAGES[name][0](source, count)
        found: dict[str, list[dict[str, float]]] = {engine: [] for engine in ENGINES}
        files: dict[str, dict[str, bytes]] = {}
        for _ in range(rounds):
            for engine in ENGINES:
                folder = Path(shutil.copytree(source, Path(place, "copy")))
                command = [sys.executable, "-m", "measurements.engine_scaling", "--row", name, engine]
                done = subprocess.run(
                    [*command, str(folder), str(count)], capture_output=True, text=True, check=True
                )
                found[engine].append(json.loads(done.stdout.splitlines()[-1]))
                files[engine] = written(folder)
                shutil.rmtree(folder)
    for engine in ENGINES:
        wall, main, workers = (
            statistics.median(one[column] for one in found[engine]) for column in ("wall", "main", "workers")
        )
        share = f"{workers / (main + workers):.0%}" if engine != "none" else "–"
        same = "yes" if files[engine] == files["none"] else "NO"
        print(
            f"| {name} | {engine} | {wall:.1f} | {main:.2f} | {workers:.2f} | {share} | {same} |", flush=True
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=int, default=2000, help="samples, requests and labels")
    parser.add_argument("--tasks", type=int, default=690, help="tasks of WorkBench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stages", default=",".join(STAGES), help="separated by commas")
    parser.add_argument("--row", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        name, engine, folder, count = options.row
        print(json.dumps(measured(name, Path(folder), int(count), engine)))
        return
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| stage | engine | wall s | CPU s, main | CPU s, workers | in workers | same bytes |")
    print("| --- | --- | ---: | ---: | ---: | ---: | --- |")
    for name in options.stages.split(","):
        rows(name, options.tasks if STAGES[name][1] else options.samples, options.rounds)


if __name__ == "__main__":
    main()
