"""`evaluate`, `compare`, `verify`, `leaderboard`, `report`, `view`: the commands on scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.benchmarks.registry import default_benchmark
from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, evaluate_options, shown_options, verify_options
from toolassay.cli.screen import SCREEN, say, show
from toolassay.console.screen import WARNING


@click.command("evaluate")
@options.data_dir
@options.prediction_dir
@options.path("save_dir", "Output folder [default: metrics, with the suffix of the prediction folder].")
@options.models("llm", "Model to score, or all: every one with predictions", default=(options.LLM,))
@options.count("limit", "Score only the items that infer --limit N runs.")
@options.path("ids", "Score only the ids in this file, in a format of infer --ids.")
@options.option(
    "min_coverage",
    "Exit with code 3 if less than this share of the labels is scored.",
    type=click.FloatRange(0, 1),
    default=0.0,
)
@options.engine
@evaluate_options()
def evaluate_command(data_dir: Path, llm: tuple[str, ...], min_coverage: float, **settings: Any) -> int:
    """Score predictions, with strict and published metrics side by side."""
    from toolassay.benchmarks.benchmark import load
    from toolassay.benchmarks.registry import benchmark_of
    from toolassay.cli.score_tables import print_signatures
    from toolassay.evaluation.evaluation import FolderEvaluation, IncompleteEvaluation
    from toolassay.extras import import_numpy
    from toolassay.records.data_folder import DataFolder
    from toolassay.stages.evaluate import evaluate

    import_numpy()
    shown = {name: settings.pop(name) for name in shown_options()}
    evaluations: list[FolderEvaluation]
    failure: IncompleteEvaluation | None = None
    try:
        evaluations = evaluate(data_dir, llm=list(llm), screen=SCREEN, **by_field(settings))
    except IncompleteEvaluation as error:
        evaluations, failure = error.evaluations, error
    benchmark = benchmark_of(DataFolder(data_dir))
    load(benchmark.scores.show)(evaluations, **{one.name: shown[one.name] for one in benchmark.options.show})
    print_signatures(evaluations)
    for result in evaluations:
        show(str(result.path))
    if failure is not None:
        raise failure
    low = [result for result in evaluations if result.coverage < min_coverage]
    for result in low:
        say(f"{WARNING}{result.llm}: only {result.coverage:.1%} of the labels were scored (--min_coverage)")
    return 3 if low or any(result.is_partial for result in evaluations) else 0


@click.command("compare")
@click.argument("models", nargs=-1, required=True, metavar="A B [C …]")
@options.data_dir
@options.prediction_dir
@options.option("metric", "Strict metric, e.g. node_f1; may be repeated [default: all].", "-m", multiple=True)
@options.option("split", "Shape of the gold plan: overall, single, chain, dag.", "-s", default="overall")
@options.option("n_tools", "Number of tools of the gold plan: overall, 1 to 10.", "-n", default="overall")
@options.count("resamples", "Resamples of intervals and tests.", default=10_000)
@options.option("seed", "Random seed of the resamples.", type=int, default=0)
@options.path("save", "Also write the result to this JSON file.")
def compare_command(models: tuple[str, ...], metric: tuple[str, ...], **settings: Any) -> None:
    """Test whether one model scores better than another, or whether the difference may be chance.

    Compares the items that all models share. A model is a name in the folder's metrics or the path of a
    metrics file; the first is the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.stages.compare import compare

    for table in compare(*models, metrics=metric, screen=SCREEN, **settings).tables:
        print_table(table.terminal(padding=0))


@click.command("verify")
@options.data_dir
@options.option("llm", "Model whose run is verified.", required=True)
@options.prediction_dir
@options.metrics_dir
@verify_options()
def verify_command(data_dir: Path, **settings: Any) -> int:
    """Recompute predictions and scores from a run's raw answers and report every difference.

    Writes nothing to the folder. Exit code 0: everything is equal; 1: something differs.
    """
    from toolassay.stages.verify import verify

    found = verify(data_dir, screen=SCREEN, **settings)
    return 0 if found.is_equal else 1


