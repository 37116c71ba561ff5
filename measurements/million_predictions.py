"""A million predictions scored: time and peak memory.

Run with: python -m measurements.million_predictions [PREDICTIONS] [--one-process]

Labels are the 300 of the bundled multimedia folder, copied with new ids and a made-up word in every step;
predictions are the labels, of which some lose a tool. All groups and all metrics but BERTScore are computed,
with intervals, and the file of items is written. Without `--one-process` the processes are those that the
command starts by itself, one a core; cores that share a cache or a memory bus slow each other down.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from toolassay.benchmarks.taskbench.evaluation import evaluate_folder
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.console.screen import SILENT
from toolassay.console.tables import Table
from toolassay.engines import OneProcess
from toolassay.evaluation.evaluation import ScoringSettings
from toolassay.records.data_folder import DataFolder

BUNDLED = Path(__file__).resolve().parent.parent / "data_multimedia"
MOST_SECONDS, MOST_MEGABYTES = 300, 2000


def make_folder(folder: Path, predictions: int) -> None:
    """A data folder with so many labels and predictions."""
    chance = random.Random(1)
    labels = [json.loads(line) for line in (BUNDLED / "data.json").read_text().splitlines()]
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        (folder / name).write_bytes((BUNDLED / name).read_bytes())
    (folder / "predictions").mkdir()
    with (folder / "data.json").open("w") as gold, (folder / "predictions" / "m.json").open("w") as given:
        for number in range(predictions):
            label = dict(labels[number % len(labels)])
            label["id"] = f"item-{number:08}"
            label["task_steps"] = [f"{step} as in w{number}" for step in label["task_steps"]]
            gold.write(json.dumps(label) + "\n")
            result = {key: label[key] for key in ("task_steps", "task_nodes", "task_links")}
            if chance.random() < 0.4:
                result = {**result, "task_nodes": result["task_nodes"][:-1], "task_steps": ["something else"]}
            given.write(json.dumps({"id": label["id"], "result": result}) + "\n")


def one_run(folder: Path, *, in_one_process: bool) -> None:
    """Score; say seconds and the peak memory of this process and of its largest child."""
    began = time.perf_counter()
    choices = PlanScoring(
        metrics=("f1", "ed", "link", "argument", "rouge"), splits=("all",), n_tools=("all",), mode="add"
    )
    result = evaluate_folder(
        DataFolder(folder),
        "m",
        choices,
        ScoringSettings(engine=OneProcess() if in_one_process else None, screen=SILENT),
    )
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own, child = (usage.ru_maxrss / 1024 for usage in usages)
    strict = result.evaluation.groups["overall_overall"].strict
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - began,
                "cpu": sum(usage.ru_utime + usage.ru_stime for usage in usages),
                "own": own,
                "child": child,
                "node_f1": strict["node_f1"],
                "n": strict["n_expected"],
            }
        )
    )


def main() -> int:
    """Make the folder, score it in a process of its own, print a line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("predictions", nargs="?", type=int, default=1_000_000, help="how many [1000000]")
    parser.add_argument("--one-process", action="store_true", help="score in one process")
    parser.add_argument("--folder", type=Path, help="only score this folder (for the script itself)")
    given = parser.parse_args()
    if given.folder:
        one_run(given.folder, in_one_process=given.one_process)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder, given.predictions)
        size = sum(path.stat().st_size for path in folder.rglob("*.json")) / 1e6
        command = [sys.executable, "-m", "measurements.million_predictions", "--folder", str(folder)]
        command += ["--one-process"] if given.one_process else []
        run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # Two workers share most of what they inherit; counted as if they shared nothing.
    megabytes = run["own"] + 2 * run["child"]
    heads = ("predictions", "files", "seconds", "CPU seconds", "peak, first process", "peak, each worker")
    cells = (
        f"{run['n']:,}",
        f"{size:,.0f} MB",
        f"{run['seconds']:.0f}",
        f"{run['cpu']:.0f}",
        f"{run['own']:,.0f} MB",
        f"{run['child']:,.0f} MB",
    )
    print(Table(heads, [cells], "rrrrrr").markdown())
    return 0 if run["seconds"] < MOST_SECONDS and megabytes < MOST_MEGABYTES else 1


if __name__ == "__main__":
    sys.exit(main())
