"""`toolassay report`: cost, latency, accuracy, stability and security as a table, a picture and a page."""

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
def command(
    data_dir: tuple[Path, ...],
    more: tuple[Path, ...],
    llm: tuple[str, ...],
    prediction_dir: Path,
    metrics_dir: Path | None,
    out: Path,
) -> int:
    """Compare models on several benchmarks: cost, latency, accuracy, stability and security.

    Reads the metrics that `evaluate` wrote. Exit code 3: a requested model has no metrics.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.report.axes.tables import mark_lines, terminal_table
    from toolassay.report.leaderboard.tables import printable
    from toolassay.stages.report import write_report

    found = write_report(
        [*data_dir, *more] or [Path(default_benchmark().default_folder)],
        llm=list(llm),
        prediction_dir=prediction_dir,
        metrics_dir=metrics_dir,
        out=out,
        screen=SCREEN,
    )
    print_table(terminal_table(found.runs))
    for line in mark_lines(found.runs):
        show(line)
    for one in found.runs:
        for axis, note in one.notes.items():
            show(printable(f"{one.model}, {one.title}: {axis}: {note}"))
    for file in found.files:
        show(str(file))
    return 3 if found.missing else 0
