"""BERTScore: pairs a second of Toolassay and of `bert_score.BERTScorer`, on steps of the bundled data.

    python -m measurements.bertscore_speed --model FOLDER

The pairs are the gold steps of a bundled data folder and those that the offline planner predicts. Every way
gets the same pairs, the same model and the same threads; rounds alternate, and the median counts. CPU seconds
say more than wall time where other work is going on. Prints two Markdown tables of the CPU.

A third one is of CUDA in full and in half precision, with the largest difference from the CPU; the exit code
is 1 if half precision differs by more than 1e-3. Without CUDA it says why it is left out, and compares the
numbers of half precision as the CPU computes them, which says nothing of speed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from toolassay.metrics.bertscore.encoder import BertEncoder, scored_blocks
from toolassay.metrics.bertscore.scorer import Precision

from toolassay import infer
from toolassay.benchmarks.taskbench.scoring.compat import published_steps_text
from toolassay.evaluation.groups import groups_of, shape_and_size
from toolassay.files import read_json_lines
from toolassay.metrics.bertscore import BertScore

Pairs = list[tuple[str, str]]
Way = Callable[[Pairs], NDArray[np.float64]]
BATCHES = (16, 64)
PRECISIONS: tuple[Precision, ...] = ("full", "half")
TOLERANCE = 1e-3
FEW = 100


class Item(NamedTuple):
    """A labelled item with a prediction."""

    label: dict[str, Any]
    pair: tuple[str, str]


def items_of(data: Path) -> list[Item]:
    """The items of a data folder with what the offline planner makes of them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(data, Path(place, "data")))
        infer(folder, llm="offline")
        lines = read_json_lines(folder / "predictions" / "offline.json")
        predicted = {line.value["id"]: line.value["result"] for line in lines if line.value["result"]}
        labels = [line.value for line in read_json_lines(folder / "data.json")]
    return [
        Item(
            label,
            (
                published_steps_text(label["task_steps"]),
                published_steps_text(predicted[label["id"]]["task_steps"]),
            ),
        )
        for label in labels
        if label["id"] in predicted
    ]


def pairs_by_group(items: list[Item]) -> int:
    """How many pairs the published way scores with all splits and numbers of tools: those of every group."""
    groups = groups_of(["all"], ["all"], "add")
    return sum(group.holds(*shape_and_size(item.label)) for group in groups for item in items)


def published_way(model: Path, layers: int, batch_size: int) -> Way:
    """`bert_score.BERTScorer` on the CPU, with its model loaded."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(model), num_layers=layers, device="cpu")

    def score(pairs: Pairs) -> NDArray[np.float64]:
        gold, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        found = scorer.score(predicted, gold, batch_size=batch_size)
        return np.stack([part.numpy() for part in found], axis=1)

    return score


def measured(ways: dict[str, Way], pairs: Pairs, rounds: int) -> list[str]:
    """A row of the table for each way."""
    walls: dict[str, list[float]] = {name: [] for name in ways}
    cpus: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, NDArray[np.float64]] = {}
    for way in ways.values():
        way(pairs[:2])
    for _ in range(rounds):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            found[name] = way(pairs)
            walls[name].append(time.perf_counter() - wall)
            cpus[name].append(time.process_time() - cpu)
    first = next(iter(found))
    rows = []
    for name in ways:
        wall, cpu = statistics.median(walls[name]), statistics.median(cpus[name])
        difference = np.abs(found[name] - found[first]).max()
        rows.append(f"| {name} | {len(pairs) / wall:.1f} | {len(pairs) / cpu:.1f} | {difference:.1e} |")
    return rows


def why_no_cuda() -> str:
    """Why nothing can be computed on CUDA; empty if it can."""
    import torch

    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built without it"
    return "" if torch.cuda.is_available() else "there is no device"


def on_cuda(model: Path, pairs: Pairs, rounds: int) -> float:
    """Print the table of CUDA; the largest difference of half precision from the CPU."""
    import torch

    cpu = BertScore(model, device="cpu", cache=False).scores(pairs)
    print(f"\n{torch.cuda.get_device_name()}\n")
    print("| precision | pairs/s | largest difference from the CPU |\n| --- | ---: | ---: |")
    worst = 0.0
    for precision in PRECISIONS:
        way = BertScore(model, device="cuda", precision=precision, cache=False).scores
        way(pairs)
        walls = []
        found = cpu
        for _ in range(rounds):
            wall = time.perf_counter()
            found = way(pairs)  # ends when the numbers are on the CPU
            walls.append(time.perf_counter() - wall)
        worst = float(np.abs(found - cpu).max())
        print(f"| {precision} | {len(pairs) / statistics.median(walls):.1f} | {worst:.1e} |", flush=True)
    return worst


def half_on_the_cpu(model: Path, layers: int, pairs: Pairs) -> float:
    """The largest difference between half and full precision, both on the CPU."""
    found = []
    for half in (True, False):
        encoder = BertEncoder(model, layers, device="cpu", half=half)
        rows = np.zeros((len(pairs), 3))
        for numbers, scores in scored_blocks(encoder, pairs):
            rows[numbers] = scores
        found.append(rows)
    return float(np.abs(found[0] - found[1]).max())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="a folder with a model")
    parser.add_argument("--data", type=Path, default=Path("data_multimedia"))
    parser.add_argument("--pairs", type=int, default=300, help="at most so many (default: 300)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None, help="of torch, for every way")
    options = parser.parse_args()

    import torch

    if options.threads:
        torch.set_num_threads(options.threads)
    items = items_of(options.data)[: options.pairs]
    pairs = [item.pair for item in items]
    layers = json.loads((options.model / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"]
    ways: dict[str, Way] = {"Toolassay": BertScore(options.model, device="cpu", cache=False).scores}
    for size in BATCHES:
        ways[f"`BERTScorer`, batch size {size}"] = published_way(options.model, layers, size)
    print(f"{len(pairs)} pairs, {len(set(pairs))} different; {torch.get_num_threads()} thread(s)\n")
    print("| way | pairs/s | pairs/CPU second | largest difference |\n| --- | ---: | ---: | ---: |")
    print("\n".join(measured(ways, pairs, options.rounds)), flush=True)
    print("\n| way | pairs scored for 14 groups |\n| --- | ---: |")
    print(f"| published, group by group | {pairs_by_group(items):,} |")
    print(f"| Toolassay | {len(set(pairs)):,} |")
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place, "cache.sqlite3")
        BertScore(options.model, device="cpu", cache=cache).scores(pairs)
        wall = time.perf_counter()
        BertScore(options.model, device="cpu", cache=cache).scores(pairs)
        print(f"\nA second time, from the cache: {time.perf_counter() - wall:.2f} s")
    if no_cuda := why_no_cuda():
        print(f"\nCUDA is left out: {no_cuda}")
        worst = half_on_the_cpu(options.model, layers, pairs[:FEW])
        print(f"Half precision on the CPU, {len(pairs[:FEW])} pairs: largest difference {worst:.1e}")
    else:
        worst = on_cuda(options.model, pairs, options.rounds)
    if worst > TOLERANCE:
        raise SystemExit(f"half precision differs by {worst:.1e}, more than {TOLERANCE}")


if __name__ == "__main__":
    main()
