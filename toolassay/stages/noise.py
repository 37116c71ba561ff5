"""How much of a score is noise, what a set can find, and how many items and runs a decision needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec

from toolassay.backinstruct.records import read_raw
from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.screen import DEFAULT, Screen
from toolassay.console.tables import Result, Table, number, percent, whole_percent
from toolassay.errors import UsageError
from toolassay.evaluation.comparison import scored_models
from toolassay.evaluation.items import OUTCOME, ScoredItem, read_items
from toolassay.files.data_files import write_json
from toolassay.gates.calibration import read_calibrations
from toolassay.metrics.agreement import agreement_of
from toolassay.metrics.noise import Noise, PairNoise, Ranking, items_needed, rankings
from toolassay.metrics.pass_k import pass_hat_k
from toolassay.records.data_folder import DataFolder
from toolassay.stages.compare import metrics_by_name

_DIFFERENCES = (0.02, 0.05, 0.1)  # that a gate or a paper wants to find
_RUNS = (1, 3, 5)
_SIZES = (10, 20, 50, 100, 200, 500, 1000)


class PassK(msgspec.Struct, frozen=True):
    """The chance that all of k runs of an item are right, in both published conventions.

    Attributes:
        model: Its name.
        k: Number of runs.
        drawn: Mean over items of C(c, k) / C(n, k), for c right ones of n runs (Yao et al., tau-bench, 2024).
        power: The score to the power of k, which takes all items to be alike.
    """

    model: str
    k: int
    drawn: float
    power: float


@dataclass(frozen=True, repr=False)
class SetNoise(Result):
    """What is noise in the scores of a set.

    Attributes:
        score: Name of the score.
        models: The noise of each model's score.
        pairs: What the set can find between two models.
        pass_k: The chance that all of k runs are right; none with one run.
        rankings: How the ranking holds on fewer items; none for one model.
        judges: How far judges of the set agree with each other and with labels, a line each.
    """

    score: str
    models: Mapping[str, Noise]
    pairs: Sequence[PairNoise]
    pass_k: Sequence[PassK]
    rankings: Sequence[Ranking]
    judges: Sequence[str]

    @property
    def tables(self) -> Iterator[Table]:
        """The result as tables."""
        rows: list[Sequence[str]] = [
            (name, f"{noise.items:,}", number(noise.runs, 1), percent(noise.score),
             percent(noise.standard_error), percent(noise.of_runs, 0))
            for name, noise in self.models.items()
        ]  # fmt: skip
        yield Table(("model", "items", "runs", self.score, "standard error", "of it from runs"), rows, "n")
        if self.pass_k:
            rows = [(one.model, str(one.k), percent(one.drawn), percent(one.power)) for one in self.pass_k]
            yield Table(("model", "k", "pass^k, over items", "score to the power of k"), rows, "n")
        rows = [
            (f"{first} and {second}", percent(pair.difference), percent(pair.smallest))
            for pair in self.pairs
            for first, second in [pair.models]
        ]
        if rows:
            yield Table(("models", "difference", "smallest that is found, 4 times in 5"), rows, "n")
        yield self._needed()
        if self.rankings:
            rows = [
                (f"{one.items:,}", percent(one.same_leader, 0), percent(one.same_order, 0))
                for one in self.rankings
            ]
            yield Table(("items", "same leader", "pairs in the same order"), rows, "r")

    def _needed(self) -> Table:
        # With one run of each item, that of a coin: the most that it can be.
        known = [(noise.within, noise.score) for noise in self.models.values()]
        within = fmean(score * (1 - score) if found is None else found for found, score in known)
        spread = max((pair.spread for pair in self.pairs), default=0.0)
        rows = [
            (
                percent(difference, 0),
                *(f"{items_needed(difference, spread, within, runs):,}" for runs in _RUNS),
            )
            for difference in _DIFFERENCES
        ]
        heads = [f"items, {runs} run{'s' * (runs > 1)} each" for runs in _RUNS]
        return Table(("difference", *heads), rows, "r")


def noise(
    *models: str | Path,
    data_dir: str | Path,
    prediction_dir: str | Path = "predictions",
    calibration: Sequence[Path | str] = (),
    save: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> SetNoise:
    """Say how much of the scores of a set is noise, and what the set can find.

    Args:
        models: One or more models that were evaluated, as for `compare`.
        data_dir: Data folder.
        prediction_dir: Prediction folder whose metrics are read.
        calibration: Files of `check --calibrate`, which say how far judges agree with labels.
        save: JSON file for the result.
        screen: Receives messages and results.

    Raises:
        UsageError: No model is named, one was not evaluated, or fewer than two items are scored.
    """
    if not models:
        raise UsageError("no model is named", fix="name one or more that were evaluated")
    folder = DataFolder(Path(data_dir)).require()
    files = scored_models([str(model) for model in models], metrics_by_name(data_dir, prediction_dir))
    items = {file.name: {item.id: item for item in read_items(file.items)} for file in files}
    is_executed = any(OUTCOME in item.scores for read in items.values() for item in read.values())
    score = OUTCOME if is_executed else benchmark_of(folder).scores.ranked_by[0]
    runs = {name: _runs(read, score) for name, read in items.items()}
    for name, scored in runs.items():
        if len(scored) < 2:
            raise UsageError(f"fewer than two items of {name} have {score}", fix="run evaluate again")
    shared = sorted(set.intersection(*(set(scored) for scored in runs.values())))
    columns = {name: [scored[key] for key in shared] for name, scored in runs.items()}
    result = SetNoise(
        score,
        {name: Noise.of(list(scored.values())) for name, scored in runs.items()},
        [
            PairNoise.of((first, second), columns[first], columns[second])
            for first, second in combinations(runs, 2)
            if len(shared) > 1
        ],
        [each for name, scored in runs.items() for each in _pass_k(name, list(scored.values()))],
        _rankings(columns),
        [*_judges(folder), *(one.line for one in read_calibrations(map(Path, calibration)).values())],
    )
    for table in result.tables:
        screen.table(table.markdown())
    for line in result.judges:
        screen.show(line)
    if save is not None:
        write_json(Path(save), msgspec.to_builtins(result))
    return result


def _runs(items: Mapping[str, ScoredItem], score: str) -> dict[str, list[float]]:
    """The scores of the runs of each item that has some, by id."""
    runs = {
        key: [value for run in item.trials or () if (value := run.scores.get(score)) is not None]
        for key, item in items.items()
    }
    return {key: values for key, values in runs.items() if values}


def _pass_k(model: str, scored: Sequence[Sequence[float]]) -> Iterator[PassK]:
    most = max(map(len, scored))
    for k in range(2, most + 1):
        enough = [values for values in scored if len(values) >= k]
        right = [sum(value == 1 for value in values) for values in enough]
        drawn = fmean(pass_hat_k(len(values), count, k) for values, count in zip(enough, right, strict=True))
        power = fmean(count / len(values) for values, count in zip(enough, right, strict=True)) ** k
        yield PassK(model, k, drawn, power)


def _rankings(columns: Mapping[str, Sequence[Sequence[float]]]) -> list[Ranking]:
    if len(columns) < 2:
        return []
    means = {name: [fmean(values) for values in scored] for name, scored in columns.items()}
    count = len(next(iter(means.values())))
    return rankings(means, [size for size in _SIZES if size < count])


def _judges(folder: DataFolder) -> Iterator[str]:
    """How far the critics of a set agree with each other on whether a sample is publishable."""
    if not folder.data_raw.is_file():
        return
    votes = [
        {name: str(all(each["yes"] for each in review.values())) for name, review in record.reviews.items()}
        for record in read_raw(folder.data_raw)
        if record.reviews
    ]
    found = agreement_of(votes)
    if found.items:
        kappa = "" if found.kappa is None else f", {found.kind.title()}'s kappa {found.kappa:.2f}"
        yield f"critics agree on {whole_percent(100 * (found.raw or 0))} % of {found.items:,} samples{kappa}"
