"""`toolassay leaderboard`: the models of a folder side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import say, show
from toolassay.screen import WARNING


@click.command("leaderboard")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("prediction_dir", type=options.PATH, default="predictions", help="Below it, or as given.")
@options.option(
    "metrics_dir", type=options.PATH, default=None, help="Where the metrics are [default: metrics…]."
)
@options.option("group", default="overall_overall", help="Which group of the metrics, e.g. chain_overall.")
@options.option(
    "mode", type=click.Choice(["both", "strict", "compat"]), default="both", help="Which rows each model has."
)
@options.option(
    "sort_by",
    default=None,
    help="A column, coverage, cost, latency or model; strict where there is strict "
    "[default: n-F1, of WorkBench and CLASSic accuracy].",
)
@options.flag("with_published", "Add the published rows of this domain.")
@options.option(
    "published", default=None, metavar="huggingface|multimedia|dailylifeapis", help="Add those of this one."
)
@options.option(
    "format",
    type=click.Choice(["terminal", "markdown", "csv", "latex"]),
    default=None,
    help="[default: by the suffix of --save, else terminal]",
)
@options.option("save", type=options.PATH, default=None, help="Write it to a file (.md, .csv, .tex, .txt).")
def command(data_dir: Path, format: str | None, save: Path | None, **settings: Any) -> None:
    """Show the models of a folder side by side: strict beside compat, with intervals, cost and time.

    Numbers are in percent, as published.
    """
    from toolassay.files import write_text
    from toolassay.stages.leaderboard import format_of, leaderboard, render

    wanted = format or (format_of(save) if save else "terminal")
    board = leaderboard(data_dir, **settings)
    if wanted == "csv":
        from toolassay.report.leaderboard.tables import printable

        # Every other format has the remarks below the table.
        for remark in board.remarks:
            say(f"{WARNING}{printable(remark.removeprefix(WARNING))}")
    if save is not None:
        write_text(save, render(board, wanted))
        show(str(save))
    elif wanted == "terminal":
        from toolassay.cli.score_tables import print_table
        from toolassay.report.leaderboard.tables import terminal_table

        print_table(terminal_table(board))
    else:
        click.echo(render(board, wanted), nl=False)