@click.command("leaderboard")
@options.data_dir
@options.prediction_dir
@options.metrics_dir
@options.option("group", "Group of samples in the metrics, e.g. chain_overall.", default="overall_overall")
@options.choice("mode", ["both", "strict", "compat"], "Scoring modes to show for each model.", default="both")
@options.option(
    "sort_by",
    "Sort by a column, or by coverage, cost, latency or model; uses the strict score if there is one "
    "[default: the ranking of the report].",
)
@options.flag("with_published", "Add the published rows of the folder's domain.")
@options.option(
    "published", "Add the published rows of this domain or edition, e.g. multimedia or 2026.", metavar="NAME"
)
@options.choice(
    "format",
    ["terminal", "markdown", "csv", "latex"],
    "Output format [default: by the suffix of --save, else terminal].",
)
@options.path("save", "Write the table to this file (.md, .csv, .tex, .txt).")
def leaderboard_command(data_dir: Path, format: str | None, save: Path | None, **settings: Any) -> None:
    """Show the scores of every model of a folder: strict and compat, confidence intervals, cost and time.

    Scores are in percent, as published.
    """
    from toolassay.files.data_files import write_text
    from toolassay.stages.leaderboard import format_of, leaderboard

    wanted = format or (format_of(save) if save else "terminal")
    board = leaderboard(data_dir, **settings)
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


@click.command("report")
@options.path(
    "data_dir", "Data folder of any benchmark; may be repeated [default: data_huggingface].", multiple=True
)
@click.argument("more", nargs=-1, type=options.PATH, metavar="[DATA_DIR]...")
@options.models("llm", "Model to include, or all: every one found", default=("all",))
@options.prediction_dir
@options.metrics_dir
@options.path("out", "Output folder.", default="report")
@options.option(
    "require",
    "What a model must meet, e.g. 'accuracy>=80%', 'side_effects<=2%', 'attack_success<=5%', "
    "'pass_k>=50%', 'cost<=5' (USD per 1,000 items), 'latency_p50<=3' and 'latency_p95<=20' (seconds), "
    "'calls(TOOL)<=0' (the number of calls in all runs); "
    "may be repeated.",
    multiple=True,
    metavar="RULE",
)
@options.choice(
    "undecided",
    ["wait", "pass"],
    "What a requirement without enough data means: wait (exit code 3), or pass (0). It is shown either way.",
    default="wait",
)
@options.option(
    "baseline",
    "Fail if a model is significantly worse (p < 0.05) than this model or earlier metrics file.",
    metavar="MODEL|FILE",
)
@options.path("junit", "JUnit file for the requirements.")
@options.path("summary", "Markdown file for the decision.")
@options.option("seed", "Random seed of intervals and tests.", type=int, default=0)
def report_command(data_dir: tuple[Path, ...], more: tuple[Path, ...], **settings: Any) -> int:
    """Decide which model may be trusted with the tools: verdict, ranking, five axes.

    Reads the metrics that `evaluate` wrote. A requirement passes or fails if the whole 95 % interval is on
    one side; else there is not enough data, and the report says how many items would be needed.

    Exit codes: 0 a model meets all requirements; 3 none does, and one is undecided, or a requested model has
    no metrics; 4 no model can meet them, or one is worse than the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.console.tables import printable
    from toolassay.report.axes import mark_lines
    from toolassay.report.decision import tables
    from toolassay.stages.report import write_report

    folders = [*data_dir, *more] or [Path(default_benchmark().about.default_folder)]
    files = {f"{name}_file": settings.pop(name) for name in ("junit", "summary")}
    found = write_report(folders, llm=list(settings.pop("llm")), screen=SCREEN, **files, **settings)
    for line in found.decision.verdict.sentences:
        show(printable(line))
    for table in tables(found.decision):
        if table.title:
            show("")
        print_table(table.terminal())
    by_note: dict[str, list[str]] = {}
    for one in found.runs:
        for axis, note in one.notes.items():
            by_note.setdefault(f"{one.title}: {axis}: {note}", []).append(one.model)
    notes = [f"{', '.join(models)}, {note}" for note, models in by_note.items()]
    regressions = [one.line for one in found.decision.regressions]
    for line in [*regressions, *mark_lines(found.runs), *notes]:
        show(printable(line))
    for file in found.files:
        show(str(file))
    return found.exit_code


@click.command("view")
@click.argument("data_dir", type=options.PATH)
@options.models("llm", "Model to include, or all: every one with predictions", default=("all",))
@options.prediction_dir
@options.page
def view_command(data_dir: Path, llm: tuple[str, ...], **settings: Any) -> int:
    """Show the report's page of DATA_DIR in the browser, up to date while models run.

    It needs no scores: predictions are scored in a temporary folder. Only programs of this machine reach it.
    Ctrl-C ends it.
    """
    from toolassay.stages.view import view

    view(data_dir, llm=list(llm), screen=SCREEN, **settings)
    return 0
