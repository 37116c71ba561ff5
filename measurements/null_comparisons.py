"""False alarms of `toolassay compare`: models that do not differ, compared 2,000 times.

Run with: python -m measurements.null_comparisons [RUNS]

The scores are those of the offline planner on the three bundled data sets: 900 items in 815 clusters (the
items of one sampled subgraph). Each run draws 250 of the clusters and gives each to two models. A model
scores on it what the planner did, or, three times in ten, what the planner did on another cluster of that
size. So both models have the same distribution on each item, agree on most of them as models do, and what
happens in a cluster hangs together; any difference found between them is a false alarm. Then the same with
one item of each cluster, where exact match is always left to McNemar's test.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolassay import evaluate, infer
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.items import items_path, read_table
from toolassay.metrics.significance import LEVEL, compare_pairs, holm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIBRARIES = ("data_huggingface", "data_multimedia", "data_dailylifeapis")
FILES = ("data.json", "user_requests.json", "tool_desc.json", "graph_desc.json", "benchmark.json")
DRAWN = 250  # clusters a run
ELSEWHERE = 0.3  # how often a model scores on a cluster what was scored on another
RESAMPLES = 1000


class Pool(NamedTuple):
    """Real scores: one array of shape (items, metrics) a cluster, and the clusters of each size."""

    metrics: tuple[str, ...]
    blocks: list[NDArray[np.float64]]
    by_size: dict[int, list[int]]


class Alarms(NamedTuple):
    """In how many runs a difference was found, by metric; `family`: anywhere after Holm's correction.

    `by_mcnemar` counts the runs in which McNemar's test gave the p-value.
    """

    by_p: Counter[str]
    by_interval: Counter[str]
    by_mcnemar: Counter[str]
    family: int


def planner_scores(root: Path, libraries: tuple[str, ...] = LIBRARIES) -> Pool:
    """The scores of the offline planner on bundled data sets."""
    import numpy as np

    blocks: list[NDArray[np.float64]] = []
    metrics: tuple[str, ...] = ()
    for library in libraries:
        with tempfile.TemporaryDirectory() as name:
            for file in FILES:
                shutil.copy(root / library / file, name)
            infer(name, llm="offline")
            (result,) = evaluate(name, llm="offline")
            table = read_table(items_path(result.path), ScoreGroup("overall", "overall"))
        metrics = table.metrics
        blocks += [table.scores[table.clusters == cluster] for cluster in np.unique(table.clusters)]
    by_size: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        by_size.setdefault(len(block), []).append(place)
    return Pool(metrics, blocks, by_size)


def single_items(pool: Pool) -> Pool:
    """The first item of each cluster, by itself."""
    return Pool(pool.metrics, [block[:1] for block in pool.blocks], {1: list(range(len(pool.blocks)))})


def null_pairs(
    pool: Pool, runs: int, seed: int = 0
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]]:
    """Two models that do not differ, and the clusters of their items; once a run."""
    import numpy as np

    generator = np.random.default_rng(seed)
    for _ in range(runs):
        drawn = generator.choice(len(pool.blocks), size=min(DRAWN, len(pool.blocks)), replace=False)
        models = []
        for _ in range(2):
            sources = [
                generator.choice(pool.by_size[len(pool.blocks[place])])
                if generator.random() < ELSEWHERE
                else place
                for place in drawn
            ]
            models.append(np.vstack([pool.blocks[source] for source in sources]))
        yield models[0], models[1], np.repeat(drawn, [len(pool.blocks[place]) for place in drawn])


def count_alarms(pool: Pool, runs: int, seed: int = 0) -> Alarms:
    """Compare models that do not differ."""
    alarms = Alarms(Counter(), Counter(), Counter(), 0)
    for run, (before, after, clusters) in enumerate(null_pairs(pool, runs, seed)):
        results = compare_pairs(before, after, clusters=clusters, resamples=RESAMPLES, seed=run)
        for name, result in zip(pool.metrics, results, strict=True):
            _, low, high = result.difference
            assert result.p is not None and low is not None and high is not None
            alarms.by_p[name] += result.p < LEVEL
            alarms.by_interval[name] += low > 0 or high < 0
            alarms.by_mcnemar[name] += result.test == "mcnemar"
        corrected = holm([result.p for result in results])
        found = any(p is not None and p < LEVEL for p in corrected)
        alarms = alarms._replace(family=alarms.family + found)
    return alarms


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) == 2 else 2_000
    pool = planner_scores(Path(__file__).resolve().parent.parent)
    began = time.perf_counter()
    both = [count_alarms(one, runs) for one in (pool, single_items(pool))]
    print(f"{runs:,} runs of {DRAWN} clusters, then of {DRAWN} items; {time.perf_counter() - began:.0f} s\n")
    print("| score | clusters: p < 0.05 | interval without 0 | single items: p < 0.05 | interval without 0 |")
    print("| --- | --- | --- | --- | --- |")
    for name in pool.metrics:
        shares = [count[name] / runs for alarms in both for count in (alarms.by_p, alarms.by_interval)]
        print(f"| `{name}` | {' | '.join(f'{share:.1%}' for share in shares)} |")
    print(f"| any of them, by Holm's p | {both[0].family / runs:.1%} | | {both[1].family / runs:.1%} | |")
    used = [alarms.by_mcnemar["exact_match"] / runs for alarms in both]
    print(f"\nMcNemar's test gave the p of exact_match in {used[0]:.0%} and {used[1]:.0%} of the runs.")


if __name__ == "__main__":
    main()
