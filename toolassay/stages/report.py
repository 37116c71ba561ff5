"""The report stage: which model may be trusted, as a page, tables, pictures and `report.json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolassay.data_folder import BY_RULES
from toolassay.errors import UsageError
from toolassay.evaluation.item_detail import ItemGold
from toolassay.evaluation.items import ScoredItem, read_items
from toolassay.evaluation.places import EVERY_MODEL
from toolassay.files import write_json, write_text
from toolassay.locks import open_regular
from toolassay.models.registry import BASELINES, BUILT_IN
from toolassay.report.axes import Axes, csv_table
from toolassay.report.decision import Decision, junit, summary
from toolassay.report.item_queries import MOST_ITEMS, ItemQueries
from toolassay.report.report_data import FolderPage, ModelItems
from toolassay.report.report_page import PageFolder, write_report_page
from toolassay.report.requirements import Requirement
from toolassay.report.scoreboard_picture import MOST, draw_scoreboard
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.data_summary import data_summary
from toolassay.stages.decide import decide, regressions
from toolassay.stages.scored_folder import ScoredFolder
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
        runs: One entry per model and data folder, in the order of the ranking.
        missing: Each missing or unusable metrics file, with the command that creates it.
        notes: Each model that was run on some of the folders only, with the command for the rest.
        decision: Verdict, ranking and requirements.
        pages: Content of the page, one entry per folder; can be written once.
        files: Files written.
    """

    runs: Sequence[Axes]
    missing: Sequence[str]
    notes: Sequence[str]
    decision: Decision
    pages: Sequence[PageFolder]
    files: Sequence[Path] = ()

    @property
    def exit_code(self) -> int:
        """That of the decision; 3 if it is 0 and metrics are missing."""
        return self.decision.exit_code or (3 if self.missing else 0)


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
    return replace(built, files=files)


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
) -> AxesReport:
    """Everything that `write_report` writes; the arguments are the same.

    Raises:
        UsageError: As `write_report`.
    """
    requirements = [Requirement.parse(text) for text in require]
    given = [data_dir] if isinstance(data_dir, str | Path) else list(data_dir)
    places = [ScoredFolder.at(one, prediction_dir, metrics_dir) for one in dict.fromkeys(map(Path, given))]
    names = [place.name for place in places]
    places = [
        place if names.count(place.name) == 1 else replace(place, name=place.folder.path.as_posix())
        for place in places
    ]
    wanted = [llm] if isinstance(llm, str) else list(dict.fromkeys(llm))
    by_place = [place.models if EVERY_MODEL in wanted else wanted for place in places]
    known_models = dict.fromkeys(model for models in by_place for model in models)
    # Built-in programs are not ranked and come last.
    models = sorted(known_models, key=lambda model: (model in BUILT_IN, model in BASELINES))
    folders: list[ScoredFolder] = []
    missing: list[str] = []
    notes: list[str] = []
    for place, known in zip(places, by_place, strict=True):
        runs = []
        if not known:
            example = next(iter(models), "NAME")
            missing.append(f"{place.given}: no metrics of any model. Fix: {place.fix(example)}")
        for model in models if known else ():
            try:
                if model in known:
                    runs.append(place.read(model))
                else:
                    notes.append(f"{place.given}: {model} was not run there. Fix: {place.fix(model)}")
            except UsageError as error:
                missing.append(str(error))
        if runs:
            folders.append(place.having(runs))
    if not folders and not models:
        raise UsageError(
            f"no metrics in {', '.join(str(place.metrics) for place in places)}",
            fix="make them with inference.py and evaluate.py",
        )
    if not folders:
        raise UsageError("; ".join(missing))
    notes += [f"{place.given}: {BY_RULES}." for place in places if place.folder.is_by_rules]
    for line in missing:
        screen.say(f"{WARNING}left out: {line}")
    for line in notes:
        screen.say(line)
    remarks = [*(f"Left out: {line}" for line in missing), *notes]
    contents = []
    with screen.progress("reading predictions", sum(len(folder.runs) for folder in folders)) as advance:
        for folder in folders:
            content, lacking = _page_folder(folder)
            contents.append(content)
            remarks += lacking
            for _ in folder.runs:
                advance()
    harmful = {
        (folder.name, model): items.harmful_tools
        for folder, content in zip(folders, contents, strict=True)
        for model, items in content.models.items()
    }
    decision = replace(decide(folders, requirements, harmful_tools=harmful, seed=seed), warnings=remarks)
    if baseline is not None:
        found = [one for folder in folders for one in regressions(folder, str(baseline), seed=seed)]
        decision = replace(decision, regressions=found)
    pages = [
        PageFolder(
            report,
            folder.runs[0].about,
            content.summary(report, folder.harm) | {"data": data_summary(folder.folder)},
            content.chunks([one.name for one in report.models]),
        )
        for report, folder, content in zip(decision.folders, folders, contents, strict=True)
    ]
    ranked = [one.axes for reports in decision.models.values() for one in reports.values()]
    return AxesReport(ranked, missing, notes, decision, pages)


