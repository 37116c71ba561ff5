"""`evaluate`, `compare`, `verify`, `report`, `view`: the commands on scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from toolassay.benchmarks.registry import SCORING_OPTIONS, TABLE_OPTIONS, VERIFY_OPTIONS
from toolassay.cli.command import command
from toolassay.cli.options import DEFAULT_FOLDER, DataDir, connected
from toolassay.cli.screen import SCREEN, say, show
from toolassay.console.screen import WARNING
from toolassay.declarations import Option
from toolassay.engines import EngineName
from toolassay.errors import UsageError
from toolassay.models.options import ModelOptions
from toolassay.runs.settings import PUBLISHED_LLM
from toolassay.stages.settings import (
    ComparisonSettings,
    LeaderboardSettings,
    MetricsDir,
    PageSettings,
    PredictionDir,
    ReportSettings,
)

_ReadFolder = Annotated[Path, Option("Data folder of any benchmark.", positional=True, metavar="DATA_DIR")]


@command("evaluate")
def evaluate_command(
    data_dir: DataDir,
    llm: Annotated[
        Sequence[str],
        Option(
            "Model to score, or all: every one with predictions.",
            metavar="LLM",
            command_default=(PUBLISHED_LLM,),
            common=True,
        ),
    ],
    prediction_dir: PredictionDir = "predictions",
    save_dir: Annotated[
        Path | None,
        Option("Output folder [default: metrics, with the suffix of the prediction folder].", common=True),
    ] = None,
    limit: Annotated[
        int | None,
        Option("Score only the items that infer --limit N runs.", minimum=1, metavar="N", common=True),
    ] = None,
    ids: Annotated[
        Path | None, Option("Score only the ids in this file, in a format of infer --ids.", common=True)
    ] = None,
    min_coverage: Annotated[
        float,
        Option(
            "Exit with code 3 if less than this share of the labels is scored.",
            minimum=0,
            maximum=1,
            metavar="SHARE",
        ),
    ] = 0.0,
    engine: EngineName = None,
    judge: Annotated[
        str | None,
        Option("Model that decides about facts of a final text where the rule cannot.", common=True),
    ] = None,
    endpoint: ModelOptions | None = None,
    own: Annotated[Any, SCORING_OPTIONS] = None,
    tables: Annotated[Any, TABLE_OPTIONS] = None,
) -> int:
    """Score predictions, with strict and published metrics side by side."""
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import benchmark_of
    from toolassay.cli.score_tables import print_signatures
    from toolassay.evaluation.evaluation import FolderEvaluation, IncompleteEvaluation
    from toolassay.extras import import_numpy
    from toolassay.records.data_folder import DataFolder
    from toolassay.stages.evaluate import evaluate

    import_numpy()
    evaluations: list[FolderEvaluation]
    failure: IncompleteEvaluation | None = None
    try:
        evaluations = evaluate(
            data_dir,
            llm=list(llm),
            prediction_dir=prediction_dir,
            save_dir=save_dir,
            ids=ids,
            limit=limit,
            own=own,
            engine=engine,
            judge=judge,
            options=None if judge is None else connected(endpoint),
            screen=SCREEN,
        )
    except IncompleteEvaluation as error:
        evaluations = error.evaluations
        failure = error
    benchmark = benchmark_of(DataFolder(data_dir))
    shown = {} if tables is None else vars(tables)
    load(benchmark.scores.show)(evaluations, **shown)
    print_signatures(evaluations)
    for result in evaluations:
        show(str(result.path))
    if failure is not None:
        raise failure
    low = [result for result in evaluations if result.coverage < min_coverage]
    for result in low:
        say(f"{WARNING}{result.llm}: only {result.coverage:.1%} of the labels were scored (--min_coverage)")
    return 3 if low or any(result.is_partial for result in evaluations) else 0


@command("compare")
def compare_command(
    models: Annotated[Sequence[str], Option(positional=True, metavar="A B [C …]")],
    data_dir: DataDir,
    prediction_dir: PredictionDir = "predictions",
    settings: ComparisonSettings = ComparisonSettings(),
    save: Annotated[Path | None, Option("Also write the result to this JSON file.")] = None,
) -> None:
    """Test whether one model scores better than another, or whether the difference may be chance.

    Compares the items that all models share. A model is a name in the folder's metrics or the path of a
    metrics file; the first is the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.stages.compare import compare

    comparison = compare(
        *models,
        data_dir=data_dir,
        prediction_dir=prediction_dir,
        settings=settings,
        save=save,
        screen=SCREEN,
    )
    for table in comparison.tables:
        print_table(table.terminal(padding=0))


