"""A million predictions scored: time and peak memory.

Run with: python -m measurements.million_predictions [PREDICTIONS]

Labels are the 300 of the bundled multimedia folder, copied with new ids and a made-up word in every step;
predictions are the labels, of which some lose a tool. All groups and all metrics but BERTScore are computed,
with intervals, and the file of items is written.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from toolassay.benchmarks.taskbench.scoring.evaluation import Choices
from toolassay.benchmarks.taskbench.scoring.folder_evaluation import evaluate_folder

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


def one_run(folder: Path) -> None:
    """Score; say seconds and the peak memory of this process and of its largest child."""
    began = time.perf_counter()
    choices = Choices(
        metrics=("f1", "ed", "link", "argument", "rouge"), splits=("all",), n_tools=("all",), mode="add"
    )
    result = evaluate_folder(folder, "m", choices)
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own, child = (usage.ru_maxrss / 1024 for usage in usages)
    strict = result.evaluation.groups["overall_overall"]["strict"]
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


def main(predictions: int) -> int:
    """Make the folder, score it in a process of its own, print a line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder, predictions)
        size = sum(path.stat().st_size for path in folder.rglob("*.json")) / 1e6
        command = [sys.executable, "-m", "measurements.million_predictions", "--one", str(folder)]
        run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # Two workers share most of what they inherit; counted as if they shared nothing.
    megabytes = run["own"] + 2 * run["child"]
    times = f"{run['seconds']:.0f} s, {run['cpu']:.0f} s of CPU"
    print(f"{run['n']:,} predictions, {size:,.0f} MB of files: {times}")
    print(f"peak memory: {run['own']:,.0f} MB, each worker at most {run['child']:,.0f} MB")
    print(f"node F1: {run['node_f1']}")
    return 0 if run["seconds"] < MOST_SECONDS and megabytes < MOST_MEGABYTES else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_run(Path(sys.argv[2]))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