def _page_folder(folder: ScoredFolder) -> tuple[FolderPage, list[str]]:
    """The items of a folder in detail, for the page, and notes on what has no details.

    Details need the data and the predictions, which may be elsewhere; without them the page has the scores.

    Raises:
        UsageError: A file of items is malformed.
    """
    notes: list[str] = []
    files = {run.model: path for run in folder.runs if (path := folder.items_file(run.model)).is_file()}
    total = max(map(_lines_of, files.values()), default=0)
    queries = ItemQueries(files) if total > MOST_ITEMS else None
    shown = None if queries is None else queries.sample(MOST_ITEMS)
    if shown is not None:
        grouped = ", scores by group" if folder.is_executed else ""
        notes.append(
            f"{folder.title}: the page shows {len(shown):,} of {total:,} items, drawn at random. Its tools, "
            f"confusions{grouped} and arguments are counted on these; everything else on all items."
        )
    details, golds = folder.benchmark.items, dict[str, ItemGold]()
    try:
        golds = {gold.id: gold for gold in details.golds(folder.folder) if shown is None or gold.id in shown}
    except UsageError as error:
        notes.append(f"{folder.title}: the items have no details: {error}")
    models = {}
    for run in folder.runs:
        rows: dict[str, ScoredItem] = {}
        if run.model in files:
            if queries is None or shown is None:
                rows = {row.id: row for row in read_items(files[run.model])}
            else:
                rows = queries.items(run.model, shown)
        items = models[run.model] = ModelItems(rows, folder.usage.get(run.model, {}))
        if golds and folder.predictions is not None and folder.output(run.model) is not None:
            only = None if shown is None else golds.keys()
            try:
                for key, answer in details.answers(folder.folder, folder.predictions, run.model, only):
                    if key in golds:
                        items.add(golds[key], answer)
            except UsageError as error:
                notes.append(f"{folder.title}: the answers of {run.model} have no details: {error}")
    return FolderPage(golds.values(), models, queries), notes


def _lines_of(path: Path) -> int:
    """The number of lines of a file."""
    with open_regular(path) as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _written(built: AxesReport, out: Path) -> Iterator[Path]:
    runs, decision = built.runs, built.decision
    if out.suffix.lower() in (".html", ".htm"):
        yield write_report_page(decision, built.pages, out)
        return
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / DECISION, decision.to_json())
    write_json(out / NUMBERS, {"toolassay": __version__, "runs": [one.to_json() for one in runs]})
    write_text(out / TABLE, csv_table(runs))
    for name in PICTURES:
        draw_scoreboard(decision.folders, out / name)
    for name in RANKINGS:
        draw_scoreboard(decision.folders, out / name, axes=("accuracy",))
    tables = [folder.table for folder in decision.folders]
    write_text(out / TABLES[0], "".join(_csv_lines(tables)))
    write_text(out / TABLES[1], "\n".join(table.latex() for table in tables))
    if (models := max(len(folder.models) for folder in decision.folders)) > MOST:
        more = f"The pictures show the first {MOST} of {models} models."
        decision = replace(decision, warnings=[*decision.warnings, more])
    write_report_page(decision, built.pages, out / PAGE)
    yield from (out / name for name in FILES)


def _csv_lines(tables: Sequence[Table]) -> Iterator[str]:
    """The tables below one header, with a column for the data."""
    yield csv_line(["data", *tables[0].headings])
    for table in tables:
        for row in table.rows:
            yield csv_line([table.title, *(cell.text if isinstance(cell, Cell) else cell for cell in row)])
