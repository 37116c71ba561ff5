"""The report stage: which model may be trusted, as a page, tables, pictures and `report.json`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolassay.benchmarks.registry import benchmark_of
from toolassay.data_folder import BY_RULES, DataFolder
from toolassay.errors import UsageError
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.evaluation.metrics_file import read_groups, signature_of
from toolassay.evaluation.places import (
    EVERY_MODEL,
    find_metrics_folder,
    model_name,
    prediction_folder,
    recorded_model,
)
from toolassay.files import safe_name, write_json, write_text
from toolassay.models.registry import BASELINES, BUILT_IN
from toolassay.report.axes import Axes, by_outcome, csv_table, draw_axes, read_axes
from toolassay.report.axes.picture import MOST
from toolassay.report.decision import Decision, Requirement, draw_ranking, junit, model_table, summary
from toolassay.report.report_page import PageFolder, write_report_page
from toolassay.runs.marks import mark_of
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.data_summary import data_summary
from toolassay.stages.decide import ScoredFolder, decide, page_folders, regressions
from toolassay.tables import Cell, Result, Table, csv_line
from toolassay.version import __version__

TABLE, NUMBERS, PAGE, DECISION = "axes.csv", "axes.json", "index.html", "report.json"
PICTURES = ("axes.svg", "axes.png", "axes.pdf")
RANKINGS = ("ranking.svg", "ranking.png", "ranking.pdf")
TABLES = ("models.csv", "models.tex")

FILES = (DECISION, NUMBERS, TABLE, *TABLES, *PICTURES, *RANKINGS, PAGE)
"""The files of a report folder."""


@dataclass(frozen=True, repr=False)
class AxesReport(Result):
    """The content and files of a report.

    Attributes:
        runs: One entry per model and data folder, sorted by model.
        missing: Each missing or unusable metrics file, with the command that creates it.
        notes: Each model that was run on some of the folders only, with the command for the rest.
        decision: Verdict, ranking and requirements.
        files: Files written.
    """

    runs: Sequence[Axes]
    missing: Sequence[str]
    notes: Sequence[str]
    decision: Decision
    files: Sequence[Path]

    @property
    def exit_code(self) -> int:
        """That of the decision; 3 if it is 0 and metrics are missing."""
        return self.decision.exit_code or (3 if self.missing else 0)


@dataclass(frozen=True)
class _Place:
    """A data folder with its metrics and prediction folders."""

    folder: DataFolder
    given: str
    metrics: Path
    predictions: Path | None
    prediction_dir: str

    def models(self) -> list[str]:
        """Names of the models with metrics or predictions."""
        stems = {file.stem for place in (self.metrics, self.predictions) if place for file in _json(place)}
        return sorted(
            stem if self.predictions is None else model_name(self.predictions, stem) for stem in stems
        )

    def fix(self, model: str) -> str:
        """The command that writes the metrics of a model."""
        if not self.has_predictions(model) and not self.file(model).is_file():
            return f"run inference.py {self._flags(model)}, then evaluate.py likewise"
        named = ""
        if self.prediction_dir != "predictions":
            named = f" --prediction_dir {shlex.quote(self.prediction_dir)}"
        return f"run evaluate.py {self._flags(model)}{named}"

    def has_predictions(self, model: str) -> bool:
        """Whether the model has a prediction file."""
        return self.predictions is not None and (self.predictions / self.file(model).name).is_file()

    def file(self, model: str) -> Path:
        """Metrics file of a model."""
        return self.metrics / f"{safe_name(model)}.json"

    def _flags(self, model: str) -> str:
        return f"--data_dir {shlex.quote(self.given)} --llm {shlex.quote(model)}"


@dataclass(frozen=True)
class BuiltReport:
    """Everything that a report writes.

    Attributes:
        runs: One entry per model and data folder, sorted by model.
        missing: Each missing or unusable metrics file, with the command that creates it.
        notes: Each model that was run on some of the folders only, with the command for the rest.
        decision: Verdict, ranking and requirements.
        pages: Content of the page, one entry per folder; can be written once.
    """

    runs: Sequence[Axes]
    missing: Sequence[str]
    notes: Sequence[str]
    decision: Decision
    pages: Sequence[PageFolder]


def write_report(
    data_dir: str | Path | Sequence[str | Path] = "data_huggingface",
    *,
    llm: str | Sequence[str] = EVERY_MODEL,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    out: str | Path = "report",
    require: Sequence[str] = (),
    baseline: str | Path | None = None,
    junit_file: str | Path | None = None,
    summary_file: str | Path | None = None,
    seed: int = 0,
    screen: Screen = DEFAULT,
) -> AxesReport:
    """Decide which model may be trusted: ranking, requirements, and five axes on several benchmarks.

    Writes `FILES`: the page, the decision, the five measures, tables and pictures.

    Args:
        data_dir: One or several data folders of any benchmark.
        llm: One or several models; "all" is every model with metrics or predictions.
        prediction_dir: Prediction folder, below each data folder or as a path; its name determines the
            metrics folder.
        metrics_dir: Metrics folder, below each data folder or as a path.
        out: Output folder; or an HTML file, then only the page is written.
        require: Requirements such as "accuracy>=80%"; the names are those of `report.decision.NAMES`.
        baseline: Model of the report, or metrics file, that no model may be significantly worse than.
        junit_file: JUnit file for the requirements.
        summary_file: Markdown file for the decision.
        seed: Random seed of intervals and tests.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A data folder does not exist, there are no metrics at all, or a requirement is malformed.
    """
    built = build_report(
        data_dir,
        llm=llm,
        prediction_dir=prediction_dir,
        metrics_dir=metrics_dir,
        require=require,
        baseline=baseline,
        seed=seed,
        screen=screen,
    )
    files = list(_written(built, Path(out)))
    for file, text in ((junit_file, junit), (summary_file, summary)):
        if file is not None:
            write_text(Path(file), text(built.decision))
            files.append(Path(file))
    return AxesReport(built.runs, built.missing, built.notes, built.decision, files)


def build_report(
    data_dir: str | Path | Sequence[str | Path],
    *,
    llm: str | Sequence[str] = EVERY_MODEL,
    prediction_dir: str | Path = "predictions",
    metrics_dir: str | Path | None = None,
    require: Sequence[str] = (),
    baseline: str | Path | None = None,
    seed: int = 0,
    screen: Screen = DEFAULT,
) -> BuiltReport:
    """Everything that `write_report` writes; the arguments are the same.

    Raises:
        UsageError: As `write_report`.
    """
    requirements = [Requirement.parse(text) for text in require]
    given = [data_dir] if isinstance(data_dir, str | Path) else list(data_dir)
    places = [_place(one, prediction_dir, metrics_dir) for one in dict.fromkeys(map(Path, given))]
    wanted = [llm] if isinstance(llm, str) else list(dict.fromkeys(llm))
    by_place = [place.models() if EVERY_MODEL in wanted else wanted for place in places]
    known_models = dict.fromkeys(model for names in by_place for model in names)
    # Built-in programs are not ranked and come last.
    models = sorted(known_models, key=lambda model: (model in BUILT_IN, model in BASELINES))
    names = _names(places)
    runs: list[Axes] = []
    missing: list[str] = []
    notes: list[str] = []
    for place, known in zip(places, by_place, strict=True):
        if not known:
            example = next(iter(models), "NAME")
            missing.append(f"{place.given}: no metrics of any model. Fix: {place.fix(example)}")
    for model in models:
        for place, name, known in zip(places, names, by_place, strict=True):
            if known and model not in known:
                notes.append(f"{place.given}: {model} was not run there. Fix: {place.fix(model)}")
            elif known:
                try:
                    runs.append(_read(place, name, model))
                except UsageError as error:
                    missing.append(str(error))
    if not runs:
        if not models:
            raise UsageError(
                f"no metrics in {', '.join(str(place.metrics) for place in places)}",
                fix="make them with inference.py and evaluate.py",
            )
        raise UsageError("; ".join(missing))
    notes += [f"{place.given}: {BY_RULES}." for place in places if place.folder.is_by_rules]
    for line in missing:
        screen.say(f"{WARNING}left out: {line}")
    for line in notes:
        screen.say(line)
    remarks = [*(f"Left out: {line}" for line in missing), *notes]
    folders = [
        ScoredFolder(
            place.folder,
            name,
            data_title(place.folder, name),
            place.metrics,
            place.predictions,
            by_outcome([run for run in runs if run.data == name]),
        )
        for place, name in zip(places, names, strict=True)
    ]
    folders = [folder for folder in folders if folder.runs]
    runs = sorted((run for one in folders for run in one.runs), key=lambda run: models.index(run.model))
    contents, lacking = page_folders(folders, screen)
    remarks += lacking
    harmful = {
        (folder.name, model): items.harmful_tools
        for folder, content in zip(folders, contents, strict=True)
        for model, items in content.models.items()
    }
    decision = decide(folders, requirements, harmful_tools=harmful, seed=seed)
    decision = replace(decision, warnings=remarks)
    if baseline is not None:
        found = [one for folder in folders for one in regressions(folder, str(baseline), seed=seed)]
        decision = replace(decision, regressions=found)
    pages = [
        PageFolder(
            report,
            folder.runs[0].about,
            content.summary(report, folder.harm_score) | {"data": data_summary(folder.folder)},
            content.chunks([one.name for one in report.models]),
        )
        for report, folder, content in zip(decision.folders, folders, contents, strict=True)
    ]
    return BuiltReport(runs, missing, notes, decision, pages)


def _written(built: BuiltReport, out: Path) -> Iterator[Path]:
    runs, decision = built.runs, built.decision
    if out.suffix.lower() in (".html", ".htm"):
        yield write_report_page(decision, built.pages, out)
        return
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / DECISION, decision.to_json())
    write_json(out / NUMBERS, {"toolassay": __version__, "runs": [one.to_json() for one in runs]})
    write_text(out / TABLE, csv_table(runs))
    for name in PICTURES:
        draw_axes(runs, out / name)
    for name in RANKINGS:
        draw_ranking(decision.folders, out / name)
    tables = [model_table(folder) for folder in decision.folders]
    write_text(out / TABLES[0], "".join(_csv_lines(tables)))
    write_text(out / TABLES[1], "\n".join(table.latex() for table in tables))
    if (models := len({run.model for run in runs})) > MOST:
        more = f"The picture shows the first {MOST} of {models} models."
        decision = replace(decision, warnings=[*decision.warnings, more])
    write_report_page(decision, built.pages, out / PAGE)
    yield from (out / name for name in FILES)


def _csv_lines(tables: Sequence[Table]) -> Iterator[str]:
    """The tables below one header, with a column for the data."""
    yield csv_line(["data", *tables[0].headings])
    for table in tables:
        for row in table.rows:
            yield csv_line([table.title, *(cell.text if isinstance(cell, Cell) else cell for cell in row)])


def _place(data_dir: Path, prediction_dir: str | Path, metrics_dir: str | Path | None) -> _Place:
    folder = DataFolder(data_dir).require()
    try:
        predictions: Path | None = prediction_folder(folder.path, Path(prediction_dir))
    except UsageError:
        predictions = None
    metrics = find_metrics_folder(folder.path, prediction_dir, metrics_dir)
    return _Place(folder, str(data_dir), metrics, predictions, str(prediction_dir))


def _names(places: Sequence[_Place]) -> list[str]:
    """The names of the data folders; their paths if names repeat."""
    names = [place.folder.path.resolve().name for place in places]
    return [
        name if names.count(name) == 1 else place.folder.path.as_posix()
        for name, place in zip(names, places, strict=True)
    ]


def _read(place: _Place, name: str, model: str) -> Axes:
    file, fix, benchmark = place.file(model), place.fix(model), benchmark_of(place.folder)
    if not file.is_file():
        raise UsageError(f"no metrics of {model}", file=file, fix=fix)
    groups = read_groups(file)
    return read_axes(
        groups,
        benchmark.axis,
        about=benchmark.about,
        data=name,
        model=model,
        file=file,
        fix=fix,
        library=data_title(place.folder, name),
        mark=mark_of(
            recorded_model(place.predictions, file.stem), signature_of(groups.get(OVERALL_GROUP, {}))
        ),
    )


def data_title(folder: DataFolder, name: str) -> str:
    """The title of a data folder in a report; of a team's own data, the folder's name.

    Data with a published or bundled library has the benchmark's title, followed by the domain and, if it
    differs from the usual one, the folder's name, so that titles are unique.

    Args:
        folder: Data folder.
        name: Name of the folder, unique in the report.
    """
    try:
        library = benchmark_of(folder).library_of(folder)
    except UsageError:  # without tools or tables, the library is unknown
        library = None
    if library is None:
        return name
    title, domain = library
    is_plain = name.removeprefix("data_") == (domain or title.lower())
    shown = [text for text in (domain, "" if is_plain else name) if text]
    return f"{title} ({', '.join(shown)})" if shown else title


def _json(place: Path) -> list[Path]:
    return list(place.glob("*.json")) if place.is_dir() else []
