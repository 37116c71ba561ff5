"""`toolassay leaderboard`: one table with the scores of every model of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import say, show
from toolassay.screen import WARNING


@click.command("leaderboard")
@options.data_dir()
@options.option(
    "prediction_dir",
    type=options.PATH,
    default="predictions",
    help="Prediction folder, in the data folder or else relative to the current one.",
)
@options.option(
    "metrics_dir",
    type=options.PATH,
    default=None,
    help="Metrics folder [default: as --prediction_dir, with metrics for predictions].",
)
@options.option(
    "group", default="overall_overall", help="Group of samples in the metrics, e.g. chain_overall."
)
@options.option(
    "mode",
    type=click.Choice(["both", "strict", "compat"]),
    default="both",
    help="Scoring modes to show for each model.",
)
@options.option(
    "sort_by",
    default=None,
    help="Sort by a column, or by coverage, cost, latency or model; uses the strict score if there is one "
    "[default: the ranking of the report].",
)
@options.flag("with_published", "Add the published rows of the folder's domain.")
@options.option(
    "published",
    default=None,
    metavar="NAME",
    help="Add the published rows of this domain or edition, e.g. multimedia or 2026.",
)
@options.option(
    "format",
    type=click.Choice(["terminal", "markdown", "csv", "latex"]),
    default=None,
    help="Output format [default: by the suffix of --save, else terminal].",
)
@options.option(
    "save", type=options.PATH, default=None, help="Write the table to this file (.md, .csv, .tex, .txt)."
)
def command(data_dir: Path, format: str | None, save: Path | None, **settings: Any) -> None:
    """Show the scores of every model of a folder: strict and compat, confidence intervals, cost and time.

    Scores are in percent, as published.
    """
    from toolassay.files import write_text
    from toolassay.stages.leaderboard import format_of, leaderboard, render

    wanted = format or (format_of(save) if save else "terminal")
    board = leaderboard(data_dir, **settings)
    if wanted == "csv":
        from toolassay.tables import printable

        # CSV has no room for remarks; every other format shows them below the table.
        for remark in board.remarks:
            say(f"{WARNING}{printable(remark.removeprefix(WARNING))}")
    if save is not None:
        write_text(save, render(board, wanted))
        show(str(save))
    elif wanted == "terminal":
        from toolassay.cli.score_tables import print_table
        from toolassay.report.leaderboard import terminal_table

        print_table(terminal_table(board))
    else:
        click.echo(render(board, wanted), nl=False)
