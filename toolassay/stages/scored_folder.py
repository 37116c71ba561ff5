"""A data folder with the models that were scored on it: what the report and the leaderboard rank."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmark_of
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.groups import OVERALL, OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.items import OUTCOMES, ItemTable, items_path, read_table
from toolassay.evaluation.metrics_file import changed_parts, read_groups, signature_of
from toolassay.evaluation.places import find_metrics_folder, model_name, prediction_folder, recorded_model
from toolassay.files import safe_name
from toolassay.report.axes import Axes, by_outcome, read_axes
from toolassay.report.scoreboard import Contender, choose_score, in_order
from toolassay.runs.outcomes import mark_of
from toolassay.runs.recorded_usage import ItemUsage, usage_by_item
from toolassay.runs.trials import Trial

ALL_ITEMS = ScoreGroup(OVERALL, OVERALL)


@dataclass(frozen=True)
class ScoredFolder:
    """A data folder with its metrics and predictions.

    Attributes:
        folder: Data folder.
        name: Its name in the report.
        given: Its path as the user wrote it.
        metrics: Metrics folder.
        predictions: Prediction folder; None without one.
        prediction_dir: Prediction folder as the user wrote it.
        runs: One entry per model, by outcome where outcomes decide.
    """

    folder: DataFolder
    name: str
    given: str
    metrics: Path
    predictions: Path | None
    prediction_dir: str
    runs: Sequence[Axes] = ()

    @classmethod
    def at(
        cls, data_dir: str | Path, prediction_dir: str | Path, metrics_dir: str | Path | None
    ) -> ScoredFolder:
        """The folder without its runs.

        Raises:
            UsageError: It does not exist.
        """
        folder = DataFolder(Path(data_dir)).require()
        try:
            predictions: Path | None = prediction_folder(folder.path, Path(prediction_dir))
        except UsageError:
            predictions = None
        metrics = find_metrics_folder(folder.path, prediction_dir, metrics_dir)
        name = folder.path.resolve().name
        return cls(folder, name, str(data_dir), metrics, predictions, str(prediction_dir))

    def having(self, runs: Iterable[Axes]) -> ScoredFolder:
        """The folder with some runs."""
        return replace(self, runs=by_outcome(list(runs)))

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark of the folder."""
        return benchmark_of(self.folder)

    @cached_property
    def title(self) -> str:
        """Title of its data."""
        return data_title(self.folder, self.name)

    # Files of models

    @property
    def models(self) -> list[str]:
        """Names of the models with metrics or predictions."""
        places = [place for place in (self.metrics, self.predictions) if place is not None]
        stems = {file.stem for place in places for file in place.glob("*.json")}
        return sorted(map(self.model, stems))

    def model(self, stem: str) -> str:
        """The model of a metrics file."""
        return stem if self.predictions is None else model_name(self.predictions, stem)

    def file(self, model: str) -> Path:
        """Metrics file of a model."""
        return self.metrics / f"{safe_name(model)}.json"

    def items_file(self, model: str) -> Path:
        """File of items of a model."""
        return items_path(self.file(model))

    def output(self, model: str) -> Path | None:
        """Prediction file of a model; None if there is none."""
        output = self.predictions and Trial(self.predictions, model).output
        return output if output and output.is_file() else None

    def fix(self, model: str) -> str:
        """The command that writes the metrics of a model."""
        flags = f"--data_dir {shlex.quote(self.given)} --llm {shlex.quote(model)}"
        if self.output(model) is None and not self.file(model).is_file():
            return f"run inference.py {flags}, then evaluate.py likewise"
        is_default = self.prediction_dir == "predictions"
        return f"run evaluate.py {flags}" + f" --prediction_dir {shlex.quote(self.prediction_dir)}" * (
            not is_default
        )

    def read(self, model: str) -> Axes:
        """The axes of a model, not yet by outcome.

        Raises:
            UsageError: It has no metrics, or no strict scores in them.
        """
        file, fix = self.file(model), self.fix(model)
        if not file.is_file():
            raise UsageError(f"no metrics of {model}", file=file, fix=fix)
        groups = read_groups(file)
        parts = signature_of(groups.get(OVERALL_GROUP, {}))
        return read_axes(
            groups,
            self.benchmark.scores.axis,
            about=self.benchmark.about,
            data=self.name,
            model=model,
            file=file,
            fix=fix,
            library=self.title,
            mark=mark_of(recorded_model(self.predictions, file.stem), parts),
        )

    @cached_property
    def _made_from(self) -> Mapping[str, tuple[str, str]]:
        try:
            return self.benchmark.data.made_from(self.folder)
        except UsageError:  # the data may be elsewhere
            return {}

    def changed_since(self, model: str, parts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """What a model was scored with and that is something else now, with the name of its file.

        Args:
            model: Name of the model.
            parts: Signature of its scores.
        """
        now = dict(self._made_from)
        if (output := self.output(model)) is not None:
            now["predictions"] = output.name, self.benchmark.scores.fingerprint(output)
        return changed_parts(parts, now)

    @cached_property
    def usage(self) -> Mapping[str, Mapping[str, ItemUsage]]:
        """What each item used in the first trial, by model."""
        if self.predictions is None:
            return {}
        return {run.model: usage_by_item(Trial(self.predictions, run.model).ledger) for run in self.runs}

    def all_usage(self, model: str) -> Iterator[ItemUsage]:
        """What each item used, over all trials."""
        if self.predictions is not None:
            yield from self.usage[model].values()
            for ledger in Trial(self.predictions, model).other_ledgers:
                yield from usage_by_item(ledger).values()

    # Ranking

    @property
    def is_executed(self) -> bool:
        """Whether outcomes decide (`by_outcome`)."""
        return bool(self.runs) and self.runs[0].is_by_outcome

    @property
    def can_execute(self) -> bool:
        """Whether `toolassay execute` takes predictions of the benchmark."""
        return self.benchmark.items.predicted_plans is not None

    @property
    def ranked_by(self) -> Sequence[str]:
        """The scores by which models are ranked, as `Scores.ranked_by`."""
        return OUTCOMES[:1] if self.is_executed else self.benchmark.scores.ranked_by

    @property
    def harm(self) -> str:
        """The score that is 0 for an item with unwanted changes, as `Scores.harm`."""
        return OUTCOMES[1] if self.is_executed else self.benchmark.scores.harm

    @cached_property
    def tables(self) -> Mapping[str, ItemTable]:
        """The items of each model that has a file of items with at least one scored item."""
        return self._tables(ALL_ITEMS)

    def _tables(self, group: ScoreGroup) -> dict[str, ItemTable]:
        return {
            run.model: read_table(path, group)
            for run in self.runs
            if (path := self.items_file(run.model)).is_file() and run.counts.get("n_scored", 1)
        }

    @cached_property
    def contenders(self) -> Mapping[str, Contender]:
        """The models that can be ranked; where outcomes decide, the executed ones."""
        return self._contenders(self.tables)

    def _contenders(self, tables: Mapping[str, ItemTable]) -> dict[str, Contender]:
        return {
            run.model: Contender(
                run.model, [tables[run.model]], not run.is_baseline, run.is_complete, run.harm.value or 0.0
            )
            for run in self.runs
            if run.model in tables and (run.is_executed or not self.is_executed)
        }

    def positions(self, group: ScoreGroup) -> dict[str, int]:
        """By model its position in the ranking on a group of items.

        Raises:
            UsageError: A file of items is malformed, or the models have no score in common.
        """
        contenders = list(self._contenders(self._tables(group)).values())
        places = in_order(contenders, choose_score(self.ranked_by, contenders))
        return {place.name: number for number, place in enumerate(places)}


def data_title(folder: DataFolder, name: str) -> str:
    """The title of a data folder in a report; of a team's own data, the folder's name.

    Data with a published or bundled library has the benchmark's title, followed by the domain and, if it
    differs from the usual one, the folder's name, so that titles are unique.

    Args:
        folder: Data folder.
        name: Name of the folder, unique in the report.
    """
    benchmark = benchmark_of(folder)
    try:
        domain = benchmark.data.domain(folder)
    except UsageError:  # without tools or tables, the library is unknown
        domain = None
    if domain is None:
        return name
    title = benchmark.about.title
    is_plain = name.removeprefix("data_") == (domain or title.lower())
    shown = ", ".join(text for text in (domain, "" if is_plain else name) if text)
    return f"{title} ({shown})" if shown else title
