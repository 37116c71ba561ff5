"""`toolassay report`: which model may be trusted, as a page, tables, pictures and an exit code."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.benchmarks.registry import default_benchmark
from toolassay.cli import options
from toolassay.cli.screen import SCREEN, show


@click.command("report")
@options.option(
    "data_dir",
    type=options.PATH,
    multiple=True,
    help="Data folder of any benchmark; may be repeated [default: data_huggingface].",
)
@click.argument("more", nargs=-1, type=options.PATH, metavar="[DATA_DIR]...")
@options.option(
    "llm",
    multiple=True,
    default=("all",),
    help="Model to include; may be repeated. 'all': every model found.",
)
@options.option(
    "prediction_dir",
    type=options.PATH,
    default="predictions",
    help="Prediction folder, in each data folder or else relative to the current one.",
)
@options.option(
    "metrics_dir",
    type=options.PATH,
    default=None,
    help="Metrics folder [default: as --prediction_dir, with metrics for predictions].",
)
@options.option("out", type=options.PATH, default="report", help="Output folder.")
@options.option(
    "require",
    multiple=True,
    metavar="RULE",
    help="What a model must meet, e.g. 'accuracy>=80%', 'side_effects<=2%', 'attack_success<=5%', "
    "'pass_k>=50%', 'cost<=5' (USD per 1,000 items), 'latency_p50<=3' and 'latency_p95<=20' (seconds); "
    "may be repeated.",
)
@options.option(
    "baseline",
    default=None,
    metavar="MODEL|FILE",
    help="Fail if a model is significantly worse (p < 0.05) than this model or earlier metrics file.",
)
@options.option("junit", type=options.PATH, default=None, help="JUnit file for the requirements.")
@options.option("summary", type=options.PATH, default=None, help="Markdown file for the decision.")
@options.option("seed", type=int, default=0, help="Random seed of intervals and tests.")
def command(
    data_dir: tuple[Path, ...],
    more: tuple[Path, ...],
    llm: tuple[str, ...],
    prediction_dir: Path,
    metrics_dir: Path | None,
    out: Path,
    require: tuple[str, ...],
    baseline: str | None,
    junit: Path | None,
    summary: Path | None,
    seed: int,
) -> int:
    """Decide which model may be trusted with the tools: verdict, ranking, five axes.

    Reads the metrics that `evaluate` wrote. A requirement passes or fails if the whole 95 % interval is on
    one side; else there is not enough data, and the report says how many items would be needed.

    Exit codes: 0 a model meets all requirements; 3 none does, and one is undecided, or a requested model has
    no metrics; 4 no model can meet them, or one is worse than the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.report.axes import mark_lines
    from toolassay.report.decision import folder_table
    from toolassay.report.scoreboard import score_table
    from toolassay.stages.report import write_report
    from toolassay.tables import printable

    found = write_report(
        [*data_dir, *more] or [Path(default_benchmark().about.default_folder)],
        llm=list(llm),
        prediction_dir=prediction_dir,
        metrics_dir=metrics_dir,
        out=out,
        require=require,
        baseline=baseline,
        junit_file=junit,
        summary_file=summary,
        seed=seed,
        screen=SCREEN,
    )
    for line in found.decision.verdict.sentences:
        show(printable(line))
    if len(found.decision.folders) > 1:
        print_table(folder_table(found.decision).terminal())
        for folder in found.decision.folders:
            show(printable(f"{folder.title}: {' '.join(folder.verdict.sentences)}"))
    several = len(found.decision.folders) > 1
    rows = [
        (one.axes.title * several, one)
        for models in found.decision.models.values()
        for one in models.values()
    ]
    print_table(score_table(rows).terminal())
    for folder in found.decision.folders:
        for model in folder.models:
            for rule in model.checks:
                show(printable(f"{model.name}, {folder.title}: {rule.rule}: {rule.text}"))
    for line in (one.line for one in found.decision.regressions):
        show(printable(line))
    for line in mark_lines(found.runs):
        show(line)
    for one in found.runs:
        for axis, note in one.notes.items():
            show(printable(f"{one.model}, {one.title}: {axis}: {note}"))
    for file in found.files:
        show(str(file))
    return found.exit_code
