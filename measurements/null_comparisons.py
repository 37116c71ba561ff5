"""False alarms of `toolassay compare` and of the ranking in `toolassay report`.

Run with: python -m measurements.null_comparisons [RUNS]
or: python -m measurements.null_comparisons rankings [SETS]

Comparisons are of models that do not differ, 2,000 times. The scores are those of the offline planner on the
three bundled data sets: 900 items in 815 clusters (the items of one sampled subgraph). Each run draws 250 of
the clusters and gives each to two models. A model scores on it what the planner did, or, three times in ten,
what the planner did on another cluster of that size. So both models have the same distribution on each item,
agree on most of them as models do, and what happens in a cluster hangs together; any difference found between
them is a false alarm. Then the same with one item of each cluster, where exact match is always left to
McNemar's test.

Rankings are of 2 to 16 models on 300 made-up items, 10,000 times: a model is right on an item with a chance
that depends on the item (as difficult as any other) and on the model. A statement is false if the report says
that a model leads which is not better than each other, that a row differs from the leader which is as good,
or if the set of models that may be the best lacks one that is. With one better model, how often it is said to
lead, and how often the rule of version 0.3.0 did (McNemar's tests against the leader, Holm's correction).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolassay import evaluate, infer
from toolassay.evaluation.groups import ScoreGroup
from toolassay.evaluation.items import items_path, read_table
from toolassay.extras import import_numpy
from toolassay.metrics.significance import LEVEL, PairTests, compare_all, compare_pairs, holm, mcnemar_p

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIBRARIES = ("data_huggingface", "data_multimedia", "data_dailylifeapis")
FILES = ("data.json", "user_requests.json", "tool_desc.json", "graph_desc.json", "benchmark.json")
DRAWN = 250  # clusters a run
ELSEWHERE = 0.3  # how often a model scores on a cluster what was scored on another
RESAMPLES = 1000
ITEMS = 300
DIFFICULTY = 1.5  # standard deviation, in logits
LEADER = "one leader"


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
            result = evaluate(name, llm="offline")
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


class Setting(NamedTuple):
    """Made-up models.

    Attributes:
        means: true shares of right items of each model.
        spread: standard deviation of each model's scores around its chance; None for verdicts of 0 and 1.
    """

    means: NDArray[np.float64]
    spread: NDArray[np.float64] | None = None


def settings(models: int) -> dict[str, Setting]:
    """The settings by name; in the last one the first model is the best."""
    import numpy as np

    equal = np.full(models, 0.6)
    two_best, groups, leader = equal.copy(), equal.copy(), equal.copy()
    two_best[2:] = np.linspace(0.5, 0.3, max(models - 2, 0))
    groups[models // 2 :] = 0.5
    leader[1:] = 0.5
    return {
        "all equal": Setting(equal),
        "two best": Setting(two_best),
        "two groups": Setting(groups),
        "unequal variances": Setting(equal, np.linspace(0.02, 0.4, models)),
        LEADER: Setting(leader),
    }


@cache
def mean_chances() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Abilities, and the mean chance that a model of each has over items of all difficulties."""
    import numpy as np
    from scipy.special import expit
    from scipy.stats import norm

    difficulties = norm.ppf((np.arange(2_000) + 0.5) / 2_000, scale=DIFFICULTY)
    abilities = np.linspace(-6, 6, 481)
    return abilities, expit(abilities[:, None] - difficulties).mean(axis=1)


def drawn_scores(setting: Setting, generator: np.random.Generator) -> NDArray[np.float64]:
    """The scores of the models on the items, shape (items, models)."""
    import numpy as np
    from scipy.special import expit

    shape = ITEMS, len(setting.means)
    difficulty = generator.normal(0, DIFFICULTY, size=(ITEMS, 1))
    if setting.spread is not None:
        return setting.means - 0.1 * difficulty + generator.normal(0, setting.spread, size=shape)
    abilities, chances_of_all = mean_chances()
    chances = expit(np.interp(setting.means, chances_of_all, abilities) - difficulty)
    return (generator.random(shape) < chances).astype(float)


def false_statements(setting: Setting, tests: PairTests, scores: NDArray[np.float64]) -> bool:
    """Whether a report on such scores says something false."""
    import numpy as np

    means, models = setting.means, len(setting.means)
    leader = int(scores.mean(axis=0).argmax())
    others = [one for one in range(models) if one != leader]
    if tests.leads(leader, others):
        return bool((means[others] >= means[leader]).any())
    marked = [one for one in others if tests.adjusted[leader, one] < LEVEL]
    best = set(np.flatnonzero(means == means.max()).tolist())
    return any(means[one] >= means[leader] for one in marked) or not best <= set(
        tests.may_be_best(range(models))
    )


cached_mcnemar_p = cache(mcnemar_p)
"""Most of the time would go into tests of the same counts."""


class Ranked(NamedTuple):
    """In how many sets a report says something false, that a model leads, and that it led by the old rule."""

    false: int
    leads: int
    led: int


def count_statements(name: str, models: int, sets: range) -> Ranked:
    """Rank made-up models of a setting; each set has a seed of its own."""
    import numpy as np

    setting, found = settings(models)[name], Counter[str]()
    for number in sets:
        scores = drawn_scores(setting, np.random.default_rng((number, models)))
        tests = compare_all(scores, resamples=RESAMPLES, seed=number)
        leader = int(scores.mean(axis=0).argmax())
        others = [one for one in range(models) if one != leader]
        found["false"] += false_statements(setting, tests, scores)
        found["leads"] += tests.leads(leader, others)
        if name == LEADER:
            gaps = scores[:, others] - scores[:, [leader]]
            alone = [cached_mcnemar_p(int((gap > 0).sum()), int((gap < 0).sum())) for gap in gaps.T]
            found["led"] += all(p is not None and p < LEVEL for p in holm(alone))
    return Ranked(found["false"], found["leads"], found["led"])


def print_rankings(sets: int) -> None:
    """Print how often a report on made-up models says something false, and how often it finds a leader."""
    began = time.perf_counter()
    rows: dict[str, list[str]] = {}
    with ProcessPoolExecutor() as pool:
        for models in (2, 4, 8, 16):
            for name in settings(models):
                parts = [range(start, min(start + 250, sets)) for start in range(0, sets, 250)]
                ranked = list(pool.map(partial(count_statements, name, models), parts))
                false, leads, led = (sum(counts) / sets for counts in zip(*ranked, strict=True))
                more = f", leads {leads:.1%} (before: {led:.1%})" if name == LEADER else ""
                rows.setdefault(name, []).append(f"{false:.2%}{more}")
    error = 2 * (0.05 * 0.95 / sets) ** 0.5
    print(
        f"{sets:,} sets each, at most {0.05 + error:.2%} may be false; {time.perf_counter() - began:.0f} s\n"
    )
    print("| false statements of | 2 models | 4 | 8 | 16 |\n| --- | --- | --- | --- | --- |")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    """Print the table."""
    import_numpy()  # before processes are started: with one thread each, since one runs on each core
    if sys.argv[1:2] == ["rankings"]:
        print_rankings(int(sys.argv[2]) if len(sys.argv) == 3 else 10_000)
        return
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
