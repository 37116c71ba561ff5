"""`toolassay report`: cost, latency, accuracy, stability and security in one table, picture and page."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, show


@click.command("report")
@options.option(
    "data_dir",
    type=options.PATH,
    multiple=True,
    help="A data folder of any benchmark; more may follow [default: data_huggingface].",
)
@click.argument("more", nargs=-1, type=options.PATH, metavar="[DATA_DIR]...")
@options.option(
    "llm", multiple=True, default=("all",), help="A model; may be repeated; all: every one there."
)
@options.option("prediction_dir", type=options.PATH, default="predictions", help="Below them, or as given.")
@options.option("metrics_dir", type=options.PATH, default=None, help="Where metrics are [default: metrics…].")
@options.option("out", type=options.PATH, default="report", help="The folder to write into.")
def command(
    data_dir: tuple[Path, ...],
    more: tuple[Path, ...],
    llm: tuple[str, ...],
    prediction_dir: Path,
    metrics_dir: Path | None,
    out: Path,
) -> int:
    """Put models on several benchmarks side by side by five axes.

    Reads what evaluate.py wrote. Exits with 3 where metrics of a model that was asked for are missing.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.report.axes.tables import mark_lines, terminal_table
    from toolassay.report.leaderboard.tables import printable
    from toolassay.stages.report import write_report

    found = write_report(
        [*data_dir, *more] or [Path("data_huggingface")],
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