@command("verify")
def verify_command(
    data_dir: DataDir,
    llm: Annotated[str, Option("Model whose run is verified.", common=True)],
    prediction_dir: PredictionDir = "predictions",
    metrics_dir: MetricsDir = None,
    own: Annotated[Any, VERIFY_OPTIONS] = None,
) -> int:
    """Recompute predictions and scores from a run's raw answers and report every difference.

    Writes nothing to the folder. Exit code 0: everything is equal; 1: something differs.
    """
    from toolassay.stages.verify import verify

    verification = verify(
        data_dir,
        llm=llm,
        prediction_dir=prediction_dir,
        metrics_dir=metrics_dir,
        own=own,
        screen=SCREEN,
    )
    return 0 if verification.is_equal else 1


def _show_leaderboard(
    data_dir: Path,
    which: ReportSettings,
    rows: LeaderboardSettings,
    format: str | None,
    save: Path | None,
) -> None:
    """Print the leaderboard of a folder, or write it to a file."""
    from toolassay.files.data_files import write_text
    from toolassay.stages.leaderboard import format_of, leaderboard

    wanted = format or (format_of(save) if save else "terminal")
    board = leaderboard(
        data_dir, prediction_dir=which.prediction_dir, metrics_dir=which.metrics_dir, settings=rows
    )
    if wanted == "csv":
        from toolassay.console.tables import printable

        # CSV has no room for remarks; every other format shows them below the table.
        for remark in board.remarks:
            say(f"{WARNING}{printable(remark.removeprefix(WARNING))}")
    if save is not None:
        write_text(save, board.text(wanted))
        show(str(save))
    elif wanted == "terminal":
        from toolassay.cli.score_tables import print_table

        for table in board.tables:
            print_table(table.terminal())
    else:
        click.echo(board.text(wanted), nl=False)


@command("report")
def report_command(
    data_dir: Annotated[
        Sequence[Path], Option("Data folder of any benchmark [default: data_huggingface].", common=True)
    ] = (),
    more: Annotated[Sequence[Path], Option(positional=True, metavar="[DATA_DIR]...")] = (),
    settings: ReportSettings = ReportSettings(),
    out: Annotated[Path, Option("Output folder; or an HTML file, then only the page is written.")] = Path(
        "report"
    ),
    junit: Annotated[Path | None, Option("JUnit file for the requirements.")] = None,
    summary: Annotated[Path | None, Option("Markdown file for the decision.")] = None,
    only: Annotated[
        Literal["leaderboard"] | None,
        Option(
            "leaderboard: show only the scores of every model of one folder: strict and compat, confidence "
            "intervals, cost and time, in percent as published.",
            common=True,
        ),
    ] = None,
    rows: LeaderboardSettings = LeaderboardSettings(),
    format: Annotated[
        Literal["terminal", "markdown", "csv", "latex"] | None,
        Option(
            "Format of the leaderboard [default: by the suffix of --save, else terminal].",
            section=LeaderboardSettings.section,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        Option(
            "Write the leaderboard to this file (.md, .csv, .tex, .txt).",
            section=LeaderboardSettings.section,
        ),
    ] = None,
) -> int:
    """Decide which model may be trusted with the tools: verdict, ranking, five axes.

    Reads the metrics that `evaluate` wrote. A requirement passes or fails if the whole 95 % interval is on
    one side; else there is not enough data, and the report says how many items would be needed.

    Exit codes: 0 a model meets all requirements; 3 none does, and one is undecided, or a requested model has
    no metrics; 4 no model can meet them, or one is worse than the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.console.tables import printable
    from toolassay.reports.axes import mark_lines, note_lines
    from toolassay.reports.decision import tables
    from toolassay.stages.report import write_report

    folders = [*data_dir, *more] or [DEFAULT_FOLDER]
    if only == "leaderboard":
        if len(folders) > 1:
            raise UsageError("--only leaderboard shows one folder", fix="give one --data_dir")
        _show_leaderboard(folders[0], settings, rows, format, save)
        return 0
    if format or save or rows != LeaderboardSettings():
        raise UsageError("these options are for --only leaderboard", fix="add it, or omit them")
    result = write_report(
        folders,
        out=out,
        junit_file=junit,
        summary_file=summary,
        settings=settings,
        screen=SCREEN,
    )
    for line in result.decision.verdict.sentences:
        show(printable(line))
    for table in tables(result.decision):
        if table.title:
            show("")
        print_table(table.terminal())
    regressions = [regression.line for regression in result.decision.regressions]
    for line in [*regressions, *mark_lines(result.runs), *note_lines(result.runs)]:
        show(printable(line))
    for file in result.files:
        show(str(file))
    return result.exit_code


@command("view")
def view_command(
    data_dir: _ReadFolder,
    llm: Annotated[
        Sequence[str], Option("Model to include, or all: every one with predictions.", metavar="LLM")
    ] = ("all",),
    prediction_dir: PredictionDir = "predictions",
    page: PageSettings = PageSettings(),
) -> int:
    """Show the report's page of DATA_DIR in the browser, up to date while models run.

    It needs no scores: predictions are scored in a temporary folder. Only programs of this machine reach it.
    Ctrl-C ends it.
    """
    from toolassay.stages.view import view

    view(data_dir, llm=list(llm), prediction_dir=prediction_dir, page=page, screen=SCREEN)
    return 0
