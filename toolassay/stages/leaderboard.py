"""A data folder with the models that were scored on it, and the ranking of these models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from msgspec import structs

from toolassay.benchmarks.benchmark import Benchmark
from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.tables import Table, percent
from toolassay.errors import UsageError, as_called
from toolassay.evaluation.groups import OVERALL, OVERALL_GROUP, ScoreGroup
from toolassay.evaluation.items import OUTCOMES, ItemTable, items_path, read_table
from toolassay.evaluation.metrics_file import (
    STRICT_MODE,
    ColumnScores,
    MetricsGroup,
    Standing,
    changed_parts,
    check_editions,
    differing_settings,
    in_percent,
    read_groups,
    standing_of,
)
from toolassay.evaluation.places import find_metrics_folder, model_name, prediction_folder, recorded_model
from toolassay.files.data_files import safe_name, write_text
from toolassay.metrics.confidence_interval import Interval
from toolassay.models.registry import BASELINES
from toolassay.records.data_folder import BY_RULES, DataFolder
from toolassay.reports.axes import Axes, Outcomes, by_outcome, outcomes_of, read_axes
from toolassay.reports.leaderboard import OTHER_SORTS, Board, Kind, LeaderboardRow, ordered_rows
from toolassay.reports.scoreboard import Contender, choose_score, in_order, ways_table
from toolassay.runs.outcomes import RowMark, mark_of
from toolassay.runs.recorded_usage import ItemUsage, usage_by_item
from toolassay.runs.trials import Trial, same_settings, trials_of
from toolassay.stages.settings import LeaderboardSettings

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
        group: Group of items by which the models are ranked.
    """

    folder: DataFolder
    name: str
    given: str
    metrics: Path
    predictions: Path | None
    prediction_dir: str
    runs: Sequence[Axes] = ()
    group: ScoreGroup = ALL_ITEMS

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
        folders = [folder for folder in (self.metrics, self.predictions) if folder is not None]
        stems = {file.stem for folder in folders for file in folder.glob("*.json")}
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

    def trials(self, model: str) -> list[Trial]:
        """The trials of a model that were scored together; none without predictions."""
        if self.predictions is None or self.output(model) is None:
            return []
        return same_settings(trials_of(self.predictions, model))[0]

    def fix(self, model: str) -> str:
        """The command that writes the metrics of a model."""
        chosen = {"data_dir": self.given, "llm": model}
        if self.output(model) is None and not self.file(model).is_file():
            return f"run {as_called('infer', **chosen)}, then {as_called('evaluate')} likewise"
        if self.prediction_dir != "predictions":
            chosen["prediction_dir"] = self.prediction_dir
        return f"run {as_called('evaluate', **chosen)}"

    def read(self, model: str) -> Axes:
        """The axes of a model, not yet by outcome.

        Raises:
            UsageError: It has no metrics, or no strict scores in them.
        """
        file, fix = self.file(model), self.fix(model)
        if not file.is_file():
            raise UsageError(f"no metrics of {model}", file=file, fix=fix)
        group = read_groups(file).get(OVERALL_GROUP, MetricsGroup())
        return read_axes(
            group,
            self.benchmark.scores.axis,
            about=self.benchmark.about,
            data=self.name,
            model=model,
            file=file,
            fix=fix,
            library=self.title,
            mark=mark_of(recorded_model(self.predictions, file.stem), group.parts),
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
        yield from changed_parts(parts, now)
        is_of_all = parts.get("mode") == STRICT_MODE
        scored = parts["trials"].partition("-")[0] if is_of_all and "trials" in parts else "1"
        if (existing := len(self.trials(model))) > int(scored):
            yield f"trials ({scored} of {existing})", "its prediction folder"

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
        return {
            run.model: read_table(path, self.group)
            for run in self.runs
            if (path := self.items_file(run.model)).is_file() and run.n_scored
        }

    @cached_property
    def contenders(self) -> Mapping[str, Contender]:
        """The models that can be ranked; where outcomes decide, the executed ones."""
        return {
            run.model: Contender(
                run.model, [table], not run.is_baseline, run.is_complete, run.harm.value or 0.0
            )
            for run in self.runs
            if (table := self.tables.get(run.model)) and (run.is_executed or not self.is_executed)
        }

    def positions(self) -> dict[str, int]:
        """By model its position in the ranking.

        Raises:
            UsageError: A file of items is malformed, or the models have no score in common.
        """
        contenders = list(self.contenders.values())
        ranking = in_order(contenders, choose_score(self.ranked_by, contenders))
        return {ranked_model.name: number for number, ranked_model in enumerate(ranking)}


def ways_of(folder: DataFolder) -> Table | None:
    """The models of all prediction folders of a data folder; None if there is one folder with metrics.

    Where the predictions of one folder were executed, outcomes decide in all of them.
    """
    named_runs: list[tuple[str, Axes]] = []
    for predictions in sorted(path for path in folder.path.glob("predictions*") if path.is_dir()):
        scored_folder = ScoredFolder.at(folder.path, predictions.name, None)
        for model in scored_folder.models if scored_folder.metrics.is_dir() else ():
            with suppress(UsageError):
                named_runs.append((predictions.name, scored_folder.read(model)))
    runs = by_outcome([run for _, run in named_runs])
    return ways_table([(name, run) for (name, _), run in zip(named_runs, runs, strict=True)])


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


FILE = "leaderboard.md"
_SUFFIXES = {".md": "markdown", ".markdown": "markdown", ".csv": "csv", ".tex": "latex", ".txt": "terminal"}
# Folders that a message names; more would not fit on a line.
_NAMED = 5
_OUTCOMES = ("outcome", "unwanted")
_FACTS = "facts"


@dataclass(frozen=True)
class _Entry:
    """The scores of a model.

    Attributes:
        name: Name of the model.
        standing: Its scores of the group.
        axes: The five measures; None of a file of the published evaluator.
        outcomes: The verdicts on its executed plans; None if they were not executed.
        mark: What the scores cannot mean.
    """

    name: str
    standing: Standing
    axes: Axes | None
    outcomes: Outcomes | None
    mark: RowMark | None

    def rows(self, mode: str) -> Iterator[LeaderboardRow]:
        """A row for each scoring mode that is shown."""
        used = (self.axes.cost, self.axes.latency) if self.axes else (None, None)
        kinds: list[tuple[Kind, ColumnScores | None, str]] = [
            ("strict", self.standing.strict, self.standing.signature),
            ("compat", self.standing.compat, ""),
        ]
        for kind, counted, signature in kinds:
            if counted is not None and (mode == kind or (mode == "both" and counted.items is not None)):
                yield LeaderboardRow(self.name, kind, counted, *used, signature, self.mark)


def _parts_of(group: str) -> ScoreGroup:
    return ScoreGroup(*group.partition("_")[::2])


def _entry(scored_folder: ScoredFolder, file: Path, group: str) -> _Entry:
    """The scores in a metrics file.

    Raises:
        UsageError: The file is malformed, or has no such group.
    """
    standing = standing_of(file, group, scored_folder.benchmark.scores.standing)
    name = scored_folder.model(file.stem)
    axes: Axes | None = None
    with suppress(UsageError):  # a file of the published evaluator has no axes
        axes = scored_folder.read(name)
    outcomes = outcomes_of(items_path(file), _parts_of(group))
    mark = mark_of(recorded_model(scored_folder.predictions, file.stem), standing.parts)
    return _Entry(name, standing, axes, outcomes, mark)


def leaderboard(
    data_dir: str | Path,
    *,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    settings: LeaderboardSettings = LeaderboardSettings(),
) -> Board:
    """The models of a folder in the report's order; remarks name omitted models and rows that do not compare.

    Args:
        data_dir: Data folder of any benchmark.
        prediction_dir: Prediction folder, below `data_dir` or as a path; its runs have cost and latency, and
            its name determines the metrics folder.
        metrics_dir: Metrics folder, below `data_dir` or as a path.
        settings: Which rows and columns.

    Raises:
        UsageError: There are no metrics, or the group, column or domain is unknown.
    """
    scored_folder = ScoredFolder.at(data_dir, prediction_dir, metrics_dir)
    group = settings.group
    sort_by = settings.sort_by
    published = settings.published
    scores = scored_folder.benchmark.scores
    title = scored_folder.benchmark.about.title
    others: Mapping[str, Mapping[str, float]] = {}
    if settings.with_published or published:
        if scores.published is None:
            raise UsageError(f"{title} has no published rows", fix="omit --with_published")
        others = scores.published(scored_folder.folder, published)
    files = sorted(scored_folder.metrics.glob("*.json")) if scored_folder.metrics.is_dir() else []
    if not files:
        raise UsageError(
            "holds no metrics", file=scored_folder.metrics, fix=_where_metrics_are(scored_folder.folder.path)
        )
    remarks: list[str] = []
    entries: list[_Entry] = []
    for file in files:
        try:
            entry = _entry(scored_folder, file, group)
        except UsageError as error:
            remarks.append(f"left out: {error}")
            continue
        entries.append(entry)
        remarks += _remarks(scored_folder, entry)
    if not entries:
        raise UsageError(f"no model to show: {'; '.join(remarks)}", file=scored_folder.metrics)
    standings = {entry.name: entry.standing for entry in entries}
    outcomes = {entry.name: entry.outcomes for entry in entries if entry.outcomes is not None}
    models = {entry.name: list(entry.rows(settings.mode)) for entry in entries}
    check_editions({name: standing.parts for name, standing in standings.items()})
    remarks += differing_settings({name: standing.parts for name, standing in standings.items()})
    if without := sorted(BASELINES - standings.keys()):
        commands = " or ".join(as_called("infer", llm=name) for name in without)
        remarks.append(f"no baseline yet: run {commands}, then {as_called('evaluate', llm='all')}")
    headings: Sequence[str] = scores.headings
    column = scores.sort_by
    if any(not judged.problem for judged in outcomes.values()):
        with_facts = any(judged.n_facts for judged in outcomes.values())
        headings = (*_OUTCOMES, *[_FACTS] * with_facts, *headings)
        column = _OUTCOMES[0]
        models = {name: [_judged(row, outcomes.get(name)) for row in rows] for name, rows in models.items()}
    remarks += _not_ranked(standings, outcomes)
    _check("column to sort by", sort_by or column, (*headings, *OTHER_SORTS))
    models |= {
        f"{name} (published)": [LeaderboardRow(name, "published", ColumnScores(None, None, known))]
        for name, row in others.items()
        for known in [{heading: Interval(value, None, None) for heading, value in row.items()}]
    }
    ranking: dict[str, int] = {}
    if not sort_by and len(entries) > 1:
        runs = [entry.axes for entry in entries if entry.axes is not None]
        with suppress(UsageError):  # not all models can be ranked together
            ranking = replace(scored_folder.having(runs), group=_parts_of(group)).positions()
    rows_in_order = ordered_rows([*models.values()], sort_by or column, ranking)
    remarks += _signature(standings)
    remarks += [f"the data set is {BY_RULES}"] if scored_folder.folder.benchmark.is_by_rules else []
    ways = ways_of(scored_folder.folder)
    return Board(f"{scored_folder.name}: {group}", rows_in_order, headings, scores.caption, remarks, ways)


def format_of(path: Path) -> str:
    """The format that the suffix of a file name stands for.

    Raises:
        UsageError: The suffix is unknown.

    >>> format_of(Path("board.tex"))
    'latex'
    """
    if (output_format := _SUFFIXES.get(path.suffix.lower())) is None:
        fix = "use .md, .csv, .tex or .txt, or add --format"
        raise UsageError("has an unknown suffix", file=path, fix=fix)
    return output_format


def keep_leaderboard(data_dir: str | Path, prediction_dir: str | Path, metrics: Path) -> Path | None:
    """Write `leaderboard.md` to a metrics folder and return its path; None with fewer than two models."""
    try:
        board = leaderboard(data_dir, prediction_dir=prediction_dir, metrics_dir=metrics.absolute())
    except UsageError:
        return None
    if len({row.model for row in board.rows}) < 2:
        return None
    write_text(metrics / FILE, board.text("markdown"))
    return metrics / FILE


def _judged(row: LeaderboardRow, outcomes: Outcomes | None) -> LeaderboardRow:
    """A strict row with its outcomes, in percent."""
    if row.kind != "strict" or outcomes is None or outcomes.problem:
        return row
    judged = dict(zip(_OUTCOMES, map(in_percent, (outcomes.right, outcomes.harm)), strict=True))
    if outcomes.n_facts:
        judged[_FACTS] = in_percent(outcomes.facts)
    return replace(row, counted=structs.replace(row.counted, scores={**judged, **row.counted.scores}))


def _not_ranked(standings: Mapping[str, Standing], outcomes: Mapping[str, Outcomes]) -> Iterator[str]:
    """Where predictions were executed: what the columns mean, and which models have no outcome, and why."""
    if not outcomes:
        return
    yield (
        "outcome: the plan ran, answers and leaves the state as the gold plan; unwanted: it changed "
        "something else"
    )
    for name in standings:
        if name not in outcomes:
            yield f"{name} was not executed: run {as_called('execute', predictions=name)}"
        elif outcomes[name].note:
            yield f"{name}: {outcomes[name].note}"


def _remarks(scored_folder: ScoredFolder, entry: _Entry) -> Iterator[str]:
    """What a reader must know of the scores of a model."""
    name = entry.name
    standing = entry.standing
    axes = entry.axes
    if scored_folder.predictions is not None:
        if standing.strict is None:
            yield f"{name} has no strict scores: evaluate it again"
        for changed, what in scored_folder.changed_since(name, standing.parts):
            yield f"warning: {name} was scored with other {changed} than {what} has: evaluate it again"
    if standing.strict is not None and standing.strict.asked:
        why = f" ({standing.excluded})" if standing.excluded else ""
        yield f"{name}: {standing.strict.asked}{why}: below the complete runs, without a rank"
    if axes and axes.recall:
        (recall, *_), k = axes.recall
        yield f"{name}: recall@{k} {percent(recall)} (tools of the gold that its requests showed)"


def _signature(standings: Mapping[str, Standing]) -> Iterator[str]:
    """The signature parts that all strict scores share."""
    if signed := [standing.parts for standing in standings.values() if standing.parts]:
        common = [pair for pair in signed[0].items() if all(pair in parts.items() for parts in signed)]
        yield f"signature: {'|'.join(map(':'.join, common))}"


def _where_metrics_are(path: Path) -> str:
    """Advice for an empty metrics folder: the folders in the data folder that have metrics."""
    files = (file for pattern in ("*/*.items.jsonl", "*/*/*.items.jsonl") for file in path.glob(pattern))
    folders = sorted(
        {file.parent.relative_to(path).as_posix() for file in files if file.parent.name != "outcomes"}
    )
    if folders:
        return f"choose with --metrics_dir; folders with metrics in {path}: {', '.join(folders[:_NAMED])}"
    return f"make them with {as_called('evaluate', llm='all')}"


def _check(what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UsageError(f"unknown {what} '{given}'", fix=f"choose from {', '.join(known)}")
